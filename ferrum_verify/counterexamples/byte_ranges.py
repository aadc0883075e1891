"""Checking ``overlap`` counterexamples: where resources lie in bytes that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples.sizes import is_shape, known

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferrum_verify.counterexamples.document import Document


def check_overlap(document: Document, wire: Mapping[str, Any]) -> bool:
    """Whether two resources hold the byte at once in the bytes that they share at the shape."""
    left, right, byte = wire["left"], wire["right"], wire["byte"]
    if not is_shape(wire["shape"]) or left["resource"] == right["resource"]:
        return False
    if not all(side["start"] <= byte < side["end"] for side in (left, right)):
        return False
    return any(
        places.get(left["resource"]) == (left["start"], left["end"])
        and places.get(right["resource"]) == (right["start"], right["end"])
        for places in _shared_places(document, wire["shape"])
    )


def _shared_places(
    document: Document, shape: Mapping[str, int]
) -> Iterator[dict[str, tuple[int, int]]]:
    """Stretches of bytes in which no two resources may ever meet, with where each lies.

    These are arenas whose rows may all be live at once, and Step slots of a retained resource:
    that one is read after the step, when every other member has been written. Resources that
    share a slot or an extent otherwise do so in turn, which is no fault.
    """
    sizes = known(document, shape)
    order = {node["id"]: index for index, node in enumerate(document.nodes)}
    retained = set(document.value.get("retained_completion_resources", ()))
    for value in document.payload.get("retained_completion_values", ()):
        retained.add(value["resource_id"])
    retained |= set(document.payload.get("terminal_output_resources") or ())
    for pool in document.memory.get("dynamic_pools", []):
        for slot in pool["step_resource_slots"]:
            if not retained.isdisjoint(slot["resource_ids"]):
                yield {name: (0, sizes[name]) for name in slot["resource_ids"] if name in sizes}
        if pool["invocation_liveness_mode"] != "conservative_concurrent":
            continue
        rows = sorted(
            pool["invocation_liveness"], key=lambda row: order.get(row["node_id"], len(order))
        )
        places: dict[str, tuple[int, int]] = {}
        offset: int | None = 0
        for row in rows:
            for name in row["resource_ids"]:
                # Behind a resource without a size nobody knows where anything lies.
                if offset is not None and name in sizes:
                    places[name] = (offset, offset + sizes[name])
                    offset += sizes[name]
                else:
                    offset = None
        yield places
