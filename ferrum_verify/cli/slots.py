"""``slots``: how few bytes the slots of a plan could take, and which slots those are."""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import click

from ferrum_verify.auditing.garbage_collection import collection_paused
from ferrum_verify.auditing.repairs import repairs
from ferrum_verify.cli.derivations import RefusedError, refusals
from ferrum_verify.cli.output import OUTPUT_OPTION, complain, emit, screen_of
from ferrum_verify.cli.settings import EXECUTION_OPTION
from ferrum_verify.counterexamples import Execution
from ferrum_verify.derive.best_slots import always
from ferrum_verify.derive.other_slots import with_slots
from ferrum_verify.deriving.best_slots import read_shared
from ferrum_verify.findings.wording import printable
from ferrum_verify.plan import cp_sat
from ferrum_verify.plan.canonical import ordered_bytes
from ferrum_verify.report.repairs import repair_blocks
from ferrum_verify.report.screen import Sheet
from ferrum_verify.report.slots_table import cost_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ferrum_verify.auditing.best_slots import Shared
    from ferrum_verify.counterexamples import Shape
    from ferrum_verify.derive.best_slots import Improve
    from ferrum_verify.plan.partition import Partition
    from ferrum_verify.plan.unordered import Level


@click.command()
@click.argument("document", metavar="DOC")
@EXECUTION_OPTION
@click.option(
    "--make-safe",
    metavar="MODEL",
    type=click.Choice(get_args(Execution)),
    help="Show the ways to make the plan safe under MODEL, which takes the place of --execution; "
    "as a table, never as JSON.",
)
@click.option(
    "--tokens",
    metavar="N",
    type=click.IntRange(min=1),
    help="Count bytes at N tokens instead of at the most.",
)
@click.option("--bucket", metavar="ID", help="Count bytes at the shape of this reusable bucket.")
@click.option(
    "--search-limit",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    show_default=True,
    help="How long OR-tools, where it is installed, may look for better slots of a pool.",
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="A table, or all slots with the certificate of the bound.",
)
@OUTPUT_OPTION
def slots(
    *,
    document: str,
    execution: Execution,
    make_safe: Execution | None,
    tokens: int | None,
    bucket: str | None,
    search_limit: float,
    format_name: str,
    output: Path | None,
) -> int:
    """Show how few bytes a plan's Step slots could take, with nothing changed but who shares.

    Resources share where the execution model keeps them apart, and the engine would share them
    at all. With -o, FILE gets the document with the best slots that were found, and everything
    that follows from them. What is refused is explained on standard error; the exit status is
    then 1, or 2 where DOC is unreadable or of another kind.
    """
    if tokens is not None and bucket is not None:
        raise click.UsageError("--tokens and --bucket both say at which shape bytes are counted.")
    by_model = click.get_current_context().get_parameter_source("execution")
    typed = by_model is click.core.ParameterSource.COMMANDLINE
    if make_safe is not None and typed and execution != make_safe:
        raise click.UsageError(
            f"--make-safe {make_safe} names the model itself: it does not go with --execution "
            f"{execution}."
        )
    if make_safe is not None and format_name == "json":
        raise click.UsageError(
            "--make-safe shows a table; --format json prints the best slots, and goes without it."
        )
    try:
        with refusals(document), collection_paused():
            shared = read_shared(document)
            improve = _improve(search_limit) if cp_sat.available() else None
            cost = shared.cost(make_safe or execution, _shape_of(shared, tokens, bucket), improve)
            blocks = list(cost_blocks(cost))
            if make_safe is not None:
                blocks = list(repair_blocks(repairs(shared, cost.best)))
            if output is not None:
                memory = with_slots(shared.memory, cost.best.slots)
                emit(f"{ordered_bytes(shared.replanned(memory)).decode()}\n", output)
    except RefusedError as refused:
        return refused.status
    if format_name == "json":
        emit(f"{json.dumps(cost.best.to_wire(), indent=2)}\n", None)
        return 0
    sheet = Sheet(screen_of(sys.stdout))
    for block in blocks:
        sheet.add(block)
    emit(sheet.text(), None)
    if improve is None and not all(pool.proved for pool in cost.best.pools):
        complain(f"Less may be possible: {cp_sat.MISSING}.")
    return 0


def _shape_of(shared: Shared, tokens: int | None, bucket: str | None) -> Callable[[Shape], Shape]:
    if tokens is not None:
        return lambda largest: replace(largest, tokens=tokens)
    if bucket is None:
        return lambda largest: largest
    buckets = shared.buckets()
    if bucket not in buckets:
        known = ", ".join(printable(each) for each in buckets) or "it has none"
        raise click.UsageError(f"The plan has no reusable bucket {printable(bucket)}: {known}.")
    return always(buckets[bucket][1])


def _improve(seconds: float) -> Improve:
    def improve(
        sizes: Sequence[int],
        before: Sequence[int],
        slots: Sequence[Sequence[int]],
        bound: Sequence[Level],
    ) -> Partition:
        with ThreadPoolExecutor(1) as pool:
            search = pool.submit(cp_sat.improved, sizes, before, slots, bound, seconds)
            if sys.stderr is not None and sys.stderr.isatty():
                _show_progress(search.done, seconds, len(sizes))
            return search.result()

    return improve


def _show_progress(done: Callable[[], bool], seconds: float, members: int) -> None:
    # Importing rich's progress takes four times as long as `python -c pass`.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    began = time.monotonic()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"Slots of {members:,} resources", total=seconds)
        while not done():
            time.sleep(0.1)
            progress.update(task, completed=time.monotonic() - began)
