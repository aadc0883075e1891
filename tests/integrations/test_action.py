"""The GitHub Action: its steps run as scripts against a throw-away repository of two commits."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML

from ferrum_verify.catalogue.samples import sample
from ferrum_verify.integrations.pull_request_comment import MARK
from tests.integrations.github_service import TOKEN
from tests.integrations.repository import (
    FAULTY,
    NARROWED,
    ROOT,
    edited,
    environment,
    git,
    repository,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integrations.github_service import Service

SOUND = sample("fragment")
IGNORED = "[tool.ferrum-verify]\nignore.static.total-mismatch = 'known'\n"


@cache
def action() -> dict[str, Any]:
    parsed: dict[str, Any] = YAML(typ="safe").load(ROOT / "action.yml")
    return parsed


@dataclass
class Job:
    """A job of a workflow that uses the Action: what its runner knows, and what steps leave."""

    folder: Path
    context: dict[str, Any]
    outputs: dict[str, str] = field(default_factory=dict)
    log: str = ""

    def value(self, expression: str) -> Any:
        """An expression of the language that workflows are written in, as far as ours goes."""
        for operator, joined in ((" && ", all), (" || ", any)):
            if operator in expression:
                parts = [self.value(part) for part in expression.split(operator)]
                if joined is all:
                    return next((part for part in parts if not part), parts[-1])
                return next((part for part in parts if part), parts[-1])
        compared = re.fullmatch(r"(.+) (==|!=) '(.*)'", expression)
        if compared is not None:
            name, operator, text = compared.groups()
            return (str(self.value(name)) == text) == (operator == "==")
        assert re.fullmatch(r"[\w.-]+", expression), expression
        value: Any = self.context | {
            "steps": {"review": {"outputs": self.outputs}, "setup": {"outputs": {}}}
        }
        for step in expression.split("."):
            value = value.get(step, "") if isinstance(value, dict) else ""
        return value

    def filled(self, text: str) -> str:
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda match: str(self.value(match[1])), text)

    def run(self) -> int:
        """Run the steps that are scripts; give the status that the job ends with."""
        files = {
            name: self.folder.parent / name.lower()
            for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
        }
        for path in files.values():
            path.write_text("")
        given = environment(
            RUNNER_TEMP=str(self.folder.parent),
            GITHUB_WORKSPACE=str(self.folder),
            GITHUB_REPOSITORY="owner/project",
            GITHUB_API_URL=self.context["api"],
            **{name: str(path) for name, path in files.items()},
        )
        for step in action()["runs"]["steps"]:
            if "uses" in step or not self.value(step.get("if", "always")):
                continue
            assert step["shell"] == "bash"
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
                cwd=self.folder,
                env=given | {name: self.filled(str(text)) for name, text in step["env"].items()},
                capture_output=True,
                text=True,
                check=False,
            )
            self.log += done.stdout + done.stderr
            for line in files["GITHUB_OUTPUT"].read_text().splitlines():
                name, _, value = line.partition("=")
                self.outputs[name] = value
            if done.returncode:
                return done.returncode
        return 0

    @property
    def summary(self) -> str:
        return (self.folder.parent / "github_step_summary").read_text()

    @property
    def sarif(self) -> list[dict[str, Any]]:
        with open(self.outputs["sarif"], encoding="utf-8") as text:
            results: list[dict[str, Any]] = json.load(text)["runs"][0]["results"]
        return results


@pytest.fixture
def job(tmp_path: Path, service: Service) -> Job:
    folder = tmp_path / "checkout"
    folder.mkdir()
    defaults = {name: each.get("default", "") for name, each in action()["inputs"].items()}
    inputs = {"python": sys.executable, "prove": "false", "token": TOKEN}
    return Job(
        folder,
        {
            "always": True,
            "api": service.environment["GITHUB_API_URL"],
            "inputs": defaults | inputs,
            "github": {"event": {"pull_request": {"number": 7, "base": {}}}},
        },
    )


def start(job: Job, before: dict[str, Any], after: dict[str, Any]) -> None:
    base = repository(job.folder, before, after)
    job.context["github"]["event"]["pull_request"]["base"]["sha"] = base


def test_action_and_hooks_follow_their_schemas() -> None:
    python = [sys.executable, "-m"]
    for command in (
        [*python, "check_jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml"],
        [*python, "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml"],
    ):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_that_a_user_gives_is_part_of_a_script() -> None:
    for step in action()["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_a_branch_that_breaks_things(job: Job, service: Service) -> None:
    start(
        job,
        {"plans/a.json": SOUND, "catalogs/gpu.json": sample("catalog")},
        {
            "plans/a.json": edited("fragment", FAULTY),
            "catalogs/gpu.json": edited("catalog", NARROWED),
        },
    )
    assert job.run() == 1
    assert job.outputs["status"] == "1"
    told = {result["ruleId"] for result in job.sarif}
    assert told >= {"static.total-mismatch", "contract.prefix-narrowed"}
    assert re.search(
        r"^::error file=plans/a\.json,line=\d+,.*title=static\.total-mismatch::", job.log, re.M
    )
    assert job.summary.startswith("### ferrum-verify: violated\n")
    (comment,) = service.comments
    assert comment["body"] == f"{MARK}\n{job.summary}"


ANSWER = """
import os, pathlib, sys
pathlib.Path(os.environ["GITHUB_WORKSPACE"], "..", "taken").write_text(
    os.environ.get("GITHUB_TOKEN", "no token")
)
sys.exit(0)
"""


@pytest.mark.parametrize(
    "name", ["click.py", "json.py", "ferrum_verify/__init__.py", "ferrum_verify/__main__.py"]
)
def test_a_pull_request_does_not_run_in_its_own_gate(job: Job, service: Service, name: str) -> None:
    faulty = {"plans/a.json": edited("fragment", FAULTY)}
    package = {"ferrum_verify/__init__.py": ANSWER} if "/" in name else {}
    start(job, {}, faulty | package | {name: ANSWER})
    assert job.run() == 1
    assert not (job.folder / ".." / "taken").exists()
    assert service.comments[0]["body"].startswith(f"{MARK}\n### ferrum-verify: violated\n")


def test_everything_that_runs_is_pinned_and_isolated() -> None:
    for step in action()["runs"]["steps"]:
        if "uses" in step:
            assert re.search(r"@[0-9a-f]{40}$", step["uses"]), step["uses"]
        for line in step.get("run", "").splitlines():
            assert " -m " not in line or " -I -m " in line, line


def test_a_branch_that_is_sound(job: Job, service: Service) -> None:
    start(job, {}, {"plans/a.json": SOUND})
    assert job.run() == 0
    assert job.sarif == []
    assert "VERIFIED plans/a.json: no findings" in job.log
    assert service.comments[0]["body"].startswith(f"{MARK}\n### ferrum-verify: verified\n")


def test_a_branch_that_changes_nothing_of_ours(job: Job, service: Service) -> None:
    start(job, {"plans/a.json": edited("fragment", FAULTY)}, {"code.rs": "x"})
    assert job.run() == 0
    assert "No plan and no catalog is changed." in service.comments[0]["body"]


def test_patterns_that_match_nothing_fail_the_job(job: Job, service: Service) -> None:
    start(job, {}, {"plans/a.json": SOUND})
    job.context["inputs"] |= {"plans": "plan/*.json"}
    assert job.run() == 2
    assert job.outputs["status"] == "2"
    assert "matches plan/*.json" in " ".join(job.log.split())
    assert service.comments == []


def test_inputs_are_passed_on(job: Job, service: Service) -> None:
    start(
        job,
        {"settings.toml": IGNORED},
        {"a dir/x y.json": sample("fragment"), "more/b.json": edited("fragment", FAULTY)},
    )
    job.context["inputs"] |= {
        "plans": "a dir/*.json\nmore/*.json\n",
        "catalogs": "",
        "execution": "in-order",
        "config": "settings.toml",
        "comment": "false",
        "base": "main",
    }
    assert job.run() == 0
    assert "VERIFIED a dir/x y.json: no findings" in job.log
    assert "VIOLATED (1 ignored) more/b.json: no findings" in job.log
    assert "under `in-order` execution" in job.summary
    assert service.comments == []


def test_a_pull_request_does_not_loosen_its_own_gate(job: Job, service: Service) -> None:
    start(job, {}, {"plans/a.json": edited("fragment", FAULTY), "pyproject.toml": IGNORED})
    assert job.run() == 1
    assert {result["ruleId"] for result in job.sarif} == {
        "static.total-mismatch",
        "integrity.settings-changed",
    }
    assert "title=integrity.settings-changed::" in job.log
    assert "`integrity.settings-changed`" in service.comments[0]["body"]


def test_misuse_ends_with_its_own_status_and_no_report(job: Job, service: Service) -> None:
    start(job, {}, {"plans/a.json": SOUND})
    job.context["inputs"]["base"] = "nowhere"
    assert job.run() == 2
    assert "nowhere and HEAD have no common commit here" in job.log
    assert "sarif" not in job.outputs
    assert service.comments == []


def test_a_comment_that_is_refused_does_not_hide_the_verdict(job: Job, service: Service) -> None:
    start(job, {}, {"plans/a.json": edited("fragment", FAULTY)})
    service.status = 403
    assert job.run() == 1
    assert "::warning title=ferrum-verify::The pull request could not be commented on." in job.log


def test_a_report_of_an_earlier_run_is_not_taken_for_this_one(job: Job) -> None:
    start(job, {}, {"plans/a.json": SOUND})
    (job.folder.parent / "ferrum-verify.sarif").write_text("{}")
    job.context["inputs"]["base"] = "nowhere"
    assert job.run() == 2
    assert "sarif" not in job.outputs
    assert git(job.folder, "status", "--porcelain") == ""
