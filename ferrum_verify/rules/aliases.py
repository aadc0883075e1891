"""Value rules of exact aliases: outputs that take the bytes of an input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.counterexamples import ByteRange, OverlapCounterexample
from ferrum_verify.documents.node import MayAlias, MustAlias
from ferrum_verify.findings import Example, Rule
from ferrum_verify.findings.wording import in_series
from ferrum_verify.plan.exact_aliases import alias_faults, ends_of
from ferrum_verify.plan.node_ports import bindings_by_port
from ferrum_verify.plan.sizes import UNIT
from ferrum_verify.rules.ascending import first_fault

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Hashable, Iterator, Mapping, Sequence

    from ferrum_verify.documents.node import (
        ExactAlias,
        PlanNode,
        ValueBinding,
    )
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.node_ports import Ports
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.rules.value_uses import Value

_FORMAT = "docs/format.md, «Values»"


class AliasClasses:
    """The classes of values that exact aliases connect, whichever nodes state them.

    An output that must alias an input is of its class even where the alias is not stated, and
    one that may even where another is: either is a fault of its own.
    """

    def __init__(self, nodes: Sequence[PlanNode]) -> None:
        self._parents: dict[str, str] = {}
        self._groups: dict[str, int] = {}
        self._numbers: dict[Hashable, int] = {}
        for node in nodes:
            for alias in node.exact_aliases:
                self._connect(alias.output_value_id, alias.input_value_id)
            stated = {alias.output_ordinal for alias in node.exact_aliases}
            musts = [
                (binding.value_id, binding.alias.tensor_index)
                for binding in node.values
                if isinstance(binding.alias, MustAlias)
                or (isinstance(binding.alias, MayAlias) and binding.ordinal in stated)
            ]
            ports = bindings_by_port(node) if musts else {}
            for value_id, ordinal in musts:
                if (source := ports.get(("input", ordinal))) is not None:
                    self._connect(value_id, source.value_id)

    def _connect(self, left: str, right: str) -> None:
        left, right = self.root(left), self.root(right)
        if left != right:
            self._parents[left] = right

    def root(self, value_id: str) -> str:
        """The value that stands for all of its class."""
        parents = self._parents
        root = value_id
        while (parent := parents.get(root)) is not None:
            root = parent
        while value_id != root:
            parents[value_id], value_id = root, parents[value_id]
        return root

    def group(self, binding: ValueBinding) -> int:
        """A number that values have in common which may share bytes.

        It stands for their class and their storage.
        """
        value_id = binding.value_id
        if value_id not in self._groups:
            key = (
                self.root(value_id),
                tuple(
                    (
                        component.component_id,
                        component.resource_id,
                        component.offset_bytes,
                        component.length_bytes,
                        component.element_type,
                    )
                    for component in binding.storage.components
                ),
            )
            self._groups[value_id] = self._numbers.setdefault(key, len(self._numbers))
        return self._groups[value_id]


_ALIAS = "/plan/payload/nodes/3/exact_aliases/0"
FALSE = Rule(
    id="value.false-alias",
    summary="An exact alias that a node claims is one.",
    why="An alias lets one value overwrite another. Where it is false, the engine takes the "
    "output's bytes for the input's, or lets a node destroy what others still read.",
    fix="Name an output and an input of the node as they are bound, both activations with equal "
    "storage, with the kind and the input that the output's alias policy says; else drop it.",
    source=_FORMAT,
    judgment="safety",
    example=Example("bundle", {f"{_ALIAS}/input_ordinal": 1}),
)
MISSING = Rule(
    id="value.missing-alias",
    summary="A node states an exact alias for each output that must take an input's bytes.",
    why="A kernel that updates its input in place leaves its output where the input is; the next "
    "node would read bytes that nobody wrote.",
    fix="State the exact alias, and bind both values to the same bytes.",
    source=_FORMAT,
    judgment="safety",
    example=Example("bundle", {"/plan/payload/nodes/3/exact_aliases": []}),
)
ORDER = Rule(
    id="value.alias-order",
    summary="The exact aliases of a node ascend by output, each output once.",
    why="The list is a set; in any other order the same aliases have a second hash, and an output "
    "that stands twice takes two inputs' bytes.",
    fix="Sort the aliases by output ordinal, each output once.",
    source=_FORMAT,
    example=Example(
        "bundle",
        {
            "/plan/payload/nodes/3/exact_aliases/-": {
                "output_value_id": "value.residual",
                "output_ordinal": 0,
                "input_value_id": "value.hidden",
                "input_ordinal": 0,
                "kind": "must_alias",
            }
        },
    ),
)


def check(
    subject: Subject, values: Mapping[str, Value], overlapping: Collection[tuple[str, str]]
) -> Iterator[Finding]:
    """Findings of all rules of exact aliases.

    ``overlapping`` are the pairs of values that are known to share bytes by accident: that such
    two are stored in different places is no second fault.
    """
    needed = needed_values(subject)
    for index, node in enumerate(subject.plan_nodes or ()):
        place = f"{subject.places.nodes}/{index}"
        ports = bindings_by_port(node) if node.exact_aliases else {}
        ordinals = [alias.output_ordinal for alias in node.exact_aliases]
        stated = set(ordinals)
        if (fault := first_fault(ordinals, str)) is not None:
            yield ORDER.finding(
                f"The exact aliases of node `{node.id}` do not strictly ascend by output: output "
                f"{fault.text}.",
                f"{place}/exact_aliases/{fault.position}",
            )
        for position, alias in enumerate(node.exact_aliases):
            if reasons := list(_faults(ports, alias, values, overlapping)):
                yield FALSE.finding(
                    f"Node `{node.id}` claims that `{alias.output_value_id}` is an exact alias of "
                    f"`{alias.input_value_id}`, but {in_series(reasons)}.",
                    f"{place}/exact_aliases/{position}",
                )
        for position, binding in enumerate(node.values):
            if (
                isinstance(binding.alias, MustAlias)
                and binding.role == "output"
                and binding.ordinal not in stated
            ):
                yield MISSING.finding(
                    f"Output {binding.ordinal} of node `{node.id}`, `{binding.value_id}`, must "
                    f"take the bytes of input {binding.alias.tensor_index}, but the node states no "
                    "exact alias for it.",
                    f"{place}/values/{position}/alias",
                )
        yield from _collisions(node, values, needed, overlapping, place)


COLLISION = Rule(
    id="value.outputs-collide",
    summary="No two outputs of a node take the same bytes.",
    why="The node writes both values into one place, and whoever reads either finds the one that "
    "came last.",
    fix="Let one output take the input's bytes, and give the other bytes of its own.",
    source=_FORMAT,
    judgment="safety",
)


def _collisions(
    node: PlanNode,
    values: Mapping[str, Value],
    needed: Container[str],
    overlapping: Container[tuple[str, str]],
    place: str,
) -> Iterator[Finding]:
    """Outputs in one place that are exact aliases of one input, and so may overlap others."""
    taken: dict[Hashable, str] = {}
    for position, binding in enumerate(node.values):
        if binding.role != "output" or not _is_settled(binding, values):
            continue
        parts = binding.storage.components
        key = tuple((part.resource_id, part.offset_bytes, part.length_bytes) for part in parts)
        other = taken.setdefault(key, binding.value_id)
        pair = (other, binding.value_id)
        if pair in overlapping or pair[::-1] in overlapping:
            continue
        if other != binding.value_id and (other in needed or binding.value_id in needed):
            start = parts[0].offset_bytes
            of_range = parts[0].resource_id, start, start + parts[0].length_bytes
            yield COLLISION.finding(
                f"Node `{node.id}` outputs `{other}` and `{binding.value_id}` to the same bytes of "
                f"`{parts[0].resource_id}`, so that one of them is lost.",
                f"{place}/values/{position}/storage/components",
                about=(node.id, other, binding.value_id),
                counterexample=OverlapCounterexample(
                    UNIT,
                    ByteRange(*of_range, other),
                    ByteRange(*of_range, binding.value_id),
                    parts[0].offset_bytes,
                ),
            )


def _faults(
    ports: Ports,
    alias: ExactAlias,
    values: Mapping[str, Value],
    overlapping: Collection[tuple[str, str]],
) -> Iterator[str]:
    yield from alias_faults(ports, alias)
    output, source = ends_of(ports, alias)
    if output is None or source is None:
        return
    pair = output.value_id, source.value_id
    if (
        output.storage != source.storage
        and pair not in overlapping
        and pair[::-1] not in overlapping
        and all(_is_settled(binding, values) for binding in (output, source))
    ):
        yield "the two are stored in different places"


def needed_values(subject: Subject) -> set[str]:
    """The values that a node reads, or somebody when the step is complete."""
    nodes = subject.plan_nodes or ()
    needed = {b.value_id for node in nodes for b in node.values if b.access != "write"}
    if subject.header is not None:
        needed.update(each.value_id for each in subject.header.retained_completion_values)
    return needed if subject.program is None else needed.union(subject.program.outputs)


def _is_settled(binding: ValueBinding, values: Mapping[str, Value]) -> bool:
    # Where the value itself is at fault, that its alias differs from it is no second fault.
    accepted = values[binding.value_id].accepted
    return accepted.malformed is None and accepted.is_of(binding)
