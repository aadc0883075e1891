"""Buffer plans of other planners: names, dimensions, and what was not understood."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ferrum_verify.documents.buffer_plan import Affine
from ferrum_verify.findings import Example, Rule, pointer
from ferrum_verify.findings.wording import in_series, plural, quoted, shortened
from ferrum_verify.rules.graph import check_order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.documents.buffer_plan import Buffer, BufferNode, BufferPlan
    from ferrum_verify.findings import Finding, Judge
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.plan.storages import Storages

PAGE = "docs/buffer-plan.md"
FORM = f"{PAGE}, «What it says»"
LONGEST_LABEL = 60
_NAMED = 4


def named(thing: Buffer | BufferNode) -> str:
    """A buffer or a node as messages name it: its id, and its label beside it."""
    if not thing.label:
        return f"`{thing.id}`"
    label = shortened(thing.label.replace("`", "'"), LONGEST_LABEL)
    return f"`{thing.id}` ({label})"


SAFETY_ONLY = Rule(
    id="buffer.safety-only",
    summary="Of another planner's plan only safety is judged.",
    why="How it was derived is not known, so there is nothing that it could conform to.",
    fix="Nothing need be done.",
    source=f"{PAGE}, «What is judged»",
    severity="note",
    example=Example("buffer-plan", {}),
)


def safety_only(judge: Judge) -> Finding:
    """That conformance was not judged; an open question to whoever asked for nothing else."""
    finding = SAFETY_ONLY.finding(
        "safety only: there is no derivation to conform to, so conformance was not judged"
    )
    if judge == "conformance":
        return replace(finding, severity="warning", undecided=True)
    return finding


PLANNED_IN_ORDER = Rule(
    id="buffer.planned-in-order",
    summary="A plan of ExecuTorch, TVM Relax or XLA is judged in order, as it was made.",
    why="These planners plan for instructions that run one after the other. Under another model "
    "nodes may run at once, and what is then found says nothing against the planner.",
    fix="Audit it with `--execution in-order`, unless a runtime of yours runs nodes at once.",
    source=f"{PAGE}, «What is judged»",
    judgment="safety",
    severity="note",
    example=Example("buffer-plan", {"/source": "xla"}),
)
_IN_ORDER_PLANNERS = {"executorch": "ExecuTorch", "tvm-relax": "TVM Relax", "xla": "XLA"}
"""Where a plan may be from that plans in order, and what that planner is called."""


def planned_in_order(plan: BufferPlan, execution: Execution) -> Iterator[Finding]:
    """That the planner had another execution model in mind, where it is known."""
    planner = _IN_ORDER_PLANNERS.get(plan.source or "")
    if planner is not None and execution != "in-order":
        yield PLANNED_IN_ORDER.finding(
            f"{planner} plans for instructions that run one after the other, and this plan is "
            f"judged under {execution} execution",
            "/source",
            fix=PLANNED_IN_ORDER.fix,
        )


def check_nodes(order: HappensBefore) -> Iterator[Finding]:
    """The rules of the nodes' order."""
    for finding in check_order(order, "/nodes"):
        # To a plan that was not derived, order is a matter of safety.
        yield replace(finding, judgment="safety")


def check(storages: Storages, order: HappensBefore) -> Iterator[Finding]:
    """All rules of the names in a plan, of its nodes' order, and of its notes."""
    yield from check_nodes(order)
    yield from _check_dimensions(storages)
    yield from _check_ids(storages)
    yield from _check_places(storages)
    yield from _check_aliases(storages)
    yield from _check_uses(storages)
    yield from _check_arms(storages)
    yield from _check_notes(storages, order)


EMPTY_DIMENSION = Rule(
    id="buffer.empty-dimension",
    summary="A dimension's least value is no more than its greatest.",
    why="There is no shape at all then, and of no shape everything can be claimed.",
    fix="Exchange the two values, or correct the one that is wrong.",
    source=FORM,
    judgment="safety",
    example=Example("buffer-plan", {"/shape/tokens/minimum": 65}),
)
UNKNOWN_DIMENSION = Rule(
    id="buffer.unknown-dimension",
    summary="Bytes grow with dimensions that `shape` names.",
    why="Without bounds nobody can say how far the buffer reaches.",
    fix="Give the dimension its bounds in `shape`, or correct its name.",
    source=FORM,
    judgment="safety",
    example=Example("buffer-plan", {"/buffers/1/bytes": {"per": {"token": 64}}}),
)


