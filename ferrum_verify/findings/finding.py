"""What a check says: findings, and the rules that they belong to.

A rule carries its own documentation; the catalogue, ``explain`` and the rule pages
are generated from it, so nothing about a rule is written twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrum_verify.counterexamples import Counterexample

Family = Literal[
    "wire",
    "graph",
    "value",
    "capacity",
    "static",
    "descriptor",
    "pool",
    "slot",
    "liveness",
    "reusable",
    "binding",
    "checkpoint",
    "contract",
    "integrity",
    "schedule",
]
Judgment = Literal["conformance", "safety"]
Severity = Literal["error", "warning", "note"]
Judge = Literal["all", "safety", "conformance"]
"""What an audit is asked for: every judgment, or one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fact that a check established about a document.

    ``location`` is an RFC 6901 JSON pointer into the document as it was read ("" is the
    whole document). ``expected`` and ``actual`` are JSON values, present where a value was
    re-derived. ``undecided`` marks a question that could not be answered either way. ``about``
    are the names that tell the finding from others of its rule; the proofs find it by them.
    ``fix`` is how to mend this one, where more can be said than the rule says.
    ``cause`` is the place, among the findings of its document, of the one that it follows from:
    were that mended, this one would be gone. ``stated_by`` is the rule itself, with its
    documentation.
    """

    rule: str
    judgment: Judgment
    severity: Severity
    message: str
    location: str = ""
    expected: Any = None
    actual: Any = None
    counterexample: Counterexample | None = None
    undecided: bool = False
    about: tuple[str, ...] = ()
    fix: str | None = None
    cause: int | None = None
    stated_by: Rule | None = field(default=None, repr=False, compare=False)

    @property
    def family(self) -> Family:
        """The part of the engine's contract that the rule belongs to."""
        return cast("Family", self.rule.partition(".")[0])

    @property
    def remedy(self) -> str | None:
        """How to mend it: what is said of this finding, else what its rule says."""
        return self.fix or (None if self.stated_by is None else self.stated_by.fix)

    def to_wire(self) -> dict[str, Any]:
        """The finding as JSON; what was not computed is left out."""
        wire: dict[str, Any] = {
            "rule": self.rule,
            "family": self.family,
            "judgment": self.judgment,
            "severity": self.severity,
            "message": self.message,
            "location": self.location,
        }
        if self.expected is not None:
            wire["expected"] = self.expected
        if self.actual is not None:
            wire["actual"] = self.actual
        if self.fix is not None:
            wire["fix"] = self.fix
        if self.cause is not None:
            wire["cause"] = self.cause
        if self.counterexample is not None:
            wire["counterexample"] = self.counterexample.to_wire()
        return wire


@dataclass(frozen=True, slots=True)
class Example:
    """The smallest edit of a sound sample document that breaks a rule.

    ``sample`` names a document of ``catalogue.samples``. Each edit is a JSON pointer and
    the value to put there; ``DELETE`` removes the member, ``Swap`` exchanges it with another
    one, and a pointer that ends in ``/-`` appends to a list. ``rehash`` recomputes the hashes of
    an edited execution plan, so that only the edit itself is at fault. ``also`` names rules that
    the same edit cannot help but break too. ``command`` is what judges the edited document;
    ``contracts compare`` takes the unedited sample as BASE and the edited one as HEAD, or with
    ``reverse`` the other way round.
    """

    sample: str
    edits: dict[str, Any]
    rehash: bool = True
    also: tuple[str, ...] = ()
    execution: Literal["in-order", "fenced", "concurrent"] = "fenced"
    command: Literal["audit", "contracts check", "contracts compare"] = "audit"
    reverse: bool = False


class Delete:
    """Type of the marker that removes a member in an ``Example`` edit."""


DELETE = Delete()


@dataclass(frozen=True, slots=True)
class Swap:
    """An ``Example`` edit that exchanges a member with the one at ``other``, a JSON pointer."""

    other: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One check: its stable id, its documentation, and how its findings are judged.

    ``summary`` says what holds, not what is wrong. ``source`` says where that comes from: a seed
    with its function, or a section of a page in ``docs``.
    """

    id: str
    summary: str
    why: str
    fix: str
    source: str
    judgment: Judgment = "conformance"
    severity: Severity = "error"
    undecided: bool = False
    example: Example | None = field(default=None)

    @property
    def family(self) -> Family:
        """The part of the engine's contract that the rule belongs to."""
        return cast("Family", self.id.partition(".")[0])

    def finding(
        self,
        message: str,
        location: str = "",
        *,
        expected: Any = None,
        actual: Any = None,
        counterexample: Counterexample | None = None,
        about: tuple[str, ...] = (),
        fix: str | None = None,
    ) -> Finding:
        """A finding of this rule; ``message`` is one sentence with the names and numbers."""
        return Finding(
            rule=self.id,
            judgment=self.judgment,
            severity=self.severity,
            message=_sentence(message),
            location=location,
            expected=expected,
            actual=actual,
            counterexample=counterexample,
            undecided=self.undecided,
            about=about,
            fix=None if fix is None else _sentence(fix),
            stated_by=self,
        )


def rules_of(findings: Iterable[Finding]) -> list[Rule]:
    """The rules that findings are of, each once, in the families' order and then by id."""
    rules = {each.rule: each.stated_by for each in findings if each.stated_by is not None}
    families = get_args(Family)
    return sorted(rules.values(), key=lambda rule: (families.index(rule.family), rule.id))


def _sentence(text: str) -> str:
    """The text as a sentence; a name that it begins with stays as it is spelled."""
    first = text.partition(" ")[0]
    if first.isalpha():
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
