"""Hostile documents: whoever wrote them wants the gate to hang, and they are within every limit.

Each is audited from a file in a process of its own. What cannot be judged in the time is told
as undecided or refused with the limit's name; only time and memory are measured here.
"""

from __future__ import annotations

import gzip
import itertools
import json
import string
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import models
from benchmarks.figure import Figure, Group
from benchmarks.measure import in_fresh_process
from ferrum_verify import derive_memory_plan
from ferrum_verify.catalogue.samples import sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CONCRETE_SECONDS = 10.0
CONCRETE_MIB = 1024.0
PROOF_MIB = 2048.0
PROOF_SECONDS = 130.0
"""The limit of all proofs of a document, 120 s, and what an audit without proofs may take."""

Document = dict[str, Any]


def _row(name: str, **changes: Any) -> Document:
    row = {
        "base_resource_id": name,
        "demand": {"tokens": {"bytes_per_token": 64, "maximum_tokens": 128}},
        "alignment_bytes": 64,
        "usage": "activations",
        "element_type": "f16",
        "lifetime": "step",
        "kind": "value",
        "storage": {
            "profile": {"allocator": "linear_arena", "view": "contiguous"},
            "logical_layout_fingerprint": "0" * 64,
        },
        "initialization": "none",
        "theoretical_maximum_instances": 1,
    }
    return row | changes


def _problem(nodes: list[Document], rows: list[Document]) -> Document:
    problem = models.decoder(1)
    return problem | {
        "nodes": nodes,
        "static_allocations": [],
        "dynamic_descriptors": rows,
        "retained_completion_resources": [],
        "reusable_execution_policy": None,
    }


def _node(name: str, dependencies: list[str], resources: list[str]) -> Document:
    return {"id": name, "dependencies": dependencies, "resources": resources}


def duplicate_keys() -> str:
    """500,000 times one key in one object."""
    return "{" + ",".join(['"nodes":[]'] * 500_000) + "}"


def rings() -> Document:
    """60 rings of 40 nodes, each ring joined to the next: one group, no short loop."""
    nodes = [
        _node(f"n{ring:02}-{at:02}", [f"n{ring:02}-{(at + 1) % 40:02}"], [])
        for ring in range(60)
        for at in range(40)
    ]
    for ring in range(60):
        nodes[ring * 40]["dependencies"].append(f"n{(ring + 1) % 60:02}-20")
    return _fragment(nodes, [])


def unordered_slot(members: int) -> Document:
    """One slot of members that no dependency orders."""
    names = [f"r{index:05}" for index in range(members)]
    document = _fragment(
        [_node(f"n{name}", [], [name]) for name in names], [_row(name) for name in names]
    )
    for pool in document["memory"]["dynamic_pools"]:
        pool["step_resource_slots"] = [
            {"kind": "ordered_single_fence_step_wave", "resource_ids": pool["resource_ids"]}
        ]
    return document


def dense_graph() -> Document:
    """2,400 nodes, each of which waits for all before it, with a resource each.

    Three more share a slot, of which the second lives from the second node to the last but one:
    what is claimed of it speaks of all dependencies.
    """
    letters = string.ascii_letters + string.digits
    names = sorted(map("".join, itertools.product(letters, repeat=2)))[:2400]
    nodes = [_node(name, names[:index], [f"r{name}"]) for index, name in enumerate(names)]
    for index, resource in ((0, "s"), (1, "t"), (-2, "t"), (-1, "u")):
        nodes[index]["resources"].append(resource)
    return _fragment(nodes, [_row(name) for name in (*(f"r{name}" for name in names), *"stu")])


def foreign_pools() -> Document:
    """12,000 rows that each ask for a pool of their own, and 12,000 pools for none of them."""
    layouts = [f"{index:064x}" for index in range(12_000)]
    profile = {"allocator": "linear_arena", "view": "contiguous"}
    rows = [
        _row(
            f"r{index:05}",
            storage={"profile": profile, "logical_layout_fingerprint": layout},
            lifetime="request",
        )
        for index, layout in enumerate(layouts)
    ]
    document = _fragment([_node("n", [], [row["base_resource_id"] for row in rows])], rows)
    for index, pool in enumerate(document["memory"]["dynamic_pools"]):
        pool["pool_id"] = f"dynamic-pool/sha256/{index:064x}"
        pool["resource_ids"] = ["r"]
    return document


