"""What a provider promises of running a node again: plan schema 8.1."""

from typing import Literal, Self

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from ferrum_verify.documents.primitives import Fingerprint, Version, WireModel

Determinism = Literal["bitwise_same_runtime", "bitwise_same_runtime_with_replay"]
"""What a policy requires; the second also of a captured program that is replayed."""

SEMANTICS_VERSION = Version(major=1, minor=0)
"""The only version of these promises."""


class ExecutionSemantics(WireModel):
    """Whether a provider's bits repeat, and whether a replay gives those of an eager run."""

    contract_version: Version
    contract_fingerprint: Fingerprint
    repeatability: Literal["bitwise_same_runtime"]
    replay_equivalence: Literal["ineligible", "bitwise_eager_equivalent"]

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.contract_version != SEMANTICS_VERSION:
            raise PydanticCustomError(
                "contract_version", "Execution semantics should have contract version 1.0"
            )
        return self

    def satisfies(self, required: Determinism) -> bool:
        """Whether a policy that requires ``required`` lets the provider run."""
        return (
            required == "bitwise_same_runtime"
            or self.replay_equivalence == "bitwise_eager_equivalent"
        )
