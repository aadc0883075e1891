"""The sheet that text is set on: rich's console, told exactly what the screen can show."""

from __future__ import annotations

import re
from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ferrum_verify.report.formats import Screen


class _Encoded(StringIO):
    """Collects text; its encoding decides whether lines are drawn or spelt in ASCII."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding


# A continuous-integration service obeys lines that begin so; a long name may wrap just there.
_COMMAND = re.compile(r"^(\s*)(::|##\[)")
_DEFUSED = r"\1\\\2"


class Sheet:
    """Sets blocks below each other, at most ``width`` columns wide.

    Names in a document are data: nothing in them is read as markup, and no emoji, colour or
    link comes out of them.
    """

    def __init__(self, screen: Screen) -> None:
        self.width = max(screen.width, 40)
        self._collected = _Encoded(screen.encoding)
        self._console = Console(
            file=self._collected,
            width=self.width,
            force_terminal=screen.color,
            color_system="standard" if screen.color else None,
            no_color=not screen.color,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )

    def add(self, block: RenderableType) -> None:
        """Set one more block at the end."""
        self._console.print(block)

    def text(self) -> str:
        """What has been set so far, without blanks at line ends."""
        lines = self._collected.getvalue().splitlines()
        return "".join(f"{_COMMAND.sub(_DEFUSED, line.rstrip())}\n" for line in lines)


def plain_table(*columns: str) -> Table:
    """A table without lines; a column whose name begins with ``>`` is set to the right."""
    rows = Table(box=None, padding=(0, 1), header_style="dim", pad_edge=True)
    for column in columns:
        right = column.startswith(">")
        rows.add_column(
            column.removeprefix(">"), justify="right" if right else "left", overflow="fold"
        )
    return rows
