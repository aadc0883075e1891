"""The catalogue: every rule, from the files of its family."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ferrum_verify.contracts import (
    build_changes,
    catalog_changes,
    changed_lists,
    check,
    checkpoint_changes,
    compare,
    compatible,
    materializer_changes,
    operation_changes,
    plan_changes,
    plan_checkpoint,
    plan_memory,
    plan_providers,
    program_checks,
    provider_changes,
    reach_checks,
    selectability,
    state_ports,
    workspace_limits,
)
from ferrum_verify.findings import Family, Rule
from ferrum_verify.reading import (
    attributes,
    checkpoint_wire,
    json_text,
    json_values,
    load,
    parse,
    read_past,
    schema_versions,
    wire_findings,
)
from ferrum_verify.rules import (
    accesses,
    aliases,
    binding,
    buffer,
    buffer_lives,
    buffer_places,
    buffer_schedule,
    canonical_form,
    capacity,
    capacity_grant,
    captured_programs,
    catalog_provenance,
    checkpoint,
    checkpoint_growth,
    checkpoint_reach,
    checkpoint_stated,
    data_flow,
    declarations,
    descriptor,
    descriptor_rows,
    estimates,
    execution_semantics,
    execution_weights,
    gate,
    graph,
    initialization_scratch,
    integrity,
    lifetimes,
    liveness,
    liveness_summary,
    operation_ports,
    plan_graph,
    policy_provenance,
    pool,
    pool_totals,
    program_names,
    program_provenance,
    proof,
    provider_declarations,
    provider_provenance,
    retained,
    reusable,
    reusable_budgets,
    reusable_lanes,
    schedule,
    schedule_order,
    selection,
    selection_provenance,
    slot,
    slot_members,
    slot_retained,
    source_integrity,
    state_effects,
    state_provenance,
    static,
    static_rows,
    terminal_outputs,
    undefined_rows,
    value,
    value_growth,
    value_packing,
    value_rows,
    weight_parts,
    work,
    workspace,
    workspace_ceilings,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

_FAMILIES: dict[Family, tuple[ModuleType, ...]] = {
    "wire": (
        parse,
        load,
        json_text,
        json_values,
        read_past,
        schema_versions,
        wire_findings,
        checkpoint_wire,
        attributes,
    ),
    "graph": (graph, accesses, plan_graph, data_flow, work, state_effects, selection),
    "value": (
        value,
        accesses,
        lifetimes,
        value_rows,
        value_growth,
        value_packing,
        undefined_rows,
        weight_parts,
        execution_weights,
        aliases,
        retained,
    ),
    "capacity": (capacity_grant, capacity, plan_graph),
    "static": (static, static_rows, initialization_scratch),
    "descriptor": (descriptor, descriptor_rows),
    "pool": (pool, pool_totals, checkpoint_growth),
    "slot": (slot, slot_members, slot_retained, terminal_outputs),
    "liveness": (liveness, lifetimes, liveness_summary),
    "reusable": (reusable, reusable_budgets, reusable_lanes, captured_programs),
    "binding": (binding,),
    "checkpoint": (checkpoint, checkpoint_stated, checkpoint_reach),
    "contract": (
        declarations,
        provider_declarations,
        estimates,
        workspace,
        workspace_ceilings,
        catalog_provenance,
        provider_provenance,
        selection_provenance,
        operation_ports,
        program_names,
        program_provenance,
        state_provenance,
        policy_provenance,
        execution_semantics,
        execution_weights,
        check,
        program_checks,
        state_ports,
        reach_checks,
        workspace_limits,
        compare,
        build_changes,
        catalog_changes,
        selectability,
        materializer_changes,
        provider_changes,
        checkpoint_changes,
        operation_changes,
        changed_lists,
        compatible,
        plan_changes,
        plan_providers,
        plan_checkpoint,
        plan_memory,
    ),
    "integrity": (
        canonical_form,
        integrity,
        source_integrity,
        execution_semantics,
        proof,
        gate,
    ),
    "schedule": (schedule, schedule_order),
    "buffer": (buffer, buffer_places, buffer_lives, buffer_schedule),
}


@cache
def catalogue() -> Mapping[str, Rule]:
    """Every rule by its id, in the families' order and then as they stand in their files."""
    return {rule.id: rule for _, rule in _stated()}


@cache
def homes() -> Mapping[str, str]:
    """For each rule's id the file that it stands in, from the top of the project."""
    return {rule.id: f"{module.__name__.replace('.', '/')}.py" for module, rule in _stated()}


def _stated() -> Iterator[tuple[ModuleType, Rule]]:
    # A file may import rules of its family's further files: those come later, and count.
    found: dict[str, tuple[ModuleType, Rule]] = {}
    for family, modules in _FAMILIES.items():
        for module in modules:
            for stated in vars(module).values():
                if isinstance(stated, Rule) and stated.family == family:
                    found[stated.id] = (module, stated)
    yield from found.values()
