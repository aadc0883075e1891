"""The pages of the manual, from what ``--help`` says: ``python docs/man_pages.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click_man.core import write_man_pages

from ferrum_verify.cli import PROGRAM, commands
from ferrum_verify.version import __version__


def main(folder: Path) -> None:
    """Write a page for each command to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    context = click.Context(commands)
    # The commands stand there by name until each is called for; the manual wants them all.
    loaded = {name: commands.resolve_command(context, [name])[1] for name in commands.commands}
    group = click.Group(
        commands={name: command for name, command in loaded.items() if command is not None},
        help=commands.help,
        epilog=commands.epilog,
    )
    write_man_pages(PROGRAM, group, version=__version__, target_dir=str(folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
