"""Value rules of retained completion values: what is read after the terminal fence.

That their resources can be kept that long is judged with the Step slots.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.findings import Example, Rule
from ferrum_verify.findings.wording import marked
from ferrum_verify.rules.ascending import first_fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


class _Write(NamedTuple):
    """A range of bytes that a binding writes, and the position of its node in plan order."""

    start: int
    end: int
    position: int
    node: PlanNode
    binding: ValueBinding


class _Writes:
    """All writes to one resource, ascending by start, to be searched by range."""

    def __init__(self, writes: list[_Write]) -> None:
        self._writes = sorted(writes, key=lambda each: each[:3])
        self._reach = list(accumulate((each.end for each in self._writes), max))

    def destroying(self, position: int, binding: ValueBinding) -> Iterator[_Write]:
        """The writes into the first component of ``binding`` beside or after its own."""
        component = binding.storage.components[0]
        start = component.offset_bytes
        end = start + component.length_bytes
        index = bisect_left(self._writes, end, key=lambda each: each.start) - 1
        while index >= 0 and self._reach[index] > start:
            write = self._writes[index]
            later = write.position > position
            beside = write.position == position and write.binding is not binding
            if write.end > start and (later or beside):
                yield write
            index -= 1


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
    writes_of = _writes_of(nodes, {each.resource_id for each in retained})
    for index, value in enumerate(retained):
        where = f"{place}/{index}"
        producers = outputs.get(value.value_id, [])
        if len(producers) != 1:
            yield _unproduced(value, [node for _, node, _ in producers], where)
            continue
        position, node, binding = producers[0]
        if differences := _differences(value, node, binding):
            yield DIFFERS.finding(
                f"The retained value `{value.value_id}` is not as node `{node.id}` binds it: "
                f"{', '.join(differences)}.",
                where,
            )
            continue
        if value.resource_id in writes_of:
            writes = writes_of[value.resource_id].destroying(position, binding)
            yield from _overwritten(value, node, binding, writes, where)


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


def _overwritten(
    value: RetainedCompletionValue,
    node: PlanNode,
    binding: ValueBinding,
    writes: Iterator[_Write],
    location: str,
) -> Iterator[Finding]:
    """One finding, of a write that destroys the value if there is one.

    The input that the value is an exact alias of is updated by the same write. The engine wants
    no such write beside the value's own, and no byte is lost by it.
    """
    output = binding.ordinal
    taken = {each.input_ordinal for each in node.exact_aliases if each.output_ordinal == output}

    def is_same(write: _Write) -> bool:
        other = write.binding
        return (
            write.node is node
            and other.role == "input"
            and other.ordinal in taken
            and other.storage == binding.storage
        )

    in_place = None
    for write in writes:
        finding = OVERWRITTEN.finding(
            f"The retained value `{value.value_id}` of node `{node.id}` is overwritten by "
            f"{write.binding.role} {write.binding.ordinal} of node `{write.node.id}`, "
            f"`{write.binding.value_id}`.",
            location,
        )
        if not is_same(write):
            yield finding
            return
        in_place = replace(finding, judgment="conformance")
    if in_place is not None:
        yield in_place


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
    value: RetainedCompletionValue, nodes: Sequence[PlanNode], location: str
) -> Finding:
    if not nodes:
        text = f"No node outputs the retained value `{value.value_id}`."
    else:
        names = ", ".join(marked(node.id for node in nodes))
        text = f"The retained value `{value.value_id}` is an output of {len(nodes)} nodes: {names}."
    return UNPRODUCED.finding(text, f"{location}/value_id", actual=value.value_id)


def _outputs(
    nodes: Sequence[PlanNode], wanted: set[str]
) -> dict[str, list[tuple[int, PlanNode, ValueBinding]]]:
    outputs: dict[str, list[tuple[int, PlanNode, ValueBinding]]] = {}
    for position, node in enumerate(nodes):
        for binding in node.values:
            if binding.role == "output" and binding.value_id in wanted:
                outputs.setdefault(binding.value_id, []).append((position, node, binding))
    return outputs


def _writes_of(nodes: Sequence[PlanNode], resources: set[str]) -> dict[str, _Writes]:
    writes: dict[str, list[_Write]] = {}
    for position, node in enumerate(nodes):
        for binding in node.values:
            if not binding.writes:
                continue
            for component in binding.storage.components:
                if component.resource_id in resources:
                    start = component.offset_bytes
                    writes.setdefault(component.resource_id, []).append(
                        _Write(start, start + component.length_bytes, position, node, binding)
                    )
    return {resource_id: _Writes(ranges) for resource_id, ranges in writes.items()}


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
