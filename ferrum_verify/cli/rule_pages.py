"""The rules' pages: ``python -m ferrum_verify.cli.rule_pages docs`` writes them anew.

``rules.md`` lists all rules and is kept in the repository; the folder ``rules`` has a page for
each, as ``explain`` shows it, and is not.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ferrum_verify.catalogue import catalogue
from ferrum_verify.catalogue.rule_text import judged_as, markdown_page
from ferrum_verify.cli.output import emit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.findings import Family

_FAMILIES: dict[Family, str] = {
    "wire": "Is it a document, to the letter of the format?",
    "graph": "Nodes, dependencies, work, state effects, workspaces and selection.",
    "value": "Bindings of values to bytes, exact aliases and retained values.",
    "capacity": "What the device has, the policy grants and the plan needs.",
    "static": "Rows that are allocated once.",
    "descriptor": "Rows that are sized at run time.",
    "pool": "Which rows share a backing pool, and what it provides.",
    "slot": "Step resources that share bytes, and when they may.",
    "liveness": "Which invocation resources are live at once, and the peak of that.",
    "reusable": "Buckets, lanes and budgets of reusable execution.",
    "binding": "Arenas of program bindings.",
    "checkpoint": "Whether sequence state can be captured and restored, and where.",
    "contract": "What providers declare, and plans and catalogs that depart from it.",
    "integrity": "Hashes and fingerprints.",
    "schedule": "A schedule beside its plan: launches, events, buffers, and what they order.",
    "buffer": "A buffer plan of another planner: names, places, and who holds bytes when.",
}


def index() -> str:
    """The list of all rules by family, as Markdown."""
    rules = list(catalogue().values())
    lines = [
        "# Rules",
        "",
        f"The {len(rules):,} rules that `ferrum-verify` checks, by family. `ferrum-verify explain "
        "RULE` says why a rule matters in a running engine, how to fix a breach and where the rule "
        "comes from, and shows an edit that breaks it with the message that it gives; `explain "
        "--all` does so for every rule.",
        "",
        "This page is generated from the rules: `make rules`.",
    ]
    for family, about in _FAMILIES.items():
        lines += ["", f"## {family}", "", about, ""]
        lines += ["| Rule | Judged as | What holds |", "|:--|:--|:--|"]
        lines += [
            f"| `{rule.id}` | {judged_as(rule)} | {rule.summary} |"
            for rule in rules
            if rule.family == family
        ]
    return "\n".join(lines) + "\n"


def write_pages(folder: Path) -> None:
    """Write the list of rules to ``folder``, and each rule's page below ``rules`` in it.

    What stood in ``rules`` is removed first, so that no page outlives its rule.
    """
    emit(index(), folder / "rules.md")
    shutil.rmtree(folder / "rules", ignore_errors=True)
    for rule in catalogue().values():
        family, _, name = rule.id.partition(".")
        page = folder / "rules" / family / f"{name}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        emit(markdown_page(rule), page)


def main(arguments: Sequence[str]) -> int:
    """Write the pages to the folder that is named."""
    if len(arguments) != 1:
        print("usage: python -m ferrum_verify.cli.rule_pages FOLDER", file=sys.stderr)
        return 2
    write_pages(Path(arguments[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
