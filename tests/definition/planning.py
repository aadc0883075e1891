"""From a drawn plan to a document: rows that are used, memory as derived, and all hashes."""

from __future__ import annotations

import hashlib
import json

from tests.definition.memory_plan import derive
from tests.definition.plan_parts import WORKSPACES, uses
from tests.definition.rows import LINEAR, OPAQUE_LAYOUT
from tests.definition.sizes import Json, canonical_hash

CAPACITY = 2**30


def settle(document: Json) -> Json:
    """Plan the memory of a drawn document, in place; RefusedError where nothing is derived.

    A node lists what it uses, save what stands in its ``unlisted`` resources.
    """
    body = document["plan"]["payload"]
    nodes, draft = body["nodes"], body["memory"]
    for node in nodes:
        node["work"] = work_of(node, node.pop("fixed", []))
        node["resources"] = []
        node["resources"] = sorted(uses(node) - set(node.pop("unlisted", [])))
    used = {name for node in nodes for name in uses(node)}
    rows = [row for name, row in draft["rows"].items() if name in used]
    most = draft["maximum_active_sequences"]
    rows += [
        workspace_row(node, part, most, body["maximum_scheduled_tokens"])
        for node in nodes
        for part in WORKSPACES
        if node[f"{part}_resource"] is not None
    ]
    problem = {
        "device_capacity_bytes": CAPACITY,
        "policy_capacity_bytes": CAPACITY,
        "reserve_bytes": 0,
        "maximum_active_sequences": most,
        "static_allocations": [row for row in rows if "resource_id" in row],
        "dynamic_descriptors": [row for row in rows if "resource_id" not in row],
        "nodes": nodes,
        "reusable_execution_policy": draft["reusable_execution_policy"],
        "retained_completion_resources": sorted(
            {value["resource_id"] for value in body["retained_completion_values"]}
        ),
    }
    states = {
        name.removeprefix("r/"): {"token_scaled": row["demand"]["tokens"]}
        for name, row in draft["rows"].items()
        if row["usage"] == "state" and "tokens" in row["demand"]
    }
    states |= draft.get("states", {})
    body["memory"] = derive(problem)
    document["program"] = program(body, states)
    stamp(document)
    return document


def work_of(node: Json, fixed: list[str]) -> Json | str:
    """Token work: all activations of the node grow, save those that are named as fixed."""
    projections = [
        {
            "value_id": binding["value_id"],
            "role": binding["role"],
            "ordinal": binding["ordinal"],
            "axis": 0,
            "rank": len(binding["tensor"]["dimensions"]),
            "canonical_extent": binding["tensor"]["dimensions"][0],
        }
        for binding in node["values"]
        if binding["usage"] == "activations" and binding["value_id"] not in fixed
    ]
    if not projections:
        return "fixed"
    source = next((each for each in projections if each["role"] == "input"), projections[0])
    ascending = sorted(projections, key=lambda p: (p["value_id"], p["role"], p["ordinal"]))
    return {"tokens": {"source": source, "projections": ascending}}


def workspace_row(node: Json, part: str, sequences: int, tokens: int) -> Json:
    """The row that a provider's estimate asks for, within the limits of the plan."""
    estimate = node["provider_resources"][part]
    ((form, fields),) = estimate["size_formula"].items()
    limits = {}
    if form in ("affine", "actual_sequences"):
        limits["maximum_sequences"] = sequences
    if form in ("affine", "tokens"):
        limits["maximum_tokens"] = tokens
    return {
        "base_resource_id": node[f"{part}_resource"],
        "demand": {form: fields | limits},
        "alignment_bytes": estimate["alignment_bytes"],
        "usage": part,
        "element_type": "u8",
        "lifetime": "invocation",
        "kind": {part: {"node_id": node["id"]}},
        "storage": {"profile": LINEAR, "logical_layout_fingerprint": OPAQUE_LAYOUT},
        "initialization": "none",
        "theoretical_maximum_instances": sequences,
    }


def program(body: Json, demands: Json) -> Json:
    """The program that the nodes are of. States are fixed unless told otherwise."""
    nodes = body["nodes"]
    values = {b["value_id"]: b for node in nodes for b in node["values"]}
    written = {b["value_id"] for node in nodes for b in node["values"] if b["role"] == "output"}
    blocks = [
        {
            "id": node["id"],
            "operation_id": node["operation_id"],
            "required_version": node["operation_version"],
            "work": node["work"],
            **{
                f"{role}s": [b["value_id"] for b in node["values"] if b["role"] == role]
                for role in ("input", "output")
            },
            "attributes": node["attributes"],
        }
        for node in nodes
    ]
    states = [
        {
            "id": name,
            "value_id": name,
            "tensor": binding["tensor"],
            "lifetime": "sequence",
            "capacity_demand": demands.get(name, "fixed_per_scope"),
            "initialization": "none",
            "checkpoint": "unsupported",
        }
        for name, binding in values.items()
        if binding["usage"] == "state"
    ]
    weights = [
        {"weight_id": name, "value_id": name, "tensor": binding["tensor"]}
        for name, binding in values.items()
        if binding["usage"] == "weights"
    ]
    activations = {name for name, b in values.items() if b["usage"] == "activations"}
    return {
        "family_id": body["family_id"],
        "inputs": sorted(activations - written),
        "blocks": [{"id": "block", "nodes": blocks}],
        "states": states,
        "weights": weights,
        "outputs": [value["value_id"] for value in body["retained_completion_values"]],
    }


def stamp(document: Json) -> None:
    """Write every hash that the plan carries of its own parts."""
    body = document["plan"]["payload"]
    for node in body["nodes"]:
        estimate = node["provider_resources"]
        rest = {key: each for key, each in estimate.items() if key != "estimate_fingerprint"}
        estimate["estimate_fingerprint"] = canonical_hash(rest)
    text = json.dumps(document["program"], separators=(",", ":"))
    body["program_fingerprint"] = hashlib.sha256(text.encode()).hexdigest()
    digest = canonical_hash({key: each for key, each in body.items() if key != "plan_id"})
    body["plan_id"] = f"plan/sha256/{digest}"
    document["plan"]["plan_hash"] = digest
