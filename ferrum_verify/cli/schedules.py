"""``schedule``: a schedule document for a plan, to be audited with it and edited."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from ferrum_verify.cli.output import OUTPUT_OPTION, complain, emit, screen_of
from ferrum_verify.findings.wording import printable
from ferrum_verify.plan.streams import parse_assignment, schedule_on, stream_of
from ferrum_verify.reading.load import read_documents
from ferrum_verify.reading.parse import subject_of
from ferrum_verify.report.text import render_findings

if TYPE_CHECKING:
    from pathlib import Path

    from ferrum_verify.findings import Finding


@click.command
@click.argument("plan")
@click.option(
    "--streams",
    metavar="STREAM=PATTERN,...",
    required=True,
    help="Which nodes run on which stream, by patterns of their names: the first that matches.",
)
@click.option(
    "--in-flight",
    metavar="N",
    type=click.IntRange(min=1),
    help="Let steps overlap: the host begins one when all but N - 1 before it have ended.",
)
@OUTPUT_OPTION
def schedule(plan: str, streams: str, in_flight: int | None, output: Path | None) -> int:
    """Write a schedule that launches the nodes of PLAN in plan order on named streams.

    It has the events that keep every dependency, and no other. What it says of an engine is for
    people to edit: events, synchronization and accesses of the host's, buffers of each resource.
    """
    try:
        assignment = parse_assignment(streams)
    except ValueError as error:
        raise click.UsageError(f"--streams: {error}") from None
    loaded = next(iter(read_documents(plan)))
    if loaded.findings:
        return _refused(plan, list(loaded.findings), 2)
    subject, findings = subject_of(loaded.value)
    if subject is None or subject.nodes is None:
        if subject is not None and not findings:
            raise click.UsageError(f"{printable(plan)} has no nodes to launch.")
        return _refused(plan, findings, 2 if subject is None else 1)
    chosen = [stream_of(node.id, assignment) for node in subject.nodes]
    stray = next((n.id for n, s in zip(subject.nodes, chosen, strict=True) if s is None), None)
    if stray is not None:
        raise click.UsageError(
            f"--streams has no pattern for the node {printable(stray)}; add STREAM=* at its end."
        )
    named = [each for each in chosen if each is not None]
    emit(text_of(schedule_on(subject.nodes, named, in_flight)), output)
    return 0


def _refused(plan: str, findings: list[Finding], status: int) -> int:
    complain(f"{printable(plan)} is refused:\n{render_findings(findings, screen_of(sys.stderr))}")
    return status


def text_of(document: dict[str, Any]) -> str:
    """A schedule as JSON, an action of the host's a line."""
    rest = {key: value for key, value in document.items() if key not in ("schema", "host")}
    actions = ",\n".join(f"  {json.dumps(action)}" for action in document["host"])
    parts = [f'"schema": {json.dumps(document["schema"])}', f'"host": [\n{actions}\n]']
    parts += [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in rest.items()]
    return "{" + ",\n ".join(parts) + "}\n"
