"""What changes in an operation's contract: refused now, allowed now, or not to be told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ferrum_verify.contracts.changed_lists import missing_from
from ferrum_verify.contracts.compatible import change
from ferrum_verify.contracts.examples import OPERATION, changed
from ferrum_verify.contracts.names import code
from ferrum_verify.documents.node import alias_words
from ferrum_verify.findings import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.contracts.compatible import Aspect
    from ferrum_verify.documents.catalog import Operation, TensorContract
    from ferrum_verify.findings import Finding

_Clause = tuple[Literal["refused", "allowed", "unclear"], str]
_SOURCE = "docs/format.md, «Provider contracts»"
_WITH_AND_WITHOUT = {
    "required": {True},
    "optional": {True, False},
    "forbidden": {False},
}
"""Whether an estimate may have a workspace, for each requirement of an operation."""

OPERATION_NARROWED = Rule(
    id="contract.operation-narrowed",
    summary="An operation's contract allows in HEAD all that it allows in BASE.",
    why="Nodes that keep to the contract of BASE may bind what the operation no longer takes.",
    fix="Give the new contract a new major version of its own beside the old one.",
    source=_SOURCE,
    example=changed({f"{OPERATION}/inputs/0/element_types": ["f16"]}),
)
OPERATION_UNCLEAR = Rule(
    id="contract.operation-unclear",
    summary="An operation's contract changes only in parts whose meaning the format fixes.",
    why="Attributes, symbolic dimensions and oracles are the operation's own affair; whether "
    "nodes that keep to BASE keep to HEAD cannot be told from the catalogs.",
    fix="Have the operation's author say whether plans of BASE still hold.",
    source=_SOURCE,
    severity="warning",
    undecided=True,
    example=changed({f"{OPERATION}/oracle": "approximate"}),
)


def operation_changes(base: Operation, head: Operation, place: str) -> Iterator[Finding]:
    """At most one finding each of what HEAD refuses, allows, and leaves unclear."""
    if base == head:
        return
    clauses = list(_clauses(base, head))
    kinds: dict[str, Rule | Aspect] = {
        "refused": OPERATION_NARROWED,
        "allowed": "operation-widened",
        "unclear": OPERATION_UNCLEAR,
    }
    for effect, kind in kinds.items():
        said = "; ".join(clause for each, clause in clauses if each == effect)
        if said:
            yield change(kind, f"In operation {code(head.id)}, {said}.", place)


def _clauses(base: Operation, head: Operation) -> Iterator[_Clause]:
    before, after = base.version, head.version
    if before != after:
        # A program asks for a major version and at least some minor one.
        kept = after.major == before.major and after.minor > before.minor
        yield (
            "allowed" if kept else "refused",
            f"the version is {after.major}.{after.minor} instead of {before.major}.{before.minor}",
        )
    yield from _ports("input", base.inputs, head.inputs)
    yield from _ports("output", base.outputs, head.outputs)
    yield from _attributes(base.attributes.entries, head.attributes.entries)
    yield from _resources(base, head)
    if base.oracle != head.oracle:
        yield "unclear", "its oracle is another"


def _ports(
    role: str, base: Sequence[TensorContract], head: Sequence[TensorContract]
) -> Iterator[_Clause]:
    if len(base) != len(head):
        yield "refused", f"there are {len(head)} {role}s instead of {len(base)}"
    for ordinal, (before, after) in enumerate(zip(base, head, strict=False)):
        name = f"{role} {ordinal}"
        if before.access != after.access:
            yield (
                "refused",
                f"the access of {name} is {code(after.access)}, not {code(before.access)}",
            )
        if before.alias != after.alias:
            # An output that may take an input's bytes need not.
            free = before.alias == "no_alias" and getattr(after.alias, "tag", "") == "may_alias"
            yield (
                "allowed" if free else "refused",
                f"the alias policy of {name} is {alias_words(after.alias)} instead of "
                f"{alias_words(before.alias)}",
            )
        yield from _entries(f"element types of {name}", before.element_types, after.element_types)
        yield from _entries(f"layouts of {name}", before.layouts, after.layouts)
        yield from _dimensions(name, before.dimensions, after.dimensions)


def _entries(what: str, base: Sequence[Any], head: Sequence[Any]) -> Iterator[_Clause]:
    if lost := missing_from(head, base):
        yield "refused", f"the {what} no longer include {', '.join(map(_word, lost))}"
    if gained := missing_from(base, head):
        yield "allowed", f"the {what} now include {', '.join(map(_word, gained))}"


def _dimensions(name: str, base: Sequence[Any], head: Sequence[Any]) -> Iterator[_Clause]:
    if len(base) != len(head):
        yield "refused", f"the rank of {name} is {len(head)} instead of {len(base)}"
        return
    for axis, (before, after) in enumerate(zip(base, head, strict=True)):
        if before != after:
            # The format fixes what an exact dimension means; symbols are the operation's own.
            exact = _is_exact(before) and _is_exact(after)
            yield (
                "refused" if exact else "unclear",
                f"axis {axis} of {name} is {_word(after)} instead of {_word(before)}",
            )


def _is_exact(dimension: Any) -> bool:
    return isinstance(dimension, dict) and dimension.keys() == {"exact"}


def _attributes(base: dict[str, Any], head: dict[str, Any]) -> Iterator[_Clause]:
    for name in dict.fromkeys([*base, *head]):
        before, after = base.get(name), head.get(name)
        if name in base and name in head and before == after:
            continue
        required = isinstance(after, dict) and after.get("required") is True
        if name not in base and required:
            yield "refused", f"the attribute {code(name)} is new and required"
        else:
            what = "new" if name not in base else "gone" if name not in head else "another"
            yield "unclear", f"the attribute {code(name)} is {what}"


def _resources(base: Operation, head: Operation) -> Iterator[_Clause]:
    before, after = base.resources, head.resources
    old, new = before.minimum_value_alignment_bytes, after.minimum_value_alignment_bytes
    if old != new:
        yield (
            "refused" if new > old else "allowed",
            f"values are aligned to at least {new:,} bytes instead of {old:,}",
        )
    for part in ("scratch", "binding", "persistent"):
        was, now = getattr(before, part), getattr(after, part)
        if was != now:
            wider = _WITH_AND_WITHOUT[was] <= _WITH_AND_WITHOUT[now]
            yield (
                "allowed" if wider else "refused",
                f"a {part} workspace is {now} instead of {was}",
            )


def _word(entry: Any) -> str:
    if isinstance(entry, str):
        return code(entry)
    if isinstance(entry, dict) and len(entry) == 1:
        ((key, inner),) = entry.items()
        return f"{key} {inner}"
    return str(entry)
