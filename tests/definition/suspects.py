"""Suspects, by definition: what would lose bytes if some run had a moment of a certain sort."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from tests.definition.places import Touch, slots_of
from tests.definition.plan_parts import Plan, uses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.definition.lives import Life
    from tests.definition.runs import Moment


class Suspect(NamedTuple):
    """What would be a fault if some run had a moment at which ``holds``.

    With ``then``, if it holds of that moment and a later one of the run too.
    """

    kind: str
    nodes: tuple[int, ...]
    resource: str
    start: int
    end: int
    value: str | None
    holds: Callable[[Moment], bool]
    then: Callable[[Moment, Moment], bool] | None = None


def meetings(touched: list[Touch]) -> Iterator[tuple[Touch, Touch]]:
    """Every two touches of the same bytes; of a claim, as a resource that it is not for."""
    arenas: dict[tuple[str, str], list[Touch]] = {}
    for touch in touched:
        arenas.setdefault(touch.arena, []).append(touch)
    for inside in arenas.values():
        for one, other in combinations(inside, 2):
            own = one.claim != other.claim and (
                one.resource in other.given or other.resource in one.given
            )
            if one.meets(other) and not own:
                yield one, other


def stale(lives: dict[str, Life]) -> Iterator[Suspect]:
    """A node reads a value that another node writes, and none that does has ended."""
    for value, life in lives.items():
        for reader in life.readers if life.writers else ():
            if reader not in life.writers:
                nodes = (min(life.writers), reader)
                yield Suspect("stale", nodes, value, 0, 0, value, _starved(life, reader))


def _starved(life: Life, reader: int) -> Callable[[Moment], bool]:
    return lambda moment: moment.runs(reader) and not life.stands(moment)


def unwritten(plan: Plan, touched: list[Touch], lives: dict[str, Life]) -> Iterator[Suspect]:
    """A node, or whoever reads on completion, reads bytes of a value that nobody put there.

    Every output of a value must be where it is read. What no node outputs stands where the first
    node has it.
    """
    homes: dict[str, dict[int, list[Touch]]] = {}
    for touch in touched:
        if touch.value is not None:
            home, writers = homes.setdefault(touch.value, {}), lives[touch.value].writers
            if (touch.writes and touch.node in writers) or (not writers and not home):
                home.setdefault(touch.node, []).append(touch)
            elif not writers and touch.node in home:
                home[touch.node].append(touch)
    for touch in touched:
        if touch.reads and touch.value is not None:
            for parts in homes[touch.value].values():
                if not any(_covers(each, touch) for each in parts):
                    where = (touch.resource, touch.start, touch.end, touch.value)
                    yield Suspect("unwritten", (touch.node,), *where, lambda _: True)

    for entry in plan.retained:
        place = (entry["resource_id"], entry["logical_offset_bytes"])
        for node, parts in homes.get(entry["value_id"], {}).items():
            if place not in [(each.resource, each.start) for each in parts]:
                yield Suspect("unwritten", (node,), *place, 0, entry["value_id"], lambda _: True)


def _covers(home: Touch, read: Touch) -> bool:
    place = (home.arena, home.resource) == (read.arena, read.resource)
    return place and home.start <= read.start and read.end <= home.end


def unclaimed(plan: Plan) -> Iterator[Suspect]:
    """A node uses an invocation resource that no liveness row gives it."""
    given = {
        (row["node_id"], name)
        for pool in plan.memory["dynamic_pools"]
        for row in pool["invocation_liveness"]
        for name in row["resource_ids"]
    }
    for at, node in enumerate(plan.nodes):
        for name in sorted(uses(node)):
            is_lent = plan.dynamic.get(name, {}).get("lifetime") == "invocation"
            if is_lent and (node["id"], name) not in given:
                yield Suspect("unclaimed", (at,), name, 0, 0, None, lambda _: True)


def misplaced(plan: Plan) -> Iterator[Suspect]:
    """A kernel leaves an output where its input is, and the plan has the output elsewhere."""
    for at, node in enumerate(plan.nodes):
        ports = {(each["role"], each["ordinal"]): each for each in node.get("values", [])}
        told = {
            each["output_ordinal"]: each["input_ordinal"] for each in node.get("exact_aliases", [])
        }
        for binding in node.get("values", []):
            if binding["alias"] != "no_alias" and "must_alias" in binding["alias"]:
                told[binding["ordinal"]] = binding["alias"]["must_alias"]["tensor_index"]
        for output, source in told.items():
            left, right = ports.get(("output", output)), ports.get(("input", source))
            if left and right and left["storage"] != right["storage"]:
                place = left["storage"]["components"][0]
                where = (place["resource_id"], place["offset_bytes"], 0, left["value_id"])
                yield Suspect("misplaced", (at,), *where, lambda _: True)


def races(one: Touch, other: Touch) -> Iterator[Suspect]:
    """Two nodes run at once and touch the same bytes, one of them writing."""
    pair = (one.node, other.node)
    if one.node != other.node and (one.writes or other.writes):
        yield _suspect("race", one, other, lambda moment: all(map(moment.runs, pair)))


def coincidences(one: Touch, other: Touch, lives: dict[str, Life]) -> Iterator[Suspect]:
    """Two values stand in the same bytes from the start, and both are read."""
    if one.value is not None and other.value is not None:
        ours, theirs = lives[one.value], lives[other.value]
        given = not ours.writers and not theirs.writers
        if given and ours.content != theirs.content and ours.readers and theirs.readers:
            yield _suspect("coincident", one, other, lambda _: True)


def losses(one: Touch, other: Touch, lives: dict[str, Life], plan: Plan) -> Iterator[Suspect]:
    """A node writes over a value that somebody still needs."""
    for hurt, by in ((one, other), (other, one)):
        if hurt.value is None or not by.writes:
            continue
        life = lives[hurt.value]
        if by.node == hurt.node:
            if by.value != hurt.value and _muddles(hurt, by, life, plan):
                yield _suspect("muddled", hurt, by, lambda _: True)
            continue
        if life.is_retained and by.node not in life.writers:
            yield _suspect("retained", hurt, by, _while_standing(life, by.node))
        if by.value == hurt.value:
            continue
        if life.lasts:
            yield _suspect("overwritten", hurt, by, lambda _: True)
        for reader in life.readers - {by.node}:
            kind = "carried" if by.claim else "overwritten"
            suspect = _suspect(kind, hurt, by, _while_needed(life, by.node, reader), reader)
            rewriters = life.writers - {by.node, reader}
            if len(life.writers) > 1:
                suspect = suspect._replace(then=_not_again(rewriters, reader))
            yield suspect


def _while_standing(life: Life, writer: int) -> Callable[[Moment], bool]:
    return lambda moment: moment.runs(writer) and life.stands(moment)


def _while_needed(life: Life, writer: int, reader: int) -> Callable[[Moment], bool]:
    standing = _while_standing(life, writer)
    return lambda moment: standing(moment) and not moment.has_ended(reader)


def _not_again(writers: frozenset[int], reader: int) -> Callable[[Moment, Moment], bool]:
    """Whether the reader comes before any of the writers has put its value there again."""

    def holds(lost: Moment, read: Moment) -> bool:
        again = (each for each in writers if not lost.has_ended(each))
        return read.runs(reader) and not any(read.has_ended(each) for each in again)

    return holds


def _muddles(hurt: Touch, by: Touch, life: Life, plan: Plan) -> bool:
    """Whether a node itself spoils a value by writing another one.

    It may update a value in place where it is told so, from the value's first byte on. Of two
    values that it writes into the same bytes one is lost, which hurts if somebody needs it.
    """
    told = {
        frozenset((alias["input_value_id"], alias["output_value_id"]))
        for alias in plan.nodes[by.node]["exact_aliases"]
    }
    if hurt.start == by.start and frozenset((hurt.value, by.value)) in told:
        return False
    return hurt.reads or bool(life.readers) or life.is_retained


def shared(plan: Plan) -> Iterator[Suspect]:
    """Two members of a Step slot live at once.

    A retained one lives on to the end of the run, and so does what is no activation: nobody says
    when it is looked at.
    """
    users: dict[str, set[int]] = {}
    for at, node in enumerate(plan.nodes):
        for name in uses(node):
            users.setdefault(name, set()).add(at)
    slots = slots_of(plan)
    for left, right in combinations(sorted(slots), 2):
        if set(slots[left]) & set(slots[right]):
            both = (users.get(left, set()), users.get(right, set()))
            kept = [_is_kept(plan, name) for name in (left, right)]
            nodes = tuple(min(each) for each in both if each)
            kind = "retained" if any(kept) else "shared"
            live = [_lives(each, keeps) for each, keeps in zip(both, kept, strict=True)]
            yield Suspect(kind, nodes, f"{left} {right}", 0, 0, None, _both(*live))


def _is_kept(plan: Plan, name: str) -> bool:
    row = plan.dynamic.get(name, {"usage": None, "kind": None})
    is_value = (row["usage"], row["kind"]) == ("activations", "value")
    return name in plan.retained_resources or not is_value


def _lives(users: set[int], is_kept: bool) -> Callable[[Moment], bool]:
    def lives(moment: Moment) -> bool:
        born = any(moment.has_started(each) for each in users)
        return born and (is_kept or not all(moment.has_ended(each) for each in users))

    return lives


def _both(
    left: Callable[[Moment], bool], right: Callable[[Moment], bool]
) -> Callable[[Moment], bool]:
    return lambda moment: left(moment) and right(moment)


def _suspect(
    kind: str, hurt: Touch, by: Touch, holds: Callable[[Moment], bool], reader: int | None = None
) -> Suspect:
    nodes = (hurt.node, by.node) if reader is None else (by.node, reader)
    start, end = max(hurt.start, by.start), min(hurt.end, by.end)
    return Suspect(kind, nodes, hurt.resource, start, end, hurt.value or by.value, holds)
