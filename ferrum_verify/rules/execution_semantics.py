"""What a node's provider promises of running it again, and what the policy requires: schema 8.1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.documents.plan_schema import SCHEMA_8_1
from ferrum_verify.findings import Example, Rule
from ferrum_verify.plan.canonical import semantics_fingerprint
from ferrum_verify.rules.source_integrity import short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.execution_semantics import ExecutionSemantics
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
                f"{subject.places.catalog}/providers/{operation_id}/{index}/execution_semantics",
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
        if semantics is None:
            continue  # that it is missing is a wire fault
        place = f"{subject.places.nodes}/{index}/provider_execution_semantics"
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
