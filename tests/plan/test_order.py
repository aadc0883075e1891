"""Order and sharing against networkx and brute force on random graphs."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrum_verify.auditing.audit import audit
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.documents.fragment_node import FragmentNode
from ferrum_verify.plan.order import HappensBefore, bits_of
from ferrum_verify.plan.sharing import explain_clash, slot_safety
from ferrum_verify.report.formats import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.documents.node import PlanNode

RESOURCES = ("a", "b", "c", "d")


@st.composite
def graphs(draw: st.DrawFn, most: int = 8) -> list[FragmentNode]:
    count = draw(st.integers(1, most))
    return [
        FragmentNode(
            id=f"n{index}",
            dependencies=tuple(
                sorted(
                    draw(st.sets(st.sampled_from([f"n{i}" for i in range(index)]))) if index else ()
                )
            ),
            resources=tuple(sorted(draw(st.sets(st.sampled_from(RESOURCES))))),
        )
        for index in range(count)
    ]


@given(graphs())
def test_closure_is_reachability(nodes: list[FragmentNode]) -> None:
    order = HappensBefore(nodes)
    closure = nx.transitive_closure_dag(order.graph)
    for earlier in range(len(nodes)):
        for later in range(len(nodes)):
            expected = closure.has_edge(nodes[earlier].id, nodes[later].id)
            assert order.precedes(earlier, later) == expected


@given(graphs())
@settings(max_examples=300)
def test_slot_safety_is_what_the_models_say_of_each_pair(nodes: list[FragmentNode]) -> None:
    order = HappensBefore(nodes)
    used = [resource for resource in RESOURCES if resource in order.users]
    if not used:
        return
    safety = slot_safety(used, order)
    assert safety is not None
    expected: dict[str, set[frozenset[str]]] = {"in-order": set(), "fenced": set()}
    expected["concurrent"] = set()
    for left, right in combinations(used, 2):
        lefts, rights = order.users[left], order.users[right]
        pair = frozenset((left, right))
        before, after = lefts[-1] < rights[0], rights[-1] < lefts[0]
        if not (before or after):
            expected["in-order"].add(pair)
        if not (
            (before and order.precedes(lefts[-1], rights[0]))
            or (after and order.precedes(rights[-1], lefts[0]))
        ):
            expected["fenced"].add(pair)
        if not (
            all(order.precedes(x, y) for x in lefts for y in rights)
            or all(order.precedes(y, x) for x in lefts for y in rights)
        ):
            expected["concurrent"].add(pair)
    for model, pairs in expected.items():
        told = safety.unsafe[model]  # type: ignore[index]
        assert {frozenset(pair) for pair in told} == pairs
        assert len(told) == len(pairs)
        for left, right in told:
            assert (order.users[left][0], left) < (order.users[right][0], right)
            last, first = order.users[left][-1], order.users[right][0]
            # In a fenced run a barrier may keep two apart that no dependency does.
            is_kept_apart = model == "fenced" and last < first and last <= order.barriers[first]
            said = "no dependency separates" if is_kept_apart else "live together"
            assert said in explain_clash(left, right, order, model)  # type: ignore[arg-type]


def test_a_member_without_a_user_leaves_safety_open() -> None:
    order = HappensBefore([FragmentNode(id="n", dependencies=(), resources=("a",))])
    assert slot_safety(["a", "b"], order) is None


def test_a_clash_is_explained_by_the_users_that_it_is_between() -> None:
    def node(name: str, dependencies: tuple[str, ...], *resources: str) -> FragmentNode:
        return FragmentNode(id=name, dependencies=dependencies, resources=resources)

    order = HappensBefore(
        [
            node("make-a", (), "a"),
            node("use-a", ("make-a",), "a", "b"),
            node("late-a", ("use-a",), "a", "d"),
            node("make-c", ("use-a",), "c"),
            node("use-c", ("late-a", "make-c"), "c"),
        ]
    )
    assert explain_clash("a", "b", order, "fenced") == (
        "`a` (used from `make-a` to `late-a`) and `b` (used by `use-a`), which are live "
        "together: `use-a` uses both"
    )
    assert explain_clash("a", "c", order, "fenced").endswith("`make-c` need not wait for `late-a`")
    assert explain_clash("a", "c", order, "concurrent").endswith(
        "`make-c` need not wait for `late-a`"
    )
    apart = HappensBefore(
        [node("f", (), "f"), node("g", (), "g"), node("h", ("g",), "h")],
    )
    assert explain_clash("f", "h", apart, "fenced") == (
        "`f` (used by `f`) and `h` (used by `h`), which no dependency separates: `h` need not wait "
        "for `f`, and only the order of other nodes keeps them apart"
    )
    interleaved = HappensBefore(
        [node("a1", (), "a"), node("b1", (), "b"), node("a2", (), "a"), node("b2", (), "b")]
    )
    assert explain_clash("a", "b", interleaved, "in-order").endswith(
        "`b1` runs before `a2` in plan order"
    )


def _node(name: str, *dependencies: str) -> FragmentNode:
    return FragmentNode(id=name, dependencies=dependencies, resources=())


def test_loops_are_shortest_and_one_for_each_group() -> None:
    order = HappensBefore(
        [
            _node("a", "d"),
            _node("b", "a"),
            _node("c", "b", "d"),
            _node("d", "c"),
            _node("e", "e"),
            _node("f", "g"),
            _node("g", "f"),
        ]
    )
    assert [sorted(loop) for loop in order.loops()] == [["c", "d"], ["e"], ["f", "g"]]


def test_bits() -> None:
    assert list(bits_of(0b101001)) == [0, 3, 5]
    assert list(bits_of(0)) == []


def test_the_graph_shows_order_places_and_uses() -> None:
    report = audit(sample("fragment"), prove=False).documents[0]
    nodes = sample("fragment")["nodes"]
    graph = report.graph
    assert graph is not None
    assert {name: graph.nodes[name] for name in graph} == {
        node["id"]: {"position": index, "resources": " ".join(node["resources"])}
        for index, node in enumerate(nodes)
    }
    assert set(graph.edges) == {
        (dependency, node["id"]) for node in nodes for dependency in node["dependencies"]
    }
    assert report.graph is graph
    assert nx.parse_graphml("\n".join(nx.generate_graphml(graph))).nodes == graph.nodes


def test_without_nodes_there_is_no_graph() -> None:
    assert audit(sample("memory-plan"), prove=False).documents[0].graph is None
    assert audit({}, prove=False).documents[0].graph is None


@pytest.mark.parametrize("kind", ["fragment", "problem", "bundle"])
def test_order_is_made_once_for_a_document(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    make = HappensBefore.__init__

    def counted(order: HappensBefore, nodes: Sequence[FragmentNode | PlanNode]) -> None:
        made.append(order)
        make(order, nodes)

    monkeypatch.setattr(HappensBefore, "__init__", counted)
    report = audit(sample(kind), prove=True)
    assert report.documents[0].graph is not None
    render(report, "html")
    assert len(made) == 1
