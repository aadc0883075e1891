"""The solver's judgment of accesses against the fast path, and the runs that it shows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrum_verify import audit
from ferrum_verify.counterexamples import AccessCounterexample
from ferrum_verify.counterexamples.checking import check_counterexample
from ferrum_verify.documents.fragment_node import FragmentNode
from ferrum_verify.limits import Limits
from ferrum_verify.plan.accesses import accesses_of, conflicts_of, declared_bytes, ended_before
from ferrum_verify.plan.order import HappensBefore
from ferrum_verify.plan.sharing import EXECUTIONS
from ferrum_verify.prove.accesses import access_claims
from ferrum_verify.prove.claims import claims_of, plan_of
from ferrum_verify.prove.obligation import Proved, Refuted, Undecided
from ferrum_verify.prove.prover import prove
from ferrum_verify.prove.windows import PlanGraph, ends_before_fence
from ferrum_verify.reading.parse import subject_of
from ferrum_verify.rules.accesses import OVERWRITTEN, RACE, RESOURCE_RACE
from ferrum_verify.rules.data_flow import READ_BEFORE_WRITE
from ferrum_verify.rules.proof import DISAGREEMENT
from tests.definition.drafts import TOKENS, chain, fork, nodes_of, plan, states_in_a_row
from tests.definition.plan_nodes import UNIT, place_of
from tests.definition.planning import settle
from tests.definition.sweep import mutants
from tests.plan.test_accesses import fragments

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.prove.obligation import Obligation
    from ferrum_verify.prove.prover import Proof
    from tests.definition.sizes import Json


def prove_accesses(raw: list[dict[str, Any]], execution: Execution) -> Proof:
    nodes = [FragmentNode(**node) for node in raw]
    source = access_claims(nodes, 1, {}, PlanGraph(nodes), execution, at="/nodes")
    document = {"nodes": raw, "memory": {}}
    return prove([source], Limits(), lambda found: check_counterexample(document, found, execution))


@settings(max_examples=120, deadline=None)
@given(raw=fragments(), execution=st.sampled_from(EXECUTIONS))
def test_the_solver_agrees_with_the_fast_path(
    raw: list[dict[str, Any]], execution: Execution
) -> None:
    order = HappensBefore([FragmentNode(**node) for node in raw])
    wanted = {
        (order.nodes[each.first.node].id, order.nodes[each.then.node].id, each.first.resource)
        for each in conflicts_of(accesses_of(order.nodes, 1, {}))
        if not ended_before(order, each.first.node, each.then.node, execution)
    }
    proof = prove_accesses(raw, execution)
    assert not proof.of(Undecided)
    assert {each.obligation.names for each in proof.of(Refuted)} == wanted
    for each in proof.of(Refuted):
        assert isinstance(each.counterexample, AccessCounterexample)


def node(name: str, *dependencies: str, reads: str = "", writes: str = "") -> dict[str, Any]:
    lists = {"reads": reads.split(), "writes": writes.split()}
    resources = sorted({*lists["reads"], *lists["writes"]})
    return {"id": name, "dependencies": list(dependencies), "resources": resources, **lists}


def test_a_chain_is_proved_by_its_nodes_alone() -> None:
    """Other nodes between the two do not count: layers of any width have one formula."""
    raw = [node("a", writes="r"), node("x", "a"), node("y", "a"), node("b", "y", reads="r")]
    raw += [node("c", "b", writes="s"), node("d", "c"), node("e", "d", reads="s")]
    for execution in EXECUTIONS:
        proof = prove_accesses(raw, execution)
        assert (len(proof.of(Proved)), proof.formulas) == (2, 1)


def test_a_barrier_for_others_is_one_for_all_before_it() -> None:
    raw = [node("a", writes="r"), node("x"), node("y", "x"), node("b", reads="r")]
    (proved,) = prove_accesses(raw, "fenced").of(Proved)
    assert proved.obligation.names == ("a", "b", "r")
    (refuted,) = prove_accesses(raw, "concurrent").of(Refuted)
    assert refuted.counterexample.to_wire() == {  # type: ignore[union-attr]
        "kind": "access",
        "nodes": [{"id": "a", "start": 0, "end": 1}, {"id": "b", "start": 0, "end": 1}],
        "resource": "r",
        "bytes": {"start": 0, "end": 1},
        "writer": {"node": "a"},
        "other": {"node": "b", "mode": "read"},
        "at": 0,
    }


@pytest.mark.parametrize(
    ("window", "holds"),
    [
        (((), (0,)), True),
        (((), ()), False),
        (((), (), (1,), ()), True),  # the third waits for the second, and so for the first
        (((), (), (), (2,)), True),
        (((), (), ()), False),
    ],
)
def test_windows_with_barriers(window: Any, holds: bool) -> None:
    import z3

    statement = ends_before_fence(window)
    solver = z3.Solver()
    solver.add(*statement.violation)
    assert (solver.check() == z3.unsat) == holds
    given_ = z3.substitute(z3.And(statement.given), *statement.example)
    assert z3.is_true(z3.simplify(given_))


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_full_plans_drawn_at_random(execution: Execution) -> None:
    """What the rules find of accesses is what the solver refutes, each shown with a run."""
    rules = {rule.id for rule in (OVERWRITTEN, RACE, RESOURCE_RACE)}
    found = Counter[str]()
    for mutant in mutants(seed=11, count=15):
        report = audit(mutant.document, execution=execution)
        for each in report.findings:
            assert each.rule != DISAGREEMENT.id or not any(
                f"check {rule} " in each.message for rule in rules
            ), each.message
            if each.rule in rules:
                assert isinstance(each.counterexample, AccessCounterexample)
                assert check_counterexample(mutant.document, each.counterexample, execution)
                found[each.rule] += 1
    assert found[OVERWRITTEN.id]


def test_an_input_that_a_node_changes_in_place_is_raced_for() -> None:
    """It has no writer that a reader could be told to wait for."""
    document = fork()
    nodes_of(document)[0]["values"][0]["access"] = "read_write"
    findings = audit(settle(document), execution="concurrent", prove=False).findings
    assert any(each.rule == RACE.id and "r/in" in each.about for each in findings)


def obligations(document: Json) -> dict[tuple[str, ...], Obligation]:
    """The claims about the accesses of a full plan, by the names that they speak of."""
    subject, _ = subject_of(settle(document))
    assert subject is not None
    assert subject.plan_nodes is not None
    nodes, declared = subject.plan_nodes, declared_bytes(subject.program)
    claims = access_claims(nodes, TOKENS, declared, PlanGraph(nodes), "concurrent", at="/nodes")
    return {each.names: each for each in claims}


def test_a_race_for_a_state_is_one_for_its_resource() -> None:
    found = obligations(states_in_a_row(TOKENS))
    assert found["a", "c", "r/state"].rule is RESOURCE_RACE
    assert found["a", "b", "r/first"].rule is RACE


def test_a_reader_that_waits_for_no_writer_is_told_of_as_that() -> None:
    found = obligations(chain())["a", "b", "r/first"]
    assert found.told_by == ((READ_BEFORE_WRITE, ("a", "b", "a", "first")),)


def test_a_value_that_is_overwritten_is_named_and_who_wrote_it_is_shown() -> None:
    document = plan(
        ("a", [], ["in"], "first"),
        ("x", [], ["in"], "aside"),
        ("b", [], ["first"], "second"),
        ("c", [], ["second"], "again"),
        ("d", ["c"], ["first"], "third"),
    )
    for each in nodes_of(document):
        for binding in each["values"]:
            if binding["value_id"] == "again":
                place_of(binding)["resource_id"] = "r/first"
    found = obligations(document)
    names = ("b", "c", "r/first", "first")
    assert found[names].rule is OVERWRITTEN
    assert found[names].told_by == ()
    too_early = found["d", "c", "r/first", "first"]
    for claim, listed, other in ((found[names], "abc", "b"), (too_early, "acd", "d")):
        shown = claim.witness(())
        assert shown is not None
        assert check_counterexample(document, shown, "concurrent")
        wire = shown.to_wire()
        assert sorted(each["id"] for each in wire["nodes"]) == list(listed)
        assert wire["writer"] == {"node": "c"}
        assert wire["other"] == {"node": other, "mode": "read"}


def beside() -> Json:
    """Two values in one row, of which the first grows into the second."""
    document = fork()
    for each in nodes_of(document):
        for binding in each["values"]:
            if binding["value_id"] == "right":
                place_of(binding).update({"resource_id": "r/left", "offset_bytes": UNIT})
    return document


@pytest.mark.parametrize("make", [beside, lambda: states_in_a_row(1)], ids=["values", "states"])
def test_accesses_are_claimed_of_the_largest_step_and_state(make: Callable[[], Json]) -> None:
    subject, _ = subject_of(settle(make()))
    assert subject is not None
    claims = plan_of(subject, "in-order", ordered=True)
    assert claims is not None
    proof = prove(claims_of(claims), Limits(), lambda _: True)
    lost = [each.obligation for each in proof.of(Refuted)]
    assert OVERWRITTEN in [each.rule for each in lost]
