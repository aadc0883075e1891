"""Statements that are almost the theorems are refuted, and the refutations are real.

Each mutation leaves out a premise or is off by one. The solver must find a counterexample, and
plain Python, which knows nothing of the formula, must agree that it is one.
"""

from __future__ import annotations

import itertools
from typing import Any

import z3

from proofs.concrete_plan import ConcretePlan
from proofs.logic import every, some
from proofs.machine import LARGEST, align_up, any_storage, constant, power_of_two, wide, word
from proofs.slots import first_fit
from proofs.symbolic_plan import SymbolicPlan


def counterexample(*assertions: z3.BoolRef) -> z3.ModelRef:
    """The model of assertions that a true statement would contradict."""
    solver = z3.Solver()
    solver.set("rlimit", 500_000_000)  # work, not seconds: a busy machine finds the model too
    solver.add(*assertions)
    assert solver.check() == z3.sat
    return solver.model()


def numbers(model: z3.ModelRef, *terms: z3.ExprRef) -> list[int]:
    """The values of the terms in the model."""
    return [model.eval(term, model_completion=True).as_long() for term in terms]


def concrete(model: z3.ModelRef, plan: SymbolicPlan) -> ConcretePlan:
    """The plan that the model describes, rebuilt from its edges and uses alone."""

    def holds(term: Any) -> bool:
        return bool(z3.is_true(model.eval(term, model_completion=True)))

    return ConcretePlan(
        len(plan.nodes),
        frozenset(pair for pair, edge in plan.edge.items() if holds(edge)),
        tuple(frozenset(i for i in plan.nodes if holds(plan.use[r][i])) for r in plan.resources),
    )


