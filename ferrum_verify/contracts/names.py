"""Names in messages, marked as such: a report can link them, and no reader takes one for a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.rules.checkpoint_causes import listed

if TYPE_CHECKING:
    from collections.abc import Iterable


def code(name: str) -> str:
    """An id, a path or a field in backticks."""
    return f"`{name}`"


def codes(names: Iterable[str]) -> str:
    """Some names in words, each once and in backticks; of many the first few and a count."""
    return listed([code(name) for name in dict.fromkeys(names)])
