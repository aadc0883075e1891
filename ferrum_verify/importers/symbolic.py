"""Sizes over named dimensions: a fixed part, and so much for each unit of a dimension."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST_CHARACTERS = 200
"""Of one extent of a shape; deeper expressions than these hold are not read."""


class Linear(NamedTuple):
    """``fixed`` and the sum of ``per``'s factors times their dimensions."""

    fixed: int
    per: tuple[tuple[str, int], ...] = ()

    def times(self, factor: int) -> Linear:
        """So many times as much."""
        return Linear(self.fixed * factor, tuple((name, each * factor) for name, each in self.per))

    def plus(self, other: Linear) -> Linear:
        """Both together."""
        per = dict(self.per)
        for name, each in other.per:
            per[name] = per.get(name, 0) + each
        return Linear(self.fixed + other.fixed, tuple(per.items()))

    def at_most(self, bounds: Mapping[str, Mapping[str, int]]) -> int:
        """The value where every dimension is at its maximum."""
        return self.fixed + sum(each * bounds[name]["maximum"] for name, each in self.per)

    def wire(self) -> int | dict[str, Any]:
        """The size as a buffer plan writes it."""
        return {"fixed": self.fixed, "per": dict(self.per)} if self.per else self.fixed


def linear(text: str) -> Linear | None:
    """An extent such as ``5``, ``n`` or ``n * 4 + 1``; None where it is none of that kind."""
    if len(text) > MOST_CHARACTERS:
        return None
    try:
        return _linear(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def product(extents: Iterable[Linear | None]) -> Linear | None:
    """All extents multiplied; None where two of them have dimensions, or one is not known."""
    total = Linear(1)
    for each in extents:
        if each is None:
            return None
        if each.per and total.per:
            return None
        total = total.times(each.fixed) if not each.per else each.times(total.fixed)
    return total


def _linear(node: ast.expr) -> Linear | None:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return Linear(value)
        case ast.Name(id=name):
            return Linear(0, ((name, 1),))
        case ast.Call(func=ast.Attribute(value=ast.Name(id="T")), args=[only], keywords=[]):
            return _linear(only)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return product((_linear(left), _linear(right)))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, other = _linear(left), _linear(right)
            return None if one is None or other is None else one.plus(other)
    return None
