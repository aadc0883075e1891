"""What a node's provider promises of running it again, and what the policy requires: schema 8.1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.documents.node import Incompatible, InsufficientExecutionDeterminism
from ferrum_verify.documents.plan_schema import SCHEMA_8_1
from ferrum_verify.findings import Example, Rule, pointer
from ferrum_verify.plan.canonical import semantics_fingerprint
from ferrum_verify.rules.source_integrity import short

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferrum_verify.documents.execution_semantics import Determinism, ExecutionSemantics
    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject

_FORMAT = "docs/format.md, «Plan schema 8.1» (execution semantics)"
_NODE = "/plan/payload/nodes/1/provider_execution_semantics"
_PROVIDER = "/catalog/providers/operation.norm/0/execution_semantics"
INELIGIBLE = semantics_fingerprint(1, 0, replayed=False)


def check(subject: Subject) -> Iterator[Finding]:
    """Findings of all rules of execution semantics; none in plans of another schema."""
    if subject.plan_nodes is not None and subject.schema == SCHEMA_8_1:
        yield from _check_nodes(subject)
    if subject.catalog is None:
        return
    for operation_id, providers in subject.catalog.providers.items():
        for index, provider in enumerate(providers):
            yield from _check_fingerprint(
                provider.execution_semantics,
                f"provider `{provider.provider_id}` of `{operation_id}`",
                pointer(
                    subject.places.catalog, "providers", operation_id, index, "execution_semantics"
                ),
            )


DIFFER = Rule(
    id="contract.execution-semantics",
    summary="A node has the execution semantics of its provider in the catalog.",
    why="The plan promises bits that repeat, eagerly and when replayed, on the strength of what "
    "the provider promises.",
    fix="Compile the plan again with the provider at hand.",
    source=_FORMAT,
    example=Example(
        "bundle-8.1",
        {f"{_NODE}/replay_equivalence": "ineligible", f"{_NODE}/contract_fingerprint": INELIGIBLE},
    ),
)
DETERMINISM = Rule(
    id="contract.execution-determinism",
    summary="Every selected provider is as deterministic as the policy requires.",
    why="A captured program whose replay gives other bits than an eager run breaks restored "
    "sequences and audits of answers, and nobody notices.",
    fix="Select a provider whose replays equal eager runs, or require less of the policy.",
    source=_FORMAT,
    example=Example(
        "bundle-8.1", {"/policy/execution_determinism": "bitwise_same_runtime_with_replay"}
    ),
)


def _check_nodes(subject: Subject) -> Iterator[Finding]:
    policy = subject.policy
    required = None if policy is None else policy.execution_determinism
    offered = {
        (operation_id, provider.provider_id): provider.execution_semantics
        for operation_id, providers in (
            {} if subject.catalog is None else subject.catalog.providers
        ).items()
        for provider in reversed(providers)
    }
    for index, node in enumerate(subject.plan_nodes or ()):
        semantics = node.provider_execution_semantics
        at = f"{subject.places.nodes}/{index}"
        yield from _check_rejections(node, offered, required, at)
        if semantics is None:
            continue  # that it is missing is a wire fault
        place = f"{at}/provider_execution_semantics"
        selected = node.selection.selected_provider
        known = offered.get((node.operation_id, selected))
        if known is not None and known != semantics:
            yield DIFFER.finding(
                f"Node `{node.id}` has other execution semantics than its provider `{selected}` "
                "has in the catalog.",
                place,
                expected=known.to_wire(),
                actual=semantics.to_wire(),
            )
        elif known is None:
            yield from _check_fingerprint(semantics, f"node `{node.id}`", place)
        if required is not None and not semantics.satisfies(required):
            assert policy is not None
            yield DETERMINISM.finding(
                f"Node `{node.id}` runs on `{selected}`, whose replays are "
                f"{semantics.replay_equivalence}, but policy `{policy.policy_id}` requires "
                f"{required}.",
                place,
                expected=required,
                actual=semantics.replay_equivalence,
            )


_SELECTION = "/plan/payload/nodes/4/selection"
REJECTED = Rule(
    id="graph.rejected-determinism",
    summary="A provider is rejected for its determinism only where it promises less than the "
    "policy requires, and the provider that was selected promises that much.",
    why="The record explains why another kernel runs, and says what the policy requires. Where "
    "the selected provider falls short of that too, the node runs on a kernel that the policy "
    "rejects; where the rejected one does not, nothing keeps it from running.",
    fix="Compile the plan again under its policy.",
    source=_FORMAT,
    example=Example(
        "bundle-8.1",
        {
            f"{_SELECTION}/rejected_providers/-": {
                "provider_id": "provider.mixer.fused",
                "reasons": {
                    "incompatible": [
                        {
                            "insufficient_execution_determinism": {
                                "required": "bitwise_same_runtime_with_replay",
                                "available": {
                                    "contract_version": {"major": 1, "minor": 0},
                                    "contract_fingerprint": INELIGIBLE,
                                    "repeatability": "bitwise_same_runtime",
                                    "replay_equivalence": "ineligible",
                                },
                            }
                        }
                    ]
                },
            }
        },
        also=("contract.rejection-differs",),
    ),
)


def _check_rejections(
    node: PlanNode,
    offered: Mapping[tuple[str, str], ExecutionSemantics | None],
    policy: Determinism | None,
    at: str,
) -> Iterator[Finding]:
    """Whether each rejection for determinism agrees with itself, the node, catalog and policy."""
    for position, rejected in enumerate(node.selection.rejected_providers):
        reasons = rejected.reasons
        if not isinstance(reasons, Incompatible):
            continue
        for place, reason in enumerate(reasons.incompatible):
            if isinstance(reason, InsufficientExecutionDeterminism):
                known = offered.get((node.operation_id, rejected.provider_id))
                for fault in _rejection_faults(node, reason, known, policy):
                    yield REJECTED.finding(
                        f"Node `{node.id}` rejected `{rejected.provider_id}`, as "
                        f"{reason.required} is required, but {fault}.",
                        f"{at}/selection/rejected_providers/{position}/reasons/incompatible/{place}",
                    )


def _rejection_faults(
    node: PlanNode,
    reason: InsufficientExecutionDeterminism,
    known: ExecutionSemantics | None,
    policy: Determinism | None,
) -> Iterator[str]:
    own = node.provider_execution_semantics
    if reason.available.satisfies(reason.required):
        yield f"its replays are {reason.available.replay_equivalence}, which is enough"
    if own is not None and not own.satisfies(reason.required):
        selected = node.selection.selected_provider
        yield f"the replays of `{selected}`, which was selected, are {own.replay_equivalence} too"
    if policy is not None and policy != reason.required:
        yield f"the policy requires {policy}"
    if known is not None and known.replay_equivalence != reason.available.replay_equivalence:
        yield (
            f"it says that its replays are {reason.available.replay_equivalence}, where the "
            f"catalog has {known.replay_equivalence}"
        )


FINGERPRINT = Rule(
    id="integrity.execution-semantics",
    summary="The fingerprint of a provider's execution semantics is that of what they say.",
    why="Caches compare fingerprints: under another one, a kernel that may not be replayed passes "
    "for one that may.",
    fix="Let the engine compute the fingerprint.",
    source=_FORMAT,
    example=Example(
        "bundle-8.1",
        {f"{_NODE}/contract_fingerprint": "0" * 64, f"{_PROVIDER}/contract_fingerprint": "0" * 64},
    ),
)


def _check_fingerprint(
    semantics: ExecutionSemantics | None, whose: str, location: str
) -> Iterator[Finding]:
    if semantics is None:
        return
    version = semantics.contract_version
    computed = semantics_fingerprint(
        version.major,
        version.minor,
        replayed=semantics.replay_equivalence == "bitwise_eager_equivalent",
    )
    if semantics.contract_fingerprint != computed:
        yield FINGERPRINT.finding(
            f"The execution semantics of {whose} have the fingerprint "
            f"{short(semantics.contract_fingerprint)}, but what they say gives {short(computed)}.",
            f"{location}/contract_fingerprint",
            expected=computed,
            actual=semantics.contract_fingerprint,
        )
