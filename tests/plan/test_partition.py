"""Bound and partition against brute force and networkx, over relations of any kind."""

from __future__ import annotations

from itertools import combinations
from random import Random

import networkx as nx
import pytest

from ferrum_verify.plan.partition import best_partition, partition_bytes
from ferrum_verify.plan.unordered import least_bytes, levels
from tests.definition.best_slots import partitions


def drawn(seed: int, most: int) -> tuple[list[int], list[int]]:
    """Sizes, and for each member as bits those that may share with it by coming first."""
    random = Random(seed)
    count, density, transitive = random.randint(1, most), random.random(), random.random() < 0.5
    before = [0] * count
    for member in range(count):
        for earlier in range(member):
            if random.random() < density:
                before[member] |= 1 << earlier | (before[earlier] if transitive else 0)
    return [random.choice([1, 2, 3, 5, 8]) for _ in before], before


def may_share(before: list[int], one: int, other: int) -> bool:
    return bool(before[max(one, other)] >> min(one, other) & 1)


def least(sizes: list[int], before: list[int]) -> int:
    names = [str(member) for member in range(len(sizes))]
    return min(
        sum(max(sizes[int(name)] for name in part) for part in parted)
        for parted in partitions(names)
        if all(
            may_share(before, int(one), int(other))
            for part in parted
            for one, other in combinations(part, 2)
        )
    )


@pytest.mark.parametrize("seed", range(150))
def test_the_optimum_is_between_the_bound_and_what_is_found(seed: int) -> None:
    sizes, before = drawn(seed, 7)
    bound = least_bytes(levels(sizes, before))
    found = best_partition(sizes, before, bound)
    taken = partition_bytes(found.slots, sizes)
    assert sorted(member for slot in found.slots for member in slot) == list(range(len(sizes)))
    assert all(
        may_share(before, one, other)
        for slot in found.slots
        for one, other in combinations(slot, 2)
    )
    assert bound <= least(sizes, before) <= taken
    if found.exhausted or taken == bound:
        assert taken == least(sizes, before)


@pytest.mark.parametrize("seed", range(60))
def test_each_level_is_unordered_and_no_smaller_than_a_cover_by_paths(seed: int) -> None:
    sizes, before = drawn(seed, 40)
    for level in levels(sizes, before):
        assert not any(may_share(before, *pair) for pair in combinations(level.members, 2))
        assert all(sizes[member] >= level.size for member in level.members)
        present = [member for member, size in enumerate(sizes) if size >= level.size]
        graph: nx.Graph[tuple[str, int]] = nx.Graph()
        graph.add_nodes_from(("later", member) for member in present)
        graph.add_edges_from(
            (("later", later), ("earlier", earlier))
            for earlier, later in combinations(present, 2)
            if may_share(before, earlier, later)
        )
        tops = [("later", member) for member in present]
        matched = nx.bipartite.hopcroft_karp_matching(graph, tops)
        assert len(level.members) >= len(present) - len(matched) // 2


def test_first_fit_is_mended_where_it_is_not_least() -> None:
    # Each may share with its neighbours. First fit puts the two largest together, and then the
    # outer two have nobody left.
    sizes, before = [2, 3, 3, 2], [0b0000, 0b0001, 0b0010, 0b0100]
    found = best_partition(sizes, before, least_bytes(levels(sizes, before)))
    assert sorted(map(sorted, found.slots)) == [[0, 1], [2, 3]]


def test_a_pool_of_very_many_members_is_not_searched() -> None:
    sizes, before = drawn(3, 9)
    alone = 200
    found = best_partition([9] * alone + sizes, [0] * alone + [bits << alone for bits in before], 0)
    assert not found.exhausted
