"""A rule's example, ready to be shown: the edit, what changes by it, and what is reported then."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.examples import report_of
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.findings import Delete, Finding, Swap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.findings import Example, Rule

_MAXIMUM_LINES = 30
_MAXIMUM_VALUE = 120
_MAXIMUM_FINDINGS = 3
_CONTEXT = 2


@dataclass(frozen=True, slots=True)
class Illustration:
    """An example in words.

    ``edits`` say what is done to the sample, ``change`` is the same as lines of a unified diff,
    ``command`` is what is run then, and ``findings`` are the first that the rule gives.
    """

    edits: tuple[str, ...]
    change: tuple[str, ...]
    command: str
    findings: tuple[Finding, ...]


def illustrate(rule: Rule) -> Illustration | None:
    """The rule's example, run; None for a rule that has none."""
    example = rule.example
    if example is None:
        return None
    found = [finding for finding in report_of(example).findings if finding.rule == rule.id]
    return Illustration(
        edits=tuple(_edit(place, value) for place, value in example.edits.items()),
        change=tuple(_change(example)),
        command=_command(example),
        findings=tuple(found[:_MAXIMUM_FINDINGS]),
    )


def _command(example: Example) -> str:
    name = f"{example.sample}.json"
    match example.command:
        case "audit" if example.sample == "schedule":
            return f"audit fragment.json --schedule {name}"
        case "audit":
            model = f" --execution {example.execution}" if example.execution != "fenced" else ""
            return f"audit {name}{model}"
        case "contracts check":
            return f"contracts check {name}"
        case "contracts compare":
            pair = ("edited", "sound") if example.reverse else ("sound", "edited")
            return "contracts compare {0}-{2} {1}-{2}".format(*pair, name)


def _edit(location: str, value: Any) -> str:
    match value:
        case Delete():
            return f"remove `{location}`"
        case Swap(other=other):
            return f"swap `{location}` and `{other}`"
    text = json.dumps(value)
    if len(text) > _MAXIMUM_VALUE:
        text = f"{text[:_MAXIMUM_VALUE]}…"
    if location.endswith("/-"):
        return f"add `{text}` to `{location[:-2]}`"
    return f"set `{location}` to `{text}`"


def _change(example: Example) -> Iterator[str]:
    """The lines of JSON that the edits take away and add, with a little around them."""
    before, after = sample(example.sample), sample(example.sample)
    apply_edits(after, example.edits)
    lines = list(difflib.unified_diff(_lines(before), _lines(after), n=_CONTEXT, lineterm=""))[2:]
    for line in lines[:_MAXIMUM_LINES]:
        # Line numbers of a sample mean nothing to a reader: its edits say where they are.
        yield "@@" if line.startswith("@@") else line
    if len(lines) > _MAXIMUM_LINES:
        yield f"… {len(lines) - _MAXIMUM_LINES:,} more lines"


def _lines(document: Any) -> list[str]:
    return json.dumps(document, indent=2).splitlines()