def retained_values() -> Document:
    """A full plan of 12,000 retained values, each written over the end of the one before."""
    plan: Document = sample("plan")
    payload = plan["payload"]
    node, kept = payload["nodes"][-1], payload["retained_completion_values"][0]
    *inputs, output = node["values"]
    outputs, retained = [], []
    for index in range(12_000):
        name, offset = f"v{index:05}", (12_000 - index) * 64
        (component,) = output["storage"]["components"]
        storage = output["storage"] | {
            "components": [component | {"offset_bytes": offset, "length_bytes": 128}]
        }
        outputs.append(output | {"value_id": name, "ordinal": index, "storage": storage})
        retained.append(
            kept | {"value_id": name, "output_ordinal": index, "logical_offset_bytes": offset}
        )
    node["values"] = inputs + outputs
    payload["retained_completion_values"] = retained
    return plan


def staircases() -> Document:
    """1,200 rows of 64 buckets each, no two alike."""
    names = [f"r{index:04}" for index in range(1200)]
    rows = []
    for index, name in enumerate(names):
        buckets = [
            {
                "maximum_sequences": step,
                "maximum_tokens": step * 16,
                "maximum_pages": step * 16,
                "bytes": step * 4096 + index * 64,
            }
            for step in range(1, 65)
        ]
        rows.append(_row(name, demand={"bounded_shape_buckets": {"buckets": buckets}}))
    nodes = [
        _node(f"n{index:04}", [f"n{index - 1:04}"] if index else [], names[index : index + 2])
        for index in range(1200)
    ]
    return _fragment(nodes, rows)


def tiny_documents() -> str:
    """100,000 documents of two bytes."""
    return "{}\n" * 100_000


def long_lines() -> bytes:
    """64 lines of nearly 16 MiB each, which compress to next to nothing."""
    line = b'{"nodes": []' + b" " * (16 * 2**20 - 16) + b"}\n"
    return gzip.compress(line * 64, 1)


def program_inputs() -> Document:
    """A program with seven million inputs, none of which is a name."""
    program: Document = sample("program")
    return program | {"inputs": [0] * 7_000_000}


def _fragment(nodes: list[Document], rows: list[Document]) -> Document:
    problem = _problem([] if not rows else nodes, rows)
    memory = derive_memory_plan(problem).to_wire()
    return {"nodes": nodes, "memory": memory}


class Hostile(NamedTuple):
    """A document, how its file is called, and whether proofs are asked for."""

    name: str
    make: Callable[[], Document | str | bytes]
    ending: str = ".json"
    prove: bool = False

    def write(self, path: str) -> None:
        """Make the document and write it to a file."""
        made = self.make()
        text = made if isinstance(made, str | bytes) else json.dumps(made, separators=(",", ":"))
        Path(path).write_bytes(text.encode() if isinstance(text, str) else text)


HOSTILE = (
    Hostile("500,000 duplicate keys", duplicate_keys),
    Hostile("60 rings of 40 nodes", rings),
    Hostile("slot of 10,000 unordered members", lambda: unordered_slot(10_000)),
    Hostile("slot of 3,000 unordered members, proofs", lambda: unordered_slot(3000), prove=True),
    Hostile("dense graph of 2,400 nodes, proofs", dense_graph, prove=True),
    Hostile("12,000 pools for none of 12,000 rows", foreign_pools),
    Hostile("12,000 retained values", retained_values),
    Hostile("1,200 rows of 64 buckets, proofs", staircases, prove=True),
    Hostile("100,000 tiny documents in one file", tiny_documents, ".jsonl"),
    Hostile("64 lines of 16 MiB, compressed", long_lines, ".jsonl.gz"),
    Hostile("7,000,000 inputs of a program", program_inputs),
)

_WRITE = """
from benchmarks import hostile
hostile.HOSTILE[{index}].write({path!r})
result = {{}}
"""
_AUDIT = """
import time
from ferrum_verify import audit
started = time.perf_counter()
report = audit({path!r}, prove={prove})
result = {{"seconds": time.perf_counter() - started, "verdict": report.verdict}}
"""


def hostile() -> Iterator[Figure]:
    """Seconds and memory of each hostile document."""
    with tempfile.TemporaryDirectory() as folder:
        for index, each in enumerate(HOSTILE):
            path = str(Path(folder) / f"document{each.ending}")
            # A process counts as its peak what the one that started it held, so this one stays
            # small and another one makes the document.
            in_fresh_process(_WRITE.format(index=index, path=path))
            answer = in_fresh_process(_AUDIT.format(path=path, prove=each.prove))
            limit = PROOF_SECONDS if each.prove else CONCRETE_SECONDS
            name = f"{each.name}: {answer['verdict']}"
            yield Figure(name, answer["seconds"], limit, "s")
            most = PROOF_MIB if each.prove else CONCRETE_MIB
            yield Figure(f"{each.name}: peak memory", answer["peak_mib"], most, "MiB")


HOSTILE_GROUPS = (Group("hostile", hostile),)
