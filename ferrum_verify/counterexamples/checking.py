"""Checking counterexamples: plain evaluation that knows nothing of solvers or proofs.

It reads the document's JSON as it stands, and shares no code with the derivation, the rules or
the encodings: what it accepts can be believed without believing them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples.access import check_access
from ferrum_verify.counterexamples.bounds import check_shape
from ferrum_verify.counterexamples.buffers import Plan, check_of_buffers, is_buffer_plan
from ferrum_verify.counterexamples.byte_ranges import check_overlap
from ferrum_verify.counterexamples.document import Document
from ferrum_verify.counterexamples.schedule import check_schedule
from ferrum_verify.counterexamples.spans import check_span, check_state_overlap
from ferrum_verify.counterexamples.under_schedule import UNDER_SCHEDULE
from ferrum_verify.counterexamples.values import check_value_overlap
from ferrum_verify.counterexamples.wire_form import is_well_formed

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrum_verify.counterexamples import Counterexample, Execution

_NOT_EVALUATED = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)


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
    that is judged and the one ``rebuilt`` on HEAD. It may be what ``parts_of`` made of it. The
    counterexample is one of a finding, or its JSON; a ``schedule`` or an ``access`` is one of
    ``execution``'s runs, and they as well as a ``dependency`` one of those of the ``schedule``,
    parsed JSON, where there is one. False, never an exception, for anything that does not hold or
    cannot be evaluated, and for JSON that is not of the form that the report format fixes: a byte
    of 0.5, a count of True, an unknown member.
    """
    try:
        wire = counterexample if isinstance(counterexample, dict) else counterexample.to_wire()
        parts = parts_of(document)
        of_buffers = isinstance(parts, Plan)
        if execution not in ("in-order", "fenced", "concurrent") or not is_well_formed(
            wire, of_buffers=of_buffers
        ):
            return False
        if isinstance(parts, Plan):
            return check_of_buffers(parts, wire, execution, schedule)
        if schedule is not None and wire["kind"] in UNDER_SCHEDULE:
            return UNDER_SCHEDULE[wire["kind"]](parts, wire, schedule)
        if wire["kind"] in _OF_RUNS:
            return _OF_RUNS[wire["kind"]](parts, wire, execution)
        return _CHECKS[wire["kind"]](parts, wire)
    except _NOT_EVALUATED:
        return False


def parts_of(document: Any) -> Any:
    """The document taken apart once, for ``check_counterexample`` of many; as it is, if it cannot.

    What its counterexamples have in common, such as who uses a resource, is then looked up once.
    """
    if isinstance(document, Document | Plan):
        return document
    try:
        return Plan(document) if is_buffer_plan(document) else Document(document)
    except _NOT_EVALUATED:
        return document


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
