"""The page opens offline, without a complaint, in light and dark, whatever it reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify import audit
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.counterexamples import (
    ByteRange,
    OverlapCounterexample,
    Party,
    Shape,
    ShapeCounterexample,
    SpanConstraint,
    SpanCounterexample,
)
from ferrum_verify.findings import Finding
from ferrum_verify.report.formats import render
from ferrum_verify.report.model import DocumentReport, Report
from tests.browser.measures import widths

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

    from tests.browser.conftest import Open


@pytest.mark.parametrize("name", ["fragment", "bundle", "problem"])
def test_every_kind_of_plan_is_drawn(open_page: Open, name: str) -> None:
    page = open_page(audit(sample(name), prove=False))
    assert page.locator(".view .bar").count() > 3
    assert page.locator(".strip .bar").count() > 1
    assert page.locator(".chart .line").count() == 1


def test_a_plan_without_nodes_is_listed_without_bars(open_page: Open) -> None:
    page = open_page(audit(sample("fragment")["memory"], prove=False))
    assert page.locator(".view .heading").count() > 3
    assert page.locator(".view .bar").count() == 0
    page.locator(".timeline .view").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.locator(".timeline .panel").inner_text()


def test_unreadable_and_empty_reports_open(open_page: Open, tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_text('{"nodes": [')
    page = open_page(audit(path, prove=False))
    assert page.locator(".verdict").first.inner_text().lower() == "unreadable"
    open_page(Report(execution="fenced", documents=()))


def test_of_several_documents_each_is_drawn_when_it_is_opened(
    open_page: Open, decoder: Report, hazard: Report
) -> None:
    page = open_page(Report(execution="fenced", documents=(*decoder.documents, *hazard.documents)))
    assert page.locator(".view .bar").count() > 0
    second = page.locator("#document-1")
    assert second.locator(".timeline .view").count() == 0
    page.locator('a[href="#document-1"]').click()
    second.locator(".view .bar").first.wait_for()
    assert second.locator(".hazard").count() > 0


def luminance(page: Any, selector: str, property_name: str) -> float:
    color = page.locator(selector).first.evaluate(
        "(element, name) => getComputedStyle(element).getPropertyValue(name)", property_name
    )
    red, green, blue = (float(part) for part in color.removeprefix("rgb(")[:-1].split(",")[:3])
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_it_follows_the_reader_s_colours(
    open_page: Open, decoder: Report, scheme: str, dark: bool
) -> None:
    page = open_page(decoder, scheme=scheme)
    ground = luminance(page, ".card", "background-color")
    text = luminance(page, ".card", "color")
    bars = luminance(page, ".view .pattern.step .ground", "fill")
    labels = luminance(page, ".view .bar text", "fill")
    assert (ground < 0.2) is dark
    assert abs(ground - text) > 0.6
    assert abs(bars - labels) > 0.4


def test_kinds_of_storage_differ_without_colour(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    strokes = page.locator(".legend li rect").evaluate_all(
        "rects => rects.map(rect => document.getElementById("
        "rect.getAttribute('fill').slice(5, -1)).querySelector('.strokes').getAttribute('d'))"
    )
    assert len(strokes) >= 4
    assert len(set(strokes)) == len(strokes)


def test_names_from_a_document_never_run(open_page: Open) -> None:
    hostile = "</script><script>window.broken=1</script><img src=x onerror='window.broken=1'>"
    document = sample("fragment")
    document["memory"][hostile] = 1
    document["nodes"][0][hostile] = hostile
    document["memory"]["dynamic_pools"][0]["pool_id"] = hostile
    page = open_page(audit(document, prove=False))
    assert page.evaluate("window.broken") is None
    assert page.locator("img").count() == 0
    assert hostile in page.locator("body").inner_text()


def test_the_policy_refuses_a_script_that_was_put_in(
    browser: Browser, decoder: Report, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    path.write_text(render(decoder, "html"), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.evaluate(
        "() => { window.refused = 0;"
        "addEventListener('securitypolicyviolation', () => { window.refused += 1; });"
        "const script = document.createElement('script');"
        "script.textContent = 'window.broken = 1'; document.body.append(script); }"
    )
    page.wait_for_function("window.refused === 1")
    assert page.evaluate("window.broken") is None
    page.close()


def counterexamples() -> Report:
    shape = Shape(2, 64, 1)
    cases = (
        OverlapCounterexample(
            shape,
            ByteRange("act/left", 2**60, 2**60 + 4096),
            ByteRange("act/right", 2**60 + 2048, 2**60 + 8192),
            2**60 + 2048,
        ),
        ShapeCounterexample(shape, bytes=2**40, limit=2**39),
        ShapeCounterexample(shape, overflow=True),
        SpanCounterexample(
            Party("every-provider", SpanConstraint(1, 16)),
            Party("provider", SpanConstraint(1, 32), node="b", provider="provider/b"),
            tokens=48,
        ),
    )
    findings = tuple(
        Finding(
            rule="slot.shared-while-live",
            judgment="safety",
            severity="error",
            message="it breaks",
            counterexample=case,
        )
        for case in cases
    )
    document = DocumentReport(source="a", kind="fragment", verdict="violated", findings=findings)
    return Report(execution="fenced", documents=(document,))


def test_other_counterexamples_are_drawn_or_told(open_page: Open) -> None:
    page = open_page(counterexamples())
    opened = page.locator("[data-counterexample]")
    for index in range(opened.count()):
        if opened.nth(index).get_attribute("open") is None:
            opened.nth(index).locator("summary").click()
    overlap, limit, overflow, span = (opened.nth(index) for index in range(4))
    assert "byte 1,152,921,504,606,849,024" in (overlap.locator("svg").text_content() or "")
    assert [bar.get_attribute("data-name") for bar in overlap.locator(".bar").all()] == [
        "act/left",
        "act/right",
    ]
    needed, allowed = widths(limit.locator(".meter > div"))
    assert needed == pytest.approx(2 * allowed, rel=0.02)
    assert "pass 2^64 - 1" in overflow.inner_text()
    assert "refused by the prefix of provider provider/b in node b" in span.inner_text()
