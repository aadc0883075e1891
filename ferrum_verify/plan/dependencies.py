"""Missing dependencies: which ones put an order on pairs of nodes that have none.

Nodes are positions in plan order, and only a later node can wait for an earlier one. Two answers
differ. *Least order*: of all dependencies that order the wanted pairs and nothing that does not
follow from them, the fewest are the transitive reduction of the order and the pairs together, less
what is there already; it is unique. *Fewest*: there may be fewer where more order than is wanted
does no harm. That is a covering problem, and solved exactly for one or two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ferrum_verify.plan.order import HappensBefore

Edge = tuple[int, int]
"""A dependency, or a pair that wants one: the node that is waited for, and the one that waits."""


class Fewest(NamedTuple):
    """Dependencies that order all pairs; ``exact`` says that no fewer do."""

    edges: list[Edge]
    exact: bool


def least_order(order: HappensBefore, pairs: Iterable[Edge]) -> list[Edge]:
    """The dependencies that order the pairs and add no order that does not follow from them.

    Each pair has the earlier node first.
    """
    wanted: dict[int, int] = {}
    for earlier, later in pairs:
        wanted[later] = wanted.get(later, 0) | 1 << earlier
    closure: list[int] = []
    edges: list[Edge] = []
    for node, _ in enumerate(order.nodes):
        before = 0
        for earlier in order.earlier(node):
            before |= closure[earlier] | 1 << earlier
        # From the latest on: what one dependency implies is not added as another.
        while missing := wanted.get(node, 0) & ~before:
            latest = missing.bit_length() - 1
            edges.append((latest, node))
            before |= closure[latest] | 1 << latest
        closure.append(before)
    return edges


def fewest(order: HappensBefore, pairs: Sequence[Edge]) -> Fewest:
    """As few dependencies as are found that order all pairs, whatever else they order.

    A dependency orders a pair where what is waited for is the pair's first node or comes after
    it, and what waits is the second or comes before it. Pairs that one dependency can order
    together are one group; a pair joins the first group that has room for it.
    """
    chosen = least_order(order, pairs)
    edges = {edge for group in _groups(order, chosen) if (edge := group.edge) is not None}
    if len(edges) < len(chosen):
        chosen = sorted(edges)
    # Where one does not do, two are the fewest.
    return Fewest(chosen, exact=len(chosen) < 2 or (len(chosen) == 2 and not _one(order, pairs)))


class _Group(NamedTuple):
    """Nodes that all first nodes of some pairs precede, and nodes that precede all second ones."""

    after: int
    before: int

    @property
    def edge(self) -> Edge | None:
        """The dependency that orders all pairs and adds the least order that way, if any does."""
        if not self.after or not self.before:
            return None
        edge = (self.after & -self.after).bit_length() - 1, self.before.bit_length() - 1
        return edge if edge[0] < edge[1] else None

    def joined(self, other: _Group) -> _Group:
        """The pairs of both."""
        return _Group(self.after & other.after, self.before & other.before)


def _groups(order: HappensBefore, pairs: Iterable[Edge]) -> list[_Group]:
    groups: list[_Group] = []
    for pair in _alone(order, pairs):
        place = next(
            (at for at, group in enumerate(groups) if group.joined(pair).edge is not None), None
        )
        if place is None:
            groups.append(pair)
        else:
            groups[place] = groups[place].joined(pair)
    return groups


def _one(order: HappensBefore, pairs: Iterable[Edge]) -> bool:
    whole = _Group(-1, -1)
    for pair in _alone(order, pairs):
        whole = whole.joined(pair)
    return whole.edge is not None


def _alone(order: HappensBefore, pairs: Iterable[Edge]) -> list[_Group]:
    ancestors = order.ancestors
    after = [1 << node for node, _ in enumerate(ancestors)]
    for node in reversed(range(len(ancestors))):
        for earlier in order.earlier(node):
            after[earlier] |= after[node]
    return [
        _Group(after[earlier], ancestors[later] | 1 << later)
        for earlier, later in pairs
        if not ancestors[later] >> earlier & 1
    ]


def longest_path(dependencies: Sequence[Sequence[int]]) -> int:
    """How many nodes the longest path of dependencies has: what no schedule can shorten."""
    lengths: list[int] = []
    for earlier in dependencies:
        lengths.append(1 + max((lengths[each] for each in earlier), default=0))
    return max(lengths, default=0)
