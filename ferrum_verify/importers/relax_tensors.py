"""Tensors as TVM Relax writes them: shapes, element types, annotations."""

from __future__ import annotations

import re
from typing import NamedTuple

from ferrum_verify.importers.symbolic import Linear, linear, product
from ferrum_verify.importers.texts import arguments_of, call_of

_WIDTH = re.compile(r"(?:int|uint|float|bfloat)(\d{1,3})(?:_\w+)?(?:x(\d{1,4}))?$")
_QUOTED = re.compile(r'"([\w.]+)"')


class Tensor(NamedTuple):
    """How many bytes it has, if that is known, and what it is called in messages.

    ``packed`` says that its elements are no whole bytes; the size is then the least there is.
    """

    size: Linear | None
    label: str
    packed: bool = False


def annotated(annotation: str) -> Tensor:
    """The tensor that an annotation ``R.Tensor((5, 8), dtype="float32")`` describes."""
    callee, arguments = call_of(annotation) or ("", [])
    if callee != "R.Tensor" or len(arguments) < 2 or not arguments[0].startswith("("):
        return Tensor(None, "")
    return tensor_of(f"R.shape([{arguments[0][1:-1]}])", arguments[1])


def tensor_of(shape: str, dtype: str) -> Tensor:
    """A tensor by its shape and the type of its elements."""
    name = "".join(_QUOTED.findall(dtype)[:1])
    match = _WIDTH.match(name)
    bits = 8 if name == "bool" else int(match[1]) * int(match[2] or 1) if match else None
    size = extents(shape)
    label = f"{name}[{shape.removeprefix('R.shape([').removesuffix('])')}]".replace(", ", ",")
    if size is None or bits is None:
        return Tensor(None, label)
    if bits % 8:
        whole = size.times(bits)
        fixed = whole.fixed // 8 if whole.per else (whole.fixed + 7) // 8
        return Tensor(Linear(fixed, tuple((n, each // 8) for n, each in whole.per)), label, True)
    return Tensor(size.times(bits // 8), label)


def extents(shape: str) -> Linear | None:
    """The product of ``R.shape([...])``."""
    callee, arguments = call_of(shape) or ("", [])
    if callee != "R.shape" or len(arguments) != 1 or arguments[0][:1] != "[":
        return None
    return product(map(linear, arguments_of(arguments[0][1:-1])))


def extent(text: str) -> Linear | None:
    """A number, plain or as ``R.prim_value(...)``."""
    callee, arguments = call_of(text) or ("", [])
    return linear(arguments[0] if callee == "R.prim_value" and arguments else text)
