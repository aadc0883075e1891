"""The parts of a plan that its bytes depend on, out of raw JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tests.definition.sizes import Json, RefusedError, Shape, bucket_shape, demand_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

# Up to here every number of tokens is tried; of more only those where a demand may turn.
FEW = 16
ELEMENT_BYTES = {"bool": 1, "u8": 1, "i8": 1, "f16": 2, "bf16": 2, "u32": 4, "i32": 4, "f32": 4}
WORKSPACES = ("scratch", "binding", "persistent")


class Plan(NamedTuple):
    """A plan's nodes in plan order, its rows by id, and what stands beside them.

    ``states`` are the program's, by value, and empty without a program. ``tokens`` is the
    maximum of one step, 1 in a fragment, which has no values either.
    """

    nodes: list[Json]
    memory: Json
    static: dict[str, Json]
    dynamic: dict[str, Json]
    retained: list[Json]
    retained_resources: frozenset[str]
    states: dict[str, Json]
    tokens: int


def plan_of(document: Json) -> Plan:
    """The plan in an execution plan, in a bundle with one, or in a fragment."""
    execution = document.get("plan", document)
    body = execution.get("payload", execution)
    memory = body["memory"]
    retained = body.get("retained_completion_values", [])
    names = [value["resource_id"] for value in retained]
    return Plan(
        nodes=body["nodes"],
        memory=memory,
        static={row["resource_id"]: row for row in memory["static_allocations"]},
        dynamic={row["base_resource_id"]: row for row in memory["dynamic_descriptors"]},
        retained=retained,
        retained_resources=frozenset(names + body.get("retained_completion_resources", [])),
        states={
            state["value_id"]: state for state in document.get("program", {}).get("states", [])
        },
        tokens=body.get("maximum_scheduled_tokens", 1),
    )


def bindings(plan: Plan) -> Iterator[tuple[int, Json]]:
    """Every binding of a value, with the position of its node."""
    for at, node in enumerate(plan.nodes):
        for binding in node.get("values", []):
            yield at, binding


def uses(node: Json) -> set[str]:
    """The resources that a node lists, binds or has as a workspace."""
    bound = {
        component["resource_id"]
        for binding in node.get("values", [])
        for component in binding["storage"]["components"]
    }
    return bound | workspaces(node) | set(node["resources"])


def workspaces(node: Json) -> set[str]:
    """The resources that a node has to itself."""
    parts: list[str | None] = [node.get(f"{part}_resource") for part in WORKSPACES]
    return {name for name in parts if name is not None}


def projected(plan: Plan) -> dict[str, tuple[int, int]]:
    """The axis and canonical extent of each value that some token work projects."""
    axes = {}
    for node in plan.nodes:
        work = node.get("work", "fixed")
        for each in [] if work == "fixed" else work["tokens"]["projections"]:
            axes[each["value_id"]] = (each["axis"], each["canonical_extent"])
    return axes


def tensor_bytes(tensor: Json, dimensions: list[int]) -> int:
    """What a tensor takes with other dimensions than its own, in bytes."""
    layout = tensor["layout"]
    size = ELEMENT_BYTES[tensor["element_type"]]
    if layout != "contiguous" and "strided" in layout:
        strides: list[int] = layout["strided"]["byte_strides"]
        size += sum((n - 1) * by for n, by in zip(dimensions, strides, strict=True))
        return size
    blocks = [1] * len(dimensions)
    if layout != "contiguous":
        blocks = layout["blocked"]["block"]
    for extent, block in zip(dimensions, blocks, strict=True):
        size *= -(-extent // block) * block
    return size


def length_at(binding: Json, component: Json, axis: tuple[int, int] | None, tokens: int) -> int:
    """The bytes of a component in a step of so many tokens.

    What work projects grows along its axis, and what the component is longer than its tensor
    stays as it is. Anything else has the bytes that stand in the plan.
    """
    length: int = component["length_bytes"]
    if axis is None:
        return length
    tensor: Json = binding["tensor"]
    grown: list[int] = list(tensor["dimensions"])
    grown[axis[0]] = grown[axis[0]] * tokens // axis[1]
    own: list[int] = tensor["dimensions"]
    return length + tensor_bytes(tensor, grown) - tensor_bytes(tensor, own)


def row_bytes(plan: Plan, resource: str, shape: Shape) -> int | None:
    """What a row has at a shape, in bytes; None where it is not defined there, or is no row."""
    if resource in plan.static:
        size: int = plan.static[resource]["per_instance_bytes"]
        return size
    return bytes_at(plan.dynamic[resource]["demand"], shape) if resource in plan.dynamic else None


def bytes_at(demand: Json, shape: Shape) -> int | None:
    """What a demand asks for at a shape; None where it is not defined there."""
    try:
        return demand_bytes(demand, shape)
    except RefusedError:
        return None


def steps(plan: Plan) -> list[Shape]:
    """The shapes of a step: so many sequences with a token each at least, and a page."""
    most = plan.memory["maximum_active_sequences"]
    return [
        Shape(sequences, tokens, 1)
        for tokens in some_of(plan, plan.tokens)
        for sequences in {1, 2, min(most, tokens)}
        if sequences <= min(most, tokens)
    ]


def some_of(plan: Plan, most: int) -> list[int]:
    """Numbers of tokens from 1 to ``most``: all, or those at which some demand may turn."""
    if most <= FEW:
        return list(range(1, most + 1))
    turns = {1, 2, 3, most}
    for row in plan.dynamic.values():
        for fields in row["demand"].values():
            for bucket in fields.get("buckets", [fields]):
                turns.add(bucket.get("maximum_tokens", 1))
    near = {tokens + by for tokens in turns for by in (-1, 0, 1)}
    return sorted(tokens for tokens in near if 1 <= tokens <= most)


def reusable_shapes(plan: Plan) -> list[Shape]:
    """The capacities of the reusable buckets."""
    reusable = plan.memory.get("reusable_execution")
    return [bucket_shape(row["bucket"]["capacity"]) for row in (reusable or {}).get("buckets", [])]
