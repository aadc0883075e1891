"""Reading a page of the HTML report without a browser: its tags, data and texts."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from ferrum_verify.report.formats import Screen
from ferrum_verify.report.html import render

if TYPE_CHECKING:
    from ferrum_verify.report.model import Report


class Page(HTMLParser):
    """The tags of a page with their attributes, its scripts, and what a person reads."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.html = html
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.unbalanced: list[str] = []
        self.feed(html)
        self.close()

    VOID = frozenset({"meta", "link", "br", "input"})

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        if inside == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        elif inside != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def all(self, name: str) -> list[str | None]:
        """The values of an attribute, wherever it stands."""
        return [attributes[name] for _, attributes in self.tags if name in attributes]

    @property
    def data(self) -> list[Any]:
        """What the page's script reads, one value for each document."""
        return [json.loads(text) for attributes, text in self.scripts if "data-plan" in attributes]

    @property
    def program(self) -> str:
        """The script that runs."""
        (text,) = [text for attributes, text in self.scripts if "type" not in attributes]
        return text


def page_of(report: Report) -> Page:
    return Page(render(report, Screen()))
