"""Limits that take a large document to break."""

from __future__ import annotations

from ferrum_verify import audit
from ferrum_verify.order import MAXIMUM_NODES
from ferrum_verify.samples import sample


def test_more_liveness_references_than_the_engine_reads() -> None:
    fragment = sample("fragment")
    row = fragment["memory"]["invocation_liveness"][0]
    row["resource_ids"] = [f"scratch/{index:06}" for index in range(65_537)]
    rules = {f.rule for f in audit(fragment, prove=False).findings}
    assert "liveness.too-many-references" in rules


def test_too_many_nodes_leave_order_undecided() -> None:
    fragment = sample("fragment")
    fragment["memory"]["reusable_execution"] = None
    del fragment["memory"]["dynamic_pools"][0]["step_resource_slots"][0]
    extra = [
        {"id": f"node/z{index:06}", "dependencies": [], "resources": []}
        for index in range(MAXIMUM_NODES)
    ]
    fragment["nodes"] += extra
    report = audit(fragment, prove=False)
    told = {f.rule: f for f in report.findings}
    assert told["graph.too-many-nodes"].undecided
    assert "slot.not-derived" not in told
    assert "slot.missing-member" in told
