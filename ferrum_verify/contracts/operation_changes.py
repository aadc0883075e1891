"""What changes in an operation's contract: refused now, allowed now, or not to be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ferrum_verify.contracts import rules
from ferrum_verify.contracts.changed_lists import missing_from

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.catalog import Operation, TensorContract
    from ferrum_verify.findings import Finding

_WITH_AND_WITHOUT = {
    "required": {True},
    "optional": {True, False},
    "forbidden": {False},
}
"""Whether an estimate may have a workspace, for each requirement of an operation."""


@dataclass(slots=True)
class _Clauses:
    refused: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)
    unclear: list[str] = field(default_factory=list)


def operation_changes(base: Operation, head: Operation, place: str) -> Iterator[Finding]:
    """At most one finding each of what HEAD refuses, allows, and leaves unclear."""
    if base == head:
        return
    clauses = _Clauses()
    _version(base, head, clauses)
    for role, before, after in (
        ("input", base.inputs, head.inputs),
        ("output", base.outputs, head.outputs),
    ):
        _ports(role, before, after, clauses)
    _attributes(base.attributes.entries, head.attributes.entries, clauses)
    _resources(base, head, clauses)
    if base.oracle != head.oracle:
        clauses.unclear.append("its oracle is another")
    for rule, said in (
        (rules.OPERATION_NARROWED, clauses.refused),
        (rules.OPERATION_WIDENED, clauses.allowed),
        (rules.OPERATION_UNCLEAR, clauses.unclear),
    ):
        if said:
            yield rule.finding(f"In operation {head.id}, {'; '.join(said)}.", place)


def _version(base: Operation, head: Operation, clauses: _Clauses) -> None:
    before, after = base.version, head.version
    if before == after:
        return
    # A program asks for a major version and at least some minor one.
    kept = after.major == before.major and after.minor > before.minor
    (clauses.allowed if kept else clauses.refused).append(
        f"the version is {after.major}.{after.minor} instead of {before.major}.{before.minor}"
    )


def _ports(
    role: str,
    base: Sequence[TensorContract],
    head: Sequence[TensorContract],
    clauses: _Clauses,
) -> None:
    if len(base) != len(head):
        clauses.refused.append(f"there are {len(head)} {role}s instead of {len(base)}")
    for ordinal, (before, after) in enumerate(zip(base, head, strict=False)):
        if before == after:
            continue
        name = f"{role} {ordinal}"
        if before.access != after.access:
            clauses.refused.append(f"the access of {name} is {after.access}, not {before.access}")
        if before.alias != after.alias:
            # An output that may take an input's bytes need not.
            free = before.alias == "no_alias" and getattr(after.alias, "tag", "") == "may_alias"
            (clauses.allowed if free else clauses.refused).append(
                f"the alias policy of {name} is another"
            )
        for noun, old, new in (
            ("element types", before.element_types, after.element_types),
            ("layouts", before.layouts, after.layouts),
        ):
            _entries(f"{noun} of {name}", old, new, clauses)
        _dimensions(name, before.dimensions, after.dimensions, clauses)


def _entries(what: str, base: Sequence[Any], head: Sequence[Any], clauses: _Clauses) -> None:
    if lost := missing_from(head, base):
        clauses.refused.append(f"the {what} no longer include {_words(lost)}")
    if gained := missing_from(base, head):
        clauses.allowed.append(f"the {what} now include {_words(gained)}")


def _dimensions(name: str, base: Sequence[Any], head: Sequence[Any], clauses: _Clauses) -> None:
    if len(base) != len(head):
        clauses.refused.append(f"the rank of {name} is {len(head)} instead of {len(base)}")
        return
    for axis, (before, after) in enumerate(zip(base, head, strict=True)):
        if before == after:
            continue
        # The format fixes what an exact dimension means; symbols are the operation's own.
        exact = _is_exact(before) and _is_exact(after)
        (clauses.refused if exact else clauses.unclear).append(
            f"axis {axis} of {name} is {_words([after])} instead of {_words([before])}"
        )


def _is_exact(dimension: Any) -> bool:
    return isinstance(dimension, dict) and dimension.keys() == {"exact"}


def _attributes(base: dict[str, Any], head: dict[str, Any], clauses: _Clauses) -> None:
    for name in dict.fromkeys([*base, *head]):
        before, after = base.get(name), head.get(name)
        if name in base and name in head and before == after:
            continue
        required = isinstance(after, dict) and after.get("required") is True
        if name not in base and required:
            clauses.refused.append(f"the attribute {name} is new and required")
        else:
            change = "new" if name not in base else "gone" if name not in head else "another"
            clauses.unclear.append(f"the attribute {name} is {change}")


def _resources(base: Operation, head: Operation, clauses: _Clauses) -> None:
    before, after = base.resources, head.resources
    old, new = before.minimum_value_alignment_bytes, after.minimum_value_alignment_bytes
    if old != new:
        (clauses.refused if new > old else clauses.allowed).append(
            f"values are aligned to at least {new:,} bytes instead of {old:,}"
        )
    for part in ("scratch", "binding", "persistent"):
        was, now = getattr(before, part), getattr(after, part)
        if was == now:
            continue
        wider = _WITH_AND_WITHOUT[was] <= _WITH_AND_WITHOUT[now]
        (clauses.allowed if wider else clauses.refused).append(
            f"a {part} workspace is {now} instead of {was}"
        )


def _words(entries: Sequence[Any]) -> str:
    return ", ".join(entry if isinstance(entry, str) else _json(entry) for entry in entries)


def _json(value: Any) -> str:
    if isinstance(value, dict) and len(value) == 1:
        ((key, inner),) = value.items()
        return f"{key} {inner}"
    return str(value)
