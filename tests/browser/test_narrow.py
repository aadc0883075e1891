"""Nothing runs over on the screen of a telephone, whatever is long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferrum_verify import audit
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.report.model import Report
from tests.browser.measures import box
from tests.report.comparisons import breaking_comparison

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Open

WIDTH = 390
TOO_WIDE = """width => [...document.querySelectorAll('body *')].filter((each) => {
  const { right, width: own } = each.getBoundingClientRect();
  if (!own || right <= width + 0.5) return false;
  for (let held = each.parentElement; held; held = held.parentElement) {
    if (getComputedStyle(held).overflowX !== 'visible') return false;
  }
  return true;
}).map((each) => each.outerHTML.slice(0, 120))"""


def assert_nothing_runs_over(page: Page) -> None:
    for details in page.locator("details:not([open]) > summary").all():
        if details.is_visible():
            details.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
    assert page.evaluate(TOO_WIDE, WIDTH) == []


def test_a_plan(open_page: Open, decoder: Report) -> None:
    assert_nothing_runs_over(open_page(decoder, width=WIDTH))


def test_counterexamples(open_page: Open, hazard: Report) -> None:
    page = open_page(hazard, width=WIDTH)
    assert_nothing_runs_over(page)
    # Most of the picture is the picture, and not its labels.
    view = box(page.locator(".timeline .view"))
    assert box(page.locator(".timeline .label rect").first)["width"] < view["width"] / 2


def test_long_names(open_page: Open) -> None:
    document = sample("bundle")
    long = "n" * 150
    payload = document["plan"]["payload"]
    payload["plan_id"] = payload["family_id"] = long
    payload["nodes"][0]["id"] = long
    payload["memory"]["dynamic_descriptors"][0]["base_resource_id"] = f"resource/{long}"
    assert_nothing_runs_over(open_page(audit(document, prove=False), width=WIDTH))


def test_several_documents(open_page: Open, decoder: Report, hazard: Report) -> None:
    documents = (*decoder.documents, *hazard.documents)
    page = open_page(Report(execution="fenced", documents=documents), width=WIDTH)
    assert_nothing_runs_over(page)


def test_a_comparison(open_page: Open) -> None:
    assert_nothing_runs_over(open_page(breaking_comparison(), width=WIDTH))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_chart_is_read_on_a_narrow_screen(
    open_page: Open, decoder: Report, scheme: str
) -> None:
    page = open_page(decoder, width=WIDTH, scheme=scheme)
    page.locator("[data-footprint] .view").scroll_into_view_if_needed()
    area = box(page.locator("[data-footprint] .area").first)
    assert area["width"] > WIDTH / 2
    words = box(page.locator("[data-footprint] .peak-words"))
    assert words["x"] >= 0
    assert words["x"] + words["width"] <= WIDTH
