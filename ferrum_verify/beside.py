"""Packages that stand beside this one in a checkout, and inside of it in an installed wheel.

They are of use without a checkout too, and a wheel that put them at the top of an environment
would take names there that are not ours. They are loaded from their folder, never by what
Python would find under their name: the working directory may have a package of that name.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

_HERE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """Where the package lies: inside of this one in a wheel, beside it in a checkout."""
    inside = _HERE / name
    return inside if inside.is_dir() else _HERE.parent / name


def package(name: str) -> ModuleType:
    """The package, imported under ``ferrum_verify.`` wherever it lies.

    Raises FileNotFoundError where it is in neither place.
    """
    full_name = f"{__package__}.{name}"
    if full_name in sys.modules:
        return sys.modules[full_name]
    location = folder(name)
    spec = spec_from_file_location(
        full_name, location / "__init__.py", submodule_search_locations=[str(location)]
    )
    if spec is None or spec.loader is None or not location.is_dir():
        raise FileNotFoundError(f"There is no package at {location}.")
    module = module_from_spec(spec)
    sys.modules[full_name] = module
    spec.loader.exec_module(module)
    return module
