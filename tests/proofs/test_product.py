"""The product computes what the theorems speak of.

A theorem about first fit is worth nothing if the product runs another algorithm. So the product's
own functions are held to the plain definitions that the theorems' enumerations use.
"""

from __future__ import annotations

import itertools
import random

import pytest

from ferrum_verify.derive.slots import FEW, derive_step_slots
from ferrum_verify.derive.spans import NoCommonSpan, merge_spans
from ferrum_verify.documents.checkpoint import TokenSpan
from ferrum_verify.documents.demand import Tokens
from ferrum_verify.documents.fragment_node import FragmentNode
from ferrum_verify.documents.memory_plan import DynamicDescriptor
from ferrum_verify.documents.storage import LINEAR_CONTIGUOUS, StorageContract
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.plan import sharing
from ferrum_verify.plan.order import HappensBefore
from ferrum_verify.plan.sharing import slot_safety
from ferrum_verify.plan.sizes import align_up
from proofs.concrete_plan import ConcretePlan, every_plan
from proofs.machine import LARGEST


def random_plan(rng: random.Random) -> ConcretePlan:
    nodes, resources = rng.randint(2, 9), rng.randint(2, 7)
    pairs = itertools.combinations(range(nodes), 2)
    density = rng.random()
    return ConcretePlan(
        nodes,
        frozenset(pair for pair in pairs if rng.random() < density),
        tuple(
            frozenset(rng.sample(range(nodes), rng.randint(1, min(3, nodes))))
            for _ in range(resources)
        ),
    )


def order_of(plan: ConcretePlan) -> HappensBefore:
    return HappensBefore(
        [
            FragmentNode(
                id=f"n{node}",
                dependencies=tuple(f"n{i}" for i, j in sorted(plan.edges) if j == node),
                resources=tuple(f"r{r}" for r, users in enumerate(plan.users) if node in users),
            )
            for node in range(plan.nodes)
        ]
    )


def activation(resource: int) -> DynamicDescriptor:
    return DynamicDescriptor.model_construct(
        base_resource_id=f"r{resource}",
        demand=Tokens(bytes_per_token=1, maximum_tokens=1),
        alignment_bytes=1,
        usage="activations",
        element_type="u8",
        lifetime="step",
        kind="value",
        storage=StorageContract(profile=LINEAR_CONTIGUOUS, logical_layout_fingerprint="0" * 64),
        pool_id="pool",
        initialization="none",
        theoretical_maximum_instances=1,
    )


PLANS = [
    *itertools.islice(every_plan(3, 2), 0, None, 5),
    *(random_plan(random.Random(seed)) for seed in range(300)),
]


def test_its_closure_is_happens_before() -> None:
    for plan in PLANS:
        order = order_of(plan)
        for i, j in itertools.product(range(plan.nodes), repeat=2):
            assert order.precedes(i, j) == plan.precedes(i, j), plan


def test_its_slots_are_those_of_first_fit() -> None:
    for number, plan in enumerate(PLANS):
        retained = frozenset({0} if number % 3 == 0 else ())
        reusable = tuple(r not in retained for r in range(len(plan.users)))
        derived = derive_step_slots(
            [activation(r) for r in range(len(plan.users))],
            order_of(plan),
            frozenset(f"r{r}" for r in retained),
        )
        expected = sorted(
            tuple(sorted(f"r{r}" for r in slot)) for slot in plan.greedy_slots(reusable)
        )
        assert [slot.resource_ids for slot in derived] == expected, plan


@pytest.mark.parametrize("beside", [3, FEW, FEW + 1, FEW + 9])
def test_its_slots_are_those_of_first_fit_beyond_a_few_candidates(beside: int) -> None:
    """Resources side by side, then some that may follow any, some, or none of them."""
    rng = random.Random(beside)
    followers = 6
    edges = {
        (i, beside + k)
        for k in range(followers)
        for i in range(beside)
        if k < 3 or rng.random() < 0.9
    }
    plan = ConcretePlan(
        beside + followers,
        frozenset(edges),
        tuple(frozenset({i}) for i in range(beside + followers)),
    )
    everything = range(len(plan.users))
    derived = derive_step_slots([activation(r) for r in everything], order_of(plan), frozenset())
    expected = plan.greedy_slots(tuple(True for _ in everything))
    assert [slot.resource_ids for slot in derived] == sorted(
        tuple(sorted(f"r{r}" for r in slot)) for slot in expected
    )


def test_its_slots_are_of_what_a_step_uses_alone() -> None:
    plan = ConcretePlan(2, frozenset({(0, 1)}), (frozenset({0}), frozenset({1}), frozenset({0})))
    request = activation(2).model_copy(update={"lifetime": "request"})
    state = activation(1).model_copy(update={"usage": "state"})
    unused = activation(9)
    slots = derive_step_slots([activation(0), state, request, unused], order_of(plan), frozenset())
    # What is no activation keeps its bytes to itself, though it could follow.
    assert [(slot.kind, slot.resource_ids) for slot in slots] == [
        ("dedicated", ("r0",)),
        ("dedicated", ("r1",)),
    ]


def test_its_judgment_needs_a_life_and_names_so_many_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = ConcretePlan(4, frozenset(), tuple(frozenset({i}) for i in range(4)))
    assert slot_safety(["r0", "unused"], order_of(plan)) is None
    monkeypatch.setattr(sharing, "MOST_PAIRS", 4)
    safety = slot_safety([f"r{r}" for r in range(4)], order_of(plan))
    assert safety is not None
    assert len(safety.unsafe["concurrent"]) == 4
    assert safety.unnamed == ("fenced", "concurrent")
    assert not safety.safe("concurrent")
    assert safety.safe("in-order")


def test_its_judgment_of_sharing_is_the_definitions() -> None:
    for plan in PLANS:
        everything = range(len(plan.users))
        safety = slot_safety([f"r{r}" for r in everything], order_of(plan))
        assert safety is not None
        for model in ("in-order", "fenced", "concurrent"):
            judge = getattr(plan, model.replace("-", "_"))
            expected = {
                frozenset((f"r{a}", f"r{b}"))
                for a, b in itertools.combinations(everything, 2)
                if not judge(a, b)
            }
            found = {frozenset(pair) for name, pairs in safety.unsafe.items() if name == model
                     for pair in pairs}  # fmt: skip
            assert found == expected, (plan, model)


@pytest.mark.parametrize("shift", [0, 1, 4, 12, 63])
def test_its_rounding_is_the_least_multiple(shift: int) -> None:
    alignment = 1 << shift
    for size in (0, 1, 2, 17, 4095, 4096, 4097, 2**63, 2**63 + 1, LARGEST):
        least = next(k * alignment for k in itertools.count(size // alignment)
                     if k * alignment >= size)  # fmt: skip
        if least > LARGEST:
            with pytest.raises(SizeError):
                align_up(size, alignment)
        else:
            assert align_up(size, alignment) == least


def test_its_merge_permits_the_conjunction() -> None:
    rng = random.Random(5)
    for _ in range(300):
        spans = [
            TokenSpan(minimum_tokens=rng.randint(1, 30), alignment=rng.randint(1, 12))
            for _ in range(rng.randint(0, 4))
        ]
        merged = merge_spans(spans)
        for count in range(1, 150):
            assert merged.permits(count) == all(span.permits(count) for span in spans)


def test_its_merge_refuses_what_leaves_nothing() -> None:
    with pytest.raises(NoCommonSpan):
        merge_spans(
            [
                TokenSpan(minimum_tokens=1, alignment=2**63),
                TokenSpan(minimum_tokens=1, alignment=3),
            ]
        )
