"""The wire rule of attributes, judged one by one: a node is read whatever its attributes are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ferrum_verify.findings import Example, Rule, pointer
from ferrum_verify.findings.wording import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject

ATTRIBUTE = Rule(
    id="wire.attribute",
    summary="An attribute of a node has a name of the format and says the type of its value.",
    why="The engine reads attributes by their types: a bare number could be signed, unsigned or a "
    "fraction, so it refuses the whole plan.",
    fix='Write an object with one key: `{"bool": …}`, `{"integer": …}`, `{"unsigned": …}`, '
    '`{"rational": {"numerator": …, "denominator": …}}`, `{"text": …}` or `{"integers": […]}`.',
    source="docs/format.md, «Attributes»",
    example=Example(
        "bundle",
        {"/plan/payload/nodes/2/attributes/heads": 2},
        also=("contract.program-node-differs",),
    ),
)


def attribute_findings(subject: Subject) -> Iterator[Finding]:
    """Findings of the attributes of a plan's nodes.

    What the program at hand spells alike was not done to the plan: a warning there.
    """
    if subject.plan_nodes is None:
        return
    # A fragment needs none of a full plan's models: see ``kinds``.
    from ferrum_verify.documents.attributes import (  # noqa: PLC0415
        attribute_is_typed,
        attribute_name_is_legal,
    )

    program = subject.program
    stated = (
        {}
        if program is None
        else {node.id: node.attributes for block in program.blocks for node in block.nodes}
    )
    for index, node in enumerate(subject.plan_nodes):
        for name, value in node.attributes.items():
            if not attribute_name_is_legal(name):
                fault = "has a name that is none of the format"
            elif not attribute_is_typed(value):
                fault = f"is {quoted(value)}, which is no value that says its type"
            else:
                continue
            finding = ATTRIBUTE.finding(
                f"The attribute {quoted(name)} of node `{node.id}` {fault}.",
                pointer(subject.places.nodes, index, "attributes", name),
            )
            of_program = stated.get(node.id, {})
            is_alike = name in of_program and of_program[name] == value
            yield replace(finding, severity="warning") if is_alike else finding
