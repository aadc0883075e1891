"""The pre-commit hooks, run by pre-commit in a throw-away repository of two commits."""

from __future__ import annotations

import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML

from ferrum_verify.catalogue.samples import sample
from tests.integrations.repository import FAULTY, ROOT, edited, environment, git, repository, write

if TYPE_CHECKING:
    from pathlib import Path

MODULE = [sys.executable, "-m", "ferrum_verify"]


def hooks() -> dict[str, dict[str, Any]]:
    return {hook["id"]: hook for hook in YAML(typ="safe").load(ROOT / ".pre-commit-hooks.yaml")}


def configure(folder: Path, **extra: Any) -> None:
    """The hooks as they are, save that they run here without an installation of their own."""
    local = []
    for hook in hooks().values():
        command, *arguments = shlex.split(hook["entry"])
        assert command == "ferrum-verify"
        entry = shlex.join([*MODULE, *arguments])
        local.append({**hook, "entry": entry, "language": "system", **extra.get(hook["id"], {})})
    with (folder / ".pre-commit-config.yaml").open("w") as text:
        YAML(typ="safe").dump({"repos": [{"repo": "local", "hooks": local}]}, text)
    git(folder, "add", ".pre-commit-config.yaml")


def pre_commit(folder: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "run", "--color=never", *arguments],
        cwd=folder,
        env=environment(PRE_COMMIT_HOME=str(folder.parent / "cache")),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    return folder


def test_a_commit_is_audited(folder: Path) -> None:
    repository(
        folder,
        {"plans/old.json": edited("fragment", FAULTY), "package.json": "{}"},
        {"plans/a.json": sample("fragment")},
    )
    configure(folder, **{"ferrum-verify": {"args": ["--no-prove"]}})
    write(folder, {"deep/x.plan.json": sample("fragment"), "package.json": '{"a": 1}'})
    git(folder, "add", ".")
    status, log = pre_commit(folder)
    assert status == 0, log
    assert "audit Ferrum execution plans" in log
    assert "Passed" in log
    write(folder, {"catalogs/gpu.json": edited("catalog", {"/device/surprise": 1})})
    git(folder, "add", ".")
    status, log = pre_commit(folder)
    assert status == 1
    assert "VIOLATED  catalogs/gpu.json" in log
    assert "wire.unknown-field" in log
    assert "old.json" not in log


def test_a_push_is_reviewed(folder: Path) -> None:
    repository(
        folder, {"plans/a.json": sample("fragment")}, {"plans/a.json": edited("fragment", FAULTY)}
    )
    configure(folder, **{"ferrum-verify-review": {"args": ["--base", "main", "--no-prove"]}})
    status, log = pre_commit(folder, "--hook-stage", "pre-push", "--all-files")
    assert status == 1
    assert "VIOLATED  plans/a.json" in log
    git(folder, "switch", "--quiet", "main", "--discard-changes")
    configure(folder, **{"ferrum-verify-review": {"args": ["--base", "main", "--no-prove"]}})
    status, log = pre_commit(folder, "--hook-stage", "pre-push", "--all-files")
    assert status == 0, log
