"""From a JSON value to the subject of an audit, past as many faults as can be read past.

A sound document is validated in one go. A faulty one is read part by part, so that a fault in
one part does not hide those in another; and a fault that leaves no doubt about what is meant
(a number in quotes, a field too many) is reported and read past, so that it hides nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ferrum_verify.documents.plan_schema import KNOWN_SCHEMAS, SCHEMA_5_0, SCHEMA_8_1, followed
from ferrum_verify.documents.primitives import Version
from ferrum_verify.findings import DELETE, Example, Finding, Rule, pointer
from ferrum_verify.reading.attributes import attribute_findings
from ferrum_verify.reading.checkpoint_wire import state_findings
from ferrum_verify.reading.document import Places, Subject
from ferrum_verify.reading.json_text import DUPLICATE_KEY
from ferrum_verify.reading.json_values import LIMIT, NOT_JSON
from ferrum_verify.reading.kinds import FORMS, detect, model_of, resemblance
from ferrum_verify.reading.load import UNREADABLE_FILE
from ferrum_verify.reading.parts import (
    Parts,
    bundle_parts,
    payload_of,
    readable_parts,
    sound_parts,
)
from ferrum_verify.reading.read_past import read_past, too_many_faults
from ferrum_verify.reading.schema_versions import Excuse, excuses, version_findings
from ferrum_verify.reading.validation import TooManyFaultsError, is_large, validated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.plan_schema import Schema
    from ferrum_verify.reading.document import Kind

_FORMAT = "docs/format.md, «Wire rules»"
MAXIMUM_ROWS = 65_536
"""Static and dynamic rows of one plan (seed 000, ``validate``)."""

MAXIMUM_NODES = 262_144
"""Nodes of one plan that are read at all: far more than fit any plan that the engine encodes."""


UNKNOWN_KIND = Rule(
    id="wire.unknown-kind",
    summary="The JSON value is a document of a known kind.",
    why="A plan in another wrapping is not a plan that the engine would load.",
    fix="Give an execution plan, a fragment, a memory plan, a planning problem, a bundle, a "
    "resolved model plan, a program, a catalog, a policy, a schedule or another planner's buffer "
    "plan; `ferrum-verify schema NAME` shows each one's form, and docs/get-your-plan.md how the "
    "engine writes them.",
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
    places = places_of(kind)
    too_many = _row_limit(kind, value, places)
    if too_many is not None:
        return None, [too_many]
    version = _version(kind, value)
    findings = [] if version is None else list(_about(version, places))
    parts, faults = _parts(kind, value, excuses(version, places))
    subject = Subject(
        kind=kind,
        places=places,
        raw=bundle_parts(kind, value),
        schema=None if version is None else followed(version),
        **parts,
    )
    faults += version_findings(value, subject, version)
    return subject, [
        *findings,
        *faults,
        *_newer_fields(subject),
        *attribute_findings(subject),
        *state_findings(subject),
    ]


def _parts(kind: Kind, value: Any, excused: Excuse) -> tuple[Parts, list[Finding]]:
    model = model_of(FORMS[kind])
    try:
        document, faults = validated(model, value)
        if document is not None:
            return sound_parts(kind, document), []
        meant, findings, document = read_past(model, value, faults, excused)
    except TooManyFaultsError:
        # To read the sound parts of so large a document would collect all those faults after all.
        parts: Parts = {} if is_large(value) else readable_parts(kind, value)
        return parts, [too_many_faults()]
    if document is not None:
        return sound_parts(kind, document), findings
    return readable_parts(kind, meant), findings


def places_of(kind: Kind) -> Places:  # noqa: PLR0911  (one for each kind)
    """Where the parts of a document of a kind stand in it."""
    match kind:
        case "execution-plan":
            return _plan_places("", {})
        case "bundle":
            return _plan_places(
                "/plan", {name: f"/{name}" for name in ("program", "catalog", "policy")}
            )
        case "resolved-model-plan":
            from ferrum_verify.documents.resolved import RESOLVED_PARTS  # noqa: PLC0415

            sources = {name: pointer("", *steps) for name, steps in RESOLVED_PARTS.items()}
            return _plan_places(sources.pop("plan"), sources)
        case "fragment":
            return Places(
                nodes="/nodes", memory="/memory", retained="/retained_completion_resources"
            )
        case "problem":
            return Places(nodes="/nodes", retained="/retained_completion_resources")
        case "buffer-plan":
            return Places(nodes="/nodes")
        case _:
            return Places()


def _plan_places(plan: str, sources: dict[str, str]) -> Places:
    payload = f"{plan}/payload"
    return Places(
        plan=plan,
        payload=payload,
        nodes=f"{payload}/nodes",
        memory=f"{payload}/memory",
        retained=f"{payload}/retained_completion_values",
        terminal=f"{payload}/terminal_output_resources",
        **sources,
    )


def _row_limit(kind: Kind, value: dict[str, Any], places: Places) -> Finding | None:
    match kind:
        case "memory-plan" | "problem":
            plan: dict[str, Any] = value
            rows: Any = value
        case "fragment":
            plan, rows = value, value.get("memory")
        case "buffer-plan":
            plan, rows = value, None
        case _:
            plan = payload_of(kind, value)
            rows = plan.get("memory")
    nodes = _length(plan, "nodes")
    if nodes > MAXIMUM_NODES:
        return LIMIT.finding(
            f"The plan has {nodes:,} nodes, more than {MAXIMUM_NODES:,}.", places.nodes
        )
    buffers = _length(value, "buffers") if kind == "buffer-plan" else 0
    if buffers > MAXIMUM_NODES:
        return LIMIT.finding(
            f"The plan has {buffers:,} buffers, more than {MAXIMUM_NODES:,}.", "/buffers"
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


def _version(kind: Kind, value: dict[str, Any]) -> Schema | None:
    """The schema version that a plan names; None where there is none, or no legal one."""
    try:
        version = Version.model_validate(payload_of(kind, value).get("schema"))
    except ValidationError:
        return None  # a fault like any other
    return version.major, version.minor


SCHEMA_VERSION = Rule(
    id="wire.schema-version",
    summary="The plan has schema version 5.0 or 8.1.",
    why="Fields of another version may change what the known ones mean, so a plan that passes "
    "all known checks may still be wrong.",
    fix="Audit the plan with a release of this tool that knows the version.",
    source="docs/format.md, «Plan schema 8.1»",
    severity="warning",
    undecided=True,
    example=Example("bundle", {"/plan/payload/schema/minor": 1}),
)
PUBLIC_SCHEMA = Rule(
    id="wire.schema-from-public-files",
    summary="The plan's schema version was seen in a plan of the engine.",
    why="Version 8.1 is known from what the engine's authors published, which stood at different "
    "commits; a plan that the engine wrote may have what those files do not show.",
    fix="Please send a plan that your engine wrote, verified or not, with the report of its audit.",
    source="docs/format.md, «Plan schema 8.1»",
    severity="note",
    example=Example("bundle-8.1", {}),
)


def _about(version: Schema, places: Places) -> Iterator[Finding]:
    location = pointer(places.payload, "schema")
    named = "{}.{}".format(*version)
    if version not in KNOWN_SCHEMAS:
        yield SCHEMA_VERSION.finding(
            f"The plan has schema version {named}; only what it has in common with version "
            f"{'{}.{}'.format(*followed(version))} was checked.",
            location,
        )
    elif version == SCHEMA_8_1:
        yield PUBLIC_SCHEMA.finding(
            f"Plan schema {named} is known from public files, and was not yet seen in a plan of "
            "the engine; please send one. Program bindings were judged as in 5.0, and what the "
            "weight schema says of its own hashes and encodings was not judged.",
            location,
        )


NEWER_FIELD = Rule(
    id="wire.newer-field",
    summary="No pool of a plan of schema 5.0 has a `checkpoint_growth_ceiling_bytes`.",
    why="Engines of that schema derive no growth; what the number is derived from is not in the "
    "plan, so whether the pool's totals are right cannot be told.",
    fix="Compile the plan with an engine that writes schema 8.1.",
    source="docs/format.md, «Wire rules» (optional fields of newer engines)",
    severity="warning",
    undecided=True,
    example=Example(
        "bundle", {"/plan/payload/memory/dynamic_pools/0/checkpoint_growth_ceiling_bytes": 4096}
    ),
)


def _newer_fields(subject: Subject) -> Iterator[Finding]:
    if subject.memory is None or subject.schema != SCHEMA_5_0:
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
