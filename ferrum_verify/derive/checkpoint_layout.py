"""What a checkpoint derivation answers: a layout, or the reasons that there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ferrum_verify.documents.checkpoint import layout_wire

if TYPE_CHECKING:
    from ferrum_verify.documents.checkpoint import (
        BoundaryConstraint,
        CheckpointInputs,
        InputCapture,
        InputDependency,
        ProviderContract,
        StateLayout,
        StateSemantics,
    )
    from ferrum_verify.documents.memory_plan import DynamicDescriptor
    from ferrum_verify.documents.tensor import Tensor

Part = Literal["nodes", "memory", "program", "catalog"]


@dataclass(frozen=True, slots=True)
class Place:
    """A place in one part of a bundle: the steps of a JSON pointer below that part."""

    part: Part
    steps: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class Unsupported:
    """One reason why a plan has no sequence checkpoint.

    ``kind`` and ``names`` are the engine's, ``because`` is a clause in words for the rest;
    the engine writes it only where it has free text of its own (``state_layout``).
    ``place`` is where the cause stands. A ``consequence`` has its cause elsewhere: in a reason
    before it, or in a fault of the plan or the catalog that has a rule of its own.
    """

    kind: str
    place: Place
    names: tuple[tuple[str, str], ...] = ()
    because: str = ""
    consequence: bool = False

    def to_wire(self) -> Any:
        """The reason as the engine's JSON: a string, or a one-key object with names."""
        if not self.names:
            return self.kind
        data = dict(self.names)
        if self.kind == "state_layout":
            data["reason"] = self.because
        return {self.kind: data}


RefusalKind = Literal[
    "no-providers",
    "provider-absent",
    "provider-identity",
    "state-size",
    "descriptor-size",
    "false-alias",
    "alias-order",
]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A fault on which the engine's derivation returns an error instead of an answer."""

    kind: RefusalKind
    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class LayoutProvider:
    """A node's selected provider, and what it promises at completed boundaries."""

    node_id: str
    provider_id: str
    operation_fingerprint: str
    implementation_fingerprint: str
    contract: ProviderContract

    def to_wire(self) -> dict[str, Any]:
        """The provider's JSON."""
        return {
            "node_id": self.node_id,
            "provider_id": self.provider_id,
            "operation_fingerprint": self.operation_fingerprint,
            "implementation_fingerprint": self.implementation_fingerprint,
            "contract": self.contract.contract_wire(),
        }


@dataclass(frozen=True, slots=True)
class LayoutState:
    """Where a state's bytes are, and what they mean at a boundary."""

    state_id: str
    value_id: str
    writers: tuple[str, ...]
    semantics: StateSemantics
    tensor: Tensor
    resource_id: str
    offset_bytes: int
    layout: StateLayout
    descriptor: DynamicDescriptor

    def written_by(self, writers: tuple[str, ...]) -> LayoutState:
        """The same state with the nodes that write it."""
        return replace(self, writers=writers)

    def to_wire(self) -> dict[str, Any]:
        """The state's JSON."""
        descriptor = self.descriptor.to_wire()
        return {
            "state_id": self.state_id,
            "value_id": self.value_id,
            "writers": list(self.writers),
            "semantics": self.semantics.to_wire()[self.semantics.tag],
            "tensor": self.tensor.to_wire(),
            "resource_id": self.resource_id,
            "offset_bytes": self.offset_bytes,
            "layout": layout_wire(self.layout),
            "storage": descriptor["storage"],
            "initialization": self.descriptor.initialization,
            "descriptor": descriptor,
        }


@dataclass(frozen=True, slots=True)
class SequenceCheckpointLayout:
    """How a plan's sequence state is captured and restored, and at which boundaries.

    ``whole_prompts`` says whether the plan's schema knows a boundary at the prompt's end.
    """

    inputs: CheckpointInputs
    input_dependency: InputDependency
    boundaries: BoundaryConstraint
    completed_input_capture: InputCapture
    providers: tuple[LayoutProvider, ...]
    states: tuple[LayoutState, ...]
    whole_prompts: bool = False

    def permits(self, processed: int, boundary: int, prompt: int) -> bool:
        """Whether a prompt of ``prompt`` tokens may be captured after ``boundary`` of them.

        ``processed`` tokens are in the state already. Counts are tokens. The capacity of the
        states, the dependency on the input and the numerics play no part. At the prompt's end,
        where no token is left for a suffix, a plan of schema 8.1 may be captured if it supports
        the capture of completed input; by schema 5.0 never.
        """
        if boundary == prompt:
            return (
                self.whole_prompts
                and self.completed_input_capture == "supported"
                and self.boundaries.prefix.permits(boundary - processed)
            )
        return self.boundaries.permits(processed, boundary, prompt)

    def to_wire(self) -> dict[str, Any]:
        """The layout as the engine's JSON.

        The engine leaves an unsupported input capture out; an older form spells it out, and
        what is made of contracts of that form keeps to it.
        """
        capture = self.completed_input_capture
        is_stated = capture == "supported" or any(
            provider.contract.states_input_capture
            and provider.contract.completed_input_capture == capture
            for provider in self.providers
        )
        return {
            "contract_version": {"major": 1, "minor": 0},
            "inputs": self.inputs.to_wire(),
            "input_dependency": self.input_dependency,
            "boundaries": self.boundaries.to_wire(),
            **({"completed_input_capture": capture} if is_stated else {}),
            "providers": [provider.to_wire() for provider in self.providers],
            "states": [state.to_wire() for state in self.states],
        }


@dataclass(frozen=True, slots=True)
class SequenceCheckpoint:
    """The answer: a layout, or every reason why there is none, in the engine's order."""

    layout: SequenceCheckpointLayout | None
    unsupported: tuple[Unsupported, ...] = ()

    @property
    def reasons(self) -> list[Any]:
        """The reasons as the engine's JSON."""
        return [reason.to_wire() for reason in self.unsupported]

    def to_wire(self) -> dict[str, Any]:
        """``{"layout": …}``, or ``{"reasons": […]}`` where there is no layout."""
        if self.layout is not None:
            return {"layout": self.layout.to_wire()}
        return {"reasons": self.reasons}
