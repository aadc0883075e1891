"""A plan as it would stand after it was compiled again on a catalog, with the same selection.

Only the identities of builds are replaced. All that a plan chose (providers, storage, sizes)
stays as it is, so what a catalog refuses of it shows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ferrum_verify.contracts.providers import providers_by_id
from ferrum_verify.plan.order import HappensBefore

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.contracts.providers import Indexed
    from ferrum_verify.contracts.sources import PlanSource
    from ferrum_verify.documents.catalog import CapabilityCatalog, Operation
    from ferrum_verify.documents.execution_weights import ExecutionWeights
    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.reading.document import Subject


def rebuilt_on(plan: PlanSource, catalog: CapabilityCatalog) -> Subject:
    """The plan with the builds of ``catalog`` in place of its own."""
    device = catalog.device
    offered = {
        operation_id: providers_by_id(catalog, operation_id)
        for operation_id in {node.operation_id for node in plan.nodes}
    }
    nodes = tuple(_rebuilt_node(node, catalog, offered[node.operation_id]) for node in plan.nodes)
    return replace(
        plan.subject,
        order=HappensBefore(nodes),
        plan_nodes=nodes,
        header=plan.header.model_copy(
            update={
                "device_runtime_implementation_fingerprint": (
                    device.runtime_implementation_fingerprint
                ),
                "execution_weights": rebuilt_weights(plan.header.execution_weights, catalog),
            }
        ),
        memory=plan.memory.model_copy(update={"device_capacity_bytes": device.total_memory_bytes}),
        catalog=catalog,
    )


def rebuilt_weights(
    weights: ExecutionWeights | None, catalog: CapabilityCatalog
) -> ExecutionWeights | None:
    """A plan's weights, made by the catalog's build of their materializer, where it has one."""
    made_by = (
        None
        if weights is None
        else (catalog.weight_materializers or {}).get(weights.materializer_id)
    )
    if weights is None or made_by is None:
        return weights
    return weights.model_copy(
        update={
            "materializer_version": made_by.version,
            "materializer_implementation_fingerprint": made_by.implementation_fingerprint,
        }
    )


def _rebuilt_node(
    node: PlanNode, catalog: CapabilityCatalog, offered: Mapping[str, Indexed]
) -> PlanNode:
    changes: dict[str, object] = {}
    operation = catalog.operations.get(node.operation_id)
    if operation is not None and _serves(operation, node):
        changes["operation_version"] = operation.version
    selected = offered.get(node.selection.selected_provider)
    if selected is not None:
        provider = selected.provider
        changes |= {
            "provider_execution_semantics": (
                provider.execution_semantics or node.provider_execution_semantics
            ),
            "operation_fingerprint": provider.operation_fingerprint,
            "provider_implementation_fingerprint": provider.provider_implementation_fingerprint,
            "provider_resources": node.provider_resources.model_copy(
                update={
                    "estimator_id": provider.resource_estimator_id,
                    "estimator_version": provider.resource_estimator_version,
                    "estimator_implementation_fingerprint": (
                        provider.resource_estimator_implementation_fingerprint
                    ),
                }
            ),
        }
    return node.model_copy(update=changes)


def _serves(operation: Operation, node: PlanNode) -> bool:
    version, wanted = operation.version, node.operation_version
    return version.major == wanted.major and version.minor >= wanted.minor


def named_builds(node: PlanNode) -> tuple[object, ...]:
    """The identities of builds that a node names, which a rebuilt plan replaces."""
    estimate = node.provider_resources
    return (
        node.operation_version,
        node.operation_fingerprint,
        node.provider_implementation_fingerprint,
        estimate.estimator_id,
        estimate.estimator_version,
        estimate.estimator_implementation_fingerprint,
    )


def named_estimator(node: PlanNode) -> tuple[object, ...]:
    """The estimator that a node's estimate is of."""
    return named_builds(node)[3:]
