"""The plan schemas that the families are built in, and what 8.1 has beside 5.0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.plan.canonical import semantics_fingerprint
from ferrum_verify.rules.execution_weights import IDENTITY_IMPLEMENTATION, IDENTITY_MATERIALIZER

from .operations import VERSION

if TYPE_CHECKING:
    from .network import Value
    from .storage import Json

SCHEMAS = ("5.0", "8.1")
"""The schemas by their versions, the default last."""

LATEST = SCHEMAS[-1]
WEIGHT_LAYOUT = "weight-layout/dense"


def version(schema: str) -> Json:
    """A schema's version as a plan states it."""
    major, _, minor = schema.partition(".")
    return {"major": int(major), "minor": int(minor)}


def execution_semantics() -> Json:
    """What every provider of the families promises: a replay gives the bits of an eager run."""
    return {
        "contract_version": dict(VERSION),
        "contract_fingerprint": semantics_fingerprint(**VERSION, replayed=True),
        "repeatability": "bitwise_same_runtime",
        "replay_equivalence": "bitwise_eager_equivalent",
    }


def weight_materializers() -> Json:
    """The identity alone: the families' weights are used as their files hold them."""
    return {
        IDENTITY_MATERIALIZER: {
            "id": IDENTITY_MATERIALIZER,
            "version": {"major": 2, "minor": 0},
            "implementation_fingerprint": IDENTITY_IMPLEMENTATION,
            "fidelity": "exact",
            "required_capabilities": [],
        }
    }


def execution_weights(components: list[tuple[Value, Json]], schema_fingerprint: str) -> Json:
    """Weights whose components are each made of the one source of that name."""
    identity = weight_materializers()[IDENTITY_MATERIALIZER]
    return {
        "source_schema_fingerprint": schema_fingerprint,
        "materializer_id": identity["id"],
        "materializer_version": identity["version"],
        "materializer_implementation_fingerprint": identity["implementation_fingerprint"],
        "component_sources": {
            component["component_id"]: [component["component_id"]] for _, component in components
        },
        "schema": {
            "format_id": "weight-format/dense",
            "layout_id": WEIGHT_LAYOUT,
            "version": dict(VERSION),
            "components": [component for _, component in components],
            "tensors": [
                {"weight_id": weight.name, "tensor": weight.tensor.to_json()}
                for weight, _ in components
            ],
        },
    }
