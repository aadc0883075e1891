"""Runs over many documents: whatever was remembered and whoever worked, the report is the same."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import models
from ferrum_verify.cache.folder import CacheFolder
from ferrum_verify.cache.key import VARIABLE
from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import run
from ferrum_verify.prove.solving import Session

AUDITOR = import_module("ferrum_verify.fleet.auditor")
JOBS = import_module("ferrum_verify.fleet.jobs")

FAULTS: dict[str, dict[str, Any]] = {
    "sound": {},
    "reserve": {"/memory/reserve_bytes": 4096},
    "budget": {"/memory/reusable_execution/buckets/1/pool_budgets/0/step_bytes": 896},
    "form": {"/memory/reserve_bytes": "8192", "/memory/surprise": 1},
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Documents of several kinds and verdicts in a work tree, with a cache that is their own."""
    monkeypatch.delenv("FERRUM_VERIFY_NO_CACHE")
    monkeypatch.setenv(VARIABLE, "a key for the tests")
    monkeypatch.chdir(tmp_path)
    for name, edits in FAULTS.items():
        document = sample("fragment")
        apply_edits(document, edits)
        Path(f"{name}.json").write_text(json.dumps(document))
    for family in models.families()[:2]:
        Path(f"{family}.json").write_text(json.dumps(models.bundle(family, 1)))
    Path("problem.json").write_text(json.dumps(models.problem("llama-3.1-8b", 1)))
    Path("memory.json").write_text(json.dumps(sample("fragment")["memory"]))
    Path("lines.jsonl").write_text(
        "\n".join(json.dumps(each) for each in (sample("fragment"), sample("problem")))
    )
    Path("broken.json").write_text("{")
    names = [*(f"{name}.json" for name in FAULTS), *(f"{f}.json" for f in models.families()[:2])]
    return [*names, "problem.json", "memory.json", "lines.jsonl", "broken.json", "missing.json"]


def audited(capsys: Any, *arguments: str, form: str = "json") -> tuple[int, Any, str]:
    status = run(["audit", "--format", form, *arguments])
    shown = capsys.readouterr()
    return status, plain(shown.out) if form == "json" else shown.out, shown.err


def plain(text: str) -> Any:
    """The report without its seconds."""
    report = json.loads(text)
    for document in report["documents"]:
        document["timings"] = sorted(document["timings"])
    return report


def without_seconds(text: str) -> str:
    """The text without numbers of seconds, and without the run that a page is evidence of."""
    told = re.sub(r"<dt>(Command|Date)</dt><dd>.*?</dd>", "", text)
    return "".join(part for part in told.split() if not part.replace(".", "").isdigit())


def test_the_report_is_the_same_however_it_was_made(files: list[str], capsys: Any) -> None:
    expected = audited(capsys, "--no-cache", *files)
    assert expected[0] == 2
    assert not Path(".ferrum-verify-cache").exists()
    for options in ([], [], ["--jobs", "2"], ["--verify-cache"], ["--no-cache", "--jobs", "2"]):
        assert audited(capsys, *options, *files) == expected, options
    for form in ("text", "html", "sarif", "markdown", "github"):
        one, other, third = (
            without_seconds(audited(capsys, *options, *files, form=form)[1])
            for options in (["--no-cache"], [], ["--no-cache", "--jobs", "2"])
        )
        assert one == other == third, form


