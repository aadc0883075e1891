"""``example``: a plan of a model family to try the other commands on, without a checkout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ferrum_verify.beside import package
from ferrum_verify.cli.output import OUTPUT_OPTION, emit
from ferrum_verify.plan.canonical import ordered_bytes

if TYPE_CHECKING:
    from pathlib import Path

_FAMILIES = package("models")

_WHOLE, _PROBLEM = "bundle", "problem"


@click.command
@click.argument("family", type=click.Choice(_FAMILIES.families()))
@click.option(
    "--layers",
    metavar="N",
    type=click.IntRange(min=1, max=1_000),  # far deeper than any plan of 16 MiB
    help="So many layers, instead of the published number.",
)
@click.option(
    "--schema",
    type=click.Choice(_FAMILIES.SCHEMAS),
    default=_FAMILIES.SCHEMAS[-1],
    show_default=True,
    help="The schema of the plan.",
)
@click.option(
    "--part",
    type=click.Choice([_WHOLE, "plan", "program", "catalog", "policy", _PROBLEM]),
    default=_WHOLE,
    show_default=True,
    help="All four documents in one, one of them alone, or what the planner is given.",
)
@OUTPUT_OPTION
def example(*, family: str, layers: int | None, schema: str, part: str, output: Path | None) -> int:
    """Print the bundle of a model FAMILY: its plan, program, catalog and policy.

    The plans are this package's own, built from published dimensions as the engine would build
    them; they are no output of the engine.
    """
    emit(f"{ordered_bytes(_document(family, layers, schema, part)).decode()}\n", output)
    return 0


def _document(family: str, layers: int | None, schema: str, part: str) -> Any:
    if part == _PROBLEM:
        return _FAMILIES.problem(family, layers)
    whole = _FAMILIES.bundle(family, layers, schema)
    return whole if part == _WHOLE else whole[part]
