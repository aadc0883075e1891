"""``schedule`` and ``audit --schedule`` from the command line, with what else an audit takes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify import check_counterexample
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import run
from tests.rules.test_schema_8_1 import resolved

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PLANS: dict[str, Callable[[], Any]] = {
    "fragment": lambda: sample("fragment"),
    "bundle": lambda: sample("bundle"),
    "bundle-8.1": lambda: sample("bundle-8.1"),
    "resolved": lambda: resolved(sample("bundle-8.1")),
}
STREAMS = "head=*/head,main=*"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(name: str, value: Any) -> str:
    with open(name, "w", encoding="utf-8") as file:
        json.dump(value, file)
    return name


def report_of(capsys: pytest.CaptureFixture[str], *arguments: str, schedule: str = "s.json") -> Any:
    capsys.readouterr()
    run(["audit", *arguments, "--schedule", schedule, "--format", "json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", PLANS)
def test_what_is_written_for_a_plan_keeps_it_safe(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    document = PLANS[name]()
    plan = put("plan.json", document)
    assert run(["schedule", plan, "--streams", STREAMS, "--in-flight", "1", "-o", "s.json"]) == 0
    report = report_of(capsys, plan)
    assert (report["execution"], report["summary"]["verified"]) == ("schedule", 1)
    with open("s.json", encoding="utf-8") as file:
        schedule = json.load(file)
    # Without any order every dependency is open, and what is shown of it is a run.
    schedule["host"] = [
        {"launch": each["launch"], "stream": each["launch"]}
        for each in schedule["host"]
        if "launch" in each
    ]
    put("open.json", schedule)
    (found,) = report_of(capsys, plan, schedule="open.json")["documents"]
    lost = [each for each in found["findings"] if each["rule"] == "schedule.dependency-not-kept"]
    assert len(lost) >= 2
    for each in lost:
        assert check_counterexample(document, each["counterexample"], schedule=schedule)
        assert each["location"].rpartition("/")[0].endswith("/nodes")


@pytest.mark.usefixtures("folder")
def test_with_sources_and_for_one_judgment(capsys: pytest.CaptureFixture[str]) -> None:
    bundle = sample("bundle")
    plan = put("plan.json", bundle["plan"])
    sources = [word for n in ("program", "catalog", "policy") for word in ("--with", f"{n}.json")]
    for name in ("program", "catalog", "policy"):
        put(f"{name}.json", bundle[name])
    run(["schedule", plan, "--streams", STREAMS, "-o", "s.json"])
    (document,) = report_of(capsys, plan, *sources, "--no-prove")["documents"]
    assert (document["kind"], document["verdict"]) == ("bundle", "verified")

    with open("s.json", encoding="utf-8") as file:
        schedule = json.load(file)
    first = next(each for each in schedule["host"] if "launch" in each)
    put("twice.json", schedule | {"host": [*schedule["host"], first]})
    put("none.json", schedule | {"host": [each for each in schedule["host"] if each != first]})
    told = {
        (file, judge): {
            finding["rule"]
            for each in report_of(
                capsys, plan, "--no-prove", "--judge", judge, schedule=f"{file}.json"
            )["documents"]
            for finding in each["findings"]
        }
        for file in ("twice", "none")
        for judge in ("safety", "conformance")
    }
    assert told["none", "safety"] >= {"schedule.node-not-launched"}
    assert told["none", "conformance"] == set()
    assert told["twice", "conformance"] == {"schedule.launched-again"}
    # Which launch counts is open then, so of safety nothing is known.
    assert told["twice", "safety"] == {"integrity.safety-in-doubt"}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("streams", ["@=*", "a b=*"])
def test_a_stream_that_no_audit_reads_is_not_written(
    streams: str, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = put("plan.json", sample("fragment"))
    assert run(["schedule", plan, "--streams", streams]) == 2
    assert "is no name of a stream" in " ".join(capsys.readouterr().err.split())


@pytest.mark.usefixtures("folder")
def test_memory_and_models_do_not_go_with_a_schedule(capsys: pytest.CaptureFixture[str]) -> None:
    plan = put("plan.json", sample("fragment"))
    put("s.json", sample("schedule"))
    for option in (["--memory"], ["--execution", "fenced"]):
        assert run(["audit", plan, "--schedule", "s.json", *option]) == 2
        refused = capsys.readouterr().err
        assert "--schedule" in refused
        assert option[0] in refused
