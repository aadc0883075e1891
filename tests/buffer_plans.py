"""Buffer plans for tests, in few words."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def buffer(name: str, offset: Any = None, size: Any = 4, **more: Any) -> Json:
    """A buffer in the arena `a`, or with ``alias_of`` another name."""
    row: Json = {"id": name, "bytes": size, **more}
    if "alias_of" not in more:
        row |= {"arena": "a", "offset": 0}
    return row if offset is None else row | {"offset": offset}


def node(name: str, reads: str = "", writes: str = "", after: str = "", **more: Any) -> Json:
    """A node with its lists as words; ``arms`` as `c=x` words."""
    arms = [pair.split("=") for pair in more.pop("arms", "").split()]
    row = {"id": name, "reads": reads.split(), "writes": writes.split()}
    row |= {"dependencies": after.split(), "arms": arms}
    return row | more


def plan(buffers: list[Json], nodes: list[Json], **more: Any) -> Json:
    """A plan with one arena of 1,024 bytes."""
    return {
        "schema": "ferrum-verify/buffer-plan/v1",
        "arenas": {"a": {"bytes": 1024}},
        "buffers": buffers,
        "nodes": nodes,
        **more,
    }


def per(dimension: str, each: int, fixed: int = 0) -> Json:
    """Bytes that grow with a dimension."""
    return {"fixed": fixed, "per": {dimension: each}}


def dimensions(**bounds: tuple[int, int]) -> Json:
    """Dimensions with their bounds."""
    return {name: {"minimum": least, "maximum": most} for name, (least, most) in bounds.items()}


def ring(size: int) -> Json:
    """A byte for each of a ring of conditions, written in each case of its own and the next one."""
    buffers = [buffer("x", 0, size), buffer("y", 100, 1)]
    buffers += [buffer(f"x{each}", each, 1, alias_of="x") for each in range(size)]
    nodes = [
        node(
            f"i{each}{one}{then}", "", f"x{each}", arms=f"c{each}={one} c{(each + 1) % size}={then}"
        )
        for each in range(size)
        for one in "tf"
        for then in "tf"
    ]
    return plan(buffers, [*nodes, node("last", "x", "y")])
