"""The values of an XLA module: where they lie, where they are, and what uses them.

A line that cannot be read is refused: what it says of a value would else be lost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ferrum_verify.importers.unreadable import ForeignPlanError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ALLOCATION = re.compile(r"allocation (\d{1,9}): size (\d{1,20})((?:,.*)?:)$")
_VALUE = re.compile(
    r"value: <(\d{1,9}) (?:PHI )?([\w.\-]+?)((?:\{[\d,]*\})?) @(\d{1,9})> "
    r"\(size=(\d{1,20}),offset=(\d{1,20})\)(?:: (.*))?$"
)
_HEAD = re.compile(r"<(\d{1,9}) (?:PHI )?([\w.\-]+?)((?:\{[\d,]*\})?) @\d{1,9}>$")
_USE = re.compile(r"([\w.\-]+), operand (\d{1,9})(?: \{[\d,]*\})?$")
_POSITION = re.compile(r"([\w.\-]+)(?: \{([\d,]*)\})?$")
_FOLLOWS = {"positions:": "head", "uses:": "positions:", "from instruction:": "uses:"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value lies; ``arena`` is empty where its allocation is private to a thread."""

    number: int
    defined_by: str
    index: str
    arena: str
    offset: int
    bytes: int
    shape: str
    constant: bool


@dataclass(slots=True)
class Value:
    """A value: which instruction defines it, which hold it at what index, which use it where."""

    defined_by: str
    index: str
    positions: set[tuple[str, str]] = field(default_factory=set)
    uses: dict[tuple[str, int], None] = field(default_factory=dict)


def placed(texts: Sequence[Sequence[str]]) -> tuple[dict[str, int], dict[int, Place]]:
    """The bytes of the allocations, private ones left out, and the values in all of them."""
    sizes: dict[str, int] = {}
    places: dict[int, Place] = {}
    known: set[str] = set()
    for lines in texts:
        inside = None
        for line in lines:
            if re.match(r"allocation \d", line):
                inside = _matched(_ALLOCATION, line, "an allocation")
                if inside[1] in known:
                    raise ForeignPlanError(f"Allocation {inside[1]} stands twice.")
                known.add(inside[1])
                if ", thread-local" not in inside[3]:
                    sizes[f"allocation{inside[1]}"] = int(inside[2])
            elif not line:
                inside = None
            elif inside is not None or line.startswith("value:"):
                place = _place(line, inside)
                if places.setdefault(place.number, place) is not place:
                    raise ForeignPlanError(f"Value {place.number} lies in two places.")
    missing = next((at for at in range(len(known)) if str(at) not in known), None)
    if missing is not None:
        raise ForeignPlanError(f"Allocation {missing} is missing, and those after it are there.")
    return sizes, places


def used(texts: Sequence[Sequence[str]]) -> dict[int, Value]:
    """The values by their numbers, with where they are and what uses them."""
    values: dict[int, Value] = {}
    for lines in texts:
        for number, value, part, line in _parts(lines):
            if values.setdefault(number, value).defined_by != value.defined_by:
                raise ForeignPlanError(f"Value {number} has two names; name texts of one module.")
            if part == "positions:":
                at = _matched(_POSITION, line, "a position")
                values[number].positions.add((at[1], at[2] or ""))
            elif line != "(none)":
                use = _matched(_USE, line, "a use")
                values[number].uses[use[1], int(use[2])] = None
    return values


def _place(line: str, allocation: re.Match[str] | None) -> Place:
    match = _matched(_VALUE, line, "a value")
    if allocation is None:
        raise ForeignPlanError(f"The value {match[2]} stands in no allocation.")
    private, constant = (f", {word}" in allocation[3] for word in ("thread-local", "constant"))
    arena = "" if private else f"allocation{allocation[1]}"
    index, size, offset = match[3].strip("{}"), int(match[5]), int(match[6])
    return Place(int(match[1]), match[2], index, arena, offset, size, match[7] or "", constant)


def _parts(lines: Sequence[str]) -> Iterator[tuple[int, Value, str, str]]:
    """Each line of the positions and uses of each value; refuses a value that lacks some."""
    head: re.Match[str] | None = None
    value = Value("", "")
    part, count = "", 0
    for line in lines:
        announced = next((each for each in _FOLLOWS if line.startswith(each)), None)
        if announced is not None:
            if part != _FOLLOWS[announced] or (part != "head" and count == 0):
                raise ForeignPlanError(f"A value's lines before {line[:80]!r} are missing.")
            part, count = announced, 0
        elif part in ("positions:", "uses:"):
            if head is not None:
                yield int(head[1]), value, part, line
            count += 1
        elif part == "head" or re.match(r"<\d", line):
            head = _matched(_HEAD, line, "a value")
            if part == "head":
                raise ForeignPlanError(f"Value {head[1]} follows one that has no positions.")
            value = Value(head[2], head[3].strip("{}"))
            part, count = "head", 0
    if part not in ("", "from instruction:"):
        raise ForeignPlanError("The values do not end, so their text is cut short.")


def _matched(pattern: re.Pattern[str], line: str, what: str) -> re.Match[str]:
    match = pattern.match(line)
    if match is None:
        raise ForeignPlanError(f"A line should be {what} and cannot be read: {line[:80]!r}.")
    return match
