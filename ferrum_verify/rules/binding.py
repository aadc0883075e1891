"""Program bindings: whether one contiguous arena of per-node slots can be compiled."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ferrum_verify.derive.bindings import (
    binding_pools,
    compile_layouts,
    running_end,
)
from ferrum_verify.documents.memory_plan import Binding
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.findings import DELETE, Example, Finding, Rule
from ferrum_verify.findings.wording import in_series, short_pool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.memory_plan import DynamicPool
    from ferrum_verify.rules.expected import Expected

COMPILE = "seed 003, `compile_program_binding_layouts`"


def check(facts: Expected) -> Iterator[Finding]:
    """Why the engine would refuse to compile bindings, as it does for every plan that it loads.

    It accepts such a full plan and cannot load it: an error. A fragment or a problem is never
    loaded, and its memory plan is not at fault: a warning.
    """
    is_loaded = facts.subject.kind in ("execution-plan", "bundle")
    for finding in refusals(facts):
        yield finding if is_loaded else replace(finding, severity="warning")


SEVERAL_POOLS = Rule(
    id="binding.several-pools",
    summary="All bindings of a plan are in one pool.",
    why="A captured program has one binding arena; slots in another could not be addressed.",
    fix="Give all bindings the same storage, layout and alignment.",
    source=COMPILE,
    example=Example("problem", {"/dynamic_descriptors/7/alignment_bytes": 128}),
)


def refusals(facts: Expected) -> Iterator[Finding]:
    """Why the engine would refuse to compile bindings; nothing where it compiles none.

    Submission waves are laid out first, bindings or not; who owns a slot, and where it lies, is
    only looked at for a bucket.
    """
    memory, order = facts.memory, facts.order
    if order is None or facts.faulty:
        return
    yield from _check_once(facts)
    pools = binding_pools(memory)
    at = f"{facts.subject.places.memory}/dynamic_pools"
    if len(pools) > 1:
        names = in_series(f"`{short_pool(pool.pool_id)}`" for pool in pools)
        yield SEVERAL_POOLS.finding(f"bindings are in {len(pools):,} pools: {names}", at)
    for index, pool in enumerate(memory.dynamic_pools):
        if pool not in pools:
            continue
        broken = list(_check_contract(facts, pool, f"{at}/{index}"))
        if memory.reusable_execution is not None:
            broken += _check_owners(facts, pool)
        yield from broken
        rows = {r for row in pool.invocation_liveness for r in row.resource_ids}
        whole = rows == set(pool.resource_ids) and rows <= facts.descriptors.keys()
        if not broken and len(pools) == 1 and whole:
            yield from _check_arenas(facts, pool, f"{at}/{index}")


NOT_ONCE = Rule(
    id="binding.not-once",
    summary="Every invocation resource is live in exactly one node.",
    why="A submission wave has one place for each; a second use would have no place.",
    fix="Give each node that uses it an invocation resource of its own.",
    source="docs/format.md, «Program bindings»",
    example=Example("problem", {"/nodes/4/resources/-": "binding/attention"}),
)


def _check_once(facts: Expected) -> Iterator[Finding]:
    assert facts.order is not None
    for resource, row in facts.descriptors.items():
        if row.lifetime == "invocation":
            users = facts.order.listed.get(resource, [])
            if len(users) > 1:
                nodes = in_series(f"`{facts.order.nodes[user].id}`" for user in users[:3])
                yield NOT_ONCE.finding(
                    f"invocation resource `{resource}` is used by {len(users):,} nodes: {nodes}",
                    facts.place_of(resource),
                )


POOL_CONTRACT = Rule(
    id="binding.pool-contract",
    summary="The binding pool holds nothing but contiguous u8 bindings, and never reuses bytes.",
    why="Captured programs hold fixed addresses into the arena: anything that moves or shares "
    "bytes there changes what a captured program reads.",
    fix="Store bindings contiguously, apart from other resources.",
    source=COMPILE,
    example=Example(
        "problem",
        {
            "/dynamic_descriptors/6/storage/profile": {
                "allocator": {"fixed_block_arena": {"block_bytes": 4096}},
                "view": {"paged_regions": {"block_bytes": 4096}},
            },
            "/dynamic_descriptors/7/storage/profile": {
                "allocator": {"fixed_block_arena": {"block_bytes": 4096}},
                "view": {"paged_regions": {"block_bytes": 4096}},
            },
        },
    ),
)


def _check_contract(facts: Expected, pool: DynamicPool, location: str) -> Iterator[Finding]:
    key = pool.compatibility
    wrong = [
        text
        for fails, text in (
            (key.usage != "binding", f"usage {key.usage}"),
            (key.element_type != "u8", f"element type {key.element_type}"),
            (key.profile.view != "contiguous", "a paged view"),
            (
                pool.invocation_liveness_mode != "conservative_concurrent",
                f"liveness mode {pool.invocation_liveness_mode}",
            ),
        )
        if fails
    ]
    others = [
        resource
        for resource in pool.resource_ids
        if resource in facts.descriptors
        and not isinstance(facts.descriptors[resource].kind, Binding)
    ]
    if others:
        wrong.append(f"`{others[0]}`, which is no binding")
    if wrong:
        yield POOL_CONTRACT.finding(
            f"binding pool `{short_pool(pool.pool_id)}` has {', '.join(wrong)}", location
        )


OWNER = Rule(
    id="binding.owner",
    summary="A binding is owned and listed by the node that its kind names, and by none else.",
    why="A node without its slot would read another node's arguments.",
    fix="Set the node's `binding_resource` and list the resource.",
    source=COMPILE,
    example=Example("fragment", {"/nodes/5/binding_resource": DELETE}),
)


def _check_owners(facts: Expected, pool: DynamicPool) -> Iterator[Finding]:
    order = facts.order
    assert order is not None
    owned: dict[str, str] = {}
    for resource in pool.resource_ids:
        row = facts.descriptors.get(resource)
        if row is None or not isinstance(row.kind, Binding):
            continue
        node_id = row.kind.node_id
        place = facts.place_of(resource)
        index = order.position.get(node_id)
        if index is None:
            yield OWNER.finding(
                f"binding `{resource}` belongs to `{node_id}`, which is no node of the plan",
                f"{place}/kind/binding/node_id",
            )
            continue
        node = order.nodes[index]
        if node.binding_resource != resource:
            has = f"`{node.binding_resource}`" if node.binding_resource else "no binding"
            yield OWNER.finding(
                f"binding `{resource}` belongs to `{node_id}`, but that node owns {has}",
                f"{facts.subject.places.nodes}/{index}",
                about=(node_id,),
            )
        elif resource not in node.resources:
            yield OWNER.finding(
                f"`{node_id}` owns binding `{resource}`, but does not list it",
                f"{facts.subject.places.nodes}/{index}/resources",
            )
        if node_id in owned:
            yield OWNER.finding(
                f"`{node_id}` owns two bindings, `{owned[node_id]}` and `{resource}`",
                place,
                about=(node_id,),
            )
        owned[node_id] = resource


ARENA = Rule(
    id="binding.arena",
    summary="Slots are not empty, aligned, end to end from 0, and cover the arena exactly.",
    why="A gap shifts every later slot; an overlap lets one node overwrite another's arguments.",
    fix="Give all bindings the same alignment, in order of plan.",
    source=COMPILE,
)
OVERFLOW = Rule(
    id="binding.arena-overflow",
    summary="The arena's size fits u64.",
    why="A size that wraps gives an arena that is too small.",
    fix="Lower the bindings' demands.",
    source=COMPILE,
)


def _check_arenas(facts: Expected, pool: DynamicPool, location: str) -> Iterator[Finding]:
    assert facts.order is not None
    try:
        layouts = compile_layouts(pool, facts.memory, facts.order)
    except SizeError:
        return  # the reusable rules report a demand that is not defined at a bucket's shape
    for layout in layouts:
        name = f"the arena of bucket `{short_pool(layout.reusable_execution_bucket_id)}`"
        if layout.physical_size_bytes > U64_MAX:
            yield OVERFLOW.finding(
                f"{name} takes {layout.physical_size_bytes:,} bytes, more than u64 holds", location
            )
            continue
        end = running_end(layout.slots)
        if end != layout.physical_size_bytes or not layout.physical_size_bytes:
            yield ARENA.finding(f"the slots of {name} do not lie end to end from 0", location)
        for slot in layout.slots:
            off = slot.physical_offset_bytes % slot.alignment_bytes
            if off or slot.capacity_size_bytes % slot.alignment_bytes:
                yield ARENA.finding(
                    f"in {name} the slot of `{slot.node_id}` at {slot.physical_offset_bytes:,} "
                    f"with {slot.capacity_size_bytes:,} bytes is not aligned to "
                    f"{slot.alignment_bytes:,}",
                    location,
                )