def test_what_is_remembered_is_not_audited_again(
    files: list[str], capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = AUDITOR.audit_document

    def counting(loaded: Any, **options: Any) -> Any:
        asked.append(loaded.source)
        return real(loaded, **options)

    monkeypatch.setattr(AUDITOR, "audit_document", counting)
    audited(capsys, *files)
    # The first line of the last but two has the bytes of the first file.
    assert asked == [*files[:8], "lines.jsonl:2", *files[9:]]
    asked.clear()
    audited(capsys, *files)
    # What is undecided, or cannot be read, is asked again.
    assert asked == ["memory.json", "broken.json", "missing.json"]
    asked.clear()
    for options in (
        ["--no-prove"],
        ["--execution", "concurrent"],
        ["--judge", "safety"],
        ["--proof-limit", "60"],
        ["--obligation-limit", "5"],
        ["--with", "llama-3.1-8b.json"],
        ["--no-cache"],
    ):
        audited(capsys, *options, "sound.json")
        assert asked == ["sound.json"], options
        asked.clear()
    Path("sound.json").write_text(Path("sound.json").read_text() + " ")
    audited(capsys, "sound.json")
    assert asked == ["sound.json"]


def test_formulas_are_put_to_the_solver_once(
    files: list[str], capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided = []
    real = Session._decide

    def counting(self: Session, *arguments: Any) -> Any:
        decided.append(arguments)
        return real(self, *arguments)

    monkeypatch.setattr(Session, "_decide", counting)
    _, report, _ = audited(capsys, "--no-cache", "sound.json", "sound.json")
    one, other = (document["obligations"]["formulas"] for document in report["documents"])
    assert one == other == len(decided) > 0
    decided.clear()
    audited(capsys, "reserve.json")
    assert decided
    decided.clear()
    # Another document, and what it has in common with the other is in the cache.
    _, report, _ = audited(capsys, "sound.json")
    assert 0 < len(decided) < report["documents"][0]["obligations"]["formulas"] / 2


def test_a_damaged_cache_is_said_and_not_believed(files: list[str], capsys: Any) -> None:
    expected = audited(capsys, *files)
    entries = [*Path(".ferrum-verify-cache").rglob("??/*.json")]
    assert entries
    for entry in entries:
        text = bytearray(entry.read_bytes())
        text[-5] ^= 1
        entry.write_bytes(text)
    status, report, told = audited(capsys, *files)
    assert (status, report) == expected[:2]
    ignored = re.fullmatch(
        r"Ignored in the cache .ferrum-verify-cache: (\d+) entries damaged or foreign.\n", told
    )
    assert ignored is not None
    assert len(files) - 2 < int(ignored[1]) <= len(entries)
    assert audited(capsys, *files) == expected


def test_a_forged_answer_is_found_out(files: list[str], capsys: Any) -> None:
    """Even who holds the key cannot break a claim that holds, as what breaks it is checked."""
    expected = audited(capsys, "sound.json")
    folder = CacheFolder.open(Path(".ferrum-verify-cache"))
    for entry in [*folder.entries("reports")]:
        entry.unlink()
    for entry in [*folder.entries("formulas")]:
        folder.write("formulas", entry.stem, {"answer": "refuted", "least": [1, 1, 1]})
    status, report, told = audited(capsys, "sound.json")
    assert report == expected[1]
    assert status == 1
    assert "has another answer for formula" in told


def test_a_cache_can_be_held_to_the_solver(files: list[str], capsys: Any) -> None:
    assert audited(capsys, "budget.json")[0] == 1
    assert audited(capsys, "--verify-cache", "budget.json")[2] == ""
    folder = CacheFolder.open(Path(".ferrum-verify-cache"))
    (entry,) = folder.entries("reports")
    report = folder.read("reports", entry.stem)
    folder.write("reports", entry.stem, report | {"verdict": "verified", "findings": []})
    answers = [*folder.entries("formulas")]
    for each in answers:
        folder.write("formulas", each.stem, {"answer": "vacuous"})
    assert audited(capsys, "budget.json")[0] == 0  # who has the key is believed
    status, _, told = audited(capsys, "--verify-cache", "budget.json")
    assert status == 1
    assert "has another report of budget.json than this audit" in told
    assert told.count("has another answer for formula") == len(answers)
    assert audited(capsys, "--verify-cache", "budget.json")[2] == ""


def test_an_open_question_is_not_remembered(files: list[str], capsys: Any) -> None:
    limit = ("--proof-limit", "0.000001")
    assert audited(capsys, *limit, "sound.json")[0] == 3
    folder = CacheFolder.open(Path(".ferrum-verify-cache"))
    assert not [*folder.entries("reports"), *folder.entries("formulas")]


def test_two_runs_at_once_share_a_cache(files: list[str], capsys: Any) -> None:
    expected = audited(capsys, "--no-cache", *files)
    command = [sys.executable, "-m", "ferrum_verify", "audit", "--format", "json", *files]
    top = Path(__file__).parents[2]
    both = [
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(top)},
        )
        for _ in range(2)
    ]
    for process in both:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, plain(out), err) == expected


