"""Exact aliases: whether an output of a node really takes the bytes of an input of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.node import ExactAlias, ValueBinding
    from ferrum_verify.documents.primitives import Role
    from ferrum_verify.plan.node_ports import Ports


def alias_faults(ports: Ports, alias: ExactAlias) -> Iterator[str]:
    """Why an alias of the node with these ports is false, but for where the two are stored.

    Each completes the sentence "X is claimed to be an exact alias of Y, but …".
    """
    output, source = ends_of(ports, alias)
    yield from _unbound(output, "output", alias.output_ordinal, alias.output_value_id)
    yield from _unbound(source, "input", alias.input_ordinal, alias.input_value_id)
    for binding in (output, source):
        if binding is not None and binding.usage != "activations":
            yield f"`{binding.value_id}` is used as {binding.usage}"
    if output is None or source is None:
        return
    policy = output.alias
    if isinstance(policy, str):
        yield f"the output's alias policy is {policy}"
    elif policy.tag != alias.kind:
        yield f"the output's alias policy is {policy.tag}, not {alias.kind}"
    elif policy.tensor_index != alias.input_ordinal:
        yield f"the output's alias policy names input {policy.tensor_index}"


def ends_of(ports: Ports, alias: ExactAlias) -> tuple[ValueBinding | None, ValueBinding | None]:
    """The bindings of the output and the input that an alias joins; None where one is not there."""
    return ports.get(("output", alias.output_ordinal)), ports.get(("input", alias.input_ordinal))


def _unbound(
    binding: ValueBinding | None, role: Role, ordinal: int, value_id: str
) -> Iterator[str]:
    if binding is None:
        yield f"the node has no {role} {ordinal}"
    elif binding.value_id != value_id:
        yield f"its {role} {ordinal} is `{binding.value_id}`"
