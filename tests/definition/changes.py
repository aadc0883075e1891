"""Random changes of a document: one number, or one list, and always still a legible document."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hypothesis.strategies import DrawFn

    from tests.definition.sizes import Json

Path = tuple[str | int, ...]

LISTS = ["drop", "repeat", "swap"]
NUMBERS = ["up", "down", "double", "zero", "most"]


def walk(value: Any, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value inside a document, with its path."""
    yield at, value
    if isinstance(value, dict):
        for name, each in value.items():
            yield from walk(each, (*at, name))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from walk(each, (*at, index))


def is_wide_number(at: Path, value: object) -> bool:
    """Whether the value is a u128, which is written as decimal digits."""
    return at[-1:] == ("theoretical_ceiling_bytes",) and isinstance(value, str)


def widest(number: int, at: Path) -> int:
    """The largest number that surely is legible where this one stands."""
    if at[-2:-1] == ("version",):
        return 2**16 - 1
    return 2**32 - 1 if number < 2**32 else 2**64 - 1


def changed_number(number: int, how: str, most: int) -> int:
    """Another number from 0 to ``most``, or the same where there is none that way."""
    other = {
        "up": number + 1,
        "down": number - 1,
        "double": number * 2,
        "zero": 0,
        "most": most,
    }[how]
    return min(max(other, 0), most)


def changed_list(values: list[Any], how: str, index: int) -> list[Any]:
    """The list without one of its values, with it twice, or with it and the next in turn."""
    before, chosen, after = values[:index], values[index], values[index + 1 :]
    if how == "drop":
        return before + after
    if how == "repeat":
        return [*before, chosen, chosen, *after]
    return [*before, *after[:1], chosen, *after[1:]]


@st.composite
def changed(draw: DrawFn, document: Json) -> tuple[str, Json]:
    """What was changed, for people, and a copy of the document with that one change."""
    places = [
        (at, value)
        for at, value in walk(document)
        if type(value) is int or is_wide_number(at, value) or (isinstance(value, list) and value)
    ]
    # Fields first, then which of them: else the many numbers of rows would crowd out the totals.
    fields = sorted({_field(at) for at, _ in places})
    field = draw(st.sampled_from(fields))
    at, value = draw(st.sampled_from([place for place in places if _field(place[0]) == field]))
    if isinstance(value, list):
        how = draw(st.sampled_from(LISTS))
        other: Any = changed_list(value, how, draw(st.integers(0, len(value) - 1)))
    elif isinstance(value, str):
        how = draw(st.sampled_from(NUMBERS))
        other = str(changed_number(int(value), how, 2**128 - 1))
    else:
        how = draw(st.sampled_from(NUMBERS))
        other = changed_number(value, how, widest(value, at))
    result = copy.deepcopy(document)
    inner: Any = result
    for step in at[:-1]:
        inner = inner[step]
    inner[at[-1]] = other
    return f"{how} {'/'.join(map(str, at))}", result


def _field(at: Path) -> Path:
    return tuple(step for step in at if isinstance(step, str))
