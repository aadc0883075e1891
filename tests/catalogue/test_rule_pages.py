"""The list of rules is that of the rules as they are, and every rule has a page that says all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ferrum_verify.catalogue import catalogue
from ferrum_verify.cli import run
from ferrum_verify.cli.rule_pages import index, main

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    (folder / "rules" / "slot").mkdir(parents=True)
    (folder / "rules" / "slot" / "gone.md").write_text("a rule of the past")
    assert main([str(folder)]) == 0
    return folder


def page(folder: Path, rule: str) -> str:
    family, _, name = rule.partition(".")
    return (folder / "rules" / family / f"{name}.md").read_text(encoding="utf-8")


def test_the_list_is_up_to_date() -> None:
    assert (DOCS / "rules.md").read_text(encoding="utf-8") == index(), "run: make rules"


def test_the_list_has_every_rule_once() -> None:
    listed = re.findall(r"^\| `([^`]+)` \|", index(), re.MULTILINE)
    assert sorted(listed) == sorted(catalogue())


def test_every_rule_has_a_page_and_no_other_stays(folder: Path) -> None:
    pages = {each.relative_to(folder / "rules") for each in (folder / "rules").rglob("*.md")}
    assert pages == {Path(f"{rule.replace('.', '/', 1)}.md") for rule in catalogue()}
    assert (folder / "rules.md").read_text(encoding="utf-8") == index()


def test_a_page_says_all_that_a_rule_says(folder: Path) -> None:
    for rule in catalogue().values():
        text = page(folder, rule.id)
        for part in (rule.id, rule.summary, rule.why, rule.fix, rule.source):
            assert part in text


def test_every_example_gives_a_message(folder: Path) -> None:
    for rule in catalogue().values():
        text = page(folder, rule.id)
        messages = re.findall(r"then gives:\n\n```\n.+\n", text)
        assert bool(messages) == (rule.example is not None), rule.id
        if rule.example is not None and rule.example.edits:
            assert re.search(r"^[-+]", text, re.MULTILINE), rule.id


def test_explain_prints_what_the_page_says(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "all.txt"
    assert run(["explain", "--all", "-o", str(output)]) == 0
    everything = output.read_text(encoding="utf-8")
    places = [everything.index(f"{rule}  ") for rule in catalogue()]
    assert places == sorted(places)
    assert run(["explain", "slot.shared-while-live"]) == 0
    explained = capsys.readouterr().out
    words = set(re.sub(r"[`#*]", " ", page(folder, "slot.shared-while-live")).split())
    assert words - set(re.sub(r"[`#*]", " ", explained).split()) == set()
    assert explained.strip() in everything


@pytest.mark.parametrize("arguments", [["explain"], ["explain", "--all", "slot.kind"]])
def test_explain_takes_a_rule_or_all(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert "Name a rule, or give --all for every one." in capsys.readouterr().err


def test_a_folder_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage: python -m ferrum_verify.cli.rule_pages FOLDER" in capsys.readouterr().err
