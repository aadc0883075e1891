"""One plan against another in words, as cells of a table and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.padding import Padding
from rich.text import Text

from ferrum_verify.findings.wording import byte_count, in_series, plural, pool_name, printable
from ferrum_verify.report.screen import plain_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType

    from ferrum_verify.report.against import Against, ListChange, Lone

TOTAL_COLUMNS = ("", ">Before", ">Now", ">Change")
POOL_COLUMNS = ("Pool", "Holds", ">Resources", ">Slots", ">Held before", ">Held now", ">Change")
"""Columns of the two tables; one whose name begins with ``>`` is set to the right."""

MAXIMUM_LINES = 20
"""Names of one list that are shown; the JSON report has them all."""

FEW_LINES = 6
"""As many of a list of what differs beside storage."""

_FEW_NAMES = 3

_INDENT = 4
_NAMES = {
    "usable_capacity_bytes": "Usable capacity",
    "static_bytes": "Static bytes",
    "minimum_runnable_request_bytes": "Smallest runnable request",
    "held_bytes": "Held by all pools",
    "peak_live_bytes": "Live at the peak",
}


_VERBS = {
    "dependencies": ("no longer waits for", "now waits for"),
    "resources": ("no longer lists", "now lists"),
}


class Listing(NamedTuple):
    """A list with its heading; ``hidden`` are those that are left out."""

    heading: str
    lines: tuple[str, ...]
    hidden: int


def against_title(against: Against) -> str:
    """The heading of the section."""
    return f"Against {printable(against.other)}"


def against_sentences(against: Against) -> Iterator[str]:
    """At which batch bytes are counted, or why none are; and whether nothing differs."""
    if against.is_same:
        yield "Nothing that is compared differs: nodes, what they wait for and touch, and storage."
    elif against.has_same_storage:
        yield "No storage differs: the same resources in the same slots, with the same bytes."
    if not against.nodes_compared:
        yield "Nodes are not compared, as one of the plans has none."
    if against.batch is not None:
        yield f"Pools, resources and the peak at {against.batch.words}."
    else:
        yield printable(f"No bytes at a batch are compared: the size {against.undefined}.")


def total_cells(against: Against) -> Iterator[tuple[str, ...]]:
    """A row for each total of the plans."""
    for figure in against.totals:
        before, after = figure.before, figure.after
        change = byte_change(before, after)
        yield (_NAMES[figure.name], byte_count(before), byte_count(after), change)


def pool_cells(against: Against) -> Iterator[tuple[str, ...]]:
    """A row for each pool of which something changes."""
    for pool in against.pools:
        if not pool.differs:
            continue
        held = pool.held_bytes
        yield (
            pool_name(pool.pool_id),
            pool.holds,
            _counts(pool.resources),
            _counts(pool.slots),
            *(("?", "?", "?") if held is None else (*map(byte_count, held), byte_change(*held))),
        )


def listings(against: Against) -> Iterator[Listing]:
    """What came, went, moved and grew, each list that is not empty."""
    moved = [f"{each.resource}: {each.before} → {each.after}" for each in against.moved]
    resized = [
        f"{each.resource}: {byte_count(each.before)} → {byte_count(each.after)} "
        f"({byte_change(each.before, each.after)})"
        for each in sorted(against.resized, key=lambda each: -abs(each.after - each.before))
    ]
    waits, touches = (
        [_list_line(each, *verbs) for each in against.node_lists if each.list == name]
        for name, verbs in _VERBS.items()
    )
    accesses = [
        f"{each.node}: {each.name}: {each.before or 'untouched'} → {each.after or 'untouched'}"
        for each in against.accesses
    ]
    bounds = [
        f"{each.bound} {_bound(each.before)} → {_bound(each.after)}: {_some(each.of, 1)}"
        for each in against.bounds
    ]
    others = [f"{each.member}: {_some(each.of, 1)}" for each in against.others]
    beside: tuple[tuple[str, str, Sequence[str]], ...] = (
        ("node", "that came", against.nodes_added),
        ("node", "that went", against.nodes_removed),
        ("node", "with other dependencies", waits),
        ("node", "with other resources", touches),
        ("access", "of another kind", accesses),
        ("bound", "that differs" if len(bounds) == 1 else "that differ", bounds),
        ("member", "that differs too" if len(others) == 1 else "that differ too", others),
    )
    storage: tuple[tuple[str, str, Sequence[str]], ...] = (
        ("resource", "moved", moved),
        ("resource", "of other size", resized),
        ("resource", "that came", _lone(against.resources_added)),
        ("resource", "that went", _lone(against.resources_removed)),
    )
    for lists, most in ((beside, FEW_LINES), (storage, MAXIMUM_LINES)):
        for noun, what, lines in lists:
            if lines:
                shown = tuple(map(printable, lines[:most]))
                yield Listing(f"{plural(len(lines), noun)} {what}", shown, len(lines) - len(shown))
    if against.nodes_reordered:
        yield Listing(f"{plural(against.nodes_reordered, 'node')} elsewhere in plan order", (), 0)


def against_blocks(against: Against) -> Iterator[RenderableType]:
    """The section as text, block by block."""
    yield Text(f"  {against_title(against)}", style="bold")
    for line in against_sentences(against):
        yield Padding(Text(line), (0, 0, 0, _INDENT))
    for columns, rows in (
        ()
        if against.has_same_storage
        else (
            (TOTAL_COLUMNS, list(total_cells(against))),
            (POOL_COLUMNS, list(pool_cells(against))),
        )
    ):
        if rows:
            table = plain_table(*columns)
            for row in rows:
                table.add_row(*row)
            yield Padding(table, (0, 0, 0, _INDENT - 1))
    for listing in listings(against):
        yield Padding(Text(f"{listing.heading}{':' if listing.lines else '.'}"), (0, 0, 0, _INDENT))
        for line in listing.lines:
            yield Padding(Text(line, overflow="fold"), (0, 0, 0, _INDENT + 2))
        if listing.hidden:
            more = f"… and {listing.hidden:,} more; the JSON report has them all"
            yield Padding(Text(more), (0, 0, 0, _INDENT + 2))


def byte_change(before: int, after: int) -> str:
    """A change with its sign: "+1.50 MiB", "−96 B", "–" where there is none."""
    if before == after:
        return "–"
    return f"{'+' if after > before else '−'}{byte_count(abs(after - before))}"


def _lone(resources: Iterable[Lone]) -> list[str]:
    return [
        f"{each.resource}: {each.place}"
        + ("" if each.bytes is None else f", {byte_count(each.bytes)}")
        for each in resources
    ]


def _list_line(change: ListChange, without: str, with_: str) -> str:
    parts = (
        f"{verb} {_some(names, _FEW_NAMES)}"
        for verb, names in ((without, change.removed), (with_, change.added))
        if names
    )
    return f"{change.node} {in_series(parts)}"


def _some(names: Sequence[str], most: int) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def _bound(count: int | None) -> str:
    return "none" if count is None else f"{count:,}"


def _counts(pair: tuple[int, int]) -> str:
    before, after = pair
    return f"{after:,}" if before == after else f"{before:,} → {after:,}"
