"""Options as other checkers have them, on the command line and by the same names in settings."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from ferrum_verify import audit as api_audit
from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import run

FAULTS: dict[str, Any] = {"/memory/static_bytes": 1, "/nodes/3/dependencies": []}
TABLE = "[tool.ferrum-verify]\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write("plan.json", FAULTS)
    return tmp_path


def write(path: str, edits: dict[str, Any]) -> None:
    document = sample("fragment")
    apply_edits(document, edits)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(document))


def audit(capsys: Any, *arguments: str) -> tuple[int, str, str]:
    status = run(["audit", "--no-prove", *(arguments or ("plan.json",))])
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def test_selected_rules_are_shown_alone_and_the_verdict_stays(capsys: Any) -> None:
    status, text, remarks = audit(capsys, "plan.json", "--select", "static")
    assert status == 1
    assert "static.total-mismatch" in text
    assert "slot." not in text
    assert text.startswith("VIOLATED (")
    assert "not among the selected rules" in remarks
    status, text, _ = audit(capsys, "plan.json", "--select", "integrity,checkpoint")
    assert status == 0
    assert text.startswith("VIOLATED (")


def test_ignored_rules_and_families(capsys: Any) -> None:
    status, text, remarks = audit(capsys, "plan.json", "--ignore", "static.total-mismatch")
    assert status == 1
    assert "static." not in text
    assert "1 of static.total-mismatch: ignored on the command line" in remarks
    status, _, remarks = audit(capsys, "plan.json", "--ignore", "static.total-mismach")
    assert status == 2
    assert "static.total-mismatch may be meant" in remarks


def test_exit_zero_and_what_cannot_be_read(capsys: Any) -> None:
    assert audit(capsys, "plan.json", "--exit-zero")[0] == 0
    Path("broken.json").write_text("{")
    assert audit(capsys, "broken.json", "--exit-zero")[0] == 2


def test_quiet_says_nothing_where_all_is_well(capsys: Any) -> None:
    write("sound.json", {})
    assert audit(capsys, "sound.json", "--quiet") == (0, "", "")
    status, text, remarks = audit(capsys, "plan.json", "-q", "--ignore", "static")
    assert (status, remarks) == (1, "")
    assert text.startswith("VIOLATED")


def test_statistics_count_the_findings_of_each_rule(capsys: Any) -> None:
    _, text, _ = audit(capsys, "plan.json", "plan.json", "--statistics")
    lines = text.splitlines()
    assert "2  static.total-mismatch  (error)" in [line.strip() for line in lines]
    assert lines[-1].startswith("VIOLATED  2 documents: ")


def test_concise_is_a_line_a_finding_with_its_place(capsys: Any) -> None:
    status, text, _ = audit(capsys, "plan.json", "--format", "concise")
    *lines, last = text.splitlines()
    assert status == 1
    assert last.startswith("VIOLATED 1 document: ")
    place = "plan.json:1:"
    assert all(line.startswith(place) for line in lines)
    content = Path("plan.json").read_text()
    line = next(line for line in lines if "static.total-mismatch" in line)
    column = int(line.removeprefix(place).partition(":")[0])
    assert content[column - 1 :].startswith('1, "') or content[column - 1] in '1"'


def test_concise_leaves_out_what_follows_unless_all_is_asked_for(capsys: Any) -> None:
    report = json.loads(audit(capsys, "plan.json", "--format", "json")[1])
    findings = report["documents"][0]["findings"]
    follow = [finding for finding in findings if "cause" in finding]
    assert follow
    *lines, last = audit(capsys, "plan.json", "--format", "concise")[1].splitlines()
    assert len(lines) == len(findings) - len(follow)
    assert "follows from" not in "".join(lines)
    assert last.endswith(f"; {len(follow)} of them follow from others: --all shows them")
    *lines, last = audit(capsys, "plan.json", "--format", "concise", "--all")[1].splitlines()
    assert len(lines) == len(findings)
    assert "--all" not in last
    marked = [line for line in lines if " (follows from " in line]
    assert len(marked) == len(follow)
    # Each cause is named as it begins its own line.
    causes = {line.rpartition(" (follows from ")[2][:-1].partition(" at ") for line in marked}
    assert all(
        any(line.startswith(at) and f" {rule}: " in line for line in lines)
        for rule, _, at in causes
    )


def test_text_names_file_line_and_column(capsys: Any) -> None:
    _, text, _ = audit(capsys)
    assert "error  static.total-mismatch  plan.json:1:" in text


def test_colour_where_it_is_forced(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;31mVIOLATED" in audit(capsys)[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in audit(capsys)[1]
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "0")
    assert "\x1b[" not in audit(capsys)[1]


def test_a_folder_is_audited_with_what_is_in_it(capsys: Any) -> None:
    write("plans/b.json", {})
    write("plans/deep/a.json", FAULTS)
    Path("plans/settings.json").write_text('{"of": "another tool"}')
    Path("plans/.hidden.json").write_text("{")
    Path("plans/notes.txt").write_text("no plan")
    status, text, _ = audit(capsys, "plans", "--format", "json")
    assert status == 1
    sources = {each["source"]: each["verdict"] for each in json.loads(text)["documents"]}
    assert sources == {"plans/b.json": "verified", "plans/deep/a.json": "violated"}
    Path("none").mkdir()
    status, text, _ = audit(capsys, "none")
    assert status == 2
    assert "The folder none holds no document" in " ".join(text.split())


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_schedule_in_a_folder_is_named_and_leaves_the_verdict(jobs: str, capsys: Any) -> None:
    schedule = json.dumps(sample("schedule"))
    for path in ("plans/one.json", "plans/two.json"):
        write(path, {})
        Path(path.replace(".json", ".schedule.json")).write_text(schedule)
    status, text, remarks = audit(capsys, "plans", "--jobs", jobs)
    assert status == 0
    assert text.splitlines()[-1].startswith("VERIFIED  2 documents: 2 verified")
    said = "Not audited, as a schedule is no plan: plans/one.schedule.json"
    assert f"{said} and 1 more schedule. --schedule judges plans under one." in remarks
    # The one that plans are judged under is not told to be left out.
    used = ("--schedule", "plans/one.schedule.json")
    _, _, remarks = audit(capsys, "plans", *used, "--jobs", jobs)
    assert "Not audited, as a schedule is no plan: plans/two.schedule.json. --sch" in remarks


def test_nothing_is_verified_where_a_folder_holds_schedules_alone(capsys: Any) -> None:
    Path("plans").mkdir()
    value = sample("schedule")
    Path("plans/schedule.json").write_text(json.dumps(value))
    status, text, remarks = audit(capsys, "plans")
    assert status == 2
    assert text.startswith("UNREADABLE")
    assert "plans/schedule.json" in remarks
    assert api_audit("plans", prove=False).verdict == "unreadable"
    # Named by itself, it is judged.
    assert audit(capsys, "plans/schedule.json")[0] == 3
    # What is not a sound one might be a plan.
    Path("plans/schedule.json").write_text(json.dumps(value | sample("fragment")))
    write("plans/sound.json", {})
    assert audit(capsys, "plans")[0] != 0
    assert api_audit("plans", prove=False).verdict != "verified"
    Path("plans/schedule.json").write_text(json.dumps(value))
    assert api_audit("plans", prove=False).verdict == "verified"


def test_a_shard_of_schedules_alone_fails_nothing(capsys: Any) -> None:
    write("plans/plan.json", {})
    Path("plans/schedule.json").write_text(json.dumps(sample("schedule")))
    for shard in ("1/2", "2/2"):
        assert audit(capsys, "plans", "--shard", shard)[0] == 0
    Path("plans/plan.json").write_text(json.dumps(sample("schedule")))
    for shard in ("1/2", "2/2"):
        assert audit(capsys, "plans", "--shard", shard)[0] == 3


def test_settings_go_by_the_names_of_options(capsys: Any) -> None:
    Path("pyproject.toml").write_text(
        f'{TABLE}format = "concise"\nselect = ["static"]\nexit-zero = true\n'
        "obligation-limit = 3\nproof-limit = 7\nmemory-limit = 512\n"
    )
    status, text, _ = audit(capsys)
    assert status == 0
    assert text.splitlines()[0].startswith("plan.json:1:")
    assert text.splitlines()[1].startswith("VIOLATED (")
    _, text, _ = audit(capsys, "plan.json", "--format", "json")
    assert text.startswith("{")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('format = "pdf"', "format is 'pdf'; there are text"),
        ("quiet = 1", "quiet is 1, where true or false belongs"),
        ("proof-limit = -1", "proof-limit is -1, where a number above 0 belongs"),
        ("memory-limit = 512.5", "memory-limit is 512.5, where a whole number belongs"),
        ('select = "static"', "select is 'static', where a list of rules or families belongs"),
        ('select = ["statik"]', "select names the rule statik, which does not exist"),
        ("per-file-ignores = 3", "per-file-ignores is no table"),
        ('[tool.ferrum-verify.per-file-ignores."a"]\nslot = "x"', "names the rule slot, which"),
    ],
)
def test_settings_that_cannot_be(line: str, said: str, capsys: Any) -> None:
    Path("pyproject.toml").write_text(f"{TABLE}{line}\n")
    status, _, remarks = audit(capsys)
    assert status == 2
    assert said in remarks


def test_rules_are_ignored_for_some_files(capsys: Any) -> None:
    write("old/plan.json", FAULTS)
    Path("pyproject.toml").write_text(
        '[tool.ferrum-verify.per-file-ignores."old/*.json"]\n'
        '"static.total-mismatch" = "from before"\n'
    )
    _, text, remarks = audit(capsys, "plan.json", "old/plan.json", "--format", "json")
    rules = {
        each["source"]: {finding["rule"] for finding in each["findings"]}
        for each in json.loads(text)["documents"]
    }
    assert "static.total-mismatch" in rules["plan.json"]
    assert "static.total-mismatch" not in rules["old/plan.json"]
    assert "1 of static.total-mismatch: from before" in remarks


def test_watching_audits_again_when_a_file_changes(
    capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = 0

    def sleep(_seconds: float) -> None:
        nonlocal waits
        waits += 1
        if waits == 2:
            write("plan.json", {})
        elif waits == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", sleep)
    status, text, remarks = audit(capsys, "plan.json", "--watch", "--format", "concise")
    assert status == 0
    assert [line.split()[0] for line in text.splitlines() if "document" in line] == [
        "VIOLATED",
        "VERIFIED",
    ]
    assert remarks.count("Waiting for a file to change") == 2
    assert audit(capsys, "-", "--watch")[0] == 2
