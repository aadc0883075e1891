"""Shell completion: click's own, of commands, options, choices and rules."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.integrations.repository import environment


def completed(*words: str) -> list[str]:
    """What the shell is told when the last of the words is completed."""
    done = subprocess.run(
        [sys.executable, "-m", "ferrum_verify"],
        env=environment(
            _FERRUM_VERIFY_COMPLETE="bash_complete",
            COMP_WORDS=" ".join(("ferrum-verify", *words)),
            COMP_CWORD=str(len(words)),
        ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("au",), ["audit"]),
        (("explain", "slot.shared"), ["slot.shared-while-live"]),
        (("audit", "--format", "s"), ["sarif"]),
        (("audit", "--execution", "con"), ["concurrent"]),
        (("audit", "--write-b"), ["--write-baseline"]),
        (("contracts", "comp"), ["compare"]),
    ],
)
def test_words_are_completed(words: tuple[str, ...], expected: list[str]) -> None:
    assert completed(*words) == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ferrum_verify"],
        env=environment(_FERRUM_VERIFY_COMPLETE=f"{shell}_source"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "ferrum-verify" in done.stdout
