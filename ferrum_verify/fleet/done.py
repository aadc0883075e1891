"""What one process tells another of a file that it audited."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.cache.folder import Fault
    from ferrum_verify.fleet.auditor import Audited, Auditor

KILLED = "its process was ended twice, most likely for want of memory"


class Done(NamedTuple):
    """What a process found in a file, schedules too, and what it has to say of its cache.

    ``audited`` is None of a file whose audit did not come to its end, and ``why`` says why not.
    """

    audited: list[Audited] | None
    why: str = ""
    remarks: tuple[str, ...] = ()
    faults: Mapping[Fault, int] | None = None
    contradictions: tuple[str, ...] = ()
    schedules: tuple[str, ...] = ()


def done_with(auditor: Auditor, path: str, content: bytes | None = None) -> Done:
    """What an auditor finds in a file, to be sent to another process."""
    audited = [
        each._replace(report=replace(each.report, subject=None))
        for each in auditor.audit(path, content)
    ]
    return Done(
        audited,
        remarks=tuple(auditor.remarks),
        faults=auditor.take_faults(),
        contradictions=tuple(auditor.take_contradictions()),
        schedules=tuple(auditor.take_schedules()),
    )
