"""The auditor: audits file after file by the same terms, with what it learned from the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.auditing.audit import audit_document, new_answers
from ferrum_verify.auditing.checks import derive_subject
from ferrum_verify.cache.error import CacheError
from ferrum_verify.cache.folder import CacheFolder
from ferrum_verify.findings.wording import printable
from ferrum_verify.fleet.remembered import RememberedReports
from ferrum_verify.reading.joining import completed
from ferrum_verify.reading.kinds import detect
from ferrum_verify.reading.load import no_document_in, read_documents
from ferrum_verify.reading.parse import subject_of
from ferrum_verify.report.model import DocumentReport

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrum_verify.cache.folder import Fault
    from ferrum_verify.fleet.reading import DocumentWire
    from ferrum_verify.fleet.terms import Terms
    from ferrum_verify.prove.answers import Answers
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.reading.load import LoadedDocument


class Audited(NamedTuple):
    """A document's report, and whether it was ``alone``: without sources, for want of a plan."""

    report: DocumentReport
    alone: bool


@dataclass(slots=True)
class Auditor:
    """One process's part of a run.

    ``carrying`` are documents of an earlier report. What is wrong with the cache costs time, and
    is one of the ``remarks``. ``schedules`` are files of folders that are none to audit.
    """

    terms: Terms
    reports: RememberedReports
    answers: Answers | None
    remarks: list[str]
    schedules: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, terms: Terms, carrying: Mapping[str, DocumentWire] | None = None) -> Auditor:
        """An auditor, its cache opened."""
        folder, remarks = None, []
        if terms.cache is not None and terms.remembering:
            try:
                folder = CacheFolder.open(terms.cache)
            except CacheError as error:
                remarks.append(printable(f"The cache {terms.cache} is not used: {error}."))
        reports = RememberedReports(
            terms.digest() if terms.remembering else "",
            # Of what is written beside the report, a remembered one writes nothing.
            folder if terms.smt2 is None and not terms.memory else None,
            carrying or {},
            terms.doubted,
        )
        answers = None
        if terms.prove and terms.judge != "conformance":
            answers = new_answers(folder, doubted=terms.doubted)
        return cls(terms, reports, answers, remarks)

    def audit(
        self, path: str, content: bytes | None = None, *, with_subject: bool = False
    ) -> Iterator[Audited]:
        """The reports of a file's documents; raises OSError where ``smt2`` cannot be written.

        ``content`` is what the file holds, where it was read elsewhere. ``with_subject`` says
        that the reports are to have what was read, for formats that show it.
        """
        terms = self.terms
        whole = bool(terms.sources) or with_subject
        is_known = None
        if terms.remembering:
            is_known = (lambda _: False) if whole else self.reports.is_known
        for alone in read_documents(path, is_known, content, folders=True):
            loaded = completed(alone, terms.sources)
            known = self.reports.of(loaded)
            if known is None and is_passed_over(loaded, path, terms):
                if detect(loaded.value) is not None:
                    self.schedules.append(path)
                continue
            if known is None:
                known = self.reports.keep(loaded, self._audit(loaded))
            elif with_subject and known.verdict != "unreadable":
                known = replace(known, subject=read_subject(loaded))
            yield Audited(known, bool(terms.sources) and loaded is alone)

    def _audit(self, loaded: LoadedDocument) -> DocumentReport:
        terms = self.terms
        return audit_document(
            loaded,
            execution=terms.execution,
            prove=terms.prove,
            limits=terms.limits,
            smt2=terms.smt2,
            second_opinion=terms.second_opinion,
            asked_for=terms.judge,
            memory=terms.memory,
            under=terms.under,
            answers=self.answers,
        )

    def take_faults(self) -> Counter[Fault]:
        """The entries of the cache that were ignored since this was last asked."""
        folder = self.reports.folder or (None if self.answers is None else self.answers.folder)
        if folder is None:
            return Counter()
        faults, folder.faults = folder.faults, Counter()
        return faults

    def take_schedules(self) -> list[str]:
        """The schedules that were passed over since this was last asked."""
        schedules, self.schedules = self.schedules, []
        return schedules

    def take_contradictions(self) -> list[str]:
        """Where what was decided again since then is not what the cache says."""
        cache = printable(str(self.terms.cache))
        said = [
            f"The cache {cache} has another report of {source} than this audit."
            for source in self.reports.contradicted
        ]
        self.reports.contradicted.clear()
        if self.answers is not None:
            said += [
                f"The cache {cache} has another answer for formula {key} than the solver."
                for key in self.answers.contradicted
            ]
            self.answers.contradicted.clear()
        return said


def is_passed_over(loaded: LoadedDocument, path: str, terms: Terms) -> bool:
    """Whether it is JSON of no known kind, or a schedule, in a folder that was named."""
    if path not in terms.in_folders or loaded.findings:
        return False
    kind = detect(loaded.value)
    if kind != "schedule":
        return kind is None
    from ferrum_verify.reading.schedules import is_sound_schedule  # noqa: PLC0415 - seldom needed

    return is_sound_schedule(loaded)


def of_empty_folders(
    folders: Mapping[str, Sequence[str]], files: Sequence[str], done: Sequence[DocumentReport]
) -> Iterator[DocumentReport]:
    """Reports on folders in whose files, all of them among ``files``, no document was found."""
    reported = {str(report.path) for report in done}
    for folder, found in folders.items():
        if found and reported.isdisjoint(found) and set(files).issuperset(found):
            source = printable(folder)
            yield DocumentReport(
                source=source,
                kind=None,
                verdict="unreadable",
                findings=(no_document_in(source),),
                path=Path(folder),
            )


def read_subject(loaded: LoadedDocument) -> Subject | None:
    """What formats show beside a report: the document as it was read, a problem with its plan."""
    subject, _ = subject_of(loaded.value)
    if subject is not None and subject.kind == "problem":
        return derive_subject(subject)[0] or subject
    return subject