def test_a_cache_that_cannot_be_is_said_once(files: list[str], capsys: Any) -> None:
    status, report, told = audited(capsys, "--cache", "sound.json", "sound.json")
    assert status == 0
    assert report["documents"][0]["verdict"] == "verified"
    assert told == "The cache sound.json is not used: File exists.\n"


def test_the_cache_is_shown_and_cleared(files: list[str], capsys: Any) -> None:
    assert run(["cache", "show"]) == 2
    assert "there is none" in capsys.readouterr().err
    audited(capsys, "sound.json")
    assert run(["cache", "show"]) == 0
    shown = capsys.readouterr().out
    assert "formulas" in shown
    assert " 1 " in next(line for line in shown.splitlines() if "reports" in line)
    assert run(["cache", "clear"]) == 0
    assert "entries removed from .ferrum-verify-cache." in capsys.readouterr().out
    assert run(["cache", "clear"]) == 0
    assert capsys.readouterr().out == "0 entries removed from .ferrum-verify-cache.\n"


def test_only_changes_are_audited(
    files: list[str], capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["audit", "--no-cache", "--format", "json", "-o", "before.json", *files]) == 2
    capsys.readouterr()
    asked: list[str] = []
    real = AUDITOR.audit_document

    def counting(loaded: Any, **options: Any) -> Any:
        asked.append(loaded.source)
        return real(loaded, **options)

    monkeypatch.setattr(AUDITOR, "audit_document", counting)
    Path("reserve.json").write_text(Path("sound.json").read_text())
    since = ("--no-cache", "--since", "before.json")
    status, report, _ = audited(capsys, *since, *files)
    assert status == 2
    # The report of the same bytes is carried over, under whichever name they have now.
    assert asked == ["memory.json", "broken.json", "missing.json"]
    carried = {each["source"]: each.get("carried", False) for each in report["documents"]}
    assert [name for name, was in carried.items() if not was] == asked
    assert report["documents"][1]["verdict"] == "verified"
    asked.clear()
    assert audited(capsys, *since, "--jobs", "2", *files)[1] == report
    assert "carried over" in audited(capsys, *since, *files, form="text")[1]
    asked.clear()
    audited(capsys, *since, "--execution", "concurrent", "sound.json")
    assert asked == ["sound.json"]


def test_what_was_hidden_is_not_carried_over(files: list[str], capsys: Any) -> None:
    run(["audit", "--no-cache", "--write-baseline", "known.json", "budget.json"])
    hidden = ("--no-cache", "--baseline", "known.json", "--format", "json", "budget.json")
    assert run(["audit", *hidden, "-o", "before.json"]) == 0
    capsys.readouterr()
    status, report, _ = audited(capsys, "--no-cache", "--since", "before.json", "budget.json")
    assert status == 1
    assert "carried" not in report["documents"][0]


def test_shards_are_merged_to_the_whole(files: list[str], capsys: Any) -> None:
    expected = audited(capsys, "--no-cache", *files)[1]
    for count in (2, 3, 20):
        names = []
        for index in range(1, count + 1):
            names.append(f"shard-{index}.json")
            shard = ("--no-cache", "--shard", f"{index}/{count}")
            run(["audit", *shard, *files, "--format", "json", "-o", names[-1]])
        assert run(["report", "merge", *names[::-1], "-o", "whole.json"]) == 2
        capsys.readouterr()
        assert plain(Path("whole.json").read_text()) == expected
        assert run(["report", "merge", *names[1:]]) == 2
        assert f"Shard 1 of {count} is missing." in capsys.readouterr().err
        assert run(["report", "merge", *names, names[0]]) == 2
        assert f"are both shard 1 of {count}" in capsys.readouterr().err


