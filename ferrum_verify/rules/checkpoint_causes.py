"""The causes among a checkpoint's reasons: each once, in one clause, at one place.

The engine lists every reason of every node and state. A provider without a contract runs many
nodes, and a state that cannot be projected leaves its resource uncovered: those are one cause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.findings import pointer
from ferrum_verify.findings.wording import in_series, marked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ferrum_verify.derive.checkpoint_layout import Place, Unsupported
    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.documents.program import ModelProgram
    from ferrum_verify.reading.document import Places

_NOUNS = {
    "value_id": "input",
    "provider_id": "provider",
    "node_id": "node",
    "state_id": "state",
    "resource_id": "resource",
}
_SHOWN = 3


def independent_causes(
    reasons: Iterable[Unsupported], program: ModelProgram, nodes: Sequence[PlanNode]
) -> list[Unsupported]:
    """The reasons without those that only follow from others."""
    state_values = {state.value_id for state in program.states}
    explained = {
        component.resource_id
        for node in nodes
        for binding in node.values
        if binding.value_id in state_values
        for component in binding.storage.components
    }
    explained |= {
        node.persistent_resource
        for node in nodes
        if node.provider_resources.persistent is not None and node.persistent_resource is not None
    }
    return [
        reason
        for reason in reasons
        if not reason.consequence
        and not (
            reason.kind == "uncovered_resource" and dict(reason.names)["resource_id"] in explained
        )
    ]


def grouped(reasons: Iterable[Unsupported]) -> list[list[Unsupported]]:
    """The reasons of one cause together, in the order in which causes are first met."""
    groups: dict[tuple[str, str, Place | None], list[Unsupported]] = {}
    for reason in reasons:
        provider = reason.place if reason.place.part == "catalog" else None
        groups.setdefault((reason.kind, reason.because, provider), []).append(reason)
    return list(groups.values())


def clause(group: Sequence[Unsupported]) -> str:
    """Who is concerned and why, as the end of a sentence."""
    named: dict[str, dict[str, None]] = {}
    for reason in group:
        for field, name in reason.names:
            if field in _NOUNS:
                named.setdefault(field, {})[name] = None
    who = [
        f"{_NOUNS[field]}{'s' if len(names) > 1 else ''} {listed(marked(names))}"
        for field, names in named.items()
    ]
    because = group[0].because
    return f"{', '.join(who)}: {because}" if who else because


def listed(names: Sequence[str]) -> str:
    """Some names in words: all of a few, the first three and a count of many."""
    if len(names) <= _SHOWN:
        return in_series(names)
    return f"{', '.join(names[:_SHOWN])} and {len(names) - _SHOWN:,} more"


def locate(place: Place, places: Places) -> str:
    """The JSON pointer of a place in the document whose parts stand at ``places``."""
    base = {
        "nodes": places.nodes,
        "memory": places.memory,
        "program": places.program,
        "catalog": places.catalog,
    }[place.part]
    return pointer(base, *place.steps)
