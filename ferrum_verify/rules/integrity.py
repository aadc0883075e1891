"""Integrity rules: every fingerprint that can be recomputed must recompute.

The plan's own hashes and the estimates' cover JSON with sorted keys. The fingerprints of the
catalog, the program and the operations cover the engine's own key order: once a tool has
sorted a document's keys they are lost, which is a note and not a fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.canonical import keys_are_sorted, ordered_fingerprint
from ferrum_verify.findings import Example, Rule, pointer
from ferrum_verify.number_notation import (
    differing_fingerprint,
    differing_ordered_fingerprint,
)
from ferrum_verify.rules.ascending import first_fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferrum_verify.findings import Finding
    from ferrum_verify.subject import Subject

_FORMAT = "execution-plan format, «Canonical fingerprints»"
_PAYLOAD = "/plan/payload"
_ZERO = "0" * 64

PLAN_HASH = Rule(
    id="integrity.plan-hash",
    summary="`plan_hash` is not the hash of the payload.",
    why="The hash is how a running engine, its caches and its captured programs know a plan. A "
    "payload that was edited after it was hashed is another plan under the old name.",
    fix="Let the engine compile the plan again; do not edit a compiled plan.",
    source=_FORMAT,
    example=Example("bundle", {"/plan/plan_hash": _ZERO}),
)
PLAN_ID = Rule(
    id="integrity.plan-id",
    summary="`plan_id` is not `plan/sha256/` and the hash of the payload.",
    why="Logs, caches and checkpoints name a plan by its id; a forged one points them at a plan "
    "that they never saw.",
    fix="Write the id that belongs to the hash.",
    source=_FORMAT,
    example=Example("bundle", {f"{_PAYLOAD}/plan_id": f"plan/sha256/{_ZERO}"}),
)
ESTIMATE = Rule(
    id="integrity.estimate-fingerprint",
    summary="A node's `estimate_fingerprint` is not the hash of its provider's estimate.",
    why="The estimate bounds what the kernel writes. One that was edited after the provider gave "
    "it may promise less memory than the kernel takes.",
    fix="Ask the provider's estimator again and keep its answer as it is.",
    source=_FORMAT,
    example=Example(
        "bundle", {f"{_PAYLOAD}/nodes/0/provider_resources/estimate_fingerprint": _ZERO}
    ),
)
CATALOG = Rule(
    id="integrity.catalog-fingerprint",
    summary="The plan was compiled against another capability catalog than the one at hand.",
    why="The catalog says which kernels exist and what they accept; against another one the plan "
    "may select a kernel that is not there.",
    fix="Give the catalog that the plan was compiled against, or compile again.",
    source=_FORMAT,
    example=Example("bundle", {f"{_PAYLOAD}/capability_catalog_fingerprint": _ZERO}),
)
PROGRAM = Rule(
    id="integrity.program-fingerprint",
    summary="The plan was compiled from another program than the one at hand.",
    why="The plan would compute another model than its program says.",
    fix="Give the program that the plan was compiled from, or compile again.",
    source=_FORMAT,
    example=Example("bundle", {f"{_PAYLOAD}/program_fingerprint": _ZERO}),
)
OPERATION = Rule(
    id="integrity.operation-fingerprint",
    summary="An operation does not hash to the fingerprint that a node or provider has for it.",
    why="The fingerprint pins the operation's contract. A node or provider that was built for "
    "another contract may read ports or workspaces that this one does not have.",
    fix="Rebuild the provider for the operation as it is, and compile the plan again.",
    source=_FORMAT,
    example=Example("bundle", {f"{_PAYLOAD}/nodes/0/operation_fingerprint": _ZERO}),
)
POLICY = Rule(
    id="integrity.policy-fingerprint",
    summary="The plan was compiled under another runtime policy than the one at hand.",
    why="The policy sets the plan's capacities and ceilings; under another one the engine admits "
    "more than the plan has memory for.",
    fix="Give the policy that the plan was compiled under, or compile again.",
    source=_FORMAT,
    example=Example("bundle", {f"{_PAYLOAD}/policy_fingerprint": _ZERO}),
)
POLICY_ITSELF = Rule(
    id="integrity.policy-edited",
    summary="A runtime policy's `fingerprint` is not the hash of the rest of it.",
    why="The policy was edited after it was approved: its limits are not those that anybody "
    "signed off.",
    fix="Let the tool that writes the policy compute its fingerprint.",
    source=_FORMAT,
    example=Example("bundle", {"/policy/fingerprint": _ZERO}),
)
KEYS_SORTED = Rule(
    id="integrity.keys-sorted",
    summary="Some tool has sorted a document's keys, so its fingerprint cannot be recomputed.",
    why="The fingerprints of catalogs, programs and operations cover the engine's own order of "
    "keys, which sorting destroys. The document may well be the right one.",
    fix="Keep the document as the engine wrote it (for `jq`: without `-S`).",
    source=_FORMAT,
    severity="note",
)
NOT_CANONICAL = Rule(
    id="integrity.not-canonical",
    summary="A list that stands for a set does not strictly ascend, or holds an entry twice.",
    why="Two spellings of one plan have two hashes, and the engine refuses the second.",
    fix="Sort the list and keep each entry once.",
    source="execution-plan format, «Execution-plan rules» (nothing non-canonical)",
    example=Example("bundle", {f"{_PAYLOAD}/nodes/0/required_capabilities": ["b", "a"]}),
)


def check(subject: Subject) -> Iterator[Finding]:
    """Findings of all integrity rules."""
    if "plan" in subject.raw:
        yield from _check_plan_hash(subject.raw["plan"], subject)
        yield from _check_estimates(subject)
        yield from _check_canonical(subject)
    yield from _check_program(subject)
    yield from _check_catalog(subject)
    yield from _check_policy(subject)


def estimate_holds(subject: Subject, index: int) -> bool:
    """Whether the estimate of the node at ``index`` is what its fingerprint covers.

    An estimate that was edited says nothing; what follows from it is no fault of its own.
    """
    estimate = subject.raw["plan"]["payload"]["nodes"][index]["provider_resources"]
    rest = {key: value for key, value in estimate.items() if key != "estimate_fingerprint"}
    return differing_fingerprint(estimate["estimate_fingerprint"], rest) is None


def _check_plan_hash(plan: Any, subject: Subject) -> Iterator[Finding]:
    payload = plan.get("payload") if isinstance(plan, dict) else None
    if not isinstance(payload, dict):
        return
    plan_hash, plan_id = plan.get("plan_hash"), payload.get("plan_id")
    if not isinstance(plan_hash, str) or not isinstance(plan_id, str):
        return
    rest = {key: value for key, value in payload.items() if key != "plan_id"}
    computed = differing_fingerprint(plan_hash, rest)
    own_id = f"plan/sha256/{plan_hash}"
    if computed is None:
        if plan_id != own_id:
            yield _plan_id(plan_id, own_id, subject)
        return
    expected_id = f"plan/sha256/{computed}"
    agrees = ", and its plan_id repeats the latter" if plan_id == own_id else ""
    yield PLAN_HASH.finding(
        f"The payload hashes to {short(computed)}, but plan_hash is {short(plan_hash)}{agrees}.",
        pointer(subject.places.plan, "plan_hash"),
        expected=computed,
        actual=plan_hash,
    )
    if plan_id not in (own_id, expected_id):
        yield _plan_id(plan_id, expected_id, subject)


def _plan_id(actual: str, expected: str, subject: Subject) -> Finding:
    return PLAN_ID.finding(
        f"The plan's id is {actual}, but the payload's hash makes it {expected}.",
        pointer(subject.places.payload, "plan_id"),
        expected=expected,
        actual=actual,
    )


def _check_estimates(subject: Subject) -> Iterator[Finding]:
    if subject.plan_nodes is None:
        return
    for index, node in enumerate(subject.plan_nodes):
        if not estimate_holds(subject, index):
            provider = node.provider_resources.provider_id
            yield ESTIMATE.finding(
                f"The estimate that provider {provider} gave for node {node.id} does not hash to "
                "its estimate_fingerprint, so it was edited.",
                pointer(subject.places.nodes, index, "provider_resources", "estimate_fingerprint"),
                actual=node.provider_resources.estimate_fingerprint,
            )


def _check_canonical(subject: Subject) -> Iterator[Finding]:
    header, nodes = subject.header, subject.plan_nodes
    if header is not None and (fault := first_fault(header.quantization_formats)) is not None:
        yield NOT_CANONICAL.finding(
            f"The plan's quantization formats do not strictly ascend: {fault.text}.",
            pointer(subject.places.payload, "quantization_formats", fault.position),
        )
    for index, node in enumerate(nodes or ()):
        if len(node.required_capabilities) < 2:
            continue
        if (fault := first_fault(node.required_capabilities)) is not None:
            yield NOT_CANONICAL.finding(
                f"The required capabilities of node {node.id} do not strictly ascend: "
                f"{fault.text}.",
                pointer(subject.places.nodes, index, "required_capabilities", fault.position),
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
                f"Provider {provider.provider_id} was built for operation {operation_id} with "
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
                f"Node {node.id} has fingerprint {short(node.operation_fingerprint)} for "
                f"operation {node.operation_id}, but the catalog's hashes to {short(expected)}.",
                pointer(subject.places.nodes, index, "operation_fingerprint"),
                expected=expected,
                actual=node.operation_fingerprint,
            )


def _check_policy(subject: Subject) -> Iterator[Finding]:
    raw, policy = subject.raw.get("policy"), subject.policy
    if raw is None or policy is None:
        return
    rest = {key: value for key, value in raw.items() if key != "fingerprint"}
    own = differing_fingerprint(policy.fingerprint, rest)
    if own is not None:
        yield POLICY_ITSELF.finding(
            f"The policy {policy.policy_id} hashes to {short(own)}, but its fingerprint is "
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


def _keys_sorted(document: str, lost: str, place: str) -> Finding:
    return KEYS_SORTED.finding(
        f"The {document}'s keys have been sorted, so {lost} cannot be recomputed.", place
    )


def short(fingerprint: str) -> str:
    """The first digits of a fingerprint, enough to tell two apart in a sentence."""
    return f"{fingerprint[:12]}…"
