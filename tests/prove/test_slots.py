"""The solver's judgment of slots against the reference engine's, brute force and the fast path."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.counterexamples.checking import check_counterexample
from ferrum_verify.documents.fragment_node import FragmentNode
from ferrum_verify.documents.memory_plan import StepSlot
from ferrum_verify.limits import Limits
from ferrum_verify.plan.order import HappensBefore
from ferrum_verify.plan.sharing import EXECUTIONS, slot_safety
from ferrum_verify.prove.claims import plan_of, slot_sources
from ferrum_verify.prove.obligation import Refuted, Undecided
from ferrum_verify.prove.prover import prove
from ferrum_verify.prove.schedules import side_by_side
from ferrum_verify.prove.slots import slot_claims
from ferrum_verify.prove.windows import PlanGraph
from ferrum_verify.reading.parse import subject_of
from ferrum_verify.rules.slot import SHARED_WHILE_LIVE
from ferrum_verify.rules.slot_members import REPEATED
from tests.vectors import cases, fragment_of, scale

if TYPE_CHECKING:
    from ferrum_verify.counterexamples import Execution

FRAGMENTS = [case for case in cases("memory-plans") if case["expect"].get("slots") is not None]


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_the_solver_judges_every_vector_as_the_reference_does(execution: Execution) -> None:
    for case in FRAGMENTS:
        fragment = fragment_of(case)
        subject, _ = subject_of(fragment)
        assert subject is not None
        plan = plan_of(subject, execution, ordered=True)
        assert plan is not None
        proof = prove(
            slot_sources(plan),
            Limits(),
            lambda found: check_counterexample(fragment, found, execution),  # noqa: B023
        )
        assert not proof.of(Undecided), case["id"]
        unsafe = defaultdict(set)
        for verdict in proof.of(Refuted):
            if verdict.obligation.rule is SHARED_WHILE_LIVE:
                unsafe[verdict.obligation.location].add(verdict.obligation.names)
                if execution == "concurrent":
                    assert verdict.counterexample is not None
        for expected in case["expect"]["slots"]:
            found = unsafe[_place(case, expected)]
            if execution == "concurrent":
                assert found == {tuple(pair) for pair in expected["hazards"]}, case["id"]
            assert (not found) == expected[execution.replace("-", "_")], case["id"]


def _place(case: dict[str, Any], expected: dict[str, Any]) -> str:
    return next(
        f"/memory/dynamic_pools/{index}/step_resource_slots/{place}"
        for index, pool in enumerate(case["memory"]["dynamic_pools"])
        for place, slot in enumerate(pool["step_resource_slots"])
        if pool["pool_id"] == expected["pool_id"]
        and slot["resource_ids"] == expected["resource_ids"]
    )


RESOURCES = ("a", "b", "c", "d")


@st.composite
def graphs(draw: st.DrawFn) -> list[dict[str, Any]]:
    count = draw(st.integers(1, 7))
    return [
        {
            "id": f"n{index}",
            "dependencies": sorted(
                draw(st.sets(st.sampled_from([f"n{i}" for i in range(index)]))) if index else ()
            ),
            "resources": sorted(draw(st.sets(st.sampled_from(RESOURCES)))),
        }
        for index in range(count)
    ]


def _node(name: str, *dependencies: str, uses: str = "") -> dict[str, Any]:
    return {"id": name, "dependencies": list(dependencies), "resources": uses.split()}


@given(graphs(), st.sampled_from(EXECUTIONS))
# A barrier for another node keeps the last from the first: no run is to be made up.
@example([_node("n0", uses="a"), _node("n1", "n0"), _node("n2", uses="b")], "fenced")
@settings(max_examples=120, deadline=None)
def test_the_solver_agrees_with_the_fast_path_on_any_small_plan(
    raw: list[dict[str, Any]], execution: Execution
) -> None:
    nodes = [FragmentNode(**node) for node in raw]
    order = HappensBefore(nodes)
    used = tuple(name for name in RESOURCES if name in order.users)
    safety = slot_safety(used, order)
    if not used or safety is None:
        return
    slot = StepSlot(kind="ordered_single_fence_step_wave", resource_ids=used)
    pool = {
        "step_resource_slots": [{"resource_ids": used}],
        "invocation_liveness_mode": "no_invocation_resources",
    }
    document = {"nodes": raw, "memory": {"dynamic_pools": [pool]}}
    proof = prove(
        [slot_claims(slot, "the slot", "/slot", PlanGraph(nodes), execution)],
        Limits(),
        lambda found: check_counterexample(document, found, execution),
    )
    assert not proof.of(Undecided)
    refuted = {verdict.obligation.names for verdict in proof.of(Refuted)}
    assert refuted == set(safety.unsafe[execution])
    for verdict in proof.of(Refuted):
        # Under `fenced` a barrier may keep the pair apart in every run; then none is shown.
        assert verdict.counterexample is not None or execution == "fenced"


def test_nodes_without_order_run_side_by_side_where_a_model_has_such_runs() -> None:
    graph = PlanGraph([FragmentNode(**_node("n0")), FragmentNode(**_node("n1"))])
    runs = {model: side_by_side(graph, 0, 1, model, [0, 1]) for model in EXECUTIONS}
    assert runs == {
        "in-order": None,
        "fenced": {0: (0, 2), 1: (1, 2)},
        "concurrent": {0: (0, 1), 1: (0, 1)},
    }


def test_equal_layers_are_proved_once() -> None:
    case = scale("decoder-64")
    subject, _ = subject_of({"nodes": case["problem"]["nodes"], "memory": case["expect"]["memory"]})
    assert subject is not None
    plan = plan_of(subject, "concurrent", ordered=True)
    assert plan is not None
    proof = prove(slot_sources(plan), Limits(), lambda _: True)
    assert sum(1 for _ in proof.claims) >= 701
    assert proof.formulas < 40


def test_a_document_limit_leaves_claims_undecided() -> None:
    case = FRAGMENTS[0]
    subject, _ = subject_of(fragment_of(case))
    assert subject is not None
    plan = plan_of(subject, "concurrent", ordered=True)
    assert plan is not None
    proof = prove(slot_sources(plan), Limits(document_seconds=0), lambda _: True)
    reasons = {verdict.outcome.reason for verdict in proof.of(Undecided)}  # type: ignore[union-attr]
    assert proof.claims
    assert all("--proof-limit" in reason for reason in reasons)


def test_an_interruption_keeps_what_was_done() -> None:
    case = next(case for case in FRAGMENTS if len(case["expect"]["slots"]) > 1)
    subject, _ = subject_of(fragment_of(case))
    assert subject is not None
    plan = plan_of(subject, "concurrent", ordered=True)
    assert plan is not None
    seen = []

    def stop(obligation: object) -> None:
        seen.append(obligation)
        if len(seen) == 2:
            raise KeyboardInterrupt

    proof = prove(slot_sources(plan), Limits(), lambda _: True, stop)
    assert proof.interrupted
    assert len(proof.verdicts) == 1


def asked_of(edits: dict[str, Any]) -> set[tuple[str, tuple[str, ...]]]:
    """Rule and names of each claim about the Step slots of the sample with some edits."""
    fragment = sample("fragment")
    apply_edits(fragment, edits)
    subject, _ = subject_of(fragment)
    assert subject is not None
    plan = plan_of(subject, "fenced", ordered=True)
    assert plan is not None
    claims = prove(slot_sources(plan), Limits(), lambda _: True).claims
    return {(each.obligation.rule.id, each.obligation.names) for each in claims}


SLOTS = "/memory/dynamic_pools/0/step_resource_slots"


def test_members_whose_bytes_are_not_the_slots_are_not_claimed_to_be_apart() -> None:
    """Their rule tells of them: of another lifetime, of another pool, of no pool at all."""
    sound = asked_of({})
    assert sound == {
        (SHARED_WHILE_LIVE.id, ("act/embedded", "act/attention")),
        (SHARED_WHILE_LIVE.id, ("act/key", "act/output")),
    }
    for stranger in ("scratch/head", "state/cache", "weight/head"):
        assert asked_of({f"{SLOTS}/0/resource_ids/-": stranger}) == sound
    lent = "/memory/dynamic_descriptors/10/lifetime"
    pools = "/memory/dynamic_pools"
    assert asked_of({f"{SLOTS}/0/resource_ids/-": "scratch/attention", lent: "step"}) == sound
    listed = {
        f"{SLOTS}/0/resource_ids/-": "scratch/attention",
        f"{pools}/0/resource_ids/-": "scratch/attention",
    }
    assert asked_of(listed) == sound
    own = asked_of({**listed, lent: "step"})
    assert own > sound


def test_what_clashes_with_a_member_of_several_slots_clashes_for_that_reason() -> None:
    asked = asked_of({f"{SLOTS}/0/resource_ids/-": "act/query"})
    told = {names: rule for rule, names in asked}
    assert told["act/key", "act/output"] == SHARED_WHILE_LIVE.id
    assert {rule for names, rule in told.items() if "act/query" in names} == {REPEATED.id}
    assert told["act/embedded", "act/attention"] == SHARED_WHILE_LIVE.id
