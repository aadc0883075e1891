"""The table of mutants: one line of the proofs weakened, and the tests that must notice.

``mutants.toml`` beside this file has them. A mutant's text occurs exactly once in its file, so
that it says which line is meant without a line number; ``test_table.py`` holds the table to that.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("mutants.toml")


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One change of one file, why it weakens the proofs, and the tests to run with it.

    ``equivalent`` says why no test can tell it from the original, where none can.
    """

    file: str
    text: str
    replacement: str
    weakens: str
    tests: tuple[str, ...]
    equivalent: str = ""

    def applied(self, source: str) -> str:
        """The file's source with the change; raises ValueError where the text has rotted."""
        found = source.count(self.text)
        if found != 1:
            raise ValueError(f"{self.file}: {self.text!r} occurs {found} times, not once")
        return source.replace(self.text, self.replacement)


def table() -> tuple[Mutant, ...]:
    """All mutants, in the order in which they are listed."""
    with TABLE.open("rb") as file:
        listed = tomllib.load(file)["mutant"]
    return tuple(Mutant(**{**each, "tests": tuple(each["tests"])}) for each in listed)
