"""Names that stand for another storage after a move, which may depend on the arms that ran."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from ferrum_verify.importers.drafting import OTHER
from ferrum_verify.importers.unreadable import ForeignPlanError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrum_verify.importers.drafting import Arm

MOST_CASES = 64
"""Combinations of arms that one instruction is told apart in."""

Guard = tuple["Arm", ...]
Case = TypeVar("Case")
Name = TypeVar("Name", bound=Hashable)


@dataclass(slots=True)
class Bindings(Generic[Name]):
    """What each name stands for, by the arms in which it does; a name stands for itself at first.

    The guards of one name exclude each other.
    """

    _of: dict[Name, list[tuple[Guard, Name]]] = field(default_factory=dict)

    def move(self, source: Name, target: Name, within: Guard) -> None:
        """From here on the target stands for what the source does, wherever ``within`` runs."""
        moved = [(each, name) for _, each, name in self._within(source, within)]
        kept = []
        for guard, name in self._of.get(target, [((), target)]):
            for at, (condition, arm) in enumerate(within):
                outside = _joined(guard, (*within[:at], (condition, OTHER[arm])))
                if outside is not None:
                    kept.append((outside, name))
        self._of[target] = _bounded([*moved, *kept])

    def cases(self, names: Iterable[Name], within: Guard) -> list[tuple[Guard, dict[Name, Name]]]:
        """What the names stand for together, in each combination of arms that tells them apart.

        Names that were never moved are left out: they stand for themselves.
        """
        cases: list[tuple[Guard, dict[Name, Name]]] = [(within, {})]
        for name in dict.fromkeys(each for each in names if each in self._of):
            cases = _bounded(
                [
                    (joined, {**stands, name: each})
                    for guard, stands in cases
                    for _, joined, each in self._within(name, guard)
                ]
            )
        return cases

    def _within(self, name: Name, within: Guard) -> list[tuple[Guard, Guard, Name]]:
        found = [
            (guard, joined, each)
            for guard, each in self._of.get(name, [((), name)])
            if (joined := _joined(within, guard)) is not None
        ]
        alike = {each for _, _, each in found}
        # Where all arms leave the same, the arms make no difference.
        return [((), within, found[0][2])] if len(alike) == 1 and len(found) > 1 else found


def _joined(guard: Guard, more: Guard) -> Guard | None:
    """Both guards at once; None where they take two arms of one condition."""
    arms = dict(guard)
    for condition, arm in more:
        if arms.setdefault(condition, arm) != arm:
            return None
    return tuple(arms.items())


def _bounded(cases: list[Case]) -> list[Case]:
    if len(cases) > MOST_CASES:
        raise ForeignPlanError(
            f"One value stands for other storages in more than {MOST_CASES} combinations of arms."
        )
    return cases
