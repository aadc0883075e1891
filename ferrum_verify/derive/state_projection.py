"""A state's projection: the one range of one resource where all of its nodes see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferrum_verify.derive.checkpoint_layout import LayoutState, Place, Refusal, Unsupported
from ferrum_verify.derive.paged_layout import resolved_layout
from ferrum_verify.documents.checkpoint import holds_prefix, layout_name
from ferrum_verify.documents.program import TokenScaled
from ferrum_verify.documents.tensor import SizeError, tensor_bytes, tensor_storage_bytes
from ferrum_verify.plan.resource_rows import describe_profile
from ferrum_verify.plan.sizes import demand_bytes, maximal_shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.checkpoint import (
        ProviderContract,
        StateLayout,
        StatePort,
        StateSemantics,
    )
    from ferrum_verify.documents.memory_plan import DynamicDescriptor
    from ferrum_verify.documents.node import PlanNode, StorageComponent, ValueBinding
    from ferrum_verify.documents.program import ProgramState


@dataclass(frozen=True, slots=True)
class Use:
    """One binding of a value: the node that has it, and where it stands in the plan."""

    node_index: int
    value_index: int
    node: PlanNode
    binding: ValueBinding

    @property
    def place(self) -> Place:
        """Where the binding stands."""
        return Place("nodes", (self.node_index, "values", self.value_index))


@dataclass(frozen=True, slots=True)
class IndexedDescriptor:
    """A descriptor, and where it stands in the memory plan."""

    index: int
    descriptor: DynamicDescriptor


@dataclass(frozen=True, slots=True)
class DeclaredState:
    """A state of the program that says what it holds at a completed boundary."""

    state: ProgramState
    semantics: StateSemantics
    place: Place


@dataclass(frozen=True, slots=True)
class _Sight:
    """A state as one node sees it: one component of one resource, through one port."""

    declared: DeclaredState
    use: Use
    component: StorageComponent
    descriptor: DynamicDescriptor
    layout: StateLayout
    size: int
    capacity: int


Contracts = Mapping[str, "ProviderContract"]
Descriptors = Mapping[str, IndexedDescriptor]


def project_state(
    declared: DeclaredState,
    uses: Sequence[Use],
    contracts: Contracts,
    descriptors: Descriptors,
    faults: list[Unsupported | Refusal],
) -> LayoutState | None:
    """Where a state's bytes are, with the nodes that write it, if its nodes agree.

    ``contracts`` are those of the nodes whose provider has one. Whatever speaks against the
    state is appended to ``faults`` in the engine's order (seed 004,
    ``derive_sequence_checkpoint``).
    """
    projection: LayoutState | None = None
    writers = {use.node.id for use in uses if use.binding.writes}
    for use in uses:
        contract = contracts.get(use.node.id)
        if contract is None:
            continue
        candidate = _candidate(declared, use, contract, descriptors)
        if not isinstance(candidate, LayoutState):
            faults.append(candidate)
        elif projection is not None and projection != candidate:
            # Bindings of one value that differ are a fault of the plan itself.
            faults.append(
                _layout_fault(
                    declared,
                    use.place,
                    f"in node `{use.node.id}`, it is {_describe(candidate)}, and in an earlier "
                    f"node {_describe(projection)}",
                    consequence=True,
                )
            )
        else:
            projection = candidate
    if not writers:
        faults.append(
            Unsupported(
                "state_without_writer",
                declared.place,
                (("state_id", declared.state.id),),
                "no node writes it",
            )
        )
    if projection is None:
        faults.append(
            _layout_fault(
                declared,
                declared.place,
                "no node shows where all of its bytes are",
                consequence=True,
            )
        )
        return None
    return projection.written_by(tuple(sorted(writers)))


def _candidate(  # noqa: PLR0911  (the first reason that applies, in the engine's order)
    declared: DeclaredState, use: Use, contract: ProviderContract, descriptors: Descriptors
) -> LayoutState | Unsupported | Refusal:
    binding = use.binding
    components = binding.storage.components
    if len(components) != 1:
        return _layout_fault(
            declared,
            use.place,
            f"in node `{use.node.id}`, it is stored in {len(components)} components, and a "
            "checkpoint copies one",
        )
    component = components[0]
    found = descriptors.get(component.resource_id)
    if found is None:
        return _layout_fault(
            declared,
            use.place,
            f"in node `{use.node.id}`, its resource `{component.resource_id}` is not dynamic",
        )
    descriptor = found.descriptor
    port = _port(contract, binding, descriptor)
    if port is None:
        return Unsupported(
            "state_port_undeclared",
            use.place,
            (("node_id", use.node.id), ("state_id", declared.state.id)),
            f"`{use.node.selection.selected_provider}` declares no state port {binding.role} "
            f"{binding.ordinal} for {describe_profile(descriptor.storage.profile)}",
        )
    try:
        size = tensor_storage_bytes(binding.tensor)
    except SizeError as error:
        return Refusal(
            "state-size",
            use.place,
            f"The size of value `{binding.value_id}` in node `{use.node.id}` {error}.",
        )
    try:
        capacity = _capacity(descriptor)
    except SizeError as error:
        return Refusal(
            "descriptor-size",
            Place("memory", ("dynamic_descriptors", found.index)),
            f"The size of `{descriptor.base_resource_id}` at its largest shape {error}.",
        )
    layout = resolved_layout(port.layout, binding.tensor, size, descriptor.storage.profile)
    if isinstance(layout, tuple):
        because = f"in node `{use.node.id}`, {'; '.join(layout)}"
        return _layout_fault(declared, use.place, because)
    sight = _Sight(declared, use, component, descriptor, layout, size, capacity)
    broken = list(_mapping_faults(sight))
    differing = []
    if not broken and binding.tensor.layout == declared.state.tensor.layout == "contiguous":
        # Like the engine: the program's tensor is measured only where it decides.
        try:
            declared_size = tensor_bytes(declared.state.tensor)
        except SizeError as error:
            return Refusal(
                "state-size",
                declared.place,
                f"The size of state `{declared.state.id}` in the program {error}.",
            )
        if declared_size != size:
            differing.append(
                f"the program gives it {declared_size:,} bytes and its tensor takes {size:,}"
            )
    broken += _form_faults(sight)
    differing += _row_faults(sight)
    if broken or differing:
        return _layout_fault(
            declared,
            use.place,
            f"in node `{use.node.id}`, {'; '.join([*broken, *differing])}",
            consequence=not broken,
        )
    return LayoutState(
        state_id=declared.state.id,
        value_id=declared.state.value_id,
        writers=(),
        semantics=declared.semantics,
        tensor=binding.tensor,
        resource_id=component.resource_id,
        offset_bytes=component.offset_bytes,
        layout=layout,
        descriptor=descriptor,
    )


def _capacity(descriptor: DynamicDescriptor) -> int:
    """The bytes that the descriptor's demand gives at its largest shape, not quantized."""
    terms = descriptor.demand.terms
    return demand_bytes(terms, maximal_shape(terms))


