"""The findings on the page: filtered, grouped, folded, each with its fix; and what is printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import models
from ferrum_verify import audit

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from ferrum_verify.report.model import Report
    from tests.browser.conftest import Open

TOP = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def faulty() -> Report:
    """Errors of several families, and a note."""
    document = json.loads((TOP / "docs/examples/gated.json").read_text(encoding="utf-8"))
    memory = document["memory"]
    memory["static_bytes"] += 64
    memory["dynamic_pools"][0]["minimum_request_bytes"] += 64
    memory["dynamic_pools"][0]["pool_id"] = "pool"
    return audit(document, prove=False)


def visible(page: Page) -> int:
    return page.locator(".finding:visible").count()


def test_words_filter(open_page: Open, faulty: Report) -> None:
    page = open_page(faulty)
    everything = len(faulty.findings)
    assert visible(page) == everything > 3
    search = page.get_by_label("Filter findings by their words")
    search.press_sequentially("request mini")
    told = [finding for finding in faulty.findings if "request mini" in finding.message]
    assert visible(page) == len(told) == 1
    shown = page.locator("#d0-findings output")
    assert shown.inner_text() == f"1 of {everything} findings"
    assert page.locator(".group:visible").count() == 1
    search.fill("")
    assert visible(page) == everything


def test_severities_are_left_out(open_page: Open, faulty: Report) -> None:
    page = open_page(faulty)
    errors = [finding for finding in faulty.findings if finding.severity == "error"]
    page.locator("#d0-findings").get_by_label(f"{len(errors)} errors").uncheck()
    assert visible(page) == len(faulty.findings) - len(errors) > 0


def test_groups_are_chosen_and_closed(open_page: Open, faulty: Report) -> None:
    page = open_page(faulty)
    headings = page.locator("#d0-findings .group h4")
    assert set(headings.all_inner_texts()) == {finding.family for finding in faulty.findings}
    page.get_by_label("Group findings").select_option(label="by rule")
    assert set(headings.all_inner_texts()) == {finding.rule for finding in faulty.findings}
    everything = visible(page)
    first = page.locator("#d0-findings .group").first
    inside = first.locator(".finding").count()
    first.locator("summary").first.click()
    assert visible(page) == everything - inside


def test_what_follows_from_a_cause_stands_folded_under_it(open_page: Open) -> None:
    document = models.bundle("llama-3.1-8b", layers=2, schema="5.0")
    (node,) = [
        node for node in document["plan"]["payload"]["nodes"] if node["id"] == "node/l0001/o"
    ]
    node["dependencies"].remove("node/l0001/attn")
    report = audit(document, prove=False)
    following = [finding for finding in report.findings if finding.cause is not None]
    assert len(following) > 3
    page = open_page(report)
    group = page.locator("#d0-findings .group").first
    first = report.findings[following[0].cause or 0]
    heading = group.locator("h4").inner_text()
    assert heading.startswith(f"{first.rule}, and {len(following)} findings that follow from it")
    shown = group.locator(".finding")
    assert first.rule in shown.first.inner_text()
    assert shown.first.get_attribute("data-follows") is None
    assert shown.first.get_by_text("To fix it:").is_visible()
    assert not shown.nth(1).get_by_text("To fix it:").is_visible()
    assert group.locator(".folded").count() == len(following)


def test_a_folded_finding_keeps_its_message(open_page: Open, faulty: Report) -> None:
    page = open_page(faulty)
    finding = page.locator(".finding").first
    fix = finding.get_by_text("To fix it:")
    assert fix.is_visible()
    finding.get_by_label("Fold or unfold the finding").click()
    assert not fix.is_visible()
    assert finding.locator(".message").is_visible()
    page.get_by_role("button", name="Unfold all").click()
    assert fix.is_visible()
    page.get_by_role("button", name="Fold all", exact=True).click()
    assert page.get_by_text("To fix it:").first.is_visible() is False


def test_every_finding_says_how_to_fix_it(open_page: Open, faulty: Report) -> None:
    page = open_page(faulty)
    for finding in page.locator(".finding").all():
        assert finding.get_by_text("To fix it:").count() == 1


def test_a_link_opens_the_group_that_holds_its_finding(open_page: Open, faulty: Report) -> None:
    page = open_page(faulty)
    group = page.locator("#d0-findings .group").last
    group.locator("summary").first.click()
    target = group.locator(".finding").first
    assert not target.is_visible()
    page.evaluate("id => { location.hash = id; }", target.get_attribute("id"))
    target.wait_for()


def test_what_is_printed_has_its_counterexamples_open(open_page: Open, hazard: Report) -> None:
    page = open_page(hazard)
    closed = page.locator(".counterexample:not([open])")
    before = closed.count()
    assert before > 0
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert closed.count() == 0
    for drawn in page.locator(".counterexample [data-drawn]").all():
        assert drawn.locator("svg *").count() > 5
    words = page.locator(".counterexample pre")
    assert all(each.is_visible() for each in words.all())
    assert not page.locator(".tools").first.is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert closed.count() == before
    assert page.pdf()[:5] == b"%PDF-"
