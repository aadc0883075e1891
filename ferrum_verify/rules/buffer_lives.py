"""Buffer plans: no byte is held by two that live together, and what is read was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.findings import DELETE, Example, Rule, pointer
from ferrum_verify.findings.wording import bytes_words, in_series
from ferrum_verify.plan.affine import UndecidedShapeError, at
from ferrum_verify.plan.clashes import MOST_TRIES, TooManyTriesError
from ferrum_verify.plan.overlaps import MOST_PAIRS, TooManyOverlapsError
from ferrum_verify.plan.reads import MOST_STEPS, TooManyReadsError
from ferrum_verify.plan.sweep import MOST_QUESTIONS, TooManyQuestionsError, neighbours
from ferrum_verify.plan.uses import TooManyStepsError
from ferrum_verify.rules.buffer import PAGE, named
from ferrum_verify.rules.buffer_places import JUDGED, at_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.arms import Arms
    from ferrum_verify.plan.clashes import Clash, Clashes
    from ferrum_verify.plan.reads import Conflict, Reads, Unwritten
    from ferrum_verify.plan.storages import Region, Storages, Use

LIVES = f"{PAGE}, «Lives»"

MOST_CLASHES = 20_000
"""Pairs of buffers of one plan that are told; of the rest it is only said that there are more."""


class TooManyClashesError(Exception):
    """More than ``MOST_CLASHES``."""


UNDECIDED = Rule(
    id="buffer.undecided",
    summary="A plan is small and plain enough to be judged.",
    why="What was not judged may be wrong; it is left open, and never taken to be fine.",
    fix="Audit a part of the plan, or one with fewer conditions, aliases or dimensions.",
    source="a limit of this verifier",
    judgment="safety",
    severity="warning",
    undecided=True,
)
_LIMITS: dict[type[Exception], str] = {
    UndecidedShapeError: "whether some bytes meet at any shape takes too many cases to tell",
    TooManyOverlapsError: f"nodes have more than {MOST_PAIRS:,} pairs of bytes that may overlap",
    TooManyQuestionsError: f"more than {MOST_QUESTIONS:,} pairs of buffers may hold the same bytes",
    TooManyClashesError: f"more than {MOST_CLASHES:,} pairs of them do so while both live",
    TooManyTriesError: f"aliases and arms make more than {MOST_TRIES:,} cases",
    TooManyReadsError: f"aliases and arms make more than {MOST_STEPS:,} cases of what is written",
    TooManyStepsError: "the dependencies of so many nodes take too many steps to go through",
}


def bounded(
    check: Callable[[], Iterator[Finding]],
    what: str,
    where: Callable[[], tuple[str, str]] = lambda: ("", ""),
) -> Iterator[Finding]:
    """The findings of a check, up to a limit that it reaches; that is one more finding then.

    ``where`` says how far the check has got, in words and as a place.
    """
    try:
        yield from check()
    except tuple(_LIMITS) as limit:
        told, location = where()
        yield UNDECIDED.finding(
            f"{what} was judged in part only, as {_LIMITS[type(limit)]}{told}; what was found "
            "until then is told",
            location,
        )


def reached_pair(storages: Storages, clashes: Clashes) -> tuple[str, str]:
    """The two buffers that clashes were looked for in last, for the message of a limit."""
    if clashes.asked is None:
        return "", ""
    first, then = (each.storage for each in clashes.asked)
    told = in_series(named(storages.plan.buffers[each]) for each in (first, then))
    return f", which was reached at {told}", pointer("/buffers", max(first, then))


def reached_use(storages: Storages, reads: Reads) -> tuple[str, str]:
    """The use that was looked at last, for the message of a limit."""
    use = reads.asked
    if use is None:
        return "", ""
    buffer = named(storages.of(use))
    if not 0 <= use.node < len(storages.nodes):
        return f", which was reached at {buffer}", pointer("/buffers", use.name)
    verb = "writes" if use.write else "reads"
    told = f", which was reached at {node_named(storages, use)}, which {verb} {buffer}"
    return told, storages.node_place(use.node)


def check_clashes(storages: Storages, clashes: Clashes) -> Iterator[Finding]:
    """Every two storages that hold one byte while both live."""
    questions = neighbours(storages.regions)
    told: set[tuple[int, int]] = set()
    try:
        pair = next(questions)
        while True:
            has_ended = clashes.runs.has_ended(*pair)
            key = pair[0].storage, pair[1].storage
            if not has_ended and key not in told:
                clash = clashes.of(*pair)
                if clash is not None:
                    if len(told) >= MOST_CLASHES:
                        raise TooManyClashesError
                    told.add(key)
                    yield _clash(storages, clash)
            pair = questions.send(has_ended)
    except StopIteration:
        return


SHARED_WHILE_LIVE = Rule(
    id="buffer.shared-while-live",
    summary="No two buffers hold the same byte while both live.",
    why="The one that is written later overwrites the other before its last reader has run, and "
    "the model answers nonsense without any error.",
    fix="Move one of the two buffers, or add the dependency that lets one end before the other.",
    source=LIVES,
    judgment="safety",
    example=Example("buffer-plan", {"/buffers/2/offset": 4096}),
)


def _clash(storages: Storages, clash: Clash) -> Finding:
    first, then = clash.first, clash.then
    roots = [storages.plan.buffers[storage_of(storages, use)] for use in (first, then)]
    start, end = shared_bytes(storages, clash)
    held = f"{bytes_words(start, end)} of `{roots[0].arena}`{at_shape(storages, clash.point)}"
    return SHARED_WHILE_LIVE.finding(
        f"{named(storages.of(first))} and {named(storages.of(then))} both hold {held}: "
        f"{_while(storages, clash)}{_where(clash.arms)}",
        pointer("/buffers", storage_of(storages, then)),
        about=tuple(sorted(root.id for root in roots)),
    )


def _while(storages: Storages, clash: Clash) -> str:
    first, then = clash.first, clash.then
    done = "writes" if then.write else "reads"
    if then.node >= len(storages.nodes):
        begun = f"{named(storages.of(then))} is read at the end"
    else:
        begun = f"{node_named(storages, then)} {done} {named(storages.of(then))}"
    if first.phase < then.phase and first.node != then.node:
        verb = "writes" if first.write else "reads"
        return (
            f"{begun}, and need not wait for {node_named(storages, first)}, which {verb} "
            f"{named(storages.of(first))}"
        )
    if first.node >= len(storages.nodes):
        return f"{begun}, and {named(storages.of(first))} is read at the end"
    if first.node == then.node:
        return f"{begun} and {'writes' if first.write else 'reads'} {named(storages.of(first))}"
    verb = "writes" if first.write else "reads"
    return f"{begun}, and {node_named(storages, first)} still {verb} {named(storages.of(first))}"


def check_conflicts(storages: Storages, reads: Reads) -> Iterator[Finding]:
    """Every two uses of one storage that may meet, though one should be over before the other."""
    runs = reads.clashes.runs
    if runs.execution == "in-order":
        return
    told: set[tuple[str, ...]] = set()
    for region in storages.regions:
        for conflict in reads.conflicts(region):
            if runs.is_over(conflict.first.node, conflict.then.node):
                continue
            names = conflict_names(storages, region, conflict)
            if names not in told:
                told.add(names)
                yield _conflict(storages, conflict, names)


OVERWRITTEN = Rule(
    id="buffer.overwritten",
    summary="A value is written over only after its last reader.",
    why="A reader that comes later takes what somebody else has put there.",
    fix="Let the node that writes wait for the reader, or give what it writes bytes of its own.",
    source=JUDGED,
    judgment="safety",
    example=Example(
        "buffer-plan",
        {"/nodes/1/writes": [], "/nodes/2/writes": ["hidden"], "/nodes/3/reads": ["head"]},
    ),
)
RACE = Rule(
    id="buffer.race",
    summary="Who reads or writes bytes waits for the node that wrote them before.",
    why="Which of the two comes first is then a matter of chance, in every run anew.",
    fix="Add a dependency between the two nodes.",
    source=JUDGED,
    judgment="safety",
    example=Example("buffer-plan", {"/nodes/1/dependencies": DELETE}),
)


def _conflict(storages: Storages, conflict: Conflict, names: tuple[str, ...]) -> Finding:
    first, then = conflict.first, conflict.then
    rule = RACE if first.write else OVERWRITTEN
    verbs = ["writes" if use.write else "reads" for use in (first, then)]
    other = "it"
    if first.name != then.name:
        name = named(storages.of(then))
        other = f"the same bytes as {name}{at_shape(storages, conflict.point)}"
    return rule.finding(
        f"{node_named(storages, first)} {verbs[0]} {named(storages.of(first))}, and "
        f"{node_named(storages, then)}, which {verbs[1]} {other}, need not wait for it"
        f"{in_arms(first, then)}",
        storages.node_place(then.node),
        about=names,
    )


def check_reads(storages: Storages, reads: Reads) -> Iterator[Finding]:
    """Every read of a byte that nobody has written before, in some run."""
    for region in storages.regions:
        for missing in reads.unwritten(region):
            # What an alias reads behind its buffer is told of the alias.
            if not storages.reaches_out(missing.read.name):
                yield _unwritten(storages, missing)


READ_BEFORE_WRITE = Rule(
    id="buffer.read-before-write",
    summary="Every byte that is read was written before, whichever arms are taken.",
    why="What lies there is what some other tensor, or the run before, has left.",
    fix="Let a node write it before, in every arm, or say that the buffer is `live_in`.",
    source=JUDGED,
    judgment="safety",
    example=Example("buffer-plan", {"/buffers/0/live_in": False}),
)


def _unwritten(storages: Storages, missing: Unwritten) -> Finding:
    read, point = missing.read, missing.point
    byte = missing.byte - at(missing.extent.start, point)
    size = at(missing.extent.end, point) - at(missing.extent.start, point)
    what = "it is not" if byte == 0 and size == 1 else f"byte {byte:,} of it is not"
    buffer = named(storages.of(read))
    is_end = read.node >= len(storages.nodes)
    who = (
        f"{buffer} is read at the end" if is_end else f"{node_named(storages, read)} reads {buffer}"
    )
    return READ_BEFORE_WRITE.finding(
        f"{who}, and {what} written before{at_shape(storages, point)}{_where(missing.arms)}",
        pointer("/buffers", read.name) if is_end else storages.node_place(read.node),
        about=read_names(storages, read),
    )


def storage_of(storages: Storages, use: Use) -> int:
    """The buffer that has the bytes which a use touches."""
    place = storages.placed[use.name]
    assert place is not None
    return place[0]


def node_named(storages: Storages, use: Use) -> str:
    """The node of a use, as messages name it."""
    return named(storages.nodes[use.node])


def shared_bytes(storages: Storages, clash: Clash) -> tuple[int, int]:
    """The bytes of the arena that the uses of a clash have in common, at its shape."""
    extents = [storages.extents[use.name] for use in clash.uses]
    return (
        max(at(each.start, clash.point) for each in extents if each is not None),
        min(at(each.end, clash.point) for each in extents if each is not None),
    )


def conflict_names(storages: Storages, region: Region, conflict: Conflict) -> tuple[str, ...]:
    """What tells a conflict from others: its nodes, and the storage."""
    nodes = (storages.nodes[use.node].id for use in (conflict.first, conflict.then))
    return (*nodes, storages.plan.buffers[region.storage].id)


def read_names(storages: Storages, read: Use) -> tuple[str, ...]:
    """What tells a read from others: its node, and the buffer; the buffer alone at the end."""
    if read.node >= len(storages.nodes):
        return (storages.of(read).id,)
    return storages.nodes[read.node].id, storages.of(read).id


def in_arms(*uses: Use) -> str:
    """With which arms, at the end of a sentence; nothing where the nodes run in every run."""
    return _where(tuple(sorted({pair for use in uses for pair in use.arms})))


def _where(arms: Arms) -> str:
    if not arms:
        return ""
    told = in_series(f"`{condition}` takes `{arm}`" for condition, arm in arms)
    return f", where {told}"
