"""Whether the storage components of a value can hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.documents.tensor import SizeError, tensor_storage_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ferrum_verify.documents.node import PlanNode, ValueBinding
    from ferrum_verify.documents.program import ModelProgram
    from ferrum_verify.documents.tensor import Tensor


def malformed_reason(binding: ValueBinding) -> str | None:
    """Why the components of a binding cannot hold its value, or None if they can.

    The text completes the sentence "value X of node Y is malformed: …". The rule is the
    format's own (its sequence-checkpoint section): there is a component; none is empty or
    ends past u64; several are told apart by their ids; together they hold the tensor, in
    bytes.
    """
    return next(_faults(binding), None)


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
    components = binding.storage.components
    if not components:
        yield "it has no storage component"
    for component in components:
        end = component.offset_bytes + component.length_bytes
        if component.length_bytes == 0:
            yield f"its component in `{component.resource_id}` is empty"
        if end > U64_MAX:
            yield f"its component in `{component.resource_id}` ends at byte {end:,}, past u64"
    if len(components) > 1:
        yield from _id_faults([component.component_id for component in components])
    if _is_stored_as_is(binding):
        held = sum(component.length_bytes for component in components)
        yield from _tensor_faults(binding.tensor, held)


def _id_faults(ids: list[str | None]) -> Iterator[str]:
    if None in ids:
        yield f"{ids.count(None)} of its {len(ids)} components have no id to tell them apart by"
    seen: set[str | None] = set()
    for component_id in ids:
        if component_id in seen:
            yield f"two of its components have the id `{component_id}`"
        seen.add(component_id)


def _tensor_faults(tensor: Tensor, held: int) -> Iterator[str]:
    try:
        needed = tensor_storage_bytes(tensor)
    except SizeError as error:
        yield f"the size of its tensor {error}"
    else:
        if held < needed:
            yield f"its tensor takes {needed:,} bytes and its components hold {held:,}"


def _is_stored_as_is(binding: ValueBinding) -> bool:
    # A packed or quantized weight takes fewer bytes than the tensor that it stands for.
    if binding.weight is None:
        return True
    return all(
        component.encoding == {"dense": {"element_type": binding.tensor.element_type}}
        for component in binding.weight.components
    )
