"""Buffer plans: which buffers clash, what is lost, and what was never written."""

from __future__ import annotations

from typing import Any

import pytest

from ferrum_verify import audit
from ferrum_verify.plan import reads as reads_module
from ferrum_verify.plan import uses as uses_module
from tests.buffer_plans import Json, buffer, dimensions, node, per, plan, ring

CLASH = "buffer.shared-while-live"


def told(document: Json, execution: Any = "in-order") -> list[tuple[str, str]]:
    """The rules that break, each with its message; notes left out."""
    report = audit(document, execution=execution, prove=False)
    return [(each.rule, each.message) for each in report.findings if each.severity != "note"]


def rules(document: Json, execution: Any = "in-order") -> list[str]:
    return [rule for rule, _ in told(document, execution)]


def test_a_value_that_is_overwritten_is_told_with_its_reader_in_the_users_own_names() -> None:
    document = plan(
        [buffer("x", 8, live_in=True), buffer("y", 0, label="f32[4]"), buffer("z", 0)],
        [
            node("i0", "x", "y", label="aten::mul.out"),
            node("i1", "x", "z"),
            node("i2", "y z", "x"),
        ],
    )
    assert told(document) == [
        (
            CLASH,
            "`y` (f32[4]) and `z` both hold bytes 0 to 3 of `a`: `i1` writes `z`, and `i2` still "
            "reads `y` (f32[4]).",
        )
    ]


def test_buffers_that_take_turns_are_safe_in_order_and_need_dependencies_elsewhere() -> None:
    buffers = [buffer("x", 8, live_in=True), buffer("y", 0), buffer("z", 0)]
    nodes = [node("i0", "x", "y"), node("i1", "y"), node("i2", "x", "z")]
    assert rules(plan(buffers, nodes)) == []
    for execution in ("fenced", "concurrent"):
        assert rules(plan(buffers, nodes), execution)[0] == CLASH
    nodes[1]["dependencies"], nodes[2]["dependencies"] = ["i0"], ["i1"]
    for execution in ("in-order", "fenced", "concurrent"):
        assert rules(plan(buffers, nodes), execution) == []


def test_a_barrier_keeps_apart_what_no_dependency_does() -> None:
    buffers = [buffer("x", 8, live_in=True), buffer("y", 0), buffer("z", 0), buffer("w", 16)]
    nodes = [node("i0", "x", "y"), node("i1", "x", "w"), node("i2", "w", "z", "i1")]
    assert rules(plan(buffers, nodes), "fenced") == []
    assert rules(plan(buffers, nodes), "concurrent") == [CLASH]


def test_each_write_is_held_to_the_readers_of_what_lay_there() -> None:
    buffers = [buffer("x", 0, live_in=True), buffer("y", 0)]
    nodes = [node("i0", "x"), node("i1", "", "y", "i0"), node("i2", "", "y")]
    assert rules(plan(buffers, nodes), "concurrent") == [CLASH, "buffer.race"]


def test_arms_of_one_condition_may_write_the_same_bytes() -> None:
    buffers = [buffer("x", 8, live_in=True), buffer("y", 0), buffer("z", 0)]
    nodes = [
        node("i0", "x", "y", arms="c=then"),
        node("i1", "x", "z", arms="c=else"),
        node("i2", "y", arms="c=then"),
        node("i3", "z", arms="c=else"),
    ]
    assert rules(plan(buffers, nodes)) == []
    nodes[3]["arms"] = nodes[1]["arms"] = [["d", "else"]]
    nodes.append(node("i4", arms="d=none"))
    (clash,) = told(plan(buffers, nodes))
    assert clash[0] == CLASH
    assert clash[1].endswith("where `c` takes `then` and `d` takes `else`.")


def test_a_read_needs_a_write_in_every_combination_of_arms() -> None:
    buffers = [buffer("x", 8, live_in=True), buffer("y", 0)]
    nodes = [
        node("i0", "x", "y", arms="c=then"),
        node("i1", "x", "y", arms="c=else d=then"),
        node("i2", arms="d=none"),
        node("i3", "y"),
    ]
    (missing,) = told(plan(buffers, nodes))
    assert missing == (
        "buffer.read-before-write",
        "`i3` reads `y`, and byte 0 of it is not written before, where `c` takes `else` and `d` "
        "takes `none`.",
    )
    nodes[2] |= {"writes": ["y"], "arms": [["c", "else"], ["d", "none"]]}
    assert rules(plan(buffers, nodes)) == []


