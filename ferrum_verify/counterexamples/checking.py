"""Checking counterexamples: plain evaluation that knows nothing of solvers or proofs.

It reads the document's JSON as it stands, and shares no code with the derivation, the rules or
the encodings: what it accepts can be believed without believing them.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples.bounds import check_shape
from ferrum_verify.counterexamples.byte_ranges import check_overlap
from ferrum_verify.counterexamples.document import Document
from ferrum_verify.counterexamples.spans import check_span, check_state_overlap
from ferrum_verify.counterexamples.uses import share_an_extent, users_of
from ferrum_verify.counterexamples.values import check_value_overlap

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrum_verify.counterexamples import Counterexample, Execution


def check_counterexample(
    document: Any,
    counterexample: Counterexample | dict[str, Any],
    execution: Execution = "concurrent",
) -> bool:
    """Whether a counterexample really shows what it says about a document.

    ``document`` is parsed JSON of a plan, fragment, problem, catalog or bundle, and for a change
    of catalog ``{"base", "head"}``, each a catalog or a bundle; separate documents make a bundle
    of ``plan``, ``catalog``, ``program`` and ``policy``, and a comparison may hold the ``plan``
    that is judged and the one ``rebuilt`` on HEAD. The counterexample is one of a finding, or
    its JSON. Under ``in-order`` and ``fenced`` a schedule must also start
    its nodes in plan order, and under ``in-order`` run them one after another. False, never an
    exception, for anything that does not hold or cannot be evaluated.
    """
    try:
        wire = counterexample if isinstance(counterexample, dict) else counterexample.to_wire()
        if execution not in ("in-order", "fenced", "concurrent"):
            return False
        if wire["kind"] == "schedule":
            return _check_schedule(Document(document), wire, execution)
        check = _CHECKS[wire["kind"]]
        return check(Document(document), wire)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        return False


def _check_schedule(  # noqa: PLR0911  (one condition after the other)
    document: Document, wire: dict[str, Any], execution: Execution
) -> bool:
    nodes = {node["id"]: node for node in document.nodes}
    order = {name: index for index, name in enumerate(nodes)}
    times = {run["id"]: (run["start"], run["end"]) for run in wire["nodes"]}
    if len(times) != len(wire["nodes"]) or not all(
        type(start) is int and type(end) is int and start < end for start, end in times.values()
    ):
        return False
    for name, (start, _) in times.items():
        for dependency in nodes[name]["dependencies"]:
            if dependency not in times or times[dependency][1] > start:
                return False
    if execution != "concurrent":
        listed = sorted(times, key=order.__getitem__)
        for earlier, later in itertools.pairwise(listed):
            bound = times[earlier][1] if execution == "in-order" else times[earlier][0]
            if times[later][0] < bound:
                return False
    if type(wire["at"]) is not int:
        return False
    sides = (wire["left"], wire["right"])
    if sides[0]["resource"] == sides[1]["resource"]:
        return share_an_extent(document, *sides) and all(
            times[side["node"]][0] <= wire["at"] < times[side["node"]][1] for side in sides
        )
    for side in sides:
        users = users_of(document, side["resource"])
        if side["node"] not in users or any(user not in times for user in users):
            return False
        born = min(times[user][0] for user in users)
        dead = max(times[user][1] for user in users)
        if not born <= wire["at"] < dead:
            return False
    return True


def _check_overlap(document: Document, wire: dict[str, Any]) -> bool:
    if any("value" in wire[side] for side in ("left", "right")):
        return check_value_overlap(document, wire)
    return check_overlap(document, wire) or check_state_overlap(document, wire)


_CHECKS: dict[str, Callable[[Document, dict[str, Any]], bool]] = {
    "shape": check_shape,
    "overlap": _check_overlap,
    "span": check_span,
}
