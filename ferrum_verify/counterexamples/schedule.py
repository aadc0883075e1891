"""Checking ``schedule`` counterexamples: two resources that share bytes, live at one moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples.runs import run_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.counterexamples.document import Document
    from ferrum_verify.counterexamples.kinds import Execution


def check_schedule(document: Document, wire: Mapping[str, Any], execution: Execution) -> bool:
    """Whether the run is admissible and both resources, which share bytes, are live at the time.

    A resource is live from the first start to the last end of its users, all of which are listed.
    """
    times = run_of(document, wire["nodes"], execution)
    at, left, right = wire["at"], wire["left"]["resource"], wire["right"]["resource"]
    if times is None or type(at) is not int:
        return False
    sides = (wire["left"], wire["right"])
    if left == right:
        return share_an_extent(document, *sides) and all(
            times[side["node"]][0] <= at < times[side["node"]][1] for side in sides
        )
    for side in sides:
        users = document.users.get(side["resource"], [])
        if side["node"] not in users or any(user not in times for user in users):
            return False
        born = min(times[user][0] for user in users)
        dead = max(times[user][1] for user in users)
        if not born <= at < dead:
            return False
    return take_turns(document, left, right)


def take_turns(document: Document, left: str, right: str) -> bool:
    """Whether two resources may hold the same bytes.

    The members of a slot take turns, and so do the rows of a pool that reuses one extent.
    """
    one, other = (document.slots_of.get(name, set()) for name in (left, right))
    if not one.isdisjoint(other):
        return True
    rows, others = (document.rows_in_turn.get(name, {}) for name in (left, right))
    return any(len(rows[pool] | others[pool]) > 1 for pool in rows.keys() & others.keys())


def share_an_extent(document: Document, left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """Whether two nodes have rows of one pool that reuse its bytes, with these resources.

    A workspace of one invocation lives while its node runs; what another node has of the same
    name is another workspace.
    """
    pools, others = (
        document.nodes_in_turn.get((side["node"], side["resource"]), set())
        for side in (left, right)
    )
    return not pools.isdisjoint(others) and bool(left["node"] != right["node"])
