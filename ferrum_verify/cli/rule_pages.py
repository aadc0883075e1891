"""The rules' pages: ``python -m ferrum_verify.cli.rule_pages docs/rules`` writes them anew.

All that is in them comes from the rules; each example is run, and shown with the message that
it gave.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from ferrum_verify.catalogue import catalogue
from ferrum_verify.catalogue.illustrations import illustrate
from ferrum_verify.cli.output import emit
from ferrum_verify.findings import Family
from ferrum_verify.findings.wording import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrum_verify.catalogue.illustrations import Illustration
    from ferrum_verify.findings import Finding, Rule

INDEX = "README.md"

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
}


def pages() -> dict[str, str]:
    """Every page by its path below the folder: one for each rule, and the index."""
    rules = list(catalogue().values())
    written = {page_name(rule): _page(rule) for rule in rules}
    return {INDEX: _index(rules), **written}


def page_name(rule: Rule) -> str:
    """The path of a rule's page: ``slot/shared-while-live.md``."""
    family, _, name = rule.id.partition(".")
    return f"{family}/{name}.md"


def write_pages(folder: Path, wanted: Mapping[str, str]) -> list[str]:
    """Write pages to ``folder``, remove those of rules that are no more, and name what changed.

    A page is replaced as a whole, so that none is ever half-written.
    """
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}
    changed = []
    for name, text in wanted.items():
        path = folder / name
        if name in present and path.read_text(encoding="utf-8") == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        emit(text, path)
        changed.append(name)
    for name in sorted(present - wanted.keys()):
        (folder / name).unlink()
        changed.append(name)
    return changed


def _index(rules: Sequence[Rule]) -> str:
    lines = [
        "# Rules",
        "",
        f"The {len(rules):,} rules that `ferrum-verify` checks, by family. Each page says what the "
        "rule checks, why that matters in a running engine, an edit that breaks it with the "
        "message that it gives, and how to fix it; `ferrum-verify explain RULE` shows the same.",
        "",
        "These pages are generated from the rules: `python -m ferrum_verify.cli.rule_pages "
        "docs/rules`.",
    ]
    for family in get_args(Family):
        members = [rule for rule in rules if rule.family == family]
        lines += ["", f"## {family}", "", _FAMILIES[family], ""]
        lines += ["| Rule | Judged as | What holds |", "|:--|:--|:--|"]
        lines += [
            f"| [`{rule.id}`]({page_name(rule)}) | {_judged_as(rule)} | {_cell(rule.summary)} |"
            for rule in members
        ]
    return "\n".join(lines) + "\n"


def _page(rule: Rule) -> str:
    lines = [
        f"# {rule.id}",
        "",
        sentence(rule.summary),
        "",
        f"*Family [{rule.family}](../{INDEX}#{rule.family}), judged as {_judged_as(rule)}.*",
        "",
        "## Why it matters",
        "",
        sentence(rule.why),
        "",
        "## Example",
        "",
        *_example(rule),
        "",
        "## How to fix it",
        "",
        sentence(rule.fix),
        "",
        "## Where the rule comes from",
        "",
        sentence(rule.source),
    ]
    return "\n".join(lines) + "\n"


def _example(rule: Rule) -> Iterator[str]:
    shown = illustrate(rule)
    if rule.example is None or shown is None:
        yield "No small edit of a sample shows it."
        return
    yield from _edits(rule.example.sample, shown)
    if shown.change:
        yield from ("", "```diff", *shown.change, "```")
    yield from ("", f"`ferrum-verify {shown.command}` then says:", "")
    for finding in shown.findings:
        yield from (*_quoted(finding), "")
    if rule.example.also:
        links = ", ".join(f"[`{each}`]({_link(each)})" for each in rule.example.also)
        yield f"The same edit also breaks {links}."
    else:
        yield "No other rule gives an error or a warning."


def _edits(sample: str, shown: Illustration) -> Iterator[str]:
    match shown.edits:
        case ():
            yield f"The sample `{sample}.json`, as it is."
        case (edit,):
            yield f"In the sample `{sample}.json`, {edit}:"
        case edits:
            yield f"In the sample `{sample}.json`:"
            yield ""
            yield from (f"- {edit}" for edit in edits)


def _quoted(finding: Finding) -> list[str]:
    label = "undecided" if finding.undecided else finding.severity
    place = f"`{finding.location}`" if finding.location else "the whole document"
    return [f"> **{label}** at {place}: {sentence(finding.message)}"]


def _link(rule_id: str) -> str:
    family, _, name = rule_id.partition(".")
    return f"../{family}/{name}.md"


def _judged_as(rule: Rule) -> str:
    return f"{rule.judgment}, {'undecided' if rule.undecided else rule.severity}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: Sequence[str]) -> int:
    """Write the pages to the folder that is named, and say how many changed."""
    if len(arguments) != 1:
        print("usage: python -m ferrum_verify.cli.rule_pages FOLDER", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    changed = write_pages(folder, pages())
    print(f"{len(changed):,} pages of {folder} changed.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
