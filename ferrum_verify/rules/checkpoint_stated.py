"""The checkpoint layout that a plan of schema 8.1 states, against the one that is derived."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from ferrum_verify.documents.plan_schema import SCHEMA_8_1
from ferrum_verify.findings import DELETE, Example, Rule, pointer
from ferrum_verify.findings.wording import in_series, marked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.derive.checkpoint_layout import SequenceCheckpointLayout
    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject

_FORMAT = "docs/format.md, «Plan schema 8.1» (checkpoint layout)"
_FIELD = "sequence_checkpoint_layout"
_STATED = f"/plan/payload/{_FIELD}"
_NAMES = {"providers": "node_id", "states": "state_id"}

UNDERIVED = Rule(
    id="checkpoint.layout-underived",
    summary="Program and catalog are at hand where a plan states a checkpoint layout.",
    why="The layout follows from what providers promise and what the program declares. Whether "
    "the stated one does cannot be told from the plan alone.",
    fix="Audit the plan in a bundle with its program and its catalog.",
    source=_FORMAT,
    severity="warning",
    undecided=True,
    example=Example("bundle-8.1", {"/catalog": DELETE}),
)


def check_presence(subject: Subject) -> Iterator[Finding]:
    """Whether a stated layout can be derived at all; if not, whether it is of the plan's nodes."""
    layout = _raw_layout(subject)
    if layout is not None and not {"program", "catalog"} <= subject.raw.keys():
        yield UNDERIVED.finding(
            "whether the plan's checkpoint layout is the derived one cannot be told without its "
            "program and its catalog",
            pointer(subject.places.payload, _FIELD),
        )
        named = [each["node_id"] for each in layout["providers"]]
        nodes = [node.id for node in subject.plan_nodes or ()]
        if nodes and named != nodes:
            place = pointer(subject.places.payload, _FIELD, "providers")
            yield _other_names("providers", nodes, named, place)


INPUTS = Rule(
    id="checkpoint.inputs-incomplete",
    summary="A program whose plan is of schema 8.1 gives all of its inputs a role in checkpoints, "
    "if it gives one to any.",
    why="An engine of that schema refuses to read the program otherwise: an input without a role "
    "could change the state unseen.",
    fix="Name each input of the program once in `checkpoint_inputs`, and nothing else.",
    source="docs/format.md, «Plan schema 8.1» (catalog, program, policy)",
    example=Example(
        "bundle-8.1",
        {"/program/checkpoint_inputs/output_only_inputs": [], _STATED: DELETE},
        also=("pool.checkpoint-growth",),
    ),
)


def check_inputs(subject: Subject) -> Iterator[Finding]:
    """Whether the checkpoint inputs of a program of today are all of its inputs."""
    program = subject.program
    if program is None or program.checkpoint_inputs is None or subject.schema != SCHEMA_8_1:
        return
    if not program.checkpoint_inputs.covers(program.inputs):
        yield INPUTS.finding(
            "the checkpoint inputs are not the program's inputs, each once",
            f"{subject.places.program}/checkpoint_inputs",
        )


DIFFERS = Rule(
    id="checkpoint.layout-differs",
    summary="The checkpoint layout that a plan states is the one that is derived from it, its "
    "program and its catalog; a plan without sequence checkpoints states none.",
    why="Captures and restores follow the stated layout: bytes that it leaves out are not "
    "restored, and a boundary that a provider refuses gives a state that no run has.",
    fix="Compile the plan again from its program and catalog.",
    source=_FORMAT,
    judgment="safety",
    example=Example("bundle-8.1", {f"{_STATED}/boundaries/prefix/alignment": 2}),
)


UNSTATED = Rule(
    id="checkpoint.layout-unstated",
    summary="A plan whose sequences can be checkpointed states its checkpoint layout, capacity and "
    "growth.",
    why="The number 8.1 stayed while these members came: an engine from before them leaves all "
    "three out, and a newer one would not. From which of them the plan is does not stand in it.",
    fix="Compile the plan with an engine that states checkpoint layouts, or go without "
    "checkpoints.",
    source=_FORMAT,
    severity="warning",
    undecided=True,
    example=Example(
        "bundle-8.1",
        {
            _STATED: DELETE,
            "/plan/payload/memory/checkpoint_capacity": DELETE,
            "/policy/memory/checkpoint_capacity": DELETE,
            **{
                f"/plan/payload/memory/dynamic_pools/{index}/{field}": value
                for index, own in ((2, 256), (4, 32_768))
                for field, value in (
                    ("checkpoint_growth_ceiling_bytes", DELETE),
                    ("provisioning/maximum_resident_bytes", own),
                )
            },
        },
    ),
)


