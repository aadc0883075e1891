"""Whether a row's demand holds what grows with a count, and the smallest count at which not.

Along one count, with the other two fixed, the bytes of every demand are *pieces*: each goes up to
some count, and on it the bytes are a line. What a value, a state or a workspace needs is pieces
too, so one comparison finds the smallest count at which a need is not held, without trying counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ferrum_verify.counterexamples import Shape
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.documents.terms import COUNTS, Linear

if TYPE_CHECKING:
    from ferrum_verify.documents.terms import Count, Terms


class Piece(NamedTuple):
    """The bytes ``fixed + each * count``, for counts past the piece before and up to ``upto``."""

    upto: int
    fixed: int
    each: int


Pieces: TypeAlias = tuple[Piece, ...]
"""Pieces one after the other from a count of 1 on; past the last one nothing is said."""

_UNBOUNDED = U64_MAX


def growing(fixed: int, each: int, upto: int = _UNBOUNDED) -> Pieces:
    """A need of ``fixed`` bytes and ``each`` more for every one that is counted."""
    return (Piece(upto, fixed, each),)


def along(terms: Terms, count: Count, others: Shape) -> Pieces:
    """A demand's bytes along a count, with the other counts of ``others``.

    Empty where the demand is not defined at the other counts.
    """
    if isinstance(terms, Linear):
        fixed = terms.fixed
        for counted, each, most in terms.parts:
            if counted == count:
                continue
            if getattr(others, counted) > most:
                return ()
            fixed += each * getattr(others, counted)
        limit = terms.limit(count)
        return (Piece(_UNBOUNDED if limit is None else limit, fixed, terms.rate(count)),)
    pieces: list[Piece] = []
    for step in terms.steps:
        covers = all(getattr(others, c) <= getattr(step, c) for c in COUNTS if c != count)
        reached = pieces[-1].upto if pieces else 0
        if covers and getattr(step, count) > reached:
            pieces.append(Piece(getattr(step, count), step.bytes, 0))
    return tuple(pieces)


def smallest_unheld(have: Pieces, want: Pieces, most: int) -> int | None:
    """The smallest count from 1 to ``most`` at which ``want`` is more than ``have``, or None.

    Where ``have`` says nothing it holds nothing; where ``want`` says nothing it asks for nothing.
    """
    begin = 1
    held, wanted = iter(have), iter(want)
    has, asks = next(held, None), next(wanted, None)
    while begin <= most and asks is not None:
        if has is None:
            return begin
        end = min(has.upto, asks.upto, most)
        found = _first_positive(asks.fixed - has.fixed, asks.each - has.each, begin, end)
        if found is not None:
            return found
        begin = end + 1
        if has.upto < begin:
            has = next(held, None)
        if asks.upto < begin:
            asks = next(wanted, None)
    return None


def _first_positive(fixed: int, each: int, begin: int, end: int) -> int | None:
    """The first of the counts at which ``fixed + each * count`` is more than 0."""
    if fixed + each * begin > 0:
        return begin
    if each <= 0:
        return None
    first = -fixed // each + 1
    return first if first <= end else None


def is_defined(terms: Terms, shape: Shape) -> bool:
    """Whether a demand says how many bytes there are at a shape."""
    if isinstance(terms, Linear):
        return all(getattr(shape, part.counted) <= part.most for part in terms.parts)
    return any(
        all(getattr(shape, count) <= getattr(step, count) for count in COUNTS)
        for step in terms.steps
    )


def bytes_at_most(terms: Terms, shape: Shape) -> int:
    """The bytes of a demand at a shape; beyond what it is defined at, those it has at most."""
    if isinstance(terms, Linear):
        total = terms.fixed
        for counted, each, most in terms.parts:
            total += each * min(getattr(shape, counted), most)
        return total
    for step in terms.steps:
        if all(getattr(shape, count) <= getattr(step, count) for count in COUNTS):
            return step.bytes
    return max((step.bytes for step in terms.steps), default=0)


def least_along_tokens(terms: Terms) -> Pieces:
    """The fewest bytes of a row for some tokens: those of one sequence and one page."""
    return along(terms, "tokens", Shape(1, 1, 1))


def most_along_tokens(terms: Terms) -> Pieces:
    """The most bytes that a row can have for some tokens, as far as that is open.

    How many pages the tokens fill is not known here, and of shape buckets neither which one the
    tokens are in. A batch of one sequence is always possible.
    """
    if isinstance(terms, Linear):
        return along(terms, "tokens", Shape(1, 1, terms.limit("pages") or 1))
    if not terms.steps:
        return ()
    last = terms.steps[-1]
    return along(terms, "tokens", Shape(last.sequences, 1, last.pages))


class Unheld(NamedTuple):
    """The smallest number of tokens at which a need is not held by a row.

    ``certain`` where it is held at no shape of so many tokens; else it depends on how many pages
    they fill, or which of the row's shape buckets they are in.
    """

    tokens: int
    certain: bool


def unheld_tokens(have: Terms, want: Pieces, most: int) -> Unheld | None:
    """Where a row first fails to hold what grows with up to ``most`` tokens; None if nowhere."""
    tokens = smallest_unheld(most_along_tokens(have), want, most)
    if tokens is not None:
        return Unheld(tokens, certain=True)
    tokens = smallest_unheld(least_along_tokens(have), want, most)
    return None if tokens is None else Unheld(tokens, certain=False)


def smallest_unheld_shape(have: Terms, want: Terms, within: Shape) -> Shape | None:
    """A smallest shape up to ``within`` at which a demand is more than another, or None.

    Both must be legal. At fewer of any one count, with the others as they are, the need is held.
    Lines along one count suffice: the difference of two lines is greatest at a corner, and so it
    is where shape buckets end or begin.
    """
    found: list[Shape] = []
    corners = {Shape(1, 1, 1), within, *_corners(have, within), *_corners(want, within)}
    for corner in corners:
        for count in COUNTS:
            for others in _others(corner, count):
                at = smallest_unheld(
                    along(have, count, others), along(want, count, others), getattr(within, count)
                )
                if at is not None:
                    found.append(_with(others, count, at))
    if not found:
        return None
    smallest = min(found, key=lambda shape: (shape.sequences, shape.tokens, shape.pages))
    for count in COUNTS:
        at = smallest_unheld(
            along(have, count, smallest), along(want, count, smallest), getattr(smallest, count)
        )
        smallest = smallest if at is None else _with(smallest, count, at)
    return smallest


def _corners(terms: Terms, within: Shape) -> list[Shape]:
    """The largest shapes of each piece of a demand, within a shape."""
    if isinstance(terms, Linear):
        limits = [terms.limit(count) for count in COUNTS]
        most = [within.sequences, within.tokens, within.pages]
        return [Shape(*(min(m, m if e is None else e) for m, e in zip(most, limits, strict=True)))]
    return [
        Shape(
            min(step.sequences, within.sequences),
            min(step.tokens, within.tokens),
            min(step.pages, within.pages),
        )
        for step in terms.steps
    ]


def _others(corner: Shape, count: Count) -> list[Shape]:
    """The corner with either of the other two counts, or both, at 1."""
    first, second = (each for each in COUNTS if each != count)
    return [
        _with(_with(corner, first, one), second, other)
        for one in (1, getattr(corner, first))
        for other in (1, getattr(corner, second))
    ]


def _with(shape: Shape, count: Count, value: int) -> Shape:
    counts = {each: getattr(shape, each) for each in COUNTS}
    return Shape(**(counts | {count: value}))
