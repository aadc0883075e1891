"""Lookups that take the place of comparing all with all, held to that comparison."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ferrum_verify.catalogue.samples import sample
from ferrum_verify.documents.primitives import element_count
from ferrum_verify.documents.weight import CompositePart, DenseLayout
from ferrum_verify.documents.weight_layout import _meet, _overlapping
from ferrum_verify.reading.parse import subject_of
from ferrum_verify.rules.captured_programs import _Covered
from ferrum_verify.rules.expected import Expected
from ferrum_verify.rules.lifetimes import _Lent, _Slot
from ferrum_verify.rules.value_packing import _next_of_another

SMALL = st.integers(0, 5)


def _blocks(rank: int) -> st.SearchStrategy[CompositePart]:
    extents = st.tuples(*[SMALL] * rank)
    layout = DenseLayout.model_construct(component_id="part")
    return st.builds(
        lambda offsets, extents: CompositePart.model_construct(
            logical_offsets=offsets, extents=extents, layout=layout
        ),
        extents,
        extents,
    )


NAMES = st.sampled_from("abc")


@given(st.lists(st.tuples(SMALL, st.sets(NAMES)), max_size=8), NAMES, SMALL, SMALL)
def test_the_last_node_that_is_lent_the_bytes(
    rows: list[tuple[int, set[str]]], resource: str, after: int, until: int
) -> None:
    pool = SimpleNamespace(
        invocation_liveness_mode="total_order_reuse",
        invocation_liveness=[
            SimpleNamespace(node_id=str(node), resource_ids=tuple(held)) for node, held in rows
        ],
    )
    facts: Any = SimpleNamespace(memory=SimpleNamespace(dynamic_pools=[pool]))
    lent = _Lent(facts, {str(node): node for node in range(6)})
    known = any(resource in held for _, held in rows)
    between = [
        node for node, held in rows if resource not in held and after < node < until and known
    ]
    assert lent.latest(resource, after, until) == max(between, default=None)


@given(st.dictionaries(NAMES, st.sets(SMALL, min_size=1), min_size=1), SMALL)
def test_the_next_user_of_another_member(users: dict[str, set[int]], index: int) -> None:
    order: Any = SimpleNamespace(users={name: sorted(each) for name, each in users.items()})
    for member in users:
        others = {user for name, each in users.items() if name != member for user in each}
        wanted = sorted(others - {index}, key=lambda user: (user < index, user))[:1]
        assert _Slot(users, order).taker(member, index) == wanted


@given(st.lists(st.tuples(SMALL, SMALL)), SMALL, SMALL)
def test_some_bucket_holds_a_batch(
    buckets: list[tuple[int, int]], sequences: int, tokens: int
) -> None:
    capacities: Any = [
        SimpleNamespace(maximum_sequences=one, maximum_tokens=other) for one, other in buckets
    ]
    held = any(one >= sequences and other >= tokens for one, other in buckets)
    assert _Covered(capacities).holds(sequences, tokens) == held


@given(st.lists(SMALL))
def test_the_next_place_of_another_group(groups: list[int]) -> None:
    for at, found in enumerate(_next_of_another(groups)):
        others = (place for place in range(at, len(groups)) if groups[place] != groups[at])
        assert found == next(others, len(groups))


def test_a_pool_with_a_forged_id_stands_for_the_group_of_its_members() -> None:
    document = sample("fragment")
    pools = document["memory"]["dynamic_pools"]
    for index, pool in enumerate(pools):
        pool["pool_id"] = f"dynamic-pool/sha256/{index:064x}"
    pools.append({**pools[0], "pool_id": "dynamic-pool/sha256/" + "f" * 64})
    subject, _ = subject_of(document)
    assert subject is not None
    assert subject.memory is not None
    facts = Expected(subject, subject.memory, "fenced")
    assert {index for index, _ in facts.pools.values()} == set(range(len(pools) - 1))
    assert [index for index, _ in facts.strays] == [len(pools) - 1]
    for group, (_, pool) in facts.pools.items():
        assert pool.resource_ids == tuple(row.base_resource_id for row in facts.groups[group])


@given(st.integers(1, 2).flatmap(lambda rank: st.lists(_blocks(rank), min_size=2, max_size=6)))
def test_parts_that_overlap(parts: list[CompositePart]) -> None:
    pairs = {
        (one, other)
        for other in range(len(parts))
        for one in range(len(parts))
        if one != other and _meet(parts[one], parts[other])
    }
    assert (_overlapping(parts) in pairs) if pairs else (_overlapping(parts) is None)


def test_a_shape_of_a_million_dimensions_has_more_elements_than_are_counted() -> None:
    assert element_count([3] * 1_000_000) == 2**64
    assert element_count([2**32, 2**31]) == 2**63
