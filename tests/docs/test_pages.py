"""The documentation says what is so: each page is followed, and prints what it shows."""

from __future__ import annotations

import difflib
import re
import shlex
from typing import TYPE_CHECKING

import click
import pytest

from ferrum_verify.cli import commands
from tests.docs.pages import ELSEWHERE, ROOT, anchor, page, pages
from tests.docs.refresh import abridged, refreshed
from tests.docs.sessions import Session, agree, followed, settled

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docs.pages import Page

PAGES = pages()
FOLLOWED = [each for each in PAGES if each.name not in ELSEWHERE]
REMOTE = ("https://", "mailto:")


def name_of(each: Page) -> str:
    return each.name


@pytest.mark.parametrize("shown", FOLLOWED, ids=name_of)
def test_what_is_shown_is_what_is_printed(shown: Page, tmp_path: Path) -> None:
    faults: list[str] = []
    for block, outputs in followed(shown, Session(tmp_path)):
        place = f"{shown.name}:{block.line}"
        if block.kind != "console":
            faults += [f"{place}: {block.body}\n{output}" for output in outputs if output]
            continue
        for each, printed in zip(block.commands, outputs, strict=True):
            if not agree(each.shown, printed):
                difference = difflib.unified_diff(
                    settled(each.shown).splitlines(),
                    settled(printed).splitlines(),
                    "shown",
                    "printed",
                    lineterm="",
                )
                faults.append("\n".join((f"{place}: {each.command}", *difference)))
    assert not faults, "\n\n".join(faults)


@pytest.mark.parametrize("shown", PAGES, ids=name_of)
def test_links_and_pictures_are_there(shown: Page) -> None:
    folder = (ROOT / shown.name).parent
    for link in shown.links:
        if link.startswith(REMOTE):
            continue
        path, _, place = link.partition("#")
        target = (folder / path).resolve() if path else ROOT / shown.name
        assert target.exists(), link
        if place and target.suffix == ".md":
            assert place in page(target.relative_to(ROOT).as_posix()).anchors, link


@pytest.mark.parametrize("shown", PAGES, ids=name_of)
def test_commands_in_the_running_text_exist(shown: Page) -> None:
    scripts = [block.body for block in shown.blocks if block.kind == "sh"]
    lines = [line for script in scripts for line in script.splitlines()]
    for span in (*shown.spans, *lines):
        if span.startswith("ferrum-verify "):
            words = shlex.split(span, comments=True)[1:]
            command: click.Command | None = commands
            while isinstance(command, click.Group) and words and not words[0].startswith("-"):
                _, command, words = command.resolve_command(click.Context(command), words)
            assert command is not None, span
            assert {word for word in words if word.startswith("-")} <= options(command), span


@pytest.mark.parametrize("shown", PAGES, ids=name_of)
def test_files_in_the_running_text_exist(shown: Page) -> None:
    tops = "|".join(("ferrum_verify", "proofs", "models", "tests", "benchmarks", "docs"))
    for span in shown.spans:
        if re.fullmatch(rf"(?:{tops})/[\w./-]*", span):
            assert (ROOT / span).exists(), span


def options(command: click.Command) -> set[str]:
    context = click.Context(command, help_option_names=["-h", "--help"])
    return {
        flag
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option)
        for flag in (*parameter.opts, *parameter.secondary_opts)
    }


def test_every_page_can_be_reached_from_the_first() -> None:
    seen, waiting = set(), [page("README.md")]
    while waiting:
        current = waiting.pop()
        seen.add(current.name)
        for link in current.links:
            target = ((ROOT / current.name).parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target.is_relative_to(ROOT):
                name = target.relative_to(ROOT).as_posix()
                if name not in seen:
                    waiting.append(page(name))
    assert seen >= {each.name for each in PAGES}


def test_blocks_of_a_page() -> None:
    text = (
        "# One\n\n<!-- run: true -->\n\n```console\n$ echo a \\\n>   b\na b\n$ false\n```\n"
        "<!-- file: plans/a.json -->\n```json\n{}\n```\n\n[x](y.md#z) `[no](link)`\n"
    )
    first, second, third = type(PAGES[0])("x.md", text).blocks
    assert (first.kind, first.body, first.line) == ("run", "true", 3)
    assert [(each.command, each.shown) for each in second.commands] == [
        ("echo a b", "a b\n"),
        ("false", ""),
    ]
    assert (third.file, third.body, third.line) == ("plans/a.json", "{}\n", 13)
    assert type(PAGES[0])("x.md", text).links == ["y.md#z"]
    assert anchor("A plan, `explained`: what?") == "a-plan-explained-what"


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a 1.23 s\n", "a 0.04 s\n", True),
        ("a 1.23 s\n", "a 4 s\n", False),
        ("a\n…\nc\n", "a\nb1\nb2\nc\n", True),
        ("a\n…\nc\n", "a\nc\n", True),
        ("a\n…\nc\n", "a\nb\nd\n", False),
        ("a\n…\n", "b\na\n", False),
        ("x  z3 4.8  0.01  proved\n", "x  z3 5.4.1      12.20  proved\n", True),
        ("a.b\n", "axb\n", False),
    ],
)
def test_agreement(shown: str, printed: str, same: bool) -> None:
    assert agree(shown, printed) is same


def test_a_wrong_page_is_seen_and_set_right(tmp_path: Path) -> None:
    wrong = type(PAGES[0])(
        "x.md",
        "```console\n$ ferrum-verify --version\nferrum-verify 9.9.9\n$ false\n$ echo $?\n0\n```\n"
        "```python\n>>> 1 + 1\n3\n```\n",
    )
    outputs = [output for _, printed in followed(wrong, Session(tmp_path)) for output in printed]
    assert outputs[0] == page_version()
    assert outputs[2] == "1\n"
    assert "Expected:\n    3\nGot:\n    2" in outputs[3]
    assert f"$ ferrum-verify --version\n{page_version()}$ false\n$ echo $?\n1\n" in refreshed(wrong)


@pytest.mark.parametrize(
    ("shown", "printed", "now"),
    [
        ("a 1\n…\n", "a 2\nb\nc\n", "a 2\n…\n"),
        ("a 1\n…\nc 1\n…\ne\n", "a 22\nb\nc 3\nd\ne\n", "a 22\n…\nc 3\n…\ne\n"),
        ("…\nc 1\n", "a\nb\nc 2\n", "…\nc 2\n"),
        ("a\n…\n", "b\na\n", "b\na\n"),
        ("a\n…\nc\n", "a\nc\nd\n", "a\nc\nd\n"),
        ("a 1\n", "a 2\nb\n", "a 2\nb\n"),
    ],
)
def test_lines_that_were_left_out_are_left_out_again(shown: str, printed: str, now: str) -> None:
    assert abridged(shown, printed) == now


def page_version() -> str:
    from ferrum_verify import __version__

    return f"ferrum-verify {__version__}\n"
