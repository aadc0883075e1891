"""``review``: what a branch changes is audited and compared, and nothing else is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import run
from tests.integrations.repository import (
    FAULTY,
    NARROWED,
    edited,
    environment,
    git,
    repository,
    write,
)

if TYPE_CHECKING:
    from pathlib import Path

SOUND = sample("fragment")
PLAN = {"plan": sample("bundle")["plan"], "program": sample("program")}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def review(capsys: Any, base: str, *arguments: str) -> tuple[int, dict[str, Any], str]:
    """The status, the documents by their source, and what stands on standard error."""
    status = run(["review", "--base", base, "--no-prove", "--format", "json", *arguments])
    shown = capsys.readouterr()
    documents = json.loads(shown.out)["documents"] if shown.out else []
    return status, {each["source"]: each for each in documents}, " ".join(shown.err.split())


def rules(document: dict[str, Any]) -> set[str]:
    return {finding["rule"] for finding in document["findings"]}


def test_changed_plans_are_audited_and_no_others(folder: Path, capsys: Any) -> None:
    faulty = edited("fragment", FAULTY)
    base = repository(
        folder,
        {"plans/a.json": SOUND, "plans/old.json": faulty, "elsewhere/b.json": SOUND},
        {
            "plans/a.json": faulty,
            "plans/deep/new é.json": SOUND,
            "elsewhere/b.json": faulty,
            "plans/notes.txt": "no plan",
        },
    )
    status, documents, _ = review(capsys, base)
    assert status == 1
    assert {name: each["verdict"] for name, each in documents.items()} == {
        "plans/a.json": "violated",
        "plans/deep/new é.json": "verified",
    }
    assert rules(documents["plans/a.json"]) == {"static.total-mismatch"}
    status, documents, _ = review(capsys, base, "--plans", "elsewhere/*.json")
    assert set(documents) == {"elsewhere/b.json"}


def test_renamed_and_deleted_plans(folder: Path, capsys: Any) -> None:
    base = repository(
        folder,
        {"plans/a.json": SOUND, "plans/b.json": edited("fragment", FAULTY)},
        {"plans/a.json": None, "plans/c.json": SOUND, "plans/b.json": None},
    )
    status, documents, _ = review(capsys, base)
    assert (status, set(documents)) == (0, {"plans/c.json"})


def test_only_what_the_branch_changed_counts(folder: Path, capsys: Any) -> None:
    repository(folder, {"plans/a.json": SOUND}, {"plans/b.json": SOUND})
    git(folder, "switch", "--quiet", "main")
    write(folder, {"plans/a.json": edited("fragment", FAULTY)})
    git(folder, "commit", "--quiet", "--all", "-m", "meanwhile")
    git(folder, "switch", "--quiet", "branch")
    status, documents, _ = review(capsys, "main")
    assert (status, set(documents)) == (0, {"plans/b.json"})


def test_patterns_that_match_nothing_are_no_green_gate(folder: Path, capsys: Any) -> None:
    faulty = edited("fragment", FAULTY)
    base = repository(folder, {"plans/old.json": SOUND}, {"plans/a.json": faulty})
    typos = ("--plans", "plan/*.json", "--catalogs", "catalog/*.json")
    status, documents, said = review(capsys, base, *typos)
    assert (status, documents) == (2, {})
    assert "matches plan/*.json or catalog/*.json, so nothing of it would ever be" in said
    assert review(capsys, base, *typos[:2])[0] == 2
    # As the action gives it: what it takes by default, typed.
    assert review(capsys, base, *typos[:2], "--catalogs", "catalogs/**/*.json")[0] == 2
    # One of several patterns may match nothing, but not all of them for plans.
    assert review(capsys, base, *typos[:2], "--catalogs", "plans/*.json")[0] == 2
    status, documents, said = review(capsys, base, *typos[:2], "--plans", "plans/*.json")
    assert (status, set(documents)) == (1, {"plans/a.json"})
    assert said == f"No tracked file, neither here nor at {base[:10]}, matches plan/*.json."


def test_a_pattern_of_files_that_are_gone_matches(folder: Path, capsys: Any) -> None:
    base = repository(folder, {"old/a.json": SOUND}, {"old/a.json": None})
    status, _, said = review(capsys, base, "--plans", "old/*.json")
    assert (status, said) == (0, "No plan and no catalog is changed.")


def test_a_repository_without_plans_is_told_so(folder: Path, capsys: Any) -> None:
    base = repository(folder, {}, {"code.rs": "x"})
    status, _, said = review(capsys, base)
    assert status == 0
    assert "matches plans/**/*.json or catalogs/**/*.json." in said


def test_nothing_changed(folder: Path, capsys: Any) -> None:
    base = repository(folder, {"plans/a.json": edited("fragment", FAULTY)}, {"code.rs": "x"})
    status, documents, remarks = review(
        capsys, base, "--sarif", "report.sarif", "--markdown", "report.md"
    )
    assert (status, documents) == (0, {})
    assert remarks == "No plan and no catalog is changed."
    assert json.loads((folder / "report.sarif").read_text())["runs"][0]["results"] == []
    assert remarks in (folder / "report.md").read_text()


def test_a_changed_catalog_is_compared_and_its_plans_re_judged(folder: Path, capsys: Any) -> None:
    base = repository(
        folder,
        {
            "catalogs/gpu.json": sample("catalog"),
            "plans/decoder.json": PLAN,
            "plans/fragment.json": SOUND,
            "plans/broken.json": edited("bundle", {"/plan/payload/nodes": 1}),
        },
        {"catalogs/gpu.json": edited("catalog", NARROWED)},
    )
    status, documents, remarks = review(capsys, base)
    assert status == 1
    against = f"catalogs/gpu.json against {base[:10]}"
    under = "plans/decoder.json under catalogs/gpu.json"
    assert list(documents) == ["catalogs/gpu.json", against, under]
    assert "contract.prefix-narrowed" in rules(documents[against])
    assert documents[under]["kind"] == "bundle"
    # A plan that cannot be judged is said to be so; a fragment never had a catalog.
    assert "plans/broken.json was not compared: " in remarks
    assert "fragment" not in remarks


def test_a_rebuilt_plan_is_compared_with_what_it_was(folder: Path, capsys: Any) -> None:
    base = repository(
        folder,
        {"catalogs/gpu.json": sample("catalog"), "plans/decoder.json": PLAN},
        {
            "catalogs/gpu.json": edited("catalog", NARROWED),
            "plans/decoder.json": PLAN | {"policy": sample("policy")},
        },
    )
    _, documents, _ = review(capsys, base)
    under = f"plans/decoder.json as of {base[:10]} under catalogs/gpu.json"
    assert under in documents
    assert "plans/decoder.json" in documents


def test_a_new_catalog_is_checked(folder: Path, capsys: Any) -> None:
    base = repository(folder, {}, {"catalogs/gpu.json": sample("catalog")})
    status, documents, _ = review(capsys, base)
    assert (status, list(documents)) == (0, ["catalogs/gpu.json"])


def test_a_catalog_that_is_gone_breaks_its_plans(folder: Path, capsys: Any) -> None:
    base = repository(
        folder,
        {"catalogs/gpu.json": sample("catalog"), "plans/decoder.json": PLAN},
        {"catalogs/gpu.json": None},
    )
    status, documents, _ = review(capsys, base)
    assert status == 1
    against = documents[f"catalogs/gpu.json against {base[:10]}"]
    assert "contract.provider-removed" in rules(against)
    assert documents["plans/decoder.json under catalogs/gpu.json"]["verdict"] == "violated"


def test_a_catalog_that_does_not_parse(folder: Path, capsys: Any) -> None:
    base = repository(
        folder, {"catalogs/gpu.json": sample("catalog")}, {"catalogs/gpu.json": "{\n  ]"}
    )
    status, documents, remarks = review(capsys, base)
    assert status == 2
    assert documents["catalogs/gpu.json"]["verdict"] == "unreadable"
    assert rules(documents["catalogs/gpu.json"]) == {"wire.not-json"}
    against = f"catalogs/gpu.json against {base[:10]}"
    assert documents[against]["verdict"] == "undecided"
    assert f"{against} cannot be compared: " in remarks


def test_a_catalog_that_did_not_parse_before(folder: Path, capsys: Any) -> None:
    base = repository(folder, {"catalogs/gpu.json": "{"}, {"catalogs/gpu.json": sample("catalog")})
    status, documents, remarks = review(capsys, base)
    assert status == 3
    assert documents["catalogs/gpu.json"]["verdict"] == "verified"
    assert "cannot be compared: " in remarks


def test_every_report_says_the_same(folder: Path, capsys: Any) -> None:
    base = repository(
        folder,
        {"catalogs/gpu.json": sample("catalog"), "plans/a.json": SOUND},
        {
            "catalogs/gpu.json": edited("catalog", NARROWED),
            "plans/a.json": edited("fragment", FAULTY),
        },
    )
    _, documents, _ = review(capsys, base, "--sarif", "report.sarif", "--markdown", "report.md")
    told = sorted(rule for each in documents.values() for rule in rules(each))
    (sarif,) = json.loads((folder / "report.sarif").read_text())["runs"]
    assert sorted(result["ruleId"] for result in sarif["results"]) == told
    places = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in sarif["results"]
    }
    assert places == {"plans/a.json", "catalogs/gpu.json"}
    page = (folder / "report.md").read_text()
    assert page.startswith("### ferrum-verify: violated\n")
    for rule in told:
        assert f"`{rule}`" in page


SETTINGS = "[tool.ferrum-verify]\nignore.static.total-mismatch = 'known'\n"
BROKEN = edited("fragment", FAULTY)


@pytest.fixture
def known(folder: Path, capsys: Any) -> str:
    """A baseline that knows what is wrong with the broken plan."""
    write(folder, {"plans/a.json": BROKEN})
    assert run(["audit", "--no-prove", "plans/a.json", "--write-baseline", "known.json"]) == 0
    capsys.readouterr()
    text = (folder / "known.json").read_text()
    write(folder, {"plans/a.json": None, "known.json": None})
    return text


def verdicts(documents: dict[str, Any]) -> dict[str, str]:
    return {name: each["verdict"] for name, each in documents.items()}


def test_settings_and_baselines_of_the_base_hold(folder: Path, capsys: Any, known: str) -> None:
    base = repository(
        folder,
        {"plans/a.json": SOUND, "plans/b.json": SOUND, "known.json": known, "more.toml": SETTINGS},
        {"plans/a.json": BROKEN, "plans/b.json": BROKEN},
    )
    status, documents, _ = review(capsys, base, "--baseline", "known.json")
    assert status == 1
    assert verdicts(documents) == {"plans/a.json": "violated", "plans/b.json": "violated"}
    known_of = {name: bool(each.get("hidden")) for name, each in documents.items()}
    assert known_of == {"plans/a.json": True, "plans/b.json": False}
    status, _, remarks = review(capsys, base, "--config", "more.toml")
    assert status == 0
    assert f"2 findings hidden, as more.toml at {base[:10]} ignores their rules" in remarks
    # What is typed wins over the settings, from wherever the command is called.
    given = ("--config", "../more.toml", "--baseline", "../known.json")
    (folder / "plans" / "known.json").unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder / "plans")
        # Nothing is known of what is ignored: the baseline's finding is gone all the same.
        assert review(capsys, base, *given)[0] == 0


@pytest.mark.parametrize("linked", [False, True])
def test_a_branch_does_not_loosen_its_own_settings(folder: Path, capsys: Any, linked: bool) -> None:
    base = repository(
        folder,
        {"plans/a.json": SOUND, "pyproject.toml": "[tool.ferrum-verify]\nprove = false\n"},
        {"plans/a.json": BROKEN, "real.toml": SETTINGS, "pyproject.toml": SETTINGS},
    )
    if linked:
        (folder / "pyproject.toml").unlink()
        (folder / "pyproject.toml").symlink_to("real.toml")
    status, documents, remarks = review(capsys, base)
    assert (status, "hidden" in remarks) == (1, False)
    assert verdicts(documents) == {"plans/a.json": "violated", "pyproject.toml": "verified"}
    found = documents["pyproject.toml"]["findings"]
    assert [(each["rule"], each["location"]) for each in found] == [
        ("integrity.settings-changed", "/tool/ferrum-verify/ignore/static.total-mismatch"),
        ("integrity.settings-changed", "/tool/ferrum-verify/prove"),
    ]
    assert found[0]["actual"] == "known"
    assert found[1]["expected"] is False
    assert "counts once it is merged" in found[0]["message"]
    # Once it is merged, it counts.
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "settings")
    status, documents, remarks = review(capsys, "HEAD")
    assert (status, documents) == (0, {})
    write(folder, {"plans/a.json": edited("fragment", {"/memory/static_bytes": 2})})
    assert review(capsys, "HEAD")[0] == 0


def test_settings_in_another_place_or_form_loosen_nothing(folder: Path, capsys: Any) -> None:
    base = repository(folder, {"plans/a.json": SOUND}, {"plans/a.json": BROKEN})
    write(folder, {"plans/pyproject.toml": SETTINGS, "new.toml": SETTINGS})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder / "plans")
        status, documents, _ = review(capsys, base)
        assert status == 1
        assert rules(documents["pyproject.toml"]) == {"integrity.settings-changed"}
    status, documents, _ = review(capsys, base, "--config", "new.toml")
    assert status == 1
    assert rules(documents["new.toml"]) == {"integrity.settings-changed"}
    (folder / "link").symlink_to(folder, target_is_directory=True)
    assert review(capsys, base, "--config", "link/new.toml")[0] == 1
    outside = folder.parent / f"link-of-{folder.name}"
    outside.symlink_to(folder, target_is_directory=True)
    assert review(capsys, base, "--config", str(outside / "new.toml"))[0] == 1
    # What lies outside of the repository is no branch's to change.
    (folder.parent / f"settings-of-{folder.name}.toml").write_text(SETTINGS)
    given = ("--config", f"../settings-of-{folder.name}.toml")
    assert review(capsys, base, *given)[0] == 0


def test_settings_that_the_branch_breaks_are_said_to_be(folder: Path, capsys: Any) -> None:
    base = repository(
        folder,
        {"plans/a.json": SOUND, "pyproject.toml": SETTINGS},
        {"plans/a.json": BROKEN, "pyproject.toml": "[tool.ferrum-verify]\n'a\u202e' = 1\n[x"},
    )
    status, documents, _ = review(capsys, base)
    assert status == 0
    (found,) = documents["pyproject.toml"]["findings"]
    assert found["rule"] == "integrity.gate-unreadable"
    assert "is not TOML" in found["message"]


def test_a_branch_does_not_know_its_own_findings(folder: Path, capsys: Any, known: str) -> None:
    base = repository(
        folder, {"plans/a.json": SOUND}, {"plans/a.json": BROKEN, "known.json": known}
    )
    for name in ("text", "json", "sarif", "markdown", "junit", "github", "html"):
        given = ("review", "--base", base, "--no-prove", "--baseline", "known.json")
        assert run([*given, "--format", name]) == 1
        shown = capsys.readouterr().out
        assert "integrity.baseline-changed" in shown, name
        assert "static.total-mismatch" in shown, name
    _, documents, _ = review(capsys, base, "--baseline", "known.json")
    (found,) = documents["known.json"]["findings"]
    assert [each["rule"] for each in found["actual"]] == ["static.total-mismatch"]
    assert found["expected"] == []
    assert review(capsys, base, "--baseline", "nowhere.json")[0] == 2
    assert review(capsys, base, "--config", "nowhere.toml")[0] == 2


def test_a_known_finding_that_is_gone_fails(folder: Path, capsys: Any, known: str) -> None:
    base = repository(
        folder, {"plans/a.json": BROKEN, "known.json": known}, {"plans/a.json": SOUND}
    )
    status, _, remarks = review(capsys, base, "--baseline", "known.json")
    assert status == 1
    assert "static.total-mismatch is known and was not found any more" in remarks
    # Whoever mends it may say so in the same change: that loosens nothing.
    emptied = json.loads(known)
    emptied["documents"][0]["findings"] = []
    write(folder, {"known.json": emptied})
    status, documents, _ = review(capsys, base, "--baseline", "known.json")
    assert status == 0
    assert rules(documents["known.json"]) == {"integrity.baseline-changed"}


def test_what_was_loose_where_the_branch_began_is_not_any_more(folder: Path, capsys: Any) -> None:
    repository(
        folder, {"plans/a.json": SOUND, "pyproject.toml": SETTINGS}, {"plans/a.json": BROKEN}
    )
    git(folder, "switch", "--quiet", "main")
    write(folder, {"pyproject.toml": "[tool.ferrum-verify]\nprove = false\n"})
    git(folder, "commit", "--quiet", "--all", "-m", "stricter")
    git(folder, "switch", "--quiet", "branch")
    status, documents, _ = review(capsys, "main")
    # The branch did not change the settings, so that there is nothing to show of them.
    assert (status, verdicts(documents)) == (1, {"plans/a.json": "violated"})


def test_misuse_is_told_in_a_sentence(folder: Path, capsys: Any) -> None:
    status, _, remarks = review(capsys, "main")
    assert status == 2
    assert "not a git repository" in remarks or "There is no git here" in remarks
    repository(folder, {}, {})
    for base in ("nowhere", "--all", ""):
        status, _, remarks = review(capsys, base)
        assert status == 2
        assert "and HEAD have no common commit here" in remarks
    assert review(capsys, "main", "--sarif", "no/such/folder/x")[0] == 2
