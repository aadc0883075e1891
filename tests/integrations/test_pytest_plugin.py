"""The pytest plugin, in a project of its own: what passes, what fails, and with which words."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import pytest

from ferrum_verify.catalogue.samples import sample
from tests.integrations.repository import FAULTY, edited, environment, write

if TYPE_CHECKING:
    from pathlib import Path

TESTS = '''
"""A project's own tests."""
import json

import pytest


def test_sound(ferrum_audit):
    report = ferrum_audit("plans/sound.json")
    assert report.verdict == "verified"


def test_faulty(ferrum_audit):
    ferrum_audit("plans/faulty.json", prove=False)


def test_parsed(ferrum_audit):
    with open("plans/faulty.json") as text:
        document = json.load(text)
    ferrum_audit(document, prove=False)


def test_open(ferrum_audit):
    ferrum_audit("plans/memory.json", prove=False)


def test_allowed(ferrum_audit):
    ferrum_audit("plans/memory.json", prove=False, allow_undecided=True)


def test_lost(ferrum_audit):
    ferrum_audit("plans/lost.json", allow_undecided=True)


def test_settings(ferrum_audit):
    assert ferrum_audit("plans/sound.json", execution="in-order").execution == "in-order"
    assert ferrum_audit("plans/sound.json").execution == "fenced"
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write(
        tmp_path,
        {
            "plans/sound.json": sample("fragment"),
            "plans/faulty.json": edited("fragment", FAULTY),
            "plans/memory.json": sample("memory-plan"),
            "test_plans.py": TESTS,
            "pytest.ini": "[pytest]\n",
        },
    )
    return tmp_path


def run_tests(project: Path) -> tuple[dict[str, str], str]:
    """What became of each test, and the log."""
    installed = any(
        each.value == "ferrum_verify.integrations.pytest_plugin"
        for each in entry_points(group="pytest11")
    )
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider"]
    if not installed:
        command += ["-p", "ferrum_verify.integrations.pytest_plugin"]
    done = subprocess.run(
        command, cwd=project, env=environment(), capture_output=True, text=True, check=False
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    became = {
        words[1].partition("::")[2]: words[0]
        for words in lines
        if len(words) > 1 and words[1].startswith("test_plans.py::")
    }
    return became, done.stdout + done.stderr


def test_what_passes_and_what_fails(project: Path) -> None:
    became, log = run_tests(project)
    assert became == {
        "test_sound": "PASSED",
        "test_faulty": "FAILED",
        "test_parsed": "FAILED",
        "test_open": "FAILED",
        "test_allowed": "PASSED",
        "test_lost": "FAILED",
        "test_settings": "PASSED",
    }
    assert "VIOLATED  plans/faulty.json  (fragment, fenced)" in log
    assert "VIOLATED  <document>  (fragment, fenced)" in log
    assert "static.total-mismatch  /memory/static_bytes" in log
    assert "UNDECIDED  plans/memory.json" in log
    assert "There is no file plans/lost.json." in log
    assert "Traceback" not in log


def test_the_settings_of_the_project_hold(project: Path) -> None:
    write(
        project,
        {
            "pyproject.toml": "[tool.ferrum-verify]\nexecution = 'concurrent'\n"
            "ignore.static.total-mismatch = 'known'\n"
        },
    )
    became, log = run_tests(project)
    assert became["test_faulty"] == became["test_parsed"] == "PASSED"
    assert became["test_settings"] == "FAILED"
    assert "'concurrent' == 'fenced'" in log
    write(project, {"pyproject.toml": "[tool.ferrum-verify]\nspeed = 3\n"})
    became, log = run_tests(project)
    assert set(became.values()) == {"ERROR"}
    assert "tool.ferrum-verify has no key speed" in log
