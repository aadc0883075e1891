"""Whether the verifier's verdict on a plan and the definitions agree.

A plan that is verified loses no byte and adds up, and a finding that says otherwise is true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify import audit
from tests.definition.bytes import faults
from tests.definition.totals import misstated

if TYPE_CHECKING:
    from tests.definition.runs import Execution
    from tests.definition.sizes import Json

# Safety findings that need not come with a lost byte. A prefix stands for a family.
NOT_OF_A_RUN = {
    "binding.": "a layout that cannot be compiled is never run",
    "slot.missing-member": "a resource without a slot is given bytes of its own",
    "contract.value-misaligned": "a kernel may fault on an address, and loses no byte",
    "value.misaligned-offset": "likewise",
    "value.weight-format": "what bytes mean is not where they lie",
    "graph.read-before-write": "the format wants a dependency, whatever else orders the two",
}

# The fenced test of slots and rows is stricter than need be: it refuses pairs that no run hurts.
FENCED_SLOTS = {"slot.shared-while-live", "slot.many-hazards", "liveness.rows-overlap"}

# What ``totals`` says as well; a prefix stands for a family.
TOTALS = (
    "capacity.",
    "pool.",
    "static.",
    "liveness.peak",
    "liveness.global-rows",
    "slot.step-minimum",
)

AGREES = ("verified", "violated", "refused", "undecided", "fenced-slot")


class Outcome(NamedTuple):
    """How the two judge a plan: an agreement, or a disagreement and what it is about."""

    name: str
    about: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        return self.name in AGREES


def compare(document: Json, execution: Execution) -> Outcome:
    """The outcome of one plan under one execution model."""
    report = audit(document, execution=execution, prove=False)
    lost = {fault.kind for fault in faults(document, execution)}
    wrong = misstated(document["plan"]["payload"]["memory"])
    kinds = tuple(sorted(lost | wrong))
    errors = [each for each in report.findings if each.severity == "error"]
    unsafe = {
        each.rule
        for each in errors
        if each.judgment == "safety" and not each.rule.startswith(tuple(NOT_OF_A_RUN))
    }
    if report.verdict == "verified":
        return Outcome("unnoticed", kinds) if kinds else Outcome("verified", ())
    # A total is confirmed by the numbers, whatever else is wrong; all else by a lost byte.
    unproved = unsafe - wrong
    if lost:
        unproved = {rule for rule in unproved if rule.startswith(TOTALS)}
    if unproved:
        is_strict = execution == "fenced" and unproved <= FENCED_SLOTS
        return Outcome("fenced-slot" if is_strict else "unconfirmed", tuple(sorted(unproved)))
    if report.verdict == "undecided":
        return Outcome("undecided", kinds)
    # Without a safety finding a plan is refused for its form, whether or not it loses a byte.
    return Outcome("violated" if unsafe else "refused", kinds)
