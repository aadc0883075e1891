"""``report``: what is done with reports that were written before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from ferrum_verify.cli.output import OUTPUT_OPTION, complain, emit
from ferrum_verify.findings.errors import DocumentError
from ferrum_verify.findings.wording import plural
from ferrum_verify.fleet.merging import merged
from ferrum_verify.fleet.reading import read_report
from ferrum_verify.report.model import EXIT_STATUS, worst

if TYPE_CHECKING:
    from pathlib import Path


@click.group
def report() -> None:
    """Work with reports in JSON that were written before."""


@report.command
@click.argument("reports", metavar="REPORT...", nargs=-1, required=True)
@OUTPUT_OPTION
def merge(*, reports: tuple[str, ...], output: Path | None) -> int:
    """Put the reports of shards, or of several runs, together; the status is that of all."""
    try:
        read = [read_report(path) for path in reports]
        whole = merged(read)
    except DocumentError as error:
        raise click.ClickException(str(error)) from None
    emit(json.dumps(whole, indent=2) + "\n", output)
    documents = plural(len(whole["documents"]), "document")
    complain(f"{documents} of {', '.join(each.source for each in read)}.")
    if not whole["documents"]:
        return 0
    return EXIT_STATUS[worst(each["verdict"] for each in whole["documents"])]
