"""Arms out of conditional jumps, and what a moved name stands for in each."""

from __future__ import annotations

import pytest

from ferrum_verify.importers.bindings import MOST_CASES, Bindings
from ferrum_verify.importers.drafting import MOST_NESTED
from ferrum_verify.importers.jumps import Jump, arms_of
from ferrum_verify.importers.unreadable import ForeignPlanError


def test_both_arms_of_a_conditional() -> None:
    found = arms_of(5, {0: Jump(3, "c"), 2: Jump(4, None)})
    yes, no = (("c", "true"),), (("c", "false"),)
    assert found.of == [(), yes, yes, no, ()]
    assert found.unread == []


def test_a_conditional_of_one_arm() -> None:
    assert arms_of(3, {0: Jump(2, "c")}).of == [(), (("c", "true"),), ()]


def test_conditionals_inside_of_each_other() -> None:
    found = arms_of(8, {0: Jump(6, "c"), 1: Jump(4, "d"), 3: Jump(5, None), 5: Jump(7, None)})
    yes = ("c", "true")
    assert found.of[2] == (yes, ("d", "true"))
    assert found.of[4] == (yes, ("d", "false"))
    assert found.of[6] == (("c", "false"),)
    assert found.of[7] == ()


@pytest.mark.parametrize("to", [0, 1, 9])
def test_jumps_of_no_conditional(to: int) -> None:
    assert arms_of(5, {1: Jump(to, "c")}).unread == [1]
    assert arms_of(5, {1: Jump(to, None)}).unread == [1]


def test_a_jump_out_of_its_conditional() -> None:
    assert arms_of(6, {0: Jump(3, "c"), 1: Jump(5, "d")}).unread == [1]


def test_deep_conditionals_are_refused() -> None:
    count = MOST_NESTED + 2
    with pytest.raises(ForeignPlanError, match="conditionals stand in each other"):
        arms_of(count + 1, {at: Jump(count + 1, f"c{at}") for at in range(count)})


def test_a_name_stands_for_what_each_arm_left() -> None:
    bindings = Bindings[int]()
    bindings.move(4, 2, (("c", "true"),))
    assert sorted(bindings.cases([2], ())) == [
        ((("c", "false"),), {2: 2}),
        ((("c", "true"),), {2: 4}),
    ]
    bindings.move(7, 2, (("c", "false"),))
    bindings.move(2, 3, ())
    assert sorted(bindings.cases([2, 3], ())) == [
        ((("c", "false"),), {2: 7, 3: 7}),
        ((("c", "true"),), {2: 4, 3: 4}),
    ]
    assert bindings.cases([3], (("c", "true"),)) == [((("c", "true"),), {3: 4})]


def test_where_arms_leave_the_same_they_make_no_difference() -> None:
    bindings = Bindings[int]()
    bindings.move(4, 2, (("c", "true"),))
    bindings.move(4, 2, (("c", "false"),))
    assert bindings.cases([2], ()) == [((), {2: 4})]


def test_too_many_combinations_are_refused() -> None:
    bindings = Bindings[int]()
    names = range(100, 100 + MOST_CASES.bit_length())
    for name in names:
        bindings.move(name + 100, name, ((f"c{name}", "true"),))
    with pytest.raises(ForeignPlanError, match="combinations of arms"):
        bindings.cases(names, ())