def test_bytes_that_several_names_write_together_are_written() -> None:
    buffers = [
        buffer("whole", 0, per("n", 8)),
        buffer("left", None, per("n", 4), alias_of="whole"),
        buffer("right", per("n", 4), per("n", 4), alias_of="whole"),
    ]
    nodes = [node("i0", "", "left"), node("i1", "", "right"), node("i2", "whole")]
    document = plan(buffers, nodes, shape=dimensions(n=(1, 9)))
    assert rules(document) == []
    buffers[1]["bytes"] = per("n", 3, 2)
    (missing,) = told(document)
    assert missing[1] == ("`i2` reads `whole`, and byte 11 of it is not written before at n = 3.")


def test_what_outlives_the_nodes_is_read_at_the_end() -> None:
    buffers = [buffer("y", 0, live_out=True), buffer("z", 0)]
    assert rules(plan(buffers, [node("i0", "", "z")])) == ["buffer.read-before-write"]
    assert rules(plan(buffers, [node("i0", "", "y"), node("i1", "", "z")])) == [CLASH]
    assert rules(plan(buffers, [node("i1", "", "z"), node("i0", "", "y")])) == []


def test_what_is_there_from_the_start_lives_as_far_as_it_is_read() -> None:
    buffers = [buffer("x", 0, live_in=True), buffer("z", 0)]
    assert rules(plan(buffers, [node("i0", "", "z")])) == []
    assert rules(plan(buffers, [node("i0", "", "z"), node("i1", "x")])) == [CLASH]
    unread = [node("i0", "", "z", arms="c=x"), node("i1", "", "x"), node("i2", arms="c=y")]
    assert rules(plan(buffers, unread)) == []


def test_a_node_works_in_place_at_the_very_same_place_alone() -> None:
    buffers = [buffer("x", 0, live_in=True), buffer("y", 0), buffer("z", 2)]
    for execution in ("in-order", "fenced", "concurrent"):
        assert rules(plan(buffers, [node("i0", "x", "y")]), execution) == []
    assert rules(plan(buffers, [node("i0", "x", "z")])) == ["buffer.partial-overlap"]
    later = [node("i0", "x", "y"), node("i1", "x")]
    assert rules(plan(buffers, later)) == [CLASH]


def test_names_of_one_storage_are_held_to_each_other_byte_by_byte() -> None:
    buffers = [
        buffer("x", 0, 8),
        buffer("left", 0, 4, alias_of="x"),
        buffer("right", 4, 4, alias_of="x"),
    ]
    nodes = [node("i0", "", "left"), node("i1", "", "right"), node("i2", "left")]
    assert rules(plan(buffers, nodes), "concurrent") == ["buffer.race"]
    nodes[2]["dependencies"] = ["i0"]
    assert rules(plan(buffers, nodes), "concurrent") == []
    nodes.append(node("i3", "", "x", "i1"))
    assert rules(plan(buffers, nodes), "concurrent") == ["buffer.overwritten"]


def test_symbolic_bytes_meet_at_the_shape_that_is_told() -> None:
    buffers = [
        buffer("x", 0, per("n", 4), live_in=True),
        buffer("y", 40, per("n", 2), live_out=True),
    ]
    nodes = [node("i0", "", "y"), node("i1", "x")]
    assert rules(plan(buffers, nodes, shape=dimensions(n=(1, 10)))) == []
    (clash,) = told(plan(buffers, nodes, shape=dimensions(n=(1, 11))))
    assert "bytes 40 to 43 of `a` at n = 11" in clash[1]


def test_all_faults_of_names_and_places_are_told_at_once() -> None:
    document = plan(
        [
            buffer("x", 1020, 8),
            buffer("x", 0, 4),
            buffer("y", 0, per("m", 1)),
            buffer("z", None, alias_of="lost"),
            buffer("c0", None, alias_of="c1"),
            buffer("c1", None, alias_of="c0"),
            buffer("big", 2**64 - 4, 8),
            {"id": "nowhere", "bytes": 4},
        ],
        [node("i0", "x none", "y", "i0"), node("i0", "", "", "i9")],
    )
    assert sorted(rules(document)) == [
        "buffer.alias-circle",
        "buffer.duplicate-id",
        "buffer.no-place",
        "buffer.out-of-arena",
        "buffer.overflow",
        "buffer.unknown-buffer",
        "buffer.unknown-buffer",
        "buffer.unknown-dimension",
        "graph.cycle",
        "graph.duplicate-node",
        "graph.unknown-dependency",
    ]


