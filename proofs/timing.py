"""Vocabulary: when nodes start and end, for a handful of arbitrary nodes of any plan.

Times are integers that are only ever compared, and nodes are told apart by name alone, so a claim
about a few of them is one about every plan: linear integers with uninterpreted functions. A
resource is live from the first start to the last end of its users.
"""

from __future__ import annotations

import z3

NODE = z3.DeclareSort("Node")
START = z3.Function("start", NODE, z3.IntSort())
END = z3.Function("end", NODE, z3.IntSort())
BEFORE = z3.Function("before", NODE, NODE, z3.BoolSort())


def runs(*nodes: z3.ExprRef) -> list[z3.BoolRef]:
    """State that each node takes time."""
    return [START(node) < END(node) for node in nodes]


def live(moment: z3.ArithRef, starter: z3.ExprRef, ender: z3.ExprRef) -> z3.BoolRef:
    """State that a resource is live, given a user that has started and one that has not ended."""
    return z3.And(START(starter) <= moment, moment < END(ender))
