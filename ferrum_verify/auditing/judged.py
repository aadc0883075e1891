"""A document as the concrete checks judged it, and an edit of it that they judge again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.rules.expected import Expected


class Judged(NamedTuple):
    """A document, and what the concrete checks made of it."""

    document: Any
    subject: Subject
    facts: Expected | None
    findings: Sequence[Finding]


class Edited(NamedTuple):
    """An edited document, and where a JSON pointer into it led before."""

    document: Any
    moved_back: Callable[[str], str] = lambda place: place
