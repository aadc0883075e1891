"""Missing dependencies against networkx's transitive reduction, and against trying all sets."""

from __future__ import annotations

from itertools import combinations
from random import Random

import networkx as nx
import pytest

from ferrum_verify.documents.fragment_node import FragmentNode
from ferrum_verify.plan.dependencies import Edge, fewest, least_order, longest_path
from ferrum_verify.plan.order import HappensBefore


def drawn(seed: int) -> tuple[HappensBefore, list[Edge]]:
    """A random order of few nodes, and pairs of nodes that should be ordered."""
    random = Random(seed)
    count = random.randint(2, 7)
    nodes = [
        FragmentNode(
            id=str(node),
            dependencies=tuple(str(each) for each in range(node) if random.random() < 0.2),
            resources=(),
        )
        for node in range(count)
    ]
    pairs = [pair for pair in combinations(range(count), 2) if random.random() < 0.25]
    return HappensBefore(nodes), pairs


def graph_of(order: HappensBefore, more: list[Edge]) -> nx.DiGraph[int]:
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(order.nodes)))
    graph.add_edges_from(
        (int(each), node) for node, own in enumerate(order.nodes) for each in own.dependencies
    )
    graph.add_edges_from(more)
    return graph


def orders(order: HappensBefore, edges: list[Edge], pairs: list[Edge]) -> bool:
    graph = graph_of(order, edges)
    return all(nx.has_path(graph, *pair) for pair in pairs)


@pytest.mark.parametrize("seed", range(80))
def test_the_least_order_is_what_the_transitive_reduction_adds(seed: int) -> None:
    order, pairs = drawn(seed)
    reduced = nx.transitive_reduction(graph_of(order, pairs))
    known = nx.transitive_closure(graph_of(order, []))
    added = {edge for edge in reduced.edges if not known.has_edge(*edge)}
    assert set(least_order(order, pairs)) == added


@pytest.mark.parametrize("seed", range(80))
def test_the_fewest_order_all_pairs_and_are_the_fewest_where_they_say_so(seed: int) -> None:
    order, pairs = drawn(seed)
    found = fewest(order, pairs)
    assert orders(order, found.edges, pairs)
    assert len(found.edges) <= len(least_order(order, pairs))
    if found.exact and found.edges:
        every = list(combinations(range(len(order.nodes)), 2))
        assert not any(
            orders(order, list(some), pairs)
            for count in range(len(found.edges))
            for some in combinations(every, count)
        )


def test_some_are_exact_and_some_are_not() -> None:
    answers = [fewest(*drawn(seed)) for seed in range(80)]
    assert {answer.exact for answer in answers} == {True, False}
    assert any(len(a.edges) < len(least_order(*drawn(seed))) for seed, a in enumerate(answers))


def test_the_longest_path_counts_nodes() -> None:
    assert longest_path([]) == 0
    assert longest_path([[], [], [0, 1], [], [2]]) == 3
