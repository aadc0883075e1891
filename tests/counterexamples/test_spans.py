"""The independent checker of spans: two catalogs, forged claims, and JSON of any shape."""

from __future__ import annotations

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
    span_counterexample,
)
from ferrum_verify.counterexamples.checking import check_counterexample
from ferrum_verify.documents.checkpoint import BoundaryConstraint, TokenSpan
from tests.prove import span_bundles as make


def span(minimum: int, alignment: int) -> TokenSpan:
    return TokenSpan(minimum_tokens=minimum, alignment=alignment)


def catalogs(base: make.Json, head: make.Json) -> make.Json:
    return {"base": base["catalog"], "head": head["catalog"]}


def test_a_providers_narrowed_span_is_shown_in_two_catalogs() -> None:
    pair = catalogs(make.bundle({"mixer": (2, 4)}), make.bundle({"mixer": (2, 6)}))
    base, head = span(2, 4), span(2, 6)
    tokens = smallest_refused(base, head)
    assert tokens == 4
    shown = span_counterexample(base, head, tokens)
    assert check_counterexample(pair, shown)
    assert not check_counterexample(pair, span_counterexample(base, head, 12))
    assert not check_counterexample(pair, span_counterexample(base, head, 6))
    # Nobody in these catalogs has other constraints, whatever they permit.
    assert not check_counterexample(pair, span_counterexample(base, span(2, 3), 4))
    assert not check_counterexample(pair, span_counterexample(span(1, 4), head, 4))
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
    merged = span_counterexample(base.prefix, head.prefix, 12)
    assert check_counterexample({**catalogs(old, new), "plan": old["plan"]}, merged)


GOOD = {
    "kind": "span",
    "tokens": 12,
    "permitted_by": "every provider's prefix",
    "refused_by": "the merged prefix (10 or more tokens, by 24)",
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
        {"permitted_by": "every provider's suffix "},
        {"permitted_by": "somebody"},
        {"permitted_by": None},
        {"refused_by": "the merged prefix (10 or more tokens, by 12)"},
        {"refused_by": "the merged prefix (10 or more tokens, by 0)"},
        {"refused_by": "the prefix of provider provider.mixer.reference in node node.mixer"},
        {"refused_by": "the prefix of provider provider.embed.reference in node node.mixer"},
        {"refused_by": "the prefix of provider provider.embed.reference in node nowhere"},
        {"refused_by": "the policy, which schedules 256 tokens in one step"},
        {"refused_by": "every provider's prefix"},
    ],
)
def test_what_does_not_hold_is_refused(change: dict[str, Any]) -> None:
    document = make.bundle({"embed": (3, 6), "mixer": (10, 4)})
    assert check_counterexample(document, GOOD)
    assert not check_counterexample(document, {**GOOD, **change})
    assert not check_counterexample({"plan": document["plan"]}, GOOD)


def test_a_boundary_needs_tokens_on_both_sides() -> None:
    document = make.bundle({"mixer": (1, 4)}, {"head": (3, 1)})
    shown = {
        "kind": "span",
        "processed": 5,
        "boundary": 9,
        "prompt": 12,
        "permitted_by": "every provider",
        "refused_by": "the merge, which found no boundary",
    }
    assert check_counterexample(document, shown)
    for change in (
        {"processed": 9},
        {"processed": 4},
        {"prompt": 11},
        {"prompt": 9},
        {"boundary": 10},
        {"processed": None},
        {"refused_by": "every provider"},
    ):
        assert not check_counterexample(document, {**shown, **change})


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
WORDS = [
    "every provider's prefix",
    "the merged suffix (1 or more tokens, by 2)",
    "the prefix of provider provider.mixer.reference in node node.mixer",
    "state state.counter, which holds 256 tokens",
    "the policy, which schedules , tokens in one step",
    "BASE (1 or more tokens, by 1)",
    "HEAD (prefixes of 1 or more tokens, by 1, and suffixes of 1 or more tokens, by 0)",
]


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["tokens", "processed", "boundary", "prompt", "shape", "left", "right"]),
        st.integers(0, 9) | anything,
    ),
    st.sampled_from(WORDS) | anything,
    st.sampled_from(WORDS) | anything,
    st.sampled_from(["span", "overlap"]),
    st.sampled_from([sample("bundle"), {}, {"base": {}, "head": 3}, {"plan": {"payload": {}}}]),
)
def test_nothing_is_raised(
    counts: dict[str, Any], by: Any, refused_by: Any, kind: str, document: Any
) -> None:
    wire = {"kind": kind, "permitted_by": by, "refused_by": refused_by, **counts}
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