def _check_dimensions(storages: Storages) -> Iterator[Finding]:
    for name, dimension in storages.plan.shape.items():
        if dimension.minimum > dimension.maximum:
            yield EMPTY_DIMENSION.finding(
                f"dimension `{name}` is at least {dimension.minimum:,} and at most "
                f"{dimension.maximum:,}, so there is no shape that the plan is for",
                pointer("/shape", name),
            )
    for index, buffer in enumerate(storages.plan.buffers):
        for member, amount in (("offset", buffer.offset), ("bytes", buffer.bytes)):
            for name in amount.per if isinstance(amount, Affine) else ():
                if name not in storages.plan.shape:
                    yield UNKNOWN_DIMENSION.finding(
                        f"the {member} of {named(buffer)} grow with `{name}`, which `shape` does "
                        "not name",
                        pointer("/buffers", index, member, "per", name),
                    )


DUPLICATE_ID = Rule(
    id="buffer.duplicate-id",
    summary="The ids of buffers are unique.",
    why="A node that reads the id could mean either buffer.",
    fix="Rename one of the buffers.",
    source=FORM,
    judgment="safety",
    example=Example("buffer-plan", {"/buffers/2/id": "hidden"}, also=("buffer.unknown-buffer",)),
)


def _check_ids(storages: Storages) -> Iterator[Finding]:
    for index, buffer in enumerate(storages.plan.buffers):
        first = storages.position[buffer.id]
        if first != index:
            yield DUPLICATE_ID.finding(
                f"buffer {index} has the id `{buffer.id}` of buffer {first}",
                pointer("/buffers", index, "id"),
            )


NO_PLACE = Rule(
    id="buffer.no-place",
    summary="A buffer has an arena and an offset there, or is an alias and has no arena.",
    why="Nobody can say which bytes it holds, so whether others hold them too was not judged.",
    fix="Give the buffer an `arena` and an `offset`, or an `alias_of` and no `arena`.",
    source=FORM,
    judgment="safety",
    example=Example("buffer-plan", {"/buffers/3/arena": "dram"}),
)
UNKNOWN_ARENA = Rule(
    id="buffer.unknown-arena",
    summary="A buffer lies in an arena of the plan.",
    why="An offset means nothing without the memory that it counts in.",
    fix="Add the arena to `arenas`, or correct its name.",
    source=FORM,
    judgment="safety",
    example=Example("buffer-plan", {"/buffers/4/arena": "sram"}),
)


def _check_places(storages: Storages) -> Iterator[Finding]:
    for index, buffer in enumerate(storages.plan.buffers):
        at = pointer("/buffers", index)
        if buffer.alias_of is not None:
            if buffer.arena is not None:
                yield NO_PLACE.finding(
                    f"{named(buffer)} is an alias of `{buffer.alias_of}` and has an arena of its "
                    "own as well",
                    f"{at}/arena",
                )
            continue
        missing = [
            member
            for member, value in (("arena", buffer.arena), ("offset", buffer.offset))
            if value is None
        ]
        if missing:
            yield NO_PLACE.finding(
                f"{named(buffer)} is no alias and has no {' and no '.join(missing)}", at
            )
        if buffer.arena is not None and buffer.arena not in storages.plan.arenas:
            yield UNKNOWN_ARENA.finding(
                f"{named(buffer)} lies in `{buffer.arena}`, which is no arena of the plan",
                f"{at}/arena",
            )


UNKNOWN_BUFFER = Rule(
    id="buffer.unknown-buffer",
    summary="Nodes and aliases name buffers of the plan.",
    why="Whoever is meant holds bytes that nobody judged.",
    fix="Add the buffer, or correct its id.",
    source=FORM,
    judgment="safety",
    example=Example("buffer-plan", {"/nodes/0/reads/-": "lost"}),
)
ALIAS_CIRCLE = Rule(
    id="buffer.alias-circle",
    summary="Aliases lead to a buffer with bytes of its own.",
    why="Buffers that are names of each other are names of nothing.",
    fix="Give one of the buffers an arena and an offset in place of `alias_of`.",
    source=FORM,
    judgment="safety",
    example=Example("buffer-plan", {"/buffers/3/alias_of": "head"}),
)


def _check_aliases(storages: Storages) -> Iterator[Finding]:
    buffers = storages.plan.buffers
    for index, buffer in enumerate(buffers):
        if buffer.alias_of is not None and storages.parents[index] is None:
            yield UNKNOWN_BUFFER.finding(
                f"{named(buffer)} is an alias of `{buffer.alias_of}`, which is no buffer of the "
                "plan",
                pointer("/buffers", index, "alias_of"),
            )
    for circle in storages.circles:
        shown = [f"`{buffers[each].id}`" for each in (*circle[:_NAMED], circle[0])]
        if len(circle) > _NAMED:
            shown.insert(_NAMED, "…")
        yield ALIAS_CIRCLE.finding(
            f"each is an alias of the next: {' → '.join(shown)}",
            pointer("/buffers", circle[0], "alias_of"),
        )


