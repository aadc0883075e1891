"""What a branch is held to: settings and a baseline as they stand where it will be merged.

What the branch makes of them itself is shown, and counts once it is merged: a change that could
loosen its own gate would pass it.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ferrum_verify.findings.wording import printable
from ferrum_verify.integrations.baseline import BaselineError, read_baseline
from ferrum_verify.integrations.bounded import read_bounded
from ferrum_verify.integrations.config import (
    FILE_NAME,
    Settings,
    SettingsError,
    find_settings,
    read_settings,
)
from ferrum_verify.limits import Limits
from ferrum_verify.report.model import DocumentReport
from ferrum_verify.rules.gate import changed_baseline, changed_settings, unreadable

if TYPE_CHECKING:
    from ferrum_verify.findings import Finding
    from ferrum_verify.integrations.baseline import Baseline, Known
    from ferrum_verify.integrations.config import Reader
    from ferrum_verify.integrations.git_changes import Branch

_Entries = Counter[tuple[str, "Known"]]


@dataclass(frozen=True, slots=True)
class Gate:
    """Settings and baseline that are in force, and reports of what the branch makes of them.

    ``kept`` is what the branch's own baseline still knows: a finding that is gone from the plans
    and from there needs nobody's attention.
    """

    settings: Settings
    baseline: Baseline | None = None
    kept: _Entries = field(default_factory=Counter)
    changes: tuple[DocumentReport, ...] = ()


def gate_of(branch: Branch, config: str | None, baseline: str | None) -> Gate:
    """The gate of a branch, of the files that the options name.

    Raises ``SettingsError`` and ``BaselineError`` where those of the base are at fault, or a
    file that is named stands neither there nor in the work tree.
    """
    settings, of_settings = _settings(branch, config)
    if baseline is None:
        return Gate(settings, changes=of_settings)
    known, kept, of_baseline = _baseline(branch, Path(baseline))
    return Gate(settings, known, kept, (*of_settings, *of_baseline))


def _reader(branch: Branch, commit: str) -> Reader:
    """Reads files of the repository as they are at a commit, and all others where they are."""

    def read(path: Path) -> bytes:
        place = branch.place(path)
        return read_bounded(path) if place is None else branch.content(commit, place)

    return read


def _settings(branch: Branch, config: str | None) -> tuple[Settings, tuple[DocumentReport, ...]]:
    path = None if config is None else Path(config)

    def at(read: Reader) -> Settings:
        return find_settings(read=read) if path is None else read_settings(path, read)

    def or_none(read: Reader) -> Settings:
        """What a named file says, if it is there: before a branch adds it, nothing is set."""
        try:
            if path is not None:
                read(path)
        except OSError:
            return Settings()
        return at(read)

    in_force = or_none(_reader(branch, branch.base))
    try:
        before = or_none(_reader(branch, branch.merge_base))
    except SettingsError:
        before = in_force
    findings: list[Finding]
    try:
        now = at(read_bounded)
    except SettingsError as error:
        if path is not None and in_force.source is None:
            raise
        source = path or before.source or Path(FILE_NAME)
        findings = [unreadable(str(error).replace("\n", "; "))]
    else:
        source = now.source or before.source or Path(FILE_NAME)
        findings = list(changed_settings(_flat(before), _flat(now), branch.short_target))
    return in_force, _report(source, "settings", findings)


def _flat(settings: Settings) -> dict[str, Any]:
    """What is stated, by key; limits and ignored rules each have one of their own."""
    flat: dict[str, Any] = {
        name: getattr(settings, name) for name in ("execution", "prove") if name in settings.stated
    }
    defaults = Limits()
    for limit in fields(Limits):
        value = getattr(settings.limits, limit.name)
        if value != getattr(defaults, limit.name):
            flat[f"limits.{limit.name.replace('_', '-')}"] = value
    if settings.select:
        flat["select"] = ", ".join(sorted(settings.select))
    for pattern, rules in settings.per_file_ignores.items():
        flat |= {f"per-file-ignores.{pattern}.{rule}": reason for rule, reason in rules.items()}
    return flat | {f"ignore.{rule}": reason for rule, reason in settings.ignore.items()}


def _baseline(
    branch: Branch, path: Path
) -> tuple[Baseline | None, _Entries, tuple[DocumentReport, ...]]:
    def at(commit: str) -> Baseline | None:
        read = _reader(branch, commit)
        try:
            read(path)
        except OSError:
            return None
        return read_baseline(path, read)

    in_force = at(branch.base)
    try:
        before = at(branch.merge_base)
    except BaselineError:
        before = in_force
    try:
        now = read_baseline(path)
    except BaselineError as error:
        if in_force is None:
            raise
        return in_force, _entries(in_force), _report(path, "baseline", [unreadable(str(error))])
    old, new = _entries(before), _entries(now)
    findings = changed_baseline(_listed(new - old), _listed(old - new), branch.short_target)
    return in_force, new, _report(path, "baseline", list(findings))


def _entries(baseline: Baseline | None) -> _Entries:
    documents = {} if baseline is None else baseline.documents
    return Counter(
        {
            (name, known): count
            for name, counts in documents.items()
            for known, count in counts.items()
        }
    )


def _listed(entries: _Entries) -> list[dict[str, str]]:
    return [{"source": name, **known._asdict()} for name, known in sorted(entries.elements())]


def _report(path: Path, kind: Any, findings: list[Finding]) -> tuple[DocumentReport, ...]:
    if not findings:
        return ()
    place = Path(os.path.relpath(path))
    source = printable(place.as_posix())
    return (
        DocumentReport(
            source=source, kind=kind, verdict="verified", findings=tuple(findings), path=place
        ),
    )
