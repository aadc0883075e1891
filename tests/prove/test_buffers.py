"""Claims of buffer plans: refuted with the rules switched off, and never at odds with them."""

from __future__ import annotations

import random
from typing import Any

import pytest

from ferrum_verify import audit
from ferrum_verify.documents.buffer_plan import BufferPlan
from ferrum_verify.limits import Limits
from ferrum_verify.plan.order import HappensBefore
from ferrum_verify.plan.storages import Storages, box_of
from ferrum_verify.prove.buffers import BufferClaims
from ferrum_verify.prove.obligation import Proved, Refuted
from ferrum_verify.prove.prover import Proof, prove
from ferrum_verify.reading.parts import nodes_of
from ferrum_verify.report.shown import gate
from tests.buffer_plans import Json, buffer, dimensions, node, per, plan, ring


def proof_of(document: Json, execution: Any = "in-order") -> Proof:
    """What the solver makes of a plan, with no rule run."""
    read = BufferPlan.model_validate(document)
    storages = Storages(read, read.nodes, box_of(read))
    claims = BufferClaims(storages, HappensBefore(nodes_of(read.nodes)), execution, {})
    return prove(claims.sources(), Limits(), gate(document, execution))


def refuted(document: Json, execution: Any = "in-order") -> list[tuple[str, Json | None]]:
    return [
        (
            each.obligation.rule.id,
            None if each.counterexample is None else each.counterexample.to_wire(),
        )
        for each in proof_of(document, execution).of(Refuted)
    ]


BUFFERS = [buffer("x", 8, live_in=True), buffer("y", 0), buffer("z", 0)]
NODES = [node("i0", "x", "y"), node("i1", "y", "", "i0"), node("i2", "x", "z", "i1")]


@pytest.mark.parametrize("execution", ["in-order", "fenced", "concurrent"])
def test_a_sound_plan_is_proved(execution: Any) -> None:
    proof = proof_of(plan(BUFFERS, NODES), execution)
    assert {type(each.outcome) for each in proof.claims} == {Proved}
    # Inside and aligned for each buffer, x beside nothing, y before z, and every read.
    assert len(list(proof.claims)) == (10 if execution == "in-order" else 11)


def test_two_buffers_that_live_together_come_with_a_run_and_their_bytes() -> None:
    nodes = [*NODES[:2], node("i2", "x", "z"), node("i3", "y")]
    ((rule, found),) = refuted(plan(BUFFERS, nodes))
    assert rule == "buffer.shared-while-live"
    assert found is not None
    assert found["left"] == {"resource": "y", "node": "i3"}
    assert found["right"] == {"resource": "z", "node": "i2"}
    assert found["bytes"] == {"start": 0, "end": 4}
    assert [each["id"] for each in found["nodes"]] == ["i0", "i1", "i2", "i3"]


def test_a_run_lists_the_nodes_that_its_arms_take() -> None:
    nodes = [
        node("i0", "x", "y"),
        node("i1", "x", "z", arms="c=then"),
        node("i2", arms="c=else"),
        node("i3", "y"),
    ]
    ((_, found),) = refuted(plan(BUFFERS, nodes))
    assert found is not None
    assert found["arms"] == {"c": "then"}
    assert [each["id"] for each in found["nodes"]] == ["i0", "i1", "i3"]


def test_bytes_meet_at_the_smallest_shape() -> None:
    buffers = [buffer("x", 0, per("n", 4), live_in=True), buffer("y", 40, per("n", 30))]
    nodes = [node("i0", "", "y"), node("i1", "x y")]
    found = refuted(plan(buffers, nodes, shape=dimensions(n=(1, 40))))
    assert [rule for rule, _ in found] == ["buffer.out-of-arena", "buffer.shared-while-live"]
    out, clash = (each for _, each in found)
    assert out is not None
    assert clash is not None
    assert out["shape"] == {"n": 33}
    assert clash["shape"] == {"n": 11}


