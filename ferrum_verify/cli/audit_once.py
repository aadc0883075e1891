"""One run of ``audit``: every file read and audited, the report settled and written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from ferrum_verify.auditing.audit import schedule_of, whole_report
from ferrum_verify.cli import INTERRUPTED
from ferrum_verify.cli.audited import beside_plans, files_in, progress, sources_of, without_plan
from ferrum_verify.cli.earlier import beside_earlier, earlier_plan
from ferrum_verify.cli.output import complain
from ferrum_verify.cli.presenting import publish, shows_documents
from ferrum_verify.cli.settings import settle
from ferrum_verify.findings.errors import FerrumVerifyError
from ferrum_verify.fleet.auditor import is_passed_over, of_empty_folders
from ferrum_verify.fleet.run import KEPT_SUBJECTS, Run
from ferrum_verify.fleet.settled import without_keys_of_hidden
from ferrum_verify.reading.load import read_documents

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ferrum_verify.cli.fleet import Fleet
    from ferrum_verify.fleet.terms import Terms
    from ferrum_verify.integrations.baseline import Baseline
    from ferrum_verify.report.model import DocumentReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the command line asks of an audit: ``terms`` as far as no file has to be read."""

    documents: tuple[str, ...]
    beside: tuple[str, ...]
    schedule: str | None
    terms: Terms
    against: str | None
    fleet: Fleet
    baseline: Baseline | None
    write_baseline: Path | None
    output: Path | None


def audit_once(asked: Asked) -> int:
    """Audit the documents, write the report, and return the exit status."""
    fleet = asked.fleet
    whole_run, folders = files_in(asked.documents)
    files = fleet.files(whole_run)
    terms = replace(
        asked.terms,
        sources=tuple(sources_of(asked.beside)),
        under=None if asked.schedule is None else schedule_of(asked.schedule),
        in_folders=frozenset(path for found in folders.values() for path in found),
        remembering=fleet.remembers(files, prove=asked.terms.prove),
    )
    earlier = None if asked.against is None else earlier_plan(asked.against)
    if earlier is not None and len(files) > KEPT_SUBJECTS:
        raise click.UsageError(f"--against goes with up to {KEPT_SUBJECTS:,} files.")
    run = Run(terms, fleet.carrying(), with_subjects=earlier is not None or shows_documents())
    done, interrupted = _done(run, fleet, files)
    if earlier is not None:
        done = [beside_earlier(report, earlier) for report in done]
    if not interrupted:
        done += of_empty_folders(folders, files, done)
    whole = replace(
        whole_report(done, terms.execution, terms.under, terms.judge),
        # What was interrupted is no whole shard.
        shard=None if interrupted else fleet.shard,
    )
    target = None if interrupted else asked.write_baseline
    settled = settle(whole, asked.baseline, target, proved=terms.prove)
    status = settled.status or (1 if run.contradictions else 0)
    if fleet.shard is not None and not done and _others_hold_some(whole_run, files, terms):
        status = 0
    if done or not interrupted:
        report = without_keys_of_hidden(settled.report, whole)
        remarks = (
            *settled.remarks,
            *without_plan(run.alone),
            *beside_plans(run.schedules, asked.schedule),
            *run.told(),
            *run.contradictions,
        )
        status = publish(report, asked.output, remarks, status)
    if interrupted:
        complain(f"Interrupted: the report covers {len(done):,} of the documents.")
        return INTERRUPTED
    return status


def _others_hold_some(whole_run: Sequence[str], own: Sequence[str], terms: Terms) -> bool:
    """Whether a shard without a document leaves some to the others, and fails nothing.

    Of fewer files than shards one has none.
    """
    return not own or any(
        not is_passed_over(loaded, path, terms)
        for path in whole_run
        if path not in own
        for loaded in read_documents(path)
    )


def _done(run: Run, fleet: Fleet, files: Sequence[str]) -> tuple[list[DocumentReport], bool]:
    """The reports of the files, and whether an interruption left some out."""
    done: list[DocumentReport] = []
    try:
        with progress(files) as run.advance:
            for report in fleet.reports(run, files):
                done.append(report)
                if report.interrupted:
                    return done, True
    except KeyboardInterrupt:
        return done, True
    except FerrumVerifyError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        if run.terms.smt2 is None:
            raise
        raise click.UsageError(
            f"The claims cannot be written to {error.filename}: {error.strerror}."
        ) from None
    return done, False
