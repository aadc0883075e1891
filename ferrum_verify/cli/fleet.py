"""Options of runs over many documents: processes, machines, and what is known from before."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ferrum_verify.cache.folder import DEFAULT_FOLDER
from ferrum_verify.findings.errors import DocumentError
from ferrum_verify.fleet.files import largest_first, shard_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ferrum_verify.fleet.reading import DocumentWire
    from ferrum_verify.fleet.run import Run, Workers
    from ferrum_verify.report.model import DocumentReport

AUTO = "auto"


def _jobs(_context: click.Context, _parameter: click.Parameter, value: str) -> int:
    if value == AUTO:
        from ferrum_verify.fleet.jobs import usable_processors  # noqa: PLC0415 - seldom needed

        return usable_processors()
    if not re.fullmatch(r"[1-9][0-9]{0,3}", value):
        raise click.BadParameter(f"{value!r} is neither a number from 1 to 9999 nor `{AUTO}`.")
    return int(value)


def _shard(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> tuple[int, int] | None:
    if value is None:
        return None
    parts = re.fullmatch(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})", value)
    if parts is None or int(parts[1]) > int(parts[2]):
        raise click.BadParameter(f"{value!r} is no I/N with I from 1 to N, such as 2/8.")
    return int(parts[1]), int(parts[2])


CACHE_OPTION: Callable[[Any], Any] = click.option(
    "--cache",
    metavar="DIR",
    type=click.Path(path_type=Path),
    envvar="FERRUM_VERIFY_CACHE",
    default=DEFAULT_FOLDER,
    show_default=True,
    help="Remember reports and the solver's answers in DIR.",
)
_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--jobs",
        metavar=f"N|{AUTO}",
        default="1",
        show_default=True,
        callback=_jobs,
        help=f"Audit files in N processes, or in as many as there are processors ({AUTO}).",
    ),
    CACHE_OPTION,
    click.option(
        "--no-cache", is_flag=True, envvar="FERRUM_VERIFY_NO_CACHE", help="Remember nothing."
    ),
    click.option(
        "--verify-cache",
        is_flag=True,
        help="Believe nothing that the cache says: decide again, and compare.",
    ),
    click.option(
        "--since",
        metavar="REPORT",
        help="Carry over what REPORT, in JSON, says of documents that are the same.",
    ),
    click.option(
        "--shard",
        metavar="I/N",
        callback=_shard,
        help="Audit the Ith of N parts of the files; `report merge` puts the reports together.",
    ),
    click.option("--dask", metavar="ADDRESS", help="Audit files on the Dask cluster at ADDRESS."),
)


def fleet_options(command: Any) -> Any:
    """The options, to be taken as the keyword arguments of ``Fleet``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """What was asked for, as the options have it."""

    jobs: int
    cache: Path
    no_cache: bool
    verify_cache: bool
    since: str | None
    shard: tuple[int, int] | None
    dask: str | None

    def check(self, *, memory: bool, smt2: bool) -> None:
        """Refuse what does not go together; raises UsageError."""
        if self.verify_cache and self.cache_folder is None:
            raise click.UsageError("--verify-cache needs the cache that --no-cache leaves out.")
        if self.dask is not None and self.jobs > 1:
            raise click.UsageError("--dask takes the place of --jobs: give one of the two.")
        if self.since is not None and (memory or smt2):
            raise click.UsageError(
                f"--since does not go with {'--memory' if memory else '--smt2'}: a report does not "
                "hold what that asks for."
            )
        if smt2 and (self.jobs > 1 or self.dask is not None):
            raise click.UsageError("--smt2 writes to one folder, so it goes with one process only.")

    @property
    def cache_folder(self) -> Path | None:
        """The folder of the cache that was asked for: what is typed wins over the environment."""
        stated = click.get_current_context().get_parameter_source
        typed = click.core.ParameterSource.COMMANDLINE
        if self.no_cache and not (stated("cache") is typed and stated("no_cache") is not typed):
            return None
        return self.cache

    def remembers(self, files: Sequence[str], *, prove: bool) -> bool:
        """Whether it is worth it: to look one document up takes as long as to audit it unproved."""
        stated = click.get_current_context().get_parameter_source
        asked = stated("cache") is not click.core.ParameterSource.DEFAULT or self.since is not None
        return prove or asked or len(files) > 1

    def carrying(self) -> Mapping[str, DocumentWire]:
        """The documents that may be carried over, by their keys; raises ClickException."""
        if self.since is None:
            return {}
        # With the catalogue of rules it takes longer to import than an audit takes to run.
        from ferrum_verify.fleet.reading import known_by_key, read_report  # noqa: PLC0415

        try:
            return known_by_key(read_report(self.since))
        except DocumentError as error:
            raise click.ClickException(f"--since: {error}") from None

    def files(self, documents: Sequence[str]) -> list[str]:
        """The files that this run is to audit."""
        return [*documents] if self.shard is None else shard_of(documents, *self.shard)

    def reports(self, run: Run, files: Sequence[str]) -> Iterator[DocumentReport]:
        """The reports, from wherever they are made."""
        workers = self._workers(run)
        if workers is None or (len(files) < 2 and self.dask is None):
            return run.here(files)
        return run.elsewhere(files, workers, largest_first(files))

    def _workers(self, run: Run) -> Workers | None:
        if self.dask is not None:
            from ferrum_verify.fleet.cluster import Cluster  # noqa: PLC0415 - an extra

            # A worker has a working directory of its own.
            cache = self.cache_folder and self.cache_folder.absolute()
            return Cluster(replace(run.terms, cache=cache), run.carrying, self.dask)
        if self.jobs == 1:
            return None
        from ferrum_verify.fleet.jobs import Pool  # noqa: PLC0415 - seldom needed

        return Pool(run.terms, run.carrying, self.jobs)
