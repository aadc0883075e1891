"""Checking counterexamples about token spans, and about the bytes that checkpoints copy.

Plain evaluation of a document's JSON that shares no code with the derivation, the rules or the
encodings. What a counterexample says that somebody holds counts to must stand in the document.
"""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples.parties import SIDES, party_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.counterexamples.document import Document
    from ferrum_verify.counterexamples.parties import Side

Json = dict[str, Any]

_LARGEST = 2**64 - 1
_ELEMENT_BYTES = {"bool": 1, "u8": 1, "i8": 1, "f16": 2, "bf16": 2, "u32": 4, "i32": 4, "f32": 4}


def check_span(document: Document, wire: Json) -> bool:
    """Whether the count, or the boundary, is permitted and refused by those who are named.

    The document is a bundle, a catalog, or a comparison of two. A merged constraint is one that
    stands in the bundle's ``checkpoint``, the JSON that the ``checkpoint`` command prints. A count
    that passes what a state holds or a step schedules must be the smallest legal one.
    """
    permitted, refused = wire["permitted"], wire["refused"]
    if "tokens" in wire:
        counts: dict[Side, int] = {side: wire["tokens"] for side in SIDES if side in permitted}
        if len(counts) != 1:
            return False
    else:
        processed, boundary, prompt = (wire[name] for name in ("processed", "boundary", "prompt"))
        if not _are_counts(processed, boundary, prompt):
            return False
        counts = {"prefix": boundary - processed, "suffix": prompt - boundary}
    parties = ((permitted, wire["permitted_by"]), (refused, wire["refused_by"]))
    return (
        _are_counts(*counts.values())
        and min(counts.values()) >= 1
        and all(_stands(document, party) and party_words(party) == by for party, by in parties)
        and _one_owner(permitted, refused)
        and all(side in permitted for side in counts)
        and _permits(permitted, counts)
        and not _permits(refused, counts)
        and (refused["by"] not in ("state", "step") or _is_smallest(permitted, counts))
    )


def check_state_overlap(document: Document, wire: Json) -> bool:
    """Whether two states that are not the same content both have the byte copied.

    ``left`` and ``right`` name one resource, and the ranges of two states in it at the boundary
    of the shape's ``tokens``.
    """
    tokens, byte = wire["shape"]["tokens"], wire["byte"]
    sides = [
        (side["resource"], side["start"], side["end"]) for side in (wire["left"], wire["right"])
    ]
    if not _are_counts(tokens) or type(byte) is not int or tokens < 1:
        return False
    if not all(start <= byte < end for _, start, end in sides):
        return False
    copies = [
        (copy, state)
        for state in document.program["states"]
        if (copy := _copy(document, state, tokens)) is not None and copy in sides
    ]
    return any(
        one is not other
        and [left, right] == sides
        and (left != right or _content(document, one) != _content(document, other))
        for left, one in copies
        for right, other in copies
    )


def _are_counts(*numbers: Any) -> bool:
    return all(type(number) is int and 0 <= number <= _LARGEST for number in numbers)


def _legal(tokens: int, span: Json) -> bool:
    return bool(tokens >= span["minimum_tokens"] and tokens % span["alignment"] == 0)


def _permits(party: Json, counts: Mapping[Side, int]) -> bool:
    if "maximum_tokens" in party and counts["prefix"] > party["maximum_tokens"]:
        return False
    return all(_legal(tokens, party[side]) for side, tokens in counts.items() if side in party)


def _is_smallest(permitted: Json, counts: Mapping[Side, int]) -> bool:
    span = permitted["prefix"]
    return bool(counts["prefix"] - span["alignment"] < span["minimum_tokens"])


def _one_owner(permitted: Json, refused: Json) -> bool:
    """In a comparison it is the same provider or plan that is held to two catalogs."""
    if not {permitted["by"], refused["by"]} & {"base", "head"}:
        return True
    owners = [(party.get("operation"), party.get("provider")) for party in (permitted, refused)]
    return {permitted["by"], refused["by"]} == {"base", "head"} and owners[0] == owners[1]


