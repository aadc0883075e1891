"""The command line, ``ferrum-verify``.

Exit status: 2 for a usage error or an unreadable document; else 1 where something is violated;
else 3 where something is undecided; else 0. An interrupted run ends with 130.

Commands import what they need when they run, so that ``--help`` costs no solver and no models.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from ferrum_verify.cli.audit import audit
from ferrum_verify.cli.catalogue import explain, rules, schema
from ferrum_verify.cli.derivations import bindings, checkpoint, derive
from ferrum_verify.cli.output import complain
from ferrum_verify.cli.prove import prove
from ferrum_verify.cli.review import review
from ferrum_verify.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "ferrum-verify"
USAGE_ERROR = 2
INTERRUPTED = 130


class _Commands(click.Group):
    """The commands. Those of ``contracts`` stand elsewhere and build on this package."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), "contracts"])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "contracts":
            from ferrum_verify.cli.contracts import contracts_group  # noqa: PLC0415

            return contracts_group
        return super().get_command(ctx, cmd_name)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit status: 2 usage error or an unreadable document; else 1 something is violated; "
    "else 3 something is undecided; else 0.",
)
@click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
def commands() -> None:
    """Verify the execution plans of the Ferrum inference engine.

    A DOC is a .json, .json.gz, .jsonl or .jsonl.gz file (one document a line), or - for
    standard input.
    """


for command in (audit, derive, bindings, checkpoint, prove, review, rules, explain, schema):
    commands.add_command(command)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; no exception leaves it."""
    try:
        status = commands.main(
            None if arguments is None else list(arguments),
            prog_name=PROGRAM,
            standalone_mode=False,
        )
    except click.Abort:
        complain("Interrupted.")
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return USAGE_ERROR
    except Exception as error:
        if os.environ.get("FERRUM_VERIFY_DEBUG"):
            raise
        complain(
            f"{PROGRAM}: internal error ({type(error).__name__}: {error}). This is a fault of "
            f"{PROGRAM}, not of your document: please report it, with the document if you can. "
            "FERRUM_VERIFY_DEBUG=1 shows where it happened."
        )
        return USAGE_ERROR
    return status if isinstance(status, int) else 0


def main() -> NoReturn:
    """Run the command line and exit."""
    # One short run: a plan is many small objects that all live to the end, which the collector
    # would walk again and again; and no plugin has a say in what a verifier accepts.
    gc.set_threshold(100_000, 20, 20)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    sys.exit(run())