def _port(
    contract: ProviderContract, binding: ValueBinding, descriptor: DynamicDescriptor
) -> StatePort | None:
    for port in contract.state_ports:
        if (
            port.role == binding.role
            and port.ordinal == binding.ordinal
            and port.storage_profile == descriptor.storage.profile
        ):
            return port
    return None


def _mapping_faults(sight: _Sight) -> Iterator[str]:
    """Why the port's layout cannot carry what the state holds."""
    contents, layout = sight.declared.semantics.contents, sight.layout
    if (contents, layout) == ("boundary_value", "contiguous_boundary_value"):
        return
    if contents != "prefix_positions" or not holds_prefix(layout):
        yield f"it holds {contents} and its port is laid out as {layout_name(layout)}"
        return
    if sight.component.offset_bytes != 0:
        yield f"a token-major prefix starts at byte 0, this one at {sight.component.offset_bytes:,}"
    scaled, demand = sight.declared.state.capacity_demand, sight.descriptor.demand
    resource = sight.descriptor.base_resource_id
    if not isinstance(scaled, TokenScaled):
        yield "it holds a position for each token and its declared capacity is fixed"
        return
    grows = demand.terms.only("tokens")
    if grows is None:
        yield f"it grows with the tokens and the demand of `{resource}` is {demand.tag}"
        return
    if not scaled.bytes_per_token == grows.each == sight.size:
        yield (
            f"a token takes {scaled.bytes_per_token:,} bytes by its declaration, "
            f"{grows.each:,} in `{resource}` and {sight.size:,} as a tensor"
        )
    if scaled.maximum_tokens != grows.most:
        yield (
            f"it is declared for {scaled.maximum_tokens:,} tokens and `{resource}` holds "
            f"{grows.most:,}"
        )


def _form_faults(sight: _Sight) -> Iterator[str]:
    """Why the component is not the state's tensor, whole, alone and in order."""
    tensor, component = sight.use.binding.tensor, sight.component
    if tensor.layout != "contiguous":
        yield "its tensor is not contiguous"
    if component.length_bytes != sight.size:
        yield f"its component has {component.length_bytes:,} bytes and its tensor {sight.size:,}"
    if component.element_type != tensor.element_type:
        yield (
            f"its elements are {tensor.element_type} in the tensor and "
            f"{component.element_type} in the component"
        )


def _row_faults(sight: _Sight) -> Iterator[str]:
    """Why binding, row and program do not speak of the same state.

    Each of these is a fault of the plan as well, whether it has checkpoints or not.
    """
    state, binding = sight.declared.state, sight.use.binding
    component, descriptor = sight.component, sight.descriptor
    resource = descriptor.base_resource_id
    if state.tensor.layout != "contiguous":
        yield "its tensor is not contiguous in the program"
    if descriptor.element_type != component.element_type:
        yield (
            f"its elements are {component.element_type} in the component and "
            f"{descriptor.element_type} in `{resource}`"
        )
    if descriptor.usage != "state":
        yield f"the usage of `{resource}` is {descriptor.usage}"
    if binding.usage != "state":
        yield f"the usage of the binding is {binding.usage}"
    if descriptor.lifetime != "sequence":
        yield f"the lifetime of `{resource}` is {descriptor.lifetime}"
    if not isinstance(descriptor.kind, str):
        yield f"`{resource}` is a {descriptor.kind.tag} workspace and no value"
    if descriptor.initialization != state.initialization:
        yield (
            f"its initialization is {state.initialization} in the program and "
            f"{descriptor.initialization} in `{resource}`"
        )
    end = component.offset_bytes + sight.size
    if end > sight.capacity:
        yield f"it ends at byte {end:,} and `{resource}` has {sight.capacity:,} bytes at most"


def _describe(state: LayoutState) -> str:
    shape = " x ".join(map(str, state.tensor.dimensions))
    return (
        f"a {layout_name(state.layout)} of {shape} {state.tensor.element_type} at byte "
        f"{state.offset_bytes:,} of `{state.resource_id}`"
    )


def _layout_fault(
    declared: DeclaredState, place: Place, because: str, *, consequence: bool = False
) -> Unsupported:
    names = (("state_id", declared.state.id),)
    return Unsupported("state_layout", place, names, because, consequence)
