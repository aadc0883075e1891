"""Markdown: verdict, table, folded findings, within a comment's limits, and nothing obeyed."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from ferrum_verify.catalogue import catalogue
from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.report.formats import render
from ferrum_verify.report.markdown import MAXIMUM_CHARACTERS
from ferrum_verify.report.model import DocumentReport, Obligations, Report
from tests.report.broken_plans import report_of_files
from tests.report.findings import document, finding
from tests.report.test_model import COUNTEREXAMPLES

if TYPE_CHECKING:
    from pathlib import Path


def markdown_of(*documents: DocumentReport) -> str:
    return render(Report(execution="fenced", documents=documents), "markdown")


def html_of(*documents: DocumentReport) -> str:
    page: str = MarkdownIt("commonmark").enable("table").render(markdown_of(*documents))
    return page


def test_verdict_first_then_the_table_then_the_folded_findings() -> None:
    page = html_of(document(finding(location="/nodes/1", expected=[1], actual=2)))
    assert page.startswith("<h3>ferrum-verify: violated</h3>\n")
    assert "1 document audited under <code>fenced</code> execution: 1 error." in page
    row = re.findall(r"<td[^>]*>(.*?)</td>", page)
    assert row == ["<code>a.json</code>", "<strong>violated</strong>", "1", "0", "0", "0"]
    fold = page[page.index("<details>") : page.index("</details>")]
    assert "<summary><code>a.json</code>: 1 error</summary>" in fold
    assert "<strong>error</strong> <code>slot.shared-while-live</code>" in fold
    assert "at <code>/nodes/1</code>" in fold
    assert "Two are live." in fold
    assert "(expected <code>[1]</code>; found <code>2</code>)" in fold
    assert catalogue()["slot.shared-while-live"].fix.split(",")[0] in fold


def test_proofs_have_a_column_where_they_ran() -> None:
    claims = Obligations(proved=6, undecided=1, vacuous=2, formulas=4)
    text = markdown_of(document(verdict="undecided", obligations=claims), document())
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows[0].endswith("| Claims proved |")
    assert rows[2] == "| `a.json` | **violated** | 0 | 0 | 0 | 0 | - |"
    assert rows[3] == "| `a.json` | **undecided** | 0 | 0 | 0 | 0 | 6 of 9 (4 formulas) |"


def test_lines_are_named(tmp_path: Path) -> None:
    faulty = sample("fragment")
    apply_edits(faulty, {"/memory/static_bytes": 1})
    path = tmp_path / "a.json"
    path.write_text(json.dumps(faulty, indent=2))
    text = markdown_of(*report_of_files(path).documents)
    (number,) = re.findall(r"at `/memory/static_bytes`, line (\d+)\n", text)
    assert path.read_text().splitlines()[int(number) - 1].strip() == '"static_bytes": 1,'


def test_counterexamples_are_drawn() -> None:
    page = html_of(document(*(finding(counterexample=each) for each in COUNTEREXAMPLES)))
    assert page.count('<pre><code class="language-text">') == len(COUNTEREXAMPLES)
    assert "at time 1 both are live:" in page


def test_urgent_findings_come_first() -> None:
    text = markdown_of(
        document(
            finding("a", severity="note"),
            finding("b", severity="warning"),
            finding("c", severity="warning", undecided=True),
            finding("d"),
        )
    )
    labels = re.findall(r"^- \*\*(\w+)\*\*", text, re.MULTILINE)
    assert labels == ["error", "undecided", "warning", "note"]


def test_names_are_shown_and_never_obeyed() -> None:
    hostile = (
        "<img src=x> ![i](http://a) [l](http://b) **bold** # h | `c @team` @team ``` \n</details>"
    )
    page = html_of(
        document(
            finding(f"{hostile} is wrong", location=f"/{hostile}", actual=hostile),
            source=hostile,
        )
    )
    assert "<img" not in page
    assert "<a " not in page
    assert "<h1>" not in page
    assert page.count("</details>") == 1
    assert page.count("<strong>") == 2
    outside = re.sub(r"<code>.*?</code>", "", page, flags=re.DOTALL)
    assert "@team" not in outside
    assert len(re.findall(r"<td", page)) == 6


def test_more_findings_than_a_comment_can_hold() -> None:
    findings = [finding("long " * 30 + f"number {index}") for index in range(2000)]
    text = markdown_of(document(*findings), document(finding("in another document")))
    assert len(text) <= MAXIMUM_CHARACTERS
    shown = len(re.findall(r"^- \*\*error", text, re.MULTILINE))
    assert shown > 100
    assert f"\n{2001 - shown:,} findings more than a comment can hold" in text
    assert text.count("<details>") == text.count("</details>")


def test_more_documents_than_the_table_shows() -> None:
    many = [document(verdict="verified", source=f"{index}.json") for index in range(150)]
    text = markdown_of(*many, document(finding(), source="worst.json"))
    assert text.count("\n| `") == 100
    assert "| `worst.json` | **violated** |" in text
    assert "… and 51 documents more, none of them worse." in text