def _stands(document: Document, party: Json) -> bool:
    """Whether the document holds counts to what the party is said to."""
    stated = {name: party[name] for name in (*SIDES, "maximum_tokens") if name in party}
    numbers = [
        number
        for constraint in stated.values()
        for number in (constraint.values() if isinstance(constraint, dict) else [constraint])
    ]
    if not stated or not _are_counts(*numbers):
        return False
    constraints = _constraints(document, party)
    return all(constraints.get(name) == constraint for name, constraint in stated.items())


def _constraints(document: Document, party: Json) -> Json:  # noqa: PLR0911  (one answer a kind)
    """What the document holds counts to in the name of a party."""
    match party["by"]:
        case "base" | "head" as name:
            catalog = document.catalog(name)
            return _declared(catalog, party) if "provider" in party else _merged(document, catalog)
        case "every-provider":
            return _merged(document, document.catalog())
        case "provider" if "node" in party:
            node = _by_name(document.nodes, "id", party["node"])
            if node["selection"]["selected_provider"] != party["provider"]:
                raise ValueError("another provider is selected")
            return _of_node(node, document.catalog()) or {}
        case "provider":
            return _declared(document.catalog(), party)
        case "merge":
            derived = document.value["checkpoint"]
            refused = "boundary_intersection" in derived.get("reasons", ())
            return {"maximum_tokens": 0} if refused else dict(derived["layout"]["boundaries"])
        case "state":
            state = _by_name(document.program["states"], "id", party["state"])
            tokens = state["capacity_demand"]["token_scaled"]["maximum_tokens"]
        case "step":
            policy = document.value.get("policy")
            holder = document.payload if policy is None else policy["admission"]
            tokens = holder["maximum_scheduled_tokens"]
        case _:
            return {}
    return {"maximum_tokens": tokens}


def _by_name(entries: list[Json], field: str, name: str) -> Json:
    return {entry[field]: entry for entry in reversed(entries)}[name]


def _declared(catalog: Json, party: Json) -> Json:
    providers = catalog["providers"][party["operation"]]
    return _contract(_by_name(providers, "provider_id", party["provider"])) or {}


def _of_node(node: Json, catalog: Json) -> Json | None:
    """What the node's selected provider declares; None where it takes no part in checkpoints."""
    providers = catalog["providers"][node["operation_id"]]
    return _contract(_by_name(providers, "provider_id", node["selection"]["selected_provider"]))


def _contract(provider: Json) -> Json | None:
    older = provider.get("checkpoint_capability", "unsupported")
    capability: Any = provider.get("checkpoint", older)
    if capability == "unsupported":
        return None
    boundaries: Json = capability["completed_boundary"]["boundaries"]
    return boundaries


def _merged(document: Document, catalog: Json) -> Json:
    """What all providers permit that the plan selects."""
    found = [_of_node(node, catalog) for node in document.nodes]
    spans = {side: [each[side] for each in found if each is not None] for side in SIDES}
    return {
        side: {
            "minimum_tokens": max((each["minimum_tokens"] for each in declared), default=1),
            "alignment": lcm(*(each["alignment"] for each in declared)),
        }
        for side, declared in spans.items()
    }


def _copy(document: Document, state: Json, tokens: int) -> tuple[str, int, int] | None:
    """The resource of a state, and the bytes that are copied of it at a boundary."""
    semantics = state.get("checkpoint", "unsupported")
    bindings = _bindings(document, state)
    if semantics == "unsupported" or not bindings or len(bindings[0]["storage"]["components"]) != 1:
        return None
    (component,) = bindings[0]["storage"]["components"]
    tensor = bindings[0]["tensor"]
    if tensor["layout"] != "contiguous":
        return None
    size = _ELEMENT_BYTES[tensor["element_type"]]
    for dimension in tensor["dimensions"]:
        size *= dimension
    if semantics["completed_boundary"]["contents"] == "prefix_positions":
        if tokens > state["capacity_demand"]["token_scaled"]["maximum_tokens"]:
            return None
        size *= tokens
    return component["resource_id"], component["offset_bytes"], component["offset_bytes"] + size


def _bindings(document: Document, state: Json) -> list[Json]:
    return document.bound_as.get(state["value_id"], [])


def _content(document: Document, state: Json) -> tuple[Any, Any]:
    return _bindings(document, state)[0]["tensor"], state["checkpoint"]
