"""``ferrum-verify contracts``: exit status and formats."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import contracts, run
from ferrum_verify.findings.errors import DocumentError
from ferrum_verify.limits import Limits
from ferrum_verify.report.formats import FORMATS
from tests.contracts.catalogs import attention, contract_of

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("catalog", "program", "policy", "bundle"):
        write(tmp_path / f"{name}.json", sample(name))
    return tmp_path


def write(path: Path, document: Json) -> None:
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")


def head_of(folder: Path, kind: str) -> None:
    catalog = sample("catalog")
    match kind:
        case "breaking":
            contract_of(catalog)["boundaries"]["prefix"]["alignment"] = 8
        case "compatible":
            contract_of(catalog)["boundaries"]["prefix"]["alignment"] = 2
        case "identity":
            attention(catalog)["provider_implementation_fingerprint"] = "0" * 64
        case "estimator":
            attention(catalog)["resource_estimator_implementation_fingerprint"] = "0" * 64
    write(folder / "head.json", catalog)


def test_a_folder_of_plans_is_taken_as_audit_takes_one(folder: Path, capsys: Any) -> None:
    head_of(folder, "breaking")
    compare = ["contracts", "compare", "catalog.json", "head.json", "--no-prove", "--plan"]
    plans = folder / "plans"
    (plans / "deep").mkdir(parents=True)
    assert run([*compare, "plans"]) == 2
    assert "The folder plans holds no document" in capsys.readouterr().err
    for name in ("catalog", "program", "policy", "schedule"):
        write(plans / f"{name}.json", sample(name))
    (plans / "settings.json").write_text('{"of": "another tool"}')
    assert run([*compare, "plans"]) == 2
    assert "The folder plans holds no execution plan." in capsys.readouterr().err
    for name in ("a", "deep/b"):
        write(plans / f"{name}.json", sample("bundle"))
    assert run([*compare, "plans", "--format", "json"]) == 1
    judged = [each["source"] for each in json.loads(capsys.readouterr().out)["documents"]]
    assert judged == ["head.json", "plans/a.json", "plans/deep/b.json"]
    # What may hold a plan that is not judged is refused, as it is under its own name.
    write(plans / "fragment.json", sample("fragment"))
    assert run([*compare, "plans"]) == 2
    assert "fragment.json is a fragment and holds no execution plan" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "status"),
    [("breaking", 1), ("compatible", 0), ("identity", 0), ("estimator", 3), ("same", 0)],
)
@pytest.mark.parametrize("proofs", ["--prove", "--no-prove"])
def test_exit_status_of_a_comparison(folder: Path, kind: str, status: int, proofs: str) -> None:
    head_of(folder, kind)
    arguments = ["compare", "catalog.json", "head.json", "--plan", "bundle.json", proofs]
    assert run(["contracts", *arguments]) == status
    # Without the plan, an estimator is only another build.
    expected = 0 if kind == "estimator" else status
    assert run(["contracts", "compare", "catalog.json", "head.json", proofs]) == expected


def test_exit_status_of_a_check(folder: Path) -> None:
    against = ["--program", "program.json", "--policy", "policy.json", "--plan", "bundle.json"]
    assert run(["contracts", "check", "catalog.json", *against]) == 0
    assert run(["contracts", "check", "bundle.json"]) == 0
    catalog = sample("catalog")
    catalog["providers"]["operation.norm"] = []
    write(folder / "head.json", catalog)
    assert run(["contracts", "check", "head.json"]) == 0
    assert run(["contracts", "check", "head.json", *against]) == 1


def test_the_counterexample_in_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head_of(folder, "breaking")
    assert run(["contracts", "compare", "catalog.json", "head.json"]) == 1
    text = capsys.readouterr().out
    assert text.startswith("VIOLATED  head.json  (catalog)\n")
    shown = " ".join(text.split())
    assert "4 tokens permitted by BASE (4 or more tokens, by 4) refused by HEAD" in shown
    assert "refused by HEAD (4 or more tokens, by 8)" in shown
    assert "1 refuted" in text


@pytest.mark.parametrize("name", list(FORMATS))
def test_every_format_tells_both_documents(folder: Path, name: str) -> None:
    head_of(folder, "breaking")
    status = run(
        [
            "contracts",
            "compare",
            "catalog.json",
            "head.json",
            "--plan",
            "bundle.json",
            "--format",
            name,
            "-o",
            "report",
        ]
    )
    assert status == 1
    text = (folder / "report").read_text(encoding="utf-8")
    for rule in ("contract.prefix-narrowed", "contract.plan-boundary-lost"):
        assert rule in text
    for document in ("head.json", "bundle.json"):
        assert document in text


def test_json_holds_the_facts(folder: Path) -> None:
    head_of(folder, "breaking")
    run(["contracts", "compare", "catalog.json", "head.json", "--format", "json", "-o", "report"])
    report = json.loads((folder / "report").read_text(encoding="utf-8"))
    (document,) = report["documents"]
    assert document["kind"] == "catalog"
    assert document["obligations"] == {
        "proved": 0,
        "refuted": 1,
        "undecided": 0,
        "vacuous": 0,
        "formulas": 1,
    }
    (narrowed,) = document["findings"]
    owner = {"operation": "operation.attention", "provider": "provider.attention.reference"}
    assert narrowed["counterexample"] == {
        "kind": "span",
        "tokens": 4,
        "permitted": {"by": "base", "prefix": {"minimum_tokens": 4, "alignment": 4}, **owner},
        "refused": {"by": "head", "prefix": {"minimum_tokens": 4, "alignment": 8}, **owner},
        "permitted_by": "BASE (4 or more tokens, by 4)",
        "refused_by": "HEAD (4 or more tokens, by 8)",
    }
    assert narrowed["expected"] == {"minimum_tokens": 4, "alignment": 4}
    assert narrowed["actual"] == {"minimum_tokens": 4, "alignment": 8}


def test_every_location_is_in_its_document(folder: Path) -> None:
    """Code scanning shows a finding at its line; a pointer that leads nowhere has none."""
    from ferrum_verify.catalogue import catalogue
    from ferrum_verify.catalogue.examples import broken_document, report_of
    from tests.contracts.compatible_changes import COMPATIBLE_CHANGES

    shown = [rule.example for rule in catalogue().values() if rule.family == "contract"]
    examples = [each for each in shown if each is not None and each.command != "audit"]
    assert len(examples) > 40
    for example in [*examples, *COMPATIBLE_CHANGES.values()]:
        edited, sound = broken_document(example), sample(example.sample)
        head, base = (sound, edited) if example.reverse else (edited, sound)
        first, *plans = report_of(example).documents
        cases = [(first, head)] + [(each, base) for each in plans[:1]]
        for report, document in cases:
            for finding in report.findings:
                resolve(document, finding.location)


def resolve(document: Any, pointer: str) -> None:
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        document = document[int(key)] if isinstance(document, list) else document[key]


def test_a_baseline_hides_what_was_accepted(folder: Path) -> None:
    head_of(folder, "breaking")
    compare = ["contracts", "compare", "catalog.json", "head.json"]
    assert run([*compare, "--write-baseline", "known.json"]) == 0
    assert run([*compare, "--baseline", "known.json"]) == 0
    head_of(folder, "same")
    assert run([*compare, "--baseline", "known.json"]) == 1  # the known finding is gone


@pytest.mark.parametrize("command", ["check", "compare"])
def test_limits_of_the_proofs(folder: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    given = []

    def recorded(*_: Any, **options: Any) -> Any:
        given.append(options["limits"])
        raise DocumentError("enough")

    for name in ("check_contracts", "compare_contracts"):
        monkeypatch.setattr(contracts, name, recorded)
    documents = ["catalog.json"] * (1 if command == "check" else 2)
    limits = ["--obligation-limit", "2.5", "--proof-limit", "7"]
    run(["contracts", command, *documents, *limits])
    run(["contracts", command, *documents])
    assert [(each.obligation_seconds, each.document_seconds) for each in given] == [
        (2.5, 7.0),
        (Limits().obligation_seconds, Limits().document_seconds),
    ]
