"""What differs between two plans, compared by names: what came, went, grew and moved.

The other plan is the earlier one.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ferrum_verify.report.live_bytes import Batch


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of both plans, in bytes where its name does not say what it counts."""

    name: str
    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolChange:
    """A pool in both plans: its resources, its Step slots, and what it holds, 0 where it is not."""

    pool_id: str
    holds: str
    resources: tuple[int, int]
    slots: tuple[int, int]
    held_bytes: tuple[int, int] | None

    @property
    def differs(self) -> bool:
        """Whether anything of it changes."""
        pairs = (self.resources, self.slots, self.held_bytes or (0, 0))
        return any(before != after for before, after in pairs)


@dataclass(frozen=True, slots=True)
class Move:
    """A resource whose bytes stand elsewhere: "slot 3 of pool af30907b", "static"."""

    resource: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Lone:
    """A resource of one of the plans alone, where it stands, and its bytes at the batch."""

    resource: str
    place: str
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Resize:
    """A resource that takes other bytes at the batch."""

    resource: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class ListChange:
    """What a node came to list, and lists no longer; ``list`` is dependencies or resources."""

    node: str
    list: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AccessChange:
    """What a node does to a value, or of a fragment to a resource; None where it does nothing."""

    node: str
    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class BoundChange:
    """A declared maximum, and all that it is of; None where a plan bounds the count nowhere."""

    bound: str
    before: int | None
    after: int | None
    of: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OtherChange:
    """A member that differs and is told no closer, and all that it is of."""

    member: str
    of: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """The differences of two plans, at the largest batch that both admit.

    ``other`` is the source of the earlier plan. ``batch`` is None where sizes of one of the plans
    are unknown, for the reason that ``undefined`` completes "the size …" with; bytes at a batch
    are then left out. Without ``nodes_compared`` one of the plans has none.
    """

    other: str
    batch: Batch | None
    undefined: str | None
    totals: tuple[Figure, ...]
    pools: tuple[PoolChange, ...]
    resources_added: tuple[Lone, ...]
    resources_removed: tuple[Lone, ...]
    resized: tuple[Resize, ...]
    moved: tuple[Move, ...]
    nodes_added: tuple[str, ...]
    nodes_removed: tuple[str, ...]
    nodes_reordered: int
    nodes_compared: bool
    node_lists: tuple[ListChange, ...]
    accesses: tuple[AccessChange, ...]
    bounds: tuple[BoundChange, ...]
    others: tuple[OtherChange, ...]

    @property
    def is_same(self) -> bool:
        """Whether nothing that is compared differs."""
        return self.has_same_storage and not (
            self.nodes_added
            or self.nodes_removed
            or self.nodes_reordered
            or self.node_lists
            or self.accesses
            or self.bounds
            or self.others
        )

    @property
    def has_same_storage(self) -> bool:
        """Whether resources, their places, their bytes and all totals are the same."""
        return not (
            self.resources_added
            or self.resources_removed
            or self.resized
            or self.moved
            or any(figure.before != figure.after for figure in self.totals)
            or any(pool.differs for pool in self.pools)
        )

    def to_wire(self) -> dict[str, Any]:
        """The differences as the report's JSON."""
        wire = asdict(self) | {"batch": None if self.batch is None else self.batch._asdict()}
        for lone in (*wire["resources_added"], *wire["resources_removed"]):
            if lone["bytes"] is None:
                del lone["bytes"]
        for change in (*wire["accesses"], *wire["bounds"]):
            for name in ("before", "after"):
                if change[name] is None:
                    del change[name]
        for pool in wire["pools"]:
            for name in ("resources", "slots", "held_bytes"):
                pair = pool.pop(name)
                if pair is not None:
                    pool[name] = dict(zip(("before", "after"), pair, strict=True))
        return {name: value for name, value in wire.items() if value is not None}