def test_reports_of_several_runs_are_named_by_the_merged_one(files: list[str], capsys: Any) -> None:
    for name in ("sound", "budget"):
        run(["audit", "--no-cache", f"{name}.json", "--format", "json", "-o", f"{name}-r.json"])
    assert run(["report", "merge", "sound-r.json", "budget-r.json", "-o", "both.json"]) == 1
    assert "2 documents of sound-r.json, budget-r.json." in capsys.readouterr().err
    assert json.loads(Path("both.json").read_text())["merged"] == ["sound-r.json", "budget-r.json"]
    to_other = ("--format", "json", "-o", "other.json")
    run(["audit", "--no-cache", "--execution", "concurrent", "sound.json", *to_other])
    assert run(["report", "merge", "both.json", "other.json"]) == 2
    assert "cannot be counted together" in capsys.readouterr().err
    assert run(["report", "merge", "both.json", "sound.json"]) == 2
    assert "sound.json is no report of ferrum-verify" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--jobs", "0"], "neither a number"),
        (["--jobs", "many"], "neither a number"),
        (["--shard", "3/2"], "no I/N"),
        (["--shard", "0/2"], "no I/N"),
        (["--since", "missing.json"], "missing.json cannot be read"),
        (["--since", "sound.json"], "sound.json is no report"),
        (["--no-cache", "--verify-cache"], "--verify-cache needs the cache"),
        (["--jobs", "2", "--dask", "localhost:1"], "--dask takes the place of --jobs"),
        (["--jobs", "2", "--smt2", "claims"], "--smt2 writes to one folder"),
        (["--since", "sound.json", "--memory"], "--since does not go with --memory"),
    ],
)
def test_what_does_not_go_together(
    files: list[str], capsys: Any, options: list[str], told: str
) -> None:
    status, told_of = run(["audit", *options, "sound.json"]), capsys.readouterr().err
    assert status == 2
    assert told in told_of
    assert "Traceback" not in told_of


# A process of a pool imports this file again, so that what kills it has to be in what it reads.
def _dies_of(path: str) -> Any:
    if "reserve" in path:
        os.kill(os.getpid(), signal.SIGKILL)
    if "problem" in path and not Path("died").exists():
        Path("died").write_text("")  # by mischance, and not the next time
        os.kill(os.getpid(), signal.SIGKILL)
    return JOBS._audit(path)


def test_a_document_that_kills_its_process_is_named_and_the_others_go_on(
    files: list[str], capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = audited(capsys, "--no-cache", *files)[1]["documents"]
    real = JOBS.ProcessPoolExecutor

    class Pool(real):  # type: ignore[misc, valid-type]
        def submit(self, _call: Any, *arguments: Any) -> Any:
            return super().submit(_dies_of, *arguments)

    monkeypatch.setattr(JOBS, "ProcessPoolExecutor", Pool)
    by_mischance = [name for name in files if name != "reserve.json"]
    report = audited(capsys, "--no-cache", "--jobs", "2", *by_mischance)[1]
    assert Path("died").exists()
    assert report["documents"] == [each for each in expected if each["source"] != "reserve.json"]
    status, report, _ = audited(capsys, "--no-cache", "--jobs", "2", *files)
    assert status == 2
    lost = report["documents"].pop(1)
    assert (lost["source"], lost["verdict"]) == ("reserve.json", "undecided")
    assert lost["findings"][0]["rule"] == "integrity.audit-ended"
    assert "reserve.json did not come to its end" in lost["findings"][0]["message"]
    del expected[1]
    assert report["documents"] == expected


INTERRUPTIBLE = """
import signal
from ferrum_verify.cli import main
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    main()
"""


def test_an_interruption_ends_all_and_keeps_what_is_done(files: list[str]) -> None:
    plans = [f"plan-{number}.json" for number in range(400)]
    for number, plan in enumerate(plans):
        Path(plan).write_text(Path("sound.json").read_text() + number * " ")
    top = Path(__file__).parents[2]
    options = ("--jobs", "2", "--format", "json", "-o", "report.json")
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, "audit", *options, *plans],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(top)},
        start_new_session=True,
    )
    group = process.pid
    while len([*Path().glob(".ferrum-verify-cache/reports/*/*")]) < 20:
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(group, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    done = len(json.loads(Path("report.json").read_text())["documents"])
    assert f"Interrupted: the report covers {done} of the documents." in err
    assert 0 < done < len(plans)
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("a process of the run is left")


def test_what_a_folder_holds_besides_does_not_depend_on_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plans").mkdir()
    Path("plans/sound.json").write_text(json.dumps(sample("fragment")), encoding="utf-8")
    Path("plans/other.json").write_text('{"hello": 1}', encoding="utf-8")
    expected = audited(capsys, "--no-cache", "plans")
    assert expected[0] == 0
    assert audited(capsys, "plans/other.json", "plans/sound.json")[0] == 2
    assert audited(capsys, "plans") == expected
