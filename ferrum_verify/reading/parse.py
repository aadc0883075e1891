"""From a JSON value to the subject of an audit, past as many faults as can be read past.

A sound document is validated in one go. A faulty one is read part by part, so that a fault in
one part does not hide those in another; and a fault that leaves no doubt about what is meant
(a number in quotes, a field too many) is reported and read past, so that it hides nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ferrum_verify.documents.primitives import Version
from ferrum_verify.findings import DELETE, Example, Finding, Rule, pointer
from ferrum_verify.reading.document import Places, Subject
from ferrum_verify.reading.json_text import DUPLICATE_KEY
from ferrum_verify.reading.json_values import LIMIT, NOT_JSON
from ferrum_verify.reading.kinds import FORMS, detect, model_of, resemblance
from ferrum_verify.reading.load import UNREADABLE_FILE
from ferrum_verify.reading.parts import Parts, payload_of, readable_parts, sound_parts
from ferrum_verify.reading.read_past import read_past, too_many_faults
from ferrum_verify.reading.validation import TooManyFaultsError, is_large, validated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.reading.document import Kind

_FORMAT = "docs/format.md, «Wire rules»"
MAXIMUM_ROWS = 65_536
"""Static and dynamic rows of one plan (seed 000, ``validate``)."""

MAXIMUM_NODES = 262_144
"""Nodes of one plan that are read at all: far more than fit any plan that the engine encodes."""

KNOWN_SCHEMA = (5, 0)
"""The schema version of execution plans whose rules this package knows."""


UNKNOWN_KIND = Rule(
    id="wire.unknown-kind",
    summary="The JSON value is a document of a known kind.",
    why="A plan in another wrapping is not a plan that the engine would load.",
    fix="Give an execution plan, a fragment, a memory plan, a planning problem, a bundle, a "
    "program, a catalog, a policy or a schedule; `ferrum-verify schema NAME` shows each one's "
    "form.",
    source="docs/format.md, «Documents»",
    example=Example("fragment", {"/nodes": DELETE, "/memory": DELETE}),
)
UNREADABLE = frozenset(
    rule.id for rule in (UNREADABLE_FILE, NOT_JSON, DUPLICATE_KEY, LIMIT, UNKNOWN_KIND)
)
"""The rules whose findings leave no document to check."""


def subject_of(value: Any) -> tuple[Subject | None, list[Finding]]:
    """The readable parts of a document, and what is wrong with its wire form.

    ``value`` is plain JSON (``reading.load`` sees to that). The subject is None exactly when
    the document is unreadable: of no known kind, or past a limit.
    """
    kind = detect(value)
    if kind is None:
        return None, [
            UNKNOWN_KIND.finding(f"The value is no document of a known kind{resemblance(value)}.")
        ]
    places = _places(kind)
    too_many = _row_limit(kind, value, places)
    if too_many is not None:
        return None, [too_many]
    newer = _newer_schema(kind, value, places)
    findings = [newer] if newer is not None else []
    parts, faults = _parts(kind, value, None if newer is None else places.payload)
    subject = Subject(kind=kind, places=places, raw=_raw(kind, value), **parts)
    return subject, [*findings, *faults, *_newer_fields(subject)]


def _parts(kind: Kind, value: Any, newer_within: str | None) -> tuple[Parts, list[Finding]]:
    model = model_of(FORMS[kind])
    try:
        document, faults = validated(model, value)
        if document is not None:
            return sound_parts(kind, document), []
        meant, findings, document = read_past(model, value, faults, newer_within)
    except TooManyFaultsError:
        # To read the sound parts of so large a document would collect all those faults after all.
        parts: Parts = {} if is_large(value) else readable_parts(kind, value)
        return parts, [too_many_faults()]
    if document is not None:
        return sound_parts(kind, document), findings
    return readable_parts(kind, meant), findings


def _places(kind: Kind) -> Places:
    match kind:
        case "execution-plan" | "bundle":
            plan = "" if kind == "execution-plan" else "/plan"
            return Places(
                plan=plan,
                payload=f"{plan}/payload",
                nodes=f"{plan}/payload/nodes",
                memory=f"{plan}/payload/memory",
                retained=f"{plan}/payload/retained_completion_values",
                program="/program",
                catalog="/catalog",
                policy="/policy",
            )
        case "fragment":
            return Places(
                nodes="/nodes", memory="/memory", retained="/retained_completion_resources"
            )
        case "problem":
            return Places(nodes="/nodes", retained="/retained_completion_resources")
        case _:
            return Places()


def _raw(kind: Kind, value: dict[str, Any]) -> dict[str, Any]:
    match kind:
        case "bundle":
            names = ("plan", "program", "catalog", "policy")
            return {name: value[name] for name in names if value.get(name) is not None}
        case "execution-plan":
            return {"plan": value}
        case "program" | "catalog" | "policy":
            return {kind: value}
        case _:
            return {}


def _row_limit(kind: Kind, value: dict[str, Any], places: Places) -> Finding | None:
    match kind:
        case "memory-plan" | "problem":
            plan: dict[str, Any] = value
            rows: Any = value
        case "fragment":
            plan, rows = value, value.get("memory")
        case _:
            plan = payload_of(kind, value)
            rows = plan.get("memory")
    nodes = _length(plan, "nodes")
    if nodes > MAXIMUM_NODES:
        return LIMIT.finding(
            f"The plan has {nodes:,} nodes, more than {MAXIMUM_NODES:,}.", places.nodes
        )
    static, dynamic = _length(rows, "static_allocations"), _length(rows, "dynamic_descriptors")
    if static + dynamic <= MAXIMUM_ROWS:
        return None
    return LIMIT.finding(
        f"The plan has {static:,} static and {dynamic:,} dynamic rows, together more than "
        f"{MAXIMUM_ROWS:,}.",
        places.memory,
    )


def _length(value: Any, name: str) -> int:
    held = value.get(name) if isinstance(value, dict) else None
    return len(held) if isinstance(held, list) else 0


SCHEMA_VERSION = Rule(
    id="wire.schema-version",
    summary="The plan has schema version 5.0.",
    why="Fields of another version may change what the known ones mean, so a plan that passes "
    "all known checks may still be wrong.",
    fix="Audit the plan with a release of this tool that knows the version.",
    source=_FORMAT,
    severity="warning",
    undecided=True,
    example=Example("bundle", {"/plan/payload/schema/minor": 1}),
)


def _newer_schema(kind: Kind, value: dict[str, Any], places: Places) -> Finding | None:
    schema = payload_of(kind, value).get("schema")
    if schema is None:
        return None
    try:
        version = Version.model_validate(schema)
    except ValidationError:
        return None  # a fault like any other
    if (version.major, version.minor) == KNOWN_SCHEMA:
        return None
    return SCHEMA_VERSION.finding(
        f"The plan has schema version {version.major}.{version.minor}; only what it has in "
        f"common with version {KNOWN_SCHEMA[0]}.{KNOWN_SCHEMA[1]} was checked.",
        pointer(places.payload, "schema"),
    )


NEWER_FIELD = Rule(
    id="wire.newer-field",
    summary="No pool has a `checkpoint_growth_ceiling_bytes`, which only newer engines write.",
    why="The pool's totals then contain bytes that the known derivation does not account for; "
    "whether they are right cannot be told.",
    fix="Audit the plan with a release of this tool that knows the field.",
    source="docs/format.md, «Wire rules» (optional fields of newer engines)",
    severity="warning",
    undecided=True,
    example=Example("fragment", {"/memory/dynamic_pools/0/checkpoint_growth_ceiling_bytes": 4096}),
)


def _newer_fields(subject: Subject) -> Iterator[Finding]:
    if subject.memory is None:
        return
    for index, pool in enumerate(subject.memory.dynamic_pools):
        if pool.checkpoint_growth_ceiling_bytes:
            yield NEWER_FIELD.finding(
                f"The pool `{pool.pool_id}` counts {pool.checkpoint_growth_ceiling_bytes:,} bytes "
                f"for the growth of checkpoints, which only newer engines derive.",
                pointer(
                    subject.places.memory, "dynamic_pools", index, "checkpoint_growth_ceiling_bytes"
                ),
            )
