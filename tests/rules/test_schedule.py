"""What a schedule means, edge by edge: what each action orders, and what it does not."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify import audit, check_counterexample
from ferrum_verify.catalogue import catalogue
from ferrum_verify.catalogue.examples import broken_document
from ferrum_verify.catalogue.samples import sample
from tests.definition.drafts import chain, handed_in_late, rows_of
from tests.definition.planning import settle
from tests.definition.schedules import small_plan

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]


def launch(node: str, stream: str) -> Json:
    return {"launch": node, "stream": stream}


def record(event: str, stream: str) -> Json:
    return {"record": event, "stream": stream}


def wait(event: str, stream: str) -> Json:
    return {"wait": event, "stream": stream}


def synchronize(**what: str) -> Json:
    return {"synchronize": what}


def access(resource: str, mode: str = "read", name: str = "host/x") -> Json:
    return {"access": resource, "mode": mode, "name": name}


def of(*host: Json, **steps: Any) -> Json:
    schedule: Json = {"schema": "ferrum-verify/schedule/v1", "host": list(host)}
    return schedule | ({"steps": steps} if steps else {})


def node(name: str, *needs: str, reads: str = "", writes: str = "") -> Json:
    read, written = ([f"act/{each}" for each in text] for text in (reads, writes))
    return {
        "id": name,
        "dependencies": sorted(needs),
        "resources": sorted({*read, *written}),
        "reads": read,
        "writes": written,
    }


PAIR = small_plan([node("a", writes="x"), node("b", "a", reads="x", writes="y")])


def told(plan: Json, schedule: Json) -> set[str]:
    """The rules that are broken; every counterexample of an order is one of the schedule."""
    report = audit(plan, schedule=schedule)
    for finding in report.findings:
        if finding.counterexample is not None:
            assert check_counterexample(plan, finding.counterexample, schedule=schedule)
        elif finding.rule.partition(".")[2] in ("race", "dependency-not-kept", "shared-while-live"):
            raise AssertionError(finding.message)
    assert "integrity.proof-disagreement" not in {finding.rule for finding in report.findings}
    rules = {finding.rule for finding in report.findings if finding.severity != "note"}
    concrete = audit(plan, prove=False, schedule=schedule).findings
    assert rules == {finding.rule for finding in concrete if finding.severity != "note"}
    return rules


def test_a_lost_dependency_names_the_launches(tmp_path: Path) -> None:
    problem = sample("problem")
    apart = of(*(launch(each["id"], each["id"]) for each in problem["nodes"]))
    path = tmp_path / "apart.json"
    path.write_text(json.dumps(apart))
    lost = [
        each.message
        for each in audit(problem, prove=False, schedule=path).findings
        if each.rule == "schedule.dependency-not-kept"
    ]
    assert f"nothing in the schedule {path}, which launches them at /host/0 and /host/1," in lost[0]


LOST = {"schedule.dependency-not-kept"}


@pytest.mark.parametrize(
    ("host", "broken"),
    [
        # A stream keeps its nodes in order; two streams keep nothing.
        ([launch("a", "s"), launch("b", "s")], set()),
        ([launch("a", "s"), launch("b", "t")], LOST),
        ([launch("b", "s"), launch("a", "s")], LOST),
        # An event, recorded after and waited for before.
        ([launch("a", "s"), record("e", "s"), wait("e", "t"), launch("b", "t")], set()),
        ([record("e", "s"), launch("a", "s"), wait("e", "t"), launch("b", "t")], LOST),
        ([launch("a", "s"), record("e", "s"), launch("b", "t"), wait("e", "t")], LOST),
        # What stood when the host came to the wait counts, and no later record.
        (
            [
                launch("a", "s"),
                record("e", "s"),
                wait("e", "t"),
                record("e", "u"),
                launch("b", "t"),
            ],
            set(),
        ),
        (
            [
                launch("a", "s"),
                record("e", "s"),
                record("e", "u"),
                wait("e", "t"),
                launch("b", "t"),
            ],
            LOST,
        ),
        # An event stands for what its stream was made to wait for, too.
        (
            [
                launch("a", "s"),
                record("e", "s"),
                wait("e", "u"),
                record("f", "u"),
                wait("f", "t"),
                launch("b", "t"),
            ],
            set(),
        ),
        # The host waits for a stream, for what the stream waits for, or for an event.
        ([launch("a", "s"), synchronize(stream="s"), launch("b", "t")], set()),
        ([launch("a", "s"), synchronize(stream="t"), launch("b", "t")], LOST),
        (
            [
                launch("a", "s"),
                record("e", "s"),
                wait("e", "u"),
                synchronize(stream="u"),
                launch("b", "t"),
            ],
            set(),
        ),
        ([launch("a", "s"), record("e", "s"), synchronize(event="e"), launch("b", "t")], set()),
        # To wait for nothing orders nothing.
        (
            [wait("e", "t"), launch("a", "s"), record("e", "s"), launch("b", "t")],
            LOST | {"schedule.event-never-recorded"},
        ),
    ],
)
def test_what_orders_two_nodes(host: list[Json], broken: set[str]) -> None:
    assert told(PAIR, of(*host)) == broken


def test_a_stream_that_nothing_is_launched_on_is_named() -> None:
    host = [launch("a", "s"), launch("b", "s"), synchronize(stream="t")]
    assert told(PAIR, of(*host)) == {"schedule.stream-never-used"}
    # A stream that is made to wait stands for what it waits for.
    waits = [host[0], record("e", "s"), wait("e", "t"), host[1], host[2]]
    assert told(PAIR, of(*waits)) == set()


def test_what_keeps_two_nodes_apart_is_no_dependency() -> None:
    report = audit(PAIR, schedule=of(launch("a", "s"), launch("b", "s"), access("act/y")))
    (race,) = (each for each in report.findings if each.rule == "graph.race")
    assert race.fix is not None
    assert "event" in race.fix
    assert "dependency" not in race.fix


def test_a_dependency_orders_nothing_by_itself_and_its_run_is_shown() -> None:
    report = audit(PAIR, schedule=of(launch("a", "s"), launch("b", "t")))
    (finding,) = (each for each in report.findings if each.severity == "error")
    assert finding.location == "/nodes/1"
    assert finding.counterexample is not None
    assert finding.counterexample.to_wire() == {
        "kind": "dependency",
        "nodes": [
            {"id": "a", "start": 0, "end": 1, "stream": "s"},
            {"id": "b", "start": 0, "end": 1, "stream": "t"},
        ],
        "node": "b",
        "dependency": "a",
    }
    assert report.execution == "schedule"
    assert not check_counterexample(PAIR, finding.counterexample)


def test_the_host_reads_when_it_comes_to_it() -> None:
    host = [launch("a", "s"), launch("b", "s"), access("act/y")]
    assert told(PAIR, of(*host)) == {"graph.race"}
    assert told(PAIR, of(*host[:2], synchronize(stream="s"), host[2])) == set()
    # It goes on when it has: what is launched later starts after the access.
    assert told(PAIR, of(access("act/x", "write"), *host[:2])) == set()
    assert told(PAIR, of(host[0], access("act/x", "write"), host[1])) == {"graph.race"}


TWO_STREAMS = (launch("a", "s"), record("e", "s"), wait("e", "t"), launch("b", "t"))


def test_a_buffer_is_refilled_while_it_is_read() -> None:
    assert told(PAIR, of(*TWO_STREAMS, in_flight=1)) == set()
    assert told(PAIR, of(*TWO_STREAMS, in_flight=2)) == {"graph.race"}
    assert told(PAIR, of(*TWO_STREAMS, in_flight=2, buffers={"act/x": 2})) == set()
    assert told(PAIR, of(*TWO_STREAMS, in_flight=3, buffers={"act/x": 2})) == {"graph.race"}
    # The next step's `a` waits for this one's `b`, whatever the host does.
    chained = [wait("f", "s"), *TWO_STREAMS, record("f", "t")]
    assert told(PAIR, of(*chained, in_flight=3)) == set()


def test_steps_are_named_by_the_run_that_is_shown() -> None:
    report = audit(PAIR, schedule=of(*TWO_STREAMS, in_flight=2))
    (finding,) = (each for each in report.findings if each.severity == "error")
    assert finding.message == (
        "`b` of step 0 reads and `a` of step 1 writes bytes 0 to its end of `act/x`, and neither "
        "need wait for the other."
    )
    assert finding.counterexample is not None
    wire = finding.counterexample.to_wire()
    assert (wire["writer"], wire["other"]) == (
        {"node": "a", "step": 1},
        {"node": "b", "mode": "read", "step": 0},
    )


def test_carried_dependencies_must_follow_and_make_no_order() -> None:
    carried = [{"from": "b", "to": "a", "distance": 1}]
    assert told(PAIR, of(*TWO_STREAMS, in_flight=1, carried=carried)) == set()
    assert told(PAIR, of(*TWO_STREAMS, in_flight=2, carried=carried)) == LOST
    further = [{"from": "b", "to": "a", "distance": 2}]
    buffers = {"act/x": 2}
    assert told(PAIR, of(*TWO_STREAMS, in_flight=2, carried=further, buffers=buffers)) == set()


def test_a_lost_dependency_does_not_hide_its_reverse() -> None:
    # `b` of a step starts before `a` of it has ended, and before `a` of the step before; that `a`
    # of the next step overwrites what `b` reads is another fault.
    host = [launch("a", "s"), launch("b", "t")]
    carried = [{"from": "a", "to": "b", "distance": 1}]
    assert told(PAIR, of(*host, in_flight=1)) == LOST
    assert told(PAIR, of(*host, in_flight=2)) == {*LOST, "graph.race"}
    report = audit(PAIR, schedule=of(*host, in_flight=2, carried=carried))
    assert told(PAIR, of(*host, in_flight=2, carried=carried)) == {*LOST, "graph.race"}
    (race,) = (each for each in report.findings if each.rule == "graph.race")
    assert "`b` of step 0 reads and `a` of step 1 writes" in race.message


def test_a_node_that_nothing_waits_for_lags_for_ever() -> None:
    report = audit(PAIR, schedule=of(*TWO_STREAMS, carried=[]))
    (lag,) = (each for each in report.findings if each.rule == "schedule.lags-for-ever")
    assert lag.undecided
    assert lag.message.startswith("`b` may lag behind for ever")
    assert report.verdict == "violated"
    doubled = {"act/x": 2, "act/y": 2}
    still = told(PAIR, of(*TWO_STREAMS, buffers=doubled))
    assert "schedule.lags-for-ever" in still
    assert told(PAIR, of(launch("a", "s"), launch("b", "s"), carried=[])) == set()


def test_members_of_a_slot_have_the_same_number_of_buffers() -> None:
    nodes = [
        node("a", writes="x"),
        node("b", "a", reads="x", writes="y"),
        node("c", "b", reads="y", writes="z"),
    ]
    plan = small_plan(nodes)
    assert ["act/x", "act/z"] in [
        slot["resource_ids"] for slot in plan["memory"]["dynamic_pools"][0]["step_resource_slots"]
    ]
    host = [launch(name, "s") for name in "abc"]
    assert told(plan, of(*host, buffers={"act/x": 2})) == {"schedule.buffers-differ"}
    assert told(plan, of(*host, buffers={"act/x": 2, "act/z": 2})) == set()


def test_states_and_weights_have_one_buffer() -> None:
    plan = sample("fragment")
    host = [launch(each["id"], "s") for each in plan["nodes"]]
    for kept in ("state/cache", "weight/embed", "input/tokens"):
        assert told(plan, of(*host, buffers={kept: 2})) == {"schedule.buffers-of-kept"}
        assert told(plan, of(*host, buffers={kept: 1})) == set()


def test_a_state_is_not_buffered_whatever_the_schedule_says() -> None:
    nodes = [{"id": "a", "dependencies": [], "resources": ["state"], "reads": [], "writes": []}]
    nodes.append(nodes[0] | {"id": "b", "reads": ["state"]})
    nodes[0] = nodes[0] | {"writes": ["state"]}
    plan = small_plan([*nodes, node("c", writes="x")])
    host = [*TWO_STREAMS, launch("c", "s")]
    said = told(plan, of(*host, in_flight=2, buffers={"state": 2}))
    assert said == {"graph.race", "schedule.buffers-of-kept"}


def test_rows_of_one_extent_are_kept_apart() -> None:
    plan = sample("fragment")
    schedule = sample("schedule")
    assert told(plan, schedule) == set()
    names = [each["id"] for each in plan["nodes"]]
    apart = of(*(launch(name, "s") for name in names[:-1]), launch(names[-1], "t"))
    assert "liveness.rows-overlap" in told(plan, apart)


def test_lives_of_nodes_that_say_nothing_are_kept_apart_from_step_to_step() -> None:
    silent = [
        {key: value for key, value in each.items() if key not in ("reads", "writes")}
        for each in PAIR["nodes"]
    ]
    plan = PAIR | {"nodes": silent}
    assert told(plan, of(*TWO_STREAMS, in_flight=2)) == {"slot.shared-while-live"}
    assert told(plan, of(*TWO_STREAMS, in_flight=2, buffers={"act/x": 2})) == set()


def test_who_reads_too_late_is_told_under_a_schedule_too() -> None:
    overwritten = catalogue()["value.overwritten"].example
    assert overwritten is not None
    bundle = broken_document(overwritten)
    host = [launch(each["id"], "s") for each in bundle["plan"]["payload"]["nodes"]]
    assert told(bundle, of(*host)) == {"value.overwritten", *overwritten.also}
    assert told(bundle, of(*host, in_flight=2)) == {"value.overwritten", *overwritten.also}


def test_a_schedule_alone_is_undecided() -> None:
    report = audit(of(launch("a", "s")))
    assert report.verdict == "undecided"
    assert [each.rule for each in report.findings] == ["schedule.plan-missing"]


def test_a_schedule_that_cannot_be_read_leaves_order_open(tmp_path: Any) -> None:
    missing = audit(PAIR, schedule=tmp_path / "none.json")
    assert [each.verdict for each in missing.documents] == ["undecided", "unreadable"]
    assert missing.exit_status == 2
    faulty = audit(PAIR, schedule=of(launch("a", "s")) | {"host": [{"lunch": "a"}]})
    assert [each.verdict for each in faulty.documents] == ["undecided", "violated"]
    assert {each.rule for each in faulty.documents[1].findings} == {"wire.type"}
    other = audit(PAIR, schedule=sample("catalog"))
    assert [each.rule for each in other.documents[1].findings] == ["wire.unknown-kind"]
    lines = tmp_path / "two.jsonl"
    lines.write_text("{}\n{}\n")
    assert audit(PAIR, schedule=lines).documents[1].verdict == "unreadable"


def test_a_field_too_many_is_read_past() -> None:
    schedule = of(launch("a", "s"), launch("b", "t")) | {"comment": "by hand"}
    report = audit(PAIR, schedule=schedule)
    assert {each.rule for each in report.documents[0].findings} == LOST
    assert [each.rule for each in report.documents[1].findings] == ["wire.unknown-field"]


def test_steps_of_too_many_nodes_stay_open(monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = of(*TWO_STREAMS, in_flight=3, buffers={"act/x": 3, "act/y": 3})
    assert told(PAIR, schedule) == set()
    monkeypatch.setattr("ferrum_verify.plan.unrolling.MAXIMUM_NODES", 6)
    assert told(PAIR, schedule) == {"schedule.too-many-nodes"}
    monkeypatch.setattr("ferrum_verify.rules.expected.MAXIMUM_NODES", 1)
    assert told(PAIR, of(*TWO_STREAMS)) == {"schedule.too-many-nodes"}


def test_a_problem_is_judged_under_a_schedule_as_its_plan() -> None:
    problem = sample("problem")
    one = of(*(launch(each["id"], "s") for each in problem["nodes"]))
    assert told(problem, one) == set()
    apart = of(*(launch(each["id"], each["id"]) for each in problem["nodes"]))
    assert "schedule.dependency-not-kept" in {
        each.rule for each in audit(problem, schedule=apart).findings
    }


def nodes_in_order(plan: Json) -> list[Json]:
    return [launch(each["id"], "s") for each in plan["plan"]["payload"]["nodes"]]


def handed(after: int) -> tuple[Json, Json]:
    """A plan that is handed a value in bytes its first nodes use, by the host after so many."""
    plan = handed_in_late()
    settle(plan)
    nodes = nodes_in_order(plan)
    between = [synchronize(stream="s"), access("r/late", "write", "host/hands-in")]
    return plan, of(*nodes[:after], *between, *nodes[after:])


def test_an_input_is_lost_unless_the_host_hands_it_in_later() -> None:
    plan, in_time = handed(after=2)
    lost = {"value.input-lost"}
    safety = {
        finding.rule
        for finding in audit(plan, schedule=in_time, judge="safety").findings
        if finding.severity == "error"
    }
    assert safety == set()
    for steps in ({}, {"in_flight": 2}):
        schedule = of(*nodes_in_order(plan), **steps)
        assert told(plan, schedule) & {*lost, "slot.shared-while-live"} == lost
    found = next(f for f in audit(plan, schedule=schedule).findings if f.rule in lost)
    # What the host puts back in between is not lost.
    assert found.counterexample is not None
    wire = found.counterexample.to_wire()
    first, second, last = ({**each, "step": 0} for each in wire["nodes"])
    hands_in = {"id": "host/hands-in", "start": 2, "end": 3}
    wire["nodes"] = [first, second, hands_in, last | {"start": 3, "end": 4}]
    for resource, is_lost in (("r/late", False), ("r/third", True)):
        host = [
            each | ({"access": resource} if "access" in each else {}) for each in in_time["host"]
        ]
        assert check_counterexample(plan, wire, schedule=of(*host)) == is_lost


def handed_in() -> Json:
    """A plan that is handed a value for its first node, in bytes that its second node has then."""
    document = chain()
    rows_of(document)["r/in"]["lifetime"] = "step"
    return settle(document)


IN = access("r/in", "write", "host/in")


@pytest.mark.parametrize(
    ("before", "after", "steps", "broken"),
    [
        # The host waits for all of a step, or at its end for the stream: then it can hand in.
        ([], [], {}, set()),
        ([], [], {"in_flight": 1}, set()),
        ([], [synchronize(stream="s")], {"in_flight": 2}, set()),
        ([], [], {"in_flight": 2}, {"value.input-lost"}),
        ([], [], {"carried": []}, {"value.input-lost"}),
        # Steps that are two apart use the same bytes.
        ([], [], {"in_flight": 2, "buffers": {"r/in": 2, "r/second": 2}}, set()),
        ([], [], {"in_flight": 3, "buffers": {"r/in": 2, "r/second": 2}}, {"value.input-lost"}),
        # What the host says that it writes is judged as that.
        ([synchronize(stream="s"), IN], [], {"in_flight": 2}, set()),
        ([IN], [], {"in_flight": 2}, {"slot.shared-while-live", "value.overwritten"}),
    ],
)
def test_an_input_stands_again_when_the_next_step_begins(
    before: list[Json], after: list[Json], steps: Json, broken: set[str]
) -> None:
    plan = handed_in()
    assert told(plan, of(*before, *nodes_in_order(plan), *after, **steps)) == broken


def test_who_may_still_use_an_input_s_bytes_is_named_and_shown() -> None:
    plan = handed_in()
    schedule = of(*nodes_in_order(plan), in_flight=2)
    (finding,) = audit(plan, schedule=schedule).findings
    assert "when step 1 begins, but `b` of step 0 may still use its bytes" in finding.message
    assert finding.fix is not None
    assert "`access`" in finding.fix
    assert finding.counterexample is not None
    wire = finding.counterexample.to_wire()
    assert (wire["writer"], wire["other"]) == (
        {"node": "b", "step": 0},
        {"node": "a", "mode": "read", "step": 1},
    )


def test_steps_that_are_too_far_apart_leave_an_input_open() -> None:
    plan = handed_in()
    buffers = {"r/in": 2000, "r/second": 2000}
    schedule = of(*nodes_in_order(plan), in_flight=5000, buffers=buffers)
    assert told(plan, schedule) == {"schedule.too-many-nodes"}


def test_however_many_steps_are_in_flight_the_answer_comes_soon() -> None:
    silent = [
        {key: value for key, value in each.items() if key not in ("reads", "writes")}
        for each in PAIR["nodes"]
    ]
    for plan in (PAIR, PAIR | {"nodes": silent}):
        started = time.perf_counter()
        report = audit(plan, schedule=of(*TWO_STREAMS, in_flight=2**32 - 1))
        assert time.perf_counter() - started < 20
        (limit,) = (f for f in report.findings if f.rule == "schedule.too-many-nodes")
        assert limit.undecided
        assert "at most 512 steps with 8,192 nodes" in limit.message
    # Streams that keep steps in order need no more than two of them.
    in_turn = of(launch("a", "s"), launch("b", "s"), in_flight=2**32 - 1)
    assert audit(PAIR, schedule=in_turn).verdict == "verified"


def test_an_input_that_is_handed_in_too_early_is_live_beside_another() -> None:
    plan, schedule = handed(after=1)
    assert "slot.shared-while-live" in told(plan, schedule)
    assert "value.input-lost" not in told(plan, schedule)
