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
    nodes = {node["id"]: node for node in document.nodes}

    def touches(name: str, wanted: str, of: str | None = None) -> bool:
        return any(
            first <= start and end <= last
            for first, last, modes, what in touched(document, nodes[name], wire["resource"])
            if wanted in modes and (of is None or what == of)
        )

    if not touches(writer, "write") or not touches(other, mode, value):
        return False
    if not times[writer][0] <= at < times[writer][1] or times[other][1] <= at:
        return False
    if times[other][0] <= at:
        return True
    producers = {name for name, node in nodes.items() if writes_value(node, value)}
    return (
        mode == "read"
        and value is not None
        and writer not in producers
        and (
            not producers
            or any(name in times and times[name][1] <= times[writer][0] for name in producers)
        )
    )


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
    row = document.descriptors.get(part["resource_id"])
    if binding["usage"] == "state" and row is not None and "fixed" not in row["demand"]:
        return ENDLESS - int(part["offset_bytes"])
    length = int(part["length_bytes"])
    work = node["work"]
    for axis in work["tokens"]["projections"] if isinstance(work, dict) else ():
        if all(axis[name] == binding[name] for name in ("value_id", "role", "ordinal")):
            return (
                length
                * int(document.payload["maximum_scheduled_tokens"])
                // int(axis["canonical_extent"])
            )
    return length


def writes_value(node: Mapping[str, Any], value: str | None) -> bool:
    """Whether the node brings the value about."""
    return any(
        binding["value_id"] == value and binding["role"] == "output"
        for binding in node.get("values", [])
    )
