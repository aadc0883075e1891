"""Puts what commands print today into the pages: ``python -m tests.docs.refresh [PAGE]…``.

Lines that a page leaves out are left out again, as long as those around them can be found.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from tests.docs.pages import ELSEWHERE, ROOT, Page, page, pages
from tests.docs.sessions import LEFT_OUT, Session, agree, followed


def refreshed(old: Page) -> str:
    """The page's text with what its commands print now."""
    text, shift = old.text, 0
    with tempfile.TemporaryDirectory() as folder:
        for block, outputs in followed(old, Session(Path(folder))):
            if block.kind == "run":
                sys.exit(f"{old.name}:{block.line}: {block.body}: {outputs[0]}")
            if block.kind == "python":
                print("".join(outputs), end="")
                continue
            new = "".join(
                each.written
                + (each.shown if agree(each.shown, printed) else abridged(each.shown, printed))
                for each, printed in zip(block.commands, outputs, strict=True)
            )
            start = block.start + shift
            text = text[:start] + new + text[start + len(block.body) :]
            shift += len(new) - len(block.body)
    return text


def abridged(shown: str, printed: str) -> str:
    """What is printed, with the lines left out that the page left out, where they can be found.

    A shown line is found again by its words, whatever its numbers are now.
    """
    if LEFT_OUT not in shown.splitlines():
        return printed
    lines, found, end = printed.splitlines(), list[str](), 0
    wanted: list[list[str]] = [[]]
    for line in shown.splitlines():
        if line == LEFT_OUT:
            wanted.append([])
        else:
            wanted[-1].append(line)
    for number, piece in enumerate(wanted):
        is_last = number == len(wanted) - 1
        first = len(lines) - len(piece) if is_last else end
        last = len(lines) - len(piece) if number else 0
        words = [_words(line) for line in piece]
        start = next(
            (
                place
                for place in range(max(first, end), last + 1)
                if [_words(line) for line in lines[place : place + len(piece)]] == words
            ),
            None,
        )
        if start is None:
            return printed
        found += [*([LEFT_OUT] if number else []), *lines[start : start + len(piece)]]
        end = start + len(piece)
    return "".join(f"{line}\n" for line in found)


def _words(line: str) -> str:
    return re.sub(r"\d[\d,.]*", "#", line)


def main(names: list[str]) -> None:
    """Refresh the named pages, or all."""
    chosen = [page(name) for name in names] or pages()
    for old in chosen:
        if old.name in ELSEWHERE:
            continue
        new = refreshed(old)
        if new != old.text:
            (ROOT / old.name).write_text(new, encoding="utf-8")
            print(f"{old.name} is changed")


if __name__ == "__main__":
    main(sys.argv[1:])
