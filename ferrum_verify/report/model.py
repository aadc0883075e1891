"""The report of an audit: documents, their verdicts, findings, slots and proof counts.

The JSON form of these records is fixed (``ferrum-verify/report/v1``): a value that was not
computed is left out of it, never ``null``.
"""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from ferrum_verify.findings import Judgment
from ferrum_verify.reading.load import Origin
from ferrum_verify.report.hidden import hidden_words
from ferrum_verify.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import networkx as nx

    from ferrum_verify.counterexamples import Runs
    from ferrum_verify.documents.catalog import CapabilityCatalog
    from ferrum_verify.findings import Finding, Judge
    from ferrum_verify.reading.document import Kind, Subject
    from ferrum_verify.report.against import Against
    from ferrum_verify.report.hidden import Hidden
    from ferrum_verify.report.slots_cost import SlotsCost

REPORT_SCHEMA = "ferrum-verify/report/v1"

Held = Literal["settings", "baseline"]
"""Kinds of files that a review is held to, and that a branch may change beside its plans."""

Verdict = Literal["unreadable", "violated", "undecided", "verified"]

VERDICTS: tuple[Verdict, ...] = ("unreadable", "violated", "undecided", "verified")
"""From the worst to the best; of several documents the worst one counts."""

EXIT_STATUS: dict[Verdict, int] = {"unreadable": 2, "violated": 1, "undecided": 3, "verified": 0}


