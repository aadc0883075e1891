"""The plans that the package brings along, and where they are loaded from."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import models
from ferrum_verify import beside
from ferrum_verify.cli import run
from tests.integrations.repository import environment

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("family", models.families())
def test_a_bundle_is_printed_in_the_engines_order(family: str, capfdbinary: Any) -> None:
    assert run(["example", family, "--layers", "1"]) == 0
    printed = json.loads(capfdbinary.readouterr().out)
    assert json.dumps(printed) == json.dumps(models.bundle(family, 1))


@pytest.mark.parametrize("part", ["plan", "program", "catalog", "policy"])
def test_a_part_is_that_of_the_bundle(part: str, tmp_path: Path) -> None:
    file = tmp_path / "part.json"
    assert run(["example", "qwen3.5-4b", "--layers", "1", "--part", part, "-o", str(file)]) == 0
    assert json.dumps(json.loads(file.read_text())) == json.dumps(
        models.bundle("qwen3.5-4b", 1)[part]
    )


def test_the_problem_is_what_the_planner_is_given(capfdbinary: Any) -> None:
    assert run(["example", "llama-3.1-8b", "--layers", "2", "--part", "problem"]) == 0
    assert json.loads(capfdbinary.readouterr().out) == models.problem("llama-3.1-8b", 2)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["gpt-2"],
        ["llama-3.1-8b", "--layers", "0"],
        ["llama-3.1-8b", "--layers", "1001"],
        ["llama-3.1-8b", "--schema", "4.0"],
        ["llama-3.1-8b", "--part", "weights"],
    ],
)
def test_wrong_usage(arguments: list[str], capsys: Any) -> None:
    assert run(["example", *arguments]) == 2
    assert "Usage: ferrum-verify example" in capsys.readouterr().err


def test_nothing_is_loaded_from_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "__init__.py").write_text("raise SystemExit('loaded')\n")
    done = subprocess.run(
        [sys.executable, "-m", "ferrum_verify", "example", "qwen3.5-4b", "--layers", "1"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_package_is_loaded_once() -> None:
    assert beside.package("models") is beside.package("models")


def test_what_lies_nowhere_is_not_loaded() -> None:
    with pytest.raises(FileNotFoundError, match="There is no package at"):
        beside.package("nowhere")
