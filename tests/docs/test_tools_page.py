"""``docs/tools.md``: every command prints what the page shows, and every file in it works."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML

from ferrum_verify.catalogue.samples import sample
from ferrum_verify.integrations.config import read_settings
from ferrum_verify.limits import Limits
from ferrum_verify.report.formats import FORMATS
from tests.integrations.repository import FAULTY, ROOT, edited, environment, repository, write
from tests.integrations.test_hooks import hooks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PAGE = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language, in the order of the page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository whose branch brings the plan that the page speaks of."""
    repository(tmp_path, {}, {"plans/decoder.json": edited("fragment", FAULTY)})
    return tmp_path


def script(folder: Path) -> Callable[[str], str]:
    """What a command of the page prints, in that folder."""
    path = folder / "bin" / "ferrum-verify"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -m ferrum_verify "$@"\n')
    path.chmod(0o755)
    given = environment()
    given["PATH"] = f"{path.parent}:{given['PATH']}"

    def run(command: str) -> str:
        done = subprocess.run(
            ["bash", "-c", f"{command} 2>&1"],
            cwd=folder,
            env=given,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout

    return run


def test_commands_print_what_is_shown(folder: Path) -> None:
    run = script(folder)
    consoles = blocks("console")
    assert len(consoles) == 3
    for console in consoles:
        for session in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", console, re.MULTILINE):
            command, shown = session
            assert run(command) == shown, command


def test_settings_are_read(tmp_path: Path) -> None:
    (text,) = blocks("toml")
    path = tmp_path / "pyproject.toml"
    path.write_text(text)
    settings = read_settings(path)
    assert settings.execution == "concurrent"
    assert settings.limits == Limits()
    assert set(settings.ignore) == {"slot.not-derived"}


def test_formats_are_all_listed() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert sorted(rows) == sorted(FORMATS)


def test_workflow_and_hooks(tmp_path: Path) -> None:
    workflow, config = blocks("yaml")
    path = tmp_path / "workflow.yaml"
    path.write_text(workflow)
    python = [sys.executable, "-m"]
    command = ["check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(path)]
    done = subprocess.run([*python, *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    used = YAML(typ="safe").load(workflow)["jobs"]["review"]["steps"][1]["with"]
    inputs: dict[str, Any] = YAML(typ="safe").load(ROOT / "action.yml")["inputs"]
    assert used.keys() <= inputs.keys()
    for name in inputs.keys() - used.keys():
        assert f"`{name}`" in PAGE
    path.write_text(config)
    done = subprocess.run(
        [*python, "pre_commit", "validate-config", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    (repo,) = YAML(typ="safe").load(config)["repos"]
    assert {hook["id"] for hook in repo["hooks"]} == hooks().keys()


def test_the_fixture_is_used_as_shown(folder: Path) -> None:
    (text,) = blocks("python")
    write(folder, {"test_plan.py": text, "plans/decoder.json": sample("fragment")})
    plugin = ["-p", "ferrum_verify.integrations.pytest_plugin"]
    code = (
        "import sys, pytest\n"
        "from importlib.metadata import entry_points\n"
        f"known = any(e.value == {plugin[1]!r} for e in entry_points(group='pytest11'))\n"
        f"sys.exit(pytest.main([] if known else {plugin!r}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_completion_is_set_up_as_shown(tmp_path: Path) -> None:
    run = script(tmp_path)
    (text,) = blocks("sh")
    for line in text.splitlines():
        command = line.partition("   #")[0].partition("    #")[0]
        shell = re.findall(r"COMPLETE=(\w+)_source", command)[0]
        if shell == "bash":
            assert run(f"{command} && complete -p ferrum-verify").startswith("complete ")
        else:
            inner = re.findall(r"_FERRUM\S+ ferrum-verify", command)[0]
            assert "ferrum-verify" in run(inner)


def test_links_lead_to_headings() -> None:
    headings = {
        re.sub(r"[^a-z -]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
    }
    assert headings == set(re.findall(r"\]\(#([^)]*)\)", PAGE))
