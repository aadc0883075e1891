"""The reference engine's answers, as compressed fixtures."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parent / "fixtures"


@cache
def _unpacked(name: str) -> bytes:
    return gzip.decompress((FIXTURES / name).read_bytes())


def cases(name: str) -> tuple[dict[str, Any], ...]:
    """The cases of ``fixtures/<name>.jsonl.gz``, one a line.

    They are parsed anew for each caller: a test that edits its cases must not edit another's.
    """
    return tuple(map(json.loads, _unpacked(f"{name}.jsonl.gz").splitlines()))


def scale(name: str) -> dict[str, Any]:
    """A planning problem of many layers, and the memory plan that the engine derived."""
    case: dict[str, Any] = json.loads(_unpacked(f"{name}.json.gz"))
    return case


def fragment_of(case: dict[str, Any]) -> dict[str, Any]:
    """The plan fragment of a memory-plan case."""
    return {name: case[name] for name in ("nodes", "memory", "retained_completion_resources")}
