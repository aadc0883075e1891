"""One run of ``audit``: every document read and audited, the report settled and written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from ferrum_verify.auditing.audit import audit_document, schedule_of, whole_report
from ferrum_verify.cli import INTERRUPTED
from ferrum_verify.cli.audited import completed_documents, progress, sources_of, without_plan
from ferrum_verify.cli.earlier import beside_earlier, earlier_plan
from ferrum_verify.cli.output import complain
from ferrum_verify.cli.presenting import publish
from ferrum_verify.cli.settings import settle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.findings import Judge
    from ferrum_verify.integrations.baseline import Baseline
    from ferrum_verify.limits import Proving
    from ferrum_verify.reading.load import LoadedDocument
    from ferrum_verify.reading.schedules import LoadedSchedule
    from ferrum_verify.report.model import DocumentReport

_KEPT_SUBJECTS = 100
"""Documents whose parsed form is kept for the report; of more, the findings must do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the command line asks of an audit; ``proving`` is None where no proofs run."""

    documents: tuple[str, ...]
    beside: tuple[str, ...]
    execution: Execution
    judge: Judge
    schedule: str | None
    memory: bool
    against: str | None
    proving: Proving | None
    baseline: Baseline | None
    write_baseline: Path | None
    output: Path | None


def audit_once(asked: Asked) -> int:
    """Audit the documents, write the report, and return the exit status."""
    earlier = None if asked.against is None else earlier_plan(asked.against)
    sources, alone = sources_of(asked.beside), list[str]()
    under = None if asked.schedule is None else schedule_of(asked.schedule)
    done: list[DocumentReport] = []
    interrupted = False
    try:
        with progress(asked.documents) as advance:
            loaded = completed_documents(asked.documents, sources, alone)
            for report in _reports(loaded, asked, under, advance):
                if earlier is not None:
                    report = beside_earlier(report, earlier)  # noqa: PLW2901
                keep = len(done) < _KEPT_SUBJECTS
                done.append(report if keep else replace(report, subject=None))
                if report.interrupted:
                    interrupted = True
                    break
    except KeyboardInterrupt:
        interrupted = True
    settled = settle(
        whole_report(done, asked.execution, under, asked.judge),
        asked.baseline,
        None if interrupted else asked.write_baseline,
        proved=asked.proving is not None,
    )
    status = settled.status
    if done or not interrupted:
        remarks = (*settled.remarks, *without_plan(alone))
        status = publish(settled.report, asked.output, remarks, status)
    if interrupted:
        complain(f"Interrupted: the report covers {len(done):,} of the documents.")
        return INTERRUPTED
    return status


def _reports(
    documents: Iterable[LoadedDocument],
    asked: Asked,
    under: LoadedSchedule | None,
    advance: Callable[[], None],
) -> Iterator[DocumentReport]:
    proving = asked.proving
    for loaded in documents:
        try:
            yield audit_document(
                loaded,
                execution=asked.execution,
                prove=proving is not None,
                limits=None if proving is None else proving.limits,
                smt2=None if proving is None else proving.smt2,
                second_opinion=proving is not None and proving.second_opinion,
                asked_for=asked.judge,
                memory=asked.memory,
                under=under,
            )
        except OSError as error:
            raise click.UsageError(
                f"The claims cannot be written to {error.filename}: {error.strerror}."
            ) from None
        advance()
