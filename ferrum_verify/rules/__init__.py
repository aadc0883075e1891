"""The checks: a rule is its id, its documentation and its check.

Each family has a file of its name, which defines its rules as constants and a ``check`` that
yields findings of them. A large family goes on in further files; ``_FAMILY_MODULES`` says in
which.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, get_args

from ferrum_verify.findings import Family, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping


# The files that hold a family's rules, where it is not one file of the family's name. A name
# with a dot lies outside of this package.
_FAMILY_MODULES: dict[str, tuple[str, ...]] = {
    "wire": ("wire", "checkpoint_wire"),
    "graph": ("graph", "plan_graph", "data_flow", "work", "state_effects", "selection"),
    "value": ("value", "value_rows", "weight_parts", "aliases", "retained"),
    "capacity": ("capacity", "plan_graph"),
    "reusable": ("reusable", "captured_programs"),
    "integrity": ("integrity", "source_integrity", "proof"),
    "contract": (
        "declarations",
        "estimates",
        "workspace",
        "workspace_ceilings",
        "catalog_provenance",
        "selection_provenance",
        "operation_ports",
        "program_names",
        "program_provenance",
        "policy_provenance",
        "contracts.check_rules",
        "contracts.rules",
        "contracts.plan_rules",
    ),
}


@cache
def catalogue() -> Mapping[str, Rule]:
    """Every rule by its id, in the families' order and then as they stand in their files."""
    return {rule.id: rule for _, rule in _rules()}


@cache
def homes() -> Mapping[str, str]:
    """For each rule's id the file that it stands in, from the top of the project."""
    return {rule.id: f"{module.replace('.', '/')}.py" for module, rule in _rules()}


@cache
def _rules() -> tuple[tuple[str, Rule], ...]:
    """Every rule with the module that states it.

    A family's first file may import rules from its further ones: those come later, and count.
    """
    found: dict[str, tuple[str, Rule]] = {}
    for family in get_args(Family):
        for name in _FAMILY_MODULES.get(family, (family,)):
            home = "ferrum_verify" if "." in name else __name__
            module = import_module(f"{home}.{name}")
            for value in vars(module).values():
                if isinstance(value, Rule) and value.family == family:
                    found[value.id] = (module.__name__, value)
    return tuple(found.values())
