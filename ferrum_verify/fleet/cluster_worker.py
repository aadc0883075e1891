"""What a worker of a Dask cluster does: this file alone imports Dask, and so needs the extra."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, cast

from distributed import WorkerPlugin, get_worker

from ferrum_verify.fleet.auditor import Auditor
from ferrum_verify.fleet.done import Done, done_with

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.fleet.reading import DocumentWire
    from ferrum_verify.fleet.terms import Terms

_one_at_a_time = Lock()
"""A worker may have several threads, and the solver works for one of them at a time."""


@dataclass
class AuditorOfRun(WorkerPlugin):  # type: ignore[misc]
    """One run's auditor on each worker, those that join later too."""

    name: str
    terms: Terms
    carrying: Mapping[str, DocumentWire]
    _auditor: list[Auditor] = field(default_factory=list)

    @property
    def auditor(self) -> Auditor:
        """The auditor, made when the worker is first asked for it."""
        if not self._auditor:
            self._auditor.append(Auditor.of(self.terms, self.carrying))
        return self._auditor[0]


def audit(run: str, path: str, content: bytes | None) -> Done:
    """Audit a file on the worker that this is called on."""
    with _one_at_a_time:
        plugin = cast("AuditorOfRun", get_worker().plugins[run])
        return done_with(plugin.auditor, path, content)
