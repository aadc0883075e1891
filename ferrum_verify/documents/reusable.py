"""Reusable execution: captured programs, the buckets they run in, and their budgets.

The same program policy and capacities stand in a runtime policy, in a planning problem and
in a memory plan, so they live in a file of their own.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, model_serializer

from ferrum_verify.documents.primitives import U32, U64, Identity, WireModel


class Capacity(WireModel):
    """The largest shape that a bucket runs."""

    maximum_sequences: U32
    maximum_tokens: U64
    maximum_pages: U64


class BucketSpec(WireModel):
    """A bucket with its derived identity."""

    bucket_id: Identity
    class_id: Identity
    capacity: Capacity


class PoolBudget(WireModel):
    """The bytes of one pool that one lane of a bucket needs."""

    pool_id: Identity
    step_bytes: U64
    invocation_bytes: U64


class ResolvedBucket(WireModel):
    """A bucket with its budget in each pool."""

    bucket: BucketSpec
    pool_budgets: Annotated[tuple[PoolBudget, ...], Field(strict=False)]


class UniformDecode(WireModel):
    """Every request decodes the same number of tokens."""

    topology: Literal["uniform_decode"]
    request_capacity: U32
    token_capacity: U64
    query_tokens_per_sequence: U32


class Prefill(WireModel):
    """One request's prompt, from ``tokens_processed`` on."""

    topology: Literal["prefill"]
    tokens_processed: U64
    token_capacity: U64
    total_prompt_tokens: U64


ProgramShape = Annotated[UniformDecode | Prefill, Field(discriminator="topology")]


class CapturedProgram(WireModel):
    """A program that is captured for one exact shape."""

    class_id: Identity
    shape: ProgramShape


class ProgramPolicy(WireModel):
    """Which programs are captured, when, and with how many passes."""

    shape_semantics: Literal["exact"]
    catalog_miss_policy: Literal["eager_fallback"]
    catalog_lifetime: Literal["startup_sealed", "on_demand_bounded"]
    warmup_passes: U32
    capture_passes: U32
    replay_validation_passes: U32
    programs: Annotated[tuple[CapturedProgram, ...], Field(strict=False)]


class _WithProgramPolicy(WireModel):
    """Leaves an absent program policy out instead of writing ``null``."""

    @model_serializer(mode="wrap")
    def _without_absent_policy(self, handler: Any) -> dict[str, Any]:
        wire: dict[str, Any] = handler(self)
        if wire.get("program_policy", ...) is None:
            del wire["program_policy"]
        return wire


class ReusableExecution(_WithProgramPolicy):
    """The reusable-execution part of a memory plan."""

    maximum_reusable_lanes: U32
    maximum_device_executables: U64
    buckets: Annotated[tuple[ResolvedBucket, ...], Field(strict=False)]
    program_policy: ProgramPolicy | None = None


class PolicyReusableExecution(_WithProgramPolicy):
    """The reusable-execution part of a runtime policy."""

    maximum_reusable_lanes: U32
    buckets: Annotated[tuple[BucketSpec, ...], Field(strict=False)]
    program_policy: ProgramPolicy | None = None


class ProblemBucket(WireModel):
    """A bucket as a planning problem states it, flat and without its identity."""

    class_id: Identity
    maximum_sequences: U32
    maximum_tokens: U64
    maximum_pages: U64

    @property
    def capacity(self) -> Capacity:
        """The largest shape that the bucket runs."""
        return Capacity(
            maximum_sequences=self.maximum_sequences,
            maximum_tokens=self.maximum_tokens,
            maximum_pages=self.maximum_pages,
        )


class ProblemReusableExecution(_WithProgramPolicy):
    """The reusable-execution policy of a planning problem; its buckets stand in any order."""

    maximum_reusable_lanes: U32
    buckets: Annotated[tuple[ProblemBucket, ...], Field(strict=False)]
    program_policy: ProgramPolicy | None = None
