"""JSON pointers (RFC 6901), which say where in a document something stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def pointer(location: str, *steps: str | int) -> str:
    """Extend the JSON pointer ``base`` by object keys and list indices (RFC 6901)."""
    for step in steps:
        text = str(step)
        if "~" in text or "/" in text:
            text = text.replace("~", "~0").replace("/", "~1")
        location = f"{location}/{text}"
    return location


def steps_of(location: str) -> list[str]:
    """The object keys and list indices that a JSON pointer leads through."""
    return [step.replace("~1", "/").replace("~0", "~") for step in location.split("/")[1:]]


def value_at(document: Any, location: str) -> Any:
    """What stands at a JSON pointer; KeyError, IndexError or ValueError where nothing does."""
    for step in steps_of(location):
        document = document[int(step) if isinstance(document, list) else step]
    return document


def edited(document: Any, location: str, change: Callable[[Any], Any]) -> Any:
    """A copy of a document with the value at ``location`` changed; the rest of it is shared."""

    def at(value: Any, steps: list[str]) -> Any:
        if not steps:
            return change(value)
        whole: Any = list(value) if isinstance(value, list) else dict(value)
        key: Any = int(steps[0]) if isinstance(value, list) else steps[0]
        whole[key] = at(value[key], steps[1:])
        return whole

    return at(document, steps_of(location))
