"""Baselines: known findings are hidden, changes fail, and another audit's baseline is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import run
from ferrum_verify.cli.schemas import schema_of
from ferrum_verify.integrations.baseline import Known

DEFINITIONS = {"$defs": schema_of("report")["$defs"]}
FAULTS: dict[str, Any] = {"/memory/static_bytes": 1, "/nodes/3/dependencies": []}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_plan(path: str, edits: dict[str, Any] = FAULTS) -> None:
    document = sample("fragment")
    apply_edits(document, edits)
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text(json.dumps(document))


def audit(capsys: Any, *arguments: str) -> tuple[int, list[str], str]:
    status = run(["audit", "--format", "json", "--no-prove", *arguments])
    shown = capsys.readouterr()
    report = json.loads(shown.out) if shown.out else {"documents": []}
    rules = [finding["rule"] for each in report["documents"] for finding in each["findings"]]
    return status, rules, shown.err


def test_known_findings_are_hidden(capsys: Any) -> None:
    write_plan("plan.json")
    status, rules, remarks = audit(capsys, "plan.json", "--write-baseline", "known.json")
    assert status == 0
    assert len(rules) > 1
    assert f"{len(rules)} findings written to " in remarks
    known = json.loads(Path("known.json").read_text())
    assert known["schema"] == "ferrum-verify/baseline/v1"
    assert [each["rule"] for each in known["documents"][0]["findings"]] == rules
    assert known["documents"][0]["source"] == "plan.json"
    assert audit(capsys, "plan.json") == (1, rules, "")
    status, left, remarks = audit(capsys, "plan.json", "--baseline", "known.json")
    assert (status, left) == (0, [])
    assert f"Hidden, as known.json knows them: {len(rules)} findings; 0 new, 0 gone." in remarks


def test_a_new_finding_fails(capsys: Any) -> None:
    write_plan("plan.json")
    audit(capsys, "plan.json", "--write-baseline", "known.json")
    write_plan("plan.json", FAULTS | {"/memory/reserve_bytes": "8192"})
    status, left, remarks = audit(capsys, "plan.json", "--baseline", "known.json")
    assert status == 1
    assert left == ["wire.type"]
    assert "1 new" in remarks


def test_a_new_note_fails_too(capsys: Any) -> None:
    bundle = sample("bundle")
    Path("plan.json").write_text(json.dumps(bundle))
    _, rules, _ = audit(capsys, "plan.json", "--write-baseline", "known.json")
    known = json.loads(Path("known.json").read_text())
    bundle["catalog"] = json.loads(json.dumps(bundle["catalog"], sort_keys=True))
    Path("plan.json").write_text(json.dumps(bundle))
    status, left, _ = audit(capsys, "plan.json")
    assert status == 0
    assert left != rules == [each["rule"] for each in known["documents"][0]["findings"]]
    status, left, remarks = audit(capsys, "plan.json", "--baseline", "known.json")
    assert status == 1
    assert left
    assert f"{len(left)} new" in remarks


def test_a_finding_that_is_gone_fails_and_is_named(capsys: Any) -> None:
    write_plan("plan.json")
    _, rules, _ = audit(capsys, "plan.json", "--write-baseline", "known.json")
    write_plan("plan.json", {"/nodes/3/dependencies": []})
    status, left, remarks = audit(capsys, "plan.json", "--baseline", "known.json")
    assert (status, left) == (1, [])
    assert f"known.json knows them: {len(rules) - 1} findings; 0 new, 1 gone." in remarks
    assert "Gone from plan.json: static.total-mismatch at /memory/static_bytes. " in remarks
    assert "--write-baseline known.json" in remarks


def test_each_known_finding_hides_one(capsys: Any) -> None:
    write_plan("plan.json")
    _, rules, _ = audit(capsys, "plan.json", "--write-baseline", "known.json")
    known = json.loads(Path("known.json").read_text())
    known["documents"][0]["findings"] *= 2
    Path("known.json").write_text(json.dumps(known))
    status, left, remarks = audit(capsys, "plan.json", "--baseline", "known.json")
    assert (status, left) == (1, [])
    assert f"0 new, {len(rules)} gone." in remarks


def test_an_open_question_can_be_known(capsys: Any) -> None:
    Path("memory.json").write_text(json.dumps(sample("memory-plan")))
    assert audit(capsys, "memory.json")[0] == 3
    assert audit(capsys, "memory.json", "--write-baseline", "known.json")[0] == 0
    assert audit(capsys, "memory.json", "--baseline", "known.json")[:2] == (0, [])


def test_order_that_was_not_judged_is_never_known(capsys: Any) -> None:
    """Any fault may come up behind it and be told of no more."""
    write_plan("plan.json", {"/nodes/5/dependencies": ["node/lost"]})
    audit(capsys, "plan.json", "--write-baseline", "known.json")
    status, rules, _ = audit(capsys, "plan.json", "--baseline", "known.json")
    assert (status, rules) == (3, ["graph.order-not-judged"])


def test_a_baseline_is_updated_in_one_run(capsys: Any) -> None:
    write_plan("plan.json")
    audit(capsys, "plan.json", "--write-baseline", "known.json")
    write_plan("plan.json", {"/memory/reserve_bytes": "8192"})
    both = ("--baseline", "known.json", "--write-baseline", "known.json")
    status, left, remarks = audit(capsys, "plan.json", *both)
    assert status == 0
    assert left == ["wire.type"]
    assert "gone." in remarks
    assert audit(capsys, "plan.json", "--baseline", "known.json")[:2] == (0, [])


def test_paths_are_those_from_the_baseline(
    capsys: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_plan("plans/plan.json")
    audit(capsys, "./plans/../plans/plan.json", "--write-baseline", "plans/known.json")
    monkeypatch.chdir(folder / "plans")
    assert audit(capsys, "plan.json", "--baseline", "known.json")[:2] == (0, [])
    absolute = (str(folder / "plans" / "plan.json"), "--baseline", "../plans/known.json")
    assert audit(capsys, *absolute)[:2] == (0, [])


def test_a_part_of_the_documents_can_be_audited(capsys: Any) -> None:
    write_plan("a.json")
    write_plan("b.json", {})
    lines = [json.loads(Path(name).read_text()) for name in ("a.json", "b.json")]
    Path("c.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    all_of_them = ("a.json", "b.json", "c.jsonl")
    audit(capsys, *all_of_them, "--write-baseline", "known.json")
    known = json.loads(Path("known.json").read_text())
    sources = [each["source"] for each in known["documents"]]
    assert sources == ["a.json", "b.json", "c.jsonl:1", "c.jsonl:2"]
    for some in (all_of_them, ("b.json",), ("a.json", "a.json"), ("c.jsonl",)):
        assert audit(capsys, *some, "--baseline", "known.json")[:2] == (0, [])


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        (
            "plan.json",
            ("--execution", "concurrent"),
            "The baseline known.json was written under fenced execution, and this audit ran "
            "under concurrent.",
        ),
    ],
)
def test_the_baseline_of_another_audit_is_refused(
    capsys: Any, name: str, arguments: tuple[str, ...], sentence: str
) -> None:
    write_plan("plan.json")
    write_plan("other.json")
    audit(capsys, "plan.json", "--write-baseline", "known.json")
    status, rules, remarks = audit(capsys, name, "--baseline", "known.json", *arguments)
    assert (status, rules) == (2, [])
    assert sentence in " ".join(remarks.split())


def test_of_a_plan_that_it_does_not_name_nothing_is_hidden(capsys: Any) -> None:
    write_plan("plan.json")
    audit(capsys, "plan.json", "--write-baseline", "known.json")
    Path("other.json").write_text(Path("plan.json").read_text())
    status, rules, remarks = audit(capsys, "plan.json", "other.json", "--baseline", "known.json")
    assert status == 1
    assert rules == audit(capsys, "other.json")[1] != []
    assert "known.json knows nothing of other.json." in " ".join(remarks.split())
    Path("sound.json").write_text(json.dumps(sample("fragment")))
    assert audit(capsys, "sound.json", "plan.json", "--baseline", "known.json")[0] == 0


def test_proofs_are_part_of_what_is_known(capsys: Any) -> None:
    write_plan("plan.json")
    audit(capsys, "plan.json", "--write-baseline", "known.json")
    assert run(["audit", "plan.json", "--baseline", "known.json"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "was written without proofs, and this audit ran with them." in " ".join(
        shown.err.split()
    )


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "{}",
        '{"schema": "ferrum-verify/report/v1"}',
        '{"schema": "ferrum-verify/baseline/v1", "execution": "fast", "proved": true, '
        '"documents": []}',
        '{"schema": "ferrum-verify/baseline/v1", "execution": "fenced", "proved": true, '
        '"documents": [{"source": "plan.json", "findings": [{"rule": 1}]}]}',
        '{"schema": "ferrum-verify/baseline/v1", "execution": "fenced", "proved": true, '
        '"documents": [{"source": "plan.json", "findings": [{"rule": "a", "location": "", '
        '"message": 3}]}]}',
        '{"schema": "ferrum-verify/baseline/v1", "execution": "fenced", "proved": true, '
        '"documents": [{"source": [], "findings": []}]}',
    ],
)
def test_what_is_no_baseline(capsys: Any, text: str) -> None:
    write_plan("plan.json")
    Path("known.json").write_text(text)
    status, rules, remarks = audit(capsys, "plan.json", "--baseline", "known.json")
    assert (status, rules) == (2, [])
    assert "known.json is" in " ".join(remarks.split())
    assert audit(capsys, "plan.json", "--baseline", "lost.json")[0] == 2


def test_what_cannot_have_a_baseline(capsys: Any) -> None:
    Path("plan.json").write_text("{")
    Path("known.json").write_text("before")
    status, _, remarks = audit(capsys, "plan.json", "--write-baseline", "known.json")
    assert status == 2
    assert "plan.json is unreadable, so it can have no baseline" in " ".join(remarks.split())
    assert Path("known.json").read_text() == "before"
    for target in ("no/such/folder/known.json", ".", "-"):
        assert audit(capsys, "plan.json", "--write-baseline", target)[0] == 2


def test_an_unreadable_document_stays_unreadable(capsys: Any) -> None:
    write_plan("plan.json")
    audit(capsys, "plan.json", "--write-baseline", "known.json")
    Path("plan.json").write_text("{")
    status, rules, _ = audit(capsys, "plan.json", "--baseline", "known.json")
    assert (status, rules) == (2, ["wire.not-json"])


def test_what_is_known_is_not_proved(capsys: Any) -> None:
    write_plan("plan.json")
    _, rules, _ = audit(capsys, "plan.json", "--write-baseline", "known.json")
    known = ("audit", "--no-prove", "plan.json", "--baseline", "known.json")
    assert run(known) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"VIOLATED ({len(rules)} known)  plan.json  (fragment, fenced)\n")
    assert text.endswith(f"VIOLATED ({len(rules)} known)  plan.json: no findings\n")
    assert run([*known, "--format", "json"]) == 0
    (document,) = json.loads(capsys.readouterr().out)["documents"]
    assert document["verdict"] == "violated"
    assert [each["rule"] for each in document["hidden"]] == rules
    assert {each["reason"] for each in document["hidden"]} == {"known to known.json"}
    jsonschema.Draft202012Validator(schema_of("report")["$defs"]["hidden"] | DEFINITIONS).validate(
        document["hidden"][0]
    )


@pytest.mark.parametrize("name", ["html", "sarif", "junit", "markdown", "github"])
def test_every_format_names_what_is_hidden(name: str, capsys: Any) -> None:
    write_plan("plan.json")
    _, rules, _ = audit(capsys, "plan.json", "--write-baseline", "known.json")
    known = ("audit", "--no-prove", "plan.json", "--baseline", "known.json", "--format", name)
    assert run(known) == 0
    text = capsys.readouterr().out
    if name == "sarif":
        (log,) = json.loads(text)["runs"]
        assert [each["ruleId"] for each in log["results"]] == rules
        assert {each["suppressions"][0]["justification"] for each in log["results"]} == {
            "known: known to known.json"
        }
        assert (log["properties"]["verdict"], log["properties"]["openVerdict"]) == (
            "violated",
            "verified",
        )
        return
    assert f"({len(rules)} known)" in text
    if name != "github":
        assert all(rule in text for rule in rules)
    if name == "junit":
        assert f'skipped="{len(rules)}"' in text


def test_a_known_finding_keeps_its_name_and_may_change_its_number(capsys: Any) -> None:
    write_plan("plan.json", {"/memory/static_bytes": 1})
    audit(capsys, "plan.json", "--write-baseline", "known.json")
    write_plan("plan.json", {"/memory/static_bytes": 2})
    assert audit(capsys, "plan.json", "--baseline", "known.json")[:2] == (0, [])
    known = json.loads(Path("known.json").read_text())
    (finding,) = known["documents"][0]["findings"]
    finding["message"] = f"{finding['message']} It is of `resource/2`."
    Path("known.json").write_text(json.dumps(known))
    assert audit(capsys, "plan.json", "--baseline", "known.json")[0] == 1


def test_numbers_of_names_tell_findings_apart() -> None:
    one = Known("graph.race", "", "`node/1` and `node/2` meet at bytes 1,024 to 2,048.")
    assert one.unnumbered.message == "`node/1` and `node/2` meet at bytes # to #."
    assert one._replace(message="`node/1` and `node/3`").unnumbered.message.endswith("`node/3`")
