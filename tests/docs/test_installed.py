"""What the first pages show can be typed after ``pip install``, in a folder without a checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.availability import unavailable
from tests.docs.pages import ROOT, Page, anchor, page
from tests.docs.sessions import Installed, agree, followed

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def installation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel that this checkout makes, and nothing else of it.

    ``FERRUM_VERIFY_WHEEL`` names one that is made already, as `make dist` does.
    """
    folder = tmp_path_factory.mktemp("installation")
    environment, wheels = folder / "environment", folder / "wheels"
    _run((sys.executable, "-m", "venv", environment))
    made = os.environ.get("FERRUM_VERIFY_WHEEL")
    if made is None:
        _run((sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", wheels, ROOT))
    wheel = next(wheels.iterdir()) if made is None else ROOT / made
    pinned = ("-c", ROOT / "constraints.txt")
    _run((environment / "bin" / "python", "-m", "pip", "install", "--quiet", *pinned, wheel))
    return environment


def _run(command: tuple[str | Path, ...]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        words = " ".join(map(str, command))
        unavailable(f"no package to install from: `{words}` fails, {done.stderr[-500:]}")


def faults(shown: Page, session: Installed) -> list[str]:
    """The commands of a page that print something else than it shows, or that fail unseen."""
    found = []
    for block, outputs in followed(shown, session):
        if block.kind != "console":
            found += [f"{block.body}\n{output}" for output in outputs]
            continue
        for each, printed in zip(block.commands, outputs, strict=True):
            if not agree(each.shown, printed):
                found.append(f"{each.command}\n{printed}")
    return found


# One test, as the workers of a run would each make an installation of their own.
def test_the_first_pages_need_no_checkout(installation: Path, tmp_path: Path) -> None:
    jobs, plans = page("README.md").section("## Three jobs"), page("docs/get-your-plan.md")
    for shown in (jobs, plans):
        folder = tmp_path / anchor(shown.name)
        folder.mkdir()
        assert any(block.kind == "console" for block in shown.blocks)
        assert faults(shown, Installed(folder, installation)) == []
    assert len(jobs.blocks) >= 3
    # It was the wheel, its families and its theorems, that this was typed to.
    session = Installed(tmp_path, installation)
    where = "import ferrum_verify, sys; print(ferrum_verify.__file__.startswith(sys.prefix))"
    assert session.run(f'python -c "{where}"') == "True\n"
    assert session.run("python -c 'import models'").endswith("No module named 'models'\n")
    assert "proved" in session.run("ferrum-verify prove spans.no-shortcut --no-cvc5")


def test_what_fails_in_a_page_is_seen(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    wrong = Page("x.md", "<!-- run: false -->\n\n```console\n$ echo a\nb\n$ echo c\nc\n```\n")
    assert faults(wrong, Installed(tmp_path, tmp_path)) == ["false\nstatus 1", "echo a\na\n"]