def test_nothing_wraps_at_the_largest_numbers() -> None:
    buffers = [buffer("x", 2**64 - 1, per("n", 3), live_in=True)]
    document = plan(buffers, [node("i0", "x")], shape=dimensions(n=(1, 9)))
    ((rule, found),) = refuted(document)
    assert rule == "buffer.out-of-arena"
    assert found == {"kind": "shape", "shape": {"n": 1}, "overflow": True}
    assert [each.rule for each in audit(document).findings if each.severity == "error"] == [
        "buffer.overflow"
    ]


def test_unwritten_bytes_overlaps_in_part_and_lost_order_are_refuted() -> None:
    buffers = [buffer("x", 0, 8), buffer("left", None, 4, alias_of="x"), buffer("y", 2, 8)]
    nodes = [node("i0", "", "left"), node("i1", "x", "y", "i0"), node("i2", "", "left")]
    told = [rule for rule, _ in refuted(plan(buffers, nodes), "concurrent")]
    assert {"buffer.read-before-write", "buffer.partial-overlap", "buffer.overwritten"} <= set(told)


def drawn(draw: random.Random) -> Json:
    """A small plan with aliases, arms and a dimension."""
    buffers: list[Json] = []
    for index in range(draw.randint(2, 4)):
        more: Json = {"live_in": draw.random() < 0.4, "live_out": draw.random() < 0.2}
        if index and draw.random() < 0.3:
            more["alias_of"] = f"b{draw.randrange(index)}"
        size = draw.choice([0, 1, 2, 3, per("n", 1), per("n", 2, 1)])
        buffers.append(buffer(f"b{index}", draw.choice([0, 0, 1, 2, per("n", 1)]), size, **more))
    nodes: list[Json] = []
    for index in range(draw.randint(2, 5)):
        name = f"b{draw.randrange(len(buffers))} b{draw.randrange(len(buffers))}".split()
        after = " ".join(f"n{each}" for each in range(index) if draw.random() < 0.4)
        arms = draw.choice(["", "", "c=x", "c=y", "d=x", "c=x d=y"])
        reads = name[0] if draw.random() < 0.7 else ""
        nodes.append(node(f"n{index}", reads, name[1], after, arms=arms))
    return plan(buffers, nodes, shape=dimensions(n=(0, 3)))


@pytest.mark.parametrize("execution", ["in-order", "fenced", "concurrent"])
def test_checks_and_proofs_agree_on_plans_drawn_at_random(execution: Any) -> None:
    draw = random.Random(11)
    verdicts = set()
    for _ in range(25):
        document = drawn(draw)
        report = audit(document, execution=execution)
        assert [each for each in report.findings if each.family == "integrity"] == []
        assert report.verdict == audit(document, execution=execution, prove=False).verdict
        told = {"buffer.shared-while-live", "buffer.race", "buffer.overwritten"}
        shown = [each.counterexample for each in report.findings if each.rule in told]
        assert None not in shown
        verdicts.add(report.verdict)
    assert "violated" in verdicts


def on_one_place(count: int) -> Json:
    """Buffers that all hold the same bytes, and all live to the end."""
    names = [f"b{each}" for each in range(count)]
    nodes = [node(f"i{each}", "", name) for each, name in enumerate(names)]
    return plan([buffer(name, 0) for name in names], [*nodes, node("last", " ".join(names))])


def test_no_more_pairs_are_refuted_than_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(refuted(on_one_place(8))) == 28
    monkeypatch.setattr("ferrum_verify.prove.buffer_clashes.MAXIMUM_OF_A_RULE", 5)
    assert len(refuted(on_one_place(8))) == 5


@pytest.mark.parametrize("execution", ["in-order", "concurrent"])
def test_runs_are_shown_while_there_is_room_for_them(
    execution: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ferrum_verify.prove.buffer_runs.MOST_NODES", 3)
    found = refuted(on_one_place(8), execution)
    assert len(found) >= 28
    assert 1 <= sum(shown is not None for _, shown in found) <= 3
    report = audit(on_one_place(8), execution, prove=True)
    assert report.verdict == "violated"
    assert not [each for each in report.findings if each.rule.startswith("integrity.")]


def test_conditions_in_a_ring_are_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ferrum_verify.plan.reads.MOST_STEPS", 10_000)
    report = audit(ring(12), "in-order", prove=True)
    assert report.verdict == "verified"
    assert report.obligations is not None
    assert report.obligations.undecided == 0
