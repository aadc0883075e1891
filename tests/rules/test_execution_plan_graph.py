"""Graph rules of full plans: resources, workspaces, work, state effects, selection."""

from __future__ import annotations

from typing import Any

import pytest

from ferrum_verify.catalogue.samples import sample
from tests.rules.edited import MEMORY, NODES, broken, edited, faults, rules

ATTENTION = f"{NODES}/2"
SELECTION = f"{ATTENTION}/selection"
NORM_WORK = f"{NODES}/1/work/tokens"
PROJECTION = f"{NORM_WORK}/projections/1"


def test_of_a_loop_the_edge_against_the_order_is_named() -> None:
    waits = f"{NODES}/1/dependencies"
    [loop] = [e for e in faults(edited({waits: ["node.embed", "node.head"]})) if "cycle" in e.rule]
    assert loop.location == f"{waits}/1"
    assert "; `node.norm` waits for `node.head`, which stands later in the" in loop.message
    [itself] = [e for e in faults(edited({waits: ["node.norm"]})) if "cycle" in e.rule]
    assert itself.message.endswith("; `node.norm` waits for itself.")
    # Of a loop through an id that stands twice no edge need run against the order.
    twice = {f"{NODES}/5/id": "node.norm", f"{NODES}/0/dependencies": ["node.embed"]}
    assert "graph.duplicate-node" in rules(twice | {f"{NODES}/5/dependencies": ["node.mixer"]})


def test_an_extra_resource_is_named() -> None:
    resources = ["resource.embedding", "resource.hidden", "resource.norm", "resource.tokens"]
    [finding] = faults(edited({f"{NODES}/0/resources": resources}))
    assert finding.rule == "graph.resources-differ"
    assert "resource.norm" in finding.message
    assert "resource.hidden" not in finding.message


def test_a_resource_that_nobody_knows_is_no_second_fault() -> None:
    resources = ["resource.absent", "resource.embedding", "resource.hidden", "resource.tokens"]
    assert rules({f"{NODES}/0/resources": resources}) == {"graph.unknown-resource"}


def test_a_component_in_a_resource_that_the_node_does_not_list() -> None:
    component = f"{NODES}/1/values/1/storage/components/0/resource_id"
    assert broken({component: "resource.absent"}) == [
        ("graph.resources-differ", f"{NODES}/1/resources"),
    ]


def test_a_lost_workspace_is_one_fault() -> None:
    scratch = f"{ATTENTION}/scratch_resource"
    assert broken({scratch: None}) == [("graph.workspaces-differ", scratch)]


def test_a_lost_binding_is_missed_by_its_node() -> None:
    binding = f"{ATTENTION}/binding_resource"
    assert ("graph.workspaces-differ", binding) in broken({binding: None})


def test_a_lost_persistent_workspace_is_one_fault() -> None:
    mixer = f"{NODES}/4/persistent_resource"
    assert broken({mixer: None}, sample="workspaces") == [("graph.workspaces-differ", mixer)]


@pytest.mark.parametrize(
    ("edits", "fits"),
    [
        ({"requested_provider": None}, False),
        ({"selection_reason": "deterministic_compatible"}, False),
        ({"requested_provider": "provider.attention.reference"}, False),
        ({"requested_provider": "provider.attention.unheard-of"}, False),
        ({"requested_provider": "provider.attention.contiguous"}, True),
        (
            {
                "requested_provider": "provider.attention.reference",
                "selection_reason": "preferred_compatible",
            },
            True,
        ),
        ({"requested_provider": None, "selection_reason": "deterministic_compatible"}, True),
        ({"rejected_providers": []}, False),
        (
            {
                "requested_provider": None,
                "rejected_providers": [],
                "selection_reason": "preferred_compatible",
            },
            False,
        ),
    ],
)
def test_selection_reasons(edits: dict[str, Any], fits: bool) -> None:
    found = broken({f"{SELECTION}/{name}": value for name, value in edits.items()})
    assert found == ([] if fits else [("graph.selection-reason", f"{SELECTION}/selection_reason")])


