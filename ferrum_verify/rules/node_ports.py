"""The bindings of a node by port, and of several by value."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrum_verify.documents.node import PlanNode, ValueBinding
    from ferrum_verify.documents.primitives import Role


def bindings_by_port(node: PlanNode) -> dict[tuple[Role, int], ValueBinding]:
    """The bindings by role and ordinal; of two at one port the first counts."""
    ports: dict[tuple[Role, int], ValueBinding] = {}
    for binding in node.values:
        ports.setdefault((binding.role, binding.ordinal), binding)
    return ports


def bindings_by_value(node: PlanNode) -> dict[str, list[ValueBinding]]:
    """The bindings by value id, in listed order."""
    values: dict[str, list[ValueBinding]] = {}
    for binding in node.values:
        values.setdefault(binding.value_id, []).append(binding)
    return values
