"""The symbolic plan says of every small plan what the concrete plan does."""

from __future__ import annotations

import itertools

import pytest
import z3

from proofs.concrete_plan import ConcretePlan, every_plan
from proofs.machine import LARGEST, Storage, align_up, constant
from proofs.slots import first_fit, forward_first_fit
from proofs.symbolic_plan import SymbolicPlan


def pinned(plan: ConcretePlan) -> tuple[SymbolicPlan, list[z3.BoolRef]]:
    symbolic = SymbolicPlan(plan.nodes, len(plan.users))
    exactly = symbolic.is_exactly(set(plan.edges), [set(users) for users in plan.users])
    return symbolic, [*symbolic.definitions, *exactly]


@pytest.mark.parametrize("nodes", [1, 2, 3])
def test_sharing_means_the_same(nodes: int) -> None:
    for plan in itertools.islice(every_plan(nodes, 2), 0, None, 3):
        symbolic, given = pinned(plan)
        solver = z3.Solver()
        solver.add(*given)
        assert solver.check() == z3.sat
        model = solver.model()
        for name in ("in_order", "fenced", "concurrent"):
            formula = getattr(symbolic, name)(0, 1)
            says = z3.is_true(model.eval(formula, model_completion=True))
            assert says == getattr(plan, name)(0, 1), (plan, name)


@pytest.mark.parametrize("encode", [first_fit, forward_first_fit])
def test_first_fit_gives_the_same_slots(encode: object) -> None:
    assert callable(encode)
    for plan in itertools.islice(every_plan(4, 3), 0, None, 6007):
        order = plan.by_users()
        numbered = ConcretePlan(plan.nodes, plan.edges, tuple(plan.users[r] for r in order))
        for reusable in ((True, True, True), (True, False, True)):
            symbolic, given = pinned(numbered)
            slots = encode(symbolic, [z3.BoolVal(flag) for flag in reusable])
            solver = z3.Solver()
            solver.add(*given, *symbolic.sorted_by_users(), *slots.definitions)
            assert solver.check() == z3.sat
            model = solver.model()
            together = {
                pair
                for pair in itertools.combinations(range(3), 2)
                if z3.is_true(model.eval(slots.together(*pair), model_completion=True))
            }
            expected = {
                pair
                for slot in numbered.greedy_slots(reusable)
                for pair in itertools.combinations(sorted(slot), 2)
            }
            assert together == expected, (numbered, reusable)


def test_rounding_means_the_same() -> None:
    sizes = [0, 1, 2, 3, 255, 256, 257, 2**63, LARGEST - 1, LARGEST]
    for size, shift in itertools.product(sizes, (0, 1, 3, 12, 40, 63)):
        up = align_up(constant(size), constant(1 << shift))
        expected = -(-size // (1 << shift)) << shift
        assert z3.is_true(z3.simplify(up.fits)) == (expected <= LARGEST)
        if expected <= LARGEST:
            assert z3.simplify(up.value).as_long() == expected


def test_quantizing_means_the_same() -> None:
    for size, alignment, block in itertools.product((1, 17, 4096, 5000), (1, 16, 64), (0, 8, 4096)):
        storage = Storage(constant(alignment), z3.BoolVal(block > 0), constant(max(block, 1)))
        aligned = -(-size // alignment) * alignment
        expected = -(-aligned // block) * block if block else aligned
        assert z3.simplify(storage.quantize(constant(size)).value).as_long() == expected
