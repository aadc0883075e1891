"""Where bytes live and how many are asked for, in the engine's own JSON.

A *profile* names an allocator and the view that a kernel gets of it. A *formula* is a
provider's workspace size without run-time ceilings; bound to a deployment it becomes a
resource's *demand*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .deployment import Deployment

Json = dict[str, Any]

ELEMENT_BYTES = {"u8": 1, "f16": 2, "u32": 4, "f32": 4}
"""Bytes of one element, for the element types that the families use."""

VALUE_ALIGNMENT_BYTES = 256
"""Alignment of values and scratch: a device's widest coalesced access."""

BINDING_ALIGNMENT_BYTES = 64
"""Alignment of binding workspaces, which hold pointers and page tables."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Contiguous in a linear arena, or (with a block size) paged in a fixed-block arena."""

    block_bytes: int | None = None

    def to_json(self) -> Json:
        """The profile as the engine writes it."""
        if self.block_bytes is None:
            return {"allocator": "linear_arena", "view": "contiguous"}
        return {
            "allocator": {"fixed_block_arena": {"block_bytes": self.block_bytes}},
            "view": {"paged_regions": {"block_bytes": self.block_bytes}},
        }

    def requirement(self) -> Json:
        """What a port or a workspace states when it accepts this profile alone."""
        return {"accepted_profiles": [self.to_json()]}


LINEAR = Profile()


def ordered_profiles(profiles: set[Profile]) -> list[Json]:
    """Distinct profiles as JSON, linear first, then by block size."""
    return [p.to_json() for p in sorted(profiles, key=lambda p: p.block_bytes or 0)]


def storage(profile: Profile, layout_fingerprint: str) -> Json:
    """The ``storage`` of a static row or of a dynamic descriptor."""
    return {"profile": profile.to_json(), "logical_layout_fingerprint": layout_fingerprint}


@dataclass(frozen=True, slots=True)
class Formula:
    """A workspace size; ``form`` names the JSON variant and ``sizes`` its fields."""

    form: str
    sizes: tuple[tuple[str, int], ...] = ()
    buckets: tuple[tuple[int, int, int, int], ...] = ()

    def to_json(self) -> Json:
        """The formula as a provider's estimate states it, without run-time ceilings."""
        if self.form == "bounded_shape_buckets":
            return {self.form: {"buckets": [_bucket(*bucket) for bucket in self.buckets]}}
        return {self.form: dict(self.sizes)}

    def bind(self, deployment: Deployment) -> Json:
        """The demand that the formula becomes under a deployment's ceilings."""
        bound = self.to_json()
        sizes: Json = bound[self.form]
        if self.form in ("actual_sequences", "affine"):
            sizes["maximum_sequences"] = deployment.maximum_active_sequences
        if self.form in ("tokens", "affine"):
            sizes["maximum_tokens"] = deployment.maximum_scheduled_tokens
        order = DEMAND_FIELDS.get(self.form)
        return {self.form: {name: sizes[name] for name in order}} if order else bound


DEMAND_FIELDS = {
    "actual_sequences": ("bytes_per_sequence", "maximum_sequences"),
    "tokens": ("bytes_per_token", "maximum_tokens"),
    "affine": (
        "fixed_bytes",
        "bytes_per_sequence",
        "maximum_sequences",
        "bytes_per_token",
        "maximum_tokens",
    ),
}
"""The engine's field order of each demand form that binding completes."""


def _bucket(sequences: int, tokens: int, pages: int, size_bytes: int) -> Json:
    return {
        "maximum_sequences": sequences,
        "maximum_tokens": tokens,
        "maximum_pages": pages,
        "bytes": size_bytes,
    }


def fixed(size_bytes: int) -> Formula:
    """The same number of bytes at every shape."""
    return Formula("fixed", (("bytes", size_bytes),))


def per_sequence(size_bytes: int) -> Formula:
    """Bytes for each sequence of the batch."""
    return Formula("actual_sequences", (("bytes_per_sequence", size_bytes),))


def per_token(size_bytes: int) -> Formula:
    """Bytes for each token of the step."""
    return Formula("tokens", (("bytes_per_token", size_bytes),))


def affine(fixed_bytes: int, sequence_bytes: int, token_bytes: int) -> Formula:
    """A fixed part, a part for each sequence and a part for each token."""
    sizes = (
        ("fixed_bytes", fixed_bytes),
        ("bytes_per_sequence", sequence_bytes),
        ("bytes_per_token", token_bytes),
    )
    return Formula("affine", sizes)


def shape_buckets(*buckets: tuple[int, int, int, int]) -> Formula:
    """Bytes of the first (sequences, tokens, pages, bytes) row that covers the shape."""
    return Formula("bounded_shape_buckets", buckets=buckets)
