"""Demand forms: how many bytes a dynamic resource needs at a shape.

A descriptor's *demand* carries the runtime's ceilings; a provider's *size formula* is the
same without those of sequences and tokens, which the plan binds.
"""

from typing import Annotated, Any, ClassVar

from pydantic import Discriminator, Field, Tag, WrapValidator

from ferrum_verify.documents.primitives import U32, U64, Variant, WireModel, variant_tag


class Fixed(Variant):
    """The same bytes at every shape."""

    tag: ClassVar[str] = "fixed"
    bytes: U64


class ActualSequences(Variant):
    """Bytes for each sequence in flight."""

    tag: ClassVar[str] = "actual_sequences"
    bytes_per_sequence: U64
    maximum_sequences: U32


class Tokens(Variant):
    """Bytes for each token."""

    tag: ClassVar[str] = "tokens"
    bytes_per_token: U64
    maximum_tokens: U64


class Affine(Variant):
    """A fixed part, a part for each sequence and a part for each token."""

    tag: ClassVar[str] = "affine"
    fixed_bytes: U64
    bytes_per_sequence: U64
    maximum_sequences: U32
    bytes_per_token: U64
    maximum_tokens: U64


class Pages(Variant):
    """Bytes for each page."""

    tag: ClassVar[str] = "pages"
    bytes_per_page: U64
    maximum_pages: U64


class ShapeBucket(WireModel):
    """The bytes needed by every shape that this bucket is the first to cover."""

    maximum_sequences: U32
    maximum_tokens: U64
    maximum_pages: U64
    bytes: U64


class BoundedShapeBuckets(Variant):
    """A staircase: the first bucket that covers a shape says its bytes."""

    tag: ClassVar[str] = "bounded_shape_buckets"
    buckets: Annotated[tuple[ShapeBucket, ...], Field(strict=False)]


_Demand = Annotated[
    Annotated[Fixed, Tag("fixed")]
    | Annotated[ActualSequences, Tag("actual_sequences")]
    | Annotated[Tokens, Tag("tokens")]
    | Annotated[Affine, Tag("affine")]
    | Annotated[Pages, Tag("pages")]
    | Annotated[BoundedShapeBuckets, Tag("bounded_shape_buckets")],
    Discriminator(variant_tag),
]


_KNOWN: dict[tuple[object, ...], Any] = {}
_MOST_KNOWN = 4096
_MOST_BUCKETS = 64


def _shared(value: Any, handler: Any) -> Any:
    # A plan's thousand rows have a handful of demands between them. Each is read once and then
    # shared, which it can be as it never changes; whatever looks unusual is read anew.
    if type(value) is not dict or len(value) != 1:
        return handler(value)
    ((form, terms),) = value.items()
    if type(terms) is not dict:
        return handler(value)
    buckets = terms.get("buckets")
    if buckets is None:
        key = _numbers(terms)
    elif len(terms) == 1 and type(buckets) is list and len(buckets) <= _MOST_BUCKETS:
        each = [_numbers(bucket) for bucket in buckets]
        key = None if None in each else tuple(each)
    else:
        key = None
    if key is None:
        return handler(value)
    key = (form, *key)
    known = _KNOWN.get(key)
    if known is None:
        known = handler(value)
        if len(_KNOWN) < _MOST_KNOWN:
            _KNOWN[key] = known
    return known


def _numbers(terms: Any) -> tuple[object, ...] | None:
    """The members of an object that holds plain numbers only; None for anything else."""
    if type(terms) is not dict:
        return None
    for number in terms.values():
        if type(number) is not int:
            return None
    return tuple(terms.items())


Demand = Annotated[_Demand, WrapValidator(_shared)]
"""A descriptor's demand; equal ones of plain numbers are one object."""


class ActualSequencesFormula(Variant):
    """Bytes for each sequence in flight; the plan binds the maximum."""

    tag: ClassVar[str] = "actual_sequences"
    bytes_per_sequence: U64


class TokensFormula(Variant):
    """Bytes for each token; the plan binds the maximum."""

    tag: ClassVar[str] = "tokens"
    bytes_per_token: U64


class AffineFormula(Variant):
    """A fixed part, one for each sequence and one for each token; the plan binds the maxima."""

    tag: ClassVar[str] = "affine"
    fixed_bytes: U64
    bytes_per_sequence: U64
    bytes_per_token: U64


SizeFormula = Annotated[
    Annotated[Fixed, Tag("fixed")]
    | Annotated[ActualSequencesFormula, Tag("actual_sequences")]
    | Annotated[TokensFormula, Tag("tokens")]
    | Annotated[AffineFormula, Tag("affine")]
    | Annotated[Pages, Tag("pages")]
    | Annotated[BoundedShapeBuckets, Tag("bounded_shape_buckets")],
    Discriminator(variant_tag),
]


def bind(formula: SizeFormula, maximum_sequences: int, maximum_tokens: int) -> Demand:
    """Fill a provider's size formula with the plan's ceilings of sequences and tokens."""
    match formula:
        case ActualSequencesFormula(bytes_per_sequence=per_sequence):
            return ActualSequences(
                bytes_per_sequence=per_sequence, maximum_sequences=maximum_sequences
            )
        case TokensFormula(bytes_per_token=per_token):
            return Tokens(bytes_per_token=per_token, maximum_tokens=maximum_tokens)
        case AffineFormula(fixed_bytes=fixed, bytes_per_sequence=s, bytes_per_token=t):
            return Affine(
                fixed_bytes=fixed,
                bytes_per_sequence=s,
                maximum_sequences=maximum_sequences,
                bytes_per_token=t,
                maximum_tokens=maximum_tokens,
            )
    return formula
