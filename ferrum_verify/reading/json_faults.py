"""What keeps a text from being JSON, in words: where it is, what stands there, what mends it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ferrum_verify.findings.wording import printable
from ferrum_verify.reading.json_values import LIMIT, NOT_JSON

if TYPE_CHECKING:
    from json import JSONDecodeError

    from ferrum_verify.findings import Finding

AS_UTF_8 = "Write it as UTF-8."
_SHOWN = 24
"""Characters that are shown of the text before a fault, and behind it."""

_BY_START = {
    "'": "Write names and strings in double quotes.",
    "//": "Remove the comment: JSON has none.",
    "/*": "Remove the comment: JSON has none.",
    "#": "Remove the comment: JSON has none.",
    "None": "Write null, true and false in place of None, True and False.",
    "True": "Write null, true and false in place of None, True and False.",
    "False": "Write null, true and false in place of None, True and False.",
    "\0": AS_UTF_8,
}
"""What mends a fault, by what stands there."""

_BY_REASON = {
    "Invalid control": "Write line breaks and tabs in a string as \\n and \\t.",
    "Invalid \\": "Write a backslash in a string as two.",
    "Unterminated": "Close the string, or write the file again where it was cut short.",
    "Expecting ','": "Put a comma between the two, or close what stands before.",
    "Expecting ':'": "Put a colon between the name and its value.",
    "Expecting property": "Write names in double quotes.",
}
"""What mends a fault, by what Python's reader says of it."""


_FOREIGN = re.compile(
    rb"(?P<executorch>.{4}ET\d\d)|(?P<xla>HloModule |BufferAssignment:)"
    rb"|(?P<tvm_relax>.{0,2000}?(?:tvm\.script|@R\.function))",
    re.DOTALL,
)
"""How files of other planners begin, by the format that ``import`` reads them as."""


def for_import(findings: tuple[Finding, ...], text: bytes) -> tuple[Finding, ...]:
    """The faults of a text that is no document; of another planner's plan, what reads it."""
    match = _FOREIGN.match(text)
    if match is None or match.lastgroup is None:
        return findings
    form = match.lastgroup.replace("_", "-")
    fix = f"Write it as a buffer plan first: `ferrum-verify import {form} FILE`."
    return tuple(
        replace(each, fix=fix) if each.rule in (NOT_JSON.id, LIMIT.id) else each
        for each in findings
    )


def syntax_fault(error: JSONDecodeError, text: str) -> Finding:
    """The finding of a text that Python's reader refuses at some place."""
    place = f"line {error.lineno:,}, column {error.colno:,}"
    if error.msg == "Extra data":
        return NOT_JSON.finding(
            f"The text goes on after the end of the JSON value, at {place}: "
            f"{_excerpt(text, error.pos)}",
            fix="Keep one document a file, or one a line in a file whose name ends in .jsonl.",
        )
    if error.pos >= len(text.rstrip()):
        return NOT_JSON.finding(
            f"The text ends in the middle of the JSON value, at {place}.",
            fix="Write the file again: it was cut short.",
        )
    # Python's reader leaves some of its sentences open for the place: "Invalid \\escape: ".
    reason = error.msg[0].lower() + error.msg[1:].removesuffix(" at").rstrip(": ")
    return NOT_JSON.finding(
        f"The text is not JSON: {reason} at {place}: {_excerpt(text, error.pos)}",
        fix=_remedy(error, text),
    )


def _remedy(error: JSONDecodeError, text: str) -> str | None:
    """What mends the fault, where what stands there tells; else what the rule says."""
    here, behind = error.pos, text[error.pos : error.pos + _SHOWN]
    before = text[max(0, here - _SHOWN) : here].rstrip()
    # Newer readers stop at the comma itself.
    if (before.endswith(",") and behind[0] in "]}") or error.msg.startswith("Illegal trailing"):
        return "Remove the comma behind the last element."
    for table, said in ((_BY_START, behind), (_BY_REASON, error.msg)):
        for start, fix in table.items():
            if said.startswith(start):
                return fix
    return None


def _excerpt(text: str, at: int) -> str:
    before = printable(text[max(0, at - _SHOWN) : at])
    behind = printable(text[at : at + _SHOWN])
    left = "…" if at > _SHOWN else ""
    right = "…" if at + _SHOWN < len(text) else ""
    found = f"«{behind}{right}»"
    return f"{found} after «{left}{before}»." if before else f"{found}."
