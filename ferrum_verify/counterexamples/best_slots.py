"""Checking best slots: whether slots may stand as they do, and whether no others take less.

Read from the document's JSON alone, like everything in this folder.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples.document import Document
from ferrum_verify.counterexamples.sizes import taken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.counterexamples.kinds import Execution


def check_best_slots(document: Any, best: Any, execution: Execution) -> list[str]:
    """What is wrong with the claims of ``best``, in sentences; nothing where they hold.

    ``document`` is parsed JSON of a plan, fragment or problem; ``best`` the answer of
    ``best_slots`` or its JSON. For each pool: all Step resources are in one slot, any two of a
    slot may share, the slots take ``best_bytes``; any two resources of a set of the certificate
    may not share, and the sets bound all slots from below by ``least_bytes``. A bound that a
    search raised (``exhausted``) is only known to be no less than the certificate's.
    """
    wire = best if isinstance(best, dict) else best.to_wire()
    faults: list[str] = []
    try:
        plan = _Sharing(Document(document), execution)
        placed = sorted(name for pool in wire["pools"] for slot in pool["slots"] for name in slot)
        if placed != sorted(plan.step):
            faults.append("the slots do not hold each Step resource once")
        for pool in wire["pools"]:
            faults += _faults(plan, pool)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        faults.append(f"it cannot be evaluated: {type(error).__name__} {error}")
    return faults


def _faults(plan: _Sharing, pool: dict[str, Any]) -> Iterator[str]:
    sizes = {
        resource: taken(plan.document.descriptors[resource], pool["shape"])
        for resource in _members(pool["slots"])
    }
    yield from _faults_of_slots(plan, pool, sizes)
    yield from _faults_of_bound(plan, pool, sizes)


def _faults_of_slots(plan: _Sharing, pool: dict[str, Any], sizes: dict[str, int]) -> Iterator[str]:
    name = pool["pool_id"]
    for slot in pool["slots"]:
        for left, right in combinations(slot, 2):
            if not plan.may_share(left, right):
                yield f"`{left}` and `{right}` share a slot of {name} and may not"
    best = _bytes(pool["slots"], sizes)
    if best != pool["best_bytes"]:
        yield f"the slots of {name} take {best} bytes and not {pool['best_bytes']}"
    stated = plan.stated.get(name)
    if stated is not None:
        now = _bytes(stated, sizes)
        if now != pool["bytes"] or _members(stated) != _members(pool["slots"]):
            yield f"the plan's slots of {name} are other ones, or take {now} bytes"


def _bytes(slots: list[list[str]], sizes: dict[str, int]) -> int:
    return sum(max(sizes[resource] for resource in slot) for slot in slots)


def _members(slots: list[list[str]]) -> set[str]:
    return {resource for slot in slots for resource in slot}


def _faults_of_bound(plan: _Sharing, pool: dict[str, Any], sizes: dict[str, int]) -> Iterator[str]:
    name, members = pool["pool_id"], _members(pool["slots"])
    levels = [(level["bytes"], level["resource_ids"]) for level in pool["certificate"]]
    for size, resources in levels:
        for resource in resources:
            if resource not in members or sizes[resource] < size:
                yield f"`{resource}` is no member of {name} of {size} bytes"
        for left, right in combinations(resources, 2):
            if left == right or plan.may_share(left, right):
                yield f"`{left}` and `{right}` may share, so they need no two slots of {name}"
    heights = [*(size for size, _ in levels), 0]
    if any(size <= lower for size, lower in pairwise(heights)):
        yield f"the certificate of {name} does not descend"
    bound = sum(
        (size - lower) * len(resources)
        for (size, resources), lower in zip(levels, heights[1:], strict=True)
    )
    least, best = pool["least_bytes"], pool["best_bytes"]
    if least < bound if pool["exhausted"] else least != bound:
        yield f"the certificate of {name} shows {bound} bytes and not {least}"
    if least > best or pool["proved"] != (least == best):
        yield f"what is said of {name} does not go together: {least}, {best}, {pool['proved']}"


class _Sharing:
    """Which Step resources of a document may share bytes under an execution model."""

    def __init__(self, document: Document, execution: Execution) -> None:
        self.document = document
        self._execution = execution
        self._place = {node["id"]: place for place, node in enumerate(document.nodes)}
        self._before: dict[str, set[str]] = {}
        for node in document.nodes:
            before = set(node["dependencies"])
            for dependency in node["dependencies"]:
                before |= self._before[dependency]
            self._before[node["id"]] = before
        payload = document.payload
        self._retained = set(payload.get("retained_completion_resources", ()))
        self._retained |= set(payload.get("terminal_output_resources", ()))
        self._retained |= {
            value["resource_id"] for value in payload.get("retained_completion_values", ())
        }
        self.step = {
            name for name, row in document.descriptors.items() if row["lifetime"] == "step"
        }
        self._users = document.users
        self.stated = {
            pool["pool_id"]: [slot["resource_ids"] for slot in pool["step_resource_slots"]]
            for pool in document.memory.get("dynamic_pools", ())
        }

    def may_share(self, left: str, right: str) -> bool:
        """Whether the one is dead before the other is born, and the engine may share them."""
        return (
            self._is_shared(left)
            and self._is_shared(right)
            and (self._dies_before(left, right) or self._dies_before(right, left))
        )

    def _is_shared(self, resource: str) -> bool:
        row = self.document.descriptors[resource]
        return (
            row["usage"] == "activations"
            and row["kind"] == "value"
            and "tokens" in row["demand"]
            and resource not in self._retained
        )

    def _dies_before(self, left: str, right: str) -> bool:
        lefts, rights = self._users.get(left), self._users.get(right)
        if not lefts or not rights:
            return False
        last, first = lefts[-1], rights[0]
        if self._execution == "in-order":
            return self._place[last] < self._place[first]
        if self._execution == "fenced":
            return last in self._before[first]
        return all(one in self._before[other] for one in lefts for other in rights)
