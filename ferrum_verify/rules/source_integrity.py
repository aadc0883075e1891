"""Integrity rules of a plan's sources: the catalog, program and policy that it came from.

The fingerprints of the catalog, the program and the operations cover the engine's own key
order: once a tool has sorted a document's keys they are lost, which is a note and no fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.findings import Example, Rule, pointer
from ferrum_verify.plan.canonical import bucket_id, keys_are_sorted, ordered_fingerprint
from ferrum_verify.plan.number_notation import (
    differing_fingerprint,
    differing_ordered_fingerprint,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrum_verify.documents.reusable import BucketSpec
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject

_FORMAT = "docs/format.md, «Canonical fingerprints»"
_PAYLOAD = "/plan/payload"
_ZERO = "0" * 64


def check(subject: Subject) -> Iterator[Finding]:
    """Findings of all integrity rules of the sources."""
    yield from _check_program(subject)
    yield from _check_catalog(subject)
    yield from _check_policy(subject)


PROGRAM = Rule(
    id="integrity.program-fingerprint",
    summary="The plan was compiled from the program at hand.",
    why="The plan would compute another model than its program says.",
    fix="Give the program that the plan was compiled from, or compile again.",
    source=_FORMAT,
    example=Example("bundle", {f"{_PAYLOAD}/program_fingerprint": _ZERO}),
)


def _check_program(subject: Subject) -> Iterator[Finding]:
    header, raw = subject.header, subject.raw.get("program")
    if header is None or raw is None:
        return
    computed = differing_ordered_fingerprint(header.program_fingerprint, raw)
    if computed is None:
        return
    if keys_are_sorted(raw):
        yield _keys_sorted("program", "its fingerprint", subject.places.program)
        return
    yield PROGRAM.finding(
        f"The plan was compiled from the program {short(header.program_fingerprint)}, but this "
        f"program is {short(computed)}.",
        pointer(subject.places.payload, "program_fingerprint"),
        expected=computed,
        actual=header.program_fingerprint,
    )


CATALOG = Rule(
    id="integrity.catalog-fingerprint",
    summary="The plan was compiled against the capability catalog at hand.",
    why="The catalog says which kernels exist and what they accept; against another one the plan "
    "may select a kernel that is not there.",
    fix="Give the catalog that the plan was compiled against, or compile again.",
    source=_FORMAT,
    example=Example("bundle", {f"{_PAYLOAD}/capability_catalog_fingerprint": _ZERO}),
)


def _check_catalog(subject: Subject) -> Iterator[Finding]:
    header, raw = subject.header, subject.raw.get("catalog")
    if subject.catalog is None or raw is None:
        return
    if header is not None:
        stated = header.capability_catalog_fingerprint
        computed = differing_ordered_fingerprint(stated, raw)
        if computed is not None and not keys_are_sorted(raw):
            # Of another catalog, the operations' fingerprints say nothing about this plan.
            yield CATALOG.finding(
                f"The plan was compiled against the catalog {short(stated)}, but this catalog is "
                f"{short(computed)}.",
                pointer(subject.places.payload, "capability_catalog_fingerprint"),
                expected=computed,
                actual=stated,
            )
            return
        if computed is not None:
            yield _keys_sorted(
                "catalog", "its fingerprint and its operations'", subject.places.catalog
            )
            return
    faults = list(_check_operations(subject, raw["operations"]))
    if faults and keys_are_sorted(raw):
        yield _keys_sorted("catalog", "its operations' fingerprints", subject.places.catalog)
        return
    yield from faults


OPERATION = Rule(
    id="integrity.operation-fingerprint",
    summary="An operation hashes to the fingerprint that a node or provider has for it.",
    why="The fingerprint pins the operation's contract. A node or provider that was built for "
    "another contract may read ports or workspaces that this one does not have.",
    fix="Rebuild the provider for the operation as it is, and compile the plan again.",
    source=_FORMAT,
    example=Example("bundle", {f"{_PAYLOAD}/nodes/0/operation_fingerprint": _ZERO}),
)


def _check_operations(subject: Subject, operations: Mapping[str, Any]) -> Iterator[Finding]:
    catalog = subject.catalog
    assert catalog is not None
    hashes = {name: ordered_fingerprint(operation) for name, operation in operations.items()}
    known = {name: {computed} for name, computed in hashes.items()}
    for operation_id, providers in catalog.providers.items():
        if operation_id not in hashes:
            continue
        for index, provider in enumerate(providers):
            claim = provider.operation_fingerprint
            computed = differing_ordered_fingerprint(claim, operations[operation_id])
            known[operation_id].add(claim)
            if computed is None:
                continue
            yield OPERATION.finding(
                f"Provider `{provider.provider_id}` was built for operation `{operation_id}` with "
                f"fingerprint {short(claim)}, but the catalog's hashes to {short(computed)}.",
                pointer(
                    subject.places.catalog,
                    "providers",
                    operation_id,
                    index,
                    "operation_fingerprint",
                ),
                expected=computed,
                actual=claim,
            )
    for index, node in enumerate(subject.plan_nodes or ()):
        # A node that has what a provider has follows it: what is wrong with that is said there.
        if node.operation_id in known and (
            node.operation_fingerprint not in known[node.operation_id]
        ):
            expected = hashes[node.operation_id]
            yield OPERATION.finding(
                f"Node `{node.id}` has fingerprint {short(node.operation_fingerprint)} for "
                f"operation `{node.operation_id}`, but the catalog's hashes to {short(expected)}.",
                pointer(subject.places.nodes, index, "operation_fingerprint"),
                expected=expected,
                actual=node.operation_fingerprint,
            )


POLICY = Rule(
    id="integrity.policy-fingerprint",
    summary="The plan was compiled under the runtime policy at hand.",
    why="The policy sets the plan's capacities and ceilings; under another one the engine admits "
    "more than the plan has memory for.",
    fix="Give the policy that the plan was compiled under, or compile again.",
    source=_FORMAT,
    example=Example("bundle", {f"{_PAYLOAD}/policy_fingerprint": _ZERO}),
)
POLICY_ITSELF = Rule(
    id="integrity.policy-edited",
    summary="A runtime policy's `fingerprint` is the hash of the rest of it.",
    why="The policy was edited after it was approved: its limits are not those that anybody "
    "signed off.",
    fix="Let the tool that writes the policy compute its fingerprint.",
    source=_FORMAT,
    example=Example("bundle", {"/policy/fingerprint": _ZERO}),
)


def _check_policy(subject: Subject) -> Iterator[Finding]:
    raw, policy = subject.raw.get("policy"), subject.policy
    if raw is None or policy is None:
        return
    rest = {key: value for key, value in raw.items() if key != "fingerprint"}
    own = differing_fingerprint(policy.fingerprint, rest)
    if policy.reusable_execution is not None:
        yield from _check_buckets(policy.reusable_execution.buckets, subject.places.policy)
    if own is not None:
        yield POLICY_ITSELF.finding(
            f"The policy `{policy.policy_id}` hashes to {short(own)}, but its fingerprint is "
            f"{short(policy.fingerprint)}, so it was edited.",
            pointer(subject.places.policy, "fingerprint"),
            expected=own,
            actual=policy.fingerprint,
        )
        return  # what the plan was compiled under was the policy before that edit
    header = subject.header
    if header is None:
        return
    computed = differing_fingerprint(header.policy_fingerprint, raw)
    if computed is not None:
        yield POLICY.finding(
            f"The plan was compiled under the policy {short(header.policy_fingerprint)}, but "
            f"this policy is {short(computed)}.",
            pointer(subject.places.payload, "policy_fingerprint"),
            expected=computed,
            actual=header.policy_fingerprint,
        )


BUCKET_ID = Rule(
    id="integrity.bucket-id",
    summary="A bucket of the policy's reusable execution is named by the hash of its class "
    "and capacity.",
    why="Captured programs are filed under the bucket's id: under a wrong one the engine looks up "
    "a program for another shape, or none.",
    fix="Let the tool that writes the policy name the bucket.",
    source=_FORMAT,
    example=Example(
        "bundle",
        {"/policy/reusable_execution/buckets/0/bucket_id": f"reusable-bucket/sha256/{_ZERO}"},
    ),
)


def _check_buckets(buckets: Sequence[BucketSpec], location: str) -> Iterator[Finding]:
    for index, bucket in enumerate(buckets):
        capacity = bucket.capacity
        computed = bucket_id(
            bucket.class_id,
            capacity.maximum_sequences,
            capacity.maximum_tokens,
            capacity.maximum_pages,
        )
        if not (capacity.maximum_sequences and capacity.maximum_tokens and capacity.maximum_pages):
            continue  # a capacity of 0 is a fault of its own, and none has its id
        if bucket.bucket_id != computed:
            yield BUCKET_ID.finding(
                f"Bucket {index} of class `{bucket.class_id}` in the policy has the id "
                f"`{bucket.bucket_id}`, but its class and capacity make it `{computed}`.",
                pointer(location, "reusable_execution", "buckets", index, "bucket_id"),
                expected=computed,
                actual=bucket.bucket_id,
            )


KEYS_SORTED = Rule(
    id="integrity.keys-sorted",
    summary="A document's keys stand in the engine's order, so that its fingerprint can be "
    "recomputed.",
    why="The fingerprints of catalogs, programs and operations cover the engine's own order of "
    "keys, which sorting destroys. The document may well be the right one.",
    fix="Keep the document as the engine wrote it (for `jq`: without `-S`).",
    source=_FORMAT,
    severity="note",
)


def _keys_sorted(document: str, lost: str, location: str) -> Finding:
    return KEYS_SORTED.finding(
        f"The {document}'s keys have been sorted, so {lost} cannot be recomputed.", location
    )


def short(name: str) -> str:
    """A name as it is, a fingerprint by its first digits: enough to tell two apart."""
    return f"{name[:12]}…" if len(name) == 64 else name
