"""Takes the screenshots of the HTML report anew: ``python docs/images/screenshots.py``.

Needs Debian's Chromium and Playwright, as the browser tests do.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

import models  # noqa: E402
from ferrum_verify import audit  # noqa: E402
from ferrum_verify.catalogue.restamp import restamp  # noqa: E402
from ferrum_verify.catalogue.samples import sample  # noqa: E402
from ferrum_verify.contracts import compare_contracts  # noqa: E402
from ferrum_verify.report.formats import render  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE: Any = {"width": 1280, "height": 900}
TALL: Any = {"width": 1280, "height": 1220}


def main() -> None:
    """Audit two plans, compare two catalogs, and take pictures of what the reports show."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("There is no Chromium: `make chromium` installs it.")
    os.chdir(tempfile.mkdtemp())
    write("decoder-32", models.decoder(32), "fenced")
    write("qwen3.5-4b", models.problem("qwen3.5-4b", layers=4), "concurrent")
    write_comparison("comparison")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        take(browser, "decoder-32", "report-decoder-32", zoom_and_hover)
        take(browser, "decoder-32", "report-capacity-dark", point_at_frontier, part="#d0-capacity")
        take(browser, "qwen3.5-4b", "report-schedule", lambda page: page.wait_for_timeout(100))
        take(browser, "qwen3.5-4b", "report-hazard", next_hazard, part="#d0-timeline")
        take(browser, "qwen3.5-4b", "report-bytes", list_holders, part="#d0-bytes")
        take(browser, "comparison", "report-comparison", point_at_count, size=TALL)
        browser.close()


def write(name: str, problem: dict[str, Any], execution: Any) -> None:
    """The report of a problem, beside it in the current directory."""
    Path(f"{name}.json").write_text(json.dumps(problem), encoding="utf-8")
    report = audit(f"{name}.json", execution=execution)
    Path(f"{name}.html").write_text(render(report, "html"), encoding="utf-8")


def write_comparison(name: str) -> None:
    """The report of a change that breaks a plan: coarser prefixes of attention, and more."""
    plan = sample("bundle")
    Path("base.json").write_text(json.dumps(plan["catalog"]), encoding="utf-8")
    Path("decoder.json").write_text(json.dumps(plan), encoding="utf-8")
    head = plan["catalog"]
    providers = head["providers"]
    attention, mixer = providers["operation.attention"][1], providers["operation.mixer"][0]
    contract = attention["checkpoint_capability"]["completed_boundary"]
    contract["boundaries"]["prefix"] = {"minimum_tokens": 16, "alignment": 8}
    contract["completed_input_capture"] = "unsupported"
    attention["accepted_weight_formats"].append("weight-format.new")
    mixer["checkpoint_capability"]["completed_boundary"]["partition_numerics"] = (
        "bitwise_equivalent"
    )
    providers["operation.norm"][0]["provider_implementation_fingerprint"] = "5" * 64
    del providers["operation.attention"][0]
    restamp(head)
    Path("head.json").write_text(json.dumps(head), encoding="utf-8")
    report = compare_contracts("base.json", "head.json", ["decoder.json"])
    Path(f"{name}.html").write_text(render(report, "html"), encoding="utf-8")


def take(
    browser: Browser,
    report: str,
    picture: str,
    act: Callable[[Page], None],
    *,
    part: str | None = None,
    size: Any = SIZE,
) -> None:
    """One picture, of the window or of one part of the page."""
    scheme: Any = "dark" if picture.endswith("dark") else "light"
    page = browser.new_page(viewport=size, color_scheme=scheme)
    page.goto(Path(f"{report}.html").resolve().as_uri())
    page.locator(".view .bar, .ticks .tick").first.wait_for(state="attached")
    act(page)
    page.wait_for_timeout(200)
    path = HERE / f"{picture}.png"
    if part is None:
        page.screenshot(path=path)
    else:
        page.locator(part).screenshot(path=path)
    page.close()
    print(f"{path.name}: {path.stat().st_size:,} bytes")


def zoom_and_hover(page: Page) -> None:
    """Close enough to read the names, with the pointer on a bar."""
    for _ in range(4):
        page.get_by_label("Zoom in").click()
    page.hover('.view [data-name="resource/activation/l0013/down"]')


def point_at_frontier(page: Page) -> None:
    """The point of eight sequences."""
    page.locator(".chart").focus()
    page.keyboard.press("End")
    for _ in range(7):
        page.keyboard.press("ArrowLeft")


def point_at_count(page: Page) -> None:
    """A count that only BASE permits."""
    page.locator(".ticks [data-tokens='20']").first.hover()


def list_holders(page: Page) -> None:
    """The peak's largest holders."""
    page.locator("[data-footprint]").get_by_label("Go to the peak").click()


def next_hazard(page: Page) -> None:
    """The first hazard, chosen."""
    page.locator(".timeline .view").focus()
    page.keyboard.press("h")


if __name__ == "__main__":
    main()
