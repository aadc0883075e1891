"""The functions of a TVM Relax module, as its text has them."""

from __future__ import annotations

import re
from typing import NamedTuple

from ferrum_verify.importers.texts import enclosed
from ferrum_verify.importers.unreadable import ForeignPlanError

MOST_LINE = 1_000_000
"""Characters of one line."""

_DEF = re.compile(r"def (\w+)\(")


class Line(NamedTuple):
    """A statement, and how far it is indented."""

    indent: int
    text: str


def functions_of(text: str) -> list[tuple[str, str, list[Line]]]:
    """The Relax functions: name, parameters, and the lines of the body."""
    found: list[tuple[str, str, list[Line]]] = []
    relax = inside = False
    for number, raw in enumerate(text.splitlines(), start=1):
        if len(raw) > MOST_LINE:
            raise ForeignPlanError(f"Line {number:,} has more than {MOST_LINE:,} characters.")
        line = Line(len(raw) - len(raw.lstrip()), " ".join(raw.split()))
        if line.text.startswith("@"):
            relax, inside = line.text.startswith("@R.function"), False
        elif relax and (match := _DEF.match(line.text)):
            end = enclosed(line.text, match.end() - 1)
            found.append((match[1], line.text[match.end() : end], []))
            relax, inside = False, True
        elif inside and line.text and not line.text.startswith("#"):
            found[-1][2].append(line)
    for name, _, body in found:
        if not any(line.text.startswith("return ") for line in body):
            raise ForeignPlanError(f"The function {name} returns nothing, so it is cut short.")
    return found
