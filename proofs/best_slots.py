"""How few bytes slots can take: the bound that a certificate shows, and where first fit ends.

The bound is counting. That a slot holds one member of an unordered set at most is a matter of
uninterpreted functions; that levels add up is linear integers, by induction over the levels. First
fit is followed on a handful of members with any relation and any sizes, whatever plan they are of.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, excludes, exhibits, proves

from .logic import every, some

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MEMBER = z3.DeclareSort("Member")
SLOT = z3.DeclareSort("Slot")
SHARE = z3.Function("may_share", MEMBER, MEMBER, z3.BoolSort())
SLOT_OF = z3.Function("slot_of", MEMBER, SLOT)
GAP_SIZES, GAP_PAIRS = (3, 3, 2, 2), frozenset({(0, 1), (0, 2), (1, 3)})


def levels(_: Scale) -> Iterator[Check]:
    """Prove that unordered sets, level by level, bound every partition."""
    a, b = z3.Consts("a b", MEMBER)
    yield from proves(
        "apart",
        "If the members of one slot may share, then two that may not are in different slots; so "
        "there are as many slots as an unordered set has members, each as large as one of them.",
        "QF_UF",
        SLOT_OF(a) != SLOT_OF(b),
        (z3.Implies(SLOT_OF(a) == SLOT_OF(b), SHARE(a, b)), z3.Not(SHARE(a, b))),
    )
    size, lower, told = z3.Ints("size lower told")
    yield from proves(
        "heights",
        "If the steps of the levels up to the next lower size add up to that size, then with the "
        "step from there they add up to this size: a slot takes one step of each level that its "
        "largest member reaches.",
        "QF_LIA",
        told + (size - lower) == size,
        (told == lower, lower >= 0, size > lower),
    )
    taken, bound, step, slots, members = z3.Ints("taken bound step slots members")
    yield from proves(
        "sum",
        "If the slots take no less than the bound in the levels so far, and no fewer slots reach "
        "the next level than its set has members, then with that level's step they take no less.",
        "QF_NIA",
        taken + step * slots >= bound + step * members,
        (taken >= bound, slots >= members, step > 0, members >= 0),
    )


def uncovered(_: Scale) -> Iterator[Check]:
    """Prove that a cover of all pairs that may share leaves an unordered set."""
    a, b = z3.Consts("a b", MEMBER)
    before = z3.Function("may_come_before", MEMBER, MEMBER, z3.BoolSort())
    earlier = z3.Function("covered_as_earlier", MEMBER, z3.BoolSort())
    later = z3.Function("covered_as_later", MEMBER, z3.BoolSort())
    yield from proves(
        "unordered",
        "If every pair that may share is covered on one side, then of two members that are covered "
        "on neither side none may come before the other. Nothing is asked of the relation, so it "
        "holds under the fenced model too, which is not transitive.",
        "QF_UF",
        z3.Not(z3.Or(before(a, b), before(b, a))),
        (
            *(
                z3.Implies(before(one, other), z3.Or(earlier(one), later(other)))
                for one, other in ((a, b), (b, a))
            ),
            *(z3.Not(side(member)) for member in (a, b) for side in (earlier, later)),
        ),
    )
    count, matched, covered = z3.Ints("count matched covered")
    yield from proves(
        "as-many",
        "If the cover has as many sides as the matching has pairs, it covers no more members than "
        "that; so those it leaves are at least as many as paths without a common member need to "
        "hold all, which are the members less the matched pairs.",
        "QF_LIA",
        count - covered >= count - matched,
        (covered <= matched, matched <= count, covered >= 0),
    )


class Members:
    """So many members, the largest first, with any sizes and any relation of who may share."""

    def __init__(self, count: int) -> None:
        self.sizes = [z3.Int(f"size.{member}") for member in range(count)]
        self.share = {
            pair: z3.Bool("share.{}.{}".format(*pair))
            for pair in itertools.combinations(range(count), 2)
        }
        self.given = [size > 0 for size in self.sizes]
        self.given += [high >= low for high, low in itertools.pairwise(self.sizes)]

    def first_fit(self, name: str) -> tuple[list[z3.BoolRef], z3.ArithRef]:
        """Each member joins the first slot all of whose members it may share with."""
        slots = [z3.Int(f"{name}.{member}") for member, _ in enumerate(self.sizes)]
        rules: list[z3.BoolRef] = []
        for member, slot in enumerate(slots):
            fits = [
                every(
                    z3.Implies(slots[other] == place, self.share[other, member])
                    for other in range(member)
                )
                for place in range(member + 1)
            ]
            rules.append(
                some(
                    z3.And(slot == place, fits[place], *map(z3.Not, fits[:place]))
                    for place in range(member + 1)
                )
            )
        return rules, self._bytes(slots)

    def any_partition(self, name: str) -> tuple[list[z3.BoolRef], z3.ArithRef]:
        """Any slots whose members may share with each other."""
        slots = [z3.Int(f"{name}.{member}") for member, _ in enumerate(self.sizes)]
        legal = [
            z3.Implies(slots[one] == slots[other], may) for (one, other), may in self.share.items()
        ]
        return legal, self._bytes(slots)

    def _bytes(self, slots: Sequence[z3.ArithRef]) -> z3.ArithRef:
        # The first member of a slot is its largest.
        return z3.Sum(
            *(
                z3.If(every(slots[other] != slot for other in range(member)), size, 0)
                for member, (slot, size) in enumerate(zip(slots, self.sizes, strict=True))
            ),
            z3.IntVal(0),
        )


def worse(members: Members) -> list[z3.BoolRef]:
    """First fit takes more than some other partition."""
    fitted, taken = members.first_fit("fit")
    legal, less = members.any_partition("other")
    return [*members.given, *fitted, *legal, less < taken]


def first_fit(_: Scale) -> Iterator[Check]:
    """Show where first fit by descending size is not least, and that it is for fewer members."""
    four = Members(4)
    yield from exhibits(
        "four",
        "Four members of 3, 3, 2 and 2 bytes, of which the first may share with the second and "
        "the third, and the second with the fourth: first fit takes more than need be.",
        "QF_LIA",
        *worse(four),
        *(size == value for size, value in zip(four.sizes, GAP_SIZES, strict=True)),
        *(may == (pair in GAP_PAIRS) for pair, may in four.share.items()),
    )
    for count in (1, 2, 3):
        yield from excludes(
            f"fewer.{count}",
            f"Of {count} members, whatever their sizes and whoever may share, first fit takes the "
            "least.",
            "QF_LIA",
            *worse(Members(count)),
        )


def partitions(count: int) -> Iterator[list[list[int]]]:
    """Every way to part so many members."""
    if not count:
        yield []
        return
    for parts in partitions(count - 1):
        for place, part in enumerate(parts):
            yield [*parts[:place], [*part, count - 1], *parts[place + 1 :]]
        yield [*parts, [count - 1]]


def bytes_of(parts: Sequence[Sequence[int]], sizes: Sequence[int]) -> int:
    """What the parts take, each as much as its largest member."""
    return sum(max(sizes[member] for member in part) for part in parts)


def fitted(sizes: Sequence[int], pairs: frozenset[tuple[int, int]]) -> list[list[int]]:
    """First fit in the order of the members."""
    slots: list[list[int]] = []
    for member, _ in enumerate(sizes):
        for slot in slots:
            if all((other, member) in pairs for other in slot):
                slot.append(member)
                break
        else:
            slots.append([member])
    return slots


def least(sizes: Sequence[int], pairs: frozenset[tuple[int, int]]) -> int:
    """The least of all partitions."""
    return min(
        bytes_of(parts, sizes)
        for parts in partitions(len(sizes))
        if all(pair in pairs for part in parts for pair in itertools.combinations(part, 2))
    )


def every_problem(
    count: int, most: int
) -> Iterator[tuple[tuple[int, ...], frozenset[tuple[int, int]]]]:
    """Every relation, with every descending list of small sizes."""
    possible = list(itertools.combinations(range(count), 2))
    for chosen in itertools.product((False, True), repeat=len(possible)):
        pairs = frozenset(itertools.compress(possible, chosen))
        for sizes in itertools.combinations_with_replacement(range(most, 0, -1), count):
            yield sizes, pairs


def first_fit_agrees(_: Scale) -> bool:
    """Try every problem of up to three members, and the one of four."""
    small = all(
        bytes_of(fitted(*each), each[0]) == least(*each)
        for count in (1, 2, 3)
        for each in every_problem(count, 3)
    )
    gap = bytes_of(fitted(GAP_SIZES, GAP_PAIRS), GAP_SIZES) - least(GAP_SIZES, GAP_PAIRS)
    return small and gap == 1


def levels_agree(scale: Scale) -> bool:
    """Try every small problem with every choice of an unordered set for each of its levels."""
    for sizes, pairs in every_problem(4 if scale == "full" else 3, 3):
        heights = sorted(set(sizes), reverse=True)
        bound = 0
        for size, lower in itertools.pairwise([*heights, 0]):
            large = [member for member, own in enumerate(sizes) if own >= size]
            bound += (size - lower) * max(
                len(chosen)
                for count in range(len(large) + 1)
                for chosen in itertools.combinations(large, count)
                if pairs.isdisjoint(itertools.combinations(chosen, 2))
            )
        if bound > least(sizes, pairs):
            return False
    return True


THEOREMS = (
    Theorem(
        id="best-slots.levels-bound-slots",
        statement=(
            "Every partition of resources into slots whose members may share takes at least the "
            "sum, over the distinct sizes in descending order, of the step to the next lower size "
            "times the number of members of a set of resources of at least that size of which no "
            "two may share."
        ),
        theory="functions, integers",
        holds_for="every plan and any number of members and sizes, by induction",
        rests=("ferrum_verify.plan.unordered:least_bytes",),
        rules=(),
        checks=levels,
        recheck=levels_agree,
    ),
    Theorem(
        id="best-slots.uncovered-is-unordered",
        statement=(
            "Where every pair of resources that may share has one of its two ends in a cover, no "
            "two of the resources that are in it at neither end may share; and where the cover is "
            "as large as a matching, they are no fewer than paths that hold all resources once."
        ),
        theory="functions, integers",
        holds_for="every relation, transitive or not",
        rests=("ferrum_verify.plan.unordered:levels",),
        rules=(),
        checks=uncovered,
    ),
    Theorem(
        id="best-slots.first-fit-can-miss",
        statement=(
            "First fit by descending size does not always give the slots that take least. The "
            "smallest example has four members, of 3, 3, 2 and 2 bytes: the two larger ones may "
            "share, and each of them with another one of the smaller. First fit takes 7 bytes, "
            "and 6 are enough."
        ),
        theory="linear integers",
        holds_for="counterexample, smallest by members",
        rests=("ferrum_verify.plan.partition:best_partition",),
        rules=(),
        checks=first_fit,
        recheck=first_fit_agrees,
    ),
)