@dataclass(frozen=True, slots=True)
class Obligations:
    """What came of the claims about a document, and how many formulas they came to.

    A ``vacuous`` claim assumes what nothing can meet. ``formulas`` are those that were put to the
    solver: many claims are one formula up to renaming, which is decided once.
    """

    proved: int = 0
    refuted: int = 0
    undecided: int = 0
    vacuous: int = 0
    formulas: int = 0

    def __add__(self, other: Obligations) -> Obligations:
        return Obligations(
            *(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True))
        )

    @property
    def claims(self) -> int:
        """How many claims there were."""
        return self.proved + self.refuted + self.undecided + self.vacuous

    def to_wire(self) -> dict[str, Any]:
        """The counts as JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotReport:
    """Whether the members of one shared Step slot are safe under each execution model.

    A model that could not be judged (no nodes, say) is None. ``hazards`` are the pairs of
    members that are not safe under ``concurrent``, in each pair the one that is used first
    first, ties by id.
    """

    pool_id: str
    resource_ids: tuple[str, ...]
    in_order: bool | None = None
    fenced: bool | None = None
    concurrent: bool | None = None
    hazards: tuple[tuple[str, str], ...] | None = None

    def to_wire(self) -> dict[str, Any]:
        """The slot's JSON; what was not judged is left out."""
        wire: dict[str, Any] = {"pool_id": self.pool_id, "resource_ids": list(self.resource_ids)}
        for name in ("in_order", "fenced", "concurrent"):
            safe = getattr(self, name)
            if safe is not None:
                wire[name] = safe
        if self.hazards is not None:
            wire["hazards"] = [list(pair) for pair in self.hazards]
        return wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What a document was judged under, where two catalogs are compared.

    ``base`` and ``head`` name the catalogs' documents. ``before`` and ``after`` are the facts of
    a plan's checkpoints under each, as a finding of a change writes them; None for the catalogs
    themselves, and for a plan where they are not known.
    """

    base: str
    head: str
    head_catalog: CapabilityCatalog
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentReport:
    """What the audit of one document found.

    ``hidden`` are findings that a baseline knows or whose rule is ignored: they are not among
    ``findings``, and the ``verdict`` is what it is with them. ``open_verdict`` is that of the rest.
    ``obligations`` is None where no proof was asked for; ``interrupted`` says that the proofs were
    ended from outside, and is not in the JSON. ``timings`` are seconds by phase. ``memory`` is what
    the slots cost, None where that was not asked for or cannot be told; ``against`` what differs
    from another plan, None where there is none.
    ``subject`` is the document as it was read (of a planning problem: with the memory plan
    that was derived from it), for renderers that show more than findings; ``path`` and
    ``line`` say where in which file it began, and ``origins`` where the members of a document
    stand that was put together of several; ``comparison`` is of the documents of a comparison
    of catalogs. None of these five is in the JSON. ``key`` is a hash of the document's bytes and
    of all that they were judged by, where it is known, and ``carried`` says that the report is
    an earlier one's of the same key.
    """

    source: str
    kind: Kind | Held | None
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    hidden: tuple[Hidden, ...] = ()
    slots: tuple[SlotReport, ...] = ()
    obligations: Obligations | None = None
    timings: dict[str, float] = field(default_factory=dict)
    memory: SlotsCost | None = None
    against: Against | None = None
    interrupted: bool = False
    subject: Subject | None = field(default=None, repr=False, compare=False)
    path: Path | None = field(default=None, repr=False, compare=False)
    line: int = field(default=1, repr=False, compare=False)
    origins: Mapping[str, Origin] = field(default_factory=dict, repr=False, compare=False)
    comparison: Comparison | None = field(default=None, repr=False, compare=False)
    key: str | None = None
    carried: bool = False

    @property
    def open_verdict(self) -> Verdict:
        """The verdict by the findings that are not hidden, which the exit status follows."""
        if not self.hidden or self.verdict == "unreadable":
            return self.verdict
        # Claims that stayed open count too, unless the findings that tell of them are hidden.
        told = any(each.finding.undecided for each in self.hidden)
        return verdict_of(self.findings, None if told else self.obligations)

    @property
    def shown_verdict(self) -> str:
        """The verdict with the number of hidden findings: "VIOLATED (1 known)"."""
        return self.verdict.upper() + hidden_words(self.hidden)

    @property
    def is_run(self) -> bool:
        """Whether the execution model has a say in the verdict: there are nodes that run."""
        without_nodes = ("memory-plan", "program", "catalog", "policy", "settings", "baseline")
        return self.comparison is None and self.kind not in (None, *without_nodes)

    @property
    def files(self) -> tuple[Path | None, ...]:
        """The document's file, and those of its members."""
        return self.path, *(origin.path for origin in self.origins.values())

    def origin(self, location: str) -> Origin:
        """Where a JSON pointer of the document leads: the file, its line, and the pointer there."""
        for member, origin in self.origins.items():
            if location == member or location.startswith(f"{member}/"):
                return origin._replace(pointer=origin.pointer + location.removeprefix(member))
        return Origin(self.path, self.line, location)

    @property
    def graph(self) -> nx.DiGraph[str] | None:
        """The document's nodes, with an edge from each dependency to what waits for it.

        A node's ``position`` is its place in plan order, and ``resources`` are the ids that it
        lists, parted by spaces. None where the document has no nodes that could be read. The
        graph is made when it is first asked for, and is not in the JSON.
        """
        order = None if self.subject is None else self.subject.order
        return None if order is None else order.graph

    def to_wire(self) -> dict[str, Any]:
        """The document's part of the JSON report."""
        wire: dict[str, Any] = {"source": self.source}
        if self.kind is not None:
            wire["kind"] = self.kind
        wire["verdict"] = self.verdict
        wire["findings"] = [finding.to_wire() for finding in self.findings]
        if self.hidden:
            wire["hidden"] = [each.to_wire() for each in self.hidden]
        wire["slots"] = [slot.to_wire() for slot in self.slots]
        if self.obligations is not None:
            wire["obligations"] = self.obligations.to_wire()
        if self.memory is not None:
            wire["memory"] = self.memory.to_wire()
        if self.against is not None:
            wire["against"] = self.against.to_wire()
        wire["timings"] = {phase: round(seconds, 6) for phase, seconds in self.timings.items()}
        if self.key is not None:
            wire["key"] = self.key
        if self.carried:
            wire["carried"] = True
        return wire


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report:
    """The report of one run over one or more documents, under one model or schedule.

    ``judge`` says what was asked for; of anything but ``all``, the rest was not judged, and the
    verdicts do not speak of it. ``shard`` is which part of a run this is, and of how many.
    """

    execution: Runs
    documents: tuple[DocumentReport, ...]
    judge: Judge = "all"
    shard: tuple[int, int] | None = None

    @property
    def terms(self) -> str:
        """The execution model, and what was not judged, in words."""
        return self.execution + self.not_judged

    @property
    def not_judged(self) -> str:
        """What was not judged, as it follows other words: ", conformance not judged"."""
        others = [judgment for judgment in get_args(Judgment) if judgment != self.judge]
        return "" if self.judge == "all" else f", {others[0]} not judged"

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of the documents; of no documents, nothing is verified."""
        return worst(document.verdict for document in self.documents)

    @property
    def exit_status(self) -> int:
        """The exit status of the command that made this report; what is hidden has no say."""
        return EXIT_STATUS[self.open_verdict]

    @property
    def open_verdict(self) -> Verdict:
        """The worst verdict of the documents by the findings that are not hidden."""
        return worst(document.open_verdict for document in self.documents)

    @property
    def shown_verdict(self) -> str:
        """The verdict with the number of hidden findings: "VIOLATED (1 known)"."""
        return self.verdict.upper() + hidden_words(self.hidden)

    @property
    def hidden(self) -> tuple[Hidden, ...]:
        """The hidden findings of all documents."""
        return tuple(hidden for document in self.documents for hidden in document.hidden)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all documents."""
        return tuple(finding for document in self.documents for finding in document.findings)

    @property
    def slots(self) -> tuple[SlotReport, ...]:
        """The shared slots of all documents."""
        return tuple(slot for document in self.documents for slot in document.slots)

    @property
    def obligations(self) -> Obligations:
        """The proof counts of all documents; zero where no proof was asked for."""
        return sum(
            (document.obligations or Obligations() for document in self.documents), Obligations()
        )

    @property
    def summary(self) -> dict[Verdict, int]:
        """How many documents got each verdict, best first."""
        counts: dict[Verdict, int] = {
            "verified": 0,
            "violated": 0,
            "undecided": 0,
            "unreadable": 0,
        }
        for document in self.documents:
            counts[document.verdict] += 1
        return counts

    def __repr__(self) -> str:
        """The verdict and the counts in a line, however many findings there are."""
        documents = len(self.documents)
        return (
            f"<Report: {self.shown_verdict}, {documents:,} document{'s' * (documents != 1)}, "
            f"{len(self.findings):,} finding{'s' * (len(self.findings) != 1)}>"
        )

    def to_wire(self) -> dict[str, Any]:
        """The whole report as JSON."""
        return {
            "schema": REPORT_SCHEMA,
            "tool": {"name": "ferrum-verify", "version": __version__},
            "execution": self.execution,
            **({} if self.judge == "all" else {"judge": self.judge}),
            **({} if self.shard is None else {"shard": list(self.shard)}),
            "documents": [document.to_wire() for document in self.documents],
            "summary": self.summary,
        }


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of a whole: unreadable before violated, undecided and verified."""
    present = set(verdicts)
    return next((verdict for verdict in VERDICTS if verdict in present), "undecided")


def verdict_of(
    findings: Sequence[Finding], obligations: Obligations | None = None, *, readable: bool = True
) -> Verdict:
    """The verdict of one document.

    An error violates (a refuted obligation has one, unless it is only worth a warning); a
    question that stayed open, as a finding or as an obligation, leaves the document
    undecided; warnings and notes change nothing. A document that could not be
    read at all (its subject is None) is unreadable whatever was found.
    """
    if not readable:
        return "unreadable"
    if any(finding.severity == "error" and not finding.undecided for finding in findings):
        return "violated"
    if any(finding.undecided for finding in findings):
        return "undecided"
    return "undecided" if obligations is not None and obligations.undecided else "verified"
