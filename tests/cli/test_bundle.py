"""``bundle`` and ``audit --with``: separate files put together, and what fits what."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import models
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import bundle as bundling
from ferrum_verify.cli import run
from ferrum_verify.reading.joining import Match
from ferrum_verify.reading.json_values import MAXIMUM_DEPTH

WHOLE = models.bundle("qwen3.5-4b", 1)
PAYLOAD = WHOLE["plan"]["payload"]
SOURCES = ("program", "catalog", "policy")
HASHES = {
    "program": PAYLOAD["program_fingerprint"],
    "catalog": PAYLOAD["capability_catalog_fingerprint"],
    "policy": PAYLOAD["policy_fingerprint"],
}
OTHER = models.bundle("llama-3.1-8b", 1)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in WHOLE.items():
        put(f"{name}.json", value)


def put(name: str, value: Any, **options: Any) -> None:
    Path(name).write_text(json.dumps(value, **options))


def held(name: str) -> Any:
    return json.loads(Path(name).read_text())


@pytest.mark.parametrize(
    "order",
    [("plan", *SOURCES), (*reversed(SOURCES), "plan"), ("catalog", "plan", "policy", "program")],
)
def test_files_in_any_order_make_the_bundle(order: tuple[str, ...], capsys: Any) -> None:
    assert run(["bundle", *(f"{name}.json" for name in order), "-o", "all.json"]) == 0
    assert json.dumps(held("all.json")) == json.dumps(
        {name: WHOLE[name] for name in ("plan", *SOURCES)}
    )
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        f"{name}: {name}.json fits: plan.json was compiled from the {name} {HASHES[name]}"
        for name in SOURCES
    ]
    assert run(["audit", "--no-prove", "all.json"]) == 0


def test_what_is_not_given_is_named_with_its_hash(capsysbinary: Any) -> None:
    assert run(["bundle", "plan.json", "policy.json"]) == 0
    shown = capsysbinary.readouterr()
    assert list(json.loads(shown.out)) == ["plan", "policy"]
    missing = f"catalog: not given; plan.json was compiled from the catalog {HASHES['catalog']}"
    assert missing in shown.err.decode().splitlines()


@pytest.mark.parametrize("name", SOURCES)
def test_what_does_not_fit_is_said_with_both_hashes(name: str, capsys: Any) -> None:
    put("other.json", OTHER[name])
    key = {"catalog": "capability_catalog_fingerprint"}.get(name, f"{name}_fingerprint")
    assert run(["bundle", "other.json", "plan.json", "-o", "all.json"]) == 1
    shown = capsys.readouterr().err
    assert (
        f"{name}: other.json does not fit: plan.json was compiled from the {name} {HASHES[name]}, "
        f"and this one is {OTHER['plan']['payload'][key]}\n"
    ) in shown
    assert "Nothing is written" in shown
    assert not Path("all.json").exists()
    # Beside the one that fits it still does not belong there.
    assert run(["bundle", "plan.json", "other.json", f"{name}.json", "-o", "all.json"]) == 1
    assert not Path("all.json").exists()


def test_a_source_whose_keys_were_sorted_may_fit_or_not(capsys: Any) -> None:
    put("sorted.json", WHOLE["catalog"], sort_keys=True)
    assert run(["bundle", "plan.json", "sorted.json", "-o", "all.json"]) == 3
    assert "sorted.json may fit or not, as its keys have been sorted" in capsys.readouterr().err
    assert list(held("all.json")) == ["plan", "catalog"]
    put("again.json", WHOLE["catalog"], sort_keys=True)
    assert run(["bundle", "plan.json", "sorted.json", "again.json"]) == 2
    assert "give one, instead of sorted.json and again.json" in capsys.readouterr().err
    # The one in the engine's order is known to fit, and is taken.
    assert run(["bundle", "plan.json", "sorted.json", "catalog.json", "-o", "all.json"]) == 0
    assert list(held("all.json")["catalog"]) == list(WHOLE["catalog"])
    # A policy's hash covers sorted keys: nothing is lost.
    put("policy.json", WHOLE["policy"], sort_keys=True)
    assert run(["bundle", "plan.json", "policy.json", "-o", "all.json"]) == 0
    put("policy.json", OTHER["policy"], sort_keys=True)
    assert run(["bundle", "plan.json", "policy.json", "-o", "all.json"]) == 1


def test_a_plan_that_states_no_hash(capsys: Any) -> None:
    payload = {key: value for key, value in PAYLOAD.items() if key != "program_fingerprint"}
    put("plan.json", {"payload": payload, "plan_hash": WHOLE["plan"]["plan_hash"]})
    assert run(["bundle", "plan.json", "program.json", "-o", "all.json"]) == 3
    assert (
        "program: program.json may fit or not: plan.json has no `program_fingerprint`"
        in capsys.readouterr().err
    )
    put("plan.json", {"payload": {"program_fingerprint": "é" * 10_000}, "plan_hash": 5})
    assert run(["bundle", "plan.json", "program.json", "-o", "all.json"]) == 1
    assert len(capsys.readouterr().err) < 1_000
    put("plan.json", {"payload": 5, "plan_hash": 5})
    assert run(["bundle", "plan.json", "program.json", "-o", "all.json"]) == 3


def test_a_bundle_and_a_file_of_lines_give_their_parts(capsys: Any) -> None:
    put("half.json", {"plan": WHOLE["plan"], "policy": WHOLE["policy"], "program": None})
    Path("rest.jsonl").write_text(
        f"{json.dumps(WHOLE['catalog'])}\n{json.dumps(WHOLE['program'])}\n"
    )
    Path("rest.jsonl.gz").write_bytes(gzip.compress(Path("rest.jsonl").read_bytes()))
    assert run(["bundle", "half.json", "rest.jsonl.gz", "-o", "all.json"]) == 0
    assert held("all.json") == WHOLE
    shown = capsys.readouterr().err
    assert "policy: the policy of half.json fits: the plan of half.json was compiled" in shown
    assert "program: rest.jsonl.gz:2 fits" in shown


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["catalog.json"], "None of the files holds a plan."),
        (["plan.json", "plan.json"], "these files hold 2: plan.json and plan.json"),
        (["plan.json", "missing.json"], "missing.json: There is no file missing.json."),
        (["plan.json", "."], ".: The path . is a directory, not a file."),
        (["plan.json", "/dev/null"], "/dev/null: The text is empty"),
        (["plan.json", "/dev/zero"], "/dev/zero: The document has more than 67,108,864 bytes"),
        (["plan.json", "fragment.json"], "fragment.json is a fragment, and holds no plan, program"),
        (
            ["manifest.json"],
            "manifest.json is no document of a known kind; it names a plan by its id or hash",
        ),
        (["plan.json", "no\x1b.json"], r"There is no file no\x1b.json."),
        (["plan.json", "no\udcff.json"], r"There is no file no\udcff.json."),
        (["plan.json", "twice.json"], "/a: The key"),
    ],
)
def test_what_cannot_be_put_together(names: list[str], message: str, capsys: Any) -> None:
    put("fragment.json", sample("fragment"))
    put("manifest.json", {"plan_id": PAYLOAD["plan_id"], "program_fingerprint": "0" * 64})
    Path("twice.json").write_text('{"a": 1, "a": 2}')
    assert run(["bundle", *names, "-o", "all.json"]) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.out == ""
    assert not Path("all.json").exists()
    given = [name for name in names if name != "plan.json"]
    if not message.startswith(("None", "these")):
        assert run(["audit", "--no-prove", "plan.json", *with_files(*given)]) == 2
        assert message in capsys.readouterr().err


def test_a_bundle_that_nobody_could_read_is_not_written(monkeypatch: Any, capsys: Any) -> None:
    deep: Any = 0
    for _ in range(MAXIMUM_DEPTH - 1):
        deep = [deep]
    put("deep.json", WHOLE["policy"] | {"deep": deep})
    assert run(["audit", "--no-prove", "deep.json"]) == 1  # the file itself keeps to the limits
    assert run(["audit", "--no-prove", "plan.json", "--with", "deep.json"]) == 2
    assert "nests deeper than 127 levels" in capsys.readouterr().out
    monkeypatch.setattr(bundling, "match", lambda _plan, part: Match(part, "fits"))
    assert run(["bundle", "plan.json", "deep.json", "-o", "all.json"]) == 2
    assert "The bundle could not be read: The document nests deeper" in capsys.readouterr().err
    assert not Path("all.json").exists()


def test_a_file_whose_name_is_not_utf_8(capsys: Any) -> None:
    name = os.fsdecode(b"catalog\xff.json")
    Path("catalog.json").rename(name)
    assert run(["bundle", "plan.json", name, "-o", "all.json"]) == 0
    assert r"catalog: catalog\udcff.json fits" in capsys.readouterr().err
    beside = with_files(name, "program.json", "policy.json")
    assert run(["audit", "--no-prove", "plan.json", *beside, "--format", "sarif"]) == 0


def with_files(*names: str) -> list[str]:
    return [word for name in names for word in ("--with", name)]


def audited(*arguments: str, capsys: Any) -> tuple[int, dict[str, Any]]:
    status = run(["audit", "--no-prove", "--format", "json", *arguments])
    document = json.loads(capsys.readouterr().out)["documents"][0]
    del document["timings"], document["source"]
    return status, document


def test_audit_with_files_is_the_audit_of_their_bundle(capsys: Any) -> None:
    beside = with_files("program.json", "catalog.json", "policy.json")
    put("all.json", WHOLE)
    assert audited("plan.json", *beside, capsys=capsys) == audited("all.json", capsys=capsys)
    # What does not fit is found, with both hashes; so is what is given in place of what fits.
    put("other.json", OTHER["catalog"])
    for document in ("plan.json", "all.json"):
        status, report = audited(document, "--with", "other.json", capsys=capsys)
        (finding,) = (
            each for each in report["findings"] if each["rule"] == "integrity.catalog-fingerprint"
        )
        assert status == 1
        assert finding["actual"] == HASHES["catalog"]
        assert finding["expected"] == OTHER["plan"]["payload"]["capability_catalog_fingerprint"]
    # Of several the one that fits is taken.
    rest = with_files("program.json", "policy.json", "other.json")
    both = (*rest, "--with", "catalog.json")
    assert audited("plan.json", *both, capsys=capsys)[0] == 0
    put("sorted.json", WHOLE["catalog"], sort_keys=True)
    status, report = audited("plan.json", *rest, "--with", "sorted.json", capsys=capsys)
    assert status == 0
    assert "integrity.keys-sorted" in [each["rule"] for each in report["findings"]]
    put("bundle.json", {"plan": WHOLE["plan"], "surprise": 1})
    status, report = audited("bundle.json", "--with", "catalog.json", capsys=capsys)
    assert status == 1
    assert "/surprise" in [each["location"] for each in report["findings"]]


def test_audit_with_says_what_took_nothing(capsys: Any) -> None:
    put("fragment.json", sample("fragment"))
    put("memory.json", PAYLOAD["memory"])
    beside = with_files("program.json", "catalog.json", "policy.json")
    assert run(["audit", "--no-prove", "plan.json", *beside]) == 0
    assert capsys.readouterr().err == ""
    assert run(["audit", "--no-prove", "plan.json", "fragment.json", *beside]) == 0
    assert capsys.readouterr().err == (
        "Audited without what --with names, for want of a plan: fragment.json.\n"
    )
    assert run(["audit", "--no-prove", "memory.json", "fragment.json", *beside]) == 3
    assert "memory.json and 1 more document." in capsys.readouterr().err
    assert run(["audit", "plan.json", "--with", "plan.json"]) == 2
    assert "holds no program, catalog or policy" in capsys.readouterr().err


def test_findings_stand_in_the_file_that_they_are_of(capsys: Any) -> None:
    policy = WHOLE["policy"] | {"fingerprint": "0" * 64}
    put("policy.json", policy, indent=1)
    line = next(
        number
        for number, text in enumerate(Path("policy.json").read_text().splitlines(), start=1)
        if text.startswith(' "fingerprint"')
    )
    put("plan.json", {"payload": PAYLOAD, "plan_hash": "0" * 64}, indent=1)
    last = len(Path("plan.json").read_text().splitlines()) - 1
    shown = {}
    for name in ("github", "sarif", "junit", "markdown"):
        assert run(
            ["audit", "--no-prove", "plan.json", "--with", "policy.json", "--format", name]
        ) == (1)
        shown[name] = capsys.readouterr().out
    assert f"::error file=policy.json,line={line}," in shown["github"]
    assert f"::error file=plan.json,line={last}," in shown["github"]
    assert f"`/policy/fingerprint`, line {line} of `policy.json`" in shown["markdown"]
    assert f"`/plan/plan_hash`, line {last}\n" in shown["markdown"]
    cases = [each.attrib for each in ET.fromstring(shown["junit"]).iter("testcase")]
    assert {("policy.json", str(line)), ("plan.json", str(last))} <= {
        (each["file"], each["line"]) for each in cases
    }
    log = json.loads(shown["sarif"])["runs"][0]
    files = [each["location"]["uri"] for each in log["artifacts"]]
    places = [
        each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for each in log["results"]
    ]
    assert files == ["plan.json", "policy.json"]
    assert sorted(set(places)) == files
