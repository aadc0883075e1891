"""What is gone from a list that stands for a set, and what is new in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ferrum_verify.findings import Finding, Rule

_Entry = TypeVar("_Entry")


def list_change(
    owner: str,
    verb: str,
    noun: str,
    base: Sequence[_Entry],
    head: Sequence[_Entry],
    *,
    place: str,
    lost_and_gained: tuple[Rule, Rule],
    describe: Callable[[_Entry], str] = str,
) -> Iterator[Finding]:
    """At most one finding of what HEAD lost, and one of what it gained.

    ``verb`` and ``noun`` complete the sentence "OWNER no longer … the …". Order and repetition
    are no part of what such a list says.
    """
    lost_rule, gained_rule = lost_and_gained
    lost, gained = missing_from(head, base), missing_from(base, head)
    written: dict[str, Any] = {"expected": wire_list(base), "actual": wire_list(head)}
    if lost:
        yield lost_rule.finding(
            f"{owner} no longer {verb} the {noun} {_words(lost, describe)}.", place, **written
        )
    if gained:
        yield gained_rule.finding(
            f"{owner} now {verb} the {noun} {_words(gained, describe)}.", place, **written
        )


def missing_from(other: Sequence[_Entry], entries: Iterable[_Entry]) -> list[_Entry]:
    """The entries that are not in the other list, each once and in their order."""
    missing: list[_Entry] = []
    for entry in entries:
        if entry not in other and entry not in missing:
            missing.append(entry)
    return missing


def wire_list(entries: Iterable[Any]) -> list[Any]:
    """The entries as JSON."""
    return [entry.to_wire() if hasattr(entry, "to_wire") else entry for entry in entries]


def _words(entries: Sequence[_Entry], describe: Callable[[_Entry], str]) -> str:
    return "; ".join(describe(entry) for entry in entries)
