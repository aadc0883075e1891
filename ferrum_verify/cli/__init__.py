"""The command line, ``ferrum-verify``.

Exit status: 2 for a usage error or an unreadable document; else 1 where something is violated;
else 3 where something is undecided; else 0. An interrupted run ends with 130.

A command's file is imported when the command is called for: all of them together take thirty
times as long to import as ``python -c pass``, and ``--help`` may take twelve.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, NoReturn

import click

from ferrum_verify.cli.output import complain
from ferrum_verify.findings.wording import printable
from ferrum_verify.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "ferrum-verify"
USAGE_ERROR = 2
INTERRUPTED = 130


_COMMANDS = {
    "audit": ("audit", "Audit plans: conformance and safety."),
    "bindings": ("derivations", "Print the program-binding layouts."),
    "bundle": ("bundle", "Put a plan and its sources into one document."),
    "cache": ("cache", "Show what is remembered between runs, or forget it."),
    "checkpoint": ("derivations", "Print the checkpoint layout, or why none."),
    "contracts": ("contracts", "Check provider contracts, and compare them before a merge."),
    "derive": ("derivations", "Print the memory plan of a problem."),
    "example": ("example", "Print a plan of a model family, to try the others on."),
    "explain": ("catalogue", "Explain a rule, with an example."),
    "import": ("importing", "Write the plan of another planner as a buffer plan."),
    "prove": ("prove", "Run the universal theorems."),
    "report": ("report", "Put reports of several runs together."),
    "review": ("review", "Review what a branch changes."),
    "rules": ("catalogue", "List what is checked."),
    "schedule": ("schedules", "Write a schedule for a plan: streams and the events they need."),
    "schema": ("schemas", "Print the JSON Schema of a document."),
    "slots": ("slots", "Show how few bytes the Step slots could take."),
}
"""Every command with the file that it stands in, under its own name, and its line of help.

A name that Python keeps for itself is that of the file there.
"""


class _Commands(click.Group):
    """Commands that are listed by their lines of help, and imported when they are called for."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, listed, rest = super().resolve_command(ctx, args)
        if name is None or listed is None:
            return name, listed, rest
        module, _ = _COMMANDS[name]
        called = module if iskeyword(name) else name
        return name, getattr(import_module(f"ferrum_verify.cli.{module}"), called), rest


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


for _name, (_, _help) in _COMMANDS.items():
    commands.add_command(click.Command(_name, short_help=_help))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; no exception leaves it."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        status = commands.main(
            given, prog_name=PROGRAM, standalone_mode=False, obj=shlex.join([PROGRAM, *given])
        )
    except click.Abort:
        complain("Interrupted.")
        return INTERRUPTED
    except click.ClickException as error:
        _show(error)
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


def _show(error: click.ClickException) -> None:
    """Say on standard error what click would say there, which may quote what a file holds."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        complain(error.format_message())  # the help itself
        return
    if isinstance(error, click.UsageError) and error.ctx is not None:
        complain(error.ctx.get_usage())
        complain(f"Try '{error.ctx.command_path} --help' for help.\n\n")
    # In the log of a workflow, a line of this kind is a command.
    message = re.sub(r"\n(?=\s*(::|##\[))", r"\\n", f"Error: {error.format_message()}")
    complain("\n".join(map(printable, message.split("\n"))))


def main() -> NoReturn:
    """Run the command line and exit."""
    # No plugin has a say in what a verifier accepts.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    sys.exit(run())
