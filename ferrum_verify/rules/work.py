"""Graph rules of token work: which tensor axes a node's work is counted along."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.documents.node import TokenWork
from ferrum_verify.findings import Example, Rule, Swap
from ferrum_verify.plan.node_ports import bindings_by_port
from ferrum_verify.rules.ascending import first_fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrum_verify.documents.node import PlanNode, TokenAxis, ValueBinding
    from ferrum_verify.documents.primitives import Role
    from ferrum_verify.findings import Finding

_FORMAT = "docs/format.md, «Execution-plan rules» (work)"
_WORK = "/plan/payload/nodes/1/work/tokens"
WITHOUT_PROJECTIONS = Rule(
    id="graph.work-without-projections",
    summary="Token work is counted along at least one axis.",
    why="The engine narrows each projected axis to the tokens that are scheduled; with none it "
    "would run the canonical extent every time, over bytes that hold no token.",
    fix="Project every axis whose length is the node's tokens, the source's first of all, or "
    "declare the work `fixed`.",
    source=_FORMAT,
    example=Example("bundle", {f"{_WORK}/projections": []}),
)
PROJECTION_ORDER = Rule(
    id="graph.work-projection-order",
    summary="The projections of a node's work ascend, each once.",
    why="The list is a set; in any other order the same work has a second hash.",
    fix="Sort the projections by value, role, ordinal, axis, rank and extent, each once.",
    source=_FORMAT,
    example=Example("bundle", {f"{_WORK}/projections/0": Swap(f"{_WORK}/projections/1")}),
)
SOURCE_NOT_PROJECTED = Rule(
    id="graph.work-source-not-projected",
    summary="The source of a node's token work is one of its projections.",
    why="The tokens would be counted on an axis that the kernel then reads in full.",
    fix="Add the source to the projections.",
    source=_FORMAT,
    example=Example("bundle", {f"{_WORK}/source/ordinal": 1}),
)
EXTENT_DIFFERS = Rule(
    id="graph.work-extent-differs",
    summary="A projection has the canonical extent of the source of the work.",
    why="All projected axes count the same tokens; axes of different length would put one "
    "tensor's tokens beside another's.",
    fix="Give every projection the source's extent.",
    source=_FORMAT,
    example=Example("bundle", {f"{_WORK}/projections/1/canonical_extent": 2}),
)
UNMATCHED = Rule(
    id="graph.work-unmatched-projection",
    summary="Each projection of a node's work fits one of its bindings.",
    why="The engine would narrow an axis that the bound tensor does not have.",
    fix="Name the value, role and ordinal of one activation binding, its tensor's rank, and an "
    "axis whose dimension is the extent.",
    source=_FORMAT,
    example=Example("bundle", {f"{_WORK}/projections/1/rank": 3}),
)


def check_node(node: PlanNode, location: str) -> Iterator[Finding]:
    """Findings of the work of one node that stands at the pointer ``place``."""
    work = node.work
    if not isinstance(work, TokenWork):
        return
    where = f"{location}/work/tokens"
    source = work.source
    if not work.projections:
        yield WITHOUT_PROJECTIONS.finding(
            f"The work of node `{node.id}` is counted in tokens, but projects no axis.",
            f"{where}/projections",
        )
        return
    keys = [projection.key for projection in work.projections]
    if (fault := first_fault(keys, axis_in_words)) is not None:
        yield PROJECTION_ORDER.finding(
            f"The projections of node `{node.id}` do not strictly ascend: {fault.text}.",
            f"{where}/projections/{fault.position}",
        )
    if source.key not in keys:
        yield SOURCE_NOT_PROJECTED.finding(
            f"The work of node `{node.id}` is counted along {_axis(source)}, which is none of its "
            "projections.",
            f"{where}/source",
        )
    ports = bindings_by_port(node)
    for index, projection in enumerate(work.projections):
        if projection.canonical_extent != source.canonical_extent:
            yield EXTENT_DIFFERS.finding(
                f"Node `{node.id}` counts {source.canonical_extent:,} tokens along {_axis(source)} "
                f"and {projection.canonical_extent:,} along {_axis(projection)}.",
                f"{where}/projections/{index}/canonical_extent",
                expected=source.canonical_extent,
                actual=projection.canonical_extent,
            )
        elif (reason := _unmatched(ports, projection)) is not None:
            yield UNMATCHED.finding(
                f"The projection of node `{node.id}` along {_axis(projection)} fits no binding: "
                f"{reason}.",
                f"{where}/projections/{index}",
            )


def _unmatched(ports: Mapping[tuple[Role, int], ValueBinding], axis: TokenAxis) -> str | None:
    binding = ports.get((axis.role, axis.ordinal))
    if binding is None:
        return f"the node has no {axis.role} {axis.ordinal}"
    dimensions = binding.tensor.dimensions
    if binding.value_id != axis.value_id:
        return f"its {axis.role} {axis.ordinal} is `{binding.value_id}`"
    if binding.usage != "activations":
        return f"`{binding.value_id}` is used as {binding.usage}, not as activations"
    return _unmatched_axis(dimensions, axis)


def _unmatched_axis(dimensions: Sequence[int], axis: TokenAxis) -> str | None:
    if len(dimensions) != axis.rank:
        return f"the tensor has rank {len(dimensions)}, not {axis.rank}"
    if axis.axis >= axis.rank:
        return f"a tensor of rank {axis.rank} has no axis {axis.axis}"
    if dimensions[axis.axis] != axis.canonical_extent:
        return (
            f"its axis {axis.axis} is {dimensions[axis.axis]:,} long, not {axis.canonical_extent:,}"
        )
    return None


def _axis(axis: TokenAxis) -> str:
    return axis_in_words(axis.key)


def axis_in_words(key: tuple[Any, ...]) -> str:
    """An axis by its key, as messages name it."""
    value_id, is_output, ordinal, axis, *_ = key
    return f"axis {axis} of `{value_id}` ({'output' if is_output else 'input'} {ordinal})"
