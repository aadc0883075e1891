"""The graph: nodes, their dependencies and the resources that they list."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING

from ferrum_verify.findings import Example, Finding, Rule
from ferrum_verify.plan.order import MAXIMUM_NODES

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from ferrum_verify.documents.fragment_node import FragmentNode
    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.reading.document import Subject

GRAPH = "docs/format.md, «Graph rules»"
TOO_MANY_NODES = Rule(
    id="graph.too-many-nodes",
    summary=f"Order can be judged: the document has at most {MAXIMUM_NODES:,} nodes.",
    why="Beyond that the closure of the dependencies would take more memory than an audit may; "
    "a full plan of that many nodes would be many times too large to encode.",
    fix="Audit a part of the plan.",
    source="a limit of this verifier",
    severity="warning",
    undecided=True,
)
NODES_MISSING = Rule(
    id="graph.nodes-missing",
    summary="Order can be judged: the document has nodes.",
    why="A memory plan alone says which resources share bytes, but not whether they may.",
    fix="Audit the execution plan, or a fragment with the nodes.",
    source="docs/format.md, «Documents»",
    severity="warning",
    undecided=True,
    example=Example("memory-plan", {}),
)


def check(subject: Subject, *, known: frozenset[str] | None) -> Iterator[Finding]:
    """All graph rules of a plan, fragment or problem.

    ``known`` are the resources that nodes may list; None when the memory plan could not be
    read, so that nothing can be said of them. A problem's lists may stand in any order.
    """
    order = subject.order
    if order is None:
        return
    nodes, at = order.nodes, subject.places.nodes
    yield from check_order(order, at)
    yield from _check_lists(nodes, at, in_any_order=subject.kind == "problem")
    if known is not None:
        yield from _check_known(subject, order, known)
    if not order.is_tractable:
        yield TOO_MANY_NODES.finding(
            f"the plan has {len(nodes):,} nodes, so what depends on order was not judged", at
        )


DUPLICATE_NODE = Rule(
    id="graph.duplicate-node",
    summary="Node ids are unique.",
    why="A dependency on the id could mean either node.",
    fix="Rename one of the nodes.",
    source=GRAPH,
    example=Example("problem", {"/nodes/5/id": "node/embed"}),
)


def check_order(order: HappensBefore, at: str) -> Iterator[Finding]:
    """The rules whose breach leaves the order of the nodes open; ``at`` is where the nodes are."""
    nodes = order.nodes
    for index, node in enumerate(nodes):
        first = order.position[node.id]
        if first != index:
            yield DUPLICATE_NODE.finding(
                f"node {index} has the id `{node.id}` of node {first}", f"{at}/{index}/id"
            )
    late = yield from _check_dependencies(nodes, order, at)
    if late:
        yield from _check_late(nodes, order, late, at)


UNKNOWN_DEPENDENCY = Rule(
    id="graph.unknown-dependency",
    summary="A dependency names a node of the plan.",
    why="The node would wait for something that never completes.",
    fix="Correct the id, or remove the dependency.",
    source=GRAPH,
    example=Example("problem", {"/nodes/5/dependencies": ["node/lost"]}),
)


def _check_dependencies(
    nodes: Sequence[FragmentNode | PlanNode], order: HappensBefore, location: str
) -> Generator[Finding, None, list[tuple[int, str]]]:
    late: list[tuple[int, str]] = []
    for index, node in enumerate(nodes):
        for place, dependency in enumerate(node.dependencies):
            earlier = order.position.get(dependency)
            if earlier is None:
                yield UNKNOWN_DEPENDENCY.finding(
                    f"`{node.id}` waits for `{dependency}`, which is no node of the plan",
                    f"{location}/{index}/dependencies/{place}",
                    about=(node.id, dependency),
                )
            elif earlier >= index:
                late.append((index, dependency))
    return late


LATER_DEPENDENCY = Rule(
    id="graph.later-dependency",
    summary="A dependency stands earlier in the plan than the node that waits for it.",
    why="Nodes are submitted in plan order: a node would be submitted before what it waits for.",
    fix="Move the node behind its dependencies.",
    source=GRAPH,
    example=Example("problem", {"/nodes/1/dependencies": ["node/embed", "node/query"]}),
)
CYCLE = Rule(
    id="graph.cycle",
    summary="No node waits for itself, directly or through others.",
    why="None of the nodes on the loop can ever start.",
    fix="Remove one of the dependencies on the loop.",
    source=GRAPH,
    judgment="safety",
    example=Example("problem", {"/nodes/1/dependencies": ["node/attention", "node/embed"]}),
)


def _check_late(
    nodes: Sequence[FragmentNode | PlanNode],
    order: HappensBefore,
    late: Sequence[tuple[int, str]],
    location: str,
) -> Iterator[Finding]:
    loops = order.loops()
    on_loop = {node for loop in loops for node in loop}
    for loop in loops:
        path = " → ".join(f"`{node}`" for node in (*loop, loop[0]))
        said, place = f"each waits for the one before: {path}", order.position[loop[0]]
        at = f"{location}/{place}/dependencies"
        # A loop cannot go along with the plan's order all the way, unless ids stand twice.
        back = next((each for each in late if {nodes[each[0]].id, each[1]} <= set(loop)), None)
        if back is not None:
            node, later = nodes[back[0]], back[1]
            what = "itself" if later == node.id else f"`{later}`, which stands later in the plan"
            said += f"; `{node.id}` waits for {what}"
            at = f"{location}/{back[0]}/dependencies/{node.dependencies.index(later)}"
        yield CYCLE.finding(said, at)
    for index, dependency in late:
        node = nodes[index]
        if not (node.id in on_loop and dependency in on_loop):
            yield LATER_DEPENDENCY.finding(
                f"`{node.id}` is node {index}, but waits for `{dependency}`, which is node "
                f"{order.position[dependency]}",
                f"{location}/{index}/dependencies",
            )


DEPENDENCIES_NOT_CANONICAL = Rule(
    id="graph.dependencies-not-canonical",
    summary="A node's dependencies ascend, each once.",
    why="The plan's hash covers the order; the same graph in another order is another plan.",
    fix="Sort the dependencies and remove repeated ones.",
    source=GRAPH,
    example=Example("fragment", {"/nodes/3/dependencies": ["node/query", "node/key"]}),
)
RESOURCES_NOT_CANONICAL = Rule(
    id="graph.resources-not-canonical",
    summary="A node's resources ascend, each once.",
    why="The plan's hash covers the order; the same uses in another order are another plan.",
    fix="Sort the resources and remove repeated ones.",
    source=GRAPH,
    example=Example("fragment", {"/nodes/1/resources": ["act/key", "act/embedded"]}),
)


def _check_lists(
    nodes: Sequence[FragmentNode | PlanNode], location: str, *, in_any_order: bool
) -> Iterator[Finding]:
    # The planner sorts a problem's lists, but does not take a thing twice.
    proper = _each_once if in_any_order else _ascends
    told = "have one twice" if in_any_order else "do not ascend, each once"
    for index, node in enumerate(nodes):
        if not proper(node.resources):
            yield RESOURCES_NOT_CANONICAL.finding(
                f"the resources of `{node.id}` {told}", f"{location}/{index}/resources"
            )
        if not proper(node.dependencies):
            yield DEPENDENCIES_NOT_CANONICAL.finding(
                f"the dependencies of `{node.id}` {told}", f"{location}/{index}/dependencies"
            )


UNKNOWN_RESOURCE = Rule(
    id="graph.unknown-resource",
    summary="A node lists resources of the memory plan only.",
    why="The node would be given no bytes for the resource.",
    fix="Add a row for the resource, or correct its id.",
    source=GRAPH,
    judgment="safety",
    example=Example("problem", {"/nodes/4/resources/-": "act/lost"}),
)


def _check_known(
    subject: Subject, order: HappensBefore, known: frozenset[str]
) -> Iterator[Finding]:
    """Whether nodes list what has a row; of one name and one row that miss each other, once."""
    unknown = [
        (index, place, resource)
        for index, node in enumerate(order.nodes)
        if not known.issuperset(node.resources)
        for place, resource in enumerate(node.resources)
        if resource not in known
    ]
    names = {resource for *_, resource in unknown}
    if len(names) == 1 and (row := _only_unused(subject, order)) is not None:
        (meant,), (name, place) = names, row
        more = f" and {len(unknown) - 1:,} more list" if len(unknown) > 1 else " lists"
        yield UNKNOWN_RESOURCE.finding(
            f"`{order.nodes[unknown[0][0]].id}`{more} `{meant}`, which has no row in the memory "
            f"plan, and the row of `{name}` is named by no node: one of the two names is wrong",
            place,
            expected=meant,
            actual=name,
            fix=f"Rename `{name}` to `{meant}` in the memory plan, unless `{name}` is meant "
            "everywhere",
        )
        return
    for index, at, resource in unknown:
        yield UNKNOWN_RESOURCE.finding(
            f"`{order.nodes[index].id}` lists `{resource}`, which has no row in the memory plan",
            f"{subject.places.nodes}/{index}/resources/{at}",
        )


def _only_unused(subject: Subject, order: HappensBefore) -> tuple[str, str] | None:
    """The one row that no node names, and where its name stands; None of none or of several."""
    if subject.memory is None:
        return None
    at = subject.places.memory
    unused = [
        (row.resource_id, f"{at}/static_allocations/{index}/resource_id")
        for index, row in enumerate(subject.memory.static_allocations)
        # No node uses that kind: the model is loaded with it.
        if row.resource_id not in order.users and row.kind != "initialization_scratch"
    ] + [
        (row.base_resource_id, f"{at}/dynamic_descriptors/{index}/base_resource_id")
        for index, row in enumerate(subject.memory.dynamic_descriptors)
        if row.base_resource_id not in order.users
    ]
    return unused[0] if len(unused) == 1 else None


def _each_once(ids: Sequence[str]) -> bool:
    return len(set(ids)) == len(ids)


def _ascends(ids: Sequence[str]) -> bool:
    return all(left < right for left, right in itertools.pairwise(ids))


ORDER_RULES = frozenset(
    rule.id for rule in (DUPLICATE_NODE, UNKNOWN_DEPENDENCY, LATER_DEPENDENCY, CYCLE)
)
"""Rules whose violation leaves the order of the nodes open."""
ORDER_OPEN = Rule(
    id="graph.order-not-judged",
    summary="Order can be judged: ids and dependencies of the nodes give one.",
    why="Whether resources that share bytes are ever live together, and whether slots and liveness "
    "are what the engine derives, rests on the order. Without one nothing is found wrong with "
    "them, which does not make them right.",
    fix="Mend the ids and dependencies that are named.",
    source="docs/format.md, «Graph rules»",
    severity="note",
    undecided=True,
    example=Example(
        "fragment",
        {"/nodes/5/dependencies": ["node/lost"]},
        also=("graph.unknown-dependency",),
    ),
)


def order_open(subject: Subject, findings: Sequence[Finding]) -> Finding:
    """What was not judged for want of an order, and which of the findings that comes of."""
    faults = Counter(each.rule for each in findings if each.rule in ORDER_RULES)
    named = ", ".join(f"{count:,} of {rule}" for rule, count in faults.items())
    return ORDER_OPEN.finding(
        f"order was not judged because of {named}: neither slots and liveness, nor whether "
        "resources that share bytes are ever live together",
        subject.places.nodes,
    )
