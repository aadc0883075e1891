"""A comparison of two catalogs as the page shows it: what changes of which provider, and what
becomes of each plan's checkpoints.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ferrum_verify.counterexamples import SpanConstraint, SpanCounterexample
from ferrum_verify.documents.pointer import steps_of
from ferrum_verify.findings.wording import plural, printable
from ferrum_verify.report.html.ticks import Row, tick_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ferrum_verify.documents.catalog import CapabilityCatalog
    from ferrum_verify.findings import Finding
    from ferrum_verify.report.model import Comparison, DocumentReport

Effect = Literal["breaking", "undecided", "compatible", "identity"]
EFFECTS: tuple[Effect, ...] = ("breaking", "undecided", "compatible", "identity")

_IDENTITY = frozenset({"identity-changed", "span-restated"})
_FACTS: dict[Effect, tuple[str, str]] = {
    "breaking": ("breaking change", "breaking changes"),
    "undecided": ("open question", "open questions"),
    "compatible": ("compatible change", "compatible changes"),
    "identity": ("change of identity", "changes of identity"),
}


@dataclass(frozen=True, slots=True)
class Change:
    """One change in a few words; ``number`` is that of its finding, None where none is listed."""

    effect: Effect
    words: str
    message: str
    number: int | None


@dataclass(frozen=True, slots=True)
class Owner:
    """What changes: a provider of an operation, an operation, the device, or an engine."""

    name: str
    role: str


@dataclass(frozen=True, slots=True)
class ChangedOwner:
    """An owner and its changes, the worst first."""

    owner: Owner
    changes: tuple[Change, ...]

    def of(self, effect: Effect) -> list[Change]:
        """The changes with one effect."""
        return [change for change in self.changes if change.effect == effect]


@dataclass(frozen=True, slots=True)
class CatalogView:
    """The comparison itself."""

    base: str
    head: str
    device: str
    verdict: tuple[str, str]
    effects: tuple[Effect, ...]
    owners: tuple[ChangedOwner, ...]
    unchanged: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of a plan's checkpoints under BASE and under HEAD."""

    name: str
    before: str
    after: str

    @property
    def differs(self) -> bool:
        """Whether HEAD changes it."""
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class CheckpointView:
    """A plan's checkpoints before and after; ``ticks`` are the boundaries that are legal."""

    facts: tuple[Fact, ...]
    ticks: dict[str, Any] | None


def effect_of(finding: Finding) -> Effect:
    """What a finding of a comparison means for plans of BASE."""
    if finding.undecided:
        return "undecided"
    if finding.severity == "error":
        return "breaking"
    return "identity" if kind_of(finding) in _IDENTITY else "compatible"


def kind_of(finding: Finding) -> str:
    """The kind of change: the aspect of a compatible one, else the rule's own name."""
    if finding.rule == "contract.compatible-change" and isinstance(finding.actual, dict):
        return str(finding.actual["aspect"])
    return finding.rule.partition(".")[2]


def comparison_facts(findings: Sequence[Finding]) -> list[str]:
    """How many changes of each effect there are, worst first."""
    counts = Counter(effect_of(finding) for finding in findings)
    facts = [
        f"{counts[effect]:,} {words[counts[effect] > 1]}"
        for effect, words in _FACTS.items()
        if counts[effect]
    ]
    return facts or ["nothing changes"]


def catalog_view(
    document: DocumentReport, comparison: Comparison, listed: Collection[int]
) -> CatalogView:
    """The changes by owner; ``listed`` are the numbers of the findings that the page lists."""
    place = document.subject.places.catalog if document.subject is not None else ""
    changes: dict[Owner, list[Change]] = {}
    for number, finding in enumerate(document.findings):
        if finding.family != "contract":
            continue
        change = Change(
            effect_of(finding),
            _words(finding),
            printable(finding.message.replace("`", "")),
            number if number in listed else None,
        )
        changes.setdefault(_owner(finding, place, comparison), []).append(change)
    owners = [
        ChangedOwner(owner, tuple(sorted(each, key=lambda change: EFFECTS.index(change.effect))))
        for owner, each in changes.items()
    ]
    owners.sort(key=lambda each: EFFECTS.index(each.changes[0].effect))
    present = {change.effect for each in owners for change in each.changes}
    return CatalogView(
        base=printable(comparison.base),
        head=printable(comparison.head),
        device=printable(comparison.head_catalog.device.id),
        verdict=_verdict(present),
        effects=tuple(
            effect for effect in EFFECTS if effect != "undecided" or "undecided" in present
        ),
        owners=tuple(owners),
        unchanged=tuple(
            f"{owner.name} of {owner.role}"
            for owner in _providers(comparison.head_catalog)
            if owner not in changes
        ),
    )


