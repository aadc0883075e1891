"""Changes that need no action: one rule, and each kind of change a note that data tells apart."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from ferrum_verify.catalogue.examples import report_of
from ferrum_verify.contracts.compatible import Aspect
from tests.contracts.compatible_changes import COMPATIBLE_CHANGES


def test_each_aspect_has_a_change() -> None:
    assert set(COMPATIBLE_CHANGES) == set(get_args(Aspect))


@pytest.mark.parametrize("aspect", COMPATIBLE_CHANGES)
def test_the_aspect_stands_in_the_report(aspect: str) -> None:
    report = report_of(COMPATIBLE_CHANGES[aspect])
    wire = json.loads(json.dumps(report.to_wire()))
    compatible = [
        finding
        for document in wire["documents"]
        for finding in document["findings"]
        if finding["rule"] == "contract.compatible-change"
    ]
    told = next(each for each in compatible if each["actual"]["aspect"] == aspect)
    assert told["severity"] == "note"
    assert {*told["actual"]} <= {"aspect", "value"}
    assert {*told.get("expected", {})} <= {"value"}
    # Nothing that only got better breaks the gate.
    assert report.exit_status == 0


def test_the_values_stand_beside_the_aspect() -> None:
    (told,) = report_of(COMPATIBLE_CHANGES["device-memory-extended"]).findings
    assert told.expected == {"value": 4194304}
    assert told.actual == {"aspect": "device-memory-extended", "value": 4194305}
