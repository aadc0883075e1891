"""The reference engine's answers, as compressed fixtures."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parent / "fixtures"


@cache
def cases(name: str) -> tuple[dict[str, Any], ...]:
    """The cases of ``fixtures/<name>.jsonl.gz``, one a line."""
    with gzip.open(FIXTURES / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return tuple(json.loads(line) for line in lines)


@cache
def scale(name: str) -> dict[str, Any]:
    """A planning problem of many layers, and the memory plan that the engine derived."""
    with gzip.open(FIXTURES / f"{name}.json.gz", "rt", encoding="utf-8") as text:
        case: dict[str, Any] = json.load(text)
        return case


def fragment_of(case: dict[str, Any]) -> dict[str, Any]:
    """The plan fragment of a memory-plan case."""
    return {name: case[name] for name in ("nodes", "memory", "retained_completion_resources")}
