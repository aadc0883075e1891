"""How many claims of each kind are asked of a plan: reckoned here from the raw document.

A claim that is never asked is never refuted. So the number of each kind must follow from what
the document lists, and a kind that is not listed here must not come up unnoticed.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.documents.fragment_node import FragmentNode
from ferrum_verify.limits import Limits
from ferrum_verify.plan.accesses import accesses_of, conflicts_of
from ferrum_verify.plan.sharing import EXECUTIONS
from ferrum_verify.prove.claims import claims_of, plan_of
from ferrum_verify.prove.obligation import Proved
from ferrum_verify.prove.prover import prove
from ferrum_verify.reading.parse import subject_of
from tests.vectors import scale

if TYPE_CHECKING:
    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.prove.prover import Proof, Verdict

Json = dict[str, Any]

BY_RULE = {"slot.shared-while-live", "liveness.rows-overlap"}
"""Claims of order, which each model encodes in its own way; others are told by their encoding."""


def kind_of(verdict: Verdict) -> str:
    obligation = verdict.obligation
    if obligation.rule.id in BY_RULE:
        return obligation.rule.id
    encoding = obligation.formula.encode.__name__
    exact = "exact " if obligation.id.endswith("is exact") else ""
    return f"{obligation.rule.id}: {exact}{encoding}"


def decoder() -> Json:
    case = scale("decoder-8")
    retained = case["problem"]["retained_completion_resources"]
    nodes = case["problem"]["nodes"]
    return {
        "nodes": nodes,
        "memory": case["expect"]["memory"],
        "retained_completion_resources": retained,
    }


def retained() -> Json:
    """The sample with two resources that are read after the fence, of which one shares."""
    fragment: Json = sample("fragment")
    apply_edits(fragment, {"/retained_completion_resources": ["act/mask", "act/output"]})
    return fragment


def unretained() -> Json:
    """An output of the program that no completion value keeps: that it is one is enough."""
    bundle: Json = sample("bundle-8.1")
    apply_edits(bundle, {"/plan/payload/retained_completion_values": []})
    return bundle


def tight() -> Json:
    """The sample with so little memory that memory ends the frontier, not a declared maximum."""
    fragment: Json = sample("fragment")
    usable = 170_000
    apply_edits(
        fragment,
        {
            "/memory/policy_capacity_bytes": usable + fragment["memory"]["reserve_bytes"],
            "/memory/usable_capacity_bytes": usable,
        },
    )
    return fragment


DOCUMENTS = {
    "fragment": lambda: sample("fragment"),
    "bundle": lambda: sample("bundle"),
    "bundle-8.1": lambda: sample("bundle-8.1"),
    "unretained": unretained,
    "decoder-8": decoder,
    "retained": retained,
    "tight": tight,
}


def proof_of(document: Json, execution: Execution) -> Proof:
    subject, _ = subject_of(document)
    assert subject is not None
    plan = plan_of(subject, execution, ordered=True)
    assert plan is not None
    return prove(claims_of(plan), Limits(), lambda _: True)


def expected(document: Json, *, memory_ends_it: bool) -> Counter[str]:
    payload = document["plan"]["payload"] if "plan" in document else document
    memory, nodes = payload["memory"], payload["nodes"]
    pools, rows = memory["dynamic_pools"], memory["dynamic_descriptors"]
    used = {resource for node in nodes for resource in node["resources"]}
    read_late = set(payload.get("retained_completion_resources", ()))
    read_late |= set(payload.get("terminal_output_resources", ()))
    kept = payload.get("retained_completion_values", ())
    read_late |= resources_of(nodes, {each["value_id"] for each in kept})
    slots = [slot["resource_ids"] for pool in pools for slot in pool["step_resource_slots"]]
    listed = [[row for row in pool["invocation_liveness"] if row["resource_ids"]] for pool in pools]
    reusable = memory["reusable_execution"]
    buckets = 0 if reusable is None else len(reusable["buckets"])
    parts = [
        bool(pool["step_resource_slots"]) + bool(live)
        for pool, live in zip(pools, listed, strict=True)
    ]
    bound = [row for row in rows if isinstance(row["kind"], dict) and "binding" in row["kind"]]
    arenas = buckets * len({row["pool_id"] for row in bound})
    return Counter(
        {
            "slot.retained-shared: outlives_none": sum(len(read_late & set(s)) for s in slots),
            # In a sound plan neighbours are enough: all that lies across follows.
            "slot.shared-while-live": sum(max(len(used & set(s)) - 1, 0) for s in slots),
            "liveness.rows-overlap": sum(
                max(len({row["node_id"] for row in live}) - 1, 0)
                for pool, live in zip(pools, listed, strict=True)
                if pool["invocation_liveness_mode"] == "total_order_reuse"
            ),
            "liveness.peak: stays_within": sum(bool(live) for live in listed),
            "descriptor.alignment: round_as_division_does": len(rows),
            "descriptor.size-overflow: fit_u64": len(rows),
            "descriptor.illegal-demand: is_monotone": len(rows),
            "pool.ceiling: stay_under": len(pools),
            "reusable.budget: fits": buckets * sum(parts),
            "pool.reusable-ceiling: lanes_fit": len(pools) if reusable else 0,
            "binding.arena: neighbours_are_apart": arenas,
            "binding.arena: cover_exactly": arenas,
            "binding.arena: is_aligned": buckets * len(bound),
            "binding.arena: fits": buckets * len(bound),
            "binding.owner: own_one_each": arenas,
            "capacity.total-overflow: sums_fit": 1,
            # One request that must run, and one sequence of any length up to the frontier.
            "capacity.exceeds-usable: fits": 2,
            "capacity.exceeds-usable: exact passes": int(memory_ends_it),
            "capacity.exceeds-usable: several_fit": 1,
            "capacity.exceeds-usable: exact several_pass": int(memory_ends_it),
        }
    ) + checkpoint(document)


def resources_of(nodes: list[Json], values: set[str]) -> set[str]:
    """Where values lie, in a document that says so."""
    return {
        component["resource_id"]
        for node in nodes
        for binding in node.get("values", ())
        if binding["value_id"] in values
        for component in binding["storage"]["components"]
    }


def checkpoint(document: Json) -> Counter[str]:
    """What is claimed of a bundle: each side both ways, what is held, one step, and pairs."""
    if "catalog" not in document:
        return Counter()
    states = {state["value_id"] for state in document["program"]["states"]}
    homes = {
        binding["value_id"]: component["resource_id"]
        for node in document["plan"]["payload"]["nodes"]
        for binding in node["values"]
        if binding["value_id"] in states
        for component in binding["storage"]["components"]
    }
    together = sum(homes[one] == homes[two] for one, two in combinations(sorted(homes), 2))
    return Counter(
        {
            "checkpoint.boundary-intersection: contained": 2 * 2,
            "checkpoint.never-reachable: smallest_is_within": 1,
            "checkpoint.beyond-one-step: smallest_is_within": 1,
            "value.overlap: never_meet": together,
        }
    )


BY_ACCESS = {
    "value.overwritten",
    "value.race",
    "graph.race",
    "graph.read-before-write",
    "value.row-too-small",
    "value.state-row-too-small",
}


def test_a_claim_for_each_conflict_of_accesses() -> None:
    document = sample("fragment")
    nodes = [FragmentNode(**node) for node in document["nodes"]]
    conflicts = list(conflicts_of(accesses_of(nodes, 1, {})))
    asked = [v for v in proof_of(document, "fenced").claims if kind_of(v).startswith("graph.race")]
    assert len(asked) == len(conflicts) > 5


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize("name", DOCUMENTS)
def test_as_many_claims_of_each_kind_as_the_document_lists(name: str, execution: Execution) -> None:
    document = DOCUMENTS[name]()
    proof = proof_of(document, execution)
    asked = Counter(kind_of(verdict) for verdict in proof.claims)
    # Accesses and growing values are counted where they are claimed.
    for kind in [each for each in asked if each.partition(":")[0] in BY_ACCESS]:
        del asked[kind]
    wanted = expected(document, memory_ends_it=name == "tight")
    if name == "retained":
        # What shares with a resource that is read late is refuted, and all else proved.
        (broken,) = [v for v in proof.claims if not isinstance(v.outcome, Proved)]
        assert broken.obligation.names[0] == "act/output"
    else:
        assert {type(verdict.outcome) for verdict in proof.claims} == {Proved}
    assert asked == +wanted


@pytest.mark.parametrize("name", ["fragment", "decoder-8"])
def test_what_lies_across_a_member_of_several_users_takes_a_lemma(name: str) -> None:
    """Under ``fenced`` alone: for each member of a slot between the first and the last."""
    document = DOCUMENTS[name]()
    order = [node["resources"] for node in document["nodes"]]
    users: dict[str, list[int]] = {}
    for index, resources in enumerate(order):
        for resource in resources:
            users.setdefault(resource, []).append(index)
    wanted = 0
    for pool in document["memory"]["dynamic_pools"]:
        for slot in pool["step_resource_slots"]:
            members = sorted(slot["resource_ids"], key=lambda each: users[each][0])
            wanted += sum(len(users[each]) > 1 for each in members[1:-1])
    assert (wanted > 0) == (name == "decoder-8")
    for execution in EXECUTIONS:
        lemmas = [v for v in proof_of(document, execution).verdicts if v.obligation.lemma]
        assert len(lemmas) == (wanted if execution == "fenced" else 0)


def test_a_claim_for_each_state_that_grows() -> None:
    document = sample("bundle")
    asked = [
        v.obligation.formula.encode.__name__
        for v in proof_of(document, "fenced").claims
        if v.obligation.rule.id == "value.state-row-too-small"
    ]
    growing = [s for s in document["program"]["states"] if "token_scaled" in s["capacity_demand"]]
    assert asked == ["row_holds"] * len(growing) != []


def test_no_claim_is_asked_twice() -> None:
    for name in ("fragment", "bundle"):
        said = Counter(v.obligation.claim for v in proof_of(DOCUMENTS[name](), "fenced").claims)
        assert max(said.values()) == 1
