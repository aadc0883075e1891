"""Arms: which nodes run in one run together, and what is there in every run with some of them.

What a node's arms say is a set of pairs, each of a condition and an arm of it: the node runs
where all of them hold. Conditions are independent, and each takes one of its arms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Arms: TypeAlias = tuple[tuple[str, str], ...]
"""Conditions, each once and ascending, with the arm that each takes."""


def arms_of(pairs: Iterable[tuple[str, str]]) -> Arms | None:
    """The arms in one form; None where two of them exclude each other."""
    arms = tuple(sorted(set(pairs)))
    return arms if len({condition for condition, _ in arms}) == len(arms) else None


def are_together(one: Arms, other: Arms) -> bool:
    """Whether there is a run in which both hold."""
    if not one or not other or one == other:
        return True
    taken = dict(one)
    return all(taken.get(condition, arm) == arm for condition, arm in other)


def implies(one: Arms, other: Arms) -> bool:
    """Whether the other holds in every run in which the one does."""
    return not other or set(other) <= set(one)


def joined(*arms: Arms) -> Arms:
    """What holds where all of them do, of arms that are together."""
    return tuple(sorted({pair for each in arms for pair in each}))


def run_with(arms: Arms, choices: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """A run in which the arms hold: the arm that each condition takes, by default its first."""
    return {condition: of[0] for condition, of in choices.items()} | dict(arms)


def choices_of(all_arms: Iterable[Iterable[tuple[str, str]]]) -> dict[str, list[str]]:
    """For each condition its arms, as nodes name them."""
    choices: dict[str, list[str]] = {}
    for arms in all_arms:
        for condition, arm in arms:
            of = choices.setdefault(condition, [])
            if arm not in of:
                of.append(arm)
    return choices
