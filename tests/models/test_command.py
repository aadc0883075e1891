"""``python -m models`` from the outside."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import models
from models.__main__ import main

if TYPE_CHECKING:
    from pathlib import Path


def test_it_lists_the_families(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed[:3] == models.families()
    assert "decoder" in listed


def test_it_prints_a_problem(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["qwen3.5-4b", "--layers", "2", "--problem"]) == 0
    assert json.loads(capfdbinary.readouterr().out) == models.problem("qwen3.5-4b", 2)


@pytest.mark.parametrize("part", ["plan", "bundle"])
def test_it_writes_a_file_in_the_engines_key_order(part: str, tmp_path: Path) -> None:
    file = tmp_path / "document.json"
    assert main(["llama-3.1-8b", "--layers", "1", f"--{part}", "-o", str(file)]) == 0
    whole = models.bundle("llama-3.1-8b", 1)
    expected = whole["plan"] if part == "plan" else whole
    assert json.dumps(json.loads(file.read_text())) == json.dumps(expected)


def test_it_prints_a_stack(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["decoder", "--layers", "3"]) == 0
    assert json.loads(capfdbinary.readouterr().out) == models.decoder(3)


@pytest.mark.parametrize(
    "arguments",
    [[], ["gpt-2"], ["llama-3.1-8b", "--layers", "0"], ["decoder"], ["--plan", "--problem"]],
)
def test_wrong_usage_exits_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["llama-3.1-8b", "--layers", "1", "-o", str(tmp_path / "missing" / "plan.json")])
    assert stop.value.code == 2
    assert "lies in a directory that does not exist" in capsys.readouterr().err
