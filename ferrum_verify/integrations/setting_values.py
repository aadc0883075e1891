"""Settings that go by the names of options: what may be written for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from ferrum_verify.findings import Family, Judge
from ferrum_verify.report.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CHOICES: dict[str, tuple[str, ...]] = {"format": tuple(FORMATS), "judge": get_args(Judge)}
FLAGS = ("all", "tables", "quiet", "statistics", "exit-zero")
NUMBERS = ("obligation-limit", "proof-limit", "memory-limit")
"""Limits of the solver: two in seconds, and one in MiB."""

OPTIONS = (*CHOICES, *FLAGS, *NUMBERS)


def option_values(table: Mapping[str, Any], faults: list[str]) -> dict[str, Any]:
    """What a table says of options; ``faults`` gets a sentence for each that cannot be."""
    values: dict[str, Any] = {}
    for key in OPTIONS:
        if key not in table:
            continue
        stated = table[key]
        if (fault := _fault(key, stated)) is None:
            values[key] = stated
        else:
            faults.append(f"{key} is {stated!r}{fault}")
    return values


def _fault(key: str, stated: Any) -> str | None:
    if key in CHOICES:
        known = CHOICES[key]
        return None if stated in known else f"; there are {', '.join(known)}"
    if key in FLAGS:
        return None if isinstance(stated, bool) else ", where true or false belongs"
    is_number = isinstance(stated, int | float) and not isinstance(stated, bool)
    if not is_number or not stated > 0:
        return ", where a number above 0 belongs"
    if key == "memory-limit" and not isinstance(stated, int):
        return ", where a whole number belongs"
    return None


def chosen_rules(names: Any, key: str, faults: list[str]) -> frozenset[str]:
    """The rules that a list names, a family standing for all of its own."""
    if not names:
        return frozenset()
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        faults.append(f"{key} is {names!r}, where a list of rules or families belongs")
        return frozenset()
    # Few choose among rules, and the others should not load them all.
    from ferrum_verify.catalogue import catalogue  # noqa: PLC0415

    known = catalogue()
    chosen: set[str] = set()
    for name in names:
        if name in get_args(Family):
            chosen |= {rule for rule in known if rule.startswith(f"{name}.")}
        elif name in known:
            chosen.add(name)
        else:
            faults.append(unknown_rule(key, name, known))
    return frozenset(chosen)


def unknown_rule(key: str, name: str, known: Mapping[str, Any]) -> str:
    """The fault of a name that no rule has, with one that may be meant."""
    from difflib import get_close_matches  # noqa: PLC0415 - few names are wrong

    near = get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f"{near[0]} may be meant" if near else "`ferrum-verify rules` lists them all"
    return f"{key} names the rule {name}, which does not exist; {hint}"


def ignored_rules(stated: Any, key: str, faults: list[str]) -> dict[str, str]:
    """A table of rules that are ignored, each with the reason."""
    if not isinstance(stated, dict):
        faults.append(f'{key} is no table; write {{ "RULE" = "the reason" }}')
        return {}
    if not stated:
        return {}
    from ferrum_verify.catalogue import catalogue  # noqa: PLC0415 - few ignore a rule

    known = catalogue()
    ignored: dict[str, str] = {}
    for rule, reason in _flat(stated):
        if rule not in known:
            faults.append(unknown_rule(key, rule, known))
        elif not isinstance(reason, str) or not reason.strip():
            faults.append(f"{key} gives no reason for {rule}; write why its findings are hidden")
        else:
            ignored[rule] = reason.strip()
    return ignored


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    # TOML reads an id that stands without quotes as a table of the family's name.
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
