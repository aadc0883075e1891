"""Ways to make a plan's slots safe under another model, side by side, as data and as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.text import Text

from ferrum_verify.findings.wording import byte_count, plural, printable, sentence
from ferrum_verify.report.screen import plain_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from ferrum_verify.counterexamples import Execution

_INDENT = 4
SHOWN_DETAILS = 20
"""Dependencies or resources of one way that are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One way to make a plan safe, and what it costs.

    ``bytes`` are those of all Step slots then, ``path`` the nodes of the longest path of
    dependencies. ``details`` name what changes, line by line. ``refused_because`` says why the
    way is not offered, and is empty where it is; ``document`` is the plan as it would be.
    """

    way: str
    bytes: int
    path: int
    details: tuple[str, ...] = ()
    refused_because: str = ""
    document: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Repairs:
    """The ways side by side, beside the plan as it is.

    ``unsafe`` counts the pairs of resources that share bytes and may be live together.
    """

    execution: Execution
    unsafe: int
    bytes: int
    path: int
    ways: tuple[Repair, ...]


def repair_blocks(repairs: Repairs) -> Iterator[RenderableType]:
    """The ways as a table, what changes in each, and why others are not offered."""
    if not repairs.unsafe:
        yield Text(
            f"  No two resources that share bytes are ever live together: the plan is safe "
            f"under {repairs.execution}."
        )
        return
    pairs = plural(repairs.unsafe, "pair")
    yield Text(
        f"  {pairs} of resources share bytes and may be live together under {repairs.execution}",
        style="bold",
    )
    rows = plain_table("Way", ">Slots", ">Longest path")
    rows.add_row("as it is", byte_count(repairs.bytes), plural(repairs.path, "node"))
    offered = [way for way in repairs.ways if not way.refused_because]
    for way in offered:
        rows.add_row(way.way, byte_count(way.bytes), plural(way.path, "node"))
    yield rows
    for way in repairs.ways:
        lines = [*way.details[:SHOWN_DETAILS]]
        if len(way.details) > SHOWN_DETAILS:
            lines.append(f"and {len(way.details) - SHOWN_DETAILS:,} more")
        if way.refused_because:
            lines = [f"not offered: {sentence(way.refused_because)}"]
        if lines:
            yield Text()
            yield Text(f"  {way.way}", style="bold")
        for line in lines:
            yield Padding(Text(printable(line)), (0, 0, 0, _INDENT))
