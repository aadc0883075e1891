"""Files of settings and baselines are read with bound, and nothing is written over something."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import run
from ferrum_verify.integrations.bounded import MAXIMUM_BYTES, read_bounded
from tests.integrations.repository import write

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"plan.json": sample("fragment")})
    return "plan.json"


@pytest.mark.parametrize("option", ["--config", "--baseline"])
@pytest.mark.parametrize("name", ["/dev/zero", "pipe"])
def test_what_never_ends_is_refused(
    plan: str, option: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo("pipe")
    assert run(["audit", plan, option, name]) == 2
    assert "it is no regular file" in capsys.readouterr().err


def test_what_is_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as stream:
        stream.truncate(MAXIMUM_BYTES + 1)
    with pytest.raises(OSError, match="64 MiB"):
        read_bounded(path)


def test_report_and_baseline_are_two_files(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", plan, "-o", "x", "--write-baseline", "./x"]) == 2
    assert "same file" in capsys.readouterr().err


def test_a_name_that_no_file_can_have(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", plan, "-o", "x" * 300]) == 2
    assert "cannot have that name" in capsys.readouterr().err


@pytest.mark.parametrize("limit", ["inf", "nan", "1e300"])
@pytest.mark.parametrize("option", ["--proof-limit", "--obligation-limit"])
def test_limits_that_nobody_can_keep(
    plan: str, option: str, limit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["audit", plan, option, limit]) == 2
    assert "internal error" not in capsys.readouterr().err


def test_limits_of_the_settings(
    plan: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for stated in ("document-seconds = inf", "document-seconds = nan", "memory-mib = 1"):
        text = f"[tool.ferrum-verify]\nlimits = {{ {stated} }}\n"
        (tmp_path / "pyproject.toml").write_text(text)
        assert run(["audit", plan]) == 2
        assert "limits" in capsys.readouterr().err
