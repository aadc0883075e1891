"""Settings of a project: the table ``[tool.ferrum-verify]`` of its ``pyproject.toml``.

They are what people do not want to type again: the execution model, whether to prove and for
how long, and rules whose findings are hidden, each with the reason why.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from ferrum_verify.counterexamples import Execution
from ferrum_verify.findings.errors import FerrumVerifyError
from ferrum_verify.findings.wording import printable
from ferrum_verify.integrations.bounded import read_bounded
from ferrum_verify.limits import Limits
from ferrum_verify.report.hiding import hide

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ferrum_verify.findings import Finding
    from ferrum_verify.report.model import Report

    Reader = Callable[[Path], bytes]
    """Gives what a file holds; raises OSError where it cannot."""

FILE_NAME = "pyproject.toml"
TABLE = "tool.ferrum-verify"

_KEYS = ("execution", "prove", "limits", "ignore")
_MARK = b"tool.ferrum-verify"


class SettingsError(FerrumVerifyError):
    """A file of settings that cannot be read, or says something that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a project has set; ``stated`` names the keys that it states itself.

    ``ignore`` maps the rules whose findings are hidden to the reasons why. ``source`` is the
    file, None where there is none.
    """

    source: Path | None = None
    execution: Execution = "fenced"
    prove: bool = True
    limits: Limits = field(default_factory=Limits)
    ignore: Mapping[str, str] = field(default_factory=dict)
    stated: frozenset[str] = frozenset()

    def without_ignored(self, report: Report) -> tuple[Report, list[Finding]]:
        """The report without findings of ignored rules, and those findings."""
        if not self.ignore:
            return report, []
        return hide(report, "ignored", lambda _document, finding: self.ignore.get(finding.rule))


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
        ignore=_ignore(table, faults),
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


def _limits(table: Mapping[str, Any], faults: list[str]) -> Limits:
    stated = table.get("limits", {})
    if not isinstance(stated, dict):
        faults.append("limits is no table")
        return Limits()
    names = {limit.name.replace("_", "-"): limit.name for limit in fields(Limits)}
    chosen: dict[str, Any] = {}
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


def _ignore(table: Mapping[str, Any], faults: list[str]) -> dict[str, str]:
    stated = table.get("ignore", {})
    if not isinstance(stated, dict):
        faults.append(f'ignore is no table; write {{ "RULE" = "the reason" }} under [{TABLE}]')
        return {}
    if not stated:
        return {}
    # Few projects ignore a rule, and the others should not load them all.
    from difflib import get_close_matches  # noqa: PLC0415

    from ferrum_verify.catalogue import catalogue  # noqa: PLC0415

    known = catalogue()
    ignored: dict[str, str] = {}
    for rule, reason in _flat(stated):
        if rule not in known:
            near = get_close_matches(rule, known, n=1, cutoff=0.6)
            hint = f"{near[0]} may be meant" if near else "`ferrum-verify rules` lists them all"
            faults.append(f"ignore names the rule {rule}, which does not exist; {hint}")
        elif not isinstance(reason, str) or not reason.strip():
            faults.append(f"ignore gives no reason for {rule}; write why its findings are hidden")
        else:
            ignored[rule] = reason.strip()
    return ignored


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    # TOML reads an id that stands without quotes as a table of the family's name.
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _listed(known: Any) -> str:
    return f"there are {', '.join(known)}"


def _without_full_stop(error: Exception) -> str:
    return str(error).rstrip(".")
