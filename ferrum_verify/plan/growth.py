"""How values grow with the tokens of a step: what the work of a plan's nodes says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.documents.node import TokenWork
from ferrum_verify.documents.tensor import Blocked, tensor_storage_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrum_verify.documents.node import PlanNode, StorageComponent, ValueBinding
    from ferrum_verify.documents.tensor import Strided, Tensor


class Growth(NamedTuple):
    """The bytes of a row that a component takes: up to ``offset + each * tokens``.

    ``at_most`` is what each token takes where the component is longer than its tensor and all of
    it grows; that cannot be told from a plan. Elsewhere it is ``each``.
    """

    offset: int
    each: int
    at_most: int


class Tokens(NamedTuple):
    """How many tokens a tensor is for, and the axis that they lie along."""

    extent: int
    axis: int


def projected_extents(nodes: Iterable[PlanNode]) -> dict[str, set[Tokens]]:
    """For each value that some node's token work projects, the tokens that its tensor is for.

    A projection that is not of an axis of the tensor says nothing, and the work rules report it.
    """
    extents: dict[str, set[Tokens]] = {}
    for node in nodes:
        work = node.work
        if not isinstance(work, TokenWork):
            continue
        dimensions = {each.value_id: each.tensor.dimensions for each in node.values}
        for axis in work.projections:
            of = dimensions.get(axis.value_id, ())
            if axis.axis < axis.rank == len(of) and of[axis.axis] == axis.canonical_extent > 0:
                tokens = Tokens(axis.canonical_extent, axis.axis)
                extents.setdefault(axis.value_id, set()).add(tokens)
    return extents


def growth_of(binding: ValueBinding, component: StorageComponent, tokens: Tokens) -> Growth | str:
    """How a component of a value grows, whose tensor is for these tokens.

    Otherwise why that cannot be told, completing the sentence "…, since …". The binding must not
    be malformed.
    """
    extent = tokens.extent
    tensor, components = binding.tensor, binding.storage.components
    if not isinstance(tensor.layout, str) and not _grows_evenly(tensor, tensor.layout, tokens):
        return f"its layout is {tensor.layout.tag}"
    held, needed = sum(each.length_bytes for each in components), tensor_storage_bytes(tensor)
    if len(components) > 1 and held != needed:
        return f"its components hold {held:,} bytes together and its tensor {needed:,}"
    exact = min(component.length_bytes, needed)
    if exact % extent:
        return f"the {exact:,} bytes are not the same for each of its {extent:,} tokens"
    return Growth(component.offset_bytes, exact // extent, -(-component.length_bytes // extent))


def _grows_evenly(tensor: Tensor, layout: Strided | Blocked, tokens: Tokens) -> bool:
    """Whether each token of a tensor takes equally many bytes, end to end.

    Of strides, that of the tokens passes all that one token takes and no more; blocks are of one
    token.
    """
    if isinstance(layout, Blocked):
        return layout.block[tokens.axis] == 1
    return layout.byte_strides[tokens.axis] * tokens.extent == tensor_storage_bytes(tensor)
