"""The largest documents that the wire format allows: 16 MiB of JSON for one plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.plan.canonical import ordered_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from .storage import Json

PLAN_LIMIT_BYTES = 16 << 20


def encoded_bytes(plan: Json) -> int:
    """Bytes of a plan's JSON without white space."""
    return len(ordered_bytes(plan))


def largest_below(build: Callable[[int], Json], plan_of: Callable[[Json], Json]) -> Json:
    """``build(layers)`` with the most layers whose ``plan_of`` still fits the limit.

    A plan grows by nearly the same bytes with each layer, so two small ones predict the
    number and a few steps around the prediction settle it.
    """
    few, more = 16, 48
    small, large = (encoded_bytes(plan_of(build(layers))) for layers in (few, more))
    layer_bytes = (large - small) / (more - few)
    layers = few + int((PLAN_LIMIT_BYTES - small) / layer_bytes)
    document = build(layers)
    while encoded_bytes(plan_of(document)) > PLAN_LIMIT_BYTES:
        layers -= 1
        document = build(layers)
    while True:
        larger = build(layers + 1)
        if encoded_bytes(plan_of(larger)) > PLAN_LIMIT_BYTES:
            return document
        layers, document = layers + 1, larger
