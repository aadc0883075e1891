"""Where a plan's weights come from, and what is done to them on loading: plan schema 8.1.

How a weight is encoded, and the schema's own hashes, have changed since this was described in
public: they are kept as plain JSON.
"""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, JsonValue, Tag

from ferrum_verify.documents.primitives import (
    U64,
    U64_MAX,
    Fingerprint,
    Identity,
    Version,
    WireModel,
)

_KNOWN_KIND = "block_fp8_to_marlin_fp8_group128"
HAS_ZERO = "has a dimension of 0"
SCRATCH_MULTIPLE = 128
"""Rows and columns of an 8-bit block are multiples of this."""


class BlockFp8ToMarlin(WireModel):
    """Weights of 8 bits in blocks are packed anew, in groups of 128."""

    kind: Literal["block_fp8_to_marlin_fp8_group128"]
    source_values_id: Identity
    source_scales_id: Identity
    packed_values_id: Identity
    scales_id: Identity
    logical_dimensions: Annotated[tuple[U64, ...], Field(strict=False)]
    matrices_per_output: U64

    @property
    def key(self) -> tuple[Any, ...]:
        """The order in which transforms of one kind ascend."""
        return tuple(getattr(self, name) for name in type(self).model_fields)

    @property
    def sources(self) -> tuple[str, ...]:
        """The components that are read, in order."""
        return self.source_values_id, self.source_scales_id

    @property
    def outputs(self) -> tuple[str, ...]:
        """The components that are written, in order."""
        return self.packed_values_id, self.scales_id

    @property
    def scratch_bytes(self) -> int | str | None:
        """The bytes that it works in; a text says why its dimensions are none."""
        if len(self.logical_dimensions) < 2:
            return "has no two dimensions"
        rows, columns = self.logical_dimensions[-2:]
        if 0 in self.logical_dimensions:
            return HAS_ZERO
        if rows % SCRATCH_MULTIPLE or columns % SCRATCH_MULTIPLE:
            return f"is of {rows:,} by {columns:,}, no multiples of {SCRATCH_MULTIPLE}"
        if self.matrices_per_output not in (1, 2):
            return f"has {self.matrices_per_output:,} matrices for each output, not 1 or 2"
        size = rows * self.matrices_per_output * columns
        return size if size <= U64_MAX else f"works in {size:,} bytes, more than u64 holds"


class OtherTransform(WireModel):
    """A transform of which less is known: its ids by their names, its size at best.

    Ids of what is read begin with ``source_``; all other ids are of what is written.
    """

    model_config = ConfigDict(
        extra="allow", json_schema_extra={"not": {"properties": {"kind": {"const": _KNOWN_KIND}}}}
    )

    kind: Identity

    @property
    def key(self) -> None:
        """How such transforms ascend is not known."""
        return

    @property
    def sources(self) -> tuple[str, ...]:
        """The components that are read, in order."""
        return self._ids(source=True)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The components that are written, in order."""
        return self._ids(source=False)

    def _ids(self, *, source: bool) -> tuple[str, ...]:
        members = self.model_extra or {}
        return tuple(
            value
            for name, value in members.items()
            if name.endswith("_id")
            and name.startswith("source_") == source
            and isinstance(value, str)
        )

    @property
    def scratch_bytes(self) -> int | str | None:
        """The bytes that it works in, None where that is not known; a text is a fault."""
        members = self.model_extra or {}
        dimensions = members.get("logical_dimensions")
        if isinstance(dimensions, list) and any(
            type(each) is int and not each for each in dimensions
        ):
            return HAS_ZERO
        if self.kind != "gpt_oss_mxfp4_to_marlin" or "execution_dimensions" in members:
            return None
        if not (
            isinstance(dimensions, list)
            and len(dimensions) == 3
            and all(type(each) is int and each > 0 for each in dimensions)
        ):
            return None
        rows, columns = dimensions[1:]
        return int(rows * columns // 2)


def _is_known(value: Any) -> str:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return "known" if kind == _KNOWN_KIND else "other"


WeightTransform = Annotated[
    Annotated[BlockFp8ToMarlin, Tag("known")] | Annotated[OtherTransform, Tag("other")],
    Discriminator(_is_known),
]


class WeightSchema(WireModel):
    """The weights as kernels read them; components and tensors as plain JSON."""

    format_id: Identity
    layout_id: Identity
    version: Version
    components: JsonValue
    tensors: JsonValue

    @property
    def component_ids(self) -> frozenset[str] | None:
        """The ids of the components, None where they are written in a way that is not known."""
        if isinstance(self.components, dict):
            return frozenset(self.components)
        if not isinstance(self.components, list):
            return None
        ids = [
            each.get("component_id", each.get("id")) if isinstance(each, dict) else None
            for each in self.components
        ]
        names = [each for each in ids if isinstance(each, str)]
        return frozenset(names) if len(names) == len(ids) else None

    @property
    def quantization_formats(self) -> list[str] | None:
        """The quantization formats of the components, None where an encoding is not known."""
        components = self.components
        if isinstance(components, dict):
            components = list(components.values())
        if not isinstance(components, list):
            return None
        formats = set()
        for each in components:
            encoding = each.get("encoding") if isinstance(each, dict) else None
            if not (isinstance(encoding, dict) and len(encoding) == 1):
                return None
            ((form, terms),) = encoding.items()
            if form in ("dense", "dense_affine"):
                continue
            name = terms.get("format_id") if isinstance(terms, dict) else None
            if form not in ("quantized", "block_quantized") or not isinstance(name, str):
                return None
            formats.add(name)
        return sorted(formats)


class ExecutionWeights(WireModel):
    """The weights that a plan runs on: who makes them, from what, and how."""

    source_schema_fingerprint: Fingerprint
    materializer_id: Identity
    materializer_version: Version
    materializer_implementation_fingerprint: Fingerprint
    approximate_quality_approval: JsonValue = None
    component_sources: dict[Identity, Annotated[tuple[Identity, ...], Field(strict=False)]]
    static_weight_transforms: Annotated[tuple[WeightTransform, ...], Field(strict=False)] = ()
    schema_: Annotated[WeightSchema, Field(alias="schema")]


class WeightMaterializer(WireModel):
    """Who makes a plan's weights of a model's files."""

    id: Identity
    version: Version
    implementation_fingerprint: Fingerprint
    fidelity: Literal["exact", "approximate"]
    required_capabilities: Annotated[tuple[Identity, ...], Field(strict=False)]
    approximate_quality_contract: JsonValue = None
