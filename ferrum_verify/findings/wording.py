"""How numbers and values read in a report for people."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrum_verify.findings import Finding

LONG_NUMBER = 10**40
"""Stands for every integer of more than 40 digits: no field holds one, and Python refuses to
write one of more than a few thousand digits."""

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def byte_count(number: int) -> str:
    """Bytes in the largest unit that keeps three digits: "96 B", "1.50 MiB"."""
    size, unit = float(number), 0
    while size >= 1023.5 and unit < len(_UNITS) - 1:
        size /= 1024
        unit += 1
    if unit == 0:
        return f"{number:,} B"
    digits = 2 if size < 10 else 1 if size < 100 else 0
    return f"{size:,.{digits}f} {_UNITS[unit]}"


def bytes_words(start: int, end: int) -> str:
    """The bytes before ``end``, by the first and the last one: "bytes 0 to 63", "byte 5".

    An end past u64 is that of whatever they lie in.
    """
    if end >= 2**64:
        return f"bytes {start:,} to its end"
    return f"byte {start:,}" if end == start + 1 else f"bytes {start:,} to {end - 1:,}"


def plural(number: int, noun: str) -> str:
    """ "1 error", "2 errors", "no errors" is "0 errors"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def sentence(text: str) -> str:
    """A message as a whole sentence, printable; a name that it begins with stays as it is."""
    text = printable(text)
    if re.match(r"[^\W\d_]+(-[^\W\d_]+)*[,:]?( |$)", text):
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "!", "?", "`")) else f"{text}."


def shortened(name: str, limit: int) -> str:
    """A printable name of at most ``limit`` columns; its middle is left out, not its end."""
    text = printable(name)
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"


def value_text(value: Any, limit: int = 160) -> str:
    """A JSON value on one line, cut where it is long."""
    text = json.dumps(value, separators=(", ", ": "))
    return text if len(text) <= limit else f"{text[:limit]}…"


def compared_values(finding: Finding) -> list[tuple[str, str]]:
    """What was expected and what was found, each with its name, on one line.

    Of two objects only the members that differ are shown, and nothing where there are none: the
    message then says all that there is to say.
    """
    expected, actual = finding.expected, finding.actual
    if isinstance(expected, dict) and isinstance(actual, dict):
        expected, actual = _differing(expected, actual)
        if not expected and not actual:
            return []
    return [
        (name, value_text(value))
        for name, value in (("expected", expected), ("found", actual))
        if value is not None and value != {}
    ]


def _differing(
    expected: dict[str, Any], actual: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    left, right = dict(expected), dict(actual)
    for name in expected.keys() & actual.keys():
        one, other = expected[name], actual[name]
        if isinstance(one, dict) and isinstance(other, dict):
            left[name], right[name] = _differing(one, other)
            same = not left[name] and not right[name]
        else:
            same = json.dumps(one) == json.dumps(other)
        if same:
            del left[name], right[name]
    return left, right


def pool_name(pool_id: str) -> str:
    """A pool's id by the first eight digits of its hash, as a column can hold it."""
    prefix, _, digest = pool_id.rpartition("/")
    return digest[:8] if prefix.endswith("sha256") else shortened(pool_id, 20)


def short_pool(pool: str) -> str:
    """A pool's id as messages show it: enough of the hash to find it."""
    head, _, digest = pool.rpartition("/")
    return f"{head.removesuffix('/sha256')}/{digest[:12]}…" if len(digest) > 12 else pool


def marked(names: Iterable[str]) -> list[str]:
    """Names in backticks, as messages have them: the HTML report marks them, and links many."""
    return [f"`{name}`" for name in names]


def in_series(words: Iterable[str]) -> str:
    """Words as a sentence lists them: "a", "a and b", "a, b and c"."""
    *others, last = list(words) or [""]
    return f"{', '.join(others)} and {last}" if others else last


def quoted(value: object, limit: int = 60) -> str:
    """A short, printable form of a JSON value, as a sentence can hold it."""
    if isinstance(value, dict):
        return "an object" if value else "an empty object"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= LONG_NUMBER:
        return "a number of more than 40 digits"
    text = json.dumps(value[: limit + 1] if isinstance(value, str) else value)
    return text if len(text) <= limit else f"{text[:limit]}…"


# Characters that Unicode counts as letters, marks or symbols, and that nobody sees.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)


def printable(text: str) -> str:
    """A text in which all that commands a terminal, turns text around or is not seen is escaped."""
    if text.isprintable() and not _UNSEEN.search(text):
        return text
    return "".join(
        character
        if character.isprintable() and not _UNSEEN.match(character)
        else ascii(character)[1:-1]
        for character in text
    )
