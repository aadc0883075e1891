"""Checking counterexamples: plain evaluation that knows nothing of solvers or proofs.

It reads the document's JSON as it stands, and shares no code with the derivation, the rules or
the encodings: what it accepts can be believed without believing them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples.access import check_access
from ferrum_verify.counterexamples.bounds import check_shape
from ferrum_verify.counterexamples.byte_ranges import check_overlap
from ferrum_verify.counterexamples.document import Document
from ferrum_verify.counterexamples.schedule import check_schedule
from ferrum_verify.counterexamples.spans import check_span, check_state_overlap
from ferrum_verify.counterexamples.under_schedule import UNDER_SCHEDULE
from ferrum_verify.counterexamples.values import check_value_overlap

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrum_verify.counterexamples import Counterexample, Execution


def check_counterexample(
    document: Any,
    counterexample: Counterexample | dict[str, Any],
    execution: Execution = "concurrent",
    schedule: Any = None,
) -> bool:
    """Whether a counterexample really shows what it says about a document.

    ``document`` is parsed JSON of a plan, fragment, problem, catalog or bundle, and for a change
    of catalog ``{"base", "head"}``, each a catalog or a bundle; separate documents make a bundle
    of ``plan``, ``catalog``, ``program`` and ``policy``, and a comparison may hold the ``plan``
    that is judged and the one ``rebuilt`` on HEAD. The counterexample is one of a finding, or
    its JSON; a ``schedule`` or an ``access`` is one of ``execution``'s runs, and they as well as a
    ``dependency`` one of those of the ``schedule``, parsed JSON, where there is one. False, never
    an exception, for anything that does not hold or cannot be evaluated.
    """
    try:
        wire = counterexample if isinstance(counterexample, dict) else counterexample.to_wire()
        if execution not in ("in-order", "fenced", "concurrent"):
            return False
        if schedule is not None and wire["kind"] in UNDER_SCHEDULE:
            return UNDER_SCHEDULE[wire["kind"]](Document(document), wire, schedule)
        if wire["kind"] in _OF_RUNS:
            return _OF_RUNS[wire["kind"]](Document(document), wire, execution)
        check = _CHECKS[wire["kind"]]
        return check(Document(document), wire)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        return False


def _check_overlap(document: Document, wire: dict[str, Any]) -> bool:
    if any("value" in wire[side] for side in ("left", "right")):
        return check_value_overlap(document, wire)
    return check_overlap(document, wire) or check_state_overlap(document, wire)


_OF_RUNS: dict[str, Callable[[Document, dict[str, Any], Execution], bool]] = {
    "access": check_access,
    "schedule": check_schedule,
}
_CHECKS: dict[str, Callable[[Document, dict[str, Any]], bool]] = {
    "shape": check_shape,
    "overlap": _check_overlap,
    "span": check_span,
}
