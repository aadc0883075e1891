"""Options for how long the solver may take, the same for every command that proves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ferrum_verify.cli.settings import settings_in_force
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


def limits_in_force(obligation_limit: float, proof_limit: float) -> Limits:
    """The limits that were typed, and the project's settings for what cannot be typed."""
    try:
        return replace(
            settings_in_force().limits,
            obligation_seconds=obligation_limit,
            document_seconds=proof_limit,
        )
    except ValueError as error:
        raise click.UsageError(f"{str(error).capitalize()}.") from None
