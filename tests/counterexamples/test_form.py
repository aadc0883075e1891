"""Counterexamples that are true, with one thing in them made nonsense: none of them holds."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify import check_counterexample
from ferrum_verify.auditing.audit import audit
from ferrum_verify.catalogue import catalogue
from ferrum_verify.catalogue.examples import broken_document, report_of
from ferrum_verify.catalogue.samples import sample
from tests.cases import case

if TYPE_CHECKING:
    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.report.model import Report

Json = dict[str, Any]

EXAMPLES = (
    "slot.shared-while-live",
    "value.overlap",
    "value.row-too-small",
    "reusable.budget",
    "contract.span-unreachable",
    "contract.prefix-narrowed",
    "contract.plan-boundary-lost",
)
PROVED = ("slot.shared-while-live", "reusable.budget")
"""Those that show a counterexample with proofs only."""

CASES = ("in-place-parallel", "hurt-reader", "state-race", "two-writers")


def wires(report: Report) -> list[Json]:
    found = [finding.counterexample for finding in report.findings]
    return [each.to_wire() for each in found if each is not None]


@cache
def shown() -> tuple[tuple[Any, Json, Execution], ...]:
    """Documents with a counterexample that holds of each, and the model of execution."""
    found: list[tuple[Any, Json, Execution]] = []
    for rule_id in EXAMPLES:
        example = catalogue()[rule_id].example
        assert example is not None
        document = broken_document(example)
        if example.command == "contracts compare":
            pair = [sample(example.sample), document]
            base, head = reversed(pair) if example.reverse else pair
            document = {"base": base, "head": head}
        report = report_of(example, prove=rule_id in PROVED)
        found += [(document, wire, example.execution) for wire in wires(report)]
    for name in CASES:
        document = case(name)
        found += [
            (document, wire, "concurrent") for wire in wires(audit(document, "concurrent"))[:1]
        ]
    return tuple(found)


def places(value: Any, steps: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    members = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    inner = [each for key, member in members for each in places(member, (*steps, key))]
    return [steps, *inner]


def at(value: Any, steps: tuple[Any, ...]) -> Any:
    for step in steps:
        value = value[step]
    return value


def nonsense(value: Any) -> list[Any]:
    """What must not stand in the place of a value, though some of it equals the value."""
    if type(value) is int:
        return [
            *(float(value), value + 0.5, str(value), -value - 1, 2**64 + value, None, [value]),
            *(float("nan"), float("inf"), float("-inf"), 10**5000, complex(value), bool(value)),
        ]
    if value is True:
        return [1, 1.0, "true", None, False]
    if type(value) is str:
        return [value.encode(), None, 0, True, [value], {value: value}, "", f"{value} "]
    if type(value) is list:
        return [tuple(value), None, {}, "", dict(enumerate(value)), [*value, None]]
    return [None, [], list(value.items()), {**value, "more": 0}, {**value, 1: 1}, {}]


def kind_of(wire: Json) -> str:
    return f"{wire['kind']} with {', '.join(sorted(wire))}"


def test_every_form_is_tried() -> None:
    kinds = {kind_of(wire).partition(" with ")[0] for _, wire, _ in shown()}
    assert kinds == {"schedule", "access", "overlap", "shape", "span"}
    members = {name for _, wire, _ in shown() for name in wire}
    assert members >= {"tokens", "boundary", "bytes", "limit_from", "byte", "value"}


@pytest.mark.parametrize("number", range(len(shown())))
def test_no_nonsense_holds(number: int) -> None:
    document, wire, execution = shown()[number]
    assert check_counterexample(document, wire, execution)
    for steps in places(wire):
        for odd in nonsense(at(wire, steps)):
            changed = deepcopy(wire)
            if steps:
                at(changed, steps[:-1])[steps[-1]] = odd
            else:
                changed = odd
            assert not check_counterexample(document, changed, execution), (steps, odd)


@pytest.mark.parametrize("number", range(len(shown())))
def test_nothing_may_be_left_out(number: int) -> None:
    document, wire, execution = shown()[number]
    for steps in places(wire):
        if not steps or steps[-1] in ("value", "suffix", "prefix"):
            continue
        changed = deepcopy(wire)
        holder = at(changed, steps[:-1])
        if isinstance(holder, dict):
            del holder[steps[-1]]
            assert not check_counterexample(document, changed, execution), steps


def test_an_overflow_is_the_whole_truth() -> None:
    document = sample("fragment")
    document["memory"]["dynamic_descriptors"][0]["demand"] = {"fixed": {"bytes": 2**64 - 1}}
    shape = {"sequences": 1, "tokens": 1, "pages": 1}
    wire = {"kind": "shape", "shape": shape, "overflow": True}
    assert check_counterexample(document, wire)
    for odd in (1, 1.0, "true", False, None):
        assert not check_counterexample(document, {**wire, "overflow": odd})
    for more in ({"bytes": 2**64}, {"limit": 1}, {"limit_from": "/memory"}):
        assert not check_counterexample(document, wire | more)
    for name, odd in (("sequences", 0), ("tokens", 2**64), ("pages", True), ("more", 1)):
        assert not check_counterexample(document, {**wire, "shape": {**shape, name: odd}})


def test_a_merge_is_one_that_was_stated() -> None:
    span = {"minimum_tokens": 1, "alignment": 2}
    wire = {
        "kind": "span",
        "tokens": 1,
        "permitted": {"by": "every-provider", "prefix": {"minimum_tokens": 1, "alignment": 1}},
        "refused": {"by": "merge", "prefix": span},
        "permitted_by": "every provider's prefix",
        "refused_by": "the merged prefix (1 or more tokens, by 2)",
    }
    document = sample("bundle")
    for provider in document["catalog"]["providers"].values():
        for each in provider:
            capability = each["checkpoint_capability"]
            if capability != "unsupported":
                capability["completed_boundary"]["boundaries"]["prefix"] = {
                    "minimum_tokens": 1,
                    "alignment": 1,
                }
    stated = {"layout": {"boundaries": {"prefix": span}}}
    assert check_counterexample({**document, "checkpoint": stated}, wire)
    assert not check_counterexample(document, wire)
    assert not check_counterexample({**document, "checkpoint": None}, wire)
    assert not check_counterexample({**document, "checkpoint": {"reasons": []}}, wire)
