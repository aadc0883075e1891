"""Plans of other planners: 100,000 buffers of known sizes, without proofs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.figure import Figure, Group
from benchmarks.measure import in_fresh_process

if TYPE_CHECKING:
    from collections.abc import Iterator

_MANY = """
import json, random, time, tempfile, pathlib
from ferrum_verify import audit

draw, count, places = random.Random(0), 100_000, 1_000
buffers, nodes = [], []
for index in range(count):
    offset = index % places * 4096
    size = draw.randint(1, 64) * 64
    buffers.append({{"id": f"b{{index}}", "arena": "a", "offset": offset, "bytes": size}})
    earlier = {{max(index - 1, 0), max(index - draw.randint(1, places - 2), 0)}} - {{index}}
    nodes.append({{
        "id": f"n{{index}}",
        "reads": [f"b{{each}}" for each in sorted(earlier)],
        "writes": [f"b{{index}}"],
        "dependencies": [f"n{{index - 1}}"] if index else [],
    }})
plan = {{
    "schema": "ferrum-verify/buffer-plan/v1",
    "arenas": {{"a": {{"bytes": places * 4096, "alignment": 64}}}},
    "buffers": buffers,
    "nodes": nodes,
}}
path = pathlib.Path(tempfile.mkdtemp()) / "plan.json"
path.write_text(json.dumps(plan, separators=(",", ":")))
del plan, buffers, nodes
started = time.perf_counter()
report = audit(str(path), execution="{execution}", prove=False)
result = {{"seconds": time.perf_counter() - started, "verdict": report.verdict}}
"""


def many() -> Iterator[Figure]:
    """Buffers that take turns at a thousand places, each read twice."""
    for execution in ("in-order", "fenced"):
        answer = in_fresh_process(_MANY.format(execution=execution))
        assert answer["verdict"] == "verified", answer
        yield Figure(f"100,000 buffers, {execution}: audit", answer["seconds"], 10, "s")


BUFFERS = (Group("buffers", many),)
