"""Runs of a schedule are drawn with a lane for each stream, and one for the host."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ferrum_verify import audit
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.report.formats import FORMATS, Screen, render
from ferrum_verify.report.html.schedules import counterexample_data
from ferrum_verify.report.timeline import counterexample_lines


def broken() -> Any:
    """The sample's schedule without the wait for the other stream."""
    schedule = sample("schedule")
    del schedule["host"][6]
    return audit(sample("fragment"), schedule=schedule)


REPORT = broken()
FOUND = {each.rule: each.counterexample for each in REPORT.findings}


def test_a_lane_has_all_nodes_of_its_stream() -> None:
    found = FOUND["graph.race"]
    assert found is not None
    assert counterexample_lines(found, 76) == [
        "at time 6 both need byte 0 of act/embedded:",
        "  A  written by node/embed of step 1",
        "  B  read by node/key of step 0",
        "stream main           --------------------    AAAA",
        "  node/embed (0)      ----",
        "  node/query (0)          ----",
        "  node/attention (0)          ----",
        "  node/output (0)                 ----",
        "  node/head (0)                       ----",
        "  node/embed (1)                              AAAA",
        "host                                      ----",
        "  host/sample (0)                         ----",
        "stream side                                   BBBB",
        "  node/key (0)                                BBBB",
        "                                              ^ time 6",
    ]


def test_a_dependency_that_is_not_kept_is_drawn() -> None:
    found = FOUND["schedule.dependency-not-kept"]
    assert found is not None
    lines = counterexample_lines(found, 76)
    assert lines[:3] == [
        "at time 2 B starts, and A has not ended:",
        "  A  node/key of step 0",
        "  B  node/attention of step 0, which depends on it",
    ]
    data = counterexample_data(found, None)
    assert data["words"] == "A has not ended, and B, which depends on it, has started"
    assert [
        (node["name"], node["lane"], node["left"], node["right"]) for node in data["nodes"]
    ] == [
        ("node/embed of step 0", "stream main", False, False),
        ("node/query of step 0", "stream main", False, False),
        ("node/attention of step 0", "stream main", False, True),
        ("node/key of step 0", "stream side", True, False),
    ]


def test_both_sides_of_a_clash_are_told_apart_by_their_steps() -> None:
    found = FOUND["graph.race"]
    assert found is not None
    marked = {
        (node["name"], node["lane"]): "A" * node["left"] + "B" * node["right"]
        for node in counterexample_data(found, None)["nodes"]
    }
    assert {key: letters for key, letters in marked.items() if letters} == {
        ("node/embed of step 1", "stream main"): "A",
        ("node/key of step 0", "stream side"): "B",
    }
    assert ("host/sample of step 0", "host") in marked


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_format_has_the_findings(name: str) -> None:
    text = render(REPORT, name, Screen())
    for rule in FOUND:
        assert rule in text
    if name == "sarif":
        (run,) = json.loads(text)["runs"]
        flows = [flow["message"]["text"] for each in run["results"] for flow in each["codeFlows"]]
        assert (
            "A schedule in which `node/attention` starts before `node/key`, on which it depends, "
            "has ended." in flows
        )
        assert run["properties"]["execution"] == "schedule"
