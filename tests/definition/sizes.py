"""Sizes, by definition: what a resource takes, in bytes, at a shape of the batch.

Everything in this folder reads plain JSON and shares no code with the verifier. It is written
to be obviously right; the tests beside it hold the verifier to it.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

Json = dict[str, Any]

U64_MAX = 2**64 - 1


class RefusedError(Exception):
    """The engine would refuse; the text names the rule that is broken."""


def require(holds: bool, rule: str) -> None:
    """Refuse unless ``holds``."""
    if not holds:
        raise RefusedError(rule)


def u64(number: int) -> int:
    """The number itself; refused outside 0 … 2^64 − 1."""
    require(0 <= number <= U64_MAX, "a number stays within u64")
    return number


def canonical_hash(value: object) -> str:
    """SHA-256 of the JSON with sorted keys and no white space, in hex."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


class Shape(NamedTuple):
    """One batch: how many sequences, tokens and pages."""

    sequences: int
    tokens: int
    pages: int


SMALLEST = Shape(1, 1, 1)


def is_power_of_two(number: int) -> bool:
    """Whether the number is 1, 2, 4, 8 …."""
    return number in [2**exponent for exponent in range(64)]


def align_up(size: int, alignment: int) -> int:
    """The smallest multiple of the alignment that is no smaller than the size, in bytes."""
    require(is_power_of_two(alignment), "an alignment is a power of two")
    return u64(-(-size // alignment) * alignment)


def block_bytes(profile: Json) -> int | None:
    """The block of a fixed-block arena, in bytes; None in a linear arena."""
    allocator = profile["allocator"]
    if allocator == "linear_arena":
        return None
    block: int = allocator["fixed_block_arena"]["block_bytes"]
    return block


def quantize(size: int, alignment: int, profile: Json) -> int:
    """What a claim of ``size`` bytes takes: whole alignments, then whole blocks."""
    size = align_up(size, alignment)
    block = block_bytes(profile)
    return size if block is None else align_up(size, block)


def form_of(demand: Json) -> tuple[str, Json]:
    """The name of a demand's form, and its fields."""
    ((form, fields),) = demand.items()
    return form, fields


def bucket_shape(bucket: Json) -> Shape:
    """The largest batch that a bucket covers."""
    return Shape(bucket["maximum_sequences"], bucket["maximum_tokens"], bucket["maximum_pages"])


def covers(bucket: Shape, shape: Shape) -> bool:
    """Whether the shape is within the bucket in every dimension."""
    return all(wanted <= most for wanted, most in zip(shape, bucket, strict=True))


def largest_shape(demand: Json) -> Shape:
    """The shape beyond which a demand is not defined; 1 in the dimensions it does not read."""
    form, fields = form_of(demand)
    if form == "bounded_shape_buckets":
        return bucket_shape(fields["buckets"][-1])
    return Shape(
        fields.get("maximum_sequences", 1),
        fields.get("maximum_tokens", 1),
        fields.get("maximum_pages", 1),
    )


def demand_bytes(demand: Json, shape: Shape) -> int:
    """The bytes that a demand asks for at a shape; refused beyond its maxima, at 0, past u64."""
    form, fields = form_of(demand)
    if form == "bounded_shape_buckets":
        fitting = [each for each in fields["buckets"] if covers(bucket_shape(each), shape)]
        require(fitting != [], "some bucket covers the shape")
        size = fitting[0]["bytes"]
    else:
        for dimension in ("sequences", "tokens", "pages"):
            most = fields.get(f"maximum_{dimension}")
            wanted = getattr(shape, dimension)
            require(most is None or wanted <= most, f"{dimension} are within the maximum")
        size = (
            # A form has only the terms that belong to it.
            fields.get("bytes", 0)
            + fields.get("fixed_bytes", 0)
            + fields.get("bytes_per_sequence", 0) * shape.sequences
            + fields.get("bytes_per_token", 0) * shape.tokens
            + fields.get("bytes_per_page", 0) * shape.pages
        )
    require(size > 0, "a demand asks for some bytes")
    return u64(size)


def request_bytes(descriptor: Json, shape: Shape) -> int:
    """What one claim of a dynamic resource takes at a shape, in bytes, padding included."""
    size = demand_bytes(descriptor["demand"], shape)
    return quantize(size, descriptor["alignment_bytes"], descriptor["storage"]["profile"])


def minimum_bytes(descriptor: Json) -> int:
    """What one claim takes for a batch of one sequence, one token and one page, in bytes."""
    return request_bytes(descriptor, SMALLEST)


def resident_bytes(descriptor: Json) -> int:
    """What all instances of a resource may ever take together, in bytes (a u128).

    The sequences of one batch share the ceiling of a per-sequence demand, and a claim for each
    alone is the worst padding; any other resource may have each instance at its maximum.
    """
    form, _ = form_of(descriptor["demand"])
    shape = SMALLEST if form == "actual_sequences" else largest_shape(descriptor["demand"])
    instances: int = descriptor["theoretical_maximum_instances"]
    return request_bytes(descriptor, shape) * instances
