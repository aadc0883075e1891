"""A document as counterexamples see it: its raw JSON, part by part."""

from __future__ import annotations

from typing import Any


class Document:
    """The parts of a document's JSON that counterexamples speak of.

    A comparison of two catalogs is ``{"base", "head"}``: two catalogs, or two bundles. The plan
    that is judged under both stands as ``plan`` or in the bundle of BASE, and what it became
    when it was rebuilt on HEAD as ``rebuilt`` or in the bundle of HEAD.
    """

    def __init__(self, value: dict[str, Any]) -> None:
        whole = value.get("base", value)
        parts = value.get("parts", {})
        plan = value.get("plan", whole.get("plan", parts.get("execution_plan", value)))
        plan = plan.get("plan", plan)
        payload = plan.get("payload", plan)
        self.value = value
        self.payload = payload
        self.nodes: list[dict[str, Any]] = payload.get("nodes", [])
        self.memory: dict[str, Any] = payload.get("memory", payload)
        self.descriptors: dict[str, dict[str, Any]] = {
            row["base_resource_id"]: row
            for row in self.memory.get("dynamic_descriptors", [])
            if isinstance(row, dict) and isinstance(row.get("base_resource_id"), str)
        }
        wrapped = "parts/execution_plan" if parts else "plan"
        places = [(wrapped, plan is not value), ("payload", payload is not plan)]
        places.append(("memory", self.memory is not payload))
        self.memory_place = "".join(f"/{name}" for name, there in places if there)
        self.is_comparison = "base" in value

    def catalog(self, name: str = "catalog") -> dict[str, Any]:
        """The catalog: a document may be one alone, or hold it; ``base`` and ``head`` too."""
        holder = self.value.get(name, self.value)
        holder = holder.get("parts", {}).get("capabilities", holder)
        catalog: dict[str, Any] = holder.get("catalog", holder)
        return catalog

    def rebuilt(self) -> Document:
        """Of a comparison: the plan as it was rebuilt on HEAD."""
        return Document(self.value.get("rebuilt", self.value["head"]))