def test_resources_of_a_rejection_ascend() -> None:
    resources = "rejected_providers/0/reasons/storage_incompatible/resource_ids"
    assert broken({f"{SELECTION}/{resources}": ["resource.cache", "resource.attended"]}) == [
        ("graph.rejected-order", f"{SELECTION}/{resources}/1")
    ]


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ({"value_id": "value.zero"}, "output 0 is `value.normed`"),
        ({"ordinal": 3}, "no output 3"),
        ({"axis": 5}, "no axis 5"),
        ({"axis": 1}, "axis 1 is 8 long"),
    ],
)
def test_unmatched_projections(edits: dict[str, Any], reason: str) -> None:
    document = edited({f"{PROJECTION}/{name}": value for name, value in edits.items()})
    [finding] = faults(document)
    assert finding.rule == "graph.work-unmatched-projection"
    assert reason in finding.message


def test_a_projection_of_something_else_than_activations() -> None:
    hidden, normed = sample("bundle")["plan"]["payload"]["nodes"][1]["work"]["tokens"][
        "projections"
    ]
    weight = {**hidden, "value_id": "value.norm", "ordinal": 1, "rank": 1}
    [finding] = faults(edited({f"{NORM_WORK}/projections": [hidden, weight, normed]}))
    assert finding.rule == "graph.work-unmatched-projection"
    assert finding.location == f"{NORM_WORK}/projections/1"
    assert "used as weights" in finding.message


def test_all_faults_of_one_node_are_told() -> None:
    edits = {
        f"{PROJECTION}/axis": 1,
        f"{SELECTION}/selection_reason": "preferred_compatible",
        f"{ATTENTION}/state_effects/1/lifetime": "step",
        f"{ATTENTION}/state_effects/0/access": "write",
    }
    assert broken(edits) == [
        ("graph.selection-reason", f"{SELECTION}/selection_reason"),
        ("graph.state-effect-access", f"{ATTENTION}/state_effects/0/access"),
        ("graph.state-effect-lifetime", f"{ATTENTION}/state_effects/1/lifetime"),
        ("graph.work-unmatched-projection", PROJECTION),
    ]


def test_resources_of_a_state_effect_stand_once() -> None:
    effect = f"{ATTENTION}/state_effects/0/resource_ids"
    assert broken({effect: ["resource.cache", "resource.cache"]}) == [
        ("graph.state-effect-order", f"{effect}/1")
    ]


def test_a_plan_without_tokens_is_one_fault() -> None:
    tokens = "/plan/payload/maximum_scheduled_tokens"
    assert broken({tokens: 0}) == [("capacity.no-scheduled-tokens", tokens)]


def test_faults_are_told_without_a_readable_memory_plan() -> None:
    found = rules(
        {f"{MEMORY}/static_bytes": "many", f"{SELECTION}/selection_reason": "preferred_compatible"}
    )
    assert {"wire.type", "graph.selection-reason"} <= found


def test_a_reader_waits_for_the_writer() -> None:
    [finding] = [
        each
        for each in faults(edited({f"{NODES}/3/dependencies": ["node.embed"]}))
        if each.rule == "graph.read-before-write"
    ]
    assert finding.location == f"{NODES}/3/values/1"
    assert finding.message == (
        "Node `node.residual` reads `value.attended`, which `node.attention` writes, but does not "
        "wait for it."
    )
    assert finding.judgment == "safety"


def test_a_path_of_dependencies_is_enough() -> None:
    # The residual reads what the embedding wrote; the attention has waited for it.
    assert rules({f"{NODES}/3/dependencies": ["node.attention"]}) == set()


def test_without_an_order_nobody_is_early() -> None:
    later = {f"{NODES}/1/dependencies": ["node.head"]}
    assert "graph.read-before-write" not in rules(later)
    unknown = {f"{NODES}/1/dependencies": ["node.absent"]}
    assert "graph.read-before-write" not in rules(unknown)


def test_rejections_speak_of_the_nodes_own_resources() -> None:
    resources = f"{SELECTION}/rejected_providers/0/reasons/storage_incompatible/resource_ids"
    expected = [("graph.rejected-resource", resources)]
    assert broken({resources: ["resource.cache", "resource.embedding"]}) == expected
    assert broken({resources: []}) == expected
    assert broken({resources: ["resource.cache", "resource.counter"]}) == []


@pytest.mark.parametrize(
    ("position", "reasons"),
    [
        (0, "not_registered"),
        (1, {"incompatible": [{"missing_capabilities": {"capabilities": ["capability.fusion"]}}]}),
        (1, {"storage_incompatible": {"resource_ids": ["resource.cache"]}}),
    ],
)
def test_rejections_are_those_of_the_catalog(position: int, reasons: Any) -> None:
    place = f"{SELECTION}/rejected_providers/{position}/reasons"
    assert broken({place: reasons}) == [("contract.rejection-differs", place)]
