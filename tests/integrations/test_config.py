"""Settings in ``pyproject.toml``: found, in force, and refused in a sentence where wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import audit_once as audit_file
from ferrum_verify.cli import run
from ferrum_verify.integrations.config import Settings, SettingsError, find_settings, read_settings
from ferrum_verify.limits import Limits
from ferrum_verify.report.model import DocumentReport

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "[tool.ferrum-verify]\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a project, which is the working directory, with a plan that has two faults."""
    folder = tmp_path / "project"
    folder.mkdir()
    document = sample("fragment")
    apply_edits(document, {"/memory/static_bytes": 1, "/nodes/3/dependencies": []})
    (folder / "plan.json").write_text(json.dumps(document))
    monkeypatch.chdir(folder)
    return folder


def settings_of(project: Path, text: str) -> Settings:
    path = project / "pyproject.toml"
    path.write_text(text)
    return read_settings(path)


def report_of(capsys: Any, *arguments: str) -> tuple[int, dict[str, Any], str]:
    status = run(["audit", "--format", "json", "--no-prove", *arguments, "plan.json"])
    shown = capsys.readouterr()
    return status, json.loads(shown.out), shown.err


def test_everything_that_can_be_set(project: Path) -> None:
    settings = settings_of(
        project,
        """
        [tool.ferrum-verify]
        execution = "concurrent"
        prove = false
        limits = { obligation-seconds = 2.5, document-seconds = 30, memory-mib = 512 }

        [tool.ferrum-verify.ignore]
        "slot.not-derived" = " split by hand until release 5 "
        static.total-mismatch = "known"
        """,
    )
    assert settings == Settings(
        source=project / "pyproject.toml",
        execution="concurrent",
        prove=False,
        limits=Limits(obligation_seconds=2.5, document_seconds=30, memory_mib=512),
        ignore={
            "slot.not-derived": "split by hand until release 5",
            "static.total-mismatch": "known",
        },
        stated=frozenset({"execution", "prove", "limits", "ignore"}),
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"{TABLE}exekution = 1", "tool.ferrum-verify has no key exekution; there are execution,"),
        (f"{TABLE}execution = 'fast'", "execution is 'fast'; there are in-order, fenced, concurr"),
        (f"{TABLE}prove = 1", "prove is 1, where true or false belongs"),
        (f"{TABLE}limits = 3", "limits is no table"),
        (f"{TABLE}limits.hours = 3", "limits has no key hours; there are obligation-seconds,"),
        (f"{TABLE}limits.document-seconds = 0", "limits.document-seconds is 0, where a number"),
        (f"{TABLE}limits.document-seconds = nan", "limits.document-seconds is nan, where a numb"),
        (f"{TABLE}limits.document-seconds = true", "limits.document-seconds is True, where a nu"),
        (f"{TABLE}limits.memory-mib = 1.5", "limits.memory-mib is 1.5, where a whole number"),
        (f"{TABLE}ignore = ['slot.unused']", "ignore is no table"),
        (
            f"{TABLE}ignore.slot.unused-resuorce = 'x'",
            "which does not exist; slot.unused-resource may be meant",
        ),
        (f"{TABLE}ignore.zzz = 'x'", "which does not exist; `ferrum-verify rules` lists them"),
        (
            f"{TABLE}ignore.slot.unused-resource = ' '",
            "ignore gives no reason for slot.unused-resource; w",
        ),
        (
            f"{TABLE}ignore.slot.unused-resource = true",
            "ignore gives no reason for slot.unused-resource; w",
        ),
        ("[tool]\nferrum-verify = 3", "tool.ferrum-verify is no table"),
        ("[tool.other]\n", "has no table [tool.ferrum-verify]"),
        ("tool = 'x'", "has no table [tool.ferrum-verify]"),
        ("[tool.ferrum-verify", "is not TOML: "),
    ],
)
def test_what_is_refused(project: Path, text: str, sentence: str, capsys: Any) -> None:
    with pytest.raises(SettingsError) as error:
        settings_of(project, text)
    message = str(error.value)
    assert sentence in message
    assert message.count("\n") == 0
    assert message.startswith(str(project / "pyproject.toml"))
    assert message.endswith(".")
    assert run(["audit", "--config", "pyproject.toml", "plan.json"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert sentence in shown.err.replace("\n", " ")


def test_every_fault_is_named(project: Path) -> None:
    with pytest.raises(SettingsError) as error:
        settings_of(project, f"{TABLE}prove = 1\nspeed = 2\nignore.zzz = ''")
    assert len(str(error.value).splitlines()) == 3


def test_files_that_cannot_be_read(project: Path, capsys: Any) -> None:
    (project / "latin.toml").write_bytes(b"# \xe9\n[tool.ferrum-verify]\n")
    for name, reason in (
        ("lost.toml", "No such file"),
        (".", "directory"),
        ("latin.toml", "is not UTF-8"),
    ):
        assert run(["audit", "--config", name, "plan.json"]) == 2
        assert reason in capsys.readouterr().err


def test_the_nearest_file_with_a_table_counts(project: Path) -> None:
    outer = project.parent / "pyproject.toml"
    outer.write_text(f"{TABLE}execution = 'concurrent'\n")
    inner = project / "a" / "b"
    inner.mkdir(parents=True)
    assert find_settings(inner).source == outer
    (project / "pyproject.toml").write_text("[project]\nname = 'ferrum-verify-user'\n")
    assert find_settings(inner).source == outer
    (project / "a" / "pyproject.toml").write_text(TABLE)
    assert find_settings(inner) == Settings(source=project / "a" / "pyproject.toml")
    (inner / "pyproject.toml").write_text("not TOML [[[")  # says nothing of us
    assert find_settings(inner).source == project / "a" / "pyproject.toml"


def test_settings_are_in_force_and_options_win(project: Path, capsys: Any) -> None:
    assert report_of(capsys)[1]["execution"] == "fenced"
    (project / "pyproject.toml").write_text(f"{TABLE}execution = 'concurrent'\n")
    assert report_of(capsys)[1]["execution"] == "concurrent"
    assert report_of(capsys, "--execution", "in-order")[1]["execution"] == "in-order"
    (project / "other.toml").write_text(f"{TABLE}execution = 'in-order'\n")
    assert report_of(capsys, "--config", "other.toml")[1]["execution"] == "in-order"


def test_limits_are_those_of_the_settings(
    project: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "pyproject.toml").write_text(
        f"{TABLE}limits = {{ obligation-seconds = 3, document-seconds = 30, memory-mib = 700 }}\n"
    )
    seen: list[Limits] = []

    def audited(loaded: Any, *, limits: Limits, **_: Any) -> DocumentReport:
        seen.append(limits)
        return DocumentReport(source=loaded.source, kind=None, verdict="verified")

    monkeypatch.setattr(audit_file, "audit_document", audited)
    assert run(["audit", "plan.json"]) == 0
    assert run(["audit", "plan.json", "--proof-limit", "7"]) == 0
    assert seen == [Limits(3, 30, 700), Limits(3, 7, 700)]
    capsys.readouterr()


def test_proofs_can_be_switched_off(project: Path, capsys: Any) -> None:
    (project / "plan.json").write_text(json.dumps(sample("fragment")))
    (project / "pyproject.toml").write_text(f"{TABLE}prove = false\n")
    assert run(["audit", "--format", "json", "plan.json"]) == 0
    assert "obligations" not in json.loads(capsys.readouterr().out)["documents"][0]


def test_ignored_rules_are_hidden_and_counted(project: Path, capsys: Any) -> None:
    status, report, remarks = report_of(capsys)
    found = {finding["rule"] for finding in report["documents"][0]["findings"]}
    assert status == 1
    assert "static.total-mismatch" in found
    assert remarks == ""
    lines = "".join(f"ignore.{rule} = 'agreed on'\n" for rule in sorted(found)[1:])
    (project / "pyproject.toml").write_text(TABLE + lines)
    status, report, remarks = report_of(capsys)
    assert {each["rule"] for each in report["documents"][0]["findings"]} == {min(found)}
    assert status == 1
    (project / "pyproject.toml").write_text(f"{TABLE}{lines}ignore.{min(found)} = 'agreed on'\n")
    status, report, remarks = report_of(capsys)
    assert (status, report["documents"][0]["verdict"]) == (0, "violated")
    hidden = report["documents"][0]["hidden"]
    assert {each["rule"] for each in hidden} == found
    assert {(each["hidden_by"], each["reason"]) for each in hidden} == {("ignored", "agreed on")}
    assert f"Hidden, as {project / 'pyproject.toml'} ignores their rules:" in remarks
    assert "  1 of static.total-mismatch: agreed on\n" in remarks


def test_what_is_unreadable_stays_so(project: Path, capsys: Any) -> None:
    (project / "plan.json").write_text("{")
    (project / "pyproject.toml").write_text(f"{TABLE}ignore.wire.not-json = 'why not'\n")
    status, report, _ = report_of(capsys)
    assert status == 2
    assert len(report["documents"][0]["findings"]) == 1
