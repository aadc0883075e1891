"""The largest growth of a demand: the candidates against every shape, and against the solver."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from ferrum_verify.contracts.growth import largest_growth
from ferrum_verify.contracts.growth import refused_shape as refused_terms
from ferrum_verify.contracts.plan_memory import MEMORY_GREW
from ferrum_verify.counterexamples import Shape
from ferrum_verify.documents.demand import (
    ActualSequences,
    Affine,
    BoundedShapeBuckets,
    Demand,
    Fixed,
    Pages,
    ShapeBucket,
    Tokens,
)
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.documents.storage import LINEAR_CONTIGUOUS, FixedBlockArena, StorageProfile
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.plan.sizes import Claim

SEQUENCES, TOKENS = 3, 9
LIMITS = Shape(SEQUENCES, TOKENS, U64_MAX)
SHAPES = [Shape(*counts) for counts in product(range(1, 4), range(1, 10), range(1, 8))]


def blocks(size: int) -> StorageProfile:
    return StorageProfile(allocator=FixedBlockArena(block_bytes=size), view="contiguous")


def tokens(each: int, most: int = TOKENS) -> Tokens:
    return Tokens(bytes_per_token=each, maximum_tokens=most)


def claim(demand: Demand, alignment: int = 1, profile: StorageProfile = LINEAR_CONTIGUOUS) -> Claim:
    return Claim(demand.terms, alignment, profile.blocks)


def refused_shape(base: Demand, head: Demand, limits: Shape) -> Shape | None:
    return refused_terms(base.terms, head.terms, limits)


def random_staircase(random: Random) -> BoundedShapeBuckets:
    steps = []
    capacity, size = [1, random.randint(1, 3), 1], random.randint(1, 50)
    for _ in range(random.randint(1, 4)):
        steps.append(
            ShapeBucket(
                maximum_sequences=capacity[0],
                maximum_tokens=capacity[1],
                maximum_pages=capacity[2],
                bytes=size,
            )
        )
        capacity[random.randrange(3)] += 1
        capacity[1] += random.randint(0, 3)
        size += random.randint(0, 60)
    return BoundedShapeBuckets(buckets=tuple(steps))


def random_claim(random: Random) -> Claim:
    each = [random.choice([1, 3, 5, 7, 8, 12, 16, 24, 31, 40]) for _ in range(3)]
    forms: list[Demand] = [
        Fixed(bytes=each[0]),
        ActualSequences(bytes_per_sequence=each[0], maximum_sequences=SEQUENCES),
        tokens(each[0]),
        Affine(
            fixed_bytes=each[0],
            bytes_per_sequence=each[1],
            maximum_sequences=SEQUENCES,
            bytes_per_token=each[2],
            maximum_tokens=TOKENS,
        ),
        Pages(bytes_per_page=each[0], maximum_pages=random.randint(1, 6)),
        random_staircase(random),
    ]
    profile = random.choice([LINEAR_CONTIGUOUS, blocks(8), blocks(32), blocks(64)])
    return claim(random.choice(forms), random.choice([1, 4, 16, 64]), profile)


def grown_at(base: Claim, head: Claim, shape: Shape) -> int | None:
    try:
        return head.bytes_at(shape) - base.bytes_at(shape)
    except SizeError:
        return None


@pytest.mark.parametrize("seed", range(6))
def test_every_pair_of_forms_against_every_shape(seed: int) -> None:
    random = Random(seed)
    for _ in range(150):
        base, head = random_claim(random), random_claim(random)
        growth = largest_growth(base, head, LIMITS)
        largest = max(
            grown for shape in SHAPES if (grown := grown_at(base, head, shape)) is not None
        )
        assert growth.grown == growth.at_most == largest
        assert grown_at(base, head, growth.shape) == largest


def test_the_solver_knows_no_larger_growth() -> None:
    from ferrum_verify.contracts.claims import bounded_growth, discharge
    from ferrum_verify.limits import Limits

    random = Random(11)
    questions = []
    for _ in range(60):
        base, head = random_claim(random), random_claim(random)
        most = largest_growth(base, head, LIMITS).at_most
        questions.append(
            bounded_growth("growth", base, head, most, LIMITS, rule=MEMORY_GREW, place="")
        )
        # One byte less is contradicted, so the bound is tight and the encoding not vacuous.
        less = bounded_growth("less", base, head, most - 1, LIMITS, rule=MEMORY_GREW, place="")
        questions.append(less._replace(answer=()))
    discharged = discharge(questions, Limits())
    assert discharged.findings == []
    assert (discharged.counts.proved, discharged.counts.refuted) == (60, 60)


def test_the_smallest_of_equal_shapes() -> None:
    growth = largest_growth(claim(Fixed(bytes=64)), claim(Fixed(bytes=96)), LIMITS)
    assert (growth.shape, growth.before, growth.after) == (Shape(1, 1, 1), 64, 96)
    # From 5 tokens on both are rounded up alike.
    growth = largest_growth(claim(tokens(16), 64), claim(tokens(17), 64), LIMITS)
    assert (growth.shape.tokens, growth.grown) == (4, 64)


def test_without_a_base_all_is_growth() -> None:
    growth = largest_growth(None, claim(tokens(100), 64), LIMITS)
    assert (growth.shape, growth.before, growth.after) == (Shape(1, 9, 1), 0, 960)


def test_less_memory_is_no_growth() -> None:
    growth = largest_growth(claim(tokens(64)), claim(tokens(32)), LIMITS)
    assert (growth.shape, growth.grown) == (Shape(1, 1, 1), -32)


def test_too_many_odd_shapes_give_a_bound() -> None:
    def odd(sequence: int, token: int) -> Affine:
        return Affine(
            fixed_bytes=1,
            bytes_per_sequence=sequence,
            maximum_sequences=100_000,
            bytes_per_token=token,
            maximum_tokens=100_000,
        )

    base, head = claim(odd(3, 5), 65_536), claim(odd(5, 9), 65_536)
    growth = largest_growth(base, head, Shape(100_000, 100_000, U64_MAX))
    assert growth.grown <= growth.at_most < growth.grown + 2 * 65_536
    assert growth.shape == Shape(100_000, 100_000, 1)


def test_a_shape_that_is_refused() -> None:
    assert refused_shape(tokens(8, 9), tokens(8, 5), LIMITS) == Shape(1, 6, 1)
    assert refused_shape(tokens(8, 5), tokens(8, 9), LIMITS) is None
    assert refused_shape(Fixed(bytes=1), tokens(8, 4), LIMITS) == Shape(1, 5, 1)
    pages = Pages(bytes_per_page=8, maximum_pages=4)
    # Nothing says how many pages there can be where no demand counts them.
    assert refused_shape(Fixed(bytes=1), pages, LIMITS) is None
    assert refused_shape(Pages(bytes_per_page=8, maximum_pages=5), pages, LIMITS) == Shape(1, 1, 5)


def test_what_has_no_size() -> None:
    nothing = BoundedShapeBuckets(buckets=())
    for base, head in (
        (None, nothing),
        (tokens(8), nothing),
        (nothing, tokens(8)),
        (tokens(8, 0), tokens(8)),
        (tokens(8), tokens(U64_MAX)),
    ):
        with pytest.raises(SizeError):
            largest_growth(None if base is None else claim(base), claim(head), LIMITS)