def rounded(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def test_rounding_up_without_a_power_of_two() -> None:
    size, alignment = word("size"), word("alignment")
    up = align_up(size, alignment)
    model = counterexample(alignment != 0, up.fits, z3.URem(up.value, alignment) != 0)
    s, a = numbers(model, size, alignment)
    assert ((s + a - 1) & ~(a - 1)) % a != 0
    assert a & (a - 1) != 0


def test_rounding_up_without_the_overflow_check() -> None:
    size, alignment = word("size"), word("alignment")
    up = align_up(size, alignment)
    model = counterexample(power_of_two(alignment), z3.ULT(up.value, size))
    s, a = numbers(model, size, alignment)
    assert rounded(s, a) > LARGEST


def test_padding_off_by_one() -> None:
    size, alignment = word("size"), word("alignment")
    up = align_up(size, alignment)
    model = counterexample(
        power_of_two(alignment), up.fits, z3.Not(z3.ULT(up.value - size, alignment - 1))
    )
    s, a = numbers(model, size, alignment)
    assert rounded(s, a) - s == a - 1


def test_an_overflow_check_off_by_one() -> None:
    size, alignment = word("size"), word("alignment")
    strict = z3.ULT(size, constant(LARGEST) - (alignment - 1))
    up = align_up(size, alignment)
    model = counterexample(power_of_two(alignment), z3.Not(strict), up.fits)
    s, a = numbers(model, size, alignment)
    assert rounded(s, a) <= LARGEST


def test_quantization_strictly_monotone() -> None:
    storage, small, large = any_storage(), word("small"), word("large")
    low, high = storage.quantize(small), storage.quantize(large)
    model = counterexample(
        *storage.legal(), low.fits, high.fits, z3.ULT(small, large), low.value == high.value
    )
    s, t, a, b = numbers(model, small, large, storage.alignment, storage.block)
    quantum = max(a, b) if z3.is_true(model.eval(storage.in_blocks)) else a
    assert s < t
    assert rounded(s, quantum) == rounded(t, quantum)


def test_quantization_additive() -> None:
    left, right, quantum = word("left"), word("right"), word("quantum")
    apart = wide(align_up(left, quantum).value, 65) + wide(align_up(right, quantum).value, 65)
    whole = align_up(left + right, quantum)
    model = counterexample(
        power_of_two(quantum),
        whole.fits,
        z3.ULE(left, constant(LARGEST) - right),
        align_up(left, quantum).fits,
        align_up(right, quantum).fits,
        wide(whole.value, 65) != apart,
    )
    x, y, q = numbers(model, left, right, quantum)
    assert rounded(x + y, q) < rounded(x, q) + rounded(y, q)


def test_a_product_as_a_machine_word_is_not_monotone() -> None:
    each, few, many = word("each"), word("few"), word("many")
    model = counterexample(z3.ULE(few, many), z3.UGT(each * few, each * many))
    e, f, m = numbers(model, each, few, many)
    assert f <= m
    assert e * f % 2**64 > e * m % 2**64
    assert e * m > LARGEST


def test_a_staircase_that_shrinks() -> None:
    small, large, edge, first, second = z3.Ints("small large edge first second")
    model = counterexample(
        small >= 1,
        small <= large,
        edge >= 1,
        first >= 1,
        second >= 1,
        z3.If(small <= edge, first, second) > z3.If(large <= edge, first, second),
    )
    s, t, e, f, g = numbers(model, small, large, edge, first, second)
    assert (f if s <= e else g) > (f if t <= e else g)
    assert g < f


def test_a_sweep_that_allows_gaps() -> None:
    offset, size, other, other_size, byte = z3.Ints("offset size other other.size byte")
    end = other + other_size
    held = z3.Or(z3.And(offset <= byte, byte < offset + size), z3.And(other <= byte, byte < end))
    model = counterexample(
        offset == 0, size > 0, other >= offset + size, other_size > 0, byte >= 0, byte < end,
        z3.Not(held),
    )  # fmt: skip
    s, o, b = numbers(model, size, other, byte)
    assert s <= b < o


def test_a_sweep_that_allows_overlap() -> None:
    size, other, other_size, byte = z3.Ints("size other other.size byte")
    model = counterexample(
        size > 0, other >= 0, other <= size, other_size > 0, byte >= 0, byte < size,
        other <= byte, byte < other + other_size,
    )  # fmt: skip
    s, o, n, b = numbers(model, size, other, other_size, byte)
    assert b in range(s)
    assert b in range(o, o + n)


def test_a_sweep_whose_end_wraps() -> None:
    end, size, byte = word("end"), word("size"), word("byte")
    held_before, held = z3.ULT(byte, end), z3.ULT(byte - end, size)
    model = counterexample(z3.UGT(size, 0), held_before, held, z3.UGE(byte, 1))
    e, s, b = numbers(model, end, size, byte)
    assert e + s > LARGEST
    assert b in range(e)
    assert (b - e) % 2**64 < s


def test_merging_by_the_product() -> None:
    n, a, b = z3.Ints("n a b")
    model = counterexample(a >= 1, b >= 1, n >= 1, n % a == 0, n % b == 0, n % (a * b) != 0)
    count, x, y = numbers(model, n, a, b)
    assert count % x == 0 == count % y
    assert count % (x * y) != 0


def test_merging_by_the_lesser_minimum() -> None:
    n, first, second = z3.Ints("n first second")
    model = counterexample(
        n >= z3.If(first <= second, first, second), z3.Not(z3.And(n >= first, n >= second))
    )
    count, x, y = numbers(model, n, first, second)
    assert min(x, y) <= count < max(x, y)


def test_the_combination_that_is_not_one() -> None:
    n, g, a, b, x, y, q = z3.Ints("n g a b x y q")
    model = counterexample(
        n == g * a * x, n == g * b * y, g == 1, a == 2, b == 2, n == 2, q >= 0, q <= 2,
        every(n != g * a * b * z3.IntVal(k) for k in range(3)),
    )  # fmt: skip
    (count,) = numbers(model, n)
    assert count % 2 == 0
    assert count % 4 != 0


def test_the_largest_row_when_two_are_live() -> None:
    sizes, live = z3.Ints("s0 s1 s2"), z3.Bools("l0 l1 l2")
    held = z3.Sum([z3.If(on, size, 0) for on, size in zip(live, sizes, strict=True)])
    model = counterexample(*(size >= 0 for size in sizes), every(held > size for size in sizes))
    values = numbers(model, *sizes)
    on = [z3.is_true(model.eval(flag, model_completion=True)) for flag in live]
    assert sum(itertools.compress(values, on)) > max(values)
    assert sum(on) >= 2


def test_a_carry_check_off_by_one() -> None:
    total, addend = word("total"), word("addend")
    refused = z3.UGE(addend, constant(LARGEST) - total)
    model = counterexample(refused, z3.ULE(wide(total, 65) + wide(addend, 65), LARGEST))
    t, a = numbers(model, total, addend)
    assert t + a == LARGEST


def test_bisection_that_stops_one_step_early() -> None:
    low, high, value = z3.Ints("low high value")
    fits = z3.Function("fits", z3.IntSort(), z3.BoolSort())
    model = counterexample(
        fits(low), z3.Not(fits(high)), low + 2 == high, fits(value), value > low, value < high
    )
    a, b, v = numbers(model, low, high, value)
    assert (a, v, b) == (a, a + 1, a + 2)


def test_first_fit_that_looks_at_the_last_member_only() -> None:
    plan = SymbolicPlan(5, 3)
    slot = every([plan.fenced(0, 1), plan.fenced(1, 2)])  # each newcomer against the last member
    model = counterexample(
        *plan.definitions, *plan.sorted_by_users(), slot, z3.Not(plan.fenced(0, 2))
    )
    found = concrete(model, plan)
    assert found.fenced(0, 1)
    assert found.fenced(1, 2)
    assert not found.fenced(0, 2)
    assert len(found.edges) >= 2


def test_first_fit_that_forgets_what_may_not_be_shared() -> None:
    plan = SymbolicPlan(4, 2)
    slots = first_fit(plan, [z3.BoolVal(True)] * 2)
    retained = z3.Bool("retained")
    model = counterexample(
        *plan.definitions, *plan.sorted_by_users(), *slots.definitions, retained,
        slots.together(0, 1),
    )  # fmt: skip
    found = concrete(model, plan)
    assert [0, 1] in [sorted(slot) for slot in found.greedy_slots()]
    assert [0, 1] not in [sorted(slot) for slot in found.greedy_slots((False, True))]


def test_in_order_sharing_off_by_one() -> None:
    plan = SymbolicPlan(3, 2)
    at_most = every(
        z3.Not(z3.And(plan.use[0][i], plan.use[1][j]))
        for i in plan.nodes
        for j in plan.nodes
        if i > j
    )
    model = counterexample(*plan.definitions, at_most, z3.Not(plan.in_order(0, 1)))
    found = concrete(model, plan)
    assert not found.in_order(0, 1)
    assert max(found.users[0]) == min(found.users[1])


def test_ancestors_that_are_only_dependencies() -> None:
    plan = SymbolicPlan(4, 1)
    model = counterexample(
        *plan.definitions,
        some(z3.And(plan.reaches[pair], z3.Not(plan.edge[pair])) for pair in plan.pairs),
    )
    found = concrete(model, plan)
    assert any(found.precedes(*pair) and pair not in found.edges for pair in plan.pairs)


def test_concurrent_sharing_by_last_and_first_users_only() -> None:
    plan = SymbolicPlan(3, 2)
    model = counterexample(*plan.definitions, plan.fenced(0, 1), z3.Not(plan.concurrent(0, 1)))
    found = concrete(model, plan)
    assert found.fenced(0, 1)
    assert not found.concurrent(0, 1)
