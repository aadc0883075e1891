"""Checking ``access`` counterexamples: who touches which bytes, read from a document's JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples.runs import run_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferrum_verify.counterexamples.document import Document
    from ferrum_verify.counterexamples.kinds import Execution

ENDLESS = 2**64
"""The end of what reaches to the end of its resource, however large that is."""

MODES = {"read": ("read",), "write": ("write",), "read_write": ("read", "write")}


def check_access(document: Document, wire: Mapping[str, Any], execution: Execution) -> bool:
    """Whether a write really meets another access of the same bytes in an admissible run.

    Either both nodes run at ``at``, or the other one reads a value that was whole when the
    writer started, and has not ended while the writer runs.
    """
    times = run_of(document, wire["nodes"], execution)
    writer, other = wire["writer"]["node"], wire["other"]["node"]
    start, end, at = wire["bytes"]["start"], wire["bytes"]["end"], wire["at"]
    if times is None or writer == other or not all(type(each) is int for each in (start, end, at)):
        return False
    mode, value = wire["other"]["mode"], wire.get("value")
    if not 0 <= start < end or mode not in ("read", "write"):
        return False
    nodes = document.by_name

    def touches(name: str, resource: str, wanted: str, of: str | None = None) -> bool:
        return any(
            first <= start and end <= last
            for first, last, modes, what in touched(document, nodes[name], resource)
            if wanted in modes and (of is None or what == of)
        )

    resource = wire["resource"]
    sharing = of_these_bytes(document, resource)
    if not touches(other, resource, mode, value) or not any(
        touches(writer, each, "write") for each in sharing
    ):
        return False
    if not times[writer][0] <= at < times[writer][1] or times[other][1] <= at:
        return False
    if times[other][0] <= at:
        return True
    producers = document.producers.get(value, set()) if isinstance(value, str) else set()
    return mode == "read" and value is not None and is_lost(times, writer, other, producers)


def of_these_bytes(document: Document, resource: str) -> set[str]:
    """The resource, and those that lie in the same bytes since they share a slot with it."""
    pools = document.memory.get("dynamic_pools", ())
    return {resource}.union(
        *(
            pools[pool]["step_resource_slots"][place]["resource_ids"]
            for pool, place in document.slots_of.get(resource, ())
        )
    )


def is_lost(
    times: Mapping[Any, tuple[int, int]],
    writer: Any,
    reader: Any,
    producers: set[Any],
    handing: set[Any] = frozenset(),  # type: ignore[assignment]
) -> bool:
    """Whether a value stood when the writer started, and nobody puts it back for the reader.

    What nobody produces stands from the start; ``handing`` are those that hand it in anew.
    """
    if writer in producers:
        return False
    ends = [times[name][1] for name in producers | handing if name in times]
    began, read = times[writer][0], times[reader][0]
    stood = not producers or any(end <= began for end in ends)
    return stood and not any(began < end <= read for end in ends)


def touched(
    document: Document, node: Mapping[str, Any], resource: str
) -> Iterator[tuple[int, int, tuple[str, ...], str | None]]:
    """The byte ranges of a resource that a node touches, with how, and which value is there."""
    bound = False
    for binding in node.get("values", []):
        for part in binding["storage"]["components"]:
            if part["resource_id"] == resource:
                bound = True
                first = part["offset_bytes"]
                last = first + _reach(document, node, binding, part)
                yield first, last, MODES[binding["access"]], binding["value_id"]
    for effect in node.get("state_effects", []):
        if resource in effect["resource_ids"] and not bound:
            yield 0, ENDLESS, MODES[effect["access"]], effect["state_value_id"]
    for name, mode in (("reads", "read"), ("writes", "write")):
        if resource in node.get(name, []):
            yield 0, ENDLESS, (mode,), None


def _reach(
    document: Document,
    node: Mapping[str, Any],
    binding: Mapping[str, Any],
    part: Mapping[str, Any],
) -> int:
    """How many bytes of a component are touched in the step of the most tokens."""
    length = int(part["length_bytes"])
    if binding["usage"] == "state":
        demand = document.states.get(binding["value_id"], {}).get("capacity_demand", "")
        grown = [
            int(scaled["bytes_per_token"]) * int(scaled["maximum_tokens"])
            for scaled in (demand.values() if isinstance(demand, dict) else ())
        ]
        return max([length, *grown])
    work = node["work"]
    for axis in work["tokens"]["projections"] if isinstance(work, dict) else ():
        if all(axis[name] == binding[name] for name in ("value_id", "role", "ordinal")):
            return (
                length
                * int(document.payload["maximum_scheduled_tokens"])
                // int(axis["canonical_extent"])
            )
    return length
