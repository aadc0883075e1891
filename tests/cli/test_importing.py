"""``import``: files in, a buffer plan out, and a sentence where there is none."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify import audit
from ferrum_verify.cli import importing, run
from tests.importers.foreign import EXAMPLES, FILES, FIXTURES, plan

if TYPE_CHECKING:
    from pathlib import Path

NAMES = {"tvm_relax": "tvm-relax"}


@pytest.mark.parametrize("name", FILES)
def test_the_plan_is_written(name: str, tmp_path: Path) -> None:
    module, files = FILES[name]
    out = tmp_path / "plan.json"
    assert run(["import", NAMES.get(module, module), *map(str, files), "-o", str(out)]) == 0
    assert json.loads(out.read_text()) == plan(name)
    wrong = name in ("executorch-21490", "tvm-20190-026")
    assert audit(out, execution="in-order").verdict == ("violated" if wrong else "verified")


def test_the_audit_that_suits_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["import", "xla", str(EXAMPLES / "xla"), "-o", "a plan.json"]) == 0
    said = " ".join(capfd.readouterr().err.split())
    assert "`ferrum-verify audit 'a plan.json' --execution in-order`" in said
    assert run(["import", "xla", str(EXAMPLES / "xla")]) == 0
    assert "audit - --execution in-order" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("path", "form"),
    [
        (EXAMPLES / "executorch-21490.pte", "executorch"),
        (EXAMPLES / "tvm-20190.txt", "tvm-relax"),
        (next((EXAMPLES / "xla").glob("*optimizations.txt*")), "xla"),
    ],
)
def test_an_audit_of_what_is_to_be_imported_says_so(path: Path, form: str) -> None:
    (document,) = audit(path, prove=False).documents
    assert document.verdict == "unreadable"
    assert f"`ferrum-verify import {form} FILE`" in str(document.findings[0].fix)


def test_a_folder_without_documents_names_the_import(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", str(EXAMPLES / "xla")]) == 2
    assert "`ferrum-verify import`" in " ".join(capfd.readouterr().out.split())


def test_a_plan_judged_under_another_model_says_so() -> None:
    def told(document: object, **options: Any) -> list[str]:
        return [
            each.message
            for each in audit(document, prove=False, **options).findings
            if each.rule == "buffer.planned-in-order"
        ]

    [message] = told(plan("xla-cpu"))
    assert message.startswith("XLA plans for instructions that run one after the other")
    assert told(plan("xla-cpu"), execution="in-order") == []
    assert told(plan("xla-cpu") | {"source": "by hand"}) == []


def test_a_dump_folder_of_one_module_is_read(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["import", "xla", str(EXAMPLES / "xla")]) == 0
    assert json.loads(capfd.readouterr().out) == plan("xla-cpu")


def test_a_folder_of_two_modules_is_not(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for path in (EXAMPLES / "xla").iterdir():
        for module in ("one.", "two."):
            shutil.copy(path, tmp_path / f"{module}{path.name.removeprefix('xla-cpu.')}")
    assert run(["import", "xla", str(tmp_path)]) == 2
    assert "one.after_optimizations, two.after_optimizations" in capfd.readouterr().err
    named = sorted(map(str, tmp_path.glob("two.*")))
    other = tmp_path / "two.before_optimizations.txt"
    other.write_text("HloModule two\n")
    assert run(["import", "xla", *named, str(other)]) == 0
    assert json.loads(capfd.readouterr().out) == plan("xla-cpu")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["executorch", "missing.pte"], "There is no file missing.pte."),
        (["executorch", str(FIXTURES)], "is a directory"),
        (["executorch", str(FIXTURES / "tvm-20190-027.txt")], "no ExecuTorch program"),
        (["tvm-relax", str(EXAMPLES / "executorch-21490.pte")], "is no text"),
        (["tvm-relax", "a\0b"], "null byte"),
        (["xla", str(EXAMPLES)], "has no *after_optimizations.txt"),
        (["xla", str(FIXTURES / "tvm-20190-027.txt")], "No text begins with HloModule"),
        (["executorch", *[str(EXAMPLES / "executorch-21490.pte")] * 2], "is one file"),
        (["onnx", "model.onnx"], "'onnx' is not one of"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(
    arguments: list[str], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["import", *arguments]) == 2
    out, err = capfd.readouterr()
    assert said in err
    assert out == ""
    assert "Traceback" not in err
    assert "internal error" not in err


def test_a_file_that_is_too_long_is_refused(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importing, "MAXIMUM_FOREIGN_BYTES", 1000)
    assert run(["import", "tvm-relax", str(FIXTURES / "tvm-relax-block.txt")]) == 2
    assert "has more than 1,000 bytes" in capfd.readouterr().err
    assert run(["import", "executorch", str(EXAMPLES / "executorch-21490.pte")]) == 2
    assert "of 2,368 bytes it has 1,000" in capfd.readouterr().err


def test_weights_behind_a_program_need_not_be_read(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importing, "MAXIMUM_FOREIGN_BYTES", 2400)
    assert run(["import", "executorch", str(EXAMPLES / "executorch-21490.pte")]) == 0
    assert json.loads(capfd.readouterr().out) == plan("executorch-21490")
