"""Whether the verifier's verdict on a plan and the definition of lost bytes agree.

A plan that is verified loses no byte, and a finding that says that a byte is lost is true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify import audit
from tests.definition.bytes import faults

if TYPE_CHECKING:
    from tests.definition.runs import Execution
    from tests.definition.sizes import Json

# Safety findings about numbers that no node's bytes follow from: what the allocator is told that
# there is, and what the engine refuses before any node runs. A prefix stands for a family.
NOT_OF_A_RUN = {
    "binding.": "a layout that cannot be compiled is never run",
    "capacity.": "totals say what is refused, not where a byte lies",
    "pool.": "totals of a pool, likewise",
    "static.": "totals of static memory, likewise",
    "liveness.peak": "a total of liveness rows",
    "liveness.global-rows": "a summary of the rows of pools",
    "slot.step-minimum": "a total of slots",
    "slot.missing-member": "a resource without a slot is given bytes of its own",
    "contract.value-misaligned": "a kernel may fault on an address, and loses no byte",
    "value.misaligned-offset": "likewise",
    "value.weight-format": "what bytes mean is not where they lie",
    "value.overlap": "the format lets two values share bytes only as aliases, alive or not",
    "value.inconsistent": "the format gives a value one place, whoever reads it",
    "graph.read-before-write": "the format wants a dependency, whatever else orders the two",
    "slot.retained-shared": "the format gives a retained resource its slot alone",
    "liveness.rows-not-derived": "the runtime is told the rows, whoever uses the resource",
}

# The fenced test of slots and rows is stricter than need be: it refuses pairs that no run hurts.
FENCED_SLOTS = {"slot.shared-while-live", "slot.many-hazards", "liveness.rows-overlap"}

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
    kinds = tuple(sorted({fault.kind for fault in faults(document, execution)}))
    errors = [each for each in report.findings if each.severity == "error"]
    unsafe = {
        each.rule
        for each in errors
        if each.judgment == "safety" and not each.rule.startswith(tuple(NOT_OF_A_RUN))
    }
    if report.verdict == "verified":
        return Outcome("unnoticed", kinds) if kinds else Outcome("verified", ())
    if unsafe and not kinds:
        if execution == "fenced" and unsafe <= FENCED_SLOTS:
            return Outcome("fenced-slot", tuple(sorted(unsafe)))
        return Outcome("unconfirmed", tuple(sorted(unsafe)))
    if report.verdict == "undecided":
        return Outcome("undecided", kinds)
    # Without a safety finding a plan is refused for its form, whether or not it loses a byte.
    return Outcome("violated" if unsafe else "refused", kinds)
