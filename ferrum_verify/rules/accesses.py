"""Rules of accesses: no byte is written while somebody else still needs it.

The engine's own check knows nothing of this, so none of it is conformance. Accesses are judged
exactly by the runs of the execution model: what the fenced test of slots refuses beyond that is
refused for slots alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.documents.node import PlanNode
from ferrum_verify.findings import DELETE, Example, Rule, pointer
from ferrum_verify.findings.wording import bytes_words
from ferrum_verify.plan.accesses import (
    MOST_STEPS,
    Access,
    Conflict,
    TooManyAccessesError,
    accesses_of,
    conflicts_of,
    declared_bytes,
    ended_before,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.rules.expected import Expected

RUNS = "docs/execution-models.md, «One plan»"

UNKNOWN = Rule(
    id="graph.accesses-unknown",
    summary="Every node says what it reads and writes.",
    why="A node that lists a resource may read it, write it, or both. Whether two nodes that "
    "touch one resource may run at once depends on that, and so was not judged.",
    fix="Give each node the lists `reads` and `writes`, or audit the full plan.",
    source=RUNS,
    severity="note",
    judgment="safety",
    example=Example("fragment", {"/nodes/0/reads": DELETE, "/nodes/0/writes": DELETE}),
)
TOO_MANY = Rule(
    id="graph.accesses-undecided",
    summary="The accesses of a plan are few enough to be compared.",
    why="A plan of this many accesses to parts of few resources was made by no engine; whether "
    "two of them meet is left open.",
    fix="Audit a smaller plan.",
    source="a limit of this verifier",
    severity="warning",
    judgment="safety",
    undecided=True,
)


def check(facts: Expected) -> Iterator[Finding]:
    """Findings of all accesses that may meet in some run of the execution model."""
    subject, order = facts.subject, facts.order
    if order is None:
        return
    silent = sum(
        1
        for node in order.nodes
        if not isinstance(node, PlanNode) and node.reads is None and node.writes is None
    )
    unread = [each for each in facts.doubts if each.startswith(f"{subject.places.nodes}/")]
    if silent and unread and subject.kind not in ("fragment", "problem"):
        # A full plan says it; of nodes that cannot all be read, only the order is known.
        yield UNKNOWN.finding(
            f"what nodes read and write was not judged, because `{unread[0]}` cannot be read",
            subject.places.nodes,
            fix="Correct what cannot be read, and audit the plan again",
        )
    elif silent:
        yield UNKNOWN.finding(
            f"{silent:,} of {len(order.nodes):,} nodes do not say what they read and write, so "
            "their accesses were not judged",
            subject.places.nodes,
        )
    if silent == len(order.nodes) or facts.under is not None:
        return
    tokens = 1 if subject.header is None else subject.header.maximum_scheduled_tokens
    accesses = accesses_of(order.nodes, tokens, declared_bytes(subject.program))
    try:
        for conflict in conflicts_of(accesses):
            if not ended_before(order, conflict.first.node, conflict.then.node, facts.execution):
                yield from _finding(conflict, facts, order)
    except TooManyAccessesError:
        yield TOO_MANY.finding(
            f"the accesses of the plan take more than {MOST_STEPS:,} steps to compare; what was "
            "found until then is told",
            subject.places.nodes,
        )


OVERWRITTEN = Rule(
    id="value.overwritten",
    summary="A value's bytes are written again only after its last reader.",
    why="A reader that comes later takes what somebody else has put there, and the model answers "
    "nonsense without any error.",
    fix="Let the node that writes wait for the reader, or give its output bytes of its own.",
    source=RUNS,
    judgment="safety",
    example=Example(
        "bundle",
        {"/plan/payload/nodes/4/values/0/value_id": "value.hidden"},
        also=("graph.work-unmatched-projection", "contract.program-values-differ"),
    ),
)
RACE = Rule(
    id="value.race",
    summary="Of two nodes that touch the same bytes of a value, one writing, one waits for the "
    "other.",
    why="Which of the two comes first is then a matter of chance, in every run anew.",
    fix="Add a dependency between the two nodes, or give them bytes of their own.",
    source=RUNS,
    judgment="safety",
)
RESOURCE_RACE = Rule(
    id="graph.race",
    summary="Of two nodes that touch one state or resource, one writing, one waits for the other.",
    why="A state that is read while it is written is neither the old nor the new one, and a "
    "sequence goes on from it for the rest of its life.",
    fix="Add a dependency between the two nodes.",
    source=RUNS,
    judgment="safety",
    example=Example("fragment", {"/nodes/2/writes/-": "act/embedded"}),
)


def _finding(conflict: Conflict, facts: Expected, order: HappensBefore) -> Iterator[Finding]:
    first, then = conflict.first, conflict.then
    if first.mode == "write" and not then.is_state and _is_told(first, then, order):
        return
    names = order.nodes[first.node].id, order.nodes[then.node].id
    where = f"{bytes_words(conflict.start, conflict.end)} of `{first.resource}`"
    place = pointer(facts.subject.places.nodes, then.node, *then.place)
    about = (*names, first.resource, *((conflict.value,) if conflict.value else ()))
    if conflict.value is not None:
        what = f"`{then.value}`" if then.value is not None else "something else"
        late = (
            f"`{names[0]}`, which stands later in plan order, still reads"
            if first.node > then.node
            else f"`{names[0]}`, for which it need not wait, may still read"
        )
        yield OVERWRITTEN.finding(
            f"`{names[1]}` writes {what} to {where}, where {late} `{conflict.value}`",
            place,
            about=about,
        )
        return
    rule = RESOURCE_RACE if then.value is None or first.is_state or then.is_state else RACE
    verbs = {"read": "reads", "write": "writes"}
    yield rule.finding(
        f"`{names[0]}` {verbs[first.mode]} and `{names[1]}` {verbs[then.mode]} {where}, and "
        "neither need wait for the other",
        place,
        about=about,
    )


def _is_told(writer: Access, reader: Access, order: HappensBefore) -> bool:
    """Whether ``graph.read-before-write`` speaks of the reader: it waits for no writer at all."""
    if reader.mode != "read" or reader.value is None:
        return False
    writers = [
        index
        for index, node in enumerate(order.nodes)
        if isinstance(node, PlanNode)
        and any(b.value_id == reader.value and b.role == "output" for b in node.values)
    ]
    # An input that a node changes in place has no writer that it could be waited for.
    return (
        bool(writers)
        and reader.node not in writers
        and not any(order.precedes(index, reader.node) for index in writers)
    )
