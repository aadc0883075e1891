"""Text of other planners, taken apart without following how deep it nests."""

from __future__ import annotations

import re

from ferrum_verify.importers.unreadable import ForeignPlanError

_OPENING, _CLOSING = "([{", ")]}"
_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
_CALL = re.compile(r"([A-Za-z_][\w.]*)\((.*)\)$", re.DOTALL)


def text_of(data: bytes) -> str:
    """The text of a file; raises ``ForeignPlanError`` where it is none."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ForeignPlanError(f"It is no text: byte {error.start:,} is not UTF-8.") from None


def arguments_of(text: str) -> list[str]:
    """The parts between commas that stand in no brackets and no string."""
    parts, depth, start, quoted = list[str](), 0, 0, ""
    for at, each in enumerate(text):
        if quoted:
            quoted = "" if each == quoted and text[at - 1] != "\\" else quoted
        elif each in "\"'":
            quoted = each
        elif each in _OPENING:
            depth += 1
        elif each in _CLOSING:
            depth -= 1
        elif each == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def call_of(text: str) -> tuple[str, list[str]] | None:
    """A callee and its arguments, where the whole text is one call."""
    match = _CALL.match(text.strip())
    if match is None or not _closes_at_end(match[2]):
        return None
    return match[1], arguments_of(match[2])


def _closes_at_end(inside: str) -> bool:
    """Whether no bracket closes in the text that did not open in it."""
    depth = 0
    for each in _STRING.sub("", inside):
        depth += (each in _OPENING) - (each in _CLOSING)
        if depth < 0:
            return False
    return True


def enclosed(text: str, start: int) -> int:
    """Where the bracket that opens at ``start`` closes; the end of the text where it does not."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] in _OPENING:
            depth += 1
        elif text[at] in _CLOSING:
            depth -= 1
            if depth == 0:
                return at
    return len(text)
