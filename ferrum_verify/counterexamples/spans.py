"""Checking counterexamples about token spans, and about the bytes that checkpoints copy.

Plain evaluation of a bundle's JSON, or of two catalogs, that shares no code with the derivation,
the rules or the encodings. Who permits a count and who refuses it stands in the counterexample
in words; each wording is looked up here, and what it names is evaluated.
"""

from __future__ import annotations

import re
from math import lcm
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]
Span = tuple[int, int]
"""A minimum and an alignment, in tokens."""

_LARGEST = 2**64 - 1
_ELEMENT_BYTES = {"bool": 1, "u8": 1, "i8": 1, "f16": 2, "bf16": 2, "u32": 4, "i32": 4, "f32": 4}

_SPAN = r"([\d,]+) or more tokens, by ([\d,]+)"
_BOTH = rf"prefixes of {_SPAN}, and suffixes of {_SPAN}"
_EVERYONE = re.compile(r"every provider's (prefix|suffix)")
_MERGED = re.compile(rf"the merged (prefix|suffix) \({_SPAN}\)")
_PROVIDER = re.compile(r"the (prefix|suffix) of provider (\S+) in node (\S+)")
_STATE = re.compile(r"state (\S+), which holds ([\d,]+) tokens")
_POLICY = re.compile(r"the policy, which schedules ([\d,]+) tokens in one step")
_CATALOG = re.compile(rf"(BASE|HEAD) \({_SPAN}\)")
_CATALOG_BOUNDARIES = re.compile(rf"(BASE|HEAD) \({_BOTH}\)")


def check_span(value: Json, wire: Json) -> bool:
    """Whether the count, or the boundary, is permitted and refused by those who are named.

    ``value`` is a bundle. If it holds what was derived from it as ``checkpoint`` (the JSON that
    the ``checkpoint`` command prints), a merged constraint must be the one that stands there;
    otherwise the numbers in its name count. For a change of catalog it is ``{"base", "head"}``,
    and the ``plan`` that is judged under both where the change is one of a plan's boundaries.
    A count that passes what a state holds or a step schedules must be the smallest legal one.
    """
    by, refused_by = wire["permitted_by"], wire["refused_by"]
    if "tokens" in wire:
        tokens = wire["tokens"]
        if not _are_counts(tokens) or tokens < 1:
            return False
        if _CATALOG.fullmatch(by):
            return _check_catalogs(value, tokens, by, refused_by)
        return _permits(value, by, tokens) is True and _refuses(value, refused_by, by, tokens)
    cut = (wire["processed"], wire["boundary"], wire["prompt"])
    if not _are_counts(*cut) or not cut[0] < cut[1] < cut[2]:
        return False
    prefix, suffix = cut[1] - cut[0], cut[2] - cut[1]
    if _CATALOG_BOUNDARIES.fullmatch(by):
        return _check_catalog_boundaries(value, prefix, suffix, by, refused_by)
    return (
        (by, refused_by) == ("every provider", "the merge, which found no boundary")
        and "boundary_intersection" in value.get("checkpoint", _NO_BOUNDARY)["reasons"]
        and all(_legal(prefix, span) for span in _declared(value, "prefix"))
        and all(_legal(suffix, span) for span in _declared(value, "suffix"))
    )


_NO_BOUNDARY = {"reasons": ["boundary_intersection"]}


def check_state_overlap(value: Json, wire: Json) -> bool:
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
        for state in value["program"]["states"]
        if (copy := _copy(value, state, tokens)) is not None
    ]
    return any(
        one is not other
        and [left, right] == sides
        and (left != right or _content(value, one) != _content(value, other))
        for left, one in copies
        for right, other in copies
    )


def _are_counts(*numbers: Any) -> bool:
    return all(type(number) is int and 0 <= number <= _LARGEST for number in numbers)


def _legal(tokens: int, span: Span) -> bool:
    return tokens >= span[0] and tokens % span[1] == 0


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _permits(value: Json, name: str, tokens: int) -> bool | None:
    """Whether the party permits the count; None where the document has no such party."""
    if match := _EVERYONE.fullmatch(name):
        return all(_legal(tokens, span) for span in _declared(value, match[1]))
    if match := _MERGED.fullmatch(name):
        span = (_number(match[2]), _number(match[3]))
        if "checkpoint" in value and span != _span(
            value["checkpoint"]["layout"]["boundaries"][match[1]]
        ):
            return None
        return _legal(tokens, span)
    if match := _PROVIDER.fullmatch(name):
        node = _by_name(_nodes(value), "id", match[3])
        boundaries = _boundaries(node, value["catalog"])
        if boundaries is None or node["selection"]["selected_provider"] != match[2]:
            return None
        return _legal(tokens, _span(boundaries[match[1]]))
    return None


def _refuses(value: Json, name: str, permitted_by: str, tokens: int) -> bool:
    limit = _limit(value, name)
    if limit is None:
        return _permits(value, name, tokens) is False
    spans = list(_declared(value, "prefix"))
    step = lcm(*(alignment for _, alignment in spans))
    is_smallest = tokens - step < max((minimum for minimum, _ in spans), default=1)
    return permitted_by == "every provider's prefix" and is_smallest and tokens > limit


