"""A resolved model plan: one file of the engine with a plan and all that it was compiled from."""

from typing import Literal

from pydantic import ConfigDict

from ferrum_verify.documents.bundle import Bundle
from ferrum_verify.documents.catalog import CapabilityCatalog
from ferrum_verify.documents.execution_plan import ExecutionPlan
from ferrum_verify.documents.policy import RuntimePolicy
from ferrum_verify.documents.primitives import Fingerprint, WireModel
from ferrum_verify.documents.program import ModelProgram

RESOLVED_PARTS: dict[str, tuple[str, ...]] = {
    "plan": ("parts", "execution_plan"),
    "program": ("parts", "prepared_family", "program"),
    "catalog": ("parts", "capabilities"),
    "policy": ("parts", "runtime"),
}
"""Where the parts of a bundle stand in a resolved model plan."""


class PreparedFamily(WireModel):
    """A model family that is ready to be compiled; only its program is read."""

    model_config = ConfigDict(extra="ignore")

    program: ModelProgram


class ResolvedParts(WireModel):
    """The parts that are a bundle; of others nothing is read."""

    model_config = ConfigDict(extra="ignore")

    prepared_family: PreparedFamily
    capabilities: CapabilityCatalog
    runtime: RuntimePolicy
    execution_plan: ExecutionPlan

    @property
    def bundle(self) -> Bundle:
        """The same parts as a bundle."""
        return Bundle.trusted(
            plan=self.execution_plan,
            program=self.prepared_family.program,
            catalog=self.capabilities,
            policy=self.runtime,
        )


class ResolvedModelPlan(WireModel):
    """A plan with its program, catalog and policy, in the engine's order of keys.

    What ``fingerprint`` covers is not known, so it is not recomputed.
    """

    wire_version: Literal[2]
    parts: ResolvedParts
    fingerprint: Fingerprint
