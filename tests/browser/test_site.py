"""The documentation as a site, with two versions of it side by side, in a browser."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import tomllib
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ferrum_verify.cli.rule_pages import write_pages
from tests.docs.pages import ROOT, pages
from tests.integrations.repository import environment, git

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

TAKEN = ("docs", "proofs/README.md", "mkdocs.yml", "pyproject.toml")


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where two versions of the site are served, as ``mike`` lays them out."""
    source = tmp_path_factory.mktemp("source")
    for name in (*TAKEN, *(path.name for path in ROOT.glob("*.md"))):
        (source / name).parent.mkdir(exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name)
        else:
            shutil.copy(ROOT / name, source / name)
    write_pages(source / "docs")
    git(source, "init", "--quiet", "--initial-branch", "main")
    git(source, "config", "user.name", "Planner")
    git(source, "config", "user.email", "planner@example.org")
    git(source, "add", "--all")
    git(source, "commit", "--quiet", "--message", "the pages")
    mike = Path(sys.executable).with_name("mike")
    for version in (["0.1.0"], ["0.2.0", "latest"]):
        deployed = subprocess.run(
            [mike, "deploy", "--branch", "pages", "--update-aliases", *version],
            cwd=source,
            env={**environment(), "PATH": f"{mike.parent}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert deployed.returncode == 0, deployed.stderr
    site = tmp_path_factory.mktemp("site")
    git(source, "worktree", "add", "--quiet", str(site / "all"), "pages")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Silent, directory=site / "all"))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def site(browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    outside: list[str] = []
    page.on(
        "request",
        lambda request: None if request.url.startswith(address) else outside.append(request.url),
    )
    page.set_default_timeout(60_000)
    page.goto(f"{address}/latest/")
    yield page
    context.close()
    assert complaints == []
    assert [url for url in outside if not url.startswith(("data:", "blob:"))] == []


def test_search_leads_to_a_rule(site: Page) -> None:
    site.locator(".md-search__input").first.fill("slot.shared-while-live")
    found = site.locator(".md-search-result__link", has_text="slot.shared-while-live").first
    found.click()
    site.wait_for_url("**/rules/**")
    assert "slot.shared-while-live" in site.locator("article").inner_text()


def test_the_list_of_rules_leads_to_their_pages(site: Page, address: str) -> None:
    site.goto(f"{address}/latest/rules/")
    site.locator("article a", has_text="value.input-lost").click()
    site.wait_for_url("**/rules/value/input-lost/")
    assert site.locator("article h1").inner_text().startswith("value.input-lost")


def test_versions_can_be_chosen(site: Page) -> None:
    site.locator(".md-version__current").hover(force=True)
    assert site.locator(".md-version__link").all_inner_texts() == ["0.2.0", "0.1.0"]
    site.locator(".md-version__link", has_text="0.1.0").click()
    site.wait_for_url("**/0.1.0/**")
    assert "Ferrum" in site.locator("article").inner_text()


def test_links_to_source_files_lead_to_the_projects_address(site: Page, address: str) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    repository = settings["project"]["urls"]["Repository"]
    site.goto(f"{address}/latest/contributing/")
    link = site.locator("article a", has_text="catalogue/rules.py").first
    assert link.get_attribute("href") == f"{repository}/blob/main/ferrum_verify/catalogue/rules.py"
    written = [page.text for page in pages()]
    assert not any("OWNER" in text for text in written)
    hosted = repository.removesuffix("/ferrum-verify")
    named = [word for text in written for word in text.split() if "/ferrum-verify@" in word]
    assert named
    assert all(word.startswith(f"{hosted}/ferrum-verify") for word in named)
