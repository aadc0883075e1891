"""The command line in this process: what it prints, where to, and its exit status."""

from __future__ import annotations

import json
import os
import stat
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest

from ferrum_verify import __version__
from ferrum_verify.catalogue import catalogue
from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import commands, run
from ferrum_verify.cli.schemas import schema_names, schema_of
from ferrum_verify.plan.canonical import canonical_bytes
from ferrum_verify.report.formats import FORMATS
from tests.vectors import scale

AUDITING = import_module("ferrum_verify.fleet.auditor")
"""The module, whose name the package's function of the same name may hide."""


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def written(name: str, document: Any) -> str:
        path = tmp_path / name
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return str(path)

    return written


@pytest.fixture
def fragment(write: Any) -> str:
    return str(write("fragment.json", sample("fragment")))


@pytest.fixture
def faulty(write: Any) -> str:
    document = sample("fragment")
    apply_edits(document, {"/memory/reserve_bytes": "8192", "/memory/surprise": 1})
    return str(write("faulty.json", document))


def test_statuses_of_an_audit(write: Any, fragment: str, faulty: str, capsys: Any) -> None:
    memory_plan = write("memory.json", sample("fragment")["memory"])
    broken = write("broken.json", "{")
    audit = ("audit", "--no-prove")
    assert run([*audit, fragment]) == 0
    assert run([*audit, fragment, memory_plan]) == 3
    assert run([*audit, memory_plan, faulty]) == 1
    assert run([*audit, faulty, broken, fragment]) == 2
    assert run([*audit, "no-such-file.json"]) == 2
    assert "There is no file no-such-file.json" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--smt2", "--second-opinion"])
