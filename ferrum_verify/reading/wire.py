"""Wire rules: is this a document at all, and does it keep to the engine's JSON to the letter?

These rules have no ``check`` of their own: loading (``documents.load``), the kind
(``documents.kinds``) and parsing (``documents.parse``, ``documents.wire_findings``) find
their faults before there is a subject that a check could read.
"""

from __future__ import annotations

from typing import Any

from ferrum_verify.findings import DELETE, Example, Rule

_FORMAT = "wire format, «Wire rules»"
_MEMORY_WIRE = "seed 000, `MemoryPlanWire` (`deny_unknown_fields`); wire format, «Wire rules»"
_PREFIX = "/providers/operation.embed/0/checkpoint_capability/completed_boundary/boundaries/prefix"
_DEEP: Any = 0
for _ in range(200):
    _DEEP = [_DEEP]

UNREADABLE_FILE = Rule(
    id="wire.unreadable-file",
    summary="The file cannot be opened, or its bytes cannot be read to the end.",
    why="Nothing can be said about a plan that was never seen.",
    fix="Check the path and its permissions; write a damaged archive again.",
    source="reading files",
)
NOT_JSON = Rule(
    id="wire.not-json",
    summary="The input is not JSON.",
    why="The engine's reader stops at the first byte that is no JSON, and loads no plan. It "
    "knows no NaN, no Infinity, no byte-order mark, no half of a surrogate pair, and no "
    "number that a 64-bit float cannot hold.",
    fix="Write the document with a JSON library, as UTF-8 and without a byte-order mark.",
    source=_FORMAT,
    example=Example("fragment", {"/memory/static_bytes": float("nan")}),
)
DUPLICATE_KEY = Rule(
    id="wire.duplicate-key",
    summary="An object holds the same key twice.",
    why="Readers disagree on which of the two counts, so two programs would see two plans "
    "under one hash. The engine refuses both.",
    fix="Keep one of the two members.",
    source=_FORMAT,
)
LIMIT = Rule(
    id="wire.limit",
    summary="The document passes a limit: 16 MiB of JSON for a plan (64 MiB for a bundle), 127 "
    "levels of nesting, 65,536 static and dynamic rows, or 262,144 nodes.",
    why="The engine reads no larger plan, so that a hostile one cannot exhaust the host.",
    fix="Split the model, or drop what is not part of the plan.",
    source="wire format, «Wire rules»; seed 000, `validate` (resource rows)",
    example=Example("fragment", {"/nodes": _DEEP}),
)
UNKNOWN_KIND = Rule(
    id="wire.unknown-kind",
    summary="The JSON value is no document of a known kind.",
    why="A plan in another wrapping is not a plan that the engine would load.",
    fix="Give an execution plan, a fragment, a memory plan, a planning problem, a bundle, a "
    "program, a catalog or a policy; `ferrum-verify schema NAME` shows each one's form.",
    source="wire format, «Documents»",
    example=Example("fragment", {"/nodes": DELETE, "/memory": DELETE}),
)
TYPE = Rule(
    id="wire.type",
    summary="A value has another JSON type than its field.",
    why='The engine\'s reader converts nothing: 48.0, the text "48" and `true` are no numbers '
    "to it, and the whole document is refused.",
    fix="Write the value in the field's own type.",
    source=_MEMORY_WIRE,
    example=Example("fragment", {"/memory/reserve_bytes": "8192"}),
)
RANGE = Rule(
    id="wire.range",
    summary="A number lies outside of its field's unsigned range.",
    why="Byte counts are u64, sequence and instance counts u32, version numbers u16: a larger "
    "or negative number has no representation in the engine.",
    fix="Write a number that the field can hold.",
    source=_FORMAT,
    example=Example("fragment", {"/memory/reserve_bytes": -1}),
)
UNKNOWN_FIELD = Rule(
    id="wire.unknown-field",
    summary="An object has a field that its kind does not have.",
    why="A field that the engine does not know could carry a meaning that it would ignore, so "
    "it refuses the document instead.",
    fix="Remove the field, or correct its spelling.",
    source=_MEMORY_WIRE,
    example=Example("fragment", {"/memory/comment": "made by hand"}),
)
MISSING_FIELD = Rule(
    id="wire.missing-field",
    summary="An object lacks a field.",
    why="The engine assumes no defaults: a plan states every number that it was derived from.",
    fix="Add the field; `null` is written where nothing stands.",
    source=_MEMORY_WIRE,
    example=Example("fragment", {"/memory/reserve_bytes": DELETE}),
)
IDENTITY = Rule(
    id="wire.identity",
    summary="A name is not 1 to 160 ASCII letters, digits and `. _ - : /`.",
    why="Names are hashed and compared byte by byte; only this alphabet reads the same in every "
    "program.",
    fix="Rename the thing, everywhere it is referred to.",
    source=_FORMAT,
    example=Example("fragment", {"/nodes/0/id": "attention layer 0"}),
)
FINGERPRINT = Rule(
    id="wire.fingerprint",
    summary="A fingerprint is not 64 lowercase hex digits.",
    why="Fingerprints are compared as text, so another spelling of the same hash is a mismatch.",
    fix="Write the SHA-256 in lowercase hex.",
    source=_FORMAT,
    example=Example("bundle", {"/plan/payload/program_fingerprint": "deadbeef"}),
)
UNKNOWN_VARIANT = Rule(
    id="wire.unknown-variant",
    summary="An enum has a value that the engine does not know.",
    why="The engine cannot run a mode, usage or layout that it has no code for.",
    fix="Use one of the values that the message lists.",
    source=_FORMAT,
    example=Example("fragment", {"/memory/invocation_liveness_mode": "best_effort"}),
)
U128 = Rule(
    id="wire.u128",
    summary="A 128-bit total is not a string with the number's shortest decimal form.",
    why="JSON numbers beyond 2^53 do not survive every reader, so totals of that size are text, "
    "and have exactly one spelling because they are hashed.",
    fix="Write the number in quotes, without sign or leading zeros.",
    source="seed 000, `CanonicalU128`; wire format, «Wire rules»",
    example=Example("fragment", {"/memory/theoretical_ceiling_bytes": 1167232}),
)
CONTRACT_VERSION = Rule(
    id="wire.contract-version",
    summary="A checkpoint declaration has another contract version than 1.0.",
    why="What a newer contract promises is unknown; restoring a state under it could corrupt it.",
    fix="Declare version 1.0, or declare the checkpoint `unsupported`.",
    source="seed 004; wire format, «Sequence checkpoints»",
    example=Example("program", {"/checkpoint_inputs/contract_version/major": 2}),
)
SPAN = Rule(
    id="wire.span",
    summary="A boundary constraint permits no count of tokens that fits 64 bits.",
    why="A span whose smallest legal length overflows can never be met by a prompt.",
    fix="Lower the minimum or the alignment of the prefix or the suffix.",
    source="seed 004; wire format, «Sequence checkpoints»",
    example=Example("catalog", {f"{_PREFIX}/minimum_tokens": 2**64 - 1, f"{_PREFIX}/alignment": 2}),
)
OVERLAPPING_INPUTS = Rule(
    id="wire.overlapping-inputs",
    summary="One input is declared as two of token, conditioning and output-only input.",
    why="Whether the input must be captured with a checkpoint would be contradictory.",
    fix="Name each input once.",
    source="seed 004; wire format, «Sequence checkpoints»",
    example=Example("program", {"/checkpoint_inputs/conditioning_inputs": ["value.bias"]}),
)
TOO_MANY_FAULTS = Rule(
    id="wire.too-many-faults",
    summary="The document departs from its form in more places than are listed one by one.",
    why="Such a document was not written by the engine: a list of all its faults would help "
    "nobody, and making it could exhaust the host.",
    fix="Correct what writes the document; all its faults most likely have one cause.",
    source=_FORMAT,
    example=Example("fragment", {"/memory": dict.fromkeys(map(str, range(20_001)), 0)}),
)
SCHEMA_VERSION = Rule(
    id="wire.schema-version",
    summary="The plan has another schema version than 5.0.",
    why="Fields of another version may change what the known ones mean, so a plan that passes "
    "all known checks may still be wrong.",
    fix="Audit the plan with a release of this tool that knows the version.",
    source=_FORMAT,
    severity="warning",
    undecided=True,
    example=Example("bundle", {"/plan/payload/schema/minor": 1}),
)
NEWER_FIELD = Rule(
    id="wire.newer-field",
    summary="A pool has a `checkpoint_growth_ceiling_bytes`, which only newer engines write.",
    why="The pool's totals then contain bytes that the known derivation does not account for; "
    "whether they are right cannot be told.",
    fix="Audit the plan with a release of this tool that knows the field.",
    source="wire format, «Wire rules» (optional fields of newer engines)",
    severity="warning",
    undecided=True,
    example=Example("fragment", {"/memory/dynamic_pools/0/checkpoint_growth_ceiling_bytes": 4096}),
)

UNREADABLE = frozenset(
    rule.id for rule in (UNREADABLE_FILE, NOT_JSON, DUPLICATE_KEY, LIMIT, UNKNOWN_KIND)
)
"""The rules whose findings leave no document to check."""
