"""The page of a comparison of two catalogs, without a browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.catalogue import catalogue
from ferrum_verify.catalogue.examples import report_of
from ferrum_verify.counterexamples import Party, SpanConstraint, SpanCounterexample
from ferrum_verify.report.html.comparison import effect_of, kind_of
from ferrum_verify.report.html.ticks import Row, span_ticks, tick_rows
from tests.contracts.compatible_changes import COMPATIBLE_CHANGES
from tests.examples import report_of_rule
from tests.report.comparisons import breaking_comparison
from tests.report.pages import page_of
from tests.report.test_html import assert_closed_off

if TYPE_CHECKING:
    from ferrum_verify.findings import Example

EFFECTS = ("breaking", "undecided", "compatible", "identity")
CHANGES = {
    rule.id.partition(".")[2]: rule.example
    for rule in catalogue().values()
    if rule.example is not None and rule.example.command == "contracts compare"
}
CHANGES |= COMPATIBLE_CHANGES
del CHANGES["compatible-change"]


def table_of(html: str, name: str) -> str:
    _, found, rest = html.partition(f'<table class="{name}">')
    return found + rest.partition("</table>")[0]


def table_rows(html: str) -> dict[str, list[str]]:
    """The cells of each row of the table of changes, by what the row is of."""
    table = table_of(html, "changes")
    rows = {}
    for row in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)[1:]:
        head, *cells = re.split(r"</th>|</td>", row)
        rows[text_of(head)] = [text_of(cell) for cell in cells][:-1]
    return rows


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_changes_stand_with_their_provider_under_their_effect() -> None:
    page = page_of(breaking_comparison())
    assert_closed_off(page)
    rows = table_rows(page.html)
    assert rows == {
        "provider.attention.contiguous operation.attention": ["provider removed", "", ""],
        "provider.attention.reference operation.attention": [
            "prefix narrowed: 4 tokens refused",
            "format added",
            "",
        ],
        "provider.norm.reference operation.norm": ["", "", "identity changed"],
    }
    assert "HEAD breaks plans: it refuses what BASE permits." in page.text
    assert "4 providers of HEAD unchanged" in page.text
    assert "HEAD against BASE" in page.text


@pytest.mark.parametrize(("kind", "example"), CHANGES.items(), ids=CHANGES.keys())
def test_every_kind_of_change_has_its_place_in_the_table(kind: str, example: Example) -> None:
    report = report_of(example)
    page = page_of(report)
    assert_closed_off(page)
    (catalog, *plans) = report.documents
    changes = table_rows(page.html)
    said = [cell for cells in changes.values() for cell in cells if cell]
    # One row for each owner, and each finding of the catalog once.
    assert sum(page.html.count(f'class="change {effect}"') for effect in EFFECTS) == len(
        [finding for finding in catalog.findings if finding.family == "contract"]
    )
    assert not [name for name in changes if name.startswith("catalog ")]
    if kind in {kind_of(finding) for finding in catalog.findings}:
        assert any(kind.replace("-", " ") in cell for cell in said)
    known = [plan.comparison for plan in plans if plan.comparison is not None]
    assert len(known) == len(plans)
    assert page.text.count("Checkpoints before and after") == len(
        [each for each in known if each.before is not None and each.after is not None]
    )


def test_effects_follow_the_severity() -> None:
    effects = {}
    for example in CHANGES.values():
        for finding in report_of(example).documents[0].findings:
            effects[kind_of(finding)] = effect_of(finding)
    assert effects["prefix-narrowed"] == "breaking"
    assert effects["prefix-widened"] == "compatible"
    assert effects["span-restated"] == "identity"
    assert effects["identity-changed"] == "identity"
    assert effects["operation-unclear"] == "undecided"


def test_checkpoints_stand_side_by_side() -> None:
    page = page_of(breaking_comparison())
    table = text_of(table_of(page.html, "before-after"))
    assert table.split(" Depends")[0] == (
        "Under BASE Under HEAD Sequence checkpoints yes yes "
        "Tokens before a boundary 4 or more, in multiples of 4 ≠ 16 or more, in multiples of 8 "
        "Tokens after a boundary 2 or more 2 or more "
        "Smallest boundary 4 tokens ≠ 16 tokens The states hold it yes yes"
    )
    catalog, plan = page.data
    assert [row["permits"][:3] for row in plan["checkpoints"]["rows"]] == [[4, 8, 12], [16, 24, 32]]
    (shown,) = [each for each in catalog["counterexamples"] if each["kind"] == "span"]
    assert (shown["at"], shown["low"]) == (4, 0)


@pytest.mark.parametrize(
    ("base", "head"),
    [((8, 4), (8, 8)), ((1, 1), (1, 512)), ((5_000, 7), (1, 9)), ((1, 2**40), (2**60, 2**40))],
)
def test_ticks_are_the_counts_that_each_permits(
    base: tuple[int, int], head: tuple[int, int]
) -> None:
    tokens = next(
        count
        for count in range(base[1], 2**64, base[1])
        if count >= base[0] and (count < head[0] or count % head[1])
    )
    shown = span_ticks(
        SpanCounterexample(
            Party("base", SpanConstraint(*base)),
            Party("head", SpanConstraint(*head)),
            tokens=tokens,
        )
    )
    low, high = int(shown["low"]), int(shown["high"])
    assert low <= tokens <= high
    # Every legal count is a multiple of one of the alignments, so no other has to be tried.
    step = min(base[1], head[1])
    tried = {
        count for by in (base[1], head[1]) for count in range(-(-low // by) * by, high + 1, by)
    }
    assert (high - low) // step <= 300
    for row, (least, by) in zip(shown["rows"], (base, head), strict=True):
        assert {int(count) for count in row["permits"]} == {
            count for count in tried if count and count >= least and count % by == 0
        }
        assert int(row["next"]) == -(-max(high + 1, least) // by) * by


def test_ticks_of_a_prompt_end_with_it() -> None:
    span = SpanConstraint
    rows = [Row("BASE", span(4, 4), span(2, 1)), Row("HEAD", span(4, 4), span(5, 5))]
    shown = tick_rows(rows, 8, 18)
    assert shown["high"] == 18
    assert [row["permits"] for row in shown["rows"]] == [[4, 8, 12, 16], [8]]
    assert [row["next"] for row in shown["rows"]] == [None, None]


def test_a_span_of_one_catalog_is_told_in_words() -> None:
    counterexample = SpanCounterexample(
        Party("every-provider", SpanConstraint(1, 8)),
        Party("state", maximum_tokens=4, state="kv"),
        tokens=8,
    )
    assert span_ticks(counterexample) == {"kind": "span"}


def test_growth_is_no_limit_that_is_passed() -> None:
    report = report_of_rule("contract.plan-memory-growth")
    shown: list[Any] = page_of(report).data[1]["counterexamples"]
    assert [each["words"] for each in shown if each["kind"] == "shape"] == [
        ["HEAD takes", "BASE took"]
    ]
