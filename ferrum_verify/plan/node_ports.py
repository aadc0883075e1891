"""The bindings of a node by port, and of several by value."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ferrum_verify.documents.node import PlanNode, ValueBinding
    from ferrum_verify.documents.primitives import Role

    Ports: TypeAlias = dict[tuple[Role, int], ValueBinding]


def bindings_by_port(node: PlanNode) -> Ports:
    """The bindings by role and ordinal; of two at one port the first counts."""
    ports: Ports = {}
    for binding in node.values:
        ports.setdefault((binding.role, binding.ordinal), binding)
    return ports


def bindings_by_value(node: PlanNode) -> dict[str, list[ValueBinding]]:
    """The bindings by value id, in listed order."""
    values: dict[str, list[ValueBinding]] = {}
    for binding in node.values:
        values.setdefault(binding.value_id, []).append(binding)
    return values
