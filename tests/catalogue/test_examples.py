"""Every rule's example breaks that rule, and no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ferrum_verify.auditing.audit import audit
from ferrum_verify.catalogue import catalogue
from ferrum_verify.catalogue.samples import sample
from tests.examples import WITH_EXAMPLE, report_of_rule

if TYPE_CHECKING:
    from ferrum_verify.findings import Rule

TOP = Path(__file__).parents[2]

# What no edit of a sample can show, and where it is tested instead.
WITHOUT_EXAMPLE: dict[str, str] = {
    "wire.duplicate-key": "tests/reading/test_json_text.py",
    "wire.unreadable-file": "tests/reading/test_load.py",
    "wire.malformed-binding": "tests/reading/test_checkpoint_wire.py",
    "graph.too-many-nodes": "tests/rules/test_limits.py",
    "pool.checkpoint-growth-conflict": "tests/rules/test_schema_8_1.py",
    "slot.many-hazards": "tests/rules/test_limits.py",
    "liveness.carried": "tests/rules/test_accesses.py",
    "value.race": "tests/auditing/test_cases.py",
    "value.input-lost": "tests/definition/test_bytes.py",
    "value.outputs-collide": "tests/definition/test_bytes.py",
    "value.output-not-kept": "tests/auditing/test_cases.py",
    "graph.accesses-undecided": "tests/rules/test_accesses.py",
    "liveness.too-many-references": "tests/rules/test_limits.py",
    "schedule.plan-missing": "tests/rules/test_schedule.py",
    "schedule.too-many-nodes": "tests/rules/test_schedule.py",
    "integrity.keys-sorted": "tests/rules/test_integrity.py",
    "binding.arena": "tests/prove/test_claims.py",
    "binding.arena-overflow": "tests/derive/test_bindings.py",
    "integrity.safety-in-doubt": "tests/auditing/test_asked.py",
    "integrity.audit-ended": "tests/fleet/test_runs.py",
    "integrity.proof-undecided": "tests/auditing/test_proofs.py",
    "integrity.proof-vacuous": "tests/auditing/test_proofs.py",
    "integrity.proof-disagreement": "tests/auditing/test_proofs.py",
    "buffer.undecided": "tests/rules/test_buffers.py",
    "buffer.one-step": "tests/auditing/test_buffers.py",
    "integrity.settings-changed": "tests/integrations/test_review.py",
    "integrity.baseline-changed": "tests/integrations/test_review.py",
    "integrity.gate-unreadable": "tests/integrations/test_review.py",
}


@pytest.mark.parametrize("rule", WITH_EXAMPLE, ids=lambda rule: rule.id)
def test_example_breaks_its_rule_alone(rule: Rule) -> None:
    example = rule.example
    assert example is not None
    report = report_of_rule(rule.id)
    told = {finding.rule for finding in report.findings if finding.severity != "note"}
    if rule.severity == "note":
        told |= {finding.rule for finding in report.findings if finding.rule == rule.id}
    messages = json.dumps([(f.rule, f.location, f.message) for f in report.findings], indent=1)
    assert told == {rule.id, *example.also}, messages


@pytest.mark.parametrize(
    "name",
    [
        *("problem", "fragment", "bundle", "bundle-8.1", "program", "catalog", "policy"),
        "buffer-plan",
    ],
)
def test_samples_are_sound(name: str) -> None:
    report = audit(sample(name), prove=False)
    assert report.verdict == "verified"
    assert [f for f in report.findings if f.severity != "note"] == []


def test_every_rule_has_an_example_or_a_test() -> None:
    without = {rule.id for rule in catalogue().values() if rule.example is None}
    assert without == set(WITHOUT_EXAMPLE)
    assert [file for file in WITHOUT_EXAMPLE.values() if not (TOP / file).exists()] == []
