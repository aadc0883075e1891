"""The values of an ExecuTorch program: tensors with their places, lists of them, numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferrum_verify.importers.unreadable import ForeignPlanError

if TYPE_CHECKING:
    from ferrum_verify.importers.flatbuffers import Table

_INT, _BOOL, _DOUBLE, _TENSOR = 2, 3, 4, 5
_LISTS = (10, 11)  # of tensors, and of tensors that may be missing
_TYPES = {
    0: ("uint8", 1), 1: ("int8", 1), 2: ("int16", 2), 3: ("int32", 4), 4: ("int64", 8),
    5: ("float16", 2), 6: ("float32", 4), 7: ("float64", 8), 11: ("bool", 1), 12: ("qint8", 1),
    13: ("quint8", 1), 14: ("qint32", 4), 15: ("bfloat16", 2), 27: ("uint16", 2),
    28: ("uint32", 4), 29: ("uint64", 8),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a method: a tensor with its place in a planned memory, if it has one.

    ``items`` are the values of a list. ``state`` says that the file holds first contents for a
    planned tensor, ``held`` that the file holds the tensor itself, ``bounded`` that the sizes are
    upper bounds; ``constant`` is that of a bool.
    """

    tensor: bool = False
    scalar: bool = False
    items: tuple[int, ...] = ()
    memory: int | None = None
    offset: int = 0
    bytes: int = 0
    label: str = ""
    state: bool = False
    held: bool = False
    bounded: bool = False
    constant: bool | None = None
    unread: str = ""

    @property
    def planned(self) -> bool:
        """Whether it has bytes in a planned memory."""
        return self.memory is not None and self.bytes > 0


def value_of(value: Table) -> Value:
    """A value, by its kind; what is of no kind that has bytes is left empty."""
    kind, fields = value.number(0, "<B"), value.table(1)
    if not 1 <= kind <= _LISTS[-1]:
        raise ForeignPlanError(f"A value is of kind {kind}, which is not known.")
    if fields is None and kind in (_TENSOR, *_LISTS):
        raise ForeignPlanError("A tensor, or a list of them, has no fields.")
    if fields is None or kind not in (_INT, _BOOL, _DOUBLE, _TENSOR, *_LISTS):
        return Value()
    if kind in _LISTS:
        return Value(items=fields.numbers(0, "<i"))
    if kind != _TENSOR:
        return Value(scalar=True, constant=bool(fields.number(0, "<B")) if kind == _BOOL else None)
    return _tensor(fields)


def _tensor(fields: Table) -> Value:
    sizes = fields.numbers(2, "<i")
    if len(sizes) > 64 or min(sizes, default=0) < 0:
        raise ForeignPlanError("A tensor has more than 64 dimensions, or a negative one.")
    code = fields.number(0, "<b")
    name, width = _TYPES.get(code, (f"type {code}", 0))
    label = f"{name}[{','.join(map(str, sizes))}]"
    dynamic = fields.number(8, "<b")
    place = fields.table(6)
    if place is None:
        return Value(tensor=True, label=label, held=fields.number(5, "<I") > 0)
    plain = width and dynamic in (0, 1) and not fields.number(1, "<i")
    return Value(
        tensor=True,
        memory=place.number(0, "<I"),
        offset=place.number(1, "<I") | place.number(2, "<I") << 32,
        bytes=math.prod(sizes) * (width or 1),
        label=label,
        state=fields.number(5, "<I") > 0,
        bounded=dynamic == 1,
        unread="" if plain else "its type, storage offset or dynamism is not read",
    )
