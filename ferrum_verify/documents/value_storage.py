"""Whether a binding is well-formed: its tensor, its storage, and what its port may do."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from ferrum_verify.documents.primitives import ELEMENT_BYTES, U64_MAX
from ferrum_verify.documents.tensor import tensor_faults, tensor_storage_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ferrum_verify.documents.node import PlanNode, StorageComponent, ValueBinding
    from ferrum_verify.documents.program import ModelProgram


def malformed_reason(binding: ValueBinding) -> str | None:
    """Why the tensor or the storage of a binding is malformed, or None if neither is.

    The text completes the sentence "value X of node Y is malformed: …", and names every fault.
    The rules are docs/format.md, «Values»; what is stored of a weight is judged in
    ``weight_parts``, and what is alike for all ports of a value is judged here.
    """
    return "; ".join(_faults(binding)) or None


def states_are_bound_well(program: ModelProgram, nodes: Iterable[PlanNode]) -> bool:
    """Whether no binding of a program's states is malformed.

    Of a malformed one the value rules speak, and no bytes of it can be reasoned about.
    """
    values = {state.value_id for state in program.states}
    return not any(
        binding.value_id in values and malformed_reason(binding) is not None
        for node in nodes
        for binding in node.values
    )


def _faults(binding: ValueBinding) -> Iterator[str]:
    tensor = binding.tensor
    misshapen = list(tensor_faults(tensor))
    yield from misshapen
    components = binding.storage.components
    if not components:
        yield "it has no storage component"
    for component in components:
        yield from _component_faults(component)
    if len(components) > 1:
        yield from _id_faults([component.component_id for component in components])
        yield from _overlaps(components)
    if len(components) == 1:
        (only,) = components
        if only.component_id is None and only.element_type != tensor.element_type:
            yield f"its tensor holds {tensor.element_type} and its component {only.element_type}"
    if binding.usage == "weights":
        return
    if len(components) > 1:
        yield f"it is used as {binding.usage} and lies in {len(components)} components"
    elif components and not misshapen:
        held, needed = components[0].length_bytes, tensor_storage_bytes(tensor)
        if 0 < held < needed:
            yield f"its tensor takes {needed:,} bytes and its components hold {held:,}"


def port_faults(binding: ValueBinding) -> Iterator[str]:
    """What is wrong with how a port binds its value, whatever the value is.

    Each fault completes the same sentence as ``malformed_reason``.
    """
    if binding.role == "input":
        if binding.access == "write":
            yield "it is an input that is only written"
        if binding.alias != "no_alias":
            yield "it is an input with an alias policy"
    elif binding.access == "read":
        yield "it is an output that is only read"
    if (binding.usage == "weights") != (binding.weight is not None):
        yield (
            "it is used as weights and says nothing of a weight"
            if binding.weight is None
            else f"it is used as {binding.usage} and says that it is a weight"
        )


def _component_faults(component: StorageComponent) -> Iterator[str]:
    place = f"its component in `{component.resource_id}`"
    end = component.offset_bytes + component.length_bytes
    if component.length_bytes == 0:
        yield f"{place} is empty"
    if end > U64_MAX:
        yield f"{place} ends at byte {end:,}, past u64"
    unit = ELEMENT_BYTES[component.element_type]
    if component.offset_bytes % unit or component.length_bytes % unit:
        yield (
            f"{place} takes {component.length_bytes:,} bytes from byte {component.offset_bytes:,} "
            f"on, which are no whole elements of {component.element_type}"
        )


def _id_faults(ids: list[str | None]) -> Iterator[str]:
    if None in ids:
        yield f"{ids.count(None)} of its {len(ids)} components have no id to tell them apart by"
    for component_id, count in Counter(ids).items():
        if count > 1 and component_id is not None:
            yield f"{count} of its components have the id `{component_id}`"


def _overlaps(components: Sequence[StorageComponent]) -> Iterator[str]:
    ascending = sorted(components, key=lambda each: (each.resource_id, each.offset_bytes))
    for left, right in pairwise(ascending):
        end = left.offset_bytes + left.length_bytes
        if left.resource_id == right.resource_id and right.offset_bytes < end:
            yield (
                f"two of its components share bytes {right.offset_bytes:,} to "
                f"{min(end, right.offset_bytes + right.length_bytes) - 1:,} of "
                f"`{left.resource_id}`"
            )
