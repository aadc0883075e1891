"""The plans that are measured."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import models
from ferrum_verify import derive_memory_plan
from ferrum_verify.documents.fragment_node import FragmentNode
from ferrum_verify.plan.streams import schedule_on

FIXTURES = Path(__file__).parent.parent / "tests" / "fixtures"


@cache
def decoder_64() -> dict[str, Any]:
    """The reference engine's own 64-layer problem, with the plan that it took 28 s to derive."""
    with gzip.open(FIXTURES / "decoder-64.json.gz", "rt", encoding="utf-8") as text:
        case: dict[str, Any] = json.load(text)
        return case


def fragment_64() -> dict[str, Any]:
    """The 64-layer plan with its nodes."""
    case = decoder_64()
    return {"nodes": case["problem"]["nodes"], "memory": case["expect"]["memory"]}


def staged_schedule(steps: int | None = None) -> dict[str, Any]:
    """The 64-layer plan in four stages, each a quarter of its nodes on a stream of its own.

    With ``steps`` so many are in flight, and what a step writes has as many buffers.
    """
    fragment = fragment_64()
    nodes = [FragmentNode.model_validate(node) for node in fragment["nodes"]]
    streams = [f"stage/{index * 4 // len(nodes)}" for index in range(len(nodes))]
    document = schedule_on(nodes, streams, steps)
    if steps is not None:
        document["steps"]["buffers"] = {
            row["base_resource_id"]: steps
            for row in fragment["memory"]["dynamic_descriptors"]
            if row["lifetime"] in ("step", "invocation")
        }
    return document


@cache
def decoder_problem(layers: int) -> dict[str, Any]:
    """A decoder stack of any depth, as a planning problem."""
    return models.decoder(layers)


@cache
def decoder_fragment(layers: int) -> dict[str, Any]:
    """A decoder stack of any depth, derived."""
    problem = decoder_problem(layers)
    return {"nodes": problem["nodes"], "memory": derive_memory_plan(problem).to_wire()}
