"""Small plans with real mechanisms of failure: what an audit says of each, in every model."""

from __future__ import annotations

import gzip
import json
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest

from ferrum_verify import audit, check_counterexample
from ferrum_verify.counterexamples import Execution

if TYPE_CHECKING:
    from ferrum_verify import Report

CASES = Path(__file__).parents[1] / "fixtures" / "cases"
MODELS: tuple[Execution, ...] = get_args(Execution)

# What must be found beside a verdict: the kind of a counterexample, or the rule.
FOUND = {
    "activation-for-16-of-4096-tokens": "shape",
    "activation-of-request": "value.request-lifetime",
    "alignment-0": "shape",
    "fixed-for-a-token-value": "shape",
    "hurt-reader": "schedule",
    "in-place-sequential": "access",
    "invocation-carried": "liveness.used-twice",
    "lanes-exceed-memory": "reusable.lanes-exceed-memory",
    "one-instance-for-64": "descriptor.too-few-instances",
    "output-not-retained": "value.output-not-kept",
    "partial-overlap": "overlap",
    "resource-in-two-slots": "schedule",
    "retained-counterexample": "overlap",
    "row-below-tensor": "shape",
    "state-row-below-declaration": "shape",
    "unlisted-use": "schedule",
    "workspace-one-short": "shape",
}
IN_CONCURRENT = {"in-place-parallel": "access", "state-race": "access", "two-writers": "access"}
ONE_FINDING = ("partial-overlap", "resource-in-two-slots", "two-writers")


def read(case: str, name: str) -> Any:
    return json.loads(gzip.decompress((CASES / case / f"{name}.json.gz").read_bytes()))


@cache
def report_of(case: str, side: str, model: Execution) -> Report:
    return audit(read(case, side), execution=model)


def sides() -> list[tuple[str, str]]:
    return [
        (path.parent.name, side)
        for path in sorted(CASES.glob("*/case.toml"))
        for side in ("faulty", "sound")
        if (path.parent / f"{side}.json.gz").exists()
    ]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("case", "side"), sides())
def test_the_verdict_is_the_case_s(case: str, side: str, model: Execution) -> None:
    said = tomllib.loads((CASES / case / "case.toml").read_text(encoding="utf-8"))
    report = report_of(case, side, model)
    assert report.verdict == said.get(side, {}).get(model, report.verdict), report.findings
    assert "integrity.proof-disagreement" not in {each.rule for each in report.findings}
    document = read(case, side)
    for each in report.findings:
        found = each.counterexample
        assert found is None or check_counterexample(document, found, model), each


@pytest.mark.parametrize("case", [*FOUND, *IN_CONCURRENT])
def test_what_is_found_is_told(case: str) -> None:
    report = report_of(case, "faulty", "concurrent" if case in IN_CONCURRENT else "fenced")
    told = {each.rule for each in report.findings}
    told |= {each.counterexample.kind for each in report.findings if each.counterexample}
    assert (FOUND | IN_CONCURRENT)[case] in told


@pytest.mark.parametrize("case", ONE_FINDING)
def test_one_cause_is_one_finding(case: str) -> None:
    errors = [e for e in report_of(case, "faulty", "fenced").findings if e.severity == "error"]
    assert len(errors) == 1, errors


def test_every_row_outside_a_shape_is_named() -> None:
    said = " ".join(
        each.message for each in report_of("every-row-named", "faulty", "fenced").findings
    )
    rows = read("every-row-named", "faulty")
    payload = rows.get("plan", rows).get("payload", rows)
    named = [
        row["base_resource_id"]
        for row in payload["memory"]["dynamic_descriptors"]
        if f"`{row['base_resource_id']}`" in said
    ]
    assert len(named) == 4, said


def test_the_slot_of_an_unlisted_use_is_unsafe() -> None:
    slots = report_of("unlisted-use", "faulty", "fenced").slots
    assert [slot for slot in slots if slot.fenced is False]


@pytest.mark.parametrize("case", ["schedule-of-unshared", "shape-of-no-claim"])
@pytest.mark.parametrize("model", MODELS)
def test_what_is_no_breach_of_the_plan_is_refused(case: str, model: Execution) -> None:
    document, counterexample = read(case, "document"), read(case, "counterexample")
    assert not check_counterexample(document, counterexample, model)
