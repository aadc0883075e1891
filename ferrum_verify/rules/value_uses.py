"""The values of a plan: every way in which its nodes bind each of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from ferrum_verify.documents.value_storage import malformed_reason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrum_verify.documents.node import PlanNode, ValueBinding, ValueStorage
    from ferrum_verify.documents.tensor import Tensor


@dataclass(slots=True)
class Definition:
    """One tensor, usage and storage of a value, as the first node that has it binds it."""

    binding: ValueBinding
    node: PlanNode
    place: str
    malformed: str | None
    uses: int = 1

    def is_of(self, binding: ValueBinding) -> bool:
        """Whether another binding of the value has the same tensor, usage and storage."""
        own = self.binding
        return (
            own.usage == binding.usage
            and same_storage(own.storage, binding.storage)
            and same_tensor(own.tensor, binding.tensor)
        )


@dataclass(slots=True)
class Value:
    """A value and its accepted definition: what most nodes bind, of equals the first.

    ``others`` are what the remaining nodes bind: none, unless the plan contradicts itself.
    A malformed definition is accepted only where no node has a good one.
    """

    value_id: str
    accepted: Definition
    others: list[Definition] = field(default_factory=list)


def same_tensor(left: Tensor, right: Tensor) -> bool:
    """Whether two tensors are equal; field by field, which is much faster than as models."""
    return (
        left.dimensions == right.dimensions
        and left.element_type == right.element_type
        and left.layout == right.layout
    )


def same_storage(left: ValueStorage, right: ValueStorage) -> bool:
    """Whether two values have the same components; compared as ``same_tensor`` does."""
    if len(left.components) != len(right.components):
        return False
    for one, other in zip(left.components, right.components, strict=True):
        if (
            one.resource_id != other.resource_id
            or one.offset_bytes != other.offset_bytes
            or one.length_bytes != other.length_bytes
            or one.element_type != other.element_type
            or one.component_id != other.component_id
        ):
            return False
    return True


def collect(nodes: Sequence[PlanNode], location: str) -> dict[str, Value]:
    """All values of the nodes that stand at the pointer ``place``, in plan order."""
    values: dict[str, Value] = {}
    divergent: dict[tuple[str, str], Definition] = {}
    for index, node in enumerate(nodes):
        for position, binding in enumerate(node.values):
            value = values.get(binding.value_id)
            if value is not None and value.accepted.is_of(binding):
                value.accepted.uses += 1
                continue
            # Hashing a definition is dear, and only contradicting ones need it.
            key = (binding.value_id, "" if value is None else _key(binding))
            if key in divergent:
                divergent[key].uses += 1
                continue
            where = f"{location}/{index}/values/{position}"
            definition = Definition(binding, node, where, malformed_reason(binding))
            if value is None:
                values[binding.value_id] = Value(binding.value_id, definition)
            else:
                divergent[key] = definition
                value.others.append(definition)
    for value in values.values():
        if value.others:
            _settle(value)
    return values


def _settle(value: Value) -> None:
    definitions = [value.accepted, *value.others]
    value.accepted = max(definitions, key=lambda each: (each.malformed is None, each.uses))
    value.others = [each for each in definitions if each is not value.accepted]


def _key(binding: ValueBinding) -> str:
    return f"{binding.usage} {binding.tensor!r} {binding.storage!r}"


def misplaced(values: Mapping[str, Value]) -> set[str]:
    """Values that begin in the midst of another one: in the wrong place, whatever that breaks."""
    by_resource: dict[str, list[tuple[int, int, str]]] = {}
    for value in values.values():
        for part in value.accepted.binding.storage.components:
            start, end = part.offset_bytes, part.offset_bytes + part.length_bytes
            by_resource.setdefault(part.resource_id, []).append((start, end, value.value_id))
    found: set[str] = set()
    for ranges in by_resource.values():
        reached = 0  # the furthest end of what begins before
        for _, together in groupby(sorted(ranges), key=lambda each: each[0]):
            alike = list(together)
            if alike[0][0] < reached:
                found |= {value_id for _, _, value_id in alike}
            reached = max(reached, *(end for _, end, _ in alike))
    return found
