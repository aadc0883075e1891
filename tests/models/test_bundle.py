"""Bundles: fingerprints that recompute, nodes that keep the plan's own rules, and provenance.

Hashes are recomputed here with nothing but ``hashlib`` and ``json``.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

import models
from ferrum_verify import (
    audit,
    compile_program_bindings,
    derive_memory_plan,
    derive_sequence_checkpoint,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

FAMILIES = models.families()
LAYERS = 4

NODE_KEYS = [
    "id",
    "dependencies",
    "operation_id",
    "operation_version",
    "operation_fingerprint",
    "provider_implementation_fingerprint",
    "required_capabilities",
    "attributes",
    "work",
    "selection",
    "provider_resources",
    "values",
    "exact_aliases",
    "state_effects",
    "scratch_resource",
    "binding_resource",
    "persistent_resource",
    "resources",
]

PAYLOAD_KEYS = [
    "schema",
    "plan_id",
    "family_id",
    "device_id",
    "device_runtime_implementation_fingerprint",
    "prepared_family_fingerprint",
    "program_fingerprint",
    "capability_catalog_fingerprint",
    "policy_version",
    "policy_fingerprint",
    "maximum_scheduled_tokens",
    "weight_format",
    "quantization_formats",
    "retained_completion_values",
    "nodes",
    "memory",
]

every_family = pytest.mark.parametrize("family", FAMILIES)


@cache
def text_of(family: str) -> str:
    return json.dumps(models.bundle(family, LAYERS, schema="5.0"))


@pytest.fixture
def bundle(family: str) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(text_of(family))
    return parsed


@pytest.fixture
def payload(bundle: dict[str, Any]) -> dict[str, Any]:
    inside: dict[str, Any] = bundle["plan"]["payload"]
    return inside


def digest(value: Any, *, ordered: bool = False) -> str:
    text = json.dumps(value, sort_keys=not ordered, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def without(value: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: member for name, member in value.items() if name != key}


def ascending(items: list[Any]) -> bool:
    return all(left < right for left, right in pairwise(items))


@every_family
def test_the_same_bundle_every_time_and_nothing_shared(family: str) -> None:
    whole = models.bundle(family, LAYERS, schema="5.0")
    assert json.dumps(whole) == text_of(family)
    seen: set[int] = set()
    for part in containers(whole):
        assert id(part) not in seen
        seen.add(id(part))


def containers(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        yield value
        for member in value.values() if isinstance(value, dict) else value:
            yield from containers(member)


@every_family
def test_the_plan_hashes(bundle: dict[str, Any], payload: dict[str, Any]) -> None:
    assert list(payload) == PAYLOAD_KEYS
    assert bundle["plan"]["plan_hash"] == digest(without(payload, "plan_id"))
    assert payload["plan_id"] == f"plan/sha256/{bundle['plan']['plan_hash']}"


@every_family
def test_the_provenance_hashes(bundle: dict[str, Any], payload: dict[str, Any]) -> None:
    catalog, program, policy = bundle["catalog"], bundle["program"], bundle["policy"]
    assert payload["program_fingerprint"] == digest(program, ordered=True)
    assert payload["capability_catalog_fingerprint"] == digest(catalog, ordered=True)
    assert payload["policy_fingerprint"] == digest(policy)
    assert policy["fingerprint"] == digest(without(policy, "fingerprint"))
    for node in payload["nodes"]:
        contract = catalog["operations"][node["operation_id"]]
        assert node["operation_fingerprint"] == digest(contract, ordered=True)
        estimate = node["provider_resources"]
        recomputed = digest(without(estimate, "estimate_fingerprint"))
        assert estimate["estimate_fingerprint"] == recomputed


@every_family
def test_the_buckets_hash_and_agree(bundle: dict[str, Any], payload: dict[str, Any]) -> None:
    planned = payload["memory"]["reusable_execution"]
    policy = bundle["policy"]["reusable_execution"]
    assert [row["bucket"] for row in planned["buckets"]] == policy["buckets"]
    assert planned.get("program_policy") == policy.get("program_policy")
    for bucket in policy["buckets"]:
        material = {
            "domain": "ferrum.runtime-vnext.reusable-execution-bucket.v1",
            "class_id": bucket["class_id"],
            "capacity": bucket["capacity"],
        }
        assert bucket["bucket_id"] == f"reusable-bucket/sha256/{digest(material)}"


@every_family
def test_the_memory_is_what_the_problem_derives(family: str, payload: dict[str, Any]) -> None:
    problem = models.problem(family, LAYERS)
    assert payload["memory"] == derive_memory_plan(problem).to_wire()
    for planned, node in zip(payload["nodes"], problem["nodes"], strict=True):
        assert planned["dependencies"] == node["dependencies"]
        assert planned["resources"] == node["resources"]
        assert planned["binding_resource"] == node.get("binding_resource")


@every_family
def test_the_plan_belongs_to_its_catalog_program_and_policy(
    bundle: dict[str, Any], payload: dict[str, Any]
) -> None:
    catalog, program, policy = bundle["catalog"], bundle["program"], bundle["policy"]
    memory = payload["memory"]
    assert payload["family_id"] == program["family_id"]
    assert payload["device_id"] == catalog["device"]["id"]
    assert memory["device_capacity_bytes"] == catalog["device"]["total_memory_bytes"]
    assert memory["policy_capacity_bytes"] == policy["memory"]["capacity_bytes"]
    assert memory["reserve_bytes"] == policy["memory"]["reserve_bytes"]
    assert memory["maximum_active_sequences"] == policy["memory"]["maximum_active_sequences"]
    admitted = policy["admission"]["maximum_scheduled_tokens"]
    assert payload["maximum_scheduled_tokens"] == admitted
    stated = [node for block in program["blocks"] for node in block["nodes"]]
    assert [node["id"] for node in stated] == [node["id"] for node in payload["nodes"]]
    for planned, node in zip(payload["nodes"], stated, strict=True):
        assert planned["operation_id"] == node["operation_id"]
        for role in ("input", "output"):
            bound = [v["value_id"] for v in planned["values"] if v["role"] == role]
            assert bound == node[f"{role}s"]
        (provider,) = catalog["providers"][node["operation_id"]]
        assert planned["selection"]["selected_provider"] == provider["provider_id"]
        assert provider["operation_fingerprint"] == planned["operation_fingerprint"]


@every_family
def test_tensors_fit_their_operations_signatures(
    bundle: dict[str, Any], payload: dict[str, Any]
) -> None:
    """Within one node a symbol has one extent, and access and alias are the contract's."""
    for node in payload["nodes"]:
        contract = bundle["catalog"]["operations"][node["operation_id"]]
        extents: dict[str, int] = {}
        ports = contract["inputs"] + contract["outputs"]
        for port, value in zip(ports, node["values"], strict=True):
            tensor = value["tensor"]
            assert tensor["element_type"] in port["element_types"]
            assert (value["access"], value["alias"]) == (port["access"], port["alias"])
            for constraint, extent in zip(port["dimensions"], tensor["dimensions"], strict=True):
                assert extents.setdefault(constraint["symbol"], extent) == extent
        workspaces = contract["resources"]
        for part in ("scratch", "binding", "persistent"):
            allowed = {"required": {True}, "forbidden": {False}, "optional": {True, False}}
            assert (node[f"{part}_resource"] is not None) in allowed[workspaces[part]]


