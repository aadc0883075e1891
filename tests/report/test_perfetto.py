"""The trace for Perfetto: its structure, and what it shows of a plan."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import pytest

import models
from ferrum_verify import audit
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.report.formats import render
from ferrum_verify.report.model import Report
from tests.live_bytes import Brute

Trace = dict[str, Any]
PROBLEM = models.problem("qwen3.5-4b", layers=4)


def trace_of(report: Report) -> Trace:
    trace: Trace = json.loads(render(report, "perfetto"))
    return trace


def assert_is_a_trace(trace: Trace) -> None:
    """The documented JSON: complete, counter and metadata events; slices of a track are nested."""
    assert set(trace) == {"traceEvents", "displayTimeUnit", "otherData"}
    assert trace["displayTimeUnit"] in ("ms", "ns")
    fields = {
        "X": {"ph", "pid", "tid", "ts", "dur", "name", "args"},
        "C": {"ph", "pid", "ts", "name", "args"},
        "M": {"ph", "pid", "tid", "name", "args"},
    }
    processes: set[int] = set()
    owners: dict[int, int] = {}
    ends: dict[int, int] = defaultdict(int)
    for event in trace["traceEvents"]:
        assert set(event) == fields[event["ph"]]
        assert isinstance(event["pid"], int)
        if event["ph"] == "M":
            assert event["name"] in (
                "process_name", "process_sort_index", "thread_name", "thread_sort_index"
            )  # fmt: skip
            (told,) = event["args"].values()
            assert isinstance(told, str if event["name"].endswith("_name") else int)
            if event["name"] == "process_name":
                assert event["pid"] not in processes
                processes.add(event["pid"])
            if event["name"] == "thread_name":
                assert event["tid"] not in owners
                owners[event["tid"]] = event["pid"]
            continue
        assert event["pid"] in processes
        assert isinstance(event["ts"], int)
        assert event["ts"] >= 0
        if event["ph"] == "C":
            assert all(isinstance(value, int) for value in event["args"].values())
            continue
        assert owners[event["tid"]] == event["pid"]
        assert event["dur"] >= 1
        # Of one track no slice begins before the one before it has ended.
        assert event["ts"] >= ends[event["tid"]]
        ends[event["tid"]] = event["ts"] + event["dur"]


def processes(trace: Trace) -> dict[str, int]:
    return {
        event["args"]["name"]: event["pid"]
        for event in trace["traceEvents"]
        if event["name"] == "process_name"
    }


def slices(trace: Trace, pid: int) -> list[tuple[str, int, int]]:
    return [
        (event["name"], event["ts"], event["ts"] + event["dur"])
        for event in trace["traceEvents"]
        if event["ph"] == "X" and event["pid"] == pid
    ]


def test_nodes_are_a_microsecond_each_in_plan_order() -> None:
    trace = trace_of(audit(PROBLEM, prove=False))
    assert_is_a_trace(trace)
    drawn = slices(trace, processes(trace)["<document>: nodes"])
    assert drawn == [(node["id"], at, at + 1) for at, node in enumerate(PROBLEM["nodes"])]


def test_resources_and_live_bytes_are_those_of_brute_force() -> None:
    report = audit(PROBLEM, prove=False)
    subject = report.documents[0].subject
    assert subject is not None
    assert subject.memory is not None
    document = {"nodes": PROBLEM["nodes"], "memory": subject.memory.to_wire()}
    brute = Brute(document, (64, 4096, 64, 32768), subject.kept)
    trace = trace_of(report)
    words = "64 sequences, 4,096 tokens, 64 held by each, 32,768 pages"
    (told,) = trace["otherData"]["documents"]
    assert told["live bytes at"] == words
    assert [each["rule"] for each in told["findings"]] == [each.rule for each in report.findings]
    pids = processes(trace)
    rows = {row["base_resource_id"]: row for row in document["memory"]["dynamic_descriptors"]}
    for pool in document["memory"]["dynamic_pools"]:
        short = pool["pool_id"].rpartition("/")[2][:8]
        (pid,) = [pid for name, pid in pids.items() if f"pool {short} " in name]
        for name, first, end in slices(trace, pid):
            for at in range(len(document["nodes"])):
                for resource in name.split(", "):
                    if rows[resource]["lifetime"] != "invocation":
                        assert brute.is_live(rows[resource], at) == (first <= at < end), resource
        values = {
            event["ts"]: event["args"]["bytes"]
            for event in trace["traceEvents"]
            if event["ph"] == "C" and event["pid"] == pid
        }
        live, now = [], 0
        for at in range(len(document["nodes"])):
            now = values.get(at, now)
            live.append(now)
        assert live == brute.live(pool["pool_id"])
        assert values.get(len(document["nodes"]), now) == 0


@pytest.mark.parametrize("name", ["fragment", "bundle", "problem", "workspaces"])
def test_every_kind_of_plan_is_a_trace(name: str) -> None:
    trace = trace_of(audit(sample(name), prove=False))
    assert_is_a_trace(trace)
    assert any(event["ph"] == "C" for event in trace["traceEvents"])


def test_members_that_are_live_together_stand_on_tracks_of_their_own() -> None:
    document = sample("fragment")
    pool = document["memory"]["dynamic_pools"][0]
    merged = sorted({name for slot in pool["step_resource_slots"] for name in slot["resource_ids"]})
    pool["step_resource_slots"] = [
        {"kind": "ordered_single_fence_step_wave", "resource_ids": merged}
    ]
    trace = trace_of(audit(document, prove=False))
    assert_is_a_trace(trace)
    names = {event["args"].get("name") for event in trace["traceEvents"]}
    assert {"slot 0", "slot 0 (2)"} <= names


def test_several_documents_stand_in_processes_of_their_own() -> None:
    documents = audit(sample("fragment"), prove=False).documents
    documents += audit(PROBLEM, prove=False).documents
    trace = trace_of(Report(execution="fenced", documents=documents))
    assert_is_a_trace(trace)


def test_what_has_no_nodes_or_no_sizes_is_a_trace_too() -> None:
    assert trace_of(audit(sample("fragment")["memory"], prove=False))["traceEvents"] == []
    document = sample("fragment")
    document["memory"]["dynamic_descriptors"][0]["alignment_bytes"] = 3
    trace = trace_of(audit(document, prove=False))
    assert_is_a_trace(trace)
    assert not any(event["ph"] == "C" for event in trace["traceEvents"])
    (told,) = trace["otherData"]["documents"]
    assert told["verdict"] == "violated"
    assert told["live bytes at"].startswith("no batch: the size cannot be aligned to 3")


def test_a_pool_that_names_nobody_is_told() -> None:
    document = sample("fragment")
    document["memory"]["dynamic_pools"][0]["step_resource_slots"][0]["resource_ids"] = ["nobody"]
    report = audit(document, prove=False)
    trace = trace_of(report)
    assert_is_a_trace(trace)
    (told,) = trace["otherData"]["documents"]
    assert (
        told["live bytes at"]
        == "no batch: the size of `nobody` is unknown, as it has no descriptor"
    )