def check_derived(subject: Subject, derived: SequenceCheckpointLayout | None) -> Iterator[Finding]:
    """Whether a plan states the layout that is derived, part by part; None where it has none."""
    header = subject.header
    if subject.schema != SCHEMA_8_1 or header is None:
        return
    place, stated = pointer(subject.places.payload, _FIELD), _raw_layout(subject)
    if derived is None or stated is None:
        if derived is not None and not _has_room(subject.memory):
            yield UNSTATED.finding(
                "the plan's sequences can be checkpointed, but it states no checkpoint layout, "
                "capacity or growth, as engines did not at first; whether its own would is open",
                subject.places.payload,
            )
        elif derived is not None:
            yield DIFFERS.finding(
                "the plan states no checkpoint layout, but its sequences can be checkpointed",
                subject.places.payload,
            )
        elif stated is not None:
            yield DIFFERS.finding(
                "the plan states a checkpoint layout, but its sequences cannot be checkpointed",
                place,
            )
        return
    ours, theirs = _canonical(derived.to_wire()), _canonical(stated)
    for field in ours:
        if field in _NAMES:
            yield from _differing(field, ours[field], theirs.get(field), f"{place}/{field}")
        elif ours[field] != theirs.get(field):
            yield DIFFERS.finding(
                f"the plan's checkpoint layout has other `{field}` than program and catalog give",
                f"{place}/{field}" if field in stated else place,
                expected=ours[field],
                actual=theirs.get(field),
            )
    if "completed_input_capture" in theirs.keys() - ours.keys():
        yield DIFFERS.finding(
            "the plan's checkpoint layout supports the capture of completed input, which not all "
            "of its providers do",
            f"{place}/completed_input_capture",
        )


def _has_room(memory: MemoryPlan | None) -> bool:
    """Whether a plan speaks of checkpoints elsewhere: its engine then knows layouts."""
    return memory is not None and (
        memory.checkpoint_capacity is not None
        or any(pool.checkpoint_growth_ceiling_bytes for pool in memory.dynamic_pools)
    )


def _differing(
    field: str, ours: list[Any], theirs: list[Any] | None, location: str
) -> Iterator[Finding]:
    theirs = theirs or []
    key = _NAMES[field]
    derived, named = [each[key] for each in ours], [each[key] for each in theirs]
    if derived != named:
        yield _other_names(field, derived, named, location)
        return
    for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        fields = [name for name in one if one[name] != other.get(name)]
        if fields:
            yield DIFFERS.finding(
                f"the plan's checkpoint layout has of `{one[key]}` other "
                f"{in_series(f'`{name}`' for name in fields)} than is derived",
                f"{location}/{index}",
                expected={name: one[name] for name in fields},
                actual={name: other.get(name) for name in fields},
            )


def _other_names(field: str, derived: list[str], named: list[str], location: str) -> Finding:
    """What a layout names, and what a plan has: other names, or the same ones in another order."""
    what = "node" if field == "providers" else "state"
    lost, new = sorted(set(named) - set(derived)), sorted(set(derived) - set(named))
    said = []
    if lost:
        said.append(f"the plan lacks {', '.join(marked(lost))}, which its checkpoint layout names")
    if new:
        said.append(f"its checkpoint layout leaves out {', '.join(marked(new))}")
    if not said:
        pairs = enumerate(zip(derived, named, strict=False))
        place = next((each for each in pairs if each[1][0] != each[1][1]), None)
        said.append(
            f"the plan's checkpoint layout names a {what} twice"
            if place is None
            else f"the plan's {what}s stand in another order than its checkpoint layout names "
            f"them: where the plan has `{place[1][0]}`, the layout has `{place[1][1]}`"
        )
    return DIFFERS.finding(" and ".join(said), location, expected=derived, actual=named)


def _raw_layout(subject: Subject) -> dict[str, Any] | None:
    """The stated layout as JSON, where it could be read; None where the plan states none."""
    header = subject.header
    if header is None or header.sequence_checkpoint_layout is None:
        return None
    layout: dict[str, Any] = subject.raw["plan"]["payload"][_FIELD]
    return layout


def _canonical(layout: dict[str, Any]) -> dict[str, Any]:
    """The layout as the engine writes it: what has its default is left out."""
    copy = deepcopy(layout)
    for holder in (copy, *(each["contract"] for each in copy["providers"])):
        if holder.get("completed_input_capture") == "unsupported":
            del holder["completed_input_capture"]
        if holder.get("state_ports") == []:
            del holder["state_ports"]
    if copy["inputs"].get("output_only_inputs") == []:
        del copy["inputs"]["output_only_inputs"]
    return copy
