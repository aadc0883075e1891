"""Flatbuffers, as far as a reader needs them: tables, vectors, strings, unions.

Every read is bounded by the bytes that are there, so a damaged or hostile file ends in one
sentence. Nothing is copied but what is asked for.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ferrum_verify.importers.unreadable import ForeignPlanError

MOST_READINGS = 4
"""How often each byte may be read: vectors may share bytes, which multiplies what is to be read."""


class _Rest:
    """How many elements may still be read."""

    __slots__ = ("elements",)

    def __init__(self, elements: int) -> None:
        self.elements = elements


@dataclass(frozen=True, slots=True)
class Table:
    """A table at a position in the bytes: its fields by the number the schema gives them."""

    data: bytes
    at: int
    rest: _Rest

    @classmethod
    def root(cls, data: bytes) -> Table:
        """The table that the first four bytes point at."""
        return cls(data, _number("<I", data, 0), _Rest(MOST_READINGS * len(data)))

    def number(self, field: int, form: str, default: int = 0) -> int:
        """A scalar in a form of ``struct``, such as ``<I``; the default where it is left out."""
        place = self._place(field)
        return default if place is None else _number(form, self.data, place)

    def table(self, field: int) -> Table | None:
        """The table that the field points at."""
        place = self._place(field)
        return None if place is None else Table(self.data, self._target(place), self.rest)

    def text(self, field: int) -> str:
        """A string, empty where it is left out."""
        place = self._place(field)
        if place is None:
            return ""
        start, length = self._extent(place, 1)
        return self.data[start : start + length].decode("utf-8", "replace")

    def numbers(self, field: int, form: str) -> tuple[int, ...]:
        """A vector of scalars, empty where it is left out."""
        place = self._place(field)
        if place is None:
            return ()
        start, length = self._extent(place, struct.calcsize(form))
        return struct.unpack_from(f"<{length}{form[-1]}", self.data, start)

    def tables(self, field: int) -> tuple[Table, ...]:
        """A vector of tables, empty where it is left out."""
        place = self._place(field)
        if place is None:
            return ()
        start, length = self._extent(place, 4)
        targets = (self._target(start + 4 * each) for each in range(length))
        return tuple(Table(self.data, each, self.rest) for each in targets)

    def _place(self, field: int) -> int | None:
        """Where the field stands; None where the table leaves it out."""
        vtable = self.at - _number("<i", self.data, self.at)
        entry = 4 + 2 * field
        if entry + 2 > _number("<H", self.data, vtable):
            return None
        offset = _number("<H", self.data, vtable + entry)
        return self.at + offset if offset else None

    def _target(self, place: int) -> int:
        return place + _number("<I", self.data, place)

    def _extent(self, place: int, width: int) -> tuple[int, int]:
        """Where a vector's elements begin, and how many there are."""
        start = self._target(place)
        length = _number("<I", self.data, start)
        if start + 4 + width * length > len(self.data):
            raise ForeignPlanError(
                f"The vector at byte {start:,} claims {length:,} elements, which the "
                f"{len(self.data):,} bytes of the file do not hold."
            )
        self.rest.elements -= length
        if self.rest.elements < 0:
            raise ForeignPlanError(
                "Its vectors share their bytes, so that there is no end to reading them."
            )
        return start + 4, length


def _number(form: str, data: bytes, place: int) -> int:
    if not 0 <= place <= len(data) - struct.calcsize(form):
        raise ForeignPlanError(
            f"Byte {place:,} is pointed at, and the file has {len(data):,} bytes."
        )
    number: int = struct.unpack_from(form, data, place)[0]
    return number
