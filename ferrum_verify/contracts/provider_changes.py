"""What changes between two declarations of one provider, each change once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrum_verify.contracts import rules
from ferrum_verify.contracts.changed_lists import list_change
from ferrum_verify.contracts.spans import smallest_refused, span_counterexample, span_words
from ferrum_verify.documents.checkpoint import ProviderContract
from ferrum_verify.findings import pointer
from ferrum_verify.findings.wording import plural
from ferrum_verify.plan.resource_rows import describe_profile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.catalog import CheckpointProvider, Provider
    from ferrum_verify.documents.checkpoint import StatePort, TokenSpan
    from ferrum_verify.documents.storage import AcceptedStorage
    from ferrum_verify.findings import Finding, Rule


@dataclass(frozen=True, slots=True)
class ProviderPair:
    """A provider of one operation in BASE and in HEAD; ``place`` points at it in HEAD."""

    operation_id: str
    base: Provider
    head: Provider
    place: str

    @property
    def name(self) -> str:
        """What the provider is called in a message."""
        return f"{self.head.provider_id} of {self.operation_id}"


class ChangedSpan(NamedTuple):
    """A span constraint that is written differently in HEAD than in BASE."""

    side: str
    base: TokenSpan
    head: TokenSpan
    owner: str
    place: str

    @property
    def narrowed(self) -> Rule:
        """The rule of a count that HEAD refuses."""
        return rules.PREFIX_NARROWED if self.side == "prefix" else rules.SUFFIX_NARROWED

    @property
    def widened(self) -> Rule:
        """The rule of a count that only HEAD permits."""
        return rules.PREFIX_WIDENED if self.side == "prefix" else rules.SUFFIX_WIDENED


def provider_changes(pair: ProviderPair) -> Iterator[Finding]:
    """Findings of all that a provider's own declarations change, save its fingerprints."""
    base, head, place = pair.base, pair.head, pair.place
    yield from list_change(
        f"Provider {pair.name}",
        "has",
        "capabilities",
        base.capabilities,
        head.capabilities,
        place=pointer(place, "capabilities"),
        lost_and_gained=(rules.CAPABILITY_REMOVED, rules.CAPABILITY_ADDED),
    )
    for field, noun in (
        ("accepted_weight_formats", "weight formats"),
        ("accepted_quantization_formats", "quantization formats"),
    ):
        yield from list_change(
            f"Provider {pair.name}",
            "accepts",
            noun,
            getattr(base, field),
            getattr(head, field),
            place=pointer(place, field),
            lost_and_gained=(rules.FORMAT_DROPPED, rules.FORMAT_ADDED),
        )
    yield from _storage_changes(pair)
    before, after = base.checkpoint_capability, head.checkpoint_capability
    if isinstance(before, ProviderContract) and isinstance(after, ProviderContract):
        yield from _contract_changes(pair, before, after)
    elif isinstance(before, ProviderContract):
        yield rules.CHECKPOINT_REMOVED.finding(
            f"Provider {pair.name} has no checkpoint contract any more, so a plan that selects "
            "it has no checkpoints.",
            place,
        )
    elif isinstance(after, ProviderContract):
        yield rules.CHECKPOINT_ADDED.finding(
            f"Provider {pair.name} has a checkpoint contract now.",
            pointer(place, "checkpoint_capability"),
        )


def changed_spans(pair: ProviderPair) -> Iterator[ChangedSpan]:
    """The span constraints of the provider that are written differently in HEAD."""
    before, after = pair.base.checkpoint_capability, pair.head.checkpoint_capability
    if not isinstance(before, ProviderContract) or not isinstance(after, ProviderContract):
        return
    place = pointer(pair.place, "checkpoint_capability", "completed_boundary", "boundaries")
    for side in ("prefix", "suffix"):
        base, head = getattr(before.boundaries, side), getattr(after.boundaries, side)
        if base != head:
            yield ChangedSpan(side, base, head, f"provider {pair.name}", pointer(place, side))


def _storage_changes(pair: ProviderPair) -> Iterator[Finding]:
    base, head = _accepted(pair.base), _accepted(pair.head)
    places = _ports_in_document(pair)
    for port in [*base, *(port for port in head if port not in base)]:
        role, ordinal = port
        yield from list_change(
            f"At {role} {ordinal}, provider {pair.name}",
            "accepts",
            "storage profiles",
            base[port].accepted_profiles if port in base else (),
            head[port].accepted_profiles if port in head else (),
            place=places.get(port, pointer(pair.place, "dynamic_storage_bindings")),
            lost_and_gained=(rules.PROFILE_DROPPED, rules.PROFILE_ADDED),
            describe=describe_profile,
        )


