"""No format lets a document or a file's name command a terminal or a workflow, or hide text."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import run
from ferrum_verify.report.formats import FORMATS
from tests.integrations.repository import environment, repository

if TYPE_CHECKING:
    from collections.abc import Iterator

HIDING = [
    *range(0x20),
    *range(0x7F, 0xA0),
    *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x2800, 0x3164, 0xFEFF, 0xFFA0),
    *range(0x200B, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2060, 0x2070),
    *range(0xFE00, 0xFE10),
    *range(0xFFF9, 0xFFFC),
    *range(0xE0001, 0xE0080),
    *range(0xE0100, 0xE0110),
]
ALL = "".join(map(chr, HIDING))
TEXTS = {
    "escape": "a\x1b[2J\x1b]0;t\x07\x9b31mz",
    "command": "a\n::error file=x::taken\r\n::stop-commands::x\n##[error]z\n",
    "turned": "a\u202e\u2066z\u2069\u202c\u200e\u200f\u061c",
    "all": f"a{ALL}z",
}
IN_ONE = re.compile(f"[{re.escape(ALL)}]".replace("\\\n", ""))


def with_value(text: str) -> Any:
    document = sample("fragment")
    document["memory"]["static_bytes"] = text
    document["memory"]["dynamic_pools"][0]["pool_id"] = text
    return document


def with_name(text: str) -> Any:
    document = sample("fragment")
    document["memory"][text] = 1
    document[text] = {text: text}
    return document


def with_node(text: str) -> Any:
    document = sample("fragment")
    document["nodes"][0]["id"] = text
    document["nodes"][1]["dependencies"] = [text, text]
    return document


def with_catalog(text: str) -> Any:
    document = sample("catalog")
    document["providers"][text] = document["providers"].pop("operation.norm")
    document["operations"][text] = {}
    return document


PLACES = {"value": with_value, "name": with_name, "node": with_node, "catalog": with_catalog}


def texts_of(format_name: str, shown: str) -> Iterator[str]:
    """What the format shows to people: of data its strings, as a reader unpacks them."""
    yield shown
    if format_name == "junit":
        root = ET.fromstring(shown)
        for element in root.iter():
            yield from element.attrib.values()
            yield element.text or ""
    if format_name == "sarif":
        for result in json.loads(shown)["runs"][0]["results"]:
            yield result["message"]["text"]
            for location in result["locations"]:
                yield json.dumps(location, ensure_ascii=False)


def check(format_name: str, shown: str) -> None:
    for text in texts_of(format_name, shown):
        # A mention of somebody in a comment is taken apart by a character of our own.
        found = IN_ONE.search(text.replace("@\u200b", "@"))
        assert found is None, (format_name, text[max(0, found.start() - 80) :][:160])
        for line in text.splitlines():
            if re.match(r"\s*(::|##\[)", line):
                command = r"::(error|warning|notice) (file=[^:]*,)?title=[a-z.-]+::"
                located = r"::(error|warning|notice) file=[^:]*,line=.*title=[a-z.-]+::"
                assert format_name == "github", line
                assert re.match(f"{command}|{located}", line), line


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("place", PLACES)
def test_texts_of_documents(
    folder: Path, place: str, format_name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in TEXTS.values():
        document = PLACES[place](text)
        (folder / "x.json").write_text(json.dumps(document))
        (folder / "sound.json").write_text(json.dumps(sample("catalog")))
        commands = [["audit", "x.json"], ["contracts", "check", "x.json"]]
        if place == "catalog":
            commands.append(["contracts", "compare", "sound.json", "x.json"])
        for command in commands:
            assert run([*command, "--no-prove", "--format", format_name]) in (1, 2)
            shown = capsys.readouterr()
            if shown.out:
                check(format_name, shown.out)
            check("stderr", shown.err)


@pytest.mark.parametrize("format_name", FORMATS)
def test_names_of_files(folder: Path, format_name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for text in TEXTS.values():
        name = re.sub("[/\0]", "", text)[:60]
        for path in (os.fsencode(name), os.fsencode(name)[:40] + b"\xff\xfe"):
            Path(os.fsdecode(path)).write_text(json.dumps(with_value("1")))
            for command in (["audit"], ["contracts", "check"], ["derive"]):
                more = [] if command == ["derive"] else ["--no-prove", "--format", format_name]
                assert run([*command, *more, os.fsdecode(path)]) in (1, 2)
                shown = capsys.readouterr()
                if shown.out:
                    check(format_name, shown.out)
                check("stderr", shown.err)


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_review(folder: Path, format_name: str, capsys: pytest.CaptureFixture[str]) -> None:
    odd = re.sub("[/\0]", "", TEXTS["command"] + TEXTS["turned"] + TEXTS["escape"])
    undecodable = os.fsdecode(b"plans/\xff\xfe.json")
    base = repository(
        folder,
        {f"catalogs/{odd}.json": sample("catalog"), f"plans/{odd}.json": sample("fragment")},
        {
            f"catalogs/{odd}.json": with_catalog(odd),
            f"plans/{odd}.json": with_name(odd),
            undecodable: with_value(odd),
            "pyproject.toml": f"[tool.ferrum-verify]\n{json.dumps('a' + odd)} = 1\n",
        },
    )
    given = ["review", "--base", base, "--no-prove", "--format", format_name]
    assert run([*given, "--markdown", "comment.md", "--sarif", "report.sarif"]) == 1
    shown = capsys.readouterr()
    check(format_name, shown.out)
    check("stderr", shown.err)
    check("markdown", (folder / "comment.md").read_text())
    check("sarif", (folder / "report.sarif").read_text())
    assert "gate-unreadable" in shown.out
    assert "udcff" in shown.out


def test_names_that_are_options_or_streams(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = repository(folder, {}, {"-": with_value("1"), "--all": with_value("1")})
    given = ["review", "--base", base, "--no-prove", "--format", "json", "--plans", "*"]
    assert run(given) == 1
    documents = json.loads(capsys.readouterr().out)["documents"]
    assert {each["source"]: each["verdict"] for each in documents} == {
        "--all": "violated",
        "./-": "violated",
    }
