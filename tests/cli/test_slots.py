"""``slots``: the table, the document that it writes, and what it refuses."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

import models
from ferrum_verify import DerivationError, audit, best_slots, check_best_slots, derive_memory_plan
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import run
from ferrum_verify.plan import cp_sat
from ferrum_verify.plan.partition import Partition, partition_bytes
from ferrum_verify.plan.unordered import least_bytes

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = "qwen3.5-4b"
LAYERS = 8
MIB = 2**20


@pytest.fixture(scope="module")
def bundle() -> Any:
    return models.bundle(FAMILY, LAYERS)


@pytest.fixture
def path(tmp_path: Path, bundle: Any) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(bundle))
    return path


def largest_pool(wire: Any) -> Any:
    return max(wire["pools"], key=lambda pool: pool["bytes"])


def test_the_table_has_plan_least_and_best(path: Path, capsys: Any) -> None:
    assert run(["slots", str(path)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "340 MiB 232 MiB 232 MiB proved least" in told
    assert "decode 64/64/32,768 5.31 MiB 3.62 MiB 3.62 MiB" in told
    assert "72.0 MiB for" in told


def test_the_json_is_what_python_gives_and_holds(path: Path, bundle: Any, capsys: Any) -> None:
    assert run(["slots", str(path), "--format", "json", "--execution", "concurrent"]) == 0
    wire = json.loads(capsys.readouterr().out)
    assert wire == best_slots(bundle, "concurrent").to_wire()
    assert check_best_slots(bundle, wire, "concurrent") == []
    assert largest_pool(wire)["best_bytes"] == 232 * MIB
    assert largest_pool(wire)["proved"]


def test_that_the_plan_s_own_slots_are_unsafe_is_said(path: Path, capsys: Any) -> None:
    for model, safe in (("fenced", True), ("concurrent", False)):
        assert run(["slots", str(path), "--execution", model]) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert ("proved least; plan unsafe" in told) != safe
        assert (f"Under {model} the plan's own slots are unsafe" in told) != safe
        assert run(["slots", str(path), "--execution", model, "--format", "json"]) == 0
        assert largest_pool(json.loads(capsys.readouterr().out))["safe"] is safe


def test_to_make_a_plan_safe_names_the_model_itself(path: Path, capsys: Any) -> None:
    words = ["slots", str(path), "--make-safe", "concurrent"]
    assert run([*words, "--execution", "fenced"]) == 2
    assert "--execution" in capsys.readouterr().err
    assert run([*words, "--execution", "concurrent"]) == 0


def test_tokens_and_buckets_say_at_which_shape(path: Path, bundle: Any, capsys: Any) -> None:
    assert run(["slots", str(path), "--format", "json", "--tokens", "2048"]) == 0
    assert largest_pool(json.loads(capsys.readouterr().out))["best_bytes"] == 116 * MIB
    buckets = bundle["plan"]["payload"]["memory"]["reusable_execution"]["buckets"]
    bucket = buckets[-1]["bucket"]
    assert run(["slots", str(path), "--format", "json", "--bucket", bucket["bucket_id"]]) == 0
    (pool,) = json.loads(capsys.readouterr().out)["pools"]
    assert pool["shape"]["tokens"] == bucket["capacity"]["maximum_tokens"]


@pytest.mark.parametrize("kind", ["bundle", "plan", "problem", "fragment"])
def test_what_is_written_has_nothing_else_to_say(kind: str, bundle: Any, tmp_path: Path) -> None:
    problem = models.problem(FAMILY, LAYERS)
    document = {
        "bundle": bundle,
        "plan": bundle["plan"],
        "problem": problem,
        "fragment": {
            "nodes": problem["nodes"],
            "memory": derive_memory_plan(problem).to_wire(),
            "retained_completion_resources": problem["retained_completion_resources"],
        },
    }[kind]
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    before.write_text(json.dumps(document))
    assert run(["slots", str(before), "--execution", "concurrent", "-o", str(after)]) == 0
    report = audit(after, "concurrent", prove=False)
    assert {f.rule for f in report.findings if f.severity == "error"} == {"slot.not-derived"}
    written = best_slots(str(after), "concurrent")
    assert all(pool.bytes == pool.best_bytes for pool in written.pools)


def test_a_plan_that_is_least_is_written_as_it_was(tmp_path: Path) -> None:
    plan = models.bundle("llama-3.1-8b", 2)
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    before.write_text(json.dumps(plan))
    assert run(["slots", str(before), "-o", str(after)]) == 0
    assert json.loads(after.read_text()) == plan


def test_what_is_in_doubt_is_refused(tmp_path: Path, bundle: Any, capsys: Any) -> None:
    memory = bundle["plan"]["payload"]["memory"]
    with pytest.raises(DerivationError, match="has no nodes"):
        best_slots(memory)
    with pytest.raises(DerivationError, match="has no memory plan"):
        best_slots(bundle["program"])
    with pytest.raises(ValueError, match="not one of in-order"):
        best_slots(bundle, "sideways")  # type: ignore[arg-type]
    with pytest.raises(DerivationError, match=r"`resource/.*` is not defined at 5,000 tokens"):
        best_slots(bundle, shape={"sequences": 1, "tokens": 5000, "pages": 1})
    fragment = sample("fragment")
    del fragment["memory"]["dynamic_pools"][0]["step_resource_slots"][0]
    with pytest.raises(DerivationError, match="in no slot") as refused:
        best_slots(fragment)
    assert {finding.family for finding in refused.value.findings} == {"slot"}
    fragment = sample("fragment")
    fragment["nodes"][0]["dependencies"] = ["nobody"]
    (tmp_path / "faulty.json").write_text(json.dumps(fragment))
    assert run(["slots", str(tmp_path / "faulty.json")]) == 1
    assert "graph.unknown-dependency" in capsys.readouterr().err
    assert run(["slots", str(tmp_path / "missing.json")]) == 2


def test_options_that_contradict_or_name_nothing(path: Path, capsys: Any) -> None:
    assert run(["slots", str(path), "--bucket", "none"]) == 2
    assert "The plan has no reusable bucket none: reusable-bucket/" in capsys.readouterr().err
    assert run(["slots", str(path), "--bucket", "none", "--tokens", "1"]) == 2
    assert "both say at which shape" in capsys.readouterr().err
    assert run(["slots", str(path), "--make-safe", "concurrent", "--format", "json"]) == 2
    assert "--make-safe shows a table" in capsys.readouterr().err
    assert run(["slots", str(path), "--tokens", "4097"]) == 2
    assert "its limit is 4,096" in capsys.readouterr().err


def test_a_gap_is_shown_with_what_would_close_it(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "problem.json"
    path.write_text(json.dumps(models.problem(FAMILY)))
    assert run(["slots", str(path), "--execution", "in-order"]) == 0
    told = capsys.readouterr()
    if "ferrum-verify[optimize]" in told.err:
        assert "340 MiB 212 MiB 224 MiB not proved least" in " ".join(told.out.split())
    else:
        assert "340 MiB 212 MiB 212 MiB" in " ".join(told.out.split())


def test_the_extra_looks_for_less_within_its_limit(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    def improved(
        sizes: Any, before: Any, slots: list[list[int]], bound: Any, seconds: float
    ) -> Partition:
        assert least_bytes(bound) < partition_bytes(slots, sizes)
        asked.append(seconds)
        return Partition(slots, exhausted=True)

    monkeypatch.setattr(cp_sat, "available", lambda: True)
    monkeypatch.setattr(cp_sat, "improved", improved)
    path = tmp_path / "problem.json"
    path.write_text(json.dumps(models.problem(FAMILY)))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    command = ["slots", str(path), "--execution", "in-order", "--search-limit", "7"]
    assert run(command) == 0
    told = capsys.readouterr()
    assert asked == [7.0]
    assert "340 MiB 224 MiB 224 MiB proved least by a search" in " ".join(told.out.split())
    assert "[optimize]" not in told.err
