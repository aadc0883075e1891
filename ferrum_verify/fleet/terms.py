"""What documents are judged by, in a form that other processes are sent, and its hash."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ferrum_verify.limits import Limits

if TYPE_CHECKING:
    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.findings import Judge
    from ferrum_verify.reading.joining import Part
    from ferrum_verify.reading.schedules import LoadedSchedule

_JUDGES = ("z3-solver", "cvc5", "ortools", "pydantic", "pydantic-core", "networkx")
"""Packages whose version may bear on what is found, cvc5 and OR-tools where they are installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What an audit is asked: the options of ``audit_document``, once for all documents.

    ``sources`` complete each plan, ``under`` takes the place of ``execution``. ``cache`` is the
    folder of a cache, and with ``doubted`` nothing that it says is taken. Without ``remembering``
    there is no cache, and reports have no keys. Of the files ``in_folders``, which nobody named,
    JSON of a kind that is not known is passed over, and so is a schedule.
    """

    execution: Execution = "fenced"
    judge: Judge = "all"
    prove: bool = True
    limits: Limits = field(default_factory=Limits)
    smt2: Path | None = None
    second_opinion: bool = False
    memory: bool = False
    sources: tuple[Part, ...] = ()
    under: LoadedSchedule | None = None
    cache: Path | None = None
    doubted: bool = False
    remembering: bool = True
    in_folders: frozenset[str] = frozenset()

    def digest(self) -> str:
        """A hash of all that the report of a document follows from, but the document."""
        under = self.under
        parts: dict[str, Any] = {
            "program": program_digest(),
            "versions": [sys.version, *(f"{name} {_version(name)}" for name in _JUDGES)],
            "execution": self.execution if under is None else None,
            "schedule": None
            if under is None
            else [
                under.value,
                # What cannot be read is told by its name.
                [under.source, *(each.message for each in under.findings)],
            ],
            "judge": self.judge,
            "prove": self.prove,
            "limits": asdict(self.limits),
            "second_opinion": self.second_opinion,
            "memory": self.memory,
            "sources": [[part.name, part.value] for part in self.sources],
        }
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@cache
def program_digest() -> str:
    """A hash of the program's installed files, whoever changed them."""
    top = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for path in sorted(top.rglob("*")):
        if path.suffix in (".pyc", "") or not path.is_file():
            continue
        text = path.read_bytes()
        digest.update(f"{path.relative_to(top).as_posix()}\0{len(text)}\0".encode())
        digest.update(text)
    return digest.hexdigest()


def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - takes a while

    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
