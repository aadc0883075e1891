"""Whether a binding is well-formed: its tensor, its storage, and what its port may do."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.documents.primitives import ELEMENT_BYTES, U64_MAX
from ferrum_verify.documents.tensor import tensor_faults, tensor_storage_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ferrum_verify.documents.node import PlanNode, StorageComponent, ValueBinding
    from ferrum_verify.documents.program import ModelProgram


class Malformed(NamedTuple):
    """One fault of a binding, and what mends it."""

    said: str
    fix: str


def malformed_reason(binding: ValueBinding) -> str | None:
    """Why the tensor or the storage of a binding is malformed, or None if neither is.

    The text completes the sentence "value X of node Y is malformed: …", and names every fault.
    The rules are docs/format.md, «Values»; what is stored of a weight is judged in
    ``weight_parts``, and what is alike for all ports of a value is judged here.
    """
    return "; ".join(each.said for each in storage_faults(binding)) or None


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


def storage_faults(binding: ValueBinding) -> Iterator[Malformed]:
    """What is wrong with the tensor and the storage of a binding."""
    tensor = binding.tensor
    shape = "give the tensor positive dimensions and a layout that fits them"
    misshapen = [Malformed(each, shape) for each in tensor_faults(tensor)]
    yield from misshapen
    components = binding.storage.components
    if not components:
        yield Malformed("it has no storage component", "give it a component of a resource")
    for component in components:
        yield from _component_faults(component)
    if len(components) > 1:
        yield from _id_faults([component.component_id for component in components])
        yield from _overlaps(components)
    if len(components) == 1:
        (only,) = components
        if only.component_id is None and only.element_type != tensor.element_type:
            yield Malformed(
                f"its tensor holds {tensor.element_type} and its component {only.element_type}",
                "give the component the element type of the tensor",
            )
    if binding.usage == "weights":
        return
    if len(components) > 1:
        yield Malformed(
            f"it is used as {binding.usage} and lies in {len(components)} components",
            "put it into one component",
        )
    elif components and not misshapen:
        held, needed = components[0].length_bytes, tensor_storage_bytes(tensor)
        if 0 < held < needed:
            yield Malformed(
                f"its tensor takes {needed:,} bytes and its components hold {held:,}",
                f"give the component {needed:,} bytes",
            )


def port_faults(binding: ValueBinding) -> Iterator[Malformed]:
    """What is wrong with how a port binds its value, whatever the value is.

    Each completes the same sentence as ``malformed_reason``.
    """
    if binding.role == "input":
        if binding.access == "write":
            yield Malformed("it is an input that is only written", "read the input")
        if binding.alias != "no_alias":
            yield Malformed("it is an input with an alias policy", "bind it with no_alias")
    elif binding.access == "read":
        yield Malformed("it is an output that is only read", "write the output")
    if (binding.usage == "weights") != (binding.weight is not None):
        yield Malformed(
            "it is used as weights and says nothing of a weight"
            if binding.weight is None
            else f"it is used as {binding.usage} and says that it is a weight",
            "describe a weight exactly where the usage is weights",
        )


def _component_faults(component: StorageComponent) -> Iterator[Malformed]:
    place = f"its component in `{component.resource_id}`"
    end = component.offset_bytes + component.length_bytes
    if component.length_bytes == 0:
        yield Malformed(f"{place} is empty", "give the component the bytes that it holds")
    if end > U64_MAX:
        yield Malformed(
            f"{place} ends at byte {end:,}, past u64", "move the component into its resource"
        )
    unit = ELEMENT_BYTES[component.element_type]
    if component.offset_bytes % unit or component.length_bytes % unit:
        yield Malformed(
            f"{place} takes {component.length_bytes:,} bytes from byte {component.offset_bytes:,} "
            f"on, which are no whole elements of {component.element_type}",
            f"make offset and length multiples of {unit}",
        )


def _id_faults(ids: list[str | None]) -> Iterator[Malformed]:
    fix = "give each component an id of its own"
    if None in ids:
        said = f"{ids.count(None)} of its {len(ids)} components have no id to tell them apart by"
        yield Malformed(said, fix)
    for component_id, count in Counter(ids).items():
        if count > 1 and component_id is not None:
            yield Malformed(f"{count} of its components have the id `{component_id}`", fix)


def _overlaps(components: Sequence[StorageComponent]) -> Iterator[Malformed]:
    ascending = sorted(components, key=lambda each: (each.resource_id, each.offset_bytes))
    for left, right in pairwise(ascending):
        end = left.offset_bytes + left.length_bytes
        if left.resource_id == right.resource_id and right.offset_bytes < end:
            yield Malformed(
                f"two of its components share bytes {right.offset_bytes:,} to "
                f"{min(end, right.offset_bytes + right.length_bytes) - 1:,} of "
                f"`{left.resource_id}`",
                "place the components apart",
            )
