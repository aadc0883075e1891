"""The timeline: bars are found, hovered, chosen by keyboard, and quick at a thousand nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import models
from ferrum_verify import audit
from ferrum_verify.catalogue.samples import sample
from tests.browser.measures import box

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from ferrum_verify.report.model import Report
    from tests.browser.conftest import Open


def panel(page: Page) -> str:
    return page.locator(".timeline .panel").inner_text()


def scroll_down(page: Page, pixels: int) -> None:
    """Scroll the timeline and wait for what is drawn then."""
    page.evaluate(
        "pixels => { document.querySelector('.view').scrollTop = pixels;"
        "return new Promise((done) => requestAnimationFrame(() => setTimeout(done))); }",
        pixels,
    )


def heading(page: Page, words: str) -> Locator:
    """The heading of a group; only what is in view is drawn, and these stand at the end."""
    scroll_down(page, 10_000)
    return page.locator(".view .heading", has_text=words)


def names_in_view(page: Page, pixels: int) -> set[str]:
    scroll_down(page, pixels)
    return set(page.locator(".view .bar").evaluate_all("bars => bars.map(bar => bar.dataset.name)"))


def test_a_bar_stands_over_its_users(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    subject = decoder.documents[0].subject
    assert subject is not None
    assert subject.nodes is not None
    users: dict[str, list[int]] = {}
    for position, node in enumerate(subject.nodes):
        for resource in node.resources:
            users.setdefault(resource, []).append(position)
    names = [
        "resource/activation/embedding",
        "resource/activation/l0003/q",
        "resource/activation/l0007/down",
    ]
    boxes = [box(page.locator(f'.view [data-name="{name}"] > rect').first) for name in names]
    lives = [(users[name][0], users[name][-1] + 1) for name in names]
    scale = (boxes[2]["x"] - boxes[0]["x"]) / (lives[2][0] - lives[0][0])
    for found, (first, last) in zip(boxes, lives, strict=True):
        assert found["x"] == pytest.approx(boxes[0]["x"] + scale * (first - lives[0][0]), abs=1)
        assert found["width"] == pytest.approx(scale * (last - first), abs=3)


def test_state_lives_through_the_whole_step(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    search = page.locator("input[type=search]")
    search.fill("state/l0005")
    row = page.locator('.view [data-name^="resource/state/l0005"]')
    row.wait_for()
    page.get_by_label("Show the whole plan").click()
    page.locator(".view .users.quiet").first.wait_for(state="attached")
    axis = box(page.locator(".timeline .axis > rect").first)
    bar = box(row.locator("rect").first)
    assert bar["width"] > 0.95 * (axis["width"] - 244 - 24)
    assert "through the whole step" in panel(page)


def test_what_is_read_after_the_step_lives_to_its_end(open_page: Open) -> None:
    report = audit(sample("bundle"), prove=False)
    subject = report.documents[0].subject
    assert subject is not None
    assert subject.memory is not None
    (name, *_) = sorted(
        row.base_resource_id
        for row in subject.memory.dynamic_descriptors
        if row.lifetime == "step" and row.base_resource_id in subject.kept
    )
    page = open_page(report)
    page.locator("input[type=search]").first.fill(name)
    assert "to the end of the step, when it is read" in panel(page)


def test_every_used_resource_has_a_bar(open_page: Open) -> None:
    report = audit(sample("fragment"), prove=False)
    page = open_page(report)
    heading(page, "static allocations").click()
    drawn = names_in_view(page, 0) | names_in_view(page, 10_000)
    document = sample("fragment")
    used = {resource for node in document["nodes"] for resource in node["resources"]}
    # Workspace of one invocation stands under its node's name.
    invocation = {
        row["base_resource_id"]
        for row in document["memory"]["dynamic_descriptors"]
        if row["lifetime"] == "invocation"
    }
    assert used - invocation <= drawn


def test_hovering_shows_name_bytes_and_users(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    tip = page.locator("#tip")
    assert not tip.is_visible()
    page.hover('.view [data-name="resource/activation/l0003/q"]')
    text = tip.inner_text()
    assert "resource/activation/l0003/q" in text
    assert "32.0 MiB (33,554,432 bytes) at the largest" in text
    assert "node/l0003/q, node/l0003/attn" in text
    assert all(said.strip() for said in tip.locator("dd").all_inner_texts())
    page.mouse.move(5, 5)
    assert not tip.is_visible()


def test_hovering_the_axis_shows_the_node(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    axis = box(page.locator(".view .axis").first)
    page.mouse.move(axis["x"] + 244 + 2, axis["y"] + 10)
    assert "node/embedding" in page.locator("#tip").inner_text()


def test_a_hazard_stands_where_its_bars_meet(open_page: Open, hazard: Report) -> None:
    page = open_page(hazard)
    assert page.locator(".view .hazard").count() == 3
    assert page.locator(".view .hazard.refused").count() == 3
    sign = box(page.locator(".view .hazard .sign").first)
    right = box(page.locator('.view [data-name="resource/activation/l0000/delta"] > rect').first)
    left = box(page.locator('.view [data-name="resource/activation/l0000/norm1"] > rect').first)
    assert sign["x"] + sign["width"] / 2 == pytest.approx(right["x"], abs=2)
    assert left["x"] + left["width"] <= right["x"] + 1
    page.hover(".view .hazard >> nth=0")
    text = page.locator("#tip").inner_text()
    for words in (
        "Hazard under concurrent execution",
        "resource/activation/l0000/norm1",
        "node/l0000/delta need not wait for node/l0000/z",
    ):
        assert words in text


def test_hazards_of_another_model_are_told_apart(open_page: Open) -> None:
    report = audit(models.problem("qwen3.5-4b", layers=4), execution="fenced", prove=False)
    page = open_page(report)
    assert page.locator(".view .hazard").count() == 3
    assert page.locator(".view .hazard.refused").count() == 0
    assert "hazard under concurrent execution only" in page.locator(".legend").first.inner_text()


def test_bars_that_overlap_in_plan_order_stand_below_one_another(open_page: Open) -> None:
    document = sample("fragment")
    pool = document["memory"]["dynamic_pools"][0]
    merged = sorted({name for slot in pool["step_resource_slots"] for name in slot["resource_ids"]})
    pool["step_resource_slots"] = [
        {"kind": "ordered_single_fence_step_wave", "resource_ids": merged}
    ]
    page = open_page(audit(document, prove=False))
    assert page.locator(".view .hazard.refused .together").count() > 0
    tops = page.locator(".view .bar").evaluate_all(
        "bars => bars.filter(bar => bar.dataset.name.startsWith('act/'))"
        ".map(bar => bar.querySelector('rect').getBoundingClientRect().top)"
    )
    assert len(set(tops)) > 1


def test_keyboard_reaches_bars_lanes_nodes_and_hazards(open_page: Open, hazard: Report) -> None:
    page = open_page(hazard)
    view = page.locator(".timeline .view")
    view.focus()
    page.keyboard.press("ArrowRight")
    assert "resource/activation/embedding" in panel(page)
    page.keyboard.press("ArrowRight")
    second = panel(page)
    assert "resource/activation/embedding" not in second
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")
    assert "slot 1" in panel(page)
    page.keyboard.press("End")
    last = panel(page)
    page.keyboard.press("Home")
    assert panel(page) != last
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    assert "in plan order" in panel(page)
    page.keyboard.press("ArrowRight")
    assert "node 2 of 57" in panel(page) or "node 1 of 57" in panel(page)
    page.keyboard.press("h")
    assert "Hazard under concurrent execution" in panel(page)
    first = panel(page)
    page.keyboard.press("h")
    assert panel(page) != first
    page.keyboard.press("Shift+H")
    assert panel(page) == first
    page.locator('.view .bar.chosen[data-name="resource/activation/l0000/delta"]').wait_for()
    active = view.get_attribute("aria-activedescendant")
    assert page.locator(f"[id='{active}']").get_attribute("aria-label") == (
        "resource/activation/l0000/delta"
    )


def test_groups_open_and_close_by_pointer_and_keyboard(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    static = heading(page, "static allocations")
    bars = '.view [data-name="resource/weight/embedding"]'
    assert page.locator(bars).count() == 0
    static.click()
    page.locator(bars).wait_for()
    page.locator(".timeline .view").focus()
    page.keyboard.press("Enter")
    page.locator(bars).wait_for(state="detached")
    page.keyboard.press("ArrowRight")
    page.locator(bars).wait_for()


def test_everything_is_reached_by_tab(open_page: Open, hazard: Report) -> None:
    page = open_page(hazard)
    reached = set()
    for _ in range(150):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.getAttribute('class')"))
    assert {"view", "canvas chart", "canvas strip", "place"} <= reached


def test_a_name_is_found_while_one_types(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    search = page.locator("input[type=search]")
    search.press_sequentially("l0006/att")
    assert "resource/activation/l0006/attn" in panel(page)
    assert page.locator(".tools output").inner_text() == "1 of 4"
    page.locator(".view .bar.chosen").wait_for()
    assert page.locator(".view .bar.found").count() == 3
    assert page.evaluate("document.activeElement.type") == "search"
    search.press("Enter")
    assert page.locator(".tools output").inner_text() == "2 of 4"
    search.press("Shift+Enter")
    assert page.locator(".tools output").inner_text() == "1 of 4"
    search.fill("nobody")
    assert page.locator(".tools output").inner_text() == "nothing found"
    search.fill("")
    assert page.locator(".tools output").inner_text() == ""
    page.locator(".view .bar.found").first.wait_for(state="detached")


def test_a_finding_leads_to_its_place_and_its_rule(open_page: Open, hazard: Report) -> None:
    page = open_page(hazard)
    page.locator(".finding .place", has_text="show in the timeline").nth(1).click()
    assert "resource/activation/l0001/delta" in panel(page)
    page.locator(".view .bar.chosen").first.wait_for()
    assert page.locator(".timeline .view").evaluate(
        "view => view.getBoundingClientRect().top < innerHeight"
    )
    page.locator(".finding .place", has_text="node/l0002/o").first.click()
    assert panel(page).startswith("node/l0002/o")
    rule = page.locator("#rule-slot\\.shared-while-live")
    assert rule.get_attribute("open") is None
    page.locator(".finding [data-rule]", has_text="slot.shared-while-live").first.click()
    rule.locator("dl").wait_for()
    assert "How to fix it" in rule.inner_text()


def test_a_pool_and_a_total_are_shown_too(open_page: Open) -> None:
    document = sample("fragment")
    document["memory"]["dynamic_pools"][1]["minimum_request_bytes"] += 64
    document["memory"]["usable_capacity_bytes"] -= 64
    page = open_page(audit(document, prove=False))
    page.locator(".finding .place", has_text="among the pools").first.click()
    assert page.evaluate("document.activeElement.id") == "d0-pool-1"
    page.locator(".finding .place", has_text="in the capacity").first.click()
    assert page.evaluate("document.activeElement.id") == "d0-capacity"


def test_users_in_the_panel_lead_to_their_nodes(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    page.click('.view [data-name="resource/activation/l0003/q"]')
    page.locator(".timeline .panel button", has_text="node/l0003/attn").click()
    assert panel(page).startswith("node/l0003/attn")
    page.locator(".view .column").wait_for()


def test_zooming_keeps_the_place_and_shows_names(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    for _ in range(6):
        page.get_by_label("Zoom in").click()
    page.locator(".axis text", has_text="node/l0004").first.wait_for()
    assert page.locator(".timeline .view").evaluate("view => view.scrollLeft") > 0
    page.get_by_label("Show the whole plan").click()
    assert (
        page.locator(".timeline .view").evaluate("view => view.scrollWidth - view.clientWidth") <= 1
    )


MOST_DRAWN = """() => {
  const view = document.querySelector('.view');
  let frames = 0;
  let most = 0;
  return new Promise((done) => {
    const frame = () => {
      most = Math.max(most, view.querySelectorAll('svg *').length);
      if (frames === 40) return done(most);
      frames += 1;
      view.scrollLeft = frames * 37;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
}"""


def test_of_a_thousand_nodes_those_in_view_are_drawn(open_page: Open) -> None:
    report = audit(models.decoder(100), prove=False)
    page = open_page(report)
    for name in ("state f16", "static allocations"):
        heading(page, name).click()
    assert page.locator(".view svg *").count() < 4000
    for _ in range(5):
        page.get_by_label("Zoom in").click()
    assert page.locator(".view svg *").count() < 1500
    assert page.evaluate(MOST_DRAWN) < 1500
