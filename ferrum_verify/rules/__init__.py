"""The checks, one file a family: a rule is its id, its documentation and its check.

Each module defines its rules as constants and a ``check`` that yields findings of them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, get_args

from ferrum_verify.findings import Family, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def catalogue() -> Mapping[str, Rule]:
    """Every rule by its id, in the families' order and then as they stand in their file."""
    rules: dict[str, Rule] = {}
    for family in get_args(Family):
        module = import_module(f"ferrum_verify.rules.{family}")
        for value in vars(module).values():
            if isinstance(value, Rule) and value.family == family:
                rules[value.id] = value
    return rules
