"""Integrity rules of a plan: what it says of itself must recompute.

The fingerprints of the documents that it came from are judged in ``source_integrity``, and that
the plan has one spelling in ``canonical_form``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.findings import Example, Rule, pointer
from ferrum_verify.plan.number_notation import differing_fingerprint
from ferrum_verify.rules import source_integrity
from ferrum_verify.rules.source_integrity import short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject

_FORMAT = "docs/format.md, «Canonical fingerprints»"
_PAYLOAD = "/plan/payload"
_ZERO = "0" * 64


def check(subject: Subject) -> Iterator[Finding]:
    """Findings of all integrity rules."""
    if "plan" in subject.raw:
        yield from _check_plan_hash(subject.raw["plan"], subject)
        yield from _check_estimates(subject)
    yield from source_integrity.check(subject)


def estimate_holds(subject: Subject, index: int) -> bool:
    """Whether the estimate of the node at ``index`` is what its fingerprint covers.

    An estimate that was edited says nothing; what follows from it is no fault of its own.
    """
    estimate = subject.raw["plan"]["payload"]["nodes"][index]["provider_resources"]
    rest = {key: value for key, value in estimate.items() if key != "estimate_fingerprint"}
    return differing_fingerprint(estimate["estimate_fingerprint"], rest) is None


PLAN_HASH = Rule(
    id="integrity.plan-hash",
    summary="`plan_hash` is the hash of the payload.",
    why="The hash is how a running engine, its caches and its captured programs know a plan. A "
    "payload that was edited after it was hashed is another plan under the old name.",
    fix="Let the engine compile the plan again; do not edit a compiled plan.",
    source=_FORMAT,
    example=Example("bundle", {"/plan/plan_hash": _ZERO}),
)


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
    agrees = ", and its `plan_id` repeats the latter" if plan_id == own_id else ""
    yield PLAN_HASH.finding(
        f"The payload hashes to {short(computed)}, but `plan_hash` is {short(plan_hash)}{agrees}.",
        pointer(subject.places.plan, "plan_hash"),
        expected=computed,
        actual=plan_hash,
    )
    if plan_id not in (own_id, expected_id):
        yield _plan_id(plan_id, expected_id, subject)


PLAN_ID = Rule(
    id="integrity.plan-id",
    summary="`plan_id` is `plan/sha256/` and the hash of the payload.",
    why="Logs, caches and checkpoints name a plan by its id; a forged one points them at a plan "
    "that they never saw.",
    fix="Write the id that belongs to the hash.",
    source=_FORMAT,
    example=Example("bundle", {f"{_PAYLOAD}/plan_id": f"plan/sha256/{_ZERO}"}),
)


def _plan_id(actual: str, expected: str, subject: Subject) -> Finding:
    return PLAN_ID.finding(
        f"The plan's id is `{actual}`, but the payload's hash makes it `{expected}`.",
        pointer(subject.places.payload, "plan_id"),
        expected=expected,
        actual=actual,
    )


ESTIMATE = Rule(
    id="integrity.estimate-fingerprint",
    summary="A node's `estimate_fingerprint` is the hash of its provider's estimate.",
    why="The estimate bounds what the kernel writes. One that was edited after the provider gave "
    "it may promise less memory than the kernel takes.",
    fix="Ask the provider's estimator again and keep its answer as it is.",
    source=_FORMAT,
    example=Example(
        "bundle", {f"{_PAYLOAD}/nodes/0/provider_resources/estimate_fingerprint": _ZERO}
    ),
)


def _check_estimates(subject: Subject) -> Iterator[Finding]:
    if subject.plan_nodes is None:
        return
    for index, node in enumerate(subject.plan_nodes):
        if not estimate_holds(subject, index):
            provider = node.provider_resources.provider_id
            yield ESTIMATE.finding(
                f"The estimate that provider `{provider}` gave for node `{node.id}` does not "
                "hash to its `estimate_fingerprint`, so it was edited.",
                pointer(subject.places.nodes, index, "provider_resources", "estimate_fingerprint"),
                actual=node.provider_resources.estimate_fingerprint,
            )
