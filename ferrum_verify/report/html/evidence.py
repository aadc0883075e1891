"""What makes a page evidence: of which plan it speaks, and what made it, when and how."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from ferrum_verify.findings.wording import printable
from ferrum_verify.plan.canonical import fingerprint
from ferrum_verify.version import __version__

if TYPE_CHECKING:
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.report.formats import Run

_SOLVERS = {"z3": "z3-solver", "cvc5": "cvc5"}


def run_facts(run: Run | None) -> list[tuple[str, str]]:
    """The run's command and time, where it is known, and the versions that it ran with."""
    facts = [("ferrum-verify", __version__), ("Python", platform.python_version())]
    for name, package in _SOLVERS.items():
        try:
            facts.append((name, version(package)))
        except PackageNotFoundError:
            continue  # cvc5 is an extra
    versions = ", ".join(" ".join(fact) for fact in facts)
    made = (
        [] if run is None else [("Command", run.command), ("Date", f"{run.at:%Y-%m-%d %H:%M} UTC")]
    )
    return [(term, printable(words)) for term, words in [*made, ("Versions", versions)]]


def document_facts(subject: Subject) -> list[tuple[str, str]]:
    """What names a document: a plan's id, hash, schema, family and device, or a memory plan's hash.

    ``plan_hash`` is shown as the plan states it; the integrity rules hold it to the payload.
    """
    header, memory = subject.header, subject.memory
    if header is not None:
        plan = subject.raw.get("plan")
        stated = plan.get("plan_hash") if isinstance(plan, dict) else None
        facts = [
            ("Plan", header.plan_id),
            *([("Plan hash", stated)] if isinstance(stated, str) else []),
            ("Plan schema", f"{header.schema_.major}.{header.schema_.minor}"),
            ("Model family", header.family_id),
            ("Device", header.device_id),
        ]
    elif memory is not None:
        facts = [("SHA-256 of the memory plan", fingerprint(memory.to_wire()))]
    else:
        facts = []
    return [(term, printable(words)) for term, words in facts]
