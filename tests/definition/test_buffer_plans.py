"""The definition of buffer plans on plans judged by hand, and the verifier held to it."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tests.definition.buffer_draws import draw
from tests.definition.buffer_plans import faults
from tests.definition.buffer_sweep import swept
from tests.definition.buffer_tape import faults_in_order
from tests.definition.runs import MODELS

Json = Any


def node(name: str, reads: str = "", writes: str = "", *after: str, arms: Any = ()) -> Json:
    made: Json = {"id": name, "reads": reads.split(), "writes": writes.split()}
    return made | {"dependencies": list(after), "arms": [list(arm) for arm in arms]}


def plan(*nodes: Json, **buffers: Json) -> Json:
    made = [
        {"id": name, **({} if "alias_of" in each else {"arena": "a"}), **each}
        for name, each in buffers.items()
    ]
    return {
        "shape": {"m": {"minimum": 1, "maximum": 2}},
        "arenas": {"a": {"bytes": 8, "alignment": 2}},
        "buffers": made,
        "nodes": list(nodes),
    }


def kinds(document: Json, model: str = "in-order") -> set[str]:
    return {each.kind for each in faults(document, model)}


LOW, HIGH = {"offset": 0, "bytes": 4}, {"offset": 4, "bytes": 4}
ACROSS = {"offset": 2, "bytes": 4}
CHAIN = (node("n0", "", "x"), node("n1", "x", "y", "n0"), node("n2", "y", "", "n1"))


@pytest.mark.parametrize("model", MODELS)
def test_buffers_that_lie_apart_lose_nothing(model: str) -> None:
    assert kinds(plan(*CHAIN, x=LOW, y=HIGH), model) == set()


def test_work_in_place_is_fine_and_a_partial_overlap_is_not() -> None:
    assert kinds(plan(*CHAIN, x=LOW, y=LOW)) == set()
    assert "partial" in kinds(plan(*CHAIN, x=LOW, y=ACROSS))


def test_work_in_place_is_not_fine_where_somebody_reads_the_old_value() -> None:
    late = (*CHAIN, node("n3", "x", "", "n0"))
    assert kinds(plan(*late, x=LOW, y=LOW)) == {"lost", "together"}
    before = (CHAIN[0], node("n3", "x", "", "n0"), *CHAIN[1:])
    assert kinds(plan(*before, x=LOW, y=LOW)) == set()
    assert kinds(plan(*before, x=LOW, y=LOW), "concurrent") == {"lost", "together"}


def test_a_byte_is_read_after_it_is_written() -> None:
    assert kinds(plan(node("n0", "x"), x=LOW)) == {"unwritten"}
    assert kinds(plan(node("n0", "x"), x=LOW | {"live_in": True})) == set()
    assert kinds(plan(node("n0"), x=LOW | {"live_out": True})) == {"unwritten"}
    half = plan(node("n0", "", "h"), node("n1", "x"), x=LOW, h={"alias_of": "x", "bytes": 2})
    assert kinds(half) == {"unwritten"}


def test_arms_exclude_each_other() -> None:
    yes, no = (("c", "yes"),), (("c", "no"),)
    arms = (node("n0", "", "x", arms=yes), node("n1", "", "y", arms=no))
    assert kinds(plan(*arms, x=LOW, y=LOW), "concurrent") == set()
    assert kinds(plan(*arms, node("n2", "x", arms=yes), x=LOW, y=LOW)) == set()
    assert kinds(plan(*arms, node("n2", "x"), x=LOW, y=LOW)) == {"unwritten"}


def test_what_lives_out_is_not_written_over() -> None:
    pair = (node("n0", "", "x"), node("n1", "", "y", "n0"))
    assert kinds(plan(*pair, x=LOW, y=LOW)) == set()
    assert kinds(plan(*pair, x=LOW | {"live_out": True}, y=LOW)) == {"lost", "together"}
    assert kinds(plan(*pair, x=LOW | {"live_in": True}, y=LOW)) == set()


def test_accesses_of_one_buffer_wait_for_each_other() -> None:
    pair = (node("n0", "", "x"), node("n1", "", "x"))
    assert [kinds(plan(*pair, x=LOW), model) for model in MODELS] == [set(), {"race"}, {"race"}]


@pytest.mark.parametrize(
    ("buffer", "fits"),
    [
        ({"offset": 4, "bytes": 5}, False),
        ({"offset": 3, "bytes": 1}, False),
        ({"offset": {"fixed": 2, "per": {"m": 2}}, "bytes": 2}, True),
        ({"offset": 0, "bytes": {"fixed": 1, "per": {"m": 4}}}, False),
        ({"offset": 4, "bytes": {"per": {"m": 2}}}, True),
    ],
)
def test_a_buffer_lies_in_its_arena_aligned(buffer: Json, fits: bool) -> None:
    assert kinds(plan(node("n0"), x=buffer)) == (set() if fits else {"misplaced"})


def test_the_two_ways_to_play_a_plan_in_order_agree() -> None:
    random = Random(3)
    sound = 0
    for _ in range(300):
        document = draw(random)
        brute = {(each.kind, each.about) for each in faults(document, "in-order")}
        played = faults_in_order(document)
        assert bool(brute) == bool(played), document
        for kind in ("misplaced", "partial", "unwritten", "together"):
            told = [{each for each in found if each[0] == kind} for found in (brute, played)]
            assert told[0] == told[1], document
        sound += not brute
    assert 60 < sound < 240


@pytest.mark.parametrize(("which", "count"), [("plans", 120), ("mutants", 40)])
def test_the_verifier_agrees_with_the_definition(which: str, count: int) -> None:
    counts, apart = swept(which, 11, count)
    assert apart == {}
    assert {outcome.word for outcome in counts} == {"verified", "violated"}
