"""The independent check of schedules with unlisted uses, and of two values of one resource."""

from __future__ import annotations

from typing import Any

import pytest

from ferrum_verify import audit, check_counterexample, derive_memory_plan
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.counterexamples import checking
from ferrum_verify.counterexamples.checking import parts_of
from ferrum_verify.counterexamples.document import Document
from ferrum_verify.report.shown import gate
from tests.cases import case


def shown(document: Any, rule: str) -> dict[str, Any]:
    """The counterexample of the one finding of a rule."""
    (found,) = [each for each in audit(document).findings if each.rule == rule]
    assert found.counterexample is not None
    return found.counterexample.to_wire()


def test_a_schedule_holds_those_who_only_bind_a_resource() -> None:
    document = case("unlisted-use")
    wire = shown(document, "slot.shared-while-live")
    assert check_counterexample(document, wire, "fenced")
    (mixer,) = [node for node in document["plan"]["payload"]["nodes"] if node["id"] == "node.mixer"]
    mixer["values"] = [
        binding
        for binding in mixer["values"]
        if binding["storage"]["components"][0]["resource_id"] != "resource.hidden"
    ]
    assert not check_counterexample(document, wire, "fenced")


@pytest.mark.parametrize(
    "node",
    [
        {"reads": ["x"]},
        {"writes": ["x"]},
        {"binding_resource": "x"},
        {"scratch_resource": "x"},
        {"persistent_resource": "x"},
        {"state_effects": [{"resource_ids": ["x"]}]},
        {"values": [{"storage": {"components": [{"resource_id": "x"}]}}]},
    ],
    ids=lambda node: next(iter(node)),
)
def test_each_way_to_bind_is_a_use(node: dict[str, Any]) -> None:
    nodes = [
        {"id": "a", "dependencies": [], "resources": ["x"]},
        {"id": "b", "dependencies": ["a"], "resources": ["y"], **node},
    ]
    slot = {"kind": "ordered_single_fence_step_wave", "resource_ids": ["x", "y"]}
    document = {"nodes": nodes, "memory": {"dynamic_pools": [{"step_resource_slots": [slot]}]}}
    document["memory"]["dynamic_pools"][0] |= {  # type: ignore[index]
        "invocation_liveness_mode": "no_invocation_resources",
        "invocation_liveness": [],
    }
    wire = {
        "kind": "schedule",
        "nodes": [{"id": "a", "start": 0, "end": 1}, {"id": "b", "start": 1, "end": 2}],
        "left": {"resource": "x", "node": "b"},
        "right": {"resource": "y", "node": "b"},
        "at": 1,
    }
    assert check_counterexample(document, wire)
    del nodes[1][next(iter(node))]
    assert not check_counterexample(document, wire)


def test_the_derivation_stays_with_what_is_listed() -> None:
    problem = sample("problem")
    derived = derive_memory_plan(problem).to_wire()
    problem["nodes"][-1]["reads"] = ["act/query"]
    assert derive_memory_plan(problem).to_wire() == derived


def test_two_values_of_a_resource_overlap() -> None:
    document = case("partial-overlap")
    wire = shown(document, "value.overlap")
    assert check_counterexample(document, wire)
    left, right = wire["left"], wire["right"]
    for changed in (
        {"byte": left["start"]},
        {"byte": right["end"] - 1},
        {"left": left | {"value": right["value"]}},
        {"left": left | {"end": left["end"] + 1}},
        {"left": left | {"resource": "resource.mixed"}},
        {"right": {name: right[name] for name in ("resource", "start", "end")}},
        {"shape": wire["shape"] | {"tokens": 0}},
    ):
        assert not check_counterexample(document, wire | changed)
    assert not check_counterexample(case("partial-overlap", "sound"), wire)


def test_exact_aliases_may_have_one_range_in_common() -> None:
    bundle = sample("bundle")
    nodes = bundle["plan"]["payload"]["nodes"]
    residual = nodes[3]["values"][2]
    part = residual["storage"]["components"][0]
    end = part["offset_bytes"] + part["length_bytes"]
    side = {"resource": part["resource_id"], "start": part["offset_bytes"], "end": end}
    wire = {
        "kind": "overlap",
        "shape": {"sequences": 1, "tokens": 1, "pages": 1},
        "left": side | {"value": "value.hidden"},
        "right": side | {"value": "value.residual"},
        "byte": side["start"],
    }
    assert not check_counterexample(bundle, wire)
    nodes[3]["exact_aliases"] = []
    assert check_counterexample(bundle, wire)


def test_rows_that_cannot_be_evaluated_are_skipped_and_no_more() -> None:
    document = case("alignment-0")
    wire = shown(document, "liveness.peak")
    assert check_counterexample(document, wire)
    rows = document["memory"]["dynamic_descriptors"]
    for fault in (0, "16", None):
        rows[0]["alignment_bytes"] = fault
        assert check_counterexample(document, wire)
    rows[0] = {"demand": 7}
    assert check_counterexample(document, wire)
    rows[2]["alignment_bytes"] = 0  # the peak's own row
    assert not check_counterexample(document, wire)


def test_a_document_is_taken_apart_once_for_all_its_counterexamples(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Any] = []
    monkeypatch.setattr(
        checking, "Document", type("Counted", (Document,), {"__new__": _counting(made)})
    )
    document = case("unlisted-use")
    (found,) = [
        each.counterexample
        for each in audit(document).findings
        if each.rule == "slot.shared-while-live"
    ]
    assert found is not None
    made.clear()
    accepts = gate(document)
    assert all(accepts(found) for _ in range(20))
    assert len(made) == 1


def _counting(made: list[Any]) -> Any:
    def new(kind: type, _: Any) -> Any:
        made.append(kind)
        return object.__new__(kind)

    return new


@pytest.mark.parametrize("document", [{}, {"nodes": 1}, {"plan": []}, None])
def test_what_cannot_be_taken_apart_shows_nothing(document: Any) -> None:
    wire = shown(case("unlisted-use"), "slot.shared-while-live")
    assert not check_counterexample(parts_of(document), wire)
