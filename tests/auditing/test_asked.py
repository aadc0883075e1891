"""What ``judge`` leaves out, what it leaves open, and that every format says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify import audit
from ferrum_verify.auditing.asked import _CHOICES
from ferrum_verify.catalogue import catalogue
from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import run
from ferrum_verify.derive.other_slots import with_slots
from ferrum_verify.deriving.best_slots import read_shared
from ferrum_verify.report.formats import FORMATS, render

if TYPE_CHECKING:
    from pathlib import Path

SHARED = catalogue()["slot.shared-while-live"].example


def edited(example: Any) -> Any:
    document = sample(example.sample)
    apply_edits(document, example.edits)
    return document


def planned_by_hand() -> Any:
    """A sound fragment in which each Step resource has a slot of its own."""
    shared = read_shared(sample("fragment"))
    slots = {
        pool.pool_id: [[name] for slot in pool.step_resource_slots for name in slot.resource_ids]
        for pool in shared.memory.dynamic_pools
        if pool.step_resource_slots
    }
    return shared.replanned(with_slots(shared.memory, slots))


def test_slots_planned_by_hand_are_safe_and_not_conformant() -> None:
    document = planned_by_hand()
    assert audit(document).verdict == "violated"
    safety = audit(document, judge="safety")
    assert (safety.verdict, safety.findings) == ("verified", ())
    assert safety.obligations.proved
    conformance = audit(document, judge="conformance")
    assert conformance.verdict == "violated"
    assert {finding.rule for finding in conformance.findings} == {"slot.not-derived"}
    assert conformance.documents[0].obligations is None


def test_a_clash_is_no_matter_of_conformance() -> None:
    document = edited(SHARED)
    assert {each.rule for each in audit(document, judge="safety").findings} == {
        "slot.shared-while-live"
    }
    assert {each.rule for each in audit(document, judge="conformance").findings} == {
        "slot.not-derived"
    }


@pytest.mark.parametrize(
    "rule",
    ["graph.later-dependency", "slot.unused-resource", "descriptor.alignment", "wire.range"],
)
def test_what_hides_bytes_or_order_leaves_safety_open(rule: str) -> None:
    example = catalogue()[rule].example
    assert example is not None
    report = audit(edited(example), judge="safety")
    assert report.verdict == "undecided"
    (doubt,) = (each for each in report.findings if each.rule == "integrity.safety-in-doubt")
    assert rule in doubt.message
    assert audit(edited(example), judge="conformance").verdict == "violated"


def test_a_plan_without_nodes_stays_undecided() -> None:
    assert audit(sample("fragment")["memory"], judge="safety").verdict == "undecided"


def test_only_known_rules_of_conformance_are_choices() -> None:
    rules = catalogue()
    assert {rules[rule].judgment for rule in _CHOICES} == {"conformance"}


def test_what_is_no_judgment_is_refused() -> None:
    with pytest.raises(ValueError, match="judge is 'beauty', not one of all, safety"):
        audit(sample("fragment"), judge="beauty")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - {"github"}))
def test_every_format_says_what_was_not_judged(name: str) -> None:
    document = planned_by_hand()
    told = render(audit(document, prove=False, judge="safety"), name)
    sign = '"judge": "safety"' if name in ("json", "sarif") else "conformance not judged"
    if name == "junit":
        sign = 'name="judge" value="safety"'
    assert sign in told
    assert sign not in render(audit(document, prove=False), name)


def test_the_command_line_judges_what_it_is_asked(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(planned_by_hand()))
    assert run(["audit", str(path), "--judge", "safety"]) == 0
    assert "conformance not judged" in capsys.readouterr().out
    assert run(["audit", str(path), "--judge", "conformance"]) == 1
    assert "safety not judged" in capsys.readouterr().out
    assert run(["audit", str(path), "--judge", "safety", "--baseline", str(path)]) == 2
