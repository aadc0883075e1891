"""Repairs: ways to make a plan's slots safe under a model that they are not safe under.

Each is the document as it would be then, and is offered only when an audit of that document under
the model finds it safe.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ferrum_verify.auditing.audit import audit_document
from ferrum_verify.derive.best_slots import by_first_user
from ferrum_verify.derive.other_slots import slots_bytes, with_slots
from ferrum_verify.findings.wording import plural
from ferrum_verify.plan.dependencies import fewest, least_order, longest_path
from ferrum_verify.plan.partition import best_partition
from ferrum_verify.plan.sharing import hazards, sharing_before, wanted_order
from ferrum_verify.reading.load import from_memory
from ferrum_verify.report.repairs import Repair, Repairs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrum_verify.auditing.best_slots import Shared
    from ferrum_verify.counterexamples import Execution, Shape
    from ferrum_verify.derive.best_slots import BestSlots
    from ferrum_verify.plan.dependencies import Edge

    Slots = Mapping[str, Sequence[Sequence[str]]]


def repairs(shared: Shared, best: BestSlots) -> Repairs:
    """The ways to make a plan safe under the model that its best slots were sought for."""
    execution = best.execution
    clashes = hazards(shared.memory, shared.order, execution)
    shapes = {pool.pool_id: pool.shape for pool in best.pools}
    stated = {
        pool.pool_id: [slot.resource_ids for slot in pool.step_resource_slots]
        for pool in shared.memory.dynamic_pools
        if pool.step_resource_slots
    }
    plan = _Planned(shared, execution, shapes, stated)
    return Repairs(
        execution=execution,
        unsafe=sum(map(len, clashes.values())),
        bytes=plan.bytes_of(stated),
        path=plan.path_with([]),
        ways=tuple(plan.ways(clashes, best)) if clashes else (),
    )


@dataclass(frozen=True, slots=True)
class _Planned:
    shared: Shared
    execution: Execution
    shapes: Mapping[str, Shape]
    stated: Slots

    def bytes_of(self, slots: Slots) -> int:
        memory = self.shared.memory
        return sum(slots_bytes(memory, own, self.shapes[pool]) for pool, own in slots.items())

    def path_with(self, edges: Sequence[Edge]) -> int:
        order = self.shared.order
        earlier = [order.earlier(node) for node, _ in enumerate(order.nodes)]
        for waited_for, waits in edges:
            earlier[waits].append(waited_for)
        return longest_path(earlier)

    def ways(
        self, clashes: Mapping[tuple[str, ...], Sequence[tuple[str, str]]], best: BestSlots
    ) -> Iterator[Repair]:
        yield self._with_slots("other slots", best.slots)
        pairs = [pair for some in clashes.values() for pair in some]
        yield from self._with_dependencies(pairs)
        moved = by_first_user(_moved_out(pairs), self.shared.order)
        slots = {
            pool: [
                *([name for name in members if name not in moved] for members in own),
                *self._together([name for name in moved if any(name in each for each in own)]),
            ]
            for pool, own in self.stated.items()
        }
        yield self._with_slots(
            f"own slots for {plural(len(moved), 'resource')}",
            {pool: [members for members in own if members] for pool, own in slots.items()},
            tuple(f"out of its slot: `{name}`" for name in moved),
        )

    def _together(self, members: Sequence[str]) -> list[list[str]]:
        """As few slots as first fit finds for resources that left theirs."""
        before = sharing_before(members, self.shared.order, self.execution)
        parts = best_partition([1] * len(members), before, 0).slots
        return [[members[each] for each in part] for part in parts]

    def _with_slots(self, way: str, slots: Slots, details: tuple[str, ...] = ()) -> Repair:
        document = self.shared.replanned(with_slots(self.shared.memory, slots))
        return self._judged(way, document, self.bytes_of(slots), self.path_with([]), details)

    def _with_dependencies(self, pairs: Sequence[tuple[str, str]]) -> Iterator[Repair]:
        order, names = self.shared.order, [node.id for node in self.shared.order.nodes]
        wanted = [edge for pair in pairs for edge in wanted_order(*pair, order, self.execution)]
        backwards = next((edge for edge in wanted if edge[0] >= edge[1]), None)
        if backwards is not None:
            last, first = (names[each] for each in backwards)
            yield Repair(
                way="dependencies",
                bytes=self.bytes_of(self.stated),
                path=self.path_with([]),
                refused_because=f"`{last}` uses both"
                if last == first
                else f"`{first}` stands before `{last}` in plan order, and cannot wait for it",
            )
            return
        least = least_order(order, wanted)
        add = "adds" if len(least) == 1 else "add"
        yield self._with_edges(least, f"that {add} no more order than is needed")
        few = fewest(order, wanted)
        if len(few.edges) < len(least):
            said = "the fewest" if few.exact else "the fewest that a heuristic finds"
            yield self._with_edges(few.edges, f"({said})")

    def _with_edges(self, edges: Sequence[Edge], said: str) -> Repair:
        names = [node.id for node in self.shared.order.nodes]
        told = [(names[waited_for], names[waits]) for waited_for, waits in edges]
        one = len(edges) == 1
        return self._judged(
            f"{len(edges):,} {'dependency' if one else 'dependencies'} {said}",
            self.shared.depending(told),
            self.bytes_of(self.stated),
            self.path_with(edges),
            tuple(f"dependency from `{waited_for}` to `{waits}`" for waited_for, waits in told),
        )

    def _judged(
        self, way: str, document: Any, taken: int, path: int, details: tuple[str, ...]
    ) -> Repair:
        report = audit_document(from_memory(document), execution=self.execution, asked_for="safety")
        refused = ""
        if report.verdict != "verified":
            refused = f"its audit under {self.execution} is {report.verdict}"
            if report.findings:
                refused += f": {report.findings[0].message}"
        return Repair(
            way=way,
            bytes=taken,
            path=path,
            details=details,
            refused_because=refused,
            document=document,
        )


def _moved_out(pairs: Sequence[tuple[str, str]]) -> set[str]:
    """Resources such that no pair is left without one of them: who clashes most goes first."""
    left, chosen = list(pairs), set[str]()
    while left:
        clashes = Counter(name for pair in left for name in pair)
        most = max(clashes, key=lambda name: (clashes[name], name))
        chosen.add(most)
        left = [pair for pair in left if most not in pair]
    return chosen
