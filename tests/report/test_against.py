"""One plan against another: what came, went, grew and moved, in every format that shows it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jsonschema

import models
from ferrum_verify import audit
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import run
from ferrum_verify.report.against import (
    AccessChange,
    Against,
    BoundChange,
    Figure,
    ListChange,
    Move,
)
from ferrum_verify.report.plan_differences import compared
from ferrum_verify.report.schema import report_schema
from tests.live_bytes import Brute
from tests.report.pages import Page

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from ferrum_verify.reading.document import Subject

POOL = "af30907b"
OTHER_WORDS = {
    "activations": "scratch",
    "weights": "scratch",
    "f16": "f32",
    "u32": "u8",
    "plan": "step",
    "step": "request",
    "value": "initialization_scratch",
    "total_order_reuse": "conservative_concurrent",
    "no_invocation_resources": "total_order_reuse",
}
"""For words of a closed list another one of it."""


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


def test_what_nodes_wait_for_and_list() -> None:
    before, after = fragment(models.decoder(2)), fragment(models.decoder(2))
    node = after["nodes"][-2]
    gone = list(node["dependencies"])
    node["dependencies"] = [after["nodes"][0]["id"]]
    node["resources"] = [*node["resources"], "resource/activation/embedding"]
    found = differences(after, before)
    assert found.node_lists == (
        ListChange(node["id"], "dependencies", (after["nodes"][0]["id"],), tuple(sorted(gone))),
        ListChange(node["id"], "resources", ("resource/activation/embedding",), ()),
    )
    assert found.others == ()
    assert found.has_same_storage is (not any(each.before != each.after for each in found.totals))
    assert not found.is_same


def test_accesses_of_both_kinds_of_nodes() -> None:
    before, after = sample("bundle"), sample("bundle")
    node = after["plan"]["payload"]["nodes"][0]
    value = node["values"][0]
    assert value["access"] == "read"
    value["access"] = "read_write"
    found = differences(after, before)
    change = AccessChange(node["id"], value["value_id"], "read", "read_write")
    assert found.accesses == (change,)
    assert found.others == ()
    assert found.has_same_storage
    del node["values"][0]
    assert differences(after, before).accesses == (replace(change, after=None),)
    before, after = sample("fragment"), sample("fragment")
    name, node = after["nodes"][0]["resources"][0], after["nodes"][0]
    for document, modes in ((before, ("reads",)), (after, ("reads", "writes"))):
        document["nodes"][0] |= {"reads": [], "writes": []} | {mode: [name] for mode in modes}
    found = differences(after, before)
    assert found.accesses == (AccessChange(node["id"], name, "read", "read_write"),)
    assert found.others == ()


def test_bounds_are_told_once_with_all_that_they_are_of() -> None:
    before, after = sample("bundle"), sample("bundle")
    payload = after["plan"]["payload"]
    most = payload["maximum_scheduled_tokens"]
    payload["maximum_scheduled_tokens"] = 2 * most
    rows = [
        row for row in payload["memory"]["dynamic_descriptors"] if "tokens" in (row["demand"] or "")
    ]
    assert len(rows) > 1
    for row in rows:
        row["demand"]["tokens"]["maximum_tokens"] *= 2
    found = differences(after, before)
    assert found.bounds[0] == BoundChange("maximum_scheduled_tokens", most, 2 * most, ("plan",))
    assert {name for each in found.bounds[1:] for name in each.of} == {
        row["base_resource_id"] for row in rows
    }
    assert all(each.bound == "maximum_tokens" for each in found.bounds[1:])
    assert found.others == ()


def test_whatever_else_differs_is_named() -> None:
    """Of each object of a plan, every member that is made to differ is told of in some way."""
    before = sample("bundle")
    payload = before["plan"]["payload"]
    memory = payload["memory"]
    objects: list[tuple[str, dict[str, Any], set[str]]] = [
        ("", payload, {"nodes", "memory", "plan_id", "schema"}),
        ("/nodes/1", payload["nodes"][1], {"id"}),
        ("/memory", memory, {"static_allocations", "dynamic_descriptors", "dynamic_pools"}),
        ("/memory/dynamic_descriptors/0", memory["dynamic_descriptors"][0], set()),
        ("/memory/static_allocations/0", memory["static_allocations"][0], set()),
        ("/memory/dynamic_pools/0", memory["dynamic_pools"][0], {"resource_ids"}),
    ]
    kept = subject_of(before)
    tried: list[str] = []
    for at, members, but in objects:
        for name in members.keys() - but:
            after = sample("bundle")
            _change(after["plan"]["payload"], at, name)
            subject = subject_of(after)
            if after == before or None in (subject.memory, subject.header, subject.nodes):
                continue  # nothing to change, or no plan any more
            found = compared(subject, kept, "before.json")
            assert not found.is_same, (at, name)
            tried.append(f"{at}/{name}")
    assert len(tried) > 60, tried


def _change(payload: Any, at: str, name: str) -> None:
    for step in at.split("/")[1:]:
        payload = payload[int(step) if step.isdecimal() else step]
    value = payload[name]
    if isinstance(value, bool | int):
        payload[name] = value + 1
    elif isinstance(value, str):
        payload[name] = OTHER_WORDS.get(value, value[:-1] + ("0" if value[-1] != "0" else "1"))
    elif isinstance(value, list):
        payload[name] = value[1:]
    elif isinstance(value, dict):
        (one, *_) = value
        _change(value, "", one)
    else:
        payload[name] = "some.id"


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


def test_a_lost_dependency_is_told_in_text_and_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    document = fragment(models.decoder(2))
    (tmp_path / "before.json").write_text(json.dumps(document), encoding="utf-8")
    nodes = document["nodes"][-9:]
    for node in nodes:
        node["dependencies"] = []
    (tmp_path / "after.json").write_text(json.dumps(document), encoding="utf-8")
    command = ["audit", "after.json", "--against", "before.json", "--no-prove"]
    assert run(command) == 1
    text = " ".join(capsys.readouterr().out.split())
    for shown in (text, _page(command, capsys)):
        assert "No storage differs" in shown
        assert "9 nodes with other dependencies" in shown
        assert f"{nodes[0]['id']} no longer waits for " in shown
        assert "and 3 more; the JSON report has them all" in shown
    assert run([*command, "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    jsonschema.validate(report, report_schema())
    assert len(report["documents"][0]["against"]["node_lists"]) == 9
    memory = tmp_path / "memory.json"
    memory.write_text(json.dumps(document["memory"]), encoding="utf-8")
    run(["audit", "after.json", "--against", "memory.json", "--no-prove"])
    assert "Nodes are not compared, as one of the plans has none." in capsys.readouterr().out


def _page(command: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    run([*command, "--format", "html"])
    page = Page(capsys.readouterr().out)
    assert page.unbalanced == []
    return " ".join(page.text.split())


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
