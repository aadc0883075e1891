"""Random planning problems: most derive a plan, and one in a few is refused for some number.

Everything drawn can be written on the wire; what the engine thinks of it is for the definition
to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.definition.memory_plan import derive
from tests.definition.programs import program_policies
from tests.definition.rows import CONTIGUOUS_LAYOUT, LINEAR, OPAQUE_LAYOUT
from tests.definition.sizes import Json, RefusedError

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

SMALL_BYTES = st.sampled_from([1, 3, 16, 100, 256, 1000, 4096])
NEAR_OVERFLOW = st.sampled_from([2**32, 2**52, 2**60, 2**63 - 1, 2**63, 2**64 - 1])
SEQUENCES = st.sampled_from([8, 64])
ALIGNMENTS = st.sampled_from([64, 16, 1, 256])
BLOCKS = st.sampled_from([4096, 256, 16])


def sizes(near_overflow: bool) -> SearchStrategy[int]:
    """Bytes of one unit; a few that hardly any product fits u64 with, where they are asked for."""
    return st.one_of([SMALL_BYTES] * 9 + [NEAR_OVERFLOW]) if near_overflow else SMALL_BYTES


@st.composite
def profiles(draw: DrawFn) -> Json:
    """One of the three legal storage profiles; linear more often, so that pools have company."""
    form = draw(st.sampled_from(["linear", "linear", "linear", "blocks", "pages"]))
    if form == "linear":
        return LINEAR
    block = {"block_bytes": draw(BLOCKS)}
    view = "contiguous" if form == "blocks" else {"paged_regions": block}
    return {"allocator": {"fixed_block_arena": block}, "view": view}


@st.composite
def demands(draw: DrawFn, form: str, instances: int, near_overflow: bool) -> Json:
    """A demand of one form, mostly defined at the shapes of small buckets."""
    size = sizes(near_overflow)
    tokens = st.sampled_from([4096, 512, 40])
    if form == "fixed":
        return {form: {"bytes": draw(size)}}
    if form == "actual_sequences":
        return {form: {"bytes_per_sequence": draw(size), "maximum_sequences": instances}}
    if form == "tokens":
        return {form: {"bytes_per_token": draw(size), "maximum_tokens": draw(tokens)}}
    if form == "affine":
        return {
            form: {
                "fixed_bytes": draw(st.sampled_from([0, 7]) | size),
                "bytes_per_sequence": draw(st.just(0) | size),
                "maximum_sequences": draw(st.sampled_from([16, 64])),
                "bytes_per_token": draw(size),
                "maximum_tokens": draw(tokens),
            }
        }
    if form == "pages":
        return {
            form: {"bytes_per_page": draw(size), "maximum_pages": draw(st.sampled_from([64, 8]))}
        }
    assert form == "bounded_shape_buckets"
    first = draw(st.sampled_from([16, 40, 512]))
    small = {"maximum_sequences": 8, "maximum_tokens": first, "maximum_pages": 4}
    buckets = [small | {"bytes": draw(SMALL_BYTES)}]
    for _ in range(draw(st.integers(0, 2))):
        grown = draw(st.sampled_from(sorted(small)))
        last = buckets[-1]
        grows = {grown: last[grown] * 2, "bytes": last["bytes"] + draw(st.integers(0, 300))}
        buckets.append(last | grows)
    return {form: {"buckets": buckets}}


FORMS = st.sampled_from(
    ["tokens", "fixed", "actual_sequences", "affine", "pages", "bounded_shape_buckets"]
)


def workspace_parts(draw: DrawFn, sort: str, storage: Json) -> Json:
    """What sets a workspace of this sort apart."""
    if sort == "persistent":
        return {"lifetime": draw(st.sampled_from(["sequence", "request", "step"]))}
    # A binding is apart from scratch by its usage; mostly in one arena, as captured programs
    # need it.
    if sort == "binding" and draw(st.sampled_from([True] * 7 + [False])):
        return {"alignment_bytes": 16, "storage": storage | {"profile": LINEAR}}
    return {}


def value_parts(draw: DrawFn, sort: str, plain: bool, storage: Json) -> Json:
    """What sets a value of this sort apart."""
    storage = storage | {"logical_layout_fingerprint": CONTIGUOUS_LAYOUT}
    parts: Json = {"kind": "value", "storage": storage, "element_type": "f16"}
    if plain:
        profile = draw(st.sampled_from([LINEAR, LINEAR, LINEAR, None])) or draw(profiles())
        return parts | {
            "usage": "activations",
            "alignment_bytes": 64,
            "lifetime": "step",
            "storage": storage | {"profile": profile},
        }
    if sort == "activation":
        lifetimes = st.sampled_from(["step"] * 4 + ["request"])
        return parts | {
            "usage": "activations",
            "alignment_bytes": draw(st.sampled_from([64, 64, 256])),
            "lifetime": draw(lifetimes),
        }
    if sort == "state":
        return parts | {
            "lifetime": "sequence",
            "initialization": draw(st.sampled_from(["zero", "none"])),
        }
    return parts | {
        "usage": draw(st.sampled_from(["transfer", "activations", "state"])),
        "element_type": draw(st.sampled_from(["u8", "f32"])),
        "lifetime": draw(st.sampled_from(["invocation", "step", "request", "sequence"])),
    }


@st.composite
def descriptors(draw: DrawFn, name: str, node_ids: list[str], near_overflow: bool) -> Json:
    """A dynamic descriptor: an activation of one step more often than anything else.

    A workspace's kind names the node that it belongs to.
    """
    sort = draw(
        st.sampled_from(
            ["activation"] * 7
            + ["value", "state", "persistent"]
            + ["scratch", "scratch", "binding", "binding"]
        )
    )
    instances = draw(SEQUENCES)
    # Most activations are of the plain sort, which alone may share bytes.
    plain = sort == "activation" and draw(st.sampled_from([True, True, True, False]))
    form = "tokens" if plain else draw(FORMS)
    row: Json = {
        "base_resource_id": name,
        "demand": draw(demands(form, instances, near_overflow)),
        "alignment_bytes": draw(ALIGNMENTS),
        "usage": sort,
        "element_type": "u8",
        "lifetime": "invocation",
        "kind": {sort: {"node_id": draw(st.sampled_from(node_ids))}},
        "initialization": "none",
        "theoretical_maximum_instances": instances,
        "storage": {"profile": draw(profiles()), "logical_layout_fingerprint": OPAQUE_LAYOUT},
    }
    if sort in ("activation", "value", "state"):
        return row | value_parts(draw, sort, plain, row["storage"])
    return row | workspace_parts(draw, sort, row["storage"])


@st.composite
def statics(draw: DrawFn, name: str, near_overflow: bool) -> Json:
    """A static row: weights, or a workspace that lives as long as the plan."""
    workspace = draw(st.booleans())
    return {
        "resource_id": name,
        "per_instance_bytes": draw(sizes(near_overflow)),
        "alignment_bytes": draw(ALIGNMENTS),
        "usage": "persistent" if workspace else "weights",
        "element_type": "u8" if workspace else "bf16",
        "kind": {"persistent": {"node_id": "node/a"}} if workspace else "value",
        "storage": {
            "profile": draw(profiles()) if workspace else LINEAR,
            "logical_layout_fingerprint": OPAQUE_LAYOUT if workspace else CONTIGUOUS_LAYOUT,
        },
    }


@st.composite
def graphs(draw: DrawFn) -> list[Json]:
    """Nodes of a random DAG in plan order, their ids in another order, as yet without resources."""
    count = draw(st.sampled_from([1, 2, 3, 4, 5, 6, 7, 8, 8, 8]))
    names = draw(st.permutations([f"node/{letter}" for letter in "abcdefgh"[:count]]))
    chained = draw(st.sampled_from([False, False, True]))
    nodes: list[Json] = []
    for index, name in enumerate(names):
        dependencies = draw(st.sets(st.sampled_from(names[:index]), max_size=2)) if index else set()
        if chained and index:
            dependencies.add(names[index - 1])
        nodes.append({"id": name, "dependencies": sorted(dependencies), "resources": []})
    return nodes


def attach(draw: DrawFn, row: Json, nodes: list[Json]) -> None:
    """Have some nodes use a resource: its owner where it has one, else one to three."""
    name, kind = row["base_resource_id"], row["kind"]
    if kind == "value":
        first = draw(st.integers(0, len(nodes) - 1))
        # Short lives mostly: what lives long can share with nothing.
        gaps = draw(st.lists(st.sampled_from([1, 1, 1, 2, 5]), max_size=2))
        users = [first, *(first + sum(gaps[: index + 1]) for index in range(len(gaps)))]
        using = [nodes[at] for at in users if at < len(nodes)]
    else:
        ((workspace, owner),) = kind.items()
        using = [node for node in nodes if node["id"] == owner["node_id"]]
        if workspace == "binding":
            using[0]["binding_resource"] = name
    for node in using:
        node["resources"].append(name)


@st.composite
def policies(draw: DrawFn) -> Json:
    """A reusable policy of one to three buckets in one or two classes, often with programs."""
    buckets = []
    capacity = {"maximum_sequences": 1, "maximum_tokens": 4, "maximum_pages": 1}
    for _ in range(draw(st.integers(1, 3))):
        dimension = draw(st.sampled_from(sorted(capacity)))
        capacity = capacity | {dimension: capacity[dimension] * draw(st.sampled_from([2, 3]))}
        buckets.append(capacity | {"class_id": draw(st.sampled_from(["class/a", "class/b"]))})
    policy = {
        "maximum_reusable_lanes": draw(st.sampled_from([1, 2, 4, 2**32 - 1])),
        "buckets": draw(st.permutations(buckets)),
    }
    if draw(st.booleans()):
        policy["program_policy"] = draw(program_policies(buckets))
    return policy


@st.composite
def problems(draw: DrawFn) -> Json:
    """A planning problem, with more memory than it needs, exactly what it needs, or a byte less."""
    near_overflow = draw(st.sampled_from([False] * 7 + [True]))
    nodes = draw(graphs())
    node_ids = [node["id"] for node in nodes]
    names = draw(st.permutations([f"resource/{letter}" for letter in "abcdefghij"]))
    rows = [
        draw(descriptors(name, node_ids, near_overflow))
        for name in names[: draw(st.sampled_from([0, 1, 3, 6, 8, 8, 10, 10]))]
    ]
    for row in rows:
        attach(draw, row, nodes)
    for node in nodes:
        node["resources"].sort()
    readable = [
        row["base_resource_id"]
        for row in rows
        if row["usage"] == "activations" and row["lifetime"] in ("step", "request")
    ]
    problem: Json = {
        "device_capacity_bytes": 2**64 - 1 if near_overflow else 2**40,
        "policy_capacity_bytes": 2**64 - 1 if near_overflow else 2**39,
        "reserve_bytes": draw(st.sampled_from([0, 1, 2**20])),
        "maximum_active_sequences": 8,
        "static_allocations": [
            draw(statics(f"static/{index}", near_overflow))
            for index in range(draw(st.integers(0, 2)))
        ],
        "dynamic_descriptors": rows,
        "nodes": nodes,
    }
    if draw(st.sampled_from([True, True, False])):
        problem["reusable_execution_policy"] = draw(policies())
    if readable and draw(st.sampled_from([False, False, True])):
        problem["retained_completion_resources"] = [draw(st.sampled_from(readable))]
    spare = draw(st.sampled_from([None, None, None, 0, 1, -1]))
    return problem if spare is None else fitted(problem, spare)


def fitted(problem: Json, spare: int) -> Json:
    """The problem with what it needs and ``spare`` bytes on the device, where it can be planned."""
    try:
        memory = derive(problem)
    except RefusedError:
        return problem
    needed = memory["static_bytes"] + memory["minimum_runnable_request_bytes"]
    granted = max(0, problem["reserve_bytes"] + needed + spare)
    return problem | {"device_capacity_bytes": granted, "policy_capacity_bytes": granted}


@st.composite
def derivable(draw: DrawFn) -> tuple[Json, Json]:
    """A problem that derives, and its memory plan; one that does not is drawn anew."""

    def planned(problem: Json) -> tuple[Json, Json] | None:
        try:
            return problem, derive(problem)
        except RefusedError:
            return None

    found = draw(problems().map(planned).filter(bool))
    assert found is not None
    return found
