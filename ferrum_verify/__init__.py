"""An independent, formal verifier for the execution plans of the Ferrum inference engine."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ferrum_verify.version import __version__

if TYPE_CHECKING:
    from ferrum_verify.auditing.audit import audit as audit
    from ferrum_verify.counterexamples.best_slots import check_best_slots as check_best_slots
    from ferrum_verify.counterexamples.checking import check_counterexample as check_counterexample
    from ferrum_verify.deriving.best_slots import best_slots as best_slots
    from ferrum_verify.deriving.checkpoints import (
        derive_sequence_checkpoint as derive_sequence_checkpoint,
    )
    from ferrum_verify.deriving.plans import compile_program_bindings as compile_program_bindings
    from ferrum_verify.deriving.plans import derive_memory_plan as derive_memory_plan
    from ferrum_verify.findings import Finding as Finding
    from ferrum_verify.findings.errors import DerivationError as DerivationError
    from ferrum_verify.findings.errors import DocumentError as DocumentError
    from ferrum_verify.findings.errors import FerrumVerifyError as FerrumVerifyError
    from ferrum_verify.limits import Limits as Limits
    from ferrum_verify.prove.proving import Proving as Proving
    from ferrum_verify.report.model import DocumentReport as DocumentReport
    from ferrum_verify.report.saved import Report as Report


# Where each public name lives. A name is imported when it is first used: `audit` alone takes 23
# times as long to import as `python -c pass`, and `--help`, for which Python imports this file
# too, may take 12.
_HOMES = {
    "audit": "ferrum_verify.auditing.audit",
    "best_slots": "ferrum_verify.deriving.best_slots",
    "check_best_slots": "ferrum_verify.counterexamples.best_slots",
    "check_counterexample": "ferrum_verify.counterexamples.checking",
    "compile_program_bindings": "ferrum_verify.deriving.plans",
    "derive_memory_plan": "ferrum_verify.deriving.plans",
    "derive_sequence_checkpoint": "ferrum_verify.deriving.checkpoints",
    "DerivationError": "ferrum_verify.findings.errors",
    "DocumentError": "ferrum_verify.findings.errors",
    "FerrumVerifyError": "ferrum_verify.findings.errors",
    "Finding": "ferrum_verify.findings",
    "Limits": "ferrum_verify.limits",
    "Proving": "ferrum_verify.prove.proving",
    "DocumentReport": "ferrum_verify.report.model",
    "Report": "ferrum_verify.report.saved",
}

__all__ = [  # noqa: PLE0604 - every public name, and the version
    "__version__",
    *_HOMES,
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
