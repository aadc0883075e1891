"""What pydantic says is wrong with a document, each error traced to its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ferrum_verify.findings.wording import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pydantic_core import ErrorDetails

_NAMES = (
    "id",
    "value_id",
    "state_id",
    "weight_id",
    "resource_id",
    "base_resource_id",
    "pool_id",
    "bucket_id",
    "provider_id",
    "node_id",
    "plan_id",
    "policy_id",
)
"""Fields that name the object which holds them, the most telling first."""

_KEY = "[key]"
"""The last step of pydantic's path where a key is at fault, not its value."""


@dataclass(frozen=True, slots=True)
class WireFault:
    """One error, traced to its place: the steps exist in the document, save a missing field.

    ``value`` is what stands at the place; ``field`` is the last step as the reader knows it.
    """

    type: str
    steps: tuple[str | int, ...]
    field: str
    holder: str
    value: Any
    context: dict[str, Any]


def wire_faults(details: Iterable[ErrorDetails], document: Any) -> Iterator[WireFault]:
    """What pydantic says is wrong, each traced to its place in the document."""
    for detail in details:
        yield _trace(detail, document)


def _trace(detail: ErrorDetails, document: Any) -> WireFault:
    # Pydantic's path also names union variants and keys, which are no steps in the document;
    # and the last step of a missing field leads nowhere.
    location = detail["loc"]
    absent = location[-1:] if detail["type"] == "missing" else ()
    steps: list[str | int] = []
    value = document
    named_at, holder = 0, ""
    for step in location[: len(location) - len(absent)]:
        if not _is_inside(value, step):
            continue
        name = _name_beside(value, step)
        if name is not None:
            named_at, holder = len(steps), name
        steps.append(step)
        value = value[step]
    for step in absent:
        name = _name_beside(value, step)
        if name is not None:
            named_at, holder = len(steps), name
    if location[-1:] == (_KEY,):
        value = steps[-1]
    return WireFault(
        type=detail["type"],
        steps=tuple(steps),
        field=_dotted([*steps[named_at:], *absent]),
        holder=holder,
        value=value,
        context=detail.get("ctx", {}),
    )


def _is_inside(value: Any, step: str | int) -> bool:
    if isinstance(value, dict):
        return step in value
    return isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value)


def _name_beside(value: Any, step: str | int) -> str | None:
    """The name of an object, as told by another of its fields than ``step``."""
    if isinstance(value, dict) and len(value) > 1:
        for key in _NAMES:
            name = value.get(key)
            if key != step and isinstance(name, str):
                return _short(name)
    return None


def _dotted(path: Sequence[str | int]) -> str:
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{_short(step)}" if text else _short(step)
    return text


def _short(name: str) -> str:
    return printable(name if len(name) <= 160 else f"{name[:157]}...")
