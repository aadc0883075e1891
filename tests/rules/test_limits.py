"""Limits that take a large document to break."""

from __future__ import annotations

from ferrum_verify import audit
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.plan.order import MAXIMUM_NODES


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


def test_of_a_slot_of_very_many_clashes_some_are_named() -> None:
    from ferrum_verify.documents.fragment_node import FragmentNode
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.plan.sharing import MOST_PAIRS, slot_safety

    nodes = [
        FragmentNode(id=f"n{i:04}", dependencies=(), resources=(f"r{i:04}",)) for i in range(300)
    ]
    safety = slot_safety([f"r{i:04}" for i in range(300)], HappensBefore(nodes))
    assert safety is not None
    assert safety.safe("in-order")
    assert len(safety.unsafe["concurrent"]) == MOST_PAIRS
    assert safety.unnamed == ("fenced", "concurrent")

    fragment = sample("fragment")
    memory = fragment["memory"]
    row = next(r for r in memory["dynamic_descriptors"] if r["base_resource_id"] == "act/query")
    wide = [{**row, "base_resource_id": f"wide/{i:04}"} for i in range(300)]
    memory["dynamic_descriptors"] += wide
    memory["dynamic_pools"][0]["step_resource_slots"].append(
        {
            "kind": "ordered_single_fence_step_wave",
            "resource_ids": [row["base_resource_id"] for row in wide],
        }
    )
    fragment["nodes"] += [
        {"id": f"node/wide{i:04}", "dependencies": [], "resources": [f"wide/{i:04}"]}
        for i in range(300)
    ]
    rules = {finding.rule for finding in audit(fragment, prove=False).findings}
    assert "slot.many-hazards" in rules
