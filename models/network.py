"""A model as nodes and values, before any plan is made of it.

A *value* is a tensor with a name; the bytes behind it are a *resource*, which an in-place
output shares with its input. Activations are written for one token (or one sequence):
a step of n tokens needs n times as much.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from .storage import ELEMENT_BYTES, LINEAR, Formula, Json, Profile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .operations import Operation, Port


@dataclass(frozen=True, slots=True)
class Tensor:
    """A contiguous tensor."""

    dimensions: tuple[int, ...]
    element_type: str

    @property
    def size_bytes(self) -> int:
        """Bytes of all elements."""
        return ELEMENT_BYTES[self.element_type] * prod(self.dimensions)

    def to_json(self) -> Json:
        """The tensor as programs and plans write it."""
        return {
            "dimensions": list(self.dimensions),
            "element_type": self.element_type,
            "layout": "contiguous",
        }


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor of the model. ``name`` is unique; ``resource_id`` names its bytes.

    Names of weights and states begin with ``weight/`` and ``state/``, and are their ids.

    ``growth`` says what an activation or a state grows with: ``tokens``, ``sequences`` or
    nothing (``fixed``). ``lifetime`` is the engine's: plan, request, sequence or step.
    """

    name: str
    tensor: Tensor
    usage: str
    lifetime: str
    growth: str
    resource_id: str
    profile: Profile = LINEAR
    initialization: str = "none"

    @property
    def value_id(self) -> str:
        """Identity in programs and plans."""
        return f"value/{self.name}"


@dataclass(frozen=True, slots=True)
class Node:
    """One application of an operation. Workspaces are sizes without run-time ceilings."""

    name: str
    operation: Operation
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    scratch: Formula | None = None
    binding: Formula | None = None

    @property
    def node_id(self) -> str:
        """Identity in programs and plans."""
        return f"node/{self.name}"

    @property
    def scratch_id(self) -> str | None:
        """The resource of the scratch workspace, where the node has one."""
        return f"resource/scratch/{self.name}" if self.scratch else None

    @property
    def binding_id(self) -> str | None:
        """The resource of the binding workspace, where the node has one."""
        return f"resource/binding/{self.name}" if self.binding else None

    def ports(self) -> Iterator[tuple[str, int, Port, Value]]:
        """Role, ordinal, signature and value of each binding, inputs first."""
        for ordinal, (port, value) in enumerate(
            zip(self.operation.inputs, self.inputs, strict=True)
        ):
            yield "input", ordinal, port, value
        for ordinal, (port, value) in enumerate(
            zip(self.operation.outputs, self.outputs, strict=True)
        ):
            yield "output", ordinal, port, value

    def resource_ids(self) -> list[str]:
        """Every resource that the node touches, ascending."""
        touched = {value.resource_id for value in (*self.inputs, *self.outputs)}
        touched.update(r for r in (self.scratch_id, self.binding_id) if r is not None)
        return sorted(touched)


@dataclass(frozen=True, slots=True)
class Network:
    """A whole model: its blocks of nodes in plan order, its inputs, outputs and retained values.

    Retained values are read after the step's last node has finished.
    """

    family: str
    blocks: tuple[tuple[str, tuple[Node, ...]], ...]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    retained: tuple[Value, ...]

    def nodes(self) -> list[Node]:
        """All nodes in plan order."""
        return [node for _, nodes in self.blocks for node in nodes]

    def values(self) -> list[Value]:
        """Every distinct value, in order of first appearance."""
        seen: dict[str, Value] = {}
        for node in self.nodes():
            for value in (*node.inputs, *node.outputs):
                seen.setdefault(value.name, value)
        return list(seen.values())

    def of_usage(self, usage: str) -> list[Value]:
        """The values of one usage: weights, activations or state."""
        return [value for value in self.values() if value.usage == usage]

    def weight_bytes(self) -> int:
        """Bytes of all weights, each counted once."""
        return sum(value.tensor.size_bytes for value in self.of_usage("weights"))

    def dependencies(self) -> dict[str, list[str]]:
        """For each node id the ids it directly waits for, ascending.

        A node waits for the last writer of what it reads, and before it writes also for
        every reader since that writer. Weights are never written, so order nobody.
        """
        writer: dict[str, str] = {}
        readers: dict[str, set[str]] = {}
        waits: dict[str, list[str]] = {}
        for node in self.nodes():
            node_id = node.node_id
            needed: set[str] = set()
            written: set[str] = set()
            for _, _, port, value in node.ports():
                resource = value.resource_id
                if value.usage == "weights":
                    continue
                if resource in writer:
                    needed.add(writer[resource])
                if port.access == "read":
                    readers.setdefault(resource, set()).add(node_id)
                else:
                    needed.update(readers.get(resource, ()))
                    written.add(resource)
            for resource in written:
                writer[resource] = node_id
                readers[resource] = set()
            needed.discard(node_id)
            waits[node_id] = sorted(needed)
        return waits


@dataclass(slots=True)
class NetworkBuilder:
    """Collects a model's nodes block by block."""

    family: str
    blocks: list[tuple[str, list[Node]]] = field(default_factory=list)

    def begin(self, block: str) -> None:
        """Start the block that the next nodes belong to."""
        self.blocks.append((block, []))

    def weight(self, name: str, *dimensions: int) -> Value:
        """A 16-bit weight of its own static row."""
        tensor = Tensor(dimensions, "f16")
        name = f"weight/{name}"
        return Value(name, tensor, "weights", "plan", "fixed", f"resource/{name}")

    def activation(self, name: str, width: int, element_type: str = "f16") -> Value:
        """``width`` elements for each token of the step."""
        tensor = Tensor((1, width), element_type)
        return Value(name, tensor, "activations", "step", "tokens", f"resource/activation/{name}")

    def in_place(self, name: str, source: Value) -> Value:
        """A value that takes over the bytes of ``source``."""
        return Value(
            name, source.tensor, "activations", source.lifetime, source.growth, source.resource_id
        )

    def cache(self, name: str, tensor: Tensor, block_bytes: int) -> Value:
        """State with a tensor for each token of the sequence, paged in blocks."""
        name = f"state/{name}"
        profile = Profile(block_bytes)
        return Value(name, tensor, "state", "sequence", "tokens", f"resource/{name}", profile)

    def boundary_state(self, name: str, tensor: Tensor) -> Value:
        """State of one size, zero when a sequence begins and overwritten as it goes on."""
        name = f"state/{name}"
        return Value(name, tensor, "state", "sequence", "fixed", f"resource/{name}", LINEAR, "zero")

    def apply(
        self,
        name: str,
        operation: Operation,
        inputs: tuple[Value, ...],
        outputs: tuple[Value, ...],
        *,
        scratch: Formula | None = None,
        binding: Formula | None = None,
    ) -> None:
        """Append a node to the current block."""
        self.blocks[-1][1].append(Node(name, operation, inputs, outputs, scratch, binding))

    def finish(
        self, inputs: tuple[Value, ...], outputs: tuple[Value, ...], retained: tuple[Value, ...]
    ) -> Network:
        """The finished model."""
        blocks = tuple((name, tuple(nodes)) for name, nodes in self.blocks)
        return Network(self.family, blocks, inputs, outputs, retained)
