"""Checking ``schedule`` counterexamples: two resources that share bytes, live at one moment."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples.runs import run_of
from ferrum_verify.counterexamples.uses import share_an_extent, users_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
        users = users_of(document, side["resource"])
        if side["node"] not in users or any(user not in times for user in users):
            return False
        born = min(times[user][0] for user in users)
        dead = max(times[user][1] for user in users)
        if not born <= at < dead:
            return False
    return any(
        (left in one and right in other) or (left in other and right in one)
        for one, other in taking_turns(document)
    )


def taking_turns(document: Document) -> Iterator[tuple[set[str], set[str]]]:
    """Sets of resources, each of the one holding bytes that each of the other may hold too.

    The members of a slot take turns, and so do the rows of a pool that reuses one extent.
    """
    for pool in document.memory.get("dynamic_pools", ()):
        for slot in pool["step_resource_slots"]:
            yield set(slot["resource_ids"]), set(slot["resource_ids"])
        if pool["invocation_liveness_mode"] == "total_order_reuse":
            rows = [set(row["resource_ids"]) for row in pool["invocation_liveness"]]
            yield from itertools.combinations(rows, 2)
