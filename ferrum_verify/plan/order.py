"""Order: the happens-before relation of a plan's nodes, and who uses which resource.

A plan's order is one object, made where its nodes are read and handed on from there: to the
derivation, the rules, the reports, and as a networkx graph to whoever asks for it. The relation
is the transitive closure of the dependencies, kept beside the graph as bits. Plan order lists
every node after its dependencies, so one pass over it gives each node the set of its ancestors
as the bits of an integer; any question "a before b" is then one test of a bit, and "all of
these before b" one operation on two integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ferrum_verify.documents.fragment_node import FragmentNode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import networkx as nx

    from ferrum_verify.documents.node import PlanNode

MAXIMUM_NODES = 32_768
"""Nodes up to which the closure is computed: beyond, its bits alone would pass 128 MiB.

The largest full plan that the engine can encode has fewer than half as many.
"""


@dataclass(frozen=True)
class HappensBefore:
    """The nodes of one plan in plan order.

    Nodes are known by their position. A dependency that is unknown, or not earlier, adds no
    order; the graph rules report it.
    """

    nodes: Sequence[FragmentNode | PlanNode]

    @cached_property
    def position(self) -> dict[str, int]:
        """For each id the position of the node, of nodes with one id the first."""
        position: dict[str, int] = {}
        for index, node in enumerate(self.nodes):
            position.setdefault(node.id, index)
        return position

    @property
    def is_tractable(self) -> bool:
        """Whether the closure fits the memory that an audit may take."""
        return len(self.nodes) <= MAXIMUM_NODES

    @cached_property
    def ancestors(self) -> list[int]:
        """For each node the set of nodes that happen before it, as bits by position."""
        closure: list[int] = []
        for index, _ in enumerate(self.nodes):
            before = 0
            for earlier in self.earlier(index):
                before |= closure[earlier] | (1 << earlier)
            closure.append(before)
        return closure

    def earlier(self, index: int) -> list[int]:
        """The positions of the nodes that the node at ``index`` depends on."""
        position = self.position
        each = (position.get(name, index) for name in self.nodes[index].dependencies)
        return [earlier for earlier in each if earlier < index]

    @cached_property
    def barriers(self) -> list[int]:
        """For each node the position up to which all have ended when it starts in a fenced run.

        Nodes start in plan order there, and a dependency is a barrier: what waits for a node
        waits for all that stand before it. -1 where nothing need have ended.
        """
        barriers: list[int] = []
        latest = -1
        for index, node in enumerate(self.nodes):
            for dependency in node.dependencies:
                position = self.position.get(dependency, index)
                if position < index:
                    latest = max(latest, position)
            barriers.append(latest)
        return barriers

    def precedes(self, earlier: int, later: int) -> bool:
        """Whether the node at ``earlier`` happens before the one at ``later``."""
        return bool(self.ancestors[later] >> earlier & 1)

    @cached_property
    def listed(self) -> dict[str, list[int]]:
        """For each resource the positions of the nodes that list it, ascending.

        It is what the engine derives from; who touches the bytes is in ``users``.
        """
        return _positions(node.resources for node in self.nodes)

    @cached_property
    def users(self) -> dict[str, list[int]]:
        """For each resource the positions of the nodes that list or bind it, ascending."""
        if all(set(_bound_by(node)).issubset(node.resources) for node in self.nodes):
            return self.listed
        return _positions((*node.resources, *_bound_by(node)) for node in self.nodes)

    @cached_property
    def graph(self) -> nx.DiGraph[str]:
        """The dependencies as a networkx graph over node ids, with an edge to each dependent.

        It holds every known dependency, also one on a later node, so that loops show; of nodes
        with one id the first. A node's ``position`` is its place in plan order; its
        ``resources`` are ids in one text, parted by spaces, as GraphML has no lists.
        """
        # Importing networkx takes 15 times as long as `python -c pass`; a whole audit, whose
        # order needs none of it, may take 35.
        import networkx as nx  # noqa: PLC0415

        graph: nx.DiGraph[str] = nx.DiGraph()
        for name, index in self.position.items():
            resources = " ".join(self.nodes[index].resources)
            graph.add_node(name, position=index, resources=resources)
        graph.add_edges_from(
            (dependency, node.id)
            for node in self.nodes
            for dependency in node.dependencies
            if dependency in self.position
        )
        return graph

    def loops(self) -> list[list[str]]:
        """One shortest loop for each group of nodes that wait for one another, in plan order."""
        import networkx as nx  # noqa: PLC0415 - as above

        loops: list[list[str]] = []
        for group in nx.strongly_connected_components(self.graph):
            if len(group) == 1:
                (node,) = group
                if self.graph.has_edge(node, node):
                    loops.append([node])
                continue
            loops.append(self._shortest_loop(group))
        return sorted(loops, key=lambda loop: self.position[loop[0]])

    def _shortest_loop(self, group: set[str]) -> list[str]:
        import networkx as nx  # noqa: PLC0415 - as above

        members = sorted(group, key=self.position.__getitem__)
        for node in members:
            if self.graph.has_edge(node, node):
                return [node]
        inside = self.graph.subgraph(group)
        best: list[str] | None = None
        # Each loop has an edge against plan order, so the loops through those are enough.
        for later in members:
            for earlier in inside.successors(later):
                if self.position[earlier] < self.position[later] and (
                    best is None or len(best) > 2
                ):
                    path = nx.shortest_path(inside, earlier, later)
                    if best is None or len(path) < len(best):
                        best = list(path)
        assert best is not None
        return best


def _bound_by(node: FragmentNode | PlanNode) -> Iterator[str]:
    """The resources that a node touches, listed or not, some more than once."""
    if node.binding_resource is not None:
        yield node.binding_resource
    if isinstance(node, FragmentNode):
        yield from node.reads or ()
        yield from node.writes or ()
        return
    for workspace in (node.scratch_resource, node.persistent_resource):
        if workspace is not None:
            yield workspace
    for binding in node.values:
        for component in binding.storage.components:
            yield component.resource_id
    for effect in node.state_effects:
        yield from effect.resource_ids


def _positions(resources: Iterable[Iterable[str]]) -> dict[str, list[int]]:
    positions: dict[str, list[int]] = {}
    for index, names in enumerate(resources):
        for name in names:
            of_name = positions.setdefault(name, [])
            if not of_name or of_name[-1] != index:
                of_name.append(index)
    return positions


def bit_set(positions: Iterable[int]) -> int:
    """The positions as bits of an integer."""
    bits = 0
    for position in positions:
        bits |= 1 << position
    return bits


def bits_of(bits: int) -> Iterator[int]:
    """The positions of the bits that are set, ascending."""
    text = bin(bits)[:1:-1]
    position = text.find("1")
    while position >= 0:
        yield position
        position = text.find("1", position + 1)
