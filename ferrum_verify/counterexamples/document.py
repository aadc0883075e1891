"""A document as counterexamples see it: its raw JSON, part by part."""

from __future__ import annotations

from typing import Any


class Document:
    """The parts of a document's JSON that counterexamples speak of."""

    def __init__(self, value: dict[str, Any]) -> None:
        plan = value.get("plan", value)
        payload = plan.get("payload", plan)
        self.value = value
        self.payload = payload
        self.nodes: list[dict[str, Any]] = payload.get("nodes", [])
        self.memory: dict[str, Any] = payload.get("memory", payload)
        self.descriptors: dict[str, dict[str, Any]] = {
            row["base_resource_id"]: row for row in self.memory.get("dynamic_descriptors", [])
        }
