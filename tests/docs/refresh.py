"""Puts what commands print today into the pages: ``python -m tests.docs.refresh [PAGE]…``.

What a page shows with lines left out stays as it is while it is still true. Where it is not, the
tables of a report are left out again; anything else is left to the writer.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.docs.pages import ELSEWHERE, ROOT, Page, page, pages
from tests.docs.sessions import Session, agree, followed

if TYPE_CHECKING:
    from tests.docs.pages import Command


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
                each.written + (each.shown if agree(each.shown, printed) else cut(each, printed))
                for each, printed in zip(block.commands, outputs, strict=True)
            )
            start = block.start + shift
            text = text[:start] + new + text[start + len(block.body) :]
            shift += len(new) - len(block.body)
    return text


def cut(command: Command, printed: str) -> str:
    """What is printed, without the tables of a report where the page left them out."""
    head, tables, _ = printed.partition("\n  Pools: ")
    return f"{head}…\n" if tables and command.shown.endswith("\n…\n") else printed


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
