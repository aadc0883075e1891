"""Demand forms: how many bytes a dynamic resource needs at a shape.

A descriptor's *demand* carries the runtime's ceilings; a provider's *size formula* is the
same without those of sequences and tokens, which the plan binds. The wire spells each form with
members of its own; whoever reckons with them reads ``terms``.
"""

from functools import cached_property
from typing import Annotated, ClassVar

from pydantic import Discriminator, Field, Tag

from ferrum_verify.documents.primitives import (
    U32,
    U64,
    U64_MAX,
    Variant,
    WireModel,
    shared,
    variant_tag,
)
from ferrum_verify.documents.terms import COUNTS, Linear, Part, Staircase, Step


class _LinearForm(Variant):
    @cached_property
    def terms(self) -> Linear:
        """The fixed part and the parts of the counts; what no maximum bounds, u64 does."""
        members: dict[str, int] = self.__dict__
        each = [(count, members.get(f"bytes_per_{count[:-1]}")) for count in COUNTS]
        return Linear(
            members.get("fixed_bytes", members.get("bytes", 0)),
            tuple(
                Part(count, size, members.get(f"maximum_{count}", U64_MAX))
                for count, size in each
                if size is not None
            ),
        )


class Fixed(_LinearForm):
    """The same bytes at every shape."""

    tag: ClassVar[str] = "fixed"
    bytes: U64


class ActualSequences(_LinearForm):
    """Bytes for each sequence in flight."""

    tag: ClassVar[str] = "actual_sequences"
    bytes_per_sequence: U64
    maximum_sequences: U32


class Tokens(_LinearForm):
    """Bytes for each token."""

    tag: ClassVar[str] = "tokens"
    bytes_per_token: U64
    maximum_tokens: U64


class Affine(_LinearForm):
    """A fixed part, a part for each sequence and a part for each token."""

    tag: ClassVar[str] = "affine"
    fixed_bytes: U64
    bytes_per_sequence: U64
    maximum_sequences: U32
    bytes_per_token: U64
    maximum_tokens: U64


class Pages(_LinearForm):
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

    @cached_property
    def terms(self) -> Staircase:
        """The buckets as steps."""
        return Staircase(
            tuple(
                Step(each.maximum_sequences, each.maximum_tokens, each.maximum_pages, each.bytes)
                for each in self.buckets
            )
        )


_Demand = Annotated[
    Annotated[Fixed, Tag("fixed")]
    | Annotated[ActualSequences, Tag("actual_sequences")]
    | Annotated[Tokens, Tag("tokens")]
    | Annotated[Affine, Tag("affine")]
    | Annotated[Pages, Tag("pages")]
    | Annotated[BoundedShapeBuckets, Tag("bounded_shape_buckets")],
    Discriminator(variant_tag),
]


Demand = Annotated[_Demand, shared()]
"""A descriptor's demand; equal ones of plain numbers are one object."""


class ActualSequencesFormula(_LinearForm):
    """Bytes for each sequence in flight; the plan binds the maximum."""

    tag: ClassVar[str] = "actual_sequences"
    bytes_per_sequence: U64


class TokensFormula(_LinearForm):
    """Bytes for each token; the plan binds the maximum."""

    tag: ClassVar[str] = "tokens"
    bytes_per_token: U64


class AffineFormula(_LinearForm):
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


_BOUND = {form.tag: form for form in (ActualSequences, Tokens, Affine)}


def bind(formula: SizeFormula, maximum_sequences: int, maximum_tokens: int) -> Demand:
    """Fill a provider's size formula with the plan's ceilings of sequences and tokens."""
    form = _BOUND.get(formula.tag)
    if form is None:
        assert isinstance(formula, Fixed | Pages | BoundedShapeBuckets)
        return formula
    ceilings = {"maximum_sequences": maximum_sequences, "maximum_tokens": maximum_tokens}
    members = ceilings | formula.__dict__
    return form(**{name: members[name] for name in form.model_fields})
