"""The sweep asks about as many pairs as it takes, and about every pair that matters."""

from __future__ import annotations

import random

import pytest

from ferrum_verify.documents.buffer_plan import BufferPlan
from ferrum_verify.plan import sweep
from ferrum_verify.plan.order import HappensBefore
from ferrum_verify.plan.storages import Storages, box_of
from ferrum_verify.plan.sweep import TooManyQuestionsError, neighbours
from ferrum_verify.plan.uses import Runs
from ferrum_verify.reading.parts import nodes_of
from tests.buffer_plans import Json, buffer, node, plan


def asked(document: Json, execution: str = "in-order") -> tuple[list[tuple[int, int]], Storages]:
    read = BufferPlan.model_validate(document)
    storages = Storages(read, read.nodes, box_of(read))
    runs = Runs(HappensBefore(nodes_of(read.nodes)), execution)  # type: ignore[arg-type]
    questions = neighbours(storages.regions)
    pairs: list[tuple[int, int]] = []
    answer = None
    while True:
        try:
            pair = next(questions) if answer is None else questions.send(answer)
        except StopIteration:
            return pairs, storages
        answer = runs.has_ended(*pair)
        pairs.append((pair[0].storage, pair[1].storage))


def test_buffers_that_take_turns_are_asked_about_their_neighbours_alone() -> None:
    count = 300
    buffers = [buffer(f"b{index}", 64 * (index % 4), 64) for index in range(count)]
    nodes = [node(f"n{index}", writes=f"b{index}") for index in range(count)]
    pairs, _ = asked(plan(buffers, nodes))
    assert pairs == [(index - 4, index) for index in range(4, count)]


def test_every_pair_that_is_alive_together_in_the_same_bytes_is_asked_about() -> None:
    draw = random.Random(3)
    clashing = 0
    for _ in range(200):
        buffers = [buffer(f"b{i}", draw.randint(0, 12), draw.randint(0, 6)) for i in range(6)]
        nodes = [
            node(f"n{i}", writes=f"b{draw.randrange(6)}", reads=f"b{draw.randrange(6)}")
            for i in range(8)
        ]
        pairs, storages = asked(plan(buffers, nodes))
        told = {frozenset(pair) for pair in pairs}
        regions = [each for each in storages.regions if any(use.write for use in each.uses)]
        for one in regions:
            for other in regions:
                meet = max(one.lowest, other.lowest) < min(one.highest, other.highest)
                if one is not other and meet and one.first <= other.first <= one.last:
                    clashing += 1
                    assert frozenset((one.storage, other.storage)) in told
    assert clashing > 100


def test_a_limit_bounds_the_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "MOST_QUESTIONS", 100)
    buffers = [buffer(f"b{index}", 0, 64, live_in=True, live_out=True) for index in range(20)]
    with pytest.raises(TooManyQuestionsError):
        asked(plan(buffers, [node("n", reads=" ".join(f"b{i}" for i in range(20)))]))
