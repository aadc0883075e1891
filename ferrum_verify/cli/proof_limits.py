"""Options for how long the solver may take, the same for every command that proves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ferrum_verify.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

OBLIGATION_LIMIT_OPTION: Callable[[Any], Any] = click.option(
    "--obligation-limit",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=Limits().obligation_seconds,
    show_default=True,
    help="How long the solver may take for one claim; what takes longer is undecided.",
)
PROOF_LIMIT_OPTION: Callable[[Any], Any] = click.option(
    "--proof-limit",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=Limits().document_seconds,
    show_default=True,
    help="How long the solver may take for one document.",
)
MEMORY_LIMIT_OPTION: Callable[[Any], Any] = click.option(
    "--memory-limit",
    metavar="MIB",
    type=click.IntRange(min=1),
    default=Limits().memory_mib,
    show_default=True,
    help="How much memory the solver may hold.",
)


def limits_in_force(obligation_limit: float, proof_limit: float, memory_limit: int) -> Limits:
    """The limits that were typed, or are in the project's settings."""
    try:
        return Limits(obligation_limit, proof_limit, memory_limit)
    except ValueError as error:
        raise click.UsageError(f"{str(error).capitalize()}.") from None
