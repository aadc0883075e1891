"""The page of a comparison of two catalogs that breaks a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.measures import box
from tests.report.comparisons import breaking_comparison

if TYPE_CHECKING:
    from tests.browser.conftest import Open

COUNTEREXAMPLE = "#document-0 .ticks"
CHECKPOINTS = "[data-checkpoints] .ticks"


def test_a_change_leads_to_its_finding_and_its_drawing(open_page: Open) -> None:
    page = open_page(breaking_comparison(prove=True))
    page.get_by_role("link", name="prefix narrowed: 4 tokens refused").click()
    finding = page.locator(":target")
    assert "contract.prefix-narrowed" in finding.inner_text()
    assert "4 tokens: BASE permits it, and HEAD refuses it." in finding.inner_text()
    assert finding.locator(".answer").all_text_contents() == ["✓", "✗"]


def test_the_counterexample_stands_where_base_permits_and_head_refuses(open_page: Open) -> None:
    page = open_page(breaking_comparison())
    drawn = page.locator(COUNTEREXAMPLE)
    ticks = drawn.locator("[data-tokens]")
    counts = [int(tick.get_attribute("data-tokens") or "") for tick in ticks.all()]
    half = counts.index(16, counts.index(16) + 1)
    assert counts[:half] == list(range(4, 4 * half + 1, 4))
    assert counts[half:] == [count for count in counts[:half] if count >= 16 and count % 8 == 0]
    first = box(ticks.first)
    for answer in drawn.locator(".answer circle").all():
        place = box(answer)
        assert place["x"] + place["width"] / 2 == pytest.approx(first["x"] + 1, abs=1)
    # Without colour: what HEAD refuses is taller and has a head.
    alone = [count for count in counts[:half] if count < 16 or count % 8]
    assert drawn.locator("circle.alone").count() == len(alone)
    assert box(ticks.nth(0))["height"] > box(ticks.nth(3))["height"]


def test_boundaries_of_the_plan_are_read_by_pointer(open_page: Open) -> None:
    page = open_page(breaking_comparison())
    page.locator(f"{CHECKPOINTS} [data-tokens='12']").first.hover()
    text = page.locator("#tip").inner_text()
    assert text.split() == ["12", "tokens", "BASE", "permits", "it", "HEAD", "refuses", "it"]
    page.locator(f"{CHECKPOINTS} [data-tokens='24']").first.hover()
    assert page.locator("#tip").inner_text().count("permits it") == 2


def test_the_drawings_are_told_in_words(open_page: Open) -> None:
    page = open_page(breaking_comparison())
    label = page.locator(CHECKPOINTS).get_attribute("aria-label")
    assert label is not None
    assert label.startswith("BASE permits 4, 8, 12, 16")
    assert "HEAD permits 16, 24, 32" in label


def test_every_document_of_a_comparison_is_open(open_page: Open) -> None:
    page = open_page(breaking_comparison(), scheme="dark")
    assert page.locator("details.document[open]").count() == 2
    assert page.locator(".timeline").count() == 0
    assert page.title().startswith("Violated: HEAD against BASE")


def test_a_narrow_window_shows_it_all(open_page: Open) -> None:
    page = open_page(breaking_comparison(), width=600)
    assert page.evaluate("document.documentElement.scrollWidth") <= 600
    assert box(page.locator(CHECKPOINTS))["width"] > 400
