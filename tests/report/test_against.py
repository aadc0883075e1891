"""One plan against another: what came, went, grew and moved, in every format that shows it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema

import models
from ferrum_verify import audit
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import run
from ferrum_verify.report.against import Against, Figure, Move
from ferrum_verify.report.plan_differences import compared
from ferrum_verify.report.schema import report_schema
from tests.live_bytes import Brute
from tests.report.pages import Page

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from ferrum_verify.reading.document import Subject

POOL = "af30907b"


def subject_of(document: dict[str, Any]) -> Subject:
    subject = audit(document, prove=False).documents[0].subject
    assert subject is not None
    return subject


def fragment(problem: dict[str, Any]) -> dict[str, Any]:
    memory = subject_of(problem).memory
    assert memory is not None
    return {
        "nodes": problem["nodes"],
        "memory": memory.to_wire(),
        "retained_completion_resources": problem.get("retained_completion_resources", []),
    }


def differences(document: dict[str, Any], other: dict[str, Any]) -> Against:
    return compared(subject_of(document), subject_of(other), "other.json")


def step_pool(document: dict[str, Any]) -> dict[str, Any]:
    pools: list[dict[str, Any]] = document["memory"]["dynamic_pools"]
    return max(pools, key=lambda pool: len(pool["step_resource_slots"]))


def test_a_plan_against_itself() -> None:
    document = fragment(models.decoder(2))
    assert differences(document, document).is_same


def test_two_swapped_members_are_named_with_their_slots() -> None:
    before, after = fragment(models.decoder(2)), fragment(models.decoder(2))
    slots = [slot["resource_ids"] for slot in step_pool(after)["step_resource_slots"]]
    large = [index for index, slot in enumerate(slots) if len(slot) > 3][:2]
    one, other = (slots[index][-1] for index in large)
    for index, leaves, comes in zip(large, (one, other), (other, one), strict=True):
        slots[index][:] = sorted([*(set(slots[index]) - {leaves}), comes])
    found = differences(after, before)
    places = [f"slot {index} of pool {POOL}" for index in large]
    assert set(found.moved) == {Move(one, *places), Move(other, *reversed(places))}
    assert not found.resources_added
    assert not found.nodes_reordered


def test_slots_in_another_order_move_nobody() -> None:
    before, after = fragment(models.decoder(2)), fragment(models.decoder(2))
    step_pool(after)["step_resource_slots"].reverse()
    assert differences(after, before).moved == ()


def test_a_slot_of_ones_own_is_a_move_and_takes_bytes() -> None:
    before, after = fragment(models.decoder(2)), fragment(models.decoder(2))
    pool = step_pool(after)
    slots = pool["step_resource_slots"]
    index = max(range(len(slots)), key=lambda each: len(slots[each]["resource_ids"]))
    name = slots[index]["resource_ids"].pop()
    slots.append({"kind": "dedicated", "resource_ids": [name]})
    found = differences(after, before)
    assert found.moved == (
        Move(name, f"slot {index} of pool {POOL}", f"slot {len(slots) - 1} of pool {POOL}"),
    )
    batch = found.batch
    assert batch is not None
    (changed,) = [each for each in found.pools if each.differs]
    held = [Brute(document, batch).held(step_pool(document)) for document in (before, after)]
    assert changed.held_bytes == tuple(held)
    assert held[1] > held[0]
    assert changed.slots == (len(slots) - 1, len(slots))


def test_a_layer_more_comes_with_its_bytes() -> None:
    before, after = fragment(models.decoder(2)), fragment(models.decoder(3))
    found = differences(after, before)
    assert len(found.nodes_added) == len(after["nodes"]) - len(before["nodes"])
    assert found.nodes_removed == ()
    batch = found.batch
    assert batch is not None
    brute = [Brute(document, batch) for document in (before, after)]
    figures = {figure.name: figure for figure in found.totals}
    assert figures["static_bytes"] == Figure("static_bytes", *(each.static for each in brute))
    added = {each.resource: each for each in found.resources_added}
    state = added["resource/state/l0002/kv"]
    assert state.place == "sequence bytes of pool fa87eec3"
    assert state.bytes == brute[1].sizes["resource/state/l0002/kv"]
    assert added["resource/weight/l0002/down"].place == "static"
    removed = differences(before, after)
    assert removed.resources_removed == found.resources_added
    assert removed.nodes_removed == found.nodes_added


def test_a_grown_resource_is_told_in_bytes() -> None:
    before, after = fragment(models.decoder(2)), fragment(models.decoder(2))
    row = next(
        row
        for row in after["memory"]["dynamic_descriptors"]
        if row["base_resource_id"] == "resource/activation/l0001/up"
    )
    row["demand"]["tokens"]["bytes_per_token"] *= 2
    found = differences(after, before)
    (resize,) = found.resized
    assert resize.resource == "resource/activation/l0001/up"
    assert resize.after == 2 * resize.before
    assert found.moved == ()


def test_unknown_sizes_leave_bytes_out() -> None:
    before, after = sample("fragment"), sample("fragment")
    after["memory"]["dynamic_descriptors"][0]["alignment_bytes"] = 3
    found = differences(after, before)
    assert found.batch is None
    assert found.undefined is not None
    assert "no power of two" in found.undefined
    assert all(pool.held_bytes is None for pool in found.pools)


def test_a_memory_plan_alone_says_nothing_of_nodes() -> None:
    document = sample("fragment")
    found = differences(document["memory"], document)
    assert found.nodes_removed == ()
    assert "peak_live_bytes" not in {figure.name for figure in found.totals}


def test_every_format_shows_it_and_no_verdict_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for layers, name in ((2, "before"), (3, "after")):
        text = json.dumps(fragment(models.decoder(layers)))
        (tmp_path / f"{name}.json").write_text(text, encoding="utf-8")
    command = ["audit", "after.json", "--against", "before.json", "--no-prove"]
    assert run(command) == 0
    text = capsys.readouterr().out
    assert text.startswith("VERIFIED")
    assert "Against before.json" in text
    assert "resources that came:" in text
    assert "resource/state/l0002/kv: sequence bytes of pool fa87eec3" in text
    assert run([*command, "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    jsonschema.validate(report, report_schema())
    against = report["documents"][0]["against"]
    assert against["other"] == "before.json"
    assert len(against["nodes_added"]) == 11
    assert run([*command, "--format", "html"]) == 0
    page = Page(capsys.readouterr().out)
    assert page.unbalanced == []
    assert "Against before.json" in page.text
    assert "11 nodes that came" in page.text


def test_a_file_without_a_plan_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, other = tmp_path / "plan.json", tmp_path / "other.json"
    plan.write_text(json.dumps(sample("fragment")), encoding="utf-8")
    other.write_text("[", encoding="utf-8")
    assert run(["audit", str(plan), "--against", str(other), "--no-prove"]) == 2
    assert "other.json has no memory plan to compare with" in capsys.readouterr().err
    lines = tmp_path / "two.jsonl"
    lines.write_text(f"{json.dumps(sample('fragment'))}\n" * 2, encoding="utf-8")
    assert run(["audit", str(plan), "--against", str(lines), "--no-prove"]) == 2
    assert "holds 2 documents" in capsys.readouterr().err
