"""Throw-away git repositories of two commits: what was there, and what a branch makes of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from tests.availability import unavailable

ROOT = Path(__file__).parents[2]
"""The top of this project."""


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder, apart from the settings of whoever runs the tests."""
    if shutil.which("git") is None:
        unavailable("no git: the tests of what stands in a repository need it")
    done = subprocess.run(
        ["git", "-c", "user.name=Planner", "-c", "user.email=planner@example.org", *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def environment(**more: str) -> dict[str, str]:
    """The environment of a script: this project can be imported, and no hook's git is meant."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT")}
    return kept | {
        "PYTHONPATH": str(ROOT),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **more,
    }


def write(folder: Path, files: dict[str, Any]) -> None:
    """Write files of text or JSON; None removes one."""
    for name, content in files.items():
        path = folder / name
        if content is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content, indent=2)
        path.write_text(text, encoding="utf-8")


def repository(folder: Path, before: dict[str, Any], after: dict[str, Any]) -> str:
    """Make a repository in ``folder`` whose branch changes ``before``; give the first commit."""
    git(folder, "init", "--quiet", "--initial-branch", "main")
    write(folder, {"README": "plans\n"} | before)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "before")
    base = git(folder, "rev-parse", "HEAD")
    git(folder, "switch", "--quiet", "--create", "branch")
    write(folder, after)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "after")
    return base


def edited(name: str, edits: dict[str, Any]) -> Any:
    """A sample document after some edits."""
    document = sample(name)
    apply_edits(document, edits)
    return document


FAULTY = {"/memory/static_bytes": 1}
"""Makes a fragment violated."""

NARROWED = {
    "/providers/operation.attention/1/checkpoint_capability/completed_boundary"
    "/boundaries/prefix/alignment": 8
}
"""Makes a catalog break what it promised."""
