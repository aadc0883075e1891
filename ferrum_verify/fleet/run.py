"""A run: the documents of many files, wherever they are audited, in the order of the files."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ferrum_verify.cache.folder import told_of
from ferrum_verify.findings.wording import printable
from ferrum_verify.fleet.auditor import Audited, Auditor, is_passed_over, read_subject
from ferrum_verify.reading.joining import completed
from ferrum_verify.reading.load import STANDARD_INPUT, read_documents
from ferrum_verify.report.model import DocumentReport
from ferrum_verify.rules.proof import AUDIT_ENDED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ferrum_verify.cache.folder import Fault
    from ferrum_verify.fleet.done import Done
    from ferrum_verify.fleet.reading import DocumentWire
    from ferrum_verify.fleet.terms import Terms

KEPT_SUBJECTS = 100
"""Documents whose parsed form is kept for the report; of more, the findings must do."""


class Workers(Protocol):
    """Whoever audits files elsewhere, and gives them back as they are done."""

    def run(self, paths: Sequence[str], places: Iterable[int]) -> Iterator[tuple[int, Done]]:
        """The places of files with what was found there."""


@dataclass(slots=True)
class Run:
    """One run over files, and what is to be told of it beside the reports.

    ``carrying`` are documents of an earlier report. ``with_subjects`` says that the first reports
    are to have what was read. ``advance`` is called with each file's name as it is done.
    """

    terms: Terms
    carrying: Mapping[str, DocumentWire] = field(default_factory=dict)
    with_subjects: bool = True
    advance: Callable[[str], None] = lambda _: None
    remarks: list[str] = field(default_factory=list)
    contradictions: list[str] = field(default_factory=list)
    alone: list[str] = field(default_factory=list)
    schedules: list[str] = field(default_factory=list)
    faults: Counter[Fault] = field(default_factory=Counter)
    _given: int = 0

    def here(self, paths: Iterable[str]) -> Iterator[DocumentReport]:
        """The reports of files that this process audits one after the other."""
        auditor = Auditor.of(self.terms, self.carrying)
        self._say(auditor.remarks)
        try:
            for path in paths:
                yield from self._of(auditor, path)
        finally:
            self._take(auditor)

    def elsewhere(
        self, paths: Sequence[str], workers: Workers, order: Iterable[int]
    ) -> Iterator[DocumentReport]:
        """The reports of files that workers audit in any order, given in that of ``paths``.

        Interrupted, it gives what is done, and then raises KeyboardInterrupt. Standard input can
        be read by this process alone.
        """
        auditor = Auditor.of(self.terms, self.carrying)
        self._say(auditor.remarks)
        done: dict[int, list[Audited]] = {}
        own = [place for place, path in enumerate(paths) if path == STANDARD_INPUT]
        theirs = [place for place in order if place not in own]
        following = 0
        interrupted = False
        try:
            for place in own:
                done[place] = [*auditor.audit(paths[place], with_subject=self._wants_subject())]
                self.advance(paths[place])
            for place, found in workers.run(paths, theirs):
                done[place] = self._received(paths[place], found)
                self.advance(paths[place])
                while following in done:
                    yield from self._given_back(paths[following], done.pop(following))
                    following += 1
        except KeyboardInterrupt:
            interrupted = True
        for place in sorted(done):
            yield from self._given_back(paths[place], done[place])
        self._take(auditor)
        if interrupted:
            raise KeyboardInterrupt

    def told(self) -> list[str]:
        """What people are told of the cache, each once."""
        cache = self.terms.cache
        ignored = [] if cache is None else told_of(printable(str(cache)), self.faults)
        return [*self.remarks, *ignored]

    def _of(self, auditor: Auditor, path: str) -> Iterator[DocumentReport]:
        for audited in auditor.audit(path, with_subject=self._wants_subject()):
            yield self._counted(audited)
        self.advance(path)

    def _received(self, path: str, found: Done) -> list[Audited]:
        self._say(found.remarks)
        self.faults.update(found.faults or {})
        self.contradictions += found.contradictions
        self.schedules += found.schedules
        if found.audited is not None:
            return found.audited
        finding = AUDIT_ENDED.finding(
            f"The audit of {printable(path)} did not come to its end: {found.why}"
        )
        report = DocumentReport(
            source=printable(path),
            kind=None,
            verdict="undecided",
            findings=(finding,),
            path=Path(path),
        )
        return [Audited(report, alone=False)]

    def _given_back(self, path: str, audited: list[Audited]) -> Iterator[DocumentReport]:
        subjects: Iterator[object] = iter(())
        if self._wants_subject() and path != STANDARD_INPUT:
            subjects = self._subjects(path)
        for each in audited:
            subject = next(subjects, None) if self._wants_subject() else None
            report = each.report
            if subject is not None and report.verdict != "unreadable":
                report = replace(report, subject=subject)  # type: ignore[arg-type]
            yield self._counted(Audited(report, each.alone))

    def _subjects(self, path: str) -> Iterator[object]:
        """What formats show of a file's documents, which no process sends to another."""
        for loaded in read_documents(path):
            whole = completed(loaded, self.terms.sources)
            if is_passed_over(whole, path, self.terms):
                continue
            yield None if whole.findings else read_subject(whole)

    def _counted(self, audited: Audited) -> DocumentReport:
        report = audited.report if self._wants_subject() else replace(audited.report, subject=None)
        self._given += 1
        if audited.alone:
            self.alone.append(report.source)
        return report

    def _wants_subject(self) -> bool:
        return self.with_subjects and self._given < KEPT_SUBJECTS

    def _take(self, auditor: Auditor) -> None:
        self.faults.update(auditor.take_faults())
        self.contradictions += auditor.take_contradictions()
        self.schedules += auditor.take_schedules()

    def _say(self, remarks: Iterable[str]) -> None:
        self.remarks += [each for each in remarks if each not in self.remarks]