def _verdict(present: set[Effect]) -> tuple[str, str]:
    """The style and the words of what the changes come to."""
    if "breaking" in present:
        return "error", "HEAD breaks plans: it refuses what BASE permits."
    if "undecided" in present:
        return "undecided", "Whether HEAD breaks plans is open."
    if "compatible" in present:
        return "safe", "Compatible: HEAD permits all that BASE permits."
    if "identity" in present:
        return "safe", "Identity only: nothing that is declared changes, but plans must be rebuilt."
    return "safe", "Nothing changes."


def _words(finding: Finding) -> str:
    words = kind_of(finding).replace("-", " ")
    shown = finding.counterexample
    if isinstance(shown, SpanCounterexample) and shown.tokens is not None:
        return f"{words}: {plural(shown.tokens, 'token')} refused"
    return words


def _owner(finding: Finding, location: str, comparison: Comparison) -> Owner:
    """Whose change a finding is, from where it points in HEAD; what is gone says so."""
    match steps_of(finding.location.removeprefix(location)):
        case ["device", *_]:
            return Owner(comparison.head_catalog.device.id, "device")
        case ["operations", operation, *_]:
            return Owner(operation, "operation")
        case ["providers", operation, index, *_]:
            provider = comparison.head_catalog.providers[operation][int(index)]
            return Owner(provider.provider_id, operation)
        case ["engine_providers" | "weight_materializers" as kind, name, *_]:
            return Owner(name, "engine" if kind == "engine_providers" else "materializer")
    if len(finding.about) == 2:  # it is gone: its name and its role
        return Owner(*finding.about)
    return Owner("catalog", "as a whole")


def _providers(catalog: CapabilityCatalog) -> Iterator[Owner]:
    for operation, providers in catalog.providers.items():
        for provider_id in dict.fromkeys(provider.provider_id for provider in providers):
            yield Owner(provider_id, operation)


def checkpoint_view(comparison: Comparison) -> CheckpointView | None:
    """A plan's checkpoints under both catalogs; None where they are not known."""
    before, after = comparison.before, comparison.after
    if before is None or after is None:
        return None
    facts = tuple(
        Fact(name, _fact(before, key), _fact(after, key))
        for name, key in (
            ("Sequence checkpoints", "supported"),
            ("Tokens before a boundary", "prefix"),
            ("Tokens after a boundary", "suffix"),
            ("Smallest boundary", "smallest_boundary"),
            ("The states hold it", "reachable"),
            ("Depends on", "input_dependency"),
            ("Capture of completed inputs", "completed_input_capture"),
        )
    )
    rows = [
        Row(label, _span(side, "prefix")) for label, side in (("BASE", before), ("HEAD", after))
    ]
    smallest = [side["smallest_boundary"] for side in (before, after) if side["supported"]]
    return CheckpointView(facts, tick_rows(rows, max(smallest)) if smallest else None)


def _span(side: Mapping[str, Any], name: str) -> SpanConstraint | None:
    if not side["supported"]:
        return None
    span = side["boundaries"][name]
    return SpanConstraint(span["minimum_tokens"], span["alignment"])


def _fact(side: Mapping[str, Any], key: str) -> str:
    if key == "supported":
        return "yes" if side[key] else "none"
    if not side["supported"]:
        return "–"
    if key in ("prefix", "suffix"):
        span = side["boundaries"][key]
        least, by = span["minimum_tokens"], span["alignment"]
        at_least = f"{least:,} or more"
        return at_least if by == 1 else f"{at_least}, in multiples of {by:,}"
    value = side[key]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return plural(value, "token")
    return str(value).replace("_", " ")
