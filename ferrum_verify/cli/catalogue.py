"""``rules`` and ``explain``: what is checked, and why."""

from __future__ import annotations

import json
import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, get_args

import click

from ferrum_verify.catalogue import catalogue
from ferrum_verify.catalogue.rule_text import rule_list, rule_page
from ferrum_verify.cli.output import OUTPUT_OPTION, emit, screen_of
from ferrum_verify.findings import Family

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from ferrum_verify.findings import Rule


@click.command
@click.option("--family", type=click.Choice(get_args(Family)), help="Only the rules of FAMILY.")
@click.option(
    "--format", "format_name", type=click.Choice(["text", "json"]), default="text",
    show_default=True, help="A list, or the rules with all of their documentation as data.",
)  # fmt: skip
@OUTPUT_OPTION
def rules(family: str | None, format_name: str, output: Path | None) -> int:
    """List the rules: what is checked, and how a breach is judged."""
    chosen = [rule for rule in catalogue().values() if family in (None, rule.family)]
    if format_name == "json":
        text = json.dumps([_as_data(rule) for rule in chosen], indent=2) + "\n"
    else:
        text = rule_list(chosen, screen_of(sys.stdout, output))
    emit(text, output)
    return 0


@click.command
@click.argument("rule", required=False, shell_complete=lambda *asked: _completions(asked[-1]))
@click.option("--all", "every", is_flag=True, help="Explain every rule, one after the other.")
@OUTPUT_OPTION
def explain(rule: str | None, every: bool, output: Path | None) -> int:
    """Explain RULE: what it checks, why it matters, how to fix a breach, and an example.

    Of a family, such as value, its rules are listed.
    """
    if not every and rule in get_args(Family):
        context = click.get_current_context()
        return int(context.invoke(rules, family=rule, format_name="text", output=output))
    if (rule is None) != every:
        raise click.UsageError("Name a rule, or give --all for every one.")
    if rule is not None and rule not in catalogue():
        raise click.UsageError(f"There is no rule {rule}. {_suggestion(rule, catalogue().keys())}")
    chosen = catalogue().values() if rule is None else [catalogue()[rule]]
    screen = screen_of(sys.stdout, output)
    emit("\n\n".join(rule_page(each, screen) for each in chosen), output)
    return 0


def _completions(start: str) -> list[str]:
    return [rule for rule in catalogue() if rule.startswith(start)]


def _as_data(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "family": rule.family,
        "judgment": rule.judgment,
        "severity": rule.severity,
        "undecided": rule.undecided,
        "summary": rule.summary,
        "why": rule.why,
        "fix": rule.fix,
        "source": rule.source,
    }


def _suggestion(name: str, known: Collection[str]) -> str:
    tails = {rule.partition(".")[2]: rule for rule in known}
    near = get_close_matches(name, known, n=3, cutoff=0.5)
    near += [tails[tail] for tail in get_close_matches(name, tails, n=2, cutoff=0.6)]
    near += [rule for rule in known if name and rule.startswith(f"{name}.")]
    if not near:
        return "`ferrum-verify rules` lists them all."
    return f"Is it one of {', '.join(dict.fromkeys(near))}?"
