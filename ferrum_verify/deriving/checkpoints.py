"""From a bundle document to its checkpoint: reading, refusing, deriving."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Any

from ferrum_verify.derive.checkpoint import derive_checkpoint
from ferrum_verify.documents.bundle import CheckpointBundle
from ferrum_verify.findings import Finding
from ferrum_verify.findings.errors import DerivationError, DocumentError, summarise
from ferrum_verify.reading.document import Places
from ferrum_verify.reading.kinds import detect
from ferrum_verify.reading.load import LoadedDocument, from_memory, read_documents
from ferrum_verify.reading.parse import UNKNOWN_KIND
from ferrum_verify.reading.parts import bundle_parts
from ferrum_verify.reading.read_past import too_many_faults
from ferrum_verify.reading.validation import TooManyFaultsError, validated
from ferrum_verify.reading.wire_faults import wire_faults
from ferrum_verify.reading.wire_findings import finding_of
from ferrum_verify.rules.checkpoint_causes import locate
from ferrum_verify.rules.descriptor_rows import check_rows

if TYPE_CHECKING:
    from ferrum_verify.derive.checkpoint_layout import Refusal, RefusalKind, SequenceCheckpoint

_BUNDLE = Places(
    nodes="/plan/payload/nodes",
    memory="/plan/payload/memory",
    program="/program",
    catalog="/catalog",
)

_RULE_OF: dict[RefusalKind, str] = {
    "no-providers": "contract.provider-not-offered",
    "provider-absent": "contract.provider-not-offered",
    "provider-identity": "contract.provider-differs",
    "state-size": "contract.state-differs",
    "descriptor-size": "descriptor.illegal-demand",
    "false-alias": "value.false-alias",
    "alias-order": "value.alias-order",
}
"""The rules by which an audit reports what the derivation refuses."""


def derive_sequence_checkpoint(
    bundle: dict[str, Any] | str | os.PathLike[str],
) -> SequenceCheckpoint:
    """Whether the plan of a bundle can checkpoint its sequences, and at which boundaries.

    ``bundle`` is parsed JSON or the path of a document; of the plan, the program and the
    catalog in it only what the derivation reads need be there. The answer has a ``layout``
    or, in the engine's order, the ``reasons`` why there is none. Raises DocumentError on
    malformed input and DerivationError where seed 004's ``derive_sequence_checkpoint``
    returns an error; both hold every fault in ``findings``.
    """
    document = _bundle_of(_one_document(bundle))
    try:
        parts, faults = validated(CheckpointBundle, document)
        findings = [finding_of(fault) for fault in wire_faults(faults, document)]
    except TooManyFaultsError:
        parts, findings = None, [too_many_faults()]
    if parts is not None:
        rows = parts.plan.payload.memory.dynamic_descriptors
        findings += check_rows(rows, f"{_BUNDLE.memory}/dynamic_descriptors")
    if parts is None or findings:
        raise DocumentError(summarise(findings), findings)
    derivation = derive_checkpoint(
        parts.program,
        parts.plan.payload.nodes,
        parts.plan.payload.memory.dynamic_descriptors,
        parts.catalog.providers,
        parts.plan.payload.followed_schema,
    )
    if derivation.refusals:
        findings = [_refusal_finding(refusal) for refusal in derivation.refusals]
        raise DerivationError(summarise(findings), findings)
    return derivation.checkpoint


def _bundle_of(document: Any) -> Any:
    # An object of no known kind may still be a bundle with a part missing: its faults say so.
    kind = detect(document)
    if kind == "resolved-model-plan":
        return bundle_parts(kind, document)
    if kind is None and not isinstance(document, dict):
        unknown = "The value is no document of a known kind."
        raise DocumentError(unknown, [UNKNOWN_KIND.finding(unknown)])
    if kind not in (None, "bundle"):
        raise DocumentError(f"a {kind} is no bundle, which a checkpoint is derived from")
    return document


def _refusal_finding(refusal: Refusal) -> Finding:
    return Finding(
        rule=_RULE_OF[refusal.kind],
        judgment="conformance",
        severity="error",
        message=refusal.message,
        location=locate(refusal.place, _BUNDLE),
    )


def _one_document(bundle: dict[str, Any] | str | os.PathLike[str]) -> Any:
    if isinstance(bundle, str | os.PathLike):
        # One more than is wanted shows that there are several.
        loaded = _only(list(islice(read_documents(bundle), 2)))
    else:
        loaded = from_memory(bundle)
    if loaded.findings:
        raise DocumentError(summarise(loaded.findings), loaded.findings)
    return loaded.value


def _only(documents: list[LoadedDocument]) -> LoadedDocument:
    if len(documents) != 1:
        raise DocumentError(
            f"{documents[0].source} is not the only document of its file, and a checkpoint is "
            "derived from one"
        )
    return documents[0]
