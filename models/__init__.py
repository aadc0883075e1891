"""Model families to audit: Llama 3.1 8B, Qwen3 30B-A3B, Qwen3.5 4B, and stacks of any depth.

Every function returns plain JSON values, freshly built and the same on every call.
"""

from __future__ import annotations

from typing import Any

from .architecture import network
from .deployment import DEPLOYMENTS
from .dimensions import dimensions, families
from .largest import largest_below
from .planning import planning_problem
from .schemas import LATEST, SCHEMAS

__all__ = [
    "SCHEMAS",
    "bundle",
    "decoder",
    "families",
    "largest_legal_fragment",
    "largest_legal_plan",
    "problem",
]

DECODER_FAMILY = "llama-3.1-8b"
"""The family whose layers make up a stack of arbitrary depth."""


def problem(family: str, layers: int | None = None) -> dict[str, Any]:
    """The planning problem of a family, with its published number of layers or another."""
    sizes = dimensions(family, layers)
    deployment = DEPLOYMENTS[family]
    return planning_problem(network(sizes, deployment), deployment)


def bundle(family: str, layers: int | None = None, schema: str = LATEST) -> dict[str, Any]:
    """The family's execution plan with the catalog, program and policy behind it.

    ``schema`` is one of ``SCHEMAS``, the version of the plan's format.
    """
    from .plan import plan_bundle  # noqa: PLC0415  (the planner is not needed for problems)

    sizes = dimensions(family, layers)
    deployment = DEPLOYMENTS[family]
    return plan_bundle(network(sizes, deployment), deployment, schema)


def decoder(layers: int) -> dict[str, Any]:
    """The planning problem of a stack of ``layers`` dense decoder layers.

    Each layer is norm, query, key, value, attention, output, norm, gate, up, product, down;
    an embedding stands before the stack, a final norm and the logits after it.
    """
    return problem(DECODER_FAMILY, layers)


def largest_legal_plan() -> dict[str, Any]:
    """A bundle whose execution plan is the deepest decoder stack that 16 MiB of JSON holds.

    In schema 5.0, in which the figures of the benchmarks were taken.
    """
    return largest_below(lambda layers: bundle(DECODER_FAMILY, layers, "5.0"), lambda b: b["plan"])


def largest_legal_fragment() -> dict[str, Any]:
    """The deepest stack whose bare nodes and memory plan, ``{nodes, memory, …}``, fit 16 MiB.

    Nodes without values and estimates leave room for more of them than in a full plan.
    """
    return largest_below(_fragment, lambda fragment: fragment)


def _fragment(layers: int) -> dict[str, Any]:
    from ferrum_verify import derive_memory_plan  # noqa: PLC0415

    stack = decoder(layers)
    return {
        "nodes": stack["nodes"],
        "memory": derive_memory_plan(stack).to_wire(),
        "retained_completion_resources": stack["retained_completion_resources"],
    }