def test_a_note_on_a_node_leaves_the_plan_undecided_and_hides_no_fault() -> None:
    buffers = [buffer("x", 0, live_in=True), buffer("z", 0)]
    note = {"text": "a custom call", "nodes": ["i0"]}
    document = plan(buffers, [node("i0", "x")], notes=[{"text": "for one device"}, note])
    assert audit(document, "in-order", prove=False).verdict == "undecided"
    document["nodes"] = [node("i0", "", "z"), node("i1", "x")]
    assert audit(document, "in-order", prove=False).verdict == "violated"
    document = plan(buffers, [node("i0", "x")], notes=[{"text": "for one device"}])
    assert audit(document, "in-order", prove=False).verdict == "verified"


@pytest.mark.parametrize("judge", ["safety", "conformance"])
def test_there_is_nothing_to_conform_to(judge: Any) -> None:
    document = plan([buffer("x", 0, live_in=True)], [node("i0", "x")])
    report = audit(document, judge=judge, prove=False)
    assert report.verdict == ("verified" if judge == "safety" else "undecided")


@pytest.mark.parametrize("module", [reads_module, uses_module])
def test_limits_leave_what_lies_behind_them_open(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_STEPS", 1)
    monkeypatch.setattr("ferrum_verify.plan.order.MAXIMUM_NODES", 1)
    buffers = [buffer("x", 0, live_in=True), buffer("y", 8)]
    nodes = [node("i0", "x", "y"), node("i1", "y", "x", "i0"), node("i2", "x y", "", "i1")]
    report = audit(plan(buffers, nodes), "concurrent", prove=False)
    assert report.verdict == "undecided"
    assert {each.rule for each in report.findings if each.undecided} == {"buffer.undecided"}


def test_cases_of_bytes_that_depend_on_different_conditions_are_not_multiplied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # 2 ** 30 runs; of each byte there are four cases.
    monkeypatch.setattr(reads_module, "MOST_STEPS", 10_000)
    document = ring(30)
    assert rules(document) == []
    del document["nodes"][17 * 4 + 1]
    ((rule, message),) = told(document)
    assert rule == "buffer.read-before-write"
    assert message == (
        "`last` reads `x`, and byte 17 of it is not written before, where `c17` takes `t` and "
        "`c18` takes `f`."
    )


def test_what_takes_too_many_cases_is_told_with_its_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reads_module, "MOST_STEPS", 1_000)
    report = audit(ring(30), "in-order", prove=False)
    (finding,) = [each for each in report.findings if each.undecided]
    assert finding.location == "/nodes/120"
    assert "1,000,000 cases" in finding.message
    assert "reached at `last`, which reads `x`" in finding.message


def test_pairs_that_take_too_many_cases_are_told_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ferrum_verify.plan.clashes.MOST_TRIES", 1)
    buffers = [buffer("y", 0), buffer("z", 0)]
    document = plan(buffers, [node("i0", "", "y"), node("i1", "", "z"), node("i2", "y z")])
    report = audit(document, "in-order", prove=False)
    (finding,) = [each for each in report.findings if each.undecided]
    assert finding.location == "/buffers/1"
    assert "reached at `y` and `z`" in finding.message


def test_a_note_on_what_the_plan_does_not_have_is_told_once() -> None:
    buffers = [buffer("x", 0, live_in=True)]
    lost = {"text": "a custom call", "nodes": ["lost"]}
    assert told(plan(buffers, [node("i0", "x")], notes=[lost])) == [
        (
            "buffer.unknown-of-note",
            'The note is about `lost`, which is none of the plan\'s nodes: "a custom call".',
        )
    ]
    some = {"text": "a custom call", "nodes": ["lost", "i0"]}
    found = told(plan(buffers, [node("i0", "x")], notes=[some]))
    assert [rule for rule, _ in found] == ["buffer.unknown-of-note", "buffer.not-understood"]
    assert found[1][1].startswith("Of node `i0` the plan says")
