"""A figure: what was measured, and the limit that it must keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class Figure:
    """One measurement; ``at_least`` turns the limit from an upper into a lower one."""

    name: str
    measured: float
    limit: float
    unit: str = ""
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether the limit is kept."""
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


@dataclass(frozen=True, slots=True)
class Group:
    """Figures that are measured together."""

    name: str
    measure: Callable[[], Iterator[Figure]]
