"""Holding a plan, and the documents beside it, to what their schema version has.

The models read both known versions; ``documents.plan_schema`` is the table of what is of one
alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ferrum_verify.documents.plan_schema import (
    EACH,
    KNOWN_SCHEMAS,
    LEFT_OUT,
    NEW_MEMBERS,
    POLICY,
    SCHEMA_5_0,
    SCHEMA_8_1,
    WORDS,
    followed,
)
from ferrum_verify.findings import DELETE, Example, Rule, pointer
from ferrum_verify.findings.wording import in_series, marked, quoted
from ferrum_verify.reading.kinds import FORMS, model_of
from ferrum_verify.reading.validation import TooManyFaultsError, validated
from ferrum_verify.reading.wire_faults import WireFault, wire_faults
from ferrum_verify.reading.wire_findings import finding_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic_core import ErrorDetails

    from ferrum_verify.documents.plan_schema import Schema
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Places, Subject

Excuse: TypeAlias = Callable[[WireFault], bool]
"""Whether a fault is none, as it stands where only some is understood."""

_FORMAT = "docs/format.md, «Plan schema 8.1»"
_NOT_UNDERSTOOD = frozenset(
    {"extra_forbidden", "missing", "literal_error", "union_tag_invalid", "union_tag_not_found"}
)
"""What another schema version may do: add and drop fields, and know other variants."""


def excuses(version: Schema | None, places: Places) -> Excuse:
    """The faults that are none in a document whose plan names this schema version."""
    payload, policy = _steps(places.payload), _steps(places.policy)

    def excused(fault: WireFault) -> bool:
        if version is None:
            return False
        is_of_policy = bool(policy) and fault.steps[: len(policy)] == policy
        if is_of_policy and fault.type == "missing" and followed(version) == SCHEMA_8_1:
            return True  # a policy of another type lacks what this one has
        if version in KNOWN_SCHEMAS:
            return False
        return fault.type in _NOT_UNDERSTOOD and fault.steps[: len(payload)] == payload

    return excused


def version_findings(value: Any, subject: Subject, version: Schema | None) -> list[Finding]:
    """What a document has that its plan's schema version has not, and what it lacks.

    Of a version that is not known nothing can be said, and of a document without one only that
    the members of schema 8.1 are not ``null`` in it.
    """
    if version is not None and version not in KNOWN_SCHEMAS:
        return []
    details = list(_nulls(subject)) if version != SCHEMA_5_0 else []
    details += [] if version is None else _faults(subject, version)
    faults = wire_faults(cast("list[ErrorDetails]", details), value)
    findings = [finding_of(fault) for fault in faults]
    if version == SCHEMA_8_1:
        findings += _written_defaults(subject)
    if version != SCHEMA_5_0:
        findings += _policy_type(subject, version)
    return findings


def _nulls(subject: Subject) -> Iterator[dict[str, Any]]:
    """Members of schema 8.1 that are ``null`` and have no such value; a policy has its own rule.

    The models take ``null`` for a member that is not there, as it is with those of 5.0.
    """
    for member in NEW_MEMBERS:
        if member.nullable or member.holder == POLICY:
            continue
        for place, holder in _at(subject, member.holder):
            if isinstance(holder, dict) and member.name in holder and holder[member.name] is None:
                kind = "list_type" if member.is_list else "dict_type"
                yield {"type": kind, "loc": (*place, member.name)}


def _faults(subject: Subject, version: Schema) -> Iterator[dict[str, Any]]:
    context = {"schema": "{}.{}".format(*version)}
    for member in NEW_MEMBERS:
        for place, holder in _at(subject, member.holder):
            there = isinstance(holder, dict) and member.name in holder
            if there and version != SCHEMA_8_1:
                yield {
                    "type": "other_schema",
                    "loc": (*place, member.name),
                    "ctx": context | {"member": True},
                }
            elif not there and version == SCHEMA_8_1 and member.required:
                yield {"type": "missing", "loc": (*place, member.name)}
    for word in WORDS:
        if word.schema == version:
            continue
        for place, said in _at(subject, f"{word.holder}/{word.name}"):
            if said == word.text or (isinstance(said, dict) and list(said) == [word.text]):
                yield {"type": "other_schema", "loc": place, "ctx": context | {"member": False}}


DEFAULT_WRITTEN = Rule(
    id="wire.default-written",
    summary="A plan of schema 8.1 leaves out an optional member that has its default.",
    why="The engine reads a plan, writes it again and compares: two spellings of one plan would "
    "have two hashes, so it refuses the longer one.",
    fix="Leave the member out.",
    source=f"{_FORMAT} (canonical form)",
    example=Example(
        "bundle-8.1", {"/plan/payload/execution_weights/approximate_quality_approval": None}
    ),
)


def _written_defaults(subject: Subject) -> Iterator[Finding]:
    for left_out in LEFT_OUT:
        for place, said in _at(subject, f"{left_out.holder}/{left_out.name}"):
            if said == left_out.default and type(said) is type(left_out.default):
                yield DEFAULT_WRITTEN.finding(
                    f"The field `{left_out.name}` is written out as {quoted(said)}, where the "
                    "engine leaves it out.",
                    pointer("", *place),
                )


POLICY_TYPE = Rule(
    id="wire.policy-type",
    summary="The policy beside a plan of schema 8.1 is of the type that is known.",
    why="An engine may have policies of another type. What is missing here may be said there in "
    "other words, so what the plan owes the policy cannot be told in full.",
    fix="Give the policy that the plan was compiled under, as the engine writes it.",
    source=_FORMAT,
    severity="warning",
    undecided=True,
    example=Example("bundle-8.1", {"/policy/execution_determinism": DELETE}),
)


def _policy_type(subject: Subject, version: Schema | None) -> Iterator[Finding]:
    policy = subject.raw.get(POLICY)
    if not isinstance(policy, dict):
        return
    new = FORMS["policy"].optional
    missing = [] if version is None else sorted({*(new - policy.keys()), *_missing(policy)})
    nulls = sorted(name for name in new & policy.keys() if policy[name] is None)
    said = [f"has no {', '.join(marked(missing))}"] if missing else []
    said += [f"has `null` for {', '.join(marked(nulls))}"] if nulls else []
    if said:
        yield POLICY_TYPE.finding(
            f"The policy {in_series(said)}, so it may be of another type than the known one.",
            subject.places.policy,
        )


def _missing(policy: dict[str, Any]) -> Iterator[str]:
    """The members that the known type of policy has and this one lacks, wherever they belong."""
    try:
        _, faults = validated(model_of(FORMS["policy"]), policy)
    except TooManyFaultsError:
        return  # that there are so many is a finding of its own
    for detail, fault in zip(faults, wire_faults(faults, policy), strict=True):
        if fault.type == "missing":
            yield ".".join(map(str, (*fault.steps, detail["loc"][-1])))


def _at(subject: Subject, path: str) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """What stands at a path of the table, with the steps that lead there in the document."""
    part, *steps = path.split("/")
    if part not in subject.raw:
        return
    level = [(_steps(getattr(subject.places, part)), subject.raw[part])]
    for step in steps:
        below: list[tuple[tuple[str | int, ...], Any]] = []
        for place, value in level:
            if step != EACH:
                if isinstance(value, dict) and step in value:
                    below.append(((*place, step), value[step]))
            elif isinstance(value, dict):
                below += [((*place, key), member) for key, member in value.items()]
            elif isinstance(value, list):
                below += [((*place, index), member) for index, member in enumerate(value)]
        level = below
    yield from level


def _steps(place: str) -> tuple[str | int, ...]:
    return tuple(place.split("/")[1:])
