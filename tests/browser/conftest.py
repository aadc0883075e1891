"""A real browser for the HTML report: Debian's Chromium, driven by Playwright, offline."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

import models
from ferrum_verify import audit
from ferrum_verify.report.formats import Screen
from ferrum_verify.report.html import render
from tests.availability import unavailable

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from ferrum_verify.report.model import Report

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
]

Open = Callable[..., "Page"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        unavailable("no Chromium: `make chromium` installs it (Debian, as root)")
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens a report as a file, offline; afterwards nothing may have complained or called home."""
    pages: list[Page] = []
    complaints: list[str] = []
    requests: list[str] = []

    def opened(report: Report, *, scheme: Any = "light", width: int = 1280) -> Page:
        path = tmp_path / f"report-{len(pages)}.html"
        path.write_text(render(report, Screen()), encoding="utf-8")
        context = browser.new_context(
            offline=True, color_scheme=scheme, viewport={"width": width, "height": 900}
        )
        page = context.new_page()
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.set_default_timeout(60_000)  # a busy machine is no fault
        page.goto(path.as_uri())
        # The first drawing waits for the next frame.
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        pages.append(page)
        return page

    yield opened
    for page in pages:
        page.context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith("file://")] == []
    assert len(requests) == len(pages)


@pytest.fixture(scope="session")
def decoder() -> Report:
    """A sound plan of 8 layers."""
    return audit(models.decoder(8), prove=False)


@pytest.fixture(scope="session")
def hazard() -> Report:
    """A plan with three hazards under concurrent execution, each with a schedule that shows it."""
    return audit(models.problem("qwen3.5-4b", layers=4), execution="concurrent", prove=True)
