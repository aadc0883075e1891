"""Terminal outputs, which plan schema 8.1 states: the resources of the program's outputs.

They are read when the step has ended, as retained completion values are, and so never share a
slot either. Without the program nobody can say which they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.documents.plan_schema import SCHEMA_8_1
from ferrum_verify.findings import DELETE, Example, Rule
from ferrum_verify.findings.wording import in_series, marked
from ferrum_verify.rules.ascending import first_fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.documents.program import ModelProgram
    from ferrum_verify.findings import Finding
    from ferrum_verify.rules.expected import Expected

_FORMAT = "docs/format.md, «Plan schema 8.1» (terminal outputs)"
_STATED = "/plan/payload/terminal_output_resources"

UNKNOWN = Rule(
    id="slot.terminal-outputs-unknown",
    summary="The program is at hand, so that the terminal outputs of a plan can be derived.",
    why="Which values are outputs stands in the program alone. A plan that leaves one out shares "
    "its bytes, and nothing in the plan shows it.",
    fix="Audit the plan in a bundle with its program.",
    source=_FORMAT,
    severity="warning",
    undecided=True,
    example=Example("bundle-8.1", {"/program": DELETE}, also=("checkpoint.layout-underived",)),
)


def check(facts: Expected) -> Iterator[Finding]:
    """Findings of all rules of terminal outputs; none in plans of another schema."""
    subject = facts.subject
    header = subject.header
    if subject.schema != SCHEMA_8_1 or header is None or header.terminal_output_resources is None:
        return
    stated = header.terminal_output_resources
    yield from _check_list(facts, stated, subject.places.terminal)
    if subject.program is not None and subject.plan_nodes is not None:
        derived = terminal_outputs(subject.program, subject.plan_nodes)
        yield from _check_derived(stated, derived, subject.places.terminal)
    elif "program" not in subject.raw:
        yield UNKNOWN.finding(
            "without the program nobody can tell whether the plan's terminal outputs are those of "
            "its outputs",
            subject.places.terminal,
        )


ORDER = Rule(
    id="slot.terminal-output-order",
    summary="A plan has terminal output resources, and they ascend, each once.",
    why="The list is a set: in any other order the same plan has a second hash. A program without "
    "an output that a plan can hold computes nothing that anybody reads.",
    fix="List the resources of the program's outputs, ascending.",
    source=_FORMAT,
    example=Example("bundle-8.1", {f"{_STATED}/-": "resource.logits"}),
)
UNREADABLE = Rule(
    id="slot.terminal-output-unreadable",
    summary="A terminal output lies in an activation of step or request lifetime.",
    why="No other resource still holds a node's output when the step has completed.",
    fix="Put the program's outputs into dynamic Step or Request activations.",
    source=_FORMAT,
    example=Example(
        "bundle-8.1",
        {f"{_STATED}/+0": "resource.cache"},
        also=("slot.terminal-outputs-differ",),
    ),
)


def _check_list(facts: Expected, stated: Sequence[str], place: str) -> Iterator[Finding]:
    if not stated:
        yield ORDER.finding("the plan has no terminal output", place)
    if (fault := first_fault(stated)) is not None:
        yield ORDER.finding(
            f"the terminal outputs do not strictly ascend: {fault.text}",
            f"{place}/{fault.position}",
        )
    for index, resource in enumerate(stated):
        row = facts.descriptors.get(resource)
        if resource in facts.faulty:
            continue
        if row is None:
            yield UNREADABLE.finding(
                f"terminal output `{resource}` has no dynamic descriptor", f"{place}/{index}"
            )
        elif row.usage != "activations" or row.lifetime not in ("step", "request"):
            yield UNREADABLE.finding(
                f"terminal output `{resource}` has usage {row.usage} and lifetime {row.lifetime}, "
                "but only a step or request activation can be read when the step has ended",
                f"{place}/{index}",
            )


DIFFER = Rule(
    id="slot.terminal-outputs-differ",
    summary="The terminal outputs are the resources that hold the program's outputs.",
    why="What is left out may be handed to another node before the caller has read it; what is "
    "too much keeps bytes of its own for nothing.",
    fix="List the resources of every binding of a program output, as input or as output.",
    source=_FORMAT,
    example=Example(
        "bundle-8.1",
        {f"{_STATED}/+0": "resource.attended"},
    ),
)


def _check_derived(stated: Sequence[str], derived: frozenset[str], place: str) -> Iterator[Finding]:
    missing, extra = sorted(derived - {*stated}), sorted({*stated} - derived)
    said = []
    if missing:
        said.append(f"leave out {', '.join(marked(missing))}, which hold outputs of the program")
    if extra:
        said.append(f"name {', '.join(marked(extra))}, which hold none of the program's outputs")
    if said:
        yield DIFFER.finding(
            f"the terminal outputs {in_series(said)}",
            place,
            expected=sorted(derived),
            actual=list(stated),
        )


def terminal_outputs(program: ModelProgram, nodes: Sequence[PlanNode]) -> frozenset[str]:
    """The resources of every binding of a program output, in whichever role."""
    outputs = {*program.outputs}
    return frozenset(
        component.resource_id
        for node in nodes
        for binding in node.values
        if binding.value_id in outputs
        for component in binding.storage.components
    )
