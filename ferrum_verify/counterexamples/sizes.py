"""Sizes for checking counterexamples: evaluated from a document's JSON.

Like ``checking``, this shares no code with the derivation, the rules or the encodings. Numbers
are unbounded, so that what passes 2^64 - 1 shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ferrum_verify.counterexamples.document import Document

MAXIMUM = 2**64 - 1


NOT_EVALUATED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What evaluating a row or pool that is at fault raises; what depends on it is skipped."""


class UndefinedError(ValueError):
    """A demand says nothing of the shape."""


def is_shape(shape: Mapping[str, Any]) -> bool:
    """Whether the counts are whole numbers that a shape can have."""
    return all(type(shape[name]) is int and 1 <= shape[name] <= most for name, most in COUNTS)


COUNTS = (("sequences", 2**32 - 1), ("tokens", MAXIMUM), ("pages", MAXIMUM))


def logical(demand: Mapping[str, Any], shape: Mapping[str, int]) -> int:
    """The bytes of a demand, or of an estimate's formula; raises UndefinedError beyond it."""
    ((form, terms),) = demand.items()
    if form == "fixed":
        return int(terms["bytes"])
    if form == "bounded_shape_buckets":
        for bucket in terms["buckets"]:
            if all(shape[name] <= bucket[f"maximum_{name}"] for name, _ in COUNTS):
                return int(bucket["bytes"])
        raise UndefinedError
    total = int(terms.get("fixed_bytes", 0))
    for name, _ in COUNTS:
        if shape[name] > terms.get(f"maximum_{name}", shape[name]):
            raise UndefinedError
        total += int(terms.get(f"bytes_per_{name[:-1]}", 0)) * shape[name]
    return total


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def mask(value: int, unit: int) -> int:
    """Rounded up as an allocator does it, which is right for powers of two."""
    return (value + unit - 1) & ~(unit - 1)


def taken(
    row: Mapping[str, Any],
    shape: Mapping[str, int],
    rounded: Callable[[int, int], int] = _round_up,
) -> int:
    """The bytes that a row takes at a shape; raises UndefinedError where it has no size."""
    value = rounded(logical(row["demand"], shape), row["alignment_bytes"])
    allocator = row["storage"]["profile"]["allocator"]
    if isinstance(allocator, dict):
        value = rounded(value, allocator["fixed_block_arena"]["block_bytes"])
    return value


def known(document: Document, shape: Mapping[str, int]) -> dict[str, int]:
    """The bytes of every dynamic resource that has a size at the shape.

    One row at fault, say one that is aligned to 0, leaves the others theirs.
    """
    sizes = {}
    for name, row in document.descriptors.items():
        try:
            sizes[name] = taken(row, shape)
        except NOT_EVALUATED:
            continue
    return sizes
