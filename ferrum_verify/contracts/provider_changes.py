"""What changes between two declarations of one provider, each change once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.contracts.changed_lists import (
    ACCEPTED_PROFILES,
    CAPABILITIES,
    QUANTIZATION_FORMATS,
    WEIGHT_FORMATS,
    list_change,
)
from ferrum_verify.contracts.checkpoint_changes import contract_changes
from ferrum_verify.contracts.compatible import change
from ferrum_verify.contracts.examples import ATTENTION, changed
from ferrum_verify.contracts.names import code
from ferrum_verify.documents.checkpoint import ProviderContract
from ferrum_verify.findings import Example, Rule, pointer
from ferrum_verify.rules.execution_semantics import INELIGIBLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.contracts.providers import ProviderPair
    from ferrum_verify.documents.catalog import CheckpointProvider
    from ferrum_verify.documents.storage import AcceptedStorage
    from ferrum_verify.findings import Finding

CHECKPOINT_REMOVED = Rule(
    id="contract.checkpoint-removed",
    summary="A provider that takes part in checkpoints in BASE does in HEAD.",
    why="One node without a contract leaves its whole plan without checkpoints: every prefix is "
    "computed again.",
    fix="Declare `checkpoint` again.",
    source="docs/format.md, «Provider contracts»; seed 004, `derive_sequence_checkpoint`",
    example=changed({f"{ATTENTION}/checkpoint_capability": "unsupported"}),
)


REPLAY_LOST = Rule(
    id="contract.replay-lost",
    summary="A provider whose replays give the bits of an eager run in BASE does so in HEAD.",
    why="A policy that requires it lets the provider run no longer, and a plan of such a policy "
    "has no kernel for the node.",
    fix="Make captured programs give the same bits again, or offer another provider that does.",
    source="docs/format.md, «Plan schema 8.1» (execution semantics)",
    example=Example(
        "catalog-8.1",
        {
            "/providers/operation.norm/0/execution_semantics/replay_equivalence": "ineligible",
            "/providers/operation.norm/0/execution_semantics/contract_fingerprint": INELIGIBLE,
        },
        command="contracts compare",
    ),
)


def provider_changes(pair: ProviderPair) -> Iterator[Finding]:
    """Findings of all that a provider's own declarations change, save its fingerprints."""
    base, head, place = pair.base, pair.head, pair.place
    for kind, field in (
        (CAPABILITIES, "capabilities"),
        (WEIGHT_FORMATS, "accepted_weight_formats"),
        (QUANTIZATION_FORMATS, "accepted_quantization_formats"),
    ):
        yield from list_change(
            pair.name, kind, getattr(base, field), getattr(head, field), pointer(place, field)
        )
    yield from _storage_changes(pair)
    yield from _semantics_changes(pair)
    before, after = base.capability, head.capability
    if isinstance(before, ProviderContract) and isinstance(after, ProviderContract):
        yield from contract_changes(pair, before, after)
    elif isinstance(before, ProviderContract):
        yield CHECKPOINT_REMOVED.finding(
            f"{pair.name} has no checkpoint contract any more, so a plan that selects it has no "
            "checkpoints.",
            place,
        )
    elif isinstance(after, ProviderContract):
        yield change(
            "checkpoint-added",
            f"{pair.name} has a checkpoint contract now.",
            pointer(place, head.checkpoint_key),
        )


def _semantics_changes(pair: ProviderPair) -> Iterator[Finding]:
    was, now = (
        None if semantics is None else semantics.replay_equivalence
        for semantics in (pair.base.execution_semantics, pair.head.execution_semantics)
    )
    equal = "bitwise_eager_equivalent"
    if was == now or equal not in (was, now):
        return
    place = pointer(pair.place, "execution_semantics", "replay_equivalence")
    had = "was not stated" if was is None else f"was {code(was)}"
    yield change(
        REPLAY_LOST if was == equal else "replay-gained",
        f"the replay of {pair.name} is {'not stated' if now is None else code(now)} and {had}.",
        pair.place if now is None else place,
        expected=was,
        actual=now,
    )


def _storage_changes(pair: ProviderPair) -> Iterator[Finding]:
    base, head = _accepted(pair.base), _accepted(pair.head)
    where = pointer(pair.place, "dynamic_storage_bindings")
    for port in [*base, *(port for port in head if port not in base)]:
        role, ordinal = port
        _, before = base.get(port, (0, None))
        index, after = head.get(port, (0, None))
        yield from list_change(
            f"At {role} {ordinal}, {pair.name}",
            ACCEPTED_PROFILES,
            before.accepted_profiles if before else (),
            after.accepted_profiles if after else (),
            pointer(where, index, "storage", "accepted_profiles") if after else where,
        )


def _accepted(provider: CheckpointProvider) -> dict[tuple[str, int], tuple[int, AcceptedStorage]]:
    # Of two declarations of one port the engine takes the first.
    return {
        (port.role, port.ordinal): (index, port.storage)
        for index, port in reversed(list(enumerate(provider.dynamic_storage_bindings)))
    }
