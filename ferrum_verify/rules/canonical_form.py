"""The canonical form of a full plan: the one spelling that the engine reads, writes and compares.

Unknown and missing fields are wire faults, and lists with an order of their own have rules of
their own; here is the rest: optional fields, sets, storage components and rationals.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any, cast

from ferrum_verify.documents.attributes import attribute_is_typed
from ferrum_verify.documents.node import (
    Incompatible,
    MissingCapabilities,
    UnsupportedQuantizationFormats,
    UnsupportedWeightFormats,
)
from ferrum_verify.documents.plan_schema import KNOWN_SCHEMAS
from ferrum_verify.documents.weight import DenseAffine
from ferrum_verify.findings import Example, Rule, pointer
from ferrum_verify.rules.ascending import first_fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.attributes import Rational
    from ferrum_verify.documents.node import PlanNode, StorageComponent, ValueBinding
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject


def check(subject: Subject) -> Iterator[Finding]:
    """Findings of the canonical form of a plan of a known schema version.

    What 8.1 leaves out beside is a wire fault.
    """
    header = subject.header
    if header is None or (header.schema_.major, header.schema_.minor) not in KNOWN_SCHEMAS:
        return
    yield from _check_optional(subject)
    place = pointer(subject.places.payload, "quantization_formats")
    yield from _ascending(header.quantization_formats, "the plan's quantization formats", place)
    for index, node in enumerate(subject.plan_nodes or ()):
        yield from _check_node(node, pointer(subject.places.nodes, index))


NOT_CANONICAL = Rule(
    id="integrity.not-canonical",
    summary="A full plan is spelled as the engine spells it.",
    why="Two spellings of one plan have two hashes, and the engine refuses all but its own.",
    fix="Let lists that are sets ascend, each entry once; sort storage components by their id, "
    "resource and offset; reduce rationals; write `reusable_execution: null` where there is none, "
    "and leave `program_policy` out instead.",
    source="docs/format.md, «Wire rules» (canonical form)",
    example=Example("bundle", {"/plan/payload/quantization_formats": ["gptq", "awq"]}),
)


def _check_optional(subject: Subject) -> Iterator[Finding]:
    memory: Any = subject.raw["plan"]["payload"].get("memory")
    if not isinstance(memory, dict):
        return
    if "reusable_execution" not in memory:
        yield NOT_CANONICAL.finding(
            "The memory plan leaves `reusable_execution` out, which the engine writes as null.",
            subject.places.memory,
        )
    reusable = memory.get("reusable_execution")
    if isinstance(reusable, dict) and reusable.get("program_policy", ...) is None:
        yield NOT_CANONICAL.finding(
            "The reusable execution writes `program_policy` as null, which the engine leaves out.",
            pointer(subject.places.memory, "reusable_execution", "program_policy"),
        )


def _check_node(node: PlanNode, location: str) -> Iterator[Finding]:
    yield from _ascending(
        node.required_capabilities,
        f"the required capabilities of node `{node.id}`",
        f"{location}/required_capabilities",
    )
    yield from _check_rejections(node, f"{location}/selection/rejected_providers")
    for name, attribute in node.attributes.items():
        if attribute_is_typed(attribute) and "rational" in (held := cast("Any", attribute)):
            what = f"attribute `{name}` of node `{node.id}`"
            place = pointer(location, "attributes", name, "rational")
            yield from _reduced(held["rational"], what, place)
    for position, binding in enumerate(node.values):
        yield from _check_binding(node, binding, f"{location}/values/{position}")


def _check_rejections(node: PlanNode, location: str) -> Iterator[Finding]:
    for position, provider in enumerate(node.selection.rejected_providers):
        if not isinstance(provider.reasons, Incompatible):
            continue
        for number, reason in enumerate(provider.reasons.incompatible):
            if not isinstance(
                reason,
                MissingCapabilities | UnsupportedWeightFormats | UnsupportedQuantizationFormats,
            ):
                continue
            ((field, names),) = reason.__dict__.items()
            yield from _ascending(
                names,
                f"the {field} for which node `{node.id}` rejected `{provider.provider_id}`",
                f"{location}/{position}/reasons/incompatible/{number}/{reason.tag}/{field}",
            )


def _check_binding(node: PlanNode, binding: ValueBinding, location: str) -> Iterator[Finding]:
    components = binding.storage.components
    if len(components) > 1 and all(component.component_id for component in components):
        keys = [_key(component) for component in components]
        for position in range(1, len(keys)):
            if keys[position] < keys[position - 1]:
                yield NOT_CANONICAL.finding(
                    f"Value `{binding.value_id}` of node `{node.id}` has its component in "
                    f"`{components[position].resource_id}` out of order: components ascend by id, "
                    "resource and offset.",
                    f"{location}/storage/components/{position}",
                )
                break
    if binding.weight is None:
        return
    for position, component in enumerate(binding.weight.components):
        encoding = component.encoding
        if isinstance(encoding, DenseAffine):
            for field, rational in (("scale", encoding.scale), ("bias", encoding.bias)):
                yield from _reduced(
                    rational,
                    f"the {field} of `{component.component_id}` of node `{node.id}`",
                    f"{location}/weight/components/{position}/encoding/{encoding.tag}/{field}",
                )


def _key(component: StorageComponent) -> tuple[str, str, int]:
    return (component.component_id or "", component.resource_id, component.offset_bytes)


def _ascending(names: Sequence[str], what: str, location: str) -> Iterator[Finding]:
    if (fault := first_fault(names)) is not None:
        yield NOT_CANONICAL.finding(
            f"{what} do not strictly ascend: {fault.text}", f"{location}/{fault.position}"
        )


def _reduced(rational: Rational, what: str, location: str) -> Iterator[Finding]:
    above, below = rational["numerator"], rational["denominator"]
    common = gcd(above, below)
    if common > 1:
        yield NOT_CANONICAL.finding(
            f"{what} is {above}/{below}, which reduces to {above // common}/{below // common}",
            location,
        )
