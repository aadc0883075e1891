"""Small ExecuTorch programs, written by hand: what the samples from the compiler do not have."""

from __future__ import annotations

import struct
from typing import Any

Field = Any
"""A pair of a form of ``struct`` and a number, a string, a dict of fields by their numbers (a
table), a list of those, or a tuple of a form and a list of numbers (a vector)."""


def program(*methods: dict[int, Field]) -> bytes:
    """The bytes of a program of these methods."""
    data = bytearray(b"\0\0\0\0ET12")
    struct.pack_into("<I", data, 0, _put(data, {1: list(methods)}))
    return bytes(data)


def method(
    values: list[dict[int, Field]],
    instructions: list[dict[int, Field]],
    *,
    inputs: list[int] = [],  # noqa: B006
    outputs: list[int] = [],  # noqa: B006
    operators: list[str] = [],  # noqa: B006
    delegates: list[str] = [],  # noqa: B006
    memory: int = 256,
    name: str = "forward",
) -> dict[int, Field]:
    """A method of one chain, with one planned memory."""
    named = [dict(enumerate(each.rsplit(".", 1))) for each in operators]
    return {
        0: name,
        2: values,
        3: ("<i", inputs),
        4: ("<i", outputs),
        5: [{2: instructions}],
        6: named,
        7: [{0: each} for each in delegates],
        8: ("<q", [0, memory]),
    }


def tensor(offset: int | None, *sizes: int, data: int = 0, kind: int = 6) -> dict[int, Field]:
    """A tensor of float32, at an offset of memory 1 or not planned."""
    fields: dict[int, Field] = {0: ("<b", kind), 2: ("<i", list(sizes)), 5: ("<I", data)}
    if offset is not None:
        fields[6] = {0: ("<I", 1), 1: ("<I", offset)}
    return {0: ("<B", 5), 1: fields}


def number() -> dict[int, Field]:
    """An integer."""
    return {0: ("<B", 2), 1: {0: ("<q", 1)}}


def boolean(value: bool) -> dict[int, Field]:
    """A truth value."""
    return {0: ("<B", 3), 1: {0: ("<B", int(value))}}


def kernel(operator: int, *arguments: int) -> dict[int, Field]:
    """A call of a kernel."""
    return {0: ("<B", 1), 1: {0: ("<i", operator), 1: ("<i", list(arguments))}}


def delegate(*arguments: int) -> dict[int, Field]:
    """A call of the first delegate."""
    return {0: ("<B", 2), 1: {0: ("<i", 0), 1: ("<i", list(arguments))}}


def move(source: int, target: int) -> dict[int, Field]:
    """A move."""
    return {0: ("<B", 3), 1: {0: ("<i", source), 1: ("<i", target)}}


def jump(value: int, to: int) -> dict[int, Field]:
    """A jump where the value is false."""
    return {0: ("<B", 4), 1: {0: ("<i", value), 1: ("<i", to)}}


def free(value: int) -> dict[int, Field]:
    """The end of a tensor that the runtime placed."""
    return {0: ("<B", 5), 1: {0: ("<i", value)}}


def _put(data: bytearray, item: Field) -> int:
    """Append something that can be pointed at; gives where it stands."""
    if isinstance(item, dict):
        return _put_table(data, item)
    start = len(data)
    if isinstance(item, str):
        data += struct.pack("<I", len(item)) + item.encode() + b"\0"
        return start
    if isinstance(item, tuple):
        form, numbers = item
        data += struct.pack(f"<I{len(numbers)}{form[-1]}", len(numbers), *numbers)
        return start
    data += struct.pack("<I", len(item)) + bytes(4 * len(item))
    for at, each in enumerate(item):
        slot = start + 4 + 4 * at
        struct.pack_into("<I", data, slot, _put(data, each) - slot)
    return start


def _put_table(data: bytearray, fields: dict[int, Field]) -> int:
    count = max(fields, default=-1) + 1
    vtable, start = len(data), len(data) + 4 + 2 * count
    slots = {field: 4 + 8 * at for at, field in enumerate(fields)}
    places = [slots.get(field, 0) for field in range(count)]
    data += struct.pack(f"<HH{count}H", 4 + 2 * count, 4 + 8 * len(fields), *places)
    data += struct.pack("<i", start - vtable) + bytes(8 * len(fields))
    for field, item in fields.items():
        slot = start + slots[field]
        if isinstance(item, tuple) and not isinstance(item[1], list):
            struct.pack_into(item[0], data, slot, item[1])
        else:
            struct.pack_into("<I", data, slot, _put(data, item) - slot)
    return start
