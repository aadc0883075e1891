"""The formulas of a plan as data: what the page reckons live bytes from, at any batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.derive.reusable import capacity_shape
from ferrum_verify.documents.terms import Linear
from ferrum_verify.findings.wording import pool_name
from ferrum_verify.plan.sizes import Claim, describe
from ferrum_verify.report.html.picture import exact
from ferrum_verify.report.live_bytes import OF_A_SEQUENCE, limits_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrum_verify.documents.memory_plan import DynamicPool, MemoryPlan
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.report.html.picture import Names


def footprint(subject: Subject, memory: MemoryPlan, names: Names) -> dict[str, Any] | None:
    """What live bytes are reckoned from; None where no node runs, or no batch has sizes."""
    most = limits_of(subject, memory)
    if most is None or not subject.nodes:
        return None
    claims: dict[Claim, int] = {}
    own: dict[str, str] = {}
    claim_of: dict[str, int] = {}
    for row in memory.dynamic_descriptors:
        name = row.base_resource_id
        claim_of.setdefault(name, claims.setdefault(Claim.of(row), len(claims)))
        if row.lifetime in OF_A_SEQUENCE:
            own.setdefault(name, row.lifetime)
    return {
        "claims": [_claim(claim) for claim in claims],
        "claimOf": [claim_of.get(name) for name in names.resources],
        "pools": [_pool(pool, own, names) for pool in memory.dynamic_pools],
        "kept": _known(sorted(subject.kept), names),
        "most": {
            count: exact(limit) for count, limit in most._asdict().items() if limit is not None
        },
        "buckets": _buckets(memory),
        "usable": exact(memory.usable_capacity_bytes),
    }


def _claim(claim: Claim) -> dict[str, Any]:
    stored = {"alignment": exact(claim.alignment), "block": exact(claim.block)}
    if isinstance(claim.terms, Linear):
        parts = [[part.counted, exact(part.each), exact(part.most)] for part in claim.terms.parts]
        return {"fixed": exact(claim.terms.fixed), "parts": parts, **stored}
    return {"steps": [[exact(number) for number in step] for step in claim.terms.steps], **stored}


def _pool(pool: DynamicPool, own: dict[str, str], names: Names) -> dict[str, Any]:
    key = pool.compatibility
    return {
        "name": pool_name(pool.pool_id),
        "holds": f"{key.usage} {key.element_type}",
        "slots": [_known(slot.resource_ids, names) for slot in pool.step_resource_slots],
        "rows": sorted(
            [names.nodes[row.node_id], _known(row.resource_ids, names)]
            for row in pool.invocation_liveness
            if row.node_id in names.nodes
        ),
        "turns": pool.invocation_liveness_mode == "total_order_reuse",
        "own": _known((name for name in pool.resource_ids if name in own), names),
    }


def _buckets(memory: MemoryPlan) -> list[dict[str, Any]]:
    reusable = memory.reusable_execution
    return [
        {
            "label": f"{each.bucket.class_id}: {describe(shape)}",
            "sequences": exact(shape.sequences),
            "tokens": exact(shape.tokens),
            "pages": exact(shape.pages),
        }
        for each in (reusable.buckets if reusable is not None else ())
        for shape in (capacity_shape(each.bucket.capacity),)
    ]


def _known(resources: Iterable[str], names: Names) -> list[int]:
    return [names.resources[name] for name in resources if name in names.resources]
