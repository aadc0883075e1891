"""Provider contracts: is a catalog sound, and does a change to it break plans?

``check_contracts`` judges one catalog; ``compare_contracts`` is the gate before a merge. Both
are imported when they are first used, as the command line only needs their names for its help.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ferrum_verify.contracts.check import check_contracts as check_contracts
    from ferrum_verify.contracts.compare import compare_contracts as compare_contracts

_HOMES = {
    "check_contracts": "ferrum_verify.contracts.check",
    "compare_contracts": "ferrum_verify.contracts.compare",
}

__all__ = ["check_contracts", "compare_contracts"]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value
