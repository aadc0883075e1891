"""Best slots of a document: how few bytes its Step resources can take, and in which slots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.auditing.audit import judge
from ferrum_verify.auditing.best_slots import Shared
from ferrum_verify.auditing.garbage_collection import collection_paused
from ferrum_verify.counterexamples import Shape
from ferrum_verify.derive.best_slots import always
from ferrum_verify.deriving.plans import read_one
from ferrum_verify.findings.errors import DocumentError, summarise
from ferrum_verify.plan.sharing import EXECUTIONS
from ferrum_verify.reading.parse import subject_of

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.derive.best_slots import BestSlots


@collection_paused()
def best_slots(
    document: dict[str, Any] | str | os.PathLike[str],
    execution: Execution = "fenced",
    shape: Shape | Mapping[str, int] | None = None,
) -> BestSlots:
    """How few bytes the Step slots of each pool can take where nodes run as ``execution`` says.

    ``document`` is parsed JSON of a plan, fragment, problem or bundle, or the path of one.
    ``shape`` is the one at which bytes are counted, a ``Shape`` or its JSON; without it each pool
    is taken at the largest at which all of its Step resources are defined. What comes back has
    passed the tests of audits, the solver and ``check_best_slots``.

    Raises DocumentError where there is no document to read, and DerivationError, with the faults
    in ``findings``, where it does not say who may share, or a size is not defined at the shape.
    """
    if execution not in EXECUTIONS:
        raise ValueError(f"execution is {execution!r}, not one of {', '.join(EXECUTIONS)}")
    shared = read_shared(document)
    if shape is None:
        return shared.best_slots(execution, lambda largest: largest)
    asked = shape if isinstance(shape, Shape) else Shape(**shape)
    return shared.best_slots(execution, always(asked))


def read_shared(document: dict[str, Any] | str | os.PathLike[str]) -> Shared:
    """The parts of a document that slots are sought for; raises as ``best_slots`` does."""
    value = read_one(document)
    subject, findings = subject_of(value)
    if subject is None:
        raise DocumentError(summarise(findings), findings)
    subject, faults, facts = judge(subject, "fenced")
    return Shared.of(value, subject, [*findings, *faults], facts)
