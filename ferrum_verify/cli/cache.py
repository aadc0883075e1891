"""``cache``: what is remembered between runs, and forgetting it."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import click

from ferrum_verify.cache.error import CacheError
from ferrum_verify.cache.folder import Kind, clear, existing
from ferrum_verify.cli.fleet import CACHE_OPTION
from ferrum_verify.cli.output import emit
from ferrum_verify.findings.wording import printable

if TYPE_CHECKING:
    from pathlib import Path


@click.group
def cache() -> None:
    """Show what is remembered between runs, or forget it."""


@cache.command
@CACHE_OPTION
def show(*, cache: Path) -> None:
    """Print how much a cache holds, by kind of entry."""
    try:
        folder = existing(cache)
        rows = [f"{printable(str(cache))}"]
        for kind in get_args(Kind):
            sizes = [entry.stat().st_size for entry in folder.entries(kind)]
            rows.append(f"  {kind:<9}{len(sizes):>9,}{sum(sizes) / 2**20:>10,.1f} MiB")
    except (CacheError, OSError) as error:
        name = printable(str(cache))
        raise click.ClickException(f"The cache {name} cannot be shown: {error}.") from None
    emit("\n".join(rows) + "\n", None)


@cache.command(name="clear")
@CACHE_OPTION
def forget(*, cache: Path) -> None:
    """Remove every entry of a cache, and nothing else."""
    try:
        count = clear(cache)
    except CacheError as error:
        name = printable(str(cache))
        raise click.ClickException(f"The cache {name} cannot be cleared: {error}.") from None
    entries = "entry" if count == 1 else "entries"
    emit(f"{count:,} {entries} removed from {printable(str(cache))}.\n", None)
