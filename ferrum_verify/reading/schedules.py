"""Reading a schedule: from a file or a value to its model, or why it is none."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from ferrum_verify.documents.schedule import Schedule
from ferrum_verify.reading.kinds import detect
from ferrum_verify.reading.load import from_memory, read_documents
from ferrum_verify.reading.parse import UNKNOWN_KIND
from ferrum_verify.reading.read_past import read_past, too_many_faults
from ferrum_verify.reading.validation import TooManyFaultsError, validated

if TYPE_CHECKING:
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.load import LoadedDocument


@dataclass(frozen=True, slots=True)
class LoadedSchedule:
    """What plans are judged under, and where it came from.

    ``schedule`` is None where it has faults that cannot be read past; ``findings`` are all of its
    faults, and ``value`` is its JSON.
    """

    source: str
    value: Any
    schedule: Schedule | None
    findings: tuple[Finding, ...] = ()


def read_schedule(given: Any) -> LoadedSchedule:
    """The schedule of a path, or of parsed JSON."""
    if not isinstance(given, str | os.PathLike):
        loaded = from_memory(given, "<schedule>")
    else:
        documents = list(islice(read_documents(given), 2))
        loaded = documents[0]
        if len(documents) > 1:
            finding = UNKNOWN_KIND.finding("The file holds several documents, not one schedule.")
            return LoadedSchedule(loaded.source, None, None, (finding,))
    if loaded.findings:
        return LoadedSchedule(loaded.source, None, None, loaded.findings)
    value = loaded.value
    if detect(value) != "schedule" and not (isinstance(value, dict) and "host" in value):
        finding = UNKNOWN_KIND.finding(
            f"The value is no schedule{_but(detect(value))}; `ferrum-verify schema schedule` "
            "shows the form of one."
        )
        return LoadedSchedule(loaded.source, None, None, (finding,))
    schedule, findings = _read(value)
    return LoadedSchedule(loaded.source, value, schedule, tuple(findings))


def is_sound_schedule(loaded: LoadedDocument) -> bool:
    """Whether a document is a schedule without a fault: what plans are judged under, and no plan.

    One with faults is not told from a plan that is mislabelled.
    """
    if loaded.findings or detect(loaded.value) != "schedule":
        return False
    schedule, findings = _read(loaded.value)
    return schedule is not None and not findings


def _but(kind: str | None) -> str:
    return "" if kind is None else f" but a document of kind {kind}"


def _read(value: Any) -> tuple[Schedule | None, list[Finding]]:
    try:
        schedule, faults = validated(Schedule, value)
        if schedule is not None:
            return schedule, []
        _, findings, meant = read_past(Schedule, value, faults, lambda _: False)
    except TooManyFaultsError:
        return None, [too_many_faults()]
    return (meant if isinstance(meant, Schedule) else None), findings
