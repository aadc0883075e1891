"""The pages of the documentation, taken apart: what is run, what is a file, and what links where.

A page is followed from top to bottom, as a reader does:

- a ``console`` block is a session: lines that begin with ``$ `` are commands, and what follows
  is what they print. A line that is only ``…`` stands for any lines;
- a ``python`` block with prompts is one too, and all of a page share their names;
- a block after ``<!-- file: NAME -->`` is the content of that file;
- ``<!-- run: COMMAND -->`` is a command that readers do not see.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The top of this project."""

ELSEWHERE = frozenset({"docs/tools.md"})
"""Pages whose commands have a test of their own."""

_BLOCK = re.compile(
    r"^<!-- run: (?P<run>.*?) -->$"
    r"|(?:^<!-- file: (?P<file>\S+) -->\n+)?"
    r"^```(?P<language>[a-z0-9-]*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_COMMAND = re.compile(r"\$ ((?:.*\\\n)*.*)\n")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a console block as it is written and as it is run, and what is shown below."""

    written: str
    command: str
    shown: str


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a page that is run or written; ``line`` is where its body begins."""

    kind: str
    body: str
    line: int
    start: int
    file: str | None = None

    @property
    def commands(self) -> list[Command]:
        """The commands of a console block."""
        commands: list[Command] = []
        for part in re.split(r"^(?=\$ )", self.body, flags=re.MULTILINE)[1:]:
            match = _COMMAND.match(part)
            assert match is not None
            command = re.sub(r"\\\n(> )?\s*", "", match[1])
            commands.append(Command(match[0], command, part[match.end() :]))
        return commands


@dataclass(frozen=True, slots=True)
class Page:
    """A Markdown file of the project."""

    name: str
    text: str

    @property
    def blocks(self) -> list[Block]:
        """The parts that are run or written, from top to bottom."""
        found = []
        for match in _BLOCK.finditer(self.text):
            part = "run" if match["run"] is not None else "body"
            start = match.start(part)
            kind = "run" if part == "run" else match["language"]
            line = self.text.count("\n", 0, start) + 1
            found.append(Block(kind, match[part], line, start, match["file"]))
        return found

    def section(self, heading: str) -> Page:
        """The part of the page from a heading to the next of its level, as a page of its own."""
        level, _, _ = heading.partition(" ")
        _, found, rest = self.text.partition(f"\n{heading}\n")
        assert found, heading
        return Page(self.name, re.split(rf"^{level} ", rest, maxsplit=1, flags=re.MULTILINE)[0])

    @property
    def links(self) -> list[str]:
        """Where the page's links and pictures lead, code aside."""
        return _LINK.findall(_CODE.sub("", self.text))

    @property
    def spans(self) -> list[str]:
        """What stands in backticks in the running text."""
        return _SPAN.findall(re.sub(r"^```.*?^```$", "", self.text, flags=re.M | re.S))

    @property
    def anchors(self) -> set[str]:
        """The names by which its headings can be linked to."""
        text = re.sub(r"^```.*?^```$", "", self.text, flags=re.MULTILINE | re.DOTALL)
        return {anchor(heading) for heading in _HEADING.findall(text)}


def anchor(heading: str) -> str:
    """The name that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def page(name: str) -> Page:
    """The page at a path from the top of the project."""
    return Page(name, (ROOT / name).read_text(encoding="utf-8"))


def pages() -> list[Page]:
    """Every page that is written by hand."""
    written = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    return [page(path.relative_to(ROOT).as_posix()) for path in sorted(written)]
