"""``bundle``: one document of a plan and the files that it was compiled from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ferrum_verify.cli.output import OUTPUT_OPTION, complain, emit
from ferrum_verify.findings.errors import DocumentError, summarise
from ferrum_verify.findings.wording import printable, shortened
from ferrum_verify.plan.canonical import ordered_bytes
from ferrum_verify.reading.joining import (
    PLAN,
    SOURCES,
    STATED,
    Match,
    Part,
    match,
    read_parts,
    stated_hash,
)
from ferrum_verify.reading.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ferrum_verify.reading.joining import Source

_DIFFERS, _UNKNOWN = 1, 3


@click.command(
    epilog="Exit status: 2 usage error or an unreadable document; else 1 a file does not fit the "
    "plan, and nothing is written; else 3 whether one fits cannot be told; else 0."
)
@click.argument("documents", metavar="PLAN [PROGRAM] [CATALOG] [POLICY]", nargs=-1, required=True)
@OUTPUT_OPTION
def bundle(documents: tuple[str, ...], output: Path | None) -> int:
    """Put a plan and what it was compiled from into one document.

    The files may be named in any order: what each holds is told by its content, and whether the
    plan was compiled from it by the hashes that the plan states. Both are said on standard error.
    """
    try:
        parts = read_parts(documents)
        plan = _only_plan(parts)
        matches = {name: _matches(plan, parts, name) for name in SOURCES}
        for name in SOURCES:
            for line in _answers(plan, name, matches[name]):
                complain(line)
        answers = [{each.answer for each in matches[name]} for name in SOURCES]
        if any("differs" in each for each in answers):
            complain("Nothing is written, as not all of the files belong together.")
            return _DIFFERS
        taken = [plan, *(part for name in SOURCES for part in _taken(name, matches[name]))]
        text = ordered_bytes({part.name: part.value for part in taken})
        _check_that_it_can_be_read(text)
    except DocumentError as error:
        raise click.ClickException(printable(str(error))) from None
    emit(f"{text.decode()}\n", output)
    return _UNKNOWN if {"unknown"} in answers else 0


def _only_plan(parts: Sequence[Part]) -> Part:
    plans = [part for part in parts if part.name == PLAN]
    if len(plans) == 1:
        return plans[0]
    names = " and ".join(plan.label for plan in plans)
    raise DocumentError(
        f"A bundle has one plan, and these files hold {len(plans):,}: {names}."
        if plans
        else "None of the files holds a plan."
    )


def _matches(plan: Part, parts: Sequence[Part], name: Source) -> list[Match]:
    return [match(plan.value, part) for part in parts if part.name == name]


def _answers(plan: Part, name: Source, matches: Sequence[Match]) -> Iterator[str]:
    """A line for each file of a source: does the plan come from it?"""
    stated = stated_hash(plan.value, name)
    compiled = (
        f"{printable(plan.label)} was compiled from the {name} {shortened(stated, 64)}"
        if stated is not None
        else f"{printable(plan.label)} has no `{STATED[name]}`"
    )
    if not matches:
        yield f"{name}: not given; {compiled}"
    for part, answer, computed in matches:
        file = f"{name}: {printable(part.label)}"
        if answer == "fits":
            yield f"{file} fits: {compiled}"
        elif answer == "differs":
            yield f"{file} does not fit: {compiled}, and this one is {computed}"
        elif computed is None:
            yield f"{file} may fit or not: {compiled}"
        else:
            yield (
                f"{file} may fit or not, as its keys have been sorted: {compiled}, and as it "
                f"stands this one is {computed}"
            )


def _taken(name: Source, matches: Sequence[Match]) -> list[Part]:
    """The source that goes into the bundle; none where none is given."""
    fitting = [each for each in matches if each.answer == "fits"]
    candidates = [each.part for each in fitting[:1] or matches]
    if len(candidates) > 1:
        raise DocumentError(
            f"Which {name} is the plan's cannot be told: give one, instead of "
            f"{' and '.join(part.label for part in candidates)}."
        )
    return candidates


def _check_that_it_can_be_read(text: bytes) -> None:
    """Refuse what every reader would refuse: together the files may pass a limit."""
    try:
        parse_json(text)
    except DocumentError as error:
        raise DocumentError(f"The bundle could not be read: {summarise(error.findings)}") from None
