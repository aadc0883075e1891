"""The concrete path: derivation and audit without proofs."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.figure import Figure, Group
from benchmarks.measure import exponent, in_fresh_process, process_ratio, ratio, seconds
from benchmarks.plans import decoder_64, decoder_fragment, decoder_problem, fragment_64
from ferrum_verify import audit, derive_memory_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

LAYERS = (64, 256, 1000)


def against_json() -> Iterator[Figure]:
    """How many times as long as reading the problem's text."""
    problem = decoder_64()["problem"]
    fragment = fragment_64()
    text = json.dumps(problem, separators=(",", ":"))

    def read() -> object:
        return json.loads(text)

    yield Figure(
        "decoder-64: derive, in units of json.loads of the problem",
        ratio(lambda: derive_memory_plan(problem), read),
        8,
        "×",
    )
    yield Figure(
        "decoder-64: audit without proofs, in the same unit",
        ratio(lambda: audit(fragment, prove=False), read),
        15,
        "×",
    )


def growth() -> Iterator[Figure]:
    """How the cost grows from 64 to 1,000 layers."""
    problems = [decoder_problem(layers) for layers in LAYERS]
    fragments = [decoder_fragment(layers) for layers in LAYERS]
    derive = [seconds(lambda p=p: derive_memory_plan(p), 3) for p in problems]  # type: ignore[misc]
    check = [seconds(lambda f=f: audit(f, prove=False), 3) for f in fragments]  # type: ignore[misc]
    yield Figure("64 to 1,000 layers: exponent of derivation", exponent(LAYERS, derive), 1.25)
    yield Figure("64 to 1,000 layers: exponent of audit", exponent(LAYERS, check), 1.25)


_LARGEST = """
import json, time, tempfile, pathlib
import models
from ferrum_verify import audit
document = models.{make}()
{unwrap}
path = pathlib.Path(tempfile.mkdtemp()) / "plan.json"
path.write_text(json.dumps(document, separators=(",", ":")))
size = path.stat().st_size
del document
started = time.perf_counter()
report = audit(str(path), prove={prove})
result = {{
    "seconds": time.perf_counter() - started,
    "mib": size / 2**20,
    "verdict": report.verdict,
    "undecided": report.obligations.undecided,
}}
"""


def largest_plan_code(make: str, *, prove: bool) -> str:
    """Code that audits one of the largest plans from a file, for a process of its own."""
    unwrap = "document = document['plan']" if make == "largest_legal_plan" else ""
    return _LARGEST.format(make=make, unwrap=unwrap, prove=prove)


def largest() -> Iterator[Figure]:
    """The largest plans that the engine can encode: a full one, and one of the most layers."""
    for make, name in (
        ("largest_legal_plan", "16 MiB full plan"),
        ("largest_legal_fragment", "16 MiB fragment"),
    ):
        code = largest_plan_code(make, prove=False)
        answer = in_fresh_process(code)
        assert answer["verdict"] == "verified", answer
        yield Figure(f"{name} ({answer['mib']:.2f} MiB): audit", answer["seconds"], 5, "s")
        yield Figure(f"{name}: peak memory, the making included", answer["peak_mib"], 1024, "MiB")


def cold() -> Iterator[Figure]:
    """Whole processes against one that does nothing."""
    nothing = [sys.executable, "-c", "pass"]
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "decoder-64.json"
        plan.write_text(json.dumps(fragment_64()), encoding="utf-8")
        command = [sys.executable, "-m", "ferrum_verify"]
        yield Figure(
            "ferrum-verify --help, in units of python -c pass",
            process_ratio([*command, "--help"], nothing),
            12,
            "×",
        )
        yield Figure(
            "audit --no-prove of decoder-64, in the same unit",
            process_ratio([*command, "audit", "--no-prove", str(plan)], nothing),
            35,
            "×",
        )


CONCRETE = (
    Group("ratio", against_json),
    Group("growth", growth),
    Group("cold", cold),
    Group("largest", largest),
)
