"""What ``mkdocs`` asks while it builds the site: pages from outside of this folder, and links.

The pages are written to be read in the repository. On the site a link to another page leads to
that page, and a link to a file that is no page to the file at the project's address, which is
``project.urls.Repository`` in ``pyproject.toml``.
"""

from __future__ import annotations

import posixpath
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

TOP = Path(__file__).resolve().parents[1]
ADDRESS: str = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "urls"
]["Repository"]
OUTSIDE = {
    "README.md": "index.md",
    "proofs/README.md": "proofs.md",
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
"""Pages that stand elsewhere in the repository, and their places on the site."""

_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s#]+)(#[^)\s]*)?\)")
_LISTED = re.compile(r"^\| `((\w+)\.([\w-]+))` \|", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Give the theme the project's address."""
    config.repo_url = ADDRESS
    config.repo_name = "source"
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that stand outside of this folder."""
    for origin, place in OUTSIDE.items():
        text = (TOP / origin).read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn the links of a page into those of the site, and listed rules into links."""
    place = page.file.src_uri
    origin = next((name for name, at in OUTSIDE.items() if at == place), f"docs/{place}")
    if place == "rules.md":
        markdown = _LISTED.sub(r"| [`\1`](rules/\2/\3.md) |", markdown)
    return "".join(
        part
        if part.startswith("```")
        else _LINK.sub(lambda match: _link(match, origin, place, files), part)
        for part in _FENCED.split(markdown)
    )


def _link(match: re.Match[str], origin: str, place: str, files: Files) -> str:
    text, target, fragment = match[1], match[2], match[3] or ""
    if "://" in target or target.startswith("mailto:"):
        return match[0]
    named = posixpath.normpath(posixpath.join(posixpath.dirname(origin), target))
    there = OUTSIDE.get(named, named.removeprefix("docs/"))
    if (named in OUTSIDE or named.startswith("docs/")) and files.get_file_from_path(there):
        return f"{text}({posixpath.relpath(there, posixpath.dirname(place) or '.')}{fragment})"
    return f"{text}({ADDRESS}/blob/main/{named}{fragment})"
