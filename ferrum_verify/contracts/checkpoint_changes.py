"""What changes in a provider's checkpoint contract: its spans, its state ports, its promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ferrum_verify.contracts.changed_lists import missing_from
from ferrum_verify.contracts.compatible import change
from ferrum_verify.contracts.examples import CONTRACT, PREFIX, changed
from ferrum_verify.contracts.names import code
from ferrum_verify.contracts.spans import constraint_of, smallest_refused, span_words
from ferrum_verify.counterexamples import SIDES, Party, SpanCounterexample
from ferrum_verify.documents.checkpoint import ProviderContract, layout_name, layout_wire
from ferrum_verify.findings import DELETE, Rule, pointer
from ferrum_verify.findings.wording import plural
from ferrum_verify.plan.resource_rows import describe_profile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.contracts.compatible import Aspect
    from ferrum_verify.contracts.providers import ProviderPair
    from ferrum_verify.counterexamples import Side
    from ferrum_verify.documents.checkpoint import StatePort, TokenSpan
    from ferrum_verify.findings import Finding

_SOURCE = "docs/format.md, «Provider contracts»"
_DERIVE = f"{_SOURCE}; seed 004, `derive_sequence_checkpoint`"
_SPANS = f"{_SOURCE}; seed 004, `intersect_boundaries`"

PREFIX_NARROWED = Rule(
    id="contract.prefix-narrowed",
    summary="A provider permits in HEAD each prefix that it permits in BASE.",
    why="Captured prefixes of that many tokens can no longer be restored, and the boundaries of "
    "each plan that selects the provider move.",
    fix="Lower the minimum to that of BASE, and make the alignment divide that of BASE.",
    source=_SPANS,
    example=changed({f"{PREFIX}/alignment": 8}),
)
SUFFIX_NARROWED = Rule(
    id="contract.suffix-narrowed",
    summary="A provider permits in HEAD each suffix that it permits in BASE.",
    why="A prompt with that many tokens after the boundary can no longer be continued from it.",
    fix="Lower the minimum to that of BASE, and make the alignment divide that of BASE.",
    source=_SPANS,
    example=changed({f"{CONTRACT}/boundaries/suffix/minimum_tokens": 3}),
)


class ChangedSpan(NamedTuple):
    """A span constraint that is written differently in HEAD than in BASE."""

    side: Side
    base: TokenSpan
    head: TokenSpan
    pair: ProviderPair
    place: str

    @property
    def owner(self) -> str:
        """Whose it is, as a message says it."""
        return self.pair.name

    def refuses(self, tokens: int) -> SpanCounterexample:
        """The count as a counterexample: BASE permits it, and HEAD does not."""
        operation, provider = self.pair.operation_id, self.pair.head.provider_id
        permitted = Party("base", operation=operation, provider=provider)
        refused = Party("head", operation=operation, provider=provider)
        return SpanCounterexample(
            permitted.holding(self.side, constraint_of(self.base)),
            refused.holding(self.side, constraint_of(self.head)),
            tokens=tokens,
        )

    @property
    def narrowed(self) -> Rule:
        """The rule of a count that HEAD refuses."""
        return PREFIX_NARROWED if self.side == "prefix" else SUFFIX_NARROWED


def changed_spans(pair: ProviderPair) -> Iterator[ChangedSpan]:
    """The span constraints of the provider that are written differently in HEAD."""
    before, after = pair.base.capability, pair.head.capability
    if not isinstance(before, ProviderContract) or not isinstance(after, ProviderContract):
        return
    place = pointer(pair.place, pair.head.checkpoint_key, "completed_boundary", "boundaries")
    for side in SIDES:
        was, now = getattr(before.boundaries, side), getattr(after.boundaries, side)
        if was != now:
            yield ChangedSpan(side, was, now, pair, pointer(place, side))


def contract_changes(
    pair: ProviderPair, base: ProviderContract, head: ProviderContract
) -> Iterator[Finding]:
    """Findings of all that changes between the two contracts of a provider."""
    place = pointer(pair.place, pair.head.checkpoint_key, "completed_boundary")
    for span in changed_spans(pair):
        yield from _span_changes(span)
    yield from _port_changes(pair, base, head, place)
    yield from _promise_changes(pair, base, head, place)


def _span_changes(span: ChangedSpan) -> Iterator[Finding]:
    base, head = span.base, span.head
    written: dict[str, Any] = {"expected": base.to_wire(), "actual": head.to_wire()}
    words = f"it takes {span_words(head)}, instead of {span_words(base)}"
    refused, gained = smallest_refused(base, head), smallest_refused(head, base)
    if refused is not None:
        yield span.narrowed.finding(
            f"{span.owner} refuses a {span.side} of {plural(refused, 'token')}, which BASE "
            f"permits: {words}.",
            span.place,
            counterexample=span.refuses(refused),
            fix=_widening(base, head),
            **written,
        )
    if gained is not None:
        yield change(
            "prefix-widened" if span.side == "prefix" else "suffix-widened",
            f"{span.owner} permits a {span.side} of {plural(gained, 'token')}, which BASE "
            f"refuses: {words}.",
            span.place,
            **written,
        )
    if refused is None and gained is None:
        yield change(
            "span-restated",
            f"{span.owner} states its {span.side} constraint differently, and takes "
            f"{span_words(head)} as before.",
            span.place,
            **written,
        )


def _widening(base: TokenSpan, head: TokenSpan) -> str:
    """What has to change of ``head`` so that it permits all that ``base`` does."""
    wanted = []
    if head.minimum_tokens > base.minimum_tokens:
        wanted.append(f"lower the minimum from {head.minimum_tokens:,} to {base.minimum_tokens:,}")
    if base.alignment % head.alignment:
        wanted.append(f"make the alignment of {head.alignment:,} divide {base.alignment:,}")
    return " and ".join(wanted)


STATE_PORT_REMOVED = Rule(
    id="contract.state-port-removed",
    summary="A provider keeps in HEAD each state port that it has in BASE.",
    why="The state of a plan that uses it can no longer be captured, so the plan loses its "
    "checkpoints.",
    fix="Declare the port of that role, ordinal and storage profile again.",
    source=_DERIVE,
    example=changed({f"{CONTRACT}/state_ports/1": DELETE}),
)
STATE_PORT_LAYOUT = Rule(
    id="contract.state-port-layout-changed",
    summary="A provider lays a state out at a port in HEAD as it does in BASE.",
    why="A captured state is bytes: in the other layout they mean something else, and a state "
    "that is stored by position no longer fits a port that holds one value.",
    fix="Keep the layout, or offer the other one as another provider.",
    source=_DERIVE,
    example=changed({f"{CONTRACT}/state_ports/1/layout": "token_major_prefix"}),
)


def _port_changes(
    pair: ProviderPair, base: ProviderContract, head: ProviderContract, place: str
) -> Iterator[Finding]:
    where = pointer(place, "state_ports") if head.state_ports else place
    before = {port.key: port for port in base.state_ports}
    after = {port.key: (index, port) for index, port in enumerate(head.state_ports)}
    for key, port in before.items():
        if key not in after:
            yield STATE_PORT_REMOVED.finding(
                f"{pair.name} has no state port any more at {_port(port)}.",
                where,
                expected=port.to_wire(),
            )
            continue
        index, now = after[key]
        if now.layout != port.layout:
            yield STATE_PORT_LAYOUT.finding(
                f"{pair.name} lays the state at {_port(port)} out as "
                f"{code(layout_name(now.layout))} instead of {code(layout_name(port.layout))}.",
                pointer(where, index, "layout"),
                expected=layout_wire(port.layout),
                actual=layout_wire(now.layout),
            )
    for key in missing_from(before, after):
        index, port = after[key]
        yield change(
            "state-port-added",
            f"{pair.name} has a state port now at {_port(port)}.",
            pointer(where, index),
            actual=port.to_wire(),
        )


def _port(port: StatePort) -> str:
    return f"{port.role} {port.ordinal} for {describe_profile(port.storage_profile)}"


DEPENDENCY_WIDENED = Rule(
    id="contract.input-dependency-widened",
    summary="A provider's state that depends on the prefix only in BASE does so in HEAD.",
    why="A captured prefix may otherwise be reused only for the very same prompt, which is of "
    "little use.",
    fix="Keep `exact_token_prefix`.",
    source=_DERIVE,
    example=changed({f"{CONTRACT}/input_dependency": "entire_token_input"}),
)
NUMERICS_CHANGED = Rule(
    id="contract.numerics-changed",
    summary="A provider promises in HEAD the numerics of BASE at a boundary, or those that equal "
    "an uncut run bit by bit.",
    why="Whoever relied on the promise of BASE may see a continuation that differs from it.",
    fix="Keep the numerics of BASE, or promise `bitwise_equivalent`.",
    source=_DERIVE,
    example=changed({f"{CONTRACT}/partition_numerics": "same_partition_only"}),
)
CAPTURE_LOST = Rule(
    id="contract.input-capture-lost",
    summary="A provider that offers capture after a completed input in BASE does in HEAD.",
    why="A plan offers that capture only if all of its providers do; a conversation's next turn "
    "then computes its history again.",
    fix="Support `completed_input_capture` again.",
    source=_DERIVE,
    example=changed({f"{CONTRACT}/completed_input_capture": "unsupported"}),
)

BEST = {
    "input_dependency": "exact_token_prefix",
    "partition_numerics": "bitwise_equivalent",
    "completed_input_capture": "supported",
}
"""Of each promise the value that includes every other."""


def _promise_changes(
    pair: ProviderPair, base: ProviderContract, head: ProviderContract, place: str
) -> Iterator[Finding]:
    promises: dict[str, tuple[Rule, Aspect, str]] = {
        "input_dependency": (
            DEPENDENCY_WIDENED,
            "input-dependency-narrowed",
            "makes its state depend on",
        ),
        "partition_numerics": (NUMERICS_CHANGED, "numerics-bitwise", "promises the numerics"),
        "completed_input_capture": (
            CAPTURE_LOST,
            "input-capture-gained",
            "declares the capture of completed inputs as",
        ),
    }
    for field, (worse, better, verb) in promises.items():
        was, now = getattr(base, field), getattr(head, field)
        if was != now:
            yield change(
                better if now == BEST[field] else worse,
                f"{pair.name} {verb} {code(now)} instead of {code(was)}.",
                pointer(place, field),
                expected=was,
                actual=now,
            )