def test_what_only_proofs_can_do_is_refused_without_them(
    fragment: str, tmp_path: Path, capsys: Any, option: str
) -> None:
    scripts = tmp_path / "scripts"
    arguments = [option, str(scripts)] if option == "--smt2" else [option]
    assert run(["audit", "--no-prove", fragment, *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"{option} needs the proofs" in shown.err
    settings = tmp_path / "pyproject.toml"
    settings.write_text("[tool.ferrum-verify]\nprove = false\n")
    assert run(["audit", "--config", str(settings), fragment, *arguments]) == 2
    assert not scripts.exists()


def test_text_and_json_of_an_audit(faulty: str, capsys: Any) -> None:
    assert run(["audit", "--no-prove", faulty]) == 1
    assert capsys.readouterr().out.startswith("VIOLATED")
    assert (
        run(["audit", "--no-prove", "--format", "json", "--execution", "concurrent", faulty]) == 1
    )
    report = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(schema_of("report")).validate(report)
    assert report["execution"] == "concurrent"
    assert report["tool"] == {"name": "ferrum-verify", "version": __version__}
    assert [finding["location"] for finding in report["documents"][0]["findings"]] == [
        "/memory/reserve_bytes",
        "/memory/surprise",
    ]


def test_proofs_are_on_unless_they_are_switched_off(fragment: str, monkeypatch: Any) -> None:
    asked = []
    real = AUDITING.audit_document

    def spying(*arguments: Any, prove: bool, **options: Any) -> Any:
        asked.append(prove)
        return real(*arguments, prove=False, **options)

    monkeypatch.setattr(AUDITING, "audit_document", spying)
    run(["audit", fragment])
    run(["audit", "--no-prove", fragment])
    assert asked == [True, False]


def test_several_documents_of_one_file(write: Any, capsys: Any) -> None:
    lines = write("plans.jsonl", f"{json.dumps(sample('fragment'))}\n\nbroken\n")
    assert run(["audit", "--no-prove", "--format", "json", lines]) == 2
    report = json.loads(capsys.readouterr().out)
    assert [document["source"] for document in report["documents"]] == [f"{lines}:1", f"{lines}:3"]
    assert report["summary"]["unreadable"] == 1


def test_derive_prints_the_engines_plan(write: Any, tmp_path: Path, capsysbinary: Any) -> None:
    case = scale("decoder-8")
    problem = write("problem.json", case["problem"])
    expected = canonical_bytes(case["expect"]["memory"]) + b"\n"
    assert run(["derive", problem]) == 0
    assert capsysbinary.readouterr().out == expected
    target = tmp_path / "plan.json"
    assert run(["derive", problem, "-o", str(target)]) == 0
    assert target.read_bytes() == expected
    assert capsysbinary.readouterr().out == b""


def test_bindings_and_checkpoint(write: Any, capsys: Any) -> None:
    assert run(["bindings", write("problem.json", sample("problem"))]) == 0
    layouts = json.loads(capsys.readouterr().out)
    assert layouts
    assert {"reusable_execution_bucket_id", "slots"} <= layouts[0].keys()
    assert run(["checkpoint", write("bundle.json", sample("bundle"))]) == 0
    assert json.loads(capsys.readouterr().out).keys() <= {"layout", "reasons"}


@pytest.mark.parametrize("command", ["derive", "bindings", "checkpoint"])
def test_refusals_are_explained_on_standard_error(
    command: str, write: Any, capsys: Any, tmp_path: Path
) -> None:
    document = sample("bundle" if command == "checkpoint" else "problem")
    place = "/catalog/providers" if command == "checkpoint" else "/reserve_bytes"
    apply_edits(document, {place: -1})
    target = tmp_path / "out.json"
    assert run([command, write("refused.json", document), "-o", str(target)]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "refused.json is refused:" in shown.err
    assert place in shown.err
    assert not target.exists()
    assert run([command, write("broken.json", "[1")]) == 2
    assert "broken.json is unreadable:" in capsys.readouterr().err
    assert run([command, write("other.json", sample("policy"))]) in (1, 2)
    assert capsys.readouterr().err


@pytest.mark.parametrize("command", ["derive", "bindings", "checkpoint"])
@pytest.mark.parametrize("text", ["null", "[]", "3"])
def test_no_document_is_unreadable_to_every_command(
    command: str, text: str, write: Any, capsys: Any
) -> None:
    assert run([command, write("none.json", text)]) == 2
    assert "wire.unknown-kind" in capsys.readouterr().err


def test_a_checkpoint_of_another_kind_is_misuse(write: Any, capsys: Any) -> None:
    assert run(["checkpoint", write("problem.json", sample("problem"))]) == 2
    assert "a problem is no bundle" in capsys.readouterr().err


def test_rules_are_listed(capsys: Any) -> None:
    assert run(["rules", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [rule["id"] for rule in listed] == list(catalogue())
    assert all(rule["summary"] and rule["why"] and rule["fix"] for rule in listed)
    assert run(["rules", "--family", "wire"]) == 0
    shown = capsys.readouterr().out
    assert "wire.range" in shown
    assert "slot." not in shown


def test_of_a_family_the_rules_are_listed(capsys: Any) -> None:
    assert run(["explain", "value"]) == 0
    explained = capsys.readouterr().out
    assert run(["rules", "--family", "value"]) == 0
    assert explained == capsys.readouterr().out
    assert "value.overlap" in explained
    assert run(["explain", "--all", "value"]) == 2


def test_a_rule_is_explained_with_an_example(capsys: Any) -> None:
    assert run(["explain", "wire.range"]) == 0
    page = capsys.readouterr().out
    assert "set `/memory/reserve_bytes` to `-1`" in page
    assert '-    "reserve_bytes": 8192,' in page
    assert "`ferrum-verify audit fragment.json` then gives:" in page
    assert "The field `memory.reserve_bytes` is -1" in page


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("wire.rang", "wire.range"),
        ("unknown-field", "wire.unknown-field"),
        ("not-json", "wire.not-json"),
        ("gibberish", "ferrum-verify rules"),
    ],
)
def test_an_unknown_rule_suggests_near_ones(name: str, says: str, capsys: Any) -> None:
    assert run(["explain", name]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"There is no rule {name}." in shown.err
    assert says in shown.err


@pytest.mark.parametrize("name", schema_names())
def test_schemas_are_printed(name: str, capsys: Any) -> None:
    assert run(["schema", name]) == 0
    assert json.loads(capsys.readouterr().out) == schema_of(name)


@pytest.mark.parametrize("group", [[], ["contracts"]])
def test_no_command_is_answered_with_help(group: list[str], capsys: Any) -> None:
    assert run(group) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("Usage: ferrum-verify")
    assert "Commands:" in shown.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["audit"],
        ["audit", "--execution", "sideways", "x"],
        ["audit", "--format", "poem", "x"],
        ["audit", "--bogus", "x"],
        ["derive"],
        ["derive", "a", "b"],
        ["schema", "novel"],
        ["rules", "--family", "none"],
        ["explain"],
        ["prove", "no-such-theorem"],
        ["dance"],
    ],
)
def test_usage_errors_are_one_sentence(arguments: list[str], capsys: Any) -> None:
    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Error: " in shown.err
    assert "Traceback" not in shown.err


def test_help_everywhere(capsys: Any) -> None:
    assert isinstance(commands, click.Group)
    for name in ([], *([name] for name in commands.commands)):
        for flag in ("--help", "-h"):
            assert run([*name, flag]) == 0
            assert "Usage: ferrum-verify" in capsys.readouterr().out
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"ferrum-verify {__version__}\n"


@pytest.mark.parametrize("format_name", sorted(FORMATS))
def test_output_files_replace_what_was_there(
    format_name: str, fragment: str, tmp_path: Path, capsys: Any
) -> None:
    target = tmp_path / "report"
    target.write_text("what stood here")
    target.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(target)
    command = ["audit", "--no-prove", "--format", format_name, fragment, "-o", str(link)]
    assert run(command) == 0
    assert capsys.readouterr().out == ""
    assert link.is_symlink()
    assert "what stood here" not in target.read_text()
    assert "\x1b[" not in target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fragment.json", "link", "report"]


def test_a_dash_is_standard_output(fragment: str, capsys: Any) -> None:
    assert run(["audit", "--no-prove", fragment, "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith("VERIFIED")


def test_output_that_cannot_be_written(fragment: str, tmp_path: Path, capsys: Any) -> None:
    for target in (tmp_path, tmp_path / "no" / "such" / "place", Path("/proc/nothing"), ""):
        assert run(["audit", "--no-prove", fragment, "-o", str(target)]) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert shown.err.count("Error: ") == 1


def test_a_failed_write_leaves_the_old_file(
    fragment: str, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    target = tmp_path / "report"
    target.write_text("what stood here")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fchmod", full)
    assert run(["audit", "--no-prove", fragment, "-o", str(target)]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert target.read_text() == "what stood here"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fragment.json", "report"]


def test_devices_are_written_to_and_not_replaced(fragment: str) -> None:
    assert run(["audit", "--no-prove", fragment, "-o", os.devnull]) == 0
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_an_internal_error_is_one_sentence(
    fragment: str, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise KeyError("lost")

    monkeypatch.setattr(AUDITING, "audit_document", broken)
    monkeypatch.delenv("FERRUM_VERIFY_DEBUG", raising=False)
    assert run(["audit", fragment]) == 2
    shown = capsys.readouterr()
    assert "internal error (KeyError: 'lost')" in shown.err
    assert shown.err.count("\n") == 1
    monkeypatch.setenv("FERRUM_VERIFY_DEBUG", "1")
    with pytest.raises(KeyError):
        run(["audit", fragment])


def test_an_interruption_leaves_a_report_of_what_was_done(
    fragment: str, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = AUDITING.audit_document
    done = 0

    def interrupted(*arguments: Any, **options: Any) -> Any:
        nonlocal done
        done += 1
        if done > 2:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(AUDITING, "audit_document", interrupted)
    files = [fragment] * 4
    assert run(["audit", "--no-prove", "--format", "json", *files]) == 130
    shown = capsys.readouterr()
    assert len(json.loads(shown.out)["documents"]) == 2
    assert "Interrupted: the report covers 2 of the documents." in shown.err


class Terminal:
    """A standard stream that says it is a terminal."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def isatty(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def test_colour_on_a_terminal_and_a_bar_for_many_documents(
    fragment: str, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stdout", Terminal(sys.stdout))
    monkeypatch.setattr(sys, "stderr", Terminal(sys.stderr))
    assert run(["audit", "--no-prove", fragment, fragment]) == 0
    shown = capsys.readouterr()
    assert "\x1b[1;32mVERIFIED" in shown.out
    assert "2/2" in shown.err
    assert "fragment.json" in shown.err
    monkeypatch.setenv("NO_COLOR", "1")
    assert run(["audit", "--no-prove", fragment]) == 0
    shown = capsys.readouterr()
    assert "\x1b[" not in shown.out
    assert "1/1" not in shown.err


def test_theorems_are_run(capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(["prove", "align-up.monotone", "--no-cvc5"]) == 0
    heading, line = capsys.readouterr().out.splitlines()
    assert heading.split() == ["theorem", "solver", "seconds", "result", "theory"]
    assert line.startswith("align-up.monotone")
    assert "proved" in line
    target = tmp_path / "rows.json"
    arguments = ["prove", "align-up.monotone", "--no-cvc5", "--format", "json", "-o", str(target)]
    assert run(arguments) == 0
    assert [row["result"] for row in json.loads(target.read_text())] == ["proved"]
    theorems = import_module("ferrum_verify.prove.theorems")
    monkeypatch.setattr(theorems, "export", lambda directory: [directory / "a", directory / "b"])
    assert run(["prove", "--smt2", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("2 queries were written to")


def test_an_undecided_theorem_is_not_proved(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    theorems = import_module("ferrum_verify.prove.theorems")
    row = theorems.Row("t", "integers", "z3", 1.0, "undecided", 1, "timeout")

    def interrupted(*_: Any, **__: Any) -> Any:
        yield row
        raise KeyboardInterrupt

    monkeypatch.setattr(theorems, "stream", lambda *_, **__: iter([row]))
    assert run(["prove"]) == 3
    assert "    timeout\n" in capsys.readouterr().out
    monkeypatch.setattr(theorems, "stream", interrupted)
    assert run(["prove"]) == 130
    assert "Interrupted after 1 results." in capsys.readouterr().err
