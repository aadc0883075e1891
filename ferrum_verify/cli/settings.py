"""Options for what a project has settled: its settings, and the findings that it knows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from ferrum_verify.cli.output import checked_target, emit
from ferrum_verify.counterexamples import Execution
from ferrum_verify.findings.wording import plural, printable, sentence
from ferrum_verify.integrations.baseline import (
    BaselineError,
    baseline_text,
    compare,
    read_baseline,
)
from ferrum_verify.integrations.config import SettingsError, find_settings, read_settings
from ferrum_verify.integrations.setting_values import chosen_rules
from ferrum_verify.report.locations import file_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ferrum_verify.integrations.baseline import Baseline, Changes
    from ferrum_verify.integrations.config import Settings
    from ferrum_verify.report.model import Report

_SETTINGS = "ferrum_verify.settings"


def _take_settings(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if context.resilient_parsing:
        return
    try:
        settings = find_settings() if value is None else read_settings(Path(value))
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    context.meta[_SETTINGS] = settings
    # What is typed wins over the settings, and they win over the options' own defaults.
    stated: dict[str, Any] = {
        "execution": settings.execution,
        "prove": settings.prove,
        "obligation_limit": settings.limits.obligation_seconds,
        "proof_limit": settings.limits.document_seconds,
        "memory_limit": settings.limits.memory_mib,
    }
    typed = {name: value for name, value in stated.items() if _is_stated(name, settings)}
    typed |= {_PARAMETERS.get(key, key.replace("-", "_")): v for key, v in settings.options.items()}
    context.default_map = dict(context.default_map or {}) | typed


_PARAMETERS = {"all": "show_all"}


def _is_stated(name: str, settings: Settings) -> bool:
    own = name.replace("_", "-") in settings.stated
    return own or (name.endswith("_limit") and "limits" in settings.stated)


def _take_choice(
    context: click.Context, parameter: click.Parameter, value: tuple[str, ...]
) -> None:
    """Rules that are selected or ignored on the command line, beside what the settings say."""
    if not value or context.resilient_parsing:
        return
    faults: list[str] = []
    names = [name for each in value for name in each.split(",") if name]
    rules = chosen_rules(names, f"--{parameter.name}", faults)
    if faults:
        raise click.UsageError("\n".join(f"{fault}." for fault in faults))
    settings: Settings = context.meta[_SETTINGS]
    if parameter.name == "select":
        context.meta[_SETTINGS] = replace(settings, select=rules)
    else:
        ignored = dict.fromkeys(rules, "ignored on the command line")
        context.meta[_SETTINGS] = replace(settings, ignore={**ignored, **settings.ignore})


def _choice_option(name: str, says: str) -> Callable[[Any], Any]:
    return click.option(
        f"--{name}",
        metavar="RULE",
        multiple=True,
        expose_value=False,
        callback=_take_choice,
        help=says,
    )


SELECT_OPTION = _choice_option(
    "select", "Show findings of these rules or families alone; the others are hidden."
)
IGNORE_OPTION = _choice_option("ignore", "Hide findings of these rules or families.")


def _take_baseline(
    context: click.Context, _parameter: click.Parameter, value: str | None
) -> Baseline | None:
    if value is None or context.resilient_parsing:
        return None
    try:
        return read_baseline(Path(value))
    except BaselineError as error:
        raise click.UsageError(str(error)) from None


def _take_new_baseline(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> Path | None:
    if value == "-":
        raise click.UsageError("A baseline is written to a file, not to standard output.")
    return checked_target(value)


CONFIG_OPTION: Callable[[Any], Any] = click.option(
    "--config",
    metavar="FILE",
    type=click.Path(),
    is_eager=True,
    expose_value=False,
    callback=_take_settings,
    help="Take settings from FILE instead of the nearest pyproject.toml with a table "
    "[tool.ferrum-verify].",
)
EXECUTION_OPTION: Callable[[Any], Any] = click.option(
    "--execution",
    type=click.Choice(get_args(Execution)),
    default="fenced",
    show_default=True,
    help="How nodes run: resources that share bytes must not be live together then.",
)
BASELINE_OPTION: Callable[[Any], Any] = click.option(
    "--baseline",
    metavar="FILE",
    type=click.Path(),
    callback=_take_baseline,
    help="Hide the findings that FILE knows; fail where one is new or gone.",
)
WRITE_BASELINE_OPTION: Callable[[Any], Any] = click.option(
    "--write-baseline",
    metavar="FILE",
    type=click.Path(),
    callback=_take_new_baseline,
    help="Write the findings to FILE, as known from now on; exit with 0.",
)


def settings_in_force() -> Settings:
    """The settings that the running command's ``--config`` option found."""
    settings: Settings = click.get_current_context().meta[_SETTINGS]
    return settings


@dataclass(frozen=True, slots=True)
class Settled:
    """A report without what is settled, the exit status then, and what people are told of it."""

    report: Report
    status: int
    remarks: tuple[str, ...]


def settle(
    report: Report, baseline: Baseline | None, new_baseline: Path | None, *, proved: bool
) -> Settled:
    """Hide the findings that are settled, and write them to a new baseline where that is asked.

    Ignored rules come first: no baseline holds their findings.
    """
    report, remarks = _without_ignored(report)
    status = report.exit_status
    if new_baseline is not None:
        remarks.append(_write_baseline(report, new_baseline, proved=proved))
        status = 0
    if baseline is not None:
        try:
            changes = compare(report, baseline, proved=proved)
        except BaselineError as error:
            raise click.UsageError(str(error)) from None
        report = changes.report
        status = changes.exit_status if new_baseline is None else 0
        remarks += _changes_in_words(changes, baseline)
    return Settled(report, status, tuple(remarks))


def _without_ignored(report: Report) -> tuple[Report, list[str]]:
    settings = settings_in_force()
    kept, _ = settings.without_ignored(report)
    if not kept.hidden:
        return kept, []
    counts = Counter((each.finding.rule, each.reason) for each in kept.hidden)
    source = "the command line" if settings.source is None else printable(str(settings.source))
    lines = [f"Hidden, as {source} ignores their rules:"]
    lines += [
        f"  {count:,} of {rule}: {printable(reason)}" for (rule, reason), count in counts.items()
    ]
    return kept, lines


def _write_baseline(report: Report, target: Path, *, proved: bool) -> str:
    try:
        text = baseline_text(report, target, proved=proved)
    except BaselineError as error:
        raise click.UsageError(str(error)) from None
    emit(text, target)
    return f"{plural(len(report.findings), 'finding')} written to {file_name(target)}."


def _changes_in_words(changes: Changes, baseline: Baseline) -> Iterator[str]:
    path = printable(str(baseline.path))
    yield (
        f"Hidden, as {path} knows them: {plural(changes.hidden, 'finding')}; "
        f"{len(changes.report.findings):,} new, {len(changes.gone):,} gone."
    )
    if changes.unnamed:
        rest = len(changes.unnamed) - 3
        more = f" and {rest:,} more" if rest > 0 else ""
        yield f"{path} knows nothing of {', '.join(changes.unnamed[:3])}{more}."
    for document, known in changes.gone:
        place = printable(known.location) or "/"
        yield f"Gone from {document.source}: {known.rule} at {place}. {sentence(known.message)}"
    if changes.gone or changes.report.findings:
        yield f"If that is meant, write it again with --write-baseline {path}."
