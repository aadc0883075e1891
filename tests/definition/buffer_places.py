"""Where the buffers of a buffer plan lie at one shape, by definition, and what does not fit.

Reads nothing but the document, which must be well formed: ids stand once, names are known, and
aliases end in a buffer that has an arena.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Json = Any
Shape = dict[str, int]
MOST = 2**64


class Place(NamedTuple):
    """Bytes of an arena, and the buffer whose storage they are."""

    storage: str
    arena: str
    start: int
    end: int

    def meets(self, other: Place) -> bool:
        """Whether some byte of the arena is in both."""
        if self.arena != other.arena:
            return False
        return max(self.start, other.start) < min(self.end, other.end)

    def is_at(self, other: Place) -> bool:
        """Whether both are the very same bytes."""
        return self[1:] == other[1:]


def shapes(document: Json) -> Iterator[Shape]:
    """Every shape within the bounds."""
    dimensions = document.get("shape", {})
    ranges = [range(each["minimum"], each["maximum"] + 1) for each in dimensions.values()]
    for values in product(*ranges):
        yield dict(zip(dimensions, values, strict=True))


def amount(size: Json, shape: Mapping[str, int]) -> int:
    """A number of bytes at a shape."""
    if isinstance(size, int):
        return size
    total: int = size.get("fixed", 0)
    for name, factor in size.get("per", {}).items():
        total += factor * shape[name]
    return total


def places(document: Json, shape: Shape) -> tuple[dict[str, Place], list[str]]:
    """The place of each buffer at the shape, and the buffers that do not lie where they may."""
    buffers = {each["id"]: each for each in document["buffers"]}
    found: dict[str, Place] = {}
    misplaced: list[str] = []
    for name, buffer in buffers.items():
        chain = [buffer]
        while "alias_of" in chain[-1]:
            chain.append(buffers[chain[-1]["alias_of"]])
        root = chain[-1]
        start = sum(amount(each.get("offset", 0), shape) for each in chain)
        end = start + amount(buffer["bytes"], shape)
        found[name] = Place(root["id"], root["arena"], start, end)
        arena = document["arenas"][root["arena"]]
        if buffer is root:
            fits = end <= arena["bytes"] and start % arena.get("alignment", 1) == 0
        else:
            own = amount(buffer.get("offset", 0), shape) + amount(buffer["bytes"], shape)
            fits = own <= amount(chain[1]["bytes"], shape)
        if not fits or end >= MOST:
            misplaced.append(name)
    return found, misplaced


def runs_in(node: Json, arms: Mapping[str, str]) -> bool:
    """Whether the node runs where the conditions take these arms."""
    return all(arms[condition] == arm for condition, arm in node.get("arms", ()))


def combinations(document: Json) -> Iterator[dict[str, str]]:
    """Every combination of arms, one of each condition."""
    named: dict[str, dict[str, None]] = {}
    for node in document["nodes"]:
        for condition, arm in node.get("arms", ()):
            named.setdefault(condition, {})[arm] = None
    for arms in product(*named.values()):
        yield dict(zip(named, arms, strict=True))
