"""Random program policies: what is captured ahead of time for the buckets of a reusable policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.definition.reusable import program_key, shape_key

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

    from tests.definition.sizes import Json


@st.composite
def decodes(draw: DrawFn, bucket: Json) -> list[Json]:
    """One decode that the bucket covers."""
    requests = draw(st.integers(1, min(bucket["maximum_sequences"], bucket["maximum_tokens"])))
    queries = draw(st.integers(1, bucket["maximum_tokens"] // requests))
    return [
        {
            "topology": "uniform_decode",
            "request_capacity": requests,
            "token_capacity": requests * queries,
            "query_tokens_per_sequence": queries,
        }
    ]


@st.composite
def prefills(draw: DrawFn, bucket: Json) -> list[Json]:
    """One prefill that the bucket covers, or two where the second goes on after the first."""
    first = draw(st.integers(1, bucket["maximum_tokens"]))
    second = draw(st.integers(0, bucket["maximum_tokens"]))
    total = first + second + draw(st.integers(0, 3))
    shape = {"topology": "prefill", "total_prompt_tokens": total}
    shapes = [shape | {"tokens_processed": 0, "token_capacity": first}]
    if second:
        shapes.append(shape | {"tokens_processed": first, "token_capacity": second})
    return shapes


@st.composite
def program_policies(draw: DrawFn, buckets: list[Json]) -> Json:
    """A program policy with one to four programs, each in one class and covered by a bucket."""
    class_of: dict[tuple[int, ...], Json] = {}
    for _ in range(draw(st.integers(1, 2))):
        bucket = draw(st.sampled_from(buckets))
        for shape in draw(decodes(bucket) | prefills(bucket)):
            class_of[shape_key(shape)] = {"class_id": bucket["class_id"], "shape": shape}
    sealed = draw(st.booleans())
    passes = draw(st.sampled_from([(1, 1, 1), (2, 1, 3)])) if sealed else (1, 1, 0)
    return {
        "shape_semantics": "exact",
        "catalog_miss_policy": "eager_fallback",
        "catalog_lifetime": "startup_sealed" if sealed else "on_demand_bounded",
        "warmup_passes": passes[0],
        "capture_passes": passes[1],
        "replay_validation_passes": passes[2],
        "programs": sorted(class_of.values(), key=program_key),
    }
