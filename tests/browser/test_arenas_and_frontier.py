"""The map of the binding arenas and the capacity frontier, by pointer and keyboard."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

import models
from ferrum_verify import audit, compile_program_bindings
from ferrum_verify.catalogue.samples import sample
from tests.browser.measures import box, widths

if TYPE_CHECKING:
    from ferrum_verify.report.model import Report
    from tests.browser.conftest import Open


def test_slots_are_to_scale(open_page: Open) -> None:
    document = sample("fragment")
    page = open_page(audit(document, prove=False))
    strips = page.locator(".strip")
    layouts = compile_program_bindings(document)
    assert strips.count() == len(layouts)
    sizes = {
        slot.node_id: slot.capacity_size_bytes
        for layout in layouts
        if layout.physical_size_bytes == max(each.physical_size_bytes for each in layouts)
        for slot in layout.slots
    }
    drawn = sorted(widths(strips.last.locator(".bar rect")))
    total = sum(sizes.values())
    assert drawn == pytest.approx(
        sorted(size / total * sum(drawn) for size in sizes.values()), abs=2
    )


def test_a_slot_shows_its_bytes(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    page.locator(".strip").first.locator("[data-slot='1']").hover()
    text = page.locator("#tip").inner_text()
    assert "node/l0001/attn" in text
    assert "2,112 to 4,223" in text
    page.locator(".strip").first.focus()
    page.keyboard.press("End")
    panel = page.locator("[data-arenas] .panel")
    assert "node/l0007/attn" in panel.inner_text()
    page.keyboard.press("ArrowDown")
    assert "decode: 8 sequences" in panel.inner_text()
    page.keyboard.press("ArrowLeft")
    assert "node/l0006/attn" in panel.inner_text()


def test_a_narrow_window_has_strips_too(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder, width=600)
    assert min(widths(page.locator(".strip .arena-edge"))) > 400
    assert page.evaluate("document.documentElement.scrollWidth") <= 600


def test_one_scale_for_all_buckets_compares_them(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    edge = page.locator(".strip .arena-edge")
    before = widths(edge)
    assert max(before) - min(before) < 2
    page.get_by_text("draw all buckets to one scale").click()
    after = widths(edge)
    assert max(after) > 20 * min(after)


def test_the_frontier_is_read_by_keyboard(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    words = page.locator("[data-frontier] .panel")
    page.locator(".chart").focus()
    page.keyboard.press("End")
    assert "1 sequence of 4,096 tokens each" in words.inner_text()
    page.keyboard.press("ArrowLeft")
    assert "2 sequences of 2,048 tokens each" in words.inner_text()
    page.keyboard.press("Home")
    assert "64 sequences of 64 tokens each" in words.inner_text()


def test_the_frontier_is_read_by_pointer(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    words = page.locator("[data-frontier] .panel")
    marks = page.locator(".chart .declared, .chart .memory")
    marks.last.hover(force=True)  # the cursor may already stand there
    assert "1 sequence of 4,096 tokens" in words.inner_text()
    marks.first.hover(force=True)
    assert "64 sequences of 64 tokens" in words.inner_text()


def test_the_frontier_is_drawn_to_logarithmic_scales(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    chart = page.locator(".chart")
    places = []
    chart.focus()
    page.keyboard.press("End")
    for _ in range(4):
        mark = box(chart.locator(".cursor circle"))
        text = page.locator("[data-frontier] .panel h5").inner_text().replace(",", "")
        sequences, tokens = map(int, re.findall(r"(\d+) (?:sequence|token)", text))
        places.append((mark["x"], mark["y"], math.log2(tokens), math.log2(sequences)))
        page.keyboard.press("ArrowLeft")
    across = [(after[0] - before[0]) / (after[2] - before[2]) for before, after in pairwise(places)]
    down = [(after[1] - before[1]) / (after[3] - before[3]) for before, after in pairwise(places)]
    assert across == pytest.approx([across[0]] * 3, rel=0.02)
    assert down == pytest.approx([down[0]] * 3, rel=0.02)
    assert across[0] > 0 > down[0]


def test_the_frontier_says_when_memory_ends_it(open_page: Open) -> None:
    problem = models.decoder(8)
    minimum = audit(problem, prove=False).documents[0].subject
    assert minimum is not None
    assert minimum.memory is not None
    # Room for the weights and a little: now memory ends the frontier, not a declared maximum.
    problem["policy_capacity_bytes"] = (
        minimum.memory.static_bytes + problem["reserve_bytes"] + 64 * 2**20
    )
    page = open_page(audit(problem, prove=False))
    page.locator(".chart").focus()
    page.keyboard.press("End")
    text = page.locator("[data-frontier] .panel").inner_text()
    assert "One token more for each is refused: it needs" in text
    table = page.locator("#d0-capacity .values")
    table.locator("summary").click()
    rows = [row.inner_text().split("\t") for row in table.locator("tbody tr").all()]
    assert rows[0][0] == "1"
    assert any("usable ones" in row[3] for row in rows)


def test_what_ends_the_frontier_is_told_by_shape(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    assert page.locator(".chart rect.declared").count() > 5
    assert page.locator(".chart circle.memory").count() == 0
    assert page.locator("[data-frontier] .legend").inner_text().split("\n") == [
        "● memory ends it",
        "□ a declared maximum ends it",
    ]


def test_the_frontier_stays_visible_in_the_dark(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    colors = """() => [".line", ".declared", ".grid", "text"].map((part) => {
        const style = getComputedStyle(document.querySelector(`.chart ${part}`));
        return part === "text" ? style.fill : style.stroke;
    })"""
    light = page.evaluate(colors)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(colors)
    assert all(before != after for before, after in zip(light, dark, strict=True))
