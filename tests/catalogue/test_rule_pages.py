"""The rules' pages are those of the rules as they are, and every example gives its message."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ferrum_verify.catalogue import catalogue
from ferrum_verify.cli.rule_pages import INDEX, main, page_name, pages, write_pages

FOLDER = Path(__file__).parents[2] / "docs" / "rules"


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    return pages()


def test_pages_are_up_to_date(written: dict[str, str]) -> None:
    present = {
        path.relative_to(FOLDER).as_posix(): path.read_text(encoding="utf-8")
        for path in FOLDER.rglob("*.md")
    }
    outdated = sorted(
        name for name in present.keys() | written.keys() if present.get(name) != written.get(name)
    )
    assert outdated == [], "run: python -m ferrum_verify.cli.rule_pages docs/rules"


def test_every_example_gives_a_message(written: dict[str, str]) -> None:
    for rule in catalogue().values():
        page = written[page_name(rule)]
        messages = re.findall(r"^> \*\*\w+\*\* at .+: .+$", page, re.MULTILINE)
        assert bool(messages) == (rule.example is not None), rule.id
        if rule.example is not None and rule.example.edits:
            assert re.search(r"```diff\n(?:.*\n)*?[-+]", page), rule.id


def test_a_page_says_all_that_a_rule_says(written: dict[str, str]) -> None:
    for rule in catalogue().values():
        page = written[page_name(rule)].lower()
        for part in (rule.id, rule.summary, rule.why, rule.fix, rule.source):
            assert part.lower() in page


def test_links_lead_somewhere(written: dict[str, str]) -> None:
    headings = set(re.findall(r"^## (.*)$", written[INDEX], re.MULTILINE))
    for name, text in written.items():
        for target in re.findall(r"\]\(([^)]*)\)", re.sub(r"`[^`]*`", "", text)):
            path, _, anchor = target.partition("#")
            resolved = Path(name).parent.joinpath(path)
            parts: list[str] = []
            for part in resolved.parts:
                parts = parts[:-1] if part == ".." else [*parts, part]
            assert "/".join(parts) in written, (name, target)
            assert not anchor or anchor in headings


def test_writing_changes_only_what_has_changed(tmp_path: Path, written: dict[str, str]) -> None:
    first = write_pages(tmp_path, written)
    assert sorted(first) == sorted(written)
    page = tmp_path / "slot" / "shared-while-live.md"
    page.write_text("edited by hand")
    (tmp_path / "slot" / "gone.md").write_text("a rule of the past")
    (tmp_path / "kept.txt").write_text("no page")
    changed = write_pages(tmp_path, written)
    assert changed == ["slot/shared-while-live.md", "slot/gone.md"]
    assert page.read_text(encoding="utf-8") == written["slot/shared-while-live.md"]
    assert (tmp_path / "kept.txt").exists()
    assert write_pages(tmp_path, written) == []


def test_a_folder_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage: python -m ferrum_verify.cli.rule_pages FOLDER" in capsys.readouterr().err
