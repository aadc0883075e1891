"""The page: what a report's documents show, put into the template with all that it needs.

The file stands alone: style, scripts and data are in it, and its content security policy lets
the browser run that one script, load nothing and talk to nobody, whatever a document's names
may hold.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from ferrum_verify.findings import rules_of
from ferrum_verify.findings.wording import byte_count, plural, printable
from ferrum_verify.report import against_words, slots_table
from ferrum_verify.report.alike import told_once
from ferrum_verify.report.counts import claim_counts
from ferrum_verify.report.hidden import HIDDEN_AS, hidden_words
from ferrum_verify.report.html.arenas import binding_arenas
from ferrum_verify.report.html.capacity import (
    Part,
    capacity_parts,
    frontier_data,
    frontier_of,
    point_words,
)
from ferrum_verify.report.html.comparison import (
    CatalogView,
    CheckpointView,
    catalog_view,
    checkpoint_view,
    comparison_facts,
)
from ferrum_verify.report.html.evidence import document_facts, run_facts
from ferrum_verify.report.html.findings import Drawn, FamilyGroup, grouped, message_pieces
from ferrum_verify.report.html.footprint import footprint
from ferrum_verify.report.html.picture import names_of, picture
from ferrum_verify.report.html.sharing import PoolRow, pool_rows, saved_in_all
from ferrum_verify.report.html.slots import SlotRow, slot_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.plan.frontier import Headroom
    from ferrum_verify.report.against import Against
    from ferrum_verify.report.formats import Run
    from ferrum_verify.report.hidden import Hidden
    from ferrum_verify.report.model import Comparison, DocumentReport, Report
    from ferrum_verify.report.slots_cost import SlotsCost

MAXIMUM_PICTURES = 20
"""Documents that are drawn; of more, violated ones first. The findings of all are listed."""

SCRIPTS = (
    "elements.js",
    "scrolling.js",
    "timeline_layout.js",
    "timeline_drawing.js",
    "timeline.js",
    "timeline_keys.js",
    "timeline_words.js",
    "live_bytes.js",
    "batch.js",
    "footprint.js",
    "footprint_drawing.js",
    "footprint_words.js",
    "arenas.js",
    "frontier.js",
    "schedule.js",
    "ticks.js",
    "counterexamples.js",
    "findings.js",
    "page.js",
)


@dataclass(frozen=True, slots=True)
class DocumentView:
    """One document as the template reads it; what was not read or drawn is empty.

    ``changes`` is of the catalog of a comparison, ``checkpoints`` of its plans.
    """

    number: int
    source: str
    kind: str
    verdict: str
    facts: list[str]
    families: list[FamilyGroup]
    data: dict[str, Any]
    evidence: list[tuple[str, str]] = field(default_factory=list)
    slots: list[SlotRow] = field(default_factory=list)
    hidden_slots: int = 0
    pools: list[PoolRow] = field(default_factory=list)
    saved: str = ""
    parts: list[Part] = field(default_factory=list)
    device: str = ""
    frontier: list[Headroom] = field(default_factory=list)
    changes: CatalogView | None = None
    checkpoints: CheckpointView | None = None

    cost: SlotsCost | None = None
    against: Against | None = None
    hidden: tuple[Hidden, ...] = ()
    is_compared: bool = False

    @property
    def known(self) -> str:
        """How many findings are hidden, beside the verdict."""
        return hidden_words(self.hidden)

    @property
    def is_drawn(self) -> bool:
        """Whether there are nodes or rows to draw a timeline of."""
        return "groups" in self.data


def page(report: Report, run: Run | None) -> str:
    """The whole HTML file; ``run`` is the one that makes it, where a command does."""
    drawn = _drawn_documents(report)
    documents = [
        replace(_view(number, document, report, is_drawn=number in drawn), hidden=document.hidden)
        for number, document in enumerate(report.documents)
    ]
    script = _script()
    return _environment().get_template("report.html.j2").render(
        evidence=run_facts(run),
        execution=report.terms,
        verdict=report.verdict,
        known=hidden_words(report.hidden),
        summary={verdict: count for verdict, count in report.summary.items() if count},
        documents=documents,
        heading=_heading(documents),
        undrawn=sum(
            number not in drawn and document.comparison is None
            for number, document in enumerate(report.documents)
        ),
        alike=[
            (
                each.finding,
                message_pieces(each.finding.message, None),
                [documents[number] for number in each.documents],
            )
            for each in told_once(report.documents).alike
        ],
        rules={rule.id: rule for rule in rules_of(report.findings)},
        style=_asset("report.css"),
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )  # fmt: skip


def _heading(documents: Sequence[DocumentView]) -> str:
    """What the report is of: its one document, the one comparison in it, or how many there are."""
    if len(documents) == 1 or (documents and all(each.is_compared for each in documents)):
        return documents[0].source
    return plural(len(documents), "document")


def _drawn_documents(report: Report) -> frozenset[int]:
    """The documents that are drawn: those with something to draw, violated ones first."""
    able = [
        number
        for number, document in enumerate(report.documents)
        if document.comparison is None
        and document.subject is not None
        and document.subject.memory is not None
    ]
    able.sort(key=lambda number: report.documents[number].verdict != "violated")
    return frozenset(able[:MAXIMUM_PICTURES])


def _view(number: int, document: DocumentReport, report: Report, *, is_drawn: bool) -> DocumentView:
    if document.comparison is not None:
        return _compared(number, document, document.comparison)
    subject = document.subject
    memory = subject.memory if subject is not None else None
    if subject is None or memory is None or not is_drawn:
        families = grouped(document.findings, None)
        return DocumentView(
            number=number,
            source=printable(document.source),
            kind=document.kind or "no known document",
            verdict=document.verdict,
            facts=_facts(document),
            families=families,
            data={"counterexamples": _counterexamples(families)},
            evidence=[] if subject is None else document_facts(subject),
            against=document.against,
        )
    names = names_of(subject, memory)
    arenas = binding_arenas(subject, memory, names)
    frontier = frontier_of(subject, memory, document.findings)
    families = grouped(document.findings, Drawn(subject, memory, names, bool(arenas)))
    pools = pool_rows(memory)
    slots, hidden_slots = slot_rows(document.slots, memory)
    return DocumentView(
        number=number,
        source=printable(document.source),
        kind=document.kind or "no known document",
        verdict=document.verdict,
        facts=[
            *_facts(document),
            plural(len(subject.nodes or ()), "node"),
            plural(len(memory.dynamic_descriptors), "dynamic resource"),
            plural(len(memory.static_allocations), "static allocation"),
        ],
        families=families,
        evidence=document_facts(subject),
        slots=slots,
        hidden_slots=hidden_slots,
        pools=pools,
        saved=saved_in_all(pools),
        parts=capacity_parts(memory),
        cost=document.memory,
        against=document.against,
        device=byte_count(memory.device_capacity_bytes),
        frontier=frontier,
        data={
            **picture(subject, memory, names, report.execution),
            "arenas": arenas,
            "footprint": footprint(subject, memory, names),
            "frontier": frontier_data(frontier, memory.usable_capacity_bytes),
            "counterexamples": _counterexamples(families),
        },
    )


def _compared(number: int, document: DocumentReport, comparison: Comparison) -> DocumentView:
    """A document of a comparison: what changes is shown, and nothing else of the document."""
    families = grouped(document.findings, None)
    data: dict[str, Any] = {"counterexamples": _counterexamples(families)}
    changes = checkpoints = None
    source, facts = document.source, _facts(document, "breaking change")
    if document.subject is not None and document.subject.kind == "catalog":
        if source == comparison.head:
            source = f"{source} against {comparison.base}"
        listed = {
            finding.number
            for family in families
            for rule in family.rules
            for finding in rule.findings
        }
        changes = catalog_view(document, comparison, listed)
        facts = [*comparison_facts(document.findings), *_claims(document)]
    else:
        checkpoints = checkpoint_view(comparison)
        if checkpoints is not None and checkpoints.ticks is not None:
            data["checkpoints"] = checkpoints.ticks
    return DocumentView(
        number=number,
        source=printable(source),
        kind=document.kind or "no known document",
        verdict=document.verdict,
        facts=facts,
        families=families,
        data=data,
        changes=changes,
        checkpoints=checkpoints,
        is_compared=True,
    )


def _facts(document: DocumentReport, error: str = "error") -> list[str]:
    counts = {"error": 0, "warning": 0, "note": 0}
    questions = 0
    for finding in document.findings:
        if finding.undecided:
            questions += 1
        else:
            counts[finding.severity] += 1
    names = {"error": error, "warning": "warning", "note": "note"}
    facts = [plural(count, names[name]) for name, count in counts.items() if count]
    if questions:
        facts.append(plural(questions, "open question"))
    return [*(facts or ["no findings"]), *_claims(document)]


def _claims(document: DocumentReport) -> list[str]:
    return [] if document.obligations is None else claim_counts(document.obligations)


def _counterexamples(families: Sequence[FamilyGroup]) -> list[dict[str, Any]]:
    """In the order in which the template meets them."""
    return [
        finding.counterexample
        for family in families
        for rule in family.rules
        for finding in rule.findings
        if finding.counterexample is not None
    ]


def _script() -> str:
    """The page's scripts, in one scope of their own."""
    return f'(() => {{\n"use strict";\n{"".join(map(_asset, SCRIPTS))}}})();\n'


@cache
def _asset(name: str) -> str:
    folder = files("ferrum_verify.report.html") / "assets"
    return folder.joinpath(name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("ferrum_verify.report.html", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    environment.filters["point_words"] = point_words
    environment.globals["hidden_as"] = HIDDEN_AS
    environment.filters["printable"] = printable
    environment.globals["costs"] = slots_table
    environment.globals["against_words"] = against_words
    return environment