@every_family
def test_nodes_state_all_they_touch(payload: dict[str, Any]) -> None:
    for node in payload["nodes"]:
        assert list(node) == NODE_KEYS
        touched = {c["resource_id"] for v in node["values"] for c in v["storage"]["components"]}
        parts = ("scratch", "binding", "persistent")
        touched |= {node[f"{p}_resource"] for p in parts} - {None}
        assert node["resources"] == sorted(touched)
        for part in parts:
            estimated = node["provider_resources"][part] is not None
            assert estimated == (node[f"{part}_resource"] is not None)


@every_family
def test_workspaces_equal_their_estimates(payload: dict[str, Any]) -> None:
    rows = {row["base_resource_id"]: row for row in payload["memory"]["dynamic_descriptors"]}
    ceilings = {"maximum_sequences": 64, "maximum_tokens": 4096}
    for node in payload["nodes"]:
        for part in ("scratch", "binding"):
            resource = node[f"{part}_resource"]
            if resource is None:
                continue
            estimate, row = node["provider_resources"][part], rows[resource]
            assert row["alignment_bytes"] == estimate["alignment_bytes"]
            assert row["kind"] == {part: {"node_id": node["id"]}}
            assert row["storage"]["profile"] in estimate["storage"]["accepted_profiles"]
            ((form, demand),) = row["demand"].items()
            if form in ("actual_sequences", "tokens", "affine"):
                assert all(demand[k] == v for k, v in ceilings.items() if k in demand)
                demand = {k: v for k, v in demand.items() if k not in ceilings}
            assert estimate["size_formula"] == {form: demand}


@every_family
def test_bytes_are_shared_only_by_exact_aliases(payload: dict[str, Any]) -> None:
    holders: dict[str, set[str]] = {}
    joined: set[tuple[str, str]] = set()
    for node in payload["nodes"]:
        for value in node["values"]:
            (component,) = value["storage"]["components"]
            holders.setdefault(component["resource_id"], set()).add(value["value_id"])
        for alias in node["exact_aliases"]:
            joined.add((alias["input_value_id"], alias["output_value_id"]))
            values = {(v["role"], v["ordinal"]): v for v in node["values"]}
            output = values["output", alias["output_ordinal"]]
            source = values["input", alias["input_ordinal"]]
            assert output["storage"] == source["storage"]
            assert output["alias"] == {alias["kind"]: {"tensor_index": alias["input_ordinal"]}}
    shared = [sorted(values) for values in holders.values() if len(values) > 1]
    assert shared
    for left, right in shared:
        assert (left, right) in joined or (right, left) in joined


