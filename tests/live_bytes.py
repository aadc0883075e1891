"""Live bytes by brute force: every node against every row, from the JSON of a plan alone."""

from __future__ import annotations

from typing import Any

OWN = ("request", "sequence")


def size(row: dict[str, Any], sequences: int, tokens: int, pages: int) -> int:
    """The bytes of one claim of a row at a shape, aligned and in whole blocks."""
    ((form, demand),) = row["demand"].items()
    value: int
    if form == "bounded_shape_buckets":
        value = next(
            bucket["bytes"]
            for bucket in demand["buckets"]
            if sequences <= bucket["maximum_sequences"]
            and tokens <= bucket["maximum_tokens"]
            and pages <= bucket["maximum_pages"]
        )
    else:
        value = demand.get("bytes", 0) + demand.get("fixed_bytes", 0)
        value += demand.get("bytes_per_sequence", 0) * sequences
        value += demand.get("bytes_per_token", 0) * tokens
        value += demand.get("bytes_per_page", 0) * pages
    allocator = row["storage"]["profile"]["allocator"]
    units = [row["alignment_bytes"]]
    if isinstance(allocator, dict):
        units.append(allocator["fixed_block_arena"]["block_bytes"])
    for unit in units:
        value = -(-value // unit) * unit
    return value


class Brute:
    """A plan at a batch: its sequences, the step's tokens, what each sequence holds, and pages."""

    def __init__(
        self,
        document: dict[str, Any],
        batch: tuple[int, int, int, int],
        kept: frozenset[str] = frozenset(),
    ) -> None:
        self.nodes, self.memory, self.kept = document["nodes"], document["memory"], kept
        sequences, tokens, held, pages = batch
        self.sizes = {
            row["base_resource_id"]: sequences * size(row, 1, held, pages)
            if row["lifetime"] in OWN
            else size(row, sequences, tokens, pages)
            for row in self.memory["dynamic_descriptors"]
        }
        self.static = sum(row["size_bytes"] for row in self.memory["static_allocations"])

    def is_live(self, row: dict[str, Any], at: int) -> bool:
        """Whether the bytes of a row are needed while the node at a position runs."""
        name = row["base_resource_id"]
        if row["lifetime"] in OWN:
            return True
        users = [index for index, node in enumerate(self.nodes) if name in node["resources"]]
        if row["lifetime"] == "invocation":
            return at in users
        return bool(users) and users[0] <= at and (at <= users[-1] or name in self.kept)

    def holders(self, at: int) -> dict[str, int]:
        """Each row that is live while a node runs, with its bytes."""
        return {
            row["base_resource_id"]: self.sizes[row["base_resource_id"]]
            for row in self.memory["dynamic_descriptors"]
            if self.is_live(row, at)
        }

    def live(self, pool_id: str | None = None) -> list[int]:
        """The bytes of a pool, or of all, that are live while each node runs; no static ones."""
        members = {
            row["base_resource_id"]
            for row in self.memory["dynamic_descriptors"]
            if pool_id in (None, row["pool_id"])
        }
        return [
            sum(held for name, held in self.holders(at).items() if name in members)
            for at in range(len(self.nodes))
        ]

    def held(self, pool: dict[str, Any]) -> int:
        """What a pool holds: its highest slot members, its extents, and its own claims."""
        slots = [slot["resource_ids"] for slot in pool["step_resource_slots"]]
        rows = [
            sum(self.sizes[name] for name in row["resource_ids"])
            for row in pool["invocation_liveness"]
        ]
        in_turn = pool["invocation_liveness_mode"] == "total_order_reuse"
        own = [
            row["base_resource_id"]
            for row in self.memory["dynamic_descriptors"]
            if row["lifetime"] in OWN and row["pool_id"] == pool["pool_id"]
        ]
        return (
            sum(max(self.sizes[name] for name in slot) for slot in slots)
            + (max(rows, default=0) if in_turn else sum(rows))
            + sum(self.sizes[name] for name in own)
        )

    def apart(self, pool: dict[str, Any]) -> int:
        """What a pool would hold if each of its resources had bytes of its own."""
        return sum(self.sizes[name] for name in pool["resource_ids"])
