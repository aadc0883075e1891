"""Settings of a project: the table ``[tool.ferrum-verify]`` of its ``pyproject.toml``.

They are what people do not want to type again: the execution model, whether to prove and for
how long, how reports are written, and rules whose findings are hidden, each with the reason why.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from ferrum_verify.counterexamples import Execution
from ferrum_verify.findings.errors import FerrumVerifyError
from ferrum_verify.findings.wording import printable
from ferrum_verify.integrations.bounded import read_bounded
from ferrum_verify.integrations.setting_values import (
    OPTIONS,
    chosen_rules,
    ignored_rules,
    option_values,
)
from ferrum_verify.limits import Limits
from ferrum_verify.report.hiding import hide

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ferrum_verify.findings import Finding
    from ferrum_verify.report.model import DocumentReport, Report

    Reader = Callable[[Path], bytes]
    """Gives what a file holds; raises OSError where it cannot."""

FILE_NAME = "pyproject.toml"
TABLE = "tool.ferrum-verify"

_KEYS = ("execution", "prove", "limits", "ignore", "select", "per-file-ignores", *OPTIONS)
_MARK = b"tool.ferrum-verify"


class SettingsError(FerrumVerifyError):
    """A file of settings that cannot be read, or says something that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a project has set; ``stated`` names the keys that it states itself.

    ``ignore`` maps the rules whose findings are hidden to the reasons why, and
    ``per_file_ignores`` does so for files by patterns of their paths, as seen from the folder of
    the settings. Where rules are named in ``select``, findings of all others are hidden.
    ``options`` are settings of the command line, by the names of its options. ``source`` is the
    file, None where there is none.
    """

    source: Path | None = None
    execution: Execution = "fenced"
    prove: bool = True
    limits: Limits = field(default_factory=Limits)
    ignore: Mapping[str, str] = field(default_factory=dict)
    per_file_ignores: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    select: frozenset[str] = frozenset()
    options: Mapping[str, Any] = field(default_factory=dict)
    stated: frozenset[str] = frozenset()

    def without_ignored(self, report: Report) -> tuple[Report, list[Finding]]:
        """The report with findings of ignored rules hidden, and those findings."""
        if not (self.ignore or self.select or self.per_file_ignores):
            return report, []
        return hide(report, "ignored", self._reason)

    def _reason(self, document: DocumentReport, finding: Finding) -> str | None:
        """Why a finding is hidden; None where it is not."""
        if self.select and finding.rule not in self.select:
            return "not among the selected rules"
        if (reason := self.ignore.get(finding.rule)) is not None:
            return reason
        if document.path is None or self.source is None:
            return None
        place = Path(os.path.relpath(document.path, self.source.parent)).as_posix()
        return next(
            (
                rules[finding.rule]
                for pattern, rules in self.per_file_ignores.items()
                if finding.rule in rules and fnmatch(place, pattern)
            ),
            None,
        )


def find_settings(folder: Path | None = None, read: Reader = read_bounded) -> Settings:
    """The settings of the nearest ``pyproject.toml`` that has any, from ``folder`` upwards.

    ``folder`` is the working directory unless given, and ``read`` how a file is read: of a
    commit, say, instead of the work tree. Without such a file everything is at its default.
    Raises ``SettingsError`` as ``read_settings`` does.
    """
    start = (folder or Path()).absolute()
    for each in (start, *start.parents):
        path = each / FILE_NAME
        try:
            content = read(path)
        except OSError:
            continue
        # Most files say nothing of us, and need not even be TOML then.
        if _MARK in content:
            settings = _settings_of(path, _table_of(path, content))
            if settings is not None:
                return settings
    return Settings()


def read_settings(path: Path, read: Reader = read_bounded) -> Settings:
    """The settings of one file.

    Raises ``SettingsError`` with a sentence for each fault: a file that is missing or is not
    TOML, that has no table ``[tool.ferrum-verify]``, an unknown key or rule, a value of the
    wrong type, or a rule that is ignored without a reason.
    """
    try:
        settings = _settings_of(path, _table_of(path, read(path)))
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror or error}.") from None
    if settings is None:
        raise SettingsError(f"{path} has no table [{TABLE}].")
    return settings


def _table_of(path: Path, content: bytes) -> Any:
    import tomllib  # noqa: PLC0415  (most runs have no settings)

    try:
        document = tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not UTF-8, as TOML has to be.") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not TOML: {_without_full_stop(error)}.") from None
    except RecursionError:
        raise SettingsError(f"{path} is nested too deeply.") from None
    tools = document.get("tool")
    return tools.get("ferrum-verify") if isinstance(tools, dict) else None


def _settings_of(path: Path, table: Any) -> Settings | None:
    if table is None:
        return None
    faults: list[str] = []
    if not isinstance(table, dict):
        raise SettingsError(f"{path}: {TABLE} is no table.")
    faults += [f"{TABLE} has no key {key}; {_listed(_KEYS)}" for key in table if key not in _KEYS]
    settings = Settings(
        source=path,
        execution=_execution(table, faults),
        prove=_prove(table, faults),
        limits=_limits(table, faults),
        ignore=ignored_rules(table.get("ignore", {}), "ignore", faults),
        per_file_ignores=_per_file(table, faults),
        select=chosen_rules(table.get("select", []), "select", faults),
        options=option_values(table, faults),
        stated=frozenset(table),
    )
    if faults:
        # A key may hold a line break, and a line of its own would be read as something else.
        raise SettingsError("\n".join(printable(f"{path}: {fault}.") for fault in faults))
    return settings


def _execution(table: Mapping[str, Any], faults: list[str]) -> Execution:
    known: tuple[Execution, ...] = get_args(Execution)
    stated = table.get("execution", "fenced")
    for model in known:
        if stated == model:
            return model
    faults.append(f"execution is {stated!r}; {_listed(known)}")
    return "fenced"


def _prove(table: Mapping[str, Any], faults: list[str]) -> bool:
    stated = table.get("prove", True)
    if isinstance(stated, bool):
        return stated
    faults.append(f"prove is {stated!r}, where true or false belongs")
    return True


_LIMITS = {
    "obligation-limit": "obligation_seconds",
    "proof-limit": "document_seconds",
    "memory-limit": "memory_mib",
}
"""The limits by the names of the options for them."""


def _limits(table: Mapping[str, Any], faults: list[str]) -> Limits:
    stated = table.get("limits", {})
    if not isinstance(stated, dict):
        faults.append("limits is no table")
        return Limits()
    names = {limit.name.replace("_", "-"): limit.name for limit in fields(Limits)}
    chosen: dict[str, Any] = {
        name: value
        for key, name in _LIMITS.items()
        if not isinstance(value := table.get(key), bool) and isinstance(value, int | float)
    }
    for key, value in stated.items():
        if key not in names:
            faults.append(f"limits has no key {key}; {_listed(names)}")
        elif isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            faults.append(f"limits.{key} is {value!r}, where a number above 0 belongs")
        elif key.endswith("-mib") and not isinstance(value, int):
            faults.append(f"limits.{key} is {value!r}, where a whole number belongs")
        else:
            chosen[names[key]] = value
    try:
        return Limits(**chosen)
    except ValueError as error:
        faults.append(f"limits: {error}")
        return Limits()


def _per_file(table: Mapping[str, Any], faults: list[str]) -> dict[str, Mapping[str, str]]:
    stated = table.get("per-file-ignores", {})
    if not isinstance(stated, dict):
        faults.append(f"per-file-ignores is no table; write a table for each pattern of [{TABLE}]")
        return {}
    return {
        pattern: ignored_rules(rules, f'per-file-ignores."{pattern}"', faults)
        for pattern, rules in stated.items()
    }


def _listed(known: Any) -> str:
    return f"there are {', '.join(known)}"


def _without_full_stop(error: Exception) -> str:
    return str(error).rstrip(".")
