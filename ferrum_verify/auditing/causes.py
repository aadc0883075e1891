"""Causes: which findings follow from another one, and would be gone if that were mended.

Whether they do is tried, not guessed. The fault of a finding is undone in a copy of the document,
which the concrete checks then judge again: what they do not find any more follows from it. Faults
are undone one after the other, each on top of those before it, so that what needs two of them
mended follows from the later one. The number of trials is bounded, and no verdict depends on
them: a finding of which nothing was found out stands for itself.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrum_verify.auditing.undoing import undoings
from ferrum_verify.findings.ordering import causes_first
from ferrum_verify.rules.accesses import OVERWRITTEN, RACE, RESOURCE_RACE
from ferrum_verify.rules.graph import ORDER_RULES, UNKNOWN_DEPENDENCY
from ferrum_verify.rules.integrity import PLAN_HASH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ferrum_verify.auditing.judged import Judged
    from ferrum_verify.findings import Finding

MOST_TRIALS = 8
_MOST_JUDGED = 20_000
"""Nodes, rows and findings that all trials of a document go through together, at most."""


_RECKONED = {
    *(f"capacity.{each}-mismatch" for each in ("usable", "minimum", "runnable", "ceiling")),
    *(f"pool.{each}-minimum" for each in ("request", "sequence", "resident")),
    *("pool.ceiling", "pool.reusable-ceiling", "pool.resident-maximum"),
    *("static.total-mismatch", "liveness.peak", "reusable.budget", "reusable.bucket-identity"),
    *("integrity.plan-hash", "integrity.plan-id"),
}
"""Rules of totals, hashes and ids that are reckoned from the rest of a document."""


class Key(NamedTuple):
    """What a finding is known by in another judgment of nearly the same document."""

    rule: str
    names: tuple[str, ...]
    location: str


def key_of(finding: Finding, moved: Callable[[str], str] = lambda place: place) -> Key:
    """By what it is about, else by its place, whatever its message says of numbers."""
    place = "" if finding.about else moved(finding.location)
    return Key(finding.rule, finding.about, place)


def with_causes(
    findings: Sequence[Finding],
    judged: Judged,
    judge_again: Callable[[Any], Judged | None],
) -> tuple[Finding, ...]:
    """The findings, each that follows from another with its ``cause``; causes first.

    ``judged`` is what the concrete checks made of the document, and ``judge_again`` has them judge
    an edited one; None where that cannot be read.
    """
    if sum(finding.severity == "error" for finding in findings) < 2:
        return causes_first(findings)
    findings = sorted(findings, key=_depth)
    concrete = {key_of(finding) for finding in judged.findings}
    left: dict[Key, list[int]] = {}
    for index, finding in enumerate(findings):
        if (key := key_of(finding)) in concrete:
            left.setdefault(key, []).append(index)
    cause_of: dict[int, int] = {}
    trials = 0
    moved: Callable[[str], str] = _unmoved
    most = min(MOST_TRIALS, max(1, _MOST_JUDGED // _size(judged)))
    for undoing in undoings(findings):
        own = key_of(findings[undoing.cause])
        if own not in left:
            continue  # it follows from one before it
        if trials == most:
            break
        edited = undoing.undo(judged)
        if edited is None:
            continue
        trials += 1
        then = judge_again(edited.document)
        if then is None or _order_is_lost(judged, then):
            continue
        back = _one_after_the_other(edited.moved_back, moved)
        still = {key_of(finding, back) for finding in then.findings}
        cause = findings[undoing.cause]
        gone = [key for key in left if key not in still and _may_follow(key, cause)]
        if own not in gone:
            continue  # its fault was another one
        for key in gone:
            for index in left.pop(key):
                # What could not be judged stays in sight, whyever.
                if index != undoing.cause and not findings[index].undecided:
                    cause_of[index] = undoing.cause
        judged, moved = then, back
    cause_of |= _of_the_hash(findings, cause_of)
    told = [
        replace(finding, cause=cause_of[index]) if index in cause_of else finding
        for index, finding in enumerate(findings)
    ]
    return causes_first(told)


def _depth(finding: Finding) -> int:
    """How far a finding may lie from its cause, where no trial tells; the nearest come first.

    The plan follows its program, catalog and policy, so what differs from them leads. Values that
    overlap are overwritten for it. Totals and hashes are reckoned from all the rest.
    """
    if finding.family == "contract":
        return 0
    if finding.rule in _RECKONED:
        return 3
    return 2 if finding.rule in (OVERWRITTEN.id, RACE.id, RESOURCE_RACE.id) else 1


def _may_follow(key: Key, cause: Finding) -> bool:
    """An unknown name follows from what tells the same name, never from another's."""
    return key.rule != UNKNOWN_DEPENDENCY.id or f"`{key.names[-1]}`" in cause.message


def _unmoved(place: str) -> str:
    return place


def _one_after_the_other(
    last: Callable[[str], str], before: Callable[[str], str]
) -> Callable[[str], str]:
    return lambda place: before(last(place))


def _of_the_hash(findings: Sequence[Finding], cause_of: Mapping[int, int]) -> dict[int, int]:
    """The hash that does not fit under the fault that most follows from, where that is in the plan.

    No trial can tell: only the very payload that was hashed hashes to it. But one with a fault is
    another than the engine hashed, so a hash that is older than the fault cannot fit.
    """
    errors = [
        index
        for index, finding in enumerate(findings)
        if finding.severity == "error" and index not in cause_of
    ]
    hashes = [index for index in errors if findings[index].rule == PLAN_HASH.id]
    faults = [index for index in errors if findings[index].family not in ("integrity", "wire")]
    if not hashes or not faults:
        return {}
    at = findings[hashes[0]].location.removesuffix("/plan_hash")
    follow = Counter(cause_of.values())
    first = max(faults, key=lambda index: (follow[index], -index))
    if not findings[first].location.startswith(f"{at}/payload/"):
        return {}
    return dict.fromkeys(hashes, first)


def _size(judged: Judged) -> int:
    subject = judged.subject
    memory = subject.memory
    rows = 0 if memory is None else len(memory.dynamic_descriptors) + len(memory.static_allocations)
    return max(1, len(subject.nodes or ()) + rows + len(judged.findings))


def _order_is_lost(before: Judged, then: Judged) -> bool:
    """Whether a trial spoiled the order of the nodes, so that nothing is found for want of it."""

    def faults(judged: Judged) -> int:
        return sum(finding.rule in ORDER_RULES for finding in judged.findings)

    def ordered(judged: Judged) -> bool:
        return judged.facts is not None and judged.facts.order is not None

    return (ordered(before) and not ordered(then)) or faults(then) > faults(before)