@every_family
def test_token_work_projects_its_activations(payload: dict[str, Any]) -> None:
    for node in payload["nodes"]:
        work = node["work"]["tokens"]
        keys = [tuple(p.values()) for p in work["projections"]]
        assert ascending(keys)
        assert work["source"] in work["projections"]
        bound = {(v["value_id"], v["role"], v["ordinal"]): v for v in node["values"]}
        for projection in work["projections"]:
            value = bound[projection["value_id"], projection["role"], projection["ordinal"]]
            assert value["usage"] == "activations"
            assert len(value["tensor"]["dimensions"]) == projection["rank"]
            extent = value["tensor"]["dimensions"][projection["axis"]]
            assert extent == projection["canonical_extent"] == work["source"]["canonical_extent"]


@every_family
def test_state_effects_are_the_state_bindings(
    bundle: dict[str, Any], payload: dict[str, Any]
) -> None:
    states = {state["value_id"]: state for state in bundle["program"]["states"]}
    touched = set()
    for node in payload["nodes"]:
        bindings = [v for v in node["values"] if v["usage"] == "state"]
        effects = {effect["state_value_id"]: effect for effect in node["state_effects"]}
        assert set(effects) == {v["value_id"] for v in bindings}
        for value in bindings:
            effect = effects[value["value_id"]]
            assert effect["access"] == value["access"] == "read_write"
            assert effect["state_id"] == states[value["value_id"]]["id"]
            touched.add(value["value_id"])
    assert touched == set(states)


@every_family
def test_retained_values_ascend_and_name_their_output(payload: dict[str, Any]) -> None:
    retained = payload["retained_completion_values"]
    assert ascending([row["value_id"] for row in retained])
    assert "value/logits" in {row["value_id"] for row in retained}
    nodes = {node["id"]: node for node in payload["nodes"]}
    for row in retained:
        (value,) = [
            v
            for v in nodes[row["producer_node_id"]]["values"]
            if (v["role"], v["ordinal"]) == ("output", row["output_ordinal"])
        ]
        (component,) = value["storage"]["components"]
        assert value["value_id"] == row["value_id"]
        assert value["tensor"] == row["tensor"]
        assert component["resource_id"] == row["resource_id"]


def test_the_retained_step_value_keeps_its_bytes_to_itself() -> None:
    memory = models.bundle("qwen3-30b-a3b", 3, schema="5.0")["plan"]["payload"]["memory"]
    kept = "resource/activation/l0002/chosen"
    slots = [slot for pool in memory["dynamic_pools"] for slot in pool["step_resource_slots"]]
    (slot,) = [slot for slot in slots if kept in slot["resource_ids"]]
    assert slot == {"kind": "dedicated", "resource_ids": [kept]}


@pytest.mark.parametrize(
    ("family", "prefix_tokens", "contents"),
    [
        ("llama-3.1-8b", 16, {"prefix_positions"}),
        ("qwen3-30b-a3b", 16, {"prefix_positions"}),
        ("qwen3.5-4b", 64, {"prefix_positions", "boundary_value"}),
    ],
)
def test_sequence_state_can_be_captured(
    family: str, prefix_tokens: int, contents: set[str]
) -> None:
    result = derive_sequence_checkpoint(json.loads(text_of(family)))
    assert result.layout is not None
    layout = result.to_wire()["layout"]
    assert layout["boundaries"]["prefix"]["alignment"] == prefix_tokens
    assert {state["semantics"]["contents"] for state in layout["states"]} == contents
    assert result.layout.permits(0, prefix_tokens, prefix_tokens + 1)
    assert not result.layout.permits(0, prefix_tokens - 1, prefix_tokens + 1)
    assert not result.layout.permits(0, prefix_tokens, prefix_tokens)


@every_family
def test_bindings_lie_in_one_arena_a_bucket(family: str, bundle: dict[str, Any]) -> None:
    layouts = compile_program_bindings(bundle["plan"])
    buckets = bundle["policy"]["reusable_execution"]["buckets"]
    owners = [n for n in bundle["plan"]["payload"]["nodes"] if n["binding_resource"]]
    assert len(layouts) == len(buckets)
    for layout in layouts:
        slots = layout.to_wire()["slots"]
        assert [slot["node_id"] for slot in slots] == [node["id"] for node in owners]
    assert compile_program_bindings(models.problem(family, LAYERS)) == layouts


@every_family
def test_the_audit_finds_nothing(family: str) -> None:
    report = audit(models.bundle(family, schema="5.0"), prove=False)
    assert [f for f in report.findings if f.severity in ("error", "warning")] == []
    assert report.verdict == "verified"


def test_the_hybrid_is_safe_behind_a_fence_and_not_when_free() -> None:
    """Its normed input is still read by one projection when the delta rule reuses the bytes."""
    report = audit(models.bundle("qwen3.5-4b", LAYERS, schema="5.0"), prove=False)
    assert all(slot.fenced for slot in report.slots)
    assert not all(slot.concurrent for slot in report.slots)
    for family in ("llama-3.1-8b", "qwen3-30b-a3b"):
        report = audit(models.bundle(family, LAYERS, schema="5.0"), prove=False)
        assert report.slots
        assert all(slot.concurrent for slot in report.slots)