def _accepted(provider: CheckpointProvider) -> dict[tuple[str, int], AcceptedStorage]:
    # Of two declarations of one port the engine takes the first.
    return {
        (port.role, port.ordinal): port.storage
        for port in reversed(provider.dynamic_storage_bindings)
    }


def _ports_in_document(pair: ProviderPair) -> dict[tuple[str, int], str]:
    bindings = pair.head.dynamic_storage_bindings
    return {
        (port.role, port.ordinal): pointer(
            pair.place, "dynamic_storage_bindings", index, "storage", "accepted_profiles"
        )
        for index, port in reversed(list(enumerate(bindings)))
    }


def _contract_changes(
    pair: ProviderPair, base: ProviderContract, head: ProviderContract
) -> Iterator[Finding]:
    place = pointer(pair.place, "checkpoint_capability", "completed_boundary")
    for span in changed_spans(pair):
        yield from _span_changes(span)
    yield from _port_changes(pair, base, head, place)
    for field, better, worse_rule, better_rule, text in (
        (
            "input_dependency",
            "exact_token_prefix",
            rules.DEPENDENCY_WIDENED,
            rules.DEPENDENCY_NARROWED,
            "makes its state depend on",
        ),
        (
            "partition_numerics",
            "bitwise_equivalent",
            rules.NUMERICS_CHANGED,
            rules.NUMERICS_BITWISE,
            "promises the numerics",
        ),
        (
            "completed_input_capture",
            "supported",
            rules.CAPTURE_LOST,
            rules.CAPTURE_GAINED,
            "declares the capture of completed inputs as",
        ),
    ):
        before, after = getattr(base, field), getattr(head, field)
        if before != after:
            yield (better_rule if after == better else worse_rule).finding(
                f"Provider {pair.name} {text} {after} instead of {before}.",
                pointer(place, field),
                expected=before,
                actual=after,
            )


def _span_changes(span: ChangedSpan) -> Iterator[Finding]:
    base, head = span.base, span.head
    written: dict[str, Any] = {"expected": base.to_wire(), "actual": head.to_wire()}
    owner = f"{span.owner[0].upper()}{span.owner[1:]}"
    change = f"it takes {span_words(head)}, instead of {span_words(base)}"
    refused, gained = smallest_refused(base, head), smallest_refused(head, base)
    if refused is not None:
        yield span.narrowed.finding(
            f"{owner} refuses a {span.side} of {plural(refused, 'token')}, which BASE permits: "
            f"{change}.",
            span.place,
            counterexample=span_counterexample(base, head, refused),
            **written,
        )
    if gained is not None:
        yield span.widened.finding(
            f"{owner} permits a {span.side} of {plural(gained, 'token')}, which BASE refuses: "
            f"{change}.",
            span.place,
            **written,
        )
    if refused is None and gained is None:
        yield rules.SPAN_RESTATED.finding(
            f"{owner} states its {span.side} constraint differently, and takes {span_words(head)} "
            "as before.",
            span.place,
            **written,
        )


def _port_changes(
    pair: ProviderPair, base: ProviderContract, head: ProviderContract, place: str
) -> Iterator[Finding]:
    where = pointer(place, "state_ports") if head.state_ports else place
    before = {port.key: port for port in base.state_ports}
    after = {port.key: (index, port) for index, port in enumerate(head.state_ports)}
    for key, port in before.items():
        if key not in after:
            yield rules.STATE_PORT_REMOVED.finding(
                f"Provider {pair.name} has no state port any more at {_port(port)}.",
                where,
                expected=port.to_wire(),
            )
            continue
        index, now = after[key]
        if now.layout != port.layout:
            yield rules.STATE_PORT_LAYOUT.finding(
                f"Provider {pair.name} lays the state at {_port(port)} out as {now.layout} "
                f"instead of {port.layout}.",
                pointer(where, index, "layout"),
                expected=port.layout,
                actual=now.layout,
            )
    for key, (index, port) in after.items():
        if key not in before:
            yield rules.STATE_PORT_ADDED.finding(
                f"Provider {pair.name} has a state port now at {_port(port)}.",
                pointer(where, index),
                actual=port.to_wire(),
            )


def _port(port: StatePort) -> str:
    return f"{port.role} {port.ordinal} for {describe_profile(port.storage_profile)}"
