"""Where in a document's text a JSON pointer leads, in lines and columns.

Reports for other tools show a finding in the plan file itself. The text is swept once, and only
along the paths that are asked for: everything else is skipped by Python's own JSON scanner, so
that the sweep costs about as much as reading the document did.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ferrum_verify.documents.pointer import pointer, steps_of
from ferrum_verify.reading.json_text import MAXIMUM_BUNDLE_BYTES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

_BLANKS = " \t\r\n"
_GZIP_MAGIC = b"\x1f\x8b"

# Numbers stay text: Python refuses to convert integers of thousands of digits.
_SCANNER = json.JSONDecoder(parse_int=str, parse_float=str)


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of text. Lines and columns count from 1, columns in Unicode characters.

    ``end_column`` is the column behind the last character. A member is shown with its key; of
    an object or list only the opening bracket is shown, as the whole could fill pages.
    """

    line: int
    column: int
    end_line: int
    end_column: int


def regions_in(text: str, pointers: Iterable[str], *, first_line: int = 1) -> dict[str, Region]:
    """The region of each JSON pointer in the text of one document.

    A pointer to a member that is not there (a missing field, say) is shown at the innermost
    object or list around it that is. In text that is not JSON, the whole document's pointer
    ("") is shown where the first fault is, and a pointer that was not reached is left out.
    Of members under one key the last one counts, as for every reader. ``first_line`` is the
    line of the file that the text begins on.
    """
    wanted = sorted(set(pointers))
    sweep = _Sweep(text)
    sweep.run(_as_tree(wanted))
    nearest = {place: sweep.nearest(steps_of(place)) for place in wanted}
    spans = {place: span for place, span in nearest.items() if span is not None}
    offsets = {offset for span in spans.values() for offset in span}
    positions = _line_and_column(text, offsets)
    regions: dict[str, Region] = {}
    for place, (start, end) in spans.items():
        line, column = positions[start]
        end_line, end_column = positions[end]
        shift = first_line - 1
        regions[place] = Region(line + shift, column, end_line + shift, end_column)
    return regions


def regions_of_file(
    path: Path | None, pointers: Mapping[int, Collection[str]]
) -> dict[tuple[int, str], Region]:
    """The regions in a file, by the line that a document begins on and the pointer in it.

    ``pointers`` are those that are asked for of the documents of the file, by that line. Nothing
    is known of standard input, pipes, and archives, whose lines nobody can see, nor of a file
    that cannot be read any more.
    """
    if path is None or not pointers:
        return {}
    try:
        if not path.is_file():  # a pipe can be read only once
            return {}
        return _regions_of_file(path, pointers)
    except (OSError, UnicodeDecodeError):
        return {}


def _regions_of_file(
    path: Path, pointers: Mapping[int, Collection[str]]
) -> dict[tuple[int, str], Region]:
    regions: dict[tuple[int, str], Region] = {}
    with path.open("rb") as stream:
        if stream.peek(2)[:2] == _GZIP_MAGIC:
            return {}
        if not path.name.lower().endswith(".jsonl"):
            text = stream.read(MAXIMUM_BUNDLE_BYTES + 1).decode()
            found = regions_in(text, pointers.get(1, ()))
            return {(1, place): region for place, region in found.items()}
        last = max(pointers)
        for number in range(1, last + 1):
            line = stream.readline(MAXIMUM_BUNDLE_BYTES + 2)
            if number in pointers:
                found = regions_in(line.decode(), pointers[number], first_line=number)
                regions |= {(number, place): region for place, region in found.items()}
    return regions


class _Sweep:
    """One pass over a text; ``spans`` are the start and end offsets of what was met."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans: dict[str, tuple[int, int]] = {}

    def run(self, wanted: dict[str, Any]) -> None:
        try:
            start = self._behind_blanks(0)
            end = self._value(start, start, wanted, "")
            rest = self._behind_blanks(end)
            if rest < len(self.text):
                self.spans[""] = (rest, rest + 1)
        except json.JSONDecodeError as fault:
            self.spans[""] = (fault.pos, min(fault.pos + 1, len(self.text)))
        except RecursionError:
            return  # nests too deep for any reader: what lies above is known already

    def nearest(self, steps: list[str]) -> tuple[int, int] | None:
        """The span of the innermost value that was met on the way along ``steps``."""
        place = ""
        span = self.spans.get(place)
        for step in steps:
            place = pointer(place, step)
            if place not in self.spans:
                break
            span = self.spans[place]
        return span

    def _value(self, start: int, at: int, wanted: dict[str, Any], location: str) -> int:
        """Sweep the value at offset ``at``, shown from ``start`` on; give its end."""
        bracket = self.text[at : at + 1]
        if bracket not in ("{", "["):
            end = self._skip(at)
            self.spans[location] = (start, end)
            return end
        self.spans[location] = (start, at + 1)
        if not wanted:
            return self._skip(at)
        return self._members(at, wanted, location, is_object=bracket == "{")

    def _members(self, at: int, wanted: dict[str, Any], location: str, *, is_object: bool) -> int:
        closing = "}" if is_object else "]"
        cursor = self._behind_blanks(at + 1)
        if self.text[cursor : cursor + 1] == closing:
            return cursor + 1
        index = 0
        while True:
            start = cursor
            step = str(index)
            if is_object:
                step, cursor = self._key(cursor)
            below = wanted.get(step)
            if below is None:
                cursor = self._skip(cursor)
            else:
                cursor = self._value(start, cursor, below, pointer(location, step))
            cursor = self._behind_blanks(cursor)
            mark = self.text[cursor : cursor + 1]
            if mark == closing:
                return cursor + 1
            if mark != ",":
                raise json.JSONDecodeError("Expecting ',' delimiter", self.text, cursor)
            cursor = self._behind_blanks(cursor + 1)
            index += 1

    def _key(self, at: int) -> tuple[str, int]:
        """The key at an offset, and the offset of its value."""
        if self.text[at : at + 1] != '"':
            raise json.JSONDecodeError("Expecting property name", self.text, at)
        key, end = _SCANNER.raw_decode(self.text, at)
        colon = self._behind_blanks(end)
        if self.text[colon : colon + 1] != ":":
            raise json.JSONDecodeError("Expecting ':' delimiter", self.text, colon)
        return str(key), self._behind_blanks(colon + 1)

    def _skip(self, at: int) -> int:
        return _SCANNER.raw_decode(self.text, at)[1]

    def _behind_blanks(self, at: int) -> int:
        while self.text[at : at + 1] in _BLANKS and at < len(self.text):
            at += 1
        return at


def _as_tree(pointers: Iterable[str]) -> dict[str, Any]:
    """The pointers as nested mappings from each step to what is wanted below it."""
    tree: dict[str, Any] = {}
    for place in pointers:
        below = tree
        for step in steps_of(place):
            below = below.setdefault(step, {})
    return tree


def _line_and_column(text: str, offsets: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Line and column of each offset, in one pass over the line breaks between them."""
    positions: dict[int, tuple[int, int]] = {}
    line, seen = 1, 0
    for offset in sorted(offsets):
        line += text.count("\n", seen, offset)
        seen = offset
        positions[offset] = (line, offset - text.rfind("\n", 0, offset))
    return positions
