"""Value rules of retained completion values: what is read after the terminal fence.

That their resources can be kept that long is judged with the Step slots.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ferrum_verify.findings import Example, Rule
from ferrum_verify.findings.wording import marked
from ferrum_verify.plan.overwriting import Overwriting
from ferrum_verify.rules.ascending import first_fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ferrum_verify.documents.execution_plan import RetainedCompletionValue
    from ferrum_verify.documents.node import PlanNode, ValueBinding
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject

_FORMAT = "docs/format.md, «Execution-plan rules» (retained completion values)"
_RETAINED = "/plan/payload/retained_completion_values"
_LOGITS = {
    "value_id": "value.logits",
    "producer_node_id": "node.head",
    "output_ordinal": 0,
    "resource_id": "resource.logits",
    "logical_offset_bytes": 0,
    "tensor": {"dimensions": [1, 32], "element_type": "f32", "layout": "contiguous"},
}


ORDER = Rule(
    id="value.retained-order",
    summary="The retained completion values ascend by value, each once.",
    why="The list is a set; in any other order the same plan has a second hash.",
    fix="Sort the values by id, each once.",
    source=_FORMAT,
    example=Example("bundle", {f"{_RETAINED}/-": _LOGITS}),
)
DIFFERS = Rule(
    id="value.retained-differs",
    summary="A retained completion value is described as its producer binds it.",
    why="After the fence the engine reads the bytes that this entry names, as the tensor that it "
    "names: anything else than what was written there is garbage to the caller.",
    fix="Carry over the producer, ordinal, resource, offset and tensor of the output's binding, "
    "an activation with one storage component.",
    source=_FORMAT,
    example=Example("bundle", {f"{_RETAINED}/0/logical_offset_bytes": 4}),
)

_HIDDEN = {
    "value_id": "value.hidden",
    "producer_node_id": "node.embed",
    "output_ordinal": 0,
    "resource_id": "resource.hidden",
    "logical_offset_bytes": 0,
    "tensor": {"dimensions": [1, 8], "element_type": "f32", "layout": "contiguous"},
}
OVERWRITTEN = Rule(
    id="value.retained-overwritten",
    summary="A retained completion value keeps its bytes until the step ends.",
    why="The caller reads the value after the fence, and would get what the other node wrote.",
    fix="Retain the value that is written last, or write the other one elsewhere.",
    source=_FORMAT,
    judgment="safety",
    example=Example("bundle", {_RETAINED: [_HIDDEN, _LOGITS]}),
)


def check(subject: Subject) -> Iterator[Finding]:
    """Findings of all rules of retained completion values."""
    header, nodes = subject.header, subject.plan_nodes
    if header is None or not nodes or not header.retained_completion_values:
        return
    place = subject.places.retained
    retained = header.retained_completion_values
    if (fault := first_fault([each.value_id for each in retained])) is not None:
        yield ORDER.finding(
            f"The retained completion values do not strictly ascend: {fault.text}.",
            f"{place}/{fault.position}",
        )
    outputs = _outputs(nodes, {each.value_id for each in retained})
    kept = [
        found[0][1]
        for found in outputs.values()
        if len(found) == 1 and found[0][1].storage.components
    ]
    destroyed = {id(each): by for each, by in _overwriting(nodes, kept)}
    for index, value in enumerate(retained):
        where = f"{place}/{index}"
        producers = outputs.get(value.value_id, [])
        if len(producers) != 1:
            known = any(node.id == value.producer_node_id for node in nodes)
            yield _unproduced(value, [node for node, _ in producers], where, known=known)
            continue
        node, binding = producers[0]
        if differences := _differences(value, node, binding):
            yield DIFFERS.finding(
                f"The retained value `{value.value_id}` is not as node `{node.id}` binds it: "
                f"{', '.join(differences)}.",
                where,
            )
            continue
        if id(binding) in destroyed:
            writer, write, in_place = destroyed[id(binding)]
            finding = OVERWRITTEN.finding(
                f"The retained value `{value.value_id}` of node `{node.id}` is overwritten by "
                f"{write.role} {write.ordinal} of node `{writer.id}`, `{write.value_id}`.",
                where,
            )
            # The engine wants no write beside the value's own; by one in place no byte is lost.
            yield replace(finding, judgment="conformance") if in_place else finding


UNPRODUCED = Rule(
    id="value.retained-unproduced",
    summary="A retained completion value is exactly one output of one node.",
    why="The engine reads the value once its producer is done. Without a producer it reads bytes "
    "that nobody wrote, with two it reads whichever came last.",
    fix="Name a value that one node outputs.",
    source=_FORMAT,
    example=Example("bundle", {f"{_RETAINED}/0/value_id": "value.tokens"}),
)


def _unproduced(
    value: RetainedCompletionValue, nodes: Sequence[PlanNode], location: str, *, known: bool
) -> Finding:
    if not nodes:
        lost = (
            "" if known else f": `{value.producer_node_id}`, its producer, is no node of the plan"
        )
        text = f"No node outputs the retained value `{value.value_id}`{lost}."
    else:
        names = ", ".join(marked(node.id for node in nodes))
        text = f"The retained value `{value.value_id}` is an output of {len(nodes)} nodes: {names}."
    return UNPRODUCED.finding(text, f"{location}/value_id", actual=value.value_id)


def _outputs(
    nodes: Sequence[PlanNode], wanted: set[str]
) -> dict[str, list[tuple[PlanNode, ValueBinding]]]:
    outputs: dict[str, list[tuple[PlanNode, ValueBinding]]] = {}
    for node in nodes:
        for binding in node.values:
            if binding.role == "output" and binding.value_id in wanted:
                outputs.setdefault(binding.value_id, []).append((node, binding))
    return outputs


def _overwriting(
    nodes: Sequence[PlanNode], kept: Iterable[ValueBinding]
) -> Iterator[tuple[ValueBinding, tuple[PlanNode, ValueBinding, bool]]]:
    """The bindings that are written over, each with the first that does it, and whether in place.

    That is a binding of a later node, or another one of the same node; the input that becomes the
    value in place only if there is nothing else. Of each binding in ``kept`` the first component
    counts.
    """
    kept_by_id = {id(binding): binding for binding in kept}
    ranges: dict[str, list[tuple[int, int, int, int]]] = {}
    wanted = {binding.storage.components[0].resource_id for binding in kept_by_id.values()}
    numbered = [(index, node, b) for index, node in enumerate(nodes) for b in node.values]
    becomes = _in_place(nodes, {id(each): number for number, (*_, each) in enumerate(numbered)})
    written = {after: number for number, after in becomes.items() if numbered[number][2].writes}
    for number, (index, _, binding) in enumerate(numbered):
        for component in binding.storage.components if binding.writes else ():
            if component.resource_id in wanted:
                start = component.offset_bytes
                ranges.setdefault(component.resource_id, []).append(
                    (index, becomes.get(number, number), start, start + component.length_bytes)
                )
    asked: dict[str, list[tuple[int, int, int, int]]] = {}
    for number, (index, _, binding) in enumerate(numbered):
        if id(binding) in kept_by_id:
            component = binding.storage.components[0]
            start = component.offset_bytes
            asked.setdefault(component.resource_id, []).append(
                (index, number, start, start + component.length_bytes)
            )
    for resource, questions in asked.items():
        writes = ranges.get(resource, [])
        over = Overwriting(edge for each in (*writes, *questions) for edge in each[2:])
        for index, number, start, end in reversed(questions):
            while writes and writes[-1][0] >= index:
                position, what, first, last = writes.pop()
                over.add(first, last, position, what)
            found = over.first(start, end, number)
            write = written.get(number) if found is None else found[1]
            if write is not None:
                yield numbered[number][2], (*numbered[write][1:], found is None)


def _in_place(nodes: Sequence[PlanNode], numbers: Mapping[int, int]) -> dict[int, int]:
    """For each input that its node turns into an output in place, by number, that output's."""
    becomes: dict[int, int] = {}
    for node in nodes if any(node.exact_aliases for node in nodes) else ():
        bound = {(binding.role, binding.ordinal): binding for binding in node.values}
        for alias in node.exact_aliases:
            before = bound.get(("input", alias.input_ordinal))
            after = bound.get(("output", alias.output_ordinal))
            if before is not None and after is not None and before.storage == after.storage:
                becomes[numbers[id(before)]] = numbers[id(after)]
    return becomes


def _differences(
    value: RetainedCompletionValue, node: PlanNode, binding: ValueBinding
) -> list[str]:
    differences = []
    if value.producer_node_id != node.id:
        differences.append(f"it names the producer `{value.producer_node_id}`")
    if value.output_ordinal != binding.ordinal:
        differences.append(f"it is output {binding.ordinal}, not {value.output_ordinal}")
    if binding.usage != "activations":
        differences.append(f"it is used as {binding.usage}, not as activations")
    components = binding.storage.components
    if len(components) != 1:
        differences.append(f"it has {len(components)} storage components, not one")
    else:
        if value.resource_id != components[0].resource_id:
            differences.append(
                f"it lies in `{components[0].resource_id}`, not `{value.resource_id}`"
            )
        if value.logical_offset_bytes != components[0].offset_bytes:
            differences.append(
                f"it starts at byte {components[0].offset_bytes:,}, "
                f"not {value.logical_offset_bytes:,}"
            )
    if value.tensor != binding.tensor:
        differences.append("it is another tensor")
    return differences
