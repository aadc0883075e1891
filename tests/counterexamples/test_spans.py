"""The independent checker of spans: two catalogs, forged claims, and JSON of any shape."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrum_verify.auditing.audit import audit
from ferrum_verify.catalogue.restamp import restamp
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.contracts.spans import (
    boundary_counterexample,
    smallest_lost_boundary,
    smallest_refused,
)
from ferrum_verify.counterexamples import Party, SpanConstraint, SpanCounterexample
from ferrum_verify.counterexamples.checking import check_counterexample
from ferrum_verify.documents.checkpoint import BoundaryConstraint, TokenSpan
from tests.prove import span_bundles as make


def span(minimum: int, alignment: int) -> TokenSpan:
    return TokenSpan(minimum_tokens=minimum, alignment=alignment)


def prefix(base: tuple[int, int], head: tuple[int, int], tokens: int) -> SpanCounterexample:
    """A prefix that BASE permits and HEAD refuses, of one provider."""
    owner = {"operation": "operation.mixer", "provider": "provider.mixer.reference"}
    return SpanCounterexample(
        Party("base", SpanConstraint(*base), **owner),  # type: ignore[arg-type]
        Party("head", SpanConstraint(*head), **owner),  # type: ignore[arg-type]
        tokens=tokens,
    )


def catalogs(base: make.Json, head: make.Json) -> make.Json:
    return {"base": base["catalog"], "head": head["catalog"]}


def test_a_providers_narrowed_span_is_shown_in_two_catalogs() -> None:
    pair = catalogs(make.bundle({"mixer": (2, 4)}), make.bundle({"mixer": (2, 6)}))
    base, head = (2, 4), (2, 6)
    tokens = smallest_refused(span(*base), span(*head))
    assert tokens == 4
    shown = prefix(base, head, tokens)
    assert check_counterexample(pair, shown)
    assert not check_counterexample(pair, prefix(base, head, 12))
    assert not check_counterexample(pair, prefix(base, head, 6))
    # The provider has no other constraints in these catalogs, whatever they permit.
    assert not check_counterexample(pair, prefix(base, (2, 3), 4))
    assert not check_counterexample(pair, prefix((1, 4), head, 4))
    other = replace(shown, refused=replace(shown.refused, provider="provider.other"))
    assert not check_counterexample(pair, other)
    assert not check_counterexample(pair, replace(shown, refused=shown.permitted))
    swapped = {"base": pair["head"], "head": pair["base"]}
    assert not check_counterexample(swapped, shown)


def test_a_plans_lost_boundary_is_shown_under_two_catalogs() -> None:
    old = make.bundle({"mixer": (2, 4), "embed": (1, 6)}, {"head": (3, 1)})
    new = make.bundle({"mixer": (2, 4), "embed": (1, 9)}, {"head": (3, 1)})
    base = BoundaryConstraint(prefix=span(2, 12), suffix=span(3, 1))
    head = BoundaryConstraint(prefix=span(2, 36), suffix=span(3, 1))
    lost = smallest_lost_boundary(base, head)
    assert lost is not None
    shown = boundary_counterexample(base, head, lost)
    assert (shown.boundary, shown.prompt) == (12, 15)
    # It is the plan's selection that has these boundaries; no provider has them alone.
    assert not check_counterexample(catalogs(old, new), shown)
    assert check_counterexample({**catalogs(old, new), "plan": old["plan"]}, shown)
    assert not check_counterexample({**catalogs(new, old), "plan": old["plan"]}, shown)
    merged = SpanCounterexample(
        Party("base", SpanConstraint(2, 12)), Party("head", SpanConstraint(2, 36)), tokens=12
    )
    assert check_counterexample({**catalogs(old, new), "plan": old["plan"]}, merged)


PERMITTED = {"by": "every-provider", "prefix": {"minimum_tokens": 10, "alignment": 12}}
REFUSED = {"by": "merge", "prefix": {"minimum_tokens": 10, "alignment": 24}}
GOOD = make.told({"kind": "span", "tokens": 12, "permitted": PERMITTED, "refused": REFUSED})


STATED = {"layout": {"boundaries": {"prefix": REFUSED["prefix"]}}}
"""A checkpoint, merged wrongly, that the good counterexample speaks of."""


def merged(minimum: Any, alignment: Any) -> make.Json:
    return {"by": "merge", "prefix": {"minimum_tokens": minimum, "alignment": alignment}}


def of_node(provider: str, node: str, span: tuple[int, int]) -> make.Json:
    return {
        "by": "provider",
        "provider": f"provider.{provider}.reference",
        "node": f"node.{node}",
        "prefix": {"minimum_tokens": span[0], "alignment": span[1]},
    }


@pytest.mark.parametrize(
    "change",
    [
        {"tokens": 11},
        {"tokens": 24},
        {"tokens": 0},
        {"tokens": True},
        {"tokens": 12.0},
        {"tokens": "12"},
        {"tokens": -12},
        {"tokens": 1 << 64},
        {"permitted": {"by": "every-provider", "suffix": PERMITTED["prefix"]}},
        {"permitted": {"by": "every-provider", "prefix": {"minimum_tokens": 9, "alignment": 12}}},
        {"permitted": {**PERMITTED, "suffix": {"minimum_tokens": 1, "alignment": 1}}},
        {"permitted": {**PERMITTED, "by": "somebody"}},
        {"permitted": {"by": "every-provider"}},
        {"permitted": None},
        {"refused": merged(10, 12)},
        {"refused": merged(10, 0)},
        {"refused": merged(10.0, 24)},
        {"refused": merged(True, 24)},
        {"refused": {"by": "merge"}},
        {"refused": of_node("mixer", "mixer", (10, 4))},
        {"refused": of_node("mixer", "mixer", (10, 24))},
        {"refused": of_node("embed", "mixer", (3, 6))},
        {"refused": of_node("embed", "where", (3, 6))},
        {"refused": {"by": "step", "maximum_tokens": 256}},
        {"refused": {"by": "step", "maximum_tokens": 11}},
        {"refused": PERMITTED},
        {"refused": {**REFUSED, "by": "head"}},
    ],
)
def test_what_does_not_hold_is_refused(change: dict[str, Any]) -> None:
    document = {**make.bundle({"embed": (3, 6), "mixer": (10, 4)}), "checkpoint": STATED}
    assert check_counterexample(document, GOOD)
    assert not check_counterexample(document, {**GOOD, **change})
    try:
        changed = make.told({**GOOD, **change})
    except (TypeError, LookupError, ValueError, ArithmeticError):
        return  # nothing that could be told
    assert not check_counterexample(document, changed)
    assert not check_counterexample({"plan": document["plan"]}, GOOD)


def test_a_boundary_needs_tokens_on_both_sides() -> None:
    document = make.bundle({"mixer": (1, 4)}, {"head": (3, 1)})
    shown = make.told(
        {
            "kind": "span",
            "processed": 5,
            "boundary": 9,
            "prompt": 12,
            "permitted": {
                "by": "every-provider",
                "prefix": {"minimum_tokens": 1, "alignment": 4},
                "suffix": {"minimum_tokens": 3, "alignment": 1},
            },
            "refused": {"by": "merge", "maximum_tokens": 0},
        }
    )
    assert not check_counterexample(document, shown)
    document["checkpoint"] = {"reasons": ["boundary_intersection"]}
    assert check_counterexample(document, shown)
    for change in (
        {"processed": 9},
        {"processed": 4},
        {"prompt": 11},
        {"prompt": 9},
        {"boundary": 10},
        {"processed": None},
        {"refused_by": "every provider"},
        {"refused": shown["permitted"], "refused_by": "every provider"},
        {"refused": {"by": "merge", "maximum_tokens": 4}},
    ):
        assert not check_counterexample(document, {**shown, **change})


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
PARTIES = [
    PERMITTED,
    REFUSED,
    merged(1, 0),
    of_node("mixer", "mixer", (1, 1)),
    {"by": "state", "state": "state.counter", "maximum_tokens": 256},
    {"by": "step", "maximum_tokens": None},
    {**PERMITTED, "by": "base"},
    {**PERMITTED, "by": "head", "suffix": 3},
]


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["tokens", "processed", "boundary", "prompt", "shape", "left", "right"]),
        st.integers(0, 9) | anything,
    ),
    st.sampled_from(PARTIES) | anything,
    st.sampled_from(PARTIES) | anything,
    st.sampled_from(["span", "overlap"]),
    st.sampled_from([sample("bundle"), {}, {"base": {}, "head": 3}, {"plan": {"payload": {}}}]),
)
def test_nothing_is_raised(
    counts: dict[str, Any], permitted: Any, refused: Any, kind: str, document: Any
) -> None:
    wire = {"kind": kind, "permitted": permitted, "refused": refused, **counts}
    with contextlib.suppress(Exception):
        wire = make.told(wire)
    assert check_counterexample(document, wire) in (True, False)


@pytest.mark.parametrize(
    ("prefixes", "rule"),
    [
        ({"mixer": (2, 1024)}, "checkpoint.never-reachable"),
        ({"mixer": (2, 300), "embed": (1, 8)}, "checkpoint.never-reachable"),
    ],
)
def test_an_audit_shows_the_counterexample_with_the_rules_finding(
    prefixes: dict[str, tuple[int, int]], rule: str
) -> None:
    document = make.bundle(prefixes)
    restamp(document)
    report = audit(document)
    assert report.verdict == "verified"
    (finding,) = [each for each in report.findings if each.counterexample is not None]
    assert finding.rule == rule
    assert finding.counterexample is not None
    assert check_counterexample(document, finding.counterexample)
    assert report.obligations.refuted == 1
    assert report.obligations.undecided == 0
