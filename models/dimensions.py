"""The published sizes of each model family, as ``dimensions.json`` holds them.

Every figure counts elements (heads, rows, columns), never bytes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

DIMENSIONS_FILE = Path(__file__).with_name("dimensions.json")


class UnknownFamilyError(ValueError):
    """A family that ``dimensions.json`` does not list."""


@dataclass(frozen=True, slots=True)
class Attention:
    """Grouped-query attention: several query heads share one key/value head."""

    heads: int
    key_value_heads: int
    head: int

    @property
    def query_width(self) -> int:
        """Elements of all query heads of one token."""
        return self.heads * self.head

    @property
    def key_value_width(self) -> int:
        """Elements of the keys (or of the values) of one token."""
        return self.key_value_heads * self.head


@dataclass(frozen=True, slots=True)
class FeedForward:
    """A dense gated feed-forward block."""

    intermediate: int


@dataclass(frozen=True, slots=True)
class Experts:
    """A routed feed-forward block: each token visits a few of many small experts."""

    experts: int
    experts_per_token: int
    intermediate: int

    @property
    def routed_width(self) -> int:
        """Elements that one token's chosen experts produce together."""
        return self.experts_per_token * self.intermediate


@dataclass(frozen=True, slots=True)
class Recurrence:
    """Gated-delta layers, each carrying one state matrix a value head and a convolution tail."""

    full_attention_interval: int
    key_heads: int
    value_heads: int
    key_head: int
    value_head: int
    convolution_kernel: int

    @property
    def convolution_channels(self) -> int:
        """Channels of the causal convolution: queries, keys and values side by side."""
        return 2 * self.key_heads * self.key_head + self.value_width

    @property
    def value_width(self) -> int:
        """Elements of all value heads of one token."""
        return self.value_heads * self.value_head


@dataclass(frozen=True, slots=True)
class Dimensions:
    """One family. A layer's feed-forward is dense or routed; ``recurrence`` makes it a hybrid."""

    family: str
    architecture: str
    layers: int
    hidden: int
    vocabulary: int
    tied_embeddings: bool
    attention: Attention
    feed_forward: FeedForward | None
    experts: Experts | None
    recurrence: Recurrence | None


@cache
def _published() -> dict[str, dict[str, Any]]:
    families: dict[str, dict[str, Any]] = json.loads(DIMENSIONS_FILE.read_text())["families"]
    return families


def families() -> list[str]:
    """The names of the families, in the order of the file."""
    return list(_published())


def dimensions(family: str, layers: int | None = None) -> Dimensions:
    """The sizes of ``family``, with its published number of layers or another."""
    figures = _published().get(family)
    if figures is None:
        raise UnknownFamilyError(f"no model family `{family}`: one of {', '.join(families())}")
    if layers is not None and layers < 1:
        raise ValueError(f"a model has at least one layer, not {layers}")
    dense, routed = figures.get("feed_forward"), figures.get("experts")
    recurrence = figures.get("recurrence")
    return Dimensions(
        family=family,
        architecture=figures["architecture"],
        layers=figures["layers"] if layers is None else layers,
        hidden=figures["hidden"],
        vocabulary=figures["vocabulary"],
        tied_embeddings=figures["tied_embeddings"],
        attention=Attention(**figures["attention"]),
        feed_forward=FeedForward(**dense) if dense else None,
        experts=Experts(**routed) if routed else None,
        recurrence=Recurrence(**recurrence) if recurrence else None,
    )
