"""Vocabulary: conjunctions and disjunctions of any number of claims, none included.

A printed operator without operands is no SMT-LIB, so the empty ones are the constants.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import z3

if TYPE_CHECKING:
    from collections.abc import Iterable


def every(claims: Iterable[z3.BoolRef]) -> z3.BoolRef:
    """Return the conjunction; of nothing it is true."""
    terms = list(claims)
    return z3.And(*terms) if terms else z3.BoolVal(True)


def some(claims: Iterable[z3.BoolRef]) -> z3.BoolRef:
    """Return the disjunction; of nothing it is false."""
    terms = list(claims)
    return z3.Or(*terms) if terms else z3.BoolVal(False)


def exactly_one(claims: Iterable[z3.BoolRef]) -> z3.BoolRef:
    """Return that one of the claims holds and no two do."""
    terms = list(claims)
    pairs = itertools.combinations(terms, 2)
    return z3.And(some(terms), every(z3.Not(z3.And(left, right)) for left, right in pairs))