def _check_uses(storages: Storages) -> Iterator[Finding]:
    for index, node in enumerate(storages.plan.nodes):
        for member, names in (("reads", node.reads), ("writes", node.writes)):
            for place, name in enumerate(names):
                if name not in storages.position:
                    yield UNKNOWN_BUFFER.finding(
                        f"{named(node)} {member} `{name}`, which is no buffer of the plan",
                        pointer("/nodes", index, member, place),
                    )


NEVER_RUNS = Rule(
    id="buffer.never-runs",
    summary="A node is in one arm of a condition.",
    why="No run takes two arms of one condition, so the node never runs, and nothing that it "
    "reads or writes was judged.",
    fix="Name the arm that the node is in.",
    source=f"{PAGE}, «Arms»",
    judgment="safety",
    severity="warning",
    example=Example("buffer-plan", {"/nodes/1/arms": [["small", "then"], ["small", "else"]]}),
)


def _check_arms(storages: Storages) -> Iterator[Finding]:
    for index, node in enumerate(storages.plan.nodes):
        taken: dict[str, str] = {}
        for condition, arm in node.arms:
            other = taken.setdefault(condition, arm)
            if other != arm:
                yield NEVER_RUNS.finding(
                    f"{named(node)} is in the arms `{other}` and `{arm}` of condition "
                    f"`{condition}`, of which a run takes one",
                    pointer("/nodes", index, "arms"),
                )
                break


NOTE = Rule(
    id="buffer.note",
    summary="Whoever wrote the plan had nothing to add to it.",
    why="It is about the plan as a whole, and bears on no node and no buffer.",
    fix="Read it; nothing need be done.",
    source=FORM,
    judgment="safety",
    severity="note",
    example=Example("buffer-plan", {"/notes": [{"text": "made for one device"}]}),
)
NOT_UNDERSTOOD = Rule(
    id="buffer.not-understood",
    summary="Whoever wrote the plan understood all that it is about.",
    why="What was not understood may read or write other bytes than the plan says, so whether it "
    "is safe stays open. It is never taken to be fine.",
    fix="State in the plan what these nodes read and write, and drop the note.",
    source=FORM,
    judgment="safety",
    severity="warning",
    undecided=True,
    example=Example("buffer-plan", {"/notes": [{"text": "a custom call", "nodes": ["down"]}]}),
)
UNKNOWN_OF_NOTE = Rule(
    id="buffer.unknown-of-note",
    summary="A note is about nodes and buffers of the plan.",
    why="What it says is not understood may be something that the plan has under another name.",
    fix="Correct the id, or remove it from the note.",
    source=FORM,
    judgment="safety",
    severity="warning",
    undecided=True,
    example=Example(
        "buffer-plan",
        {"/notes": [{"text": "a custom call", "nodes": ["lost"]}]},
    ),
)


def _check_notes(storages: Storages, order: HappensBefore) -> Iterator[Finding]:
    for index, note in enumerate(storages.plan.notes):
        at = pointer("/notes", index)
        text = quoted(note.text, 300)
        if not note.nodes and not note.buffers:
            yield NOTE.finding(f"the plan says: {text}", at)
            continue
        known: list[tuple[str, ...]] = []
        for member, names, of in (
            ("nodes", note.nodes, order.position),
            ("buffers", note.buffers, storages.position),
        ):
            known.append(tuple(name for name in names if name in of))
            for place, name in enumerate(names):
                if name not in of:
                    yield UNKNOWN_OF_NOTE.finding(
                        f"the note is about `{name}`, which is none of the plan's {member}: {text}",
                        pointer(at, member, place),
                    )
        told = [_some("node", known[0]), _some("buffer", known[1])]
        if any(told):
            yield NOT_UNDERSTOOD.finding(
                f"of {in_series(each for each in told if each)} the plan says: {text}", at
            )


def _some(noun: str, names: tuple[str, ...]) -> str:
    if not names:
        return ""
    shown = ", ".join(f"`{name}`" for name in names[:_NAMED])
    more = len(names) - _NAMED
    lead = noun if len(names) == 1 else f"{noun}s"
    return f"{lead} {shown}" + (f" and {plural(more, 'other')}" if more > 0 else "")
