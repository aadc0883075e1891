"""Best slots of a subject: refused where who may share is in doubt, and checked before shown.

Three judges look at what was found, and none knows how: the test of sharing that audits use, the
solver, and the independent evaluator, which reads the document alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples.best_slots import check_best_slots
from ferrum_verify.derive.best_slots import BestSlots, Sharing, always, derive_best_slots
from ferrum_verify.derive.other_slots import with_slots
from ferrum_verify.derive.reusable import capacity_shape
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.findings.errors import DerivationError, summarise
from ferrum_verify.limits import Limits
from ferrum_verify.plan.canonical import fingerprint
from ferrum_verify.plan.sharing import slot_safety
from ferrum_verify.report.slots_cost import slots_cost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ferrum_verify.counterexamples import Execution, Shape
    from ferrum_verify.derive.best_slots import Improve
    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.report.slots_cost import SlotsCost
    from ferrum_verify.rules.expected import Expected

_IN_DOUBT = frozenset({"wire", "graph", "descriptor"})
"""Families whose errors leave open in which order nodes run, or what a resource takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A subject whose Step resources have known users, sizes and slots."""

    document: Any
    subject: Subject
    memory: MemoryPlan
    order: HappensBefore

    @classmethod
    def of(
        cls, document: Any, subject: Subject, findings: Sequence[Finding], facts: Expected | None
    ) -> Shared:
        """The parts of a judged document; raises DerivationError where one is in doubt.

        ``document`` is the JSON that was read, ``findings`` are those of its audit.
        """
        if facts is None:
            of_another = subject.kind == "buffer-plan"
            errors = [each for each in findings if each.severity == "error" and not of_another]
            raise DerivationError(
                summarise(errors) if errors else f"a {subject.kind} has no memory plan", errors
            )
        if subject.nodes is None:
            raise DerivationError(f"a {subject.kind} has no nodes, so nobody knows who may share")
        errors = [
            each for each in findings if each.severity == "error" and each.family in _IN_DOUBT
        ]
        if not errors and not _each_in_one_slot(facts.memory):
            errors = [each for each in findings if each.family in ("pool", "slot")]
        if errors:
            raise DerivationError(summarise(errors), errors)
        if facts.order is None:
            raise DerivationError("the plan has more nodes than can be ordered")
        return cls(document=document, subject=subject, memory=facts.memory, order=facts.order)

    def best_slots(
        self,
        execution: Execution,
        shape_of: Callable[[Shape], Shape],
        improve: Improve | None = None,
        limits: Limits | None = None,
    ) -> BestSlots:
        """The best slots; raises DerivationError where a size is unknown or a judge dissents."""
        sharing = Sharing(self.order, self.subject.kept, execution)
        try:
            pools = derive_best_slots(self.memory, sharing, shape_of, improve)
            best = BestSlots(execution, pools)
            faults = list(self._faults(best, limits or Limits()))
        except SizeError as error:
            raise DerivationError(str(error)) from None
        if faults:
            raise DerivationError(
                f"better slots were found, but {faults[0]}; please report this plan"
            )
        return best

    def buckets(self) -> dict[str, tuple[str, Shape]]:
        """The shape of each reusable bucket, with a name for people, by bucket id."""
        reusable = self.memory.reusable_execution
        named = {}
        for bucket in () if reusable is None else (each.bucket for each in reusable.buckets):
            shape = capacity_shape(bucket.capacity)
            counts = f"{shape.sequences:,}/{shape.tokens:,}/{shape.pages:,}"
            named[bucket.bucket_id] = f"{bucket.class_id} {counts}", shape
        return named

    def cost(
        self,
        execution: Execution,
        shape_of: Callable[[Shape], Shape],
        improve: Improve | None = None,
        limits: Limits | None = None,
    ) -> SlotsCost:
        """The best slots beside the plan's own, there and at each reusable bucket's shape.

        Raises DerivationError as ``best_slots`` does.
        """
        best = self.best_slots(execution, shape_of, improve, limits)
        sharing = Sharing(self.order, self.subject.kept, execution)
        elsewhere = tuple(
            (name, BestSlots(execution, derive_best_slots(self.memory, sharing, always(shape))))
            for name, shape in self.buckets().values()
        )
        return slots_cost(self.subject, self.memory, best, elsewhere)

    def replanned(self, memory: MemoryPlan) -> Any:
        """The document with another memory plan, and the hashes that cover it.

        What comes of a planning problem is a plan fragment.
        """
        wire = memory.to_wire()
        if self.subject.kind == "problem":
            return self._fragment(self.document["nodes"], wire)
        return self._changed(lambda plan: {**plan, "memory": wire})

    def depending(self, edges: Sequence[tuple[str, str]]) -> Any:
        """The document with more dependencies, each from a node to one that is to wait for it."""
        more: dict[str, set[str]] = {}
        for waited_for, waits in edges:
            more.setdefault(waits, set()).add(waited_for)

        def waiting(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return [
                {**node, "dependencies": sorted({*node["dependencies"], *more[node["id"]]})}
                if node["id"] in more
                else node
                for node in nodes
            ]

        if self.subject.kind == "problem":
            return self._fragment(waiting(self.document["nodes"]), self.memory.to_wire())
        return self._changed(lambda plan: {**plan, "nodes": waiting(plan["nodes"])})

    def _fragment(self, nodes: Any, memory: dict[str, Any]) -> dict[str, Any]:
        return {
            "nodes": nodes,
            "memory": memory,
            "retained_completion_resources": sorted(self.subject.kept),
        }

    def _changed(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
        """The document with its nodes or memory changed, and the hashes that cover them."""
        if self.subject.kind == "fragment":
            return change(self.document)
        kind, document = self.subject.kind, self.document
        plan = document
        if kind == "bundle":
            plan = document["plan"]
        elif kind == "resolved-model-plan":
            plan = document["parts"]["execution_plan"]
        payload = change(plan["payload"])
        digest = fingerprint({name: each for name, each in payload.items() if name != "plan_id"})
        payload["plan_id"] = f"plan/sha256/{digest}"
        plan = {**plan, "payload": payload, "plan_hash": digest}
        if kind == "resolved-model-plan":
            return {**document, "parts": {**document["parts"], "execution_plan": plan}}
        return {**document, "plan": plan} if kind == "bundle" else plan

    def _faults(self, best: BestSlots, limits: Limits) -> Iterator[str]:
        for pool in best.pools:
            for slot in pool.slots:
                safety = slot_safety(slot, self.order) if len(slot) > 1 else None
                if safety is not None and not safety.safe(best.execution):
                    yield f"two of `{slot[0]}` and others are live together"
        yield from check_best_slots(self.document, best, best.execution)
        yield from self._unproved(best, limits)

    def _unproved(self, best: BestSlots, limits: Limits) -> Iterator[str]:
        # The solver takes longer to import than all else here to run.
        from ferrum_verify.prove.claims import plan_of, slot_sources  # noqa: PLC0415
        from ferrum_verify.prove.obligation import Proved  # noqa: PLC0415
        from ferrum_verify.prove.prover import prove  # noqa: PLC0415

        subject = replace(self.subject, memory=with_slots(self.memory, best.slots))
        plan = plan_of(subject, best.execution, ordered=True)
        assert plan is not None
        for verdict in prove(slot_sources(plan), limits, lambda _: True).claims:
            if not isinstance(verdict.outcome, Proved):
                yield f"the solver does not prove that {verdict.obligation.claim}"


def _each_in_one_slot(memory: MemoryPlan) -> bool:
    """Whether every Step resource is in one slot of its own pool, and nothing else is in any."""
    slots = Counter(
        (pool.pool_id, name)
        for pool in memory.dynamic_pools
        for slot in pool.step_resource_slots
        for name in slot.resource_ids
    )
    return slots == Counter(
        (row.pool_id, row.base_resource_id)
        for row in memory.dynamic_descriptors
        if row.lifetime == "step"
    )