def _limit(value: Json, name: str) -> int | None:
    """The tokens that a state or a step takes, if the name is of one and says so rightly."""
    if match := _STATE.fullmatch(name):
        state = _by_name(value["program"]["states"], "id", match[1])
        limit = state["capacity_demand"]["token_scaled"]["maximum_tokens"]
    elif match := _POLICY.fullmatch(name):
        policy = value.get("policy")
        holder = value["plan"]["payload"] if policy is None else policy["admission"]
        limit = holder["maximum_scheduled_tokens"]
    else:
        return None
    if _number(match[match.lastindex or 1]) != limit:
        raise ValueError("the counterexample names another limit than the document")
    return int(limit)


def _nodes(value: Json) -> list[Json]:
    nodes: list[Json] = value["plan"]["payload"]["nodes"]
    return nodes


def _by_name(entries: list[Json], field: str, name: str) -> Json:
    return {entry[field]: entry for entry in reversed(entries)}[name]


def _span(wire: Json) -> Span:
    return wire["minimum_tokens"], wire["alignment"]


def _boundaries(node: Json, catalog: Json) -> Json | None:
    """What the node's selected provider declares; None where it takes no part in checkpoints."""
    providers = catalog["providers"][node["operation_id"]]
    return _contract(_by_name(providers, "provider_id", node["selection"]["selected_provider"]))


def _contract(provider: Json) -> Json | None:
    capability = provider.get("checkpoint_capability", "unsupported")
    if capability == "unsupported":
        return None
    boundaries: Json = capability["completed_boundary"]["boundaries"]
    return boundaries


def _declared(value: Json, side: str) -> Iterator[Span]:
    for node in _nodes(value):
        boundaries = _boundaries(node, value["catalog"])
        if boundaries is not None:
            yield _span(boundaries[side])


def _check_catalogs(value: Json, tokens: int, by: str, refused_by: str) -> bool:
    """A constraint of one provider, or merged of a plan, on the same side in both catalogs."""
    named = [_CATALOG.fullmatch(name) for name in (by, refused_by)]
    spans = {match[1]: (_number(match[2]), _number(match[3])) for match in named if match}
    permitting, refusing = (match[1] for match in named if match)
    stands = any(
        all(_span(owner[catalog][side]) == spans[catalog] for catalog in ("BASE", "HEAD"))
        for owner in _owners(value)
        for side in ("prefix", "suffix")
    )
    return (
        permitting != refusing
        and stands
        and _legal(tokens, spans[permitting])
        and not _legal(tokens, spans[refusing])
    )


def _check_catalog_boundaries(
    value: Json, prefix: int, suffix: int, by: str, refused_by: str
) -> bool:
    named = [_CATALOG_BOUNDARIES.fullmatch(name) for name in (by, refused_by)]
    both = {
        match[1]: ((_number(match[2]), _number(match[3])), (_number(match[4]), _number(match[5])))
        for match in named
        if match
    }
    permitting, refusing = (match[1] for match in named if match)
    stands = any(
        all(
            (_span(owner[catalog]["prefix"]), _span(owner[catalog]["suffix"])) == both[catalog]
            for catalog in ("BASE", "HEAD")
        )
        for owner in _owners(value)
    )

    def permits(catalog: str) -> bool:
        return _legal(prefix, both[catalog][0]) and _legal(suffix, both[catalog][1])

    return permitting != refusing and stands and permits(permitting) and not permits(refusing)


def _owners(value: Json) -> Iterator[dict[str, Json]]:
    """The boundary constraints of each provider, and of the plan, in both catalogs."""
    base, head = value["base"], value["head"]
    for operation, providers in base["providers"].items():
        for provider in providers:
            for other in head["providers"].get(operation, ()):
                if provider["provider_id"] == other["provider_id"]:
                    pair = (_contract(provider), _contract(other))
                    if pair[0] is not None and pair[1] is not None:
                        yield {"BASE": pair[0], "HEAD": pair[1]}
    if "plan" in value:
        merged = [_merged(value, catalog) for catalog in (base, head)]
        yield {"BASE": merged[0], "HEAD": merged[1]}


def _merged(value: Json, catalog: Json) -> Json:
    found = [_boundaries(node, catalog) for node in _nodes(value)]
    merged: Json = {}
    for side in ("prefix", "suffix"):
        spans = [_span(boundaries[side]) for boundaries in found if boundaries is not None]
        merged[side] = {
            "minimum_tokens": max((minimum for minimum, _ in spans), default=1),
            "alignment": lcm(*(alignment for _, alignment in spans)),
        }
    return merged


def _copy(value: Json, state: Json, tokens: int) -> tuple[str, int, int] | None:
    """The resource of a state, and the bytes that are copied of it at a boundary."""
    semantics = state.get("checkpoint", "unsupported")
    bindings = _bindings(value, state)
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


def _bindings(value: Json, state: Json) -> list[Json]:
    return [
        binding
        for node in _nodes(value)
        for binding in node["values"]
        if binding["value_id"] == state["value_id"]
    ]


def _content(value: Json, state: Json) -> tuple[Any, Any]:
    return _bindings(value, state)[0]["tensor"], state["checkpoint"]
