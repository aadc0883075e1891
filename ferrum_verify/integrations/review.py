"""The review of a branch: audits the plans that it changes, compares the catalogs that it changes.

``ferrum-verify review`` is this, and what the GitHub Action and the pre-push hook run.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ferrum_verify.auditing.audit import audit
from ferrum_verify.contracts import check_contracts, compare_contracts
from ferrum_verify.contracts.sources import PlanSource, read_plans, read_sound_catalog
from ferrum_verify.findings.errors import DocumentError
from ferrum_verify.findings.wording import plural, printable
from ferrum_verify.integrations.baseline import compare
from ferrum_verify.plan.number_notation import differing_ordered_fingerprint
from ferrum_verify.reading.kinds import detect
from ferrum_verify.reading.load import read_documents
from ferrum_verify.report.model import DocumentReport, Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.integrations.baseline import Baseline
    from ferrum_verify.integrations.config import Settings
    from ferrum_verify.integrations.gate import Gate
    from ferrum_verify.integrations.git_changes import Branch, ChangedFile


_WITHOUT_CATALOG = ("fragment", "memory-plan", "problem")
"""Kinds of documents that say nothing of the catalog that they were compiled under."""


@dataclass(frozen=True, slots=True)
class Review:
    """The report of everything that a branch changes, and what there is to say beside it."""

    report: Report
    remarks: tuple[str, ...]
    exit_status: int


@dataclass(slots=True)
class _Reviewing:
    """A review that is under way: ``earlier`` is a folder for files as they were before."""

    branch: Branch
    settings: Settings
    earlier: Path
    remarks: list[str] = field(default_factory=list)
    labels: dict[Path, str] = field(default_factory=dict)

    def now(self, path: str) -> Path:
        """A file of the work tree, as seen from the working directory."""
        return Path(os.path.relpath(self.branch.top / path))

    def before(self, path: str) -> Path:
        """A file as it was at the merge base, written where it can be read."""
        place = self.earlier / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(self.branch.before(path))
        self.labels[place] = f"{printable(path)} as of {self.branch.short_base}"
        return place


def review(
    branch: Branch,
    plans: Sequence[str],
    catalogs: Sequence[str],
    gate: Gate,
) -> Review:
    """Review what a branch changes of the files that the patterns name.

    Changed plans are audited. A new catalog is checked; a changed one is also compared with
    what it was at the merge base, and so is one that is gone. Plans that were compiled under
    either catalog are re-judged with it. A comparison that is not possible is a document that
    is undecided, and a remark says why. What the branch changes of its own gate is reported
    last: it hides nothing.
    """
    settings = gate.settings
    with tempfile.TemporaryDirectory(prefix="ferrum-verify-") as folder:
        state = _Reviewing(branch, settings, Path(folder))
        audited = Report(
            execution=settings.execution,
            documents=tuple(
                document
                for changed in branch.changed_files(plans)
                if changed.now is not None
                for document in _audited(state.now(changed.now), settings).documents
            ),
        )
        compared = [
            document
            for changed in branch.changed_files(catalogs)
            for document in _catalog_documents(state, changed, plans)
        ]
    status = 0
    if gate.baseline is not None:
        audited, status = _without_known(audited, gate.baseline, gate, state)
    whole = Report(execution=settings.execution, documents=(*audited.documents, *compared))
    whole, hidden = settings.without_ignored(whole)
    if hidden:
        source = f"{printable(str(settings.source))} at {branch.short_target}"
        state.remarks.append(
            f"{plural(len(hidden), 'finding')} hidden, as {source} ignores their rules."
        )
    whole = replace(whole, documents=(*whole.documents, *gate.changes))
    if whole.documents:
        status = whole.exit_status or status
    return Review(whole, tuple(map(printable, state.remarks)), status)


def _audited(path: Path, settings: Settings) -> Report:
    return audit(path, settings.execution, settings.prove, limits=settings.limits)


def _without_known(
    audited: Report, baseline: Baseline, gate: Gate, state: _Reviewing
) -> tuple[Report, int]:
    covered = [document for document in audited.documents if baseline.covers(document)]
    others = [document for document in audited.documents if not baseline.covers(document)]
    known = replace(audited, documents=tuple(covered))
    changes = compare(known, baseline, proved=state.settings.prove)
    # Taking out what was mended makes nothing looser, so that the branch itself may do it.
    gone = [
        (document, each)
        for document, each in changes.gone
        if gate.kept[baseline.name(document), each]
    ]
    state.remarks += [
        f"{document.source}: {each.rule} is known and was not found any more; write the baseline "
        "again."
        for document, each in gone
    ]
    changes = replace(changes, gone=tuple(gone))
    return (
        replace(audited, documents=(*changes.report.documents, *others)),
        changes.exit_status if covered else 0,
    )


def _catalog_documents(
    state: _Reviewing, changed: ChangedFile, plans: Sequence[str]
) -> Iterator[DocumentReport]:
    """The reports on a changed catalog: what it declares, and what its change means."""
    if changed.now is not None:
        yield _checked(state, changed.now)
    if changed.before is None:
        return
    name = changed.now or changed.before
    source = f"{printable(name)} against {state.branch.short_base}"
    try:
        yield from _compared(state, changed, changed.before, source, plans)
    except DocumentError as error:
        state.remarks.append(f"{source} cannot be compared: {error}")
        yield DocumentReport(source=source, kind="catalog", verdict="undecided")


def _checked(state: _Reviewing, path: str) -> DocumentReport:
    settings = state.settings
    try:
        (document,) = check_contracts(
            state.now(path), prove=settings.prove, limits=settings.limits
        ).documents
    except DocumentError:
        # Why it is no catalog is a report of its own.
        (document,) = _audited(state.now(path), settings).documents
    return document


def _compared(
    state: _Reviewing, changed: ChangedFile, before: str, source: str, plans: Sequence[str]
) -> Iterator[DocumentReport]:
    settings = state.settings
    base = state.before(before)
    old = read_sound_catalog(base, "BASE")
    if changed.now is None:
        # A catalog that is gone offers nothing any more.
        head: Path | dict[str, object] = old.raw | {"operations": {}, "providers": {}}
    else:
        head = state.now(changed.now)
    new = read_sound_catalog(head, "HEAD")
    given = list(_plans_of(state, (old.raw, new.raw), plans))
    report = compare_contracts(base, head, given, prove=settings.prove, limits=settings.limits)
    catalog, *others = report.documents
    yield replace(catalog, source=source)
    for document in others:
        label = state.labels.get(document.path) if document.path is not None else None
        name = document.source if label is None else label
        yield replace(
            document,
            source=f"{name} under {printable(changed.now or before)}",
            path=document.path if label is None else None,
        )


def _plans_of(
    state: _Reviewing, catalogs: Sequence[object], patterns: Sequence[str]
) -> Iterator[Path]:
    """The files of plans that were compiled under one of the catalogs, as they are and were."""
    earlier = {
        changed.now: changed.before
        for changed in state.branch.changed_files(patterns)
        if changed.now is not None and changed.before is not None
    }
    for path in state.branch.files(patterns):
        places = [state.now(path)]
        if path in earlier:
            places.append(state.before(earlier[path]))
        for place in places:
            if any(detect(each.value) in _WITHOUT_CATALOG for each in read_documents(place)):
                continue
            try:
                belongs = all(_is_of(plan, catalogs) for plan in read_plans([place]))
            except DocumentError as error:
                state.remarks.append(f"{printable(path)} was not compared: {error}")
                continue
            if belongs:
                yield place


def _is_of(plan: PlanSource, catalogs: Sequence[object]) -> bool:
    stated = plan.header.capability_catalog_fingerprint
    return any(differing_ordered_fingerprint(stated, each) is None for each in catalogs)
