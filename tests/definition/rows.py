"""Rows, by definition: which static allocations and dynamic descriptors are legal."""

from __future__ import annotations

from itertools import pairwise

from tests.definition.sizes import (
    SMALLEST,
    Json,
    block_bytes,
    bucket_shape,
    canonical_hash,
    demand_bytes,
    form_of,
    is_power_of_two,
    largest_shape,
    quantize,
    request_bytes,
    require,
)

OPAQUE_LAYOUT = canonical_hash("opaque_bytes_v1")
CONTIGUOUS_LAYOUT = canonical_hash([canonical_hash("contiguous")])
LINEAR: Json = {"allocator": "linear_arena", "view": "contiguous"}


def kind_of(row: Json) -> str:
    """``value``, or the name of the workspace kind: scratch, binding, persistent."""
    kind = row["kind"]
    return kind if isinstance(kind, str) else next(iter(kind))


def check_profile(profile: Json) -> None:
    """A block is a power of two; pages exist only in blocks, and are as large as they."""
    block = block_bytes(profile)
    require(block is None or is_power_of_two(block), "a block is a power of two")
    view = profile["view"]
    if view != "contiguous":
        require(view["paged_regions"]["block_bytes"] == block, "a page is a block of the arena")


def check_demand(demand: Json, instances: int) -> None:
    """Every factor says something, buckets grow, and the maximum fits u64."""
    form, fields = form_of(demand)
    if form == "bounded_shape_buckets":
        buckets = fields["buckets"]
        require(1 <= len(buckets) <= 64, "a demand has 1 to 64 buckets")
        for bucket in buckets:
            require(min(bucket.values()) > 0, "a bucket has no zero")
        for smaller, larger in pairwise(buckets):
            grows = all(
                before <= after
                for before, after in zip(bucket_shape(smaller), bucket_shape(larger), strict=True)
            )
            require(grows and bucket_shape(smaller) != bucket_shape(larger), "buckets grow")
            require(smaller["bytes"] <= larger["bytes"], "the bytes of buckets do not shrink")
    elif form == "affine":
        require(
            fields["bytes_per_sequence"] > 0 or fields["bytes_per_token"] > 0,
            "an affine demand depends on sequences or tokens",
        )
        require(
            fields["maximum_sequences"] > 0 and fields["maximum_tokens"] > 0,
            "the maxima of an affine demand are positive",
        )
    else:
        require(min(fields.values()) > 0, "a demand has no zero")
    if form == "actual_sequences":
        require(fields["maximum_sequences"] == instances, "sequences are the instances")
    demand_bytes(demand, largest_shape(demand))


# What a workspace row must be beside its kind: lifetimes, usage. All hold u8.
WORKSPACES = {
    "scratch": ({"invocation"}, "scratch"),
    "binding": ({"invocation"}, "binding"),
    "persistent": ({"request", "sequence", "step"}, "persistent"),
}


def check_descriptor(descriptor: Json) -> None:
    """A dynamic descriptor is legal by itself."""
    instances = descriptor["theoretical_maximum_instances"]
    lifetime, usage = descriptor["lifetime"], descriptor["usage"]
    require(is_power_of_two(descriptor["alignment_bytes"]), "an alignment is a power of two")
    require(lifetime != "plan", "what lives as long as the plan is static")
    require(instances >= 1, "a resource has an instance")
    check_profile(descriptor["storage"]["profile"])
    check_demand(descriptor["demand"], instances)
    request_bytes(descriptor, SMALLEST)
    request_bytes(descriptor, largest_shape(descriptor["demand"]))
    kind = kind_of(descriptor)
    if kind == "value":
        require(usage != "weights", "weights are static")
    else:
        lifetimes, wanted = WORKSPACES[kind]
        require(lifetime in lifetimes, "a workspace has the lifetime of its kind")
        require(usage == wanted, "a workspace has the usage of its kind")
        require(descriptor["element_type"] == "u8", "a workspace is bytes")
    if descriptor["initialization"] == "zero":
        zeroed = (kind, usage, lifetime) == ("value", "state", "sequence")
        require(zeroed, "only the state of a sequence starts as zeros")


def complete_static(row: Json) -> Json:
    """A static row with what the planner adds: one instance, its stride and size in bytes."""
    profile = row["storage"]["profile"]
    check_profile(profile)
    require(row["per_instance_bytes"] > 0, "a static allocation holds some bytes")
    kind = kind_of(row)
    require(kind in ("value", "persistent"), "scratch and bindings are not static")
    if kind == "value":
        require(profile == LINEAR, "a static value is contiguous in a linear arena")
    else:
        require(row["usage"] == "persistent", "a workspace has the usage of its kind")
        require(row["element_type"] == "u8", "a workspace is bytes")
        opaque = row["storage"]["logical_layout_fingerprint"] == OPAQUE_LAYOUT
        require(opaque, "a workspace has the opaque layout")
    stride = quantize(row["per_instance_bytes"], row["alignment_bytes"], profile)
    derived = {"instance_stride_bytes": stride, "instance_count": 1, "size_bytes": stride}
    return row | derived | {"lifetime": "plan"}


def compatibility(descriptor: Json) -> Json:
    """What resources must have in common to live in one pool."""
    return {
        "version": {"major": 1, "minor": 0},
        "profile": descriptor["storage"]["profile"],
        "usage": descriptor["usage"],
        "element_type": descriptor["element_type"],
        "logical_layout_fingerprint": descriptor["storage"]["logical_layout_fingerprint"],
        "alignment_bytes": descriptor["alignment_bytes"],
    }


def complete_descriptor(descriptor: Json) -> Json:
    """A legal descriptor with the id of its pool."""
    check_descriptor(descriptor)
    pool_id = "dynamic-pool/sha256/" + canonical_hash(compatibility(descriptor))
    return descriptor | {"pool_id": pool_id}
