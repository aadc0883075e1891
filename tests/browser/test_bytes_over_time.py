"""Bytes over time: what the page reckons is what brute force over the plan gives."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

import models
from ferrum_verify import audit
from ferrum_verify.catalogue.samples import sample
from tests.browser.measures import box
from tests.live_bytes import Brute

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from ferrum_verify.report.model import Report
    from tests.browser.conftest import Open

Batch = tuple[int, int, int, int]
PROBLEMS = {
    "decoder": models.decoder(3),
    "hybrid": models.problem("qwen3.5-4b", layers=4),
    "sample": sample("problem"),
}
SHAPES: dict[str, list[Batch]] = {
    "decoder": [(1, 1, 1, 1), (3, 1000, 777, 300), (64, 4096, 64, 32768), (8, 8, 4096, 4096)],
    "hybrid": [(1, 1, 1, 1), (5, 1234, 4000, 513), (64, 64, 1, 32768)],
    "sample": [(1, 1, 1, 1), (2, 13, 11, 1), (4, 64, 16, 1)],
}
NAMES = ("Sequences", "Tokens in the step", "Tokens that each sequence holds", "Pages")


def plan_of(report: Report, problem: dict[str, Any]) -> tuple[dict[str, Any], frozenset[str]]:
    """The JSON of a problem's plan, and the resources that are read after its end."""
    subject = report.documents[0].subject
    assert subject is not None
    assert subject.memory is not None
    kept = frozenset(problem.get("retained_completion_resources", ()))
    return {"nodes": problem["nodes"], "memory": subject.memory.to_wire()}, kept


def take(page: Page, batch: Batch) -> Batch:
    """Asks for a batch, and says which one the page reckons: what it does not count is 1."""
    taken = []
    for name, number in zip(NAMES, batch, strict=True):
        exact = page.get_by_label(f"{name}, exactly")
        if exact.count():
            exact.fill(str(number))
            exact.press("Enter")
        taken.append(number if exact.count() else 1)
    sequences, tokens, held, pages = taken
    return (sequences, tokens, held, pages)


def table(page: Page) -> dict[str, list[int]]:
    """The columns of the table that has the bytes of each node."""
    values = page.locator("[data-footprint] details.values")
    if values.get_attribute("open") is None:
        values.locator("summary").click()
    found: list[list[str]] = values.locator("table").evaluate(
        "table => [...table.rows].map(row => [...row.cells].map(cell => cell.textContent))"
    )
    (heads, *rows) = found
    return {
        head: [int(row[index].replace(",", "")) for row in rows]
        for index, head in enumerate(heads)
        if index
    }


def figures(page: Page, pool: str) -> list[int]:
    """Live at the peak, held, without sharing, saved and fragmented, in bytes."""
    row: Locator = page.locator(f"[data-footprint] tr[data-pool='{pool}'] [data-bytes]")
    return [int(str(cell.get_attribute("data-bytes"))) for cell in row.all()]


def exact_bytes(words: str) -> int:
    """The exact number of "1.50 MiB (1,572,864 bytes)"."""
    (number,) = re.findall(r"([\d,]+) bytes\)", words)
    return int(number.replace(",", ""))


@pytest.mark.parametrize("name", PROBLEMS)
def test_live_bytes_are_those_of_brute_force(open_page: Open, name: str) -> None:
    report = audit(PROBLEMS[name], prove=False)
    document, kept = plan_of(report, PROBLEMS[name])
    page = open_page(report)
    for wanted in SHAPES[name]:
        batch = take(page, wanted)
        brute = Brute(document, batch, kept)
        columns = table(page)
        assert columns["Live bytes"] == brute.live(), batch
        pools = document["memory"]["dynamic_pools"]
        assert len(columns) == len(pools) + 1
        for pool in pools:
            short = pool["pool_id"].rpartition("/")[2][:8]
            live, held, apart = brute.live(pool["pool_id"]), brute.held(pool), brute.apart(pool)
            assert columns[f"pool {short}"] == live
            assert figures(page, short) == [
                max(live), held, apart, apart - held, held - max(live)
            ]  # fmt: skip
        peak = max(brute.live())
        assert figures(page, "drawn")[0] == peak
        assert figures(page, "static") in ([], [brute.static] * 3 + [0, 0])
        at = document["nodes"][brute.live().index(peak)]["id"]
        assert page.locator("[data-footprint] .peak").inner_text().count(f"while {at} runs") == 1


def test_a_slider_and_a_bucket_set_the_batch(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    assert page.get_by_label("Batch").locator("option:checked").inner_text() == "the largest batch"
    page.get_by_label("Batch").select_option(label="decode: 8 sequences, 8 tokens, 4,096 pages")
    facts = page.locator("[data-footprint] .peak")
    assert "at 8 sequences, 8 tokens, 1 held by each, 4,096 pages" in facts.inner_text()
    before = figures(page, "drawn")
    slider = page.get_by_label("Tokens in the step", exact=True)
    slider.focus()
    page.keyboard.press("End")
    assert page.get_by_label("Tokens in the step, exactly").input_value() == "4,096"
    assert figures(page, "drawn")[0] > before[0]
    page.keyboard.press("Home")
    assert "8 sequences, 1 token, 1 held by each" in facts.inner_text()
    page.get_by_label("Sequences, exactly").fill("1000000")
    page.keyboard.press("Enter")
    assert page.get_by_label("Sequences, exactly").input_value() == "64"
    chosen = page.get_by_label("Batch").locator("option:checked")
    assert chosen.text_content() == "a batch of your own"


def test_the_peak_lists_its_largest_holders(open_page: Open) -> None:
    problem = PROBLEMS["hybrid"]
    report = audit(problem, prove=False)
    document, kept = plan_of(report, problem)
    page = open_page(report)
    brute = Brute(document, (64, 4096, 64, 32768), kept)
    live = brute.live()
    page.locator("[data-footprint] .view").scroll_into_view_if_needed()
    head = box(page.locator("[data-footprint] .peak-head"))
    page.mouse.click(head["x"] + head["width"] / 2, head["y"] + 120)
    panel = page.locator("[data-footprint] .panel")
    at = live.index(max(live))
    assert panel.locator("h5").inner_text().startswith("Peak: while node/l0000/delta runs")
    listed = [
        (item.locator("code").inner_text(), exact_bytes(item.inner_text()))
        for item in panel.locator("li").all()
    ]
    largest = sorted(brute.holders(at).values(), reverse=True)
    assert [size for _, size in listed] == largest[: len(listed)]
    assert len(listed) == 12
    assert all(brute.holders(at)[name] == size for name, size in listed)
    rest = largest[12:]
    assert f"and {len(rest)} more resources" in panel.inner_text()
    panel.locator("a", has_text="resource/scratch/l0000/delta").click()
    assert "resource/scratch/l0000/delta" in page.locator(".timeline .panel").inner_text()


def test_nodes_are_walked_by_keyboard(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    page.locator("[data-footprint] .view").focus()
    panel = page.locator("[data-footprint] .panel h5")
    page.keyboard.press("ArrowRight")
    assert panel.inner_text().startswith("While node/embedding runs, node 0")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    assert panel.inner_text().startswith("While node/final_norm runs, node 89")
    page.keyboard.press("p")
    assert panel.inner_text().startswith("Peak: while")
    page.locator("[data-footprint] .column").wait_for()


def test_pools_are_left_out_and_static_bytes_put_in(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    before = figures(page, "drawn")[0]
    page.get_by_label("Draw static allocations").check()
    static = figures(page, "static")[0]
    assert figures(page, "drawn")[0] == before + static
    page.get_by_label("Draw static allocations").uncheck()
    page.get_by_label("Draw pool fa87eec3").uncheck()
    assert figures(page, "drawn")[0] == before - figures(page, "fa87eec3")[0]
    assert page.locator("[data-area='pool fa87eec3']").count() == 0


def test_addresses_show_slots_as_high_as_they_are(open_page: Open) -> None:
    report = audit(PROBLEMS["hybrid"], prove=False)
    document, kept = plan_of(report, PROBLEMS["hybrid"])
    page = open_page(report)
    pool = max(document["memory"]["dynamic_pools"], key=lambda each: len(each["resource_ids"]))
    short = pool["pool_id"].rpartition("/")[2][:8]
    page.get_by_label("What is drawn").select_option(value=f"pool {short}")
    page.locator("[data-footprint] .band").first.wait_for()
    brute = Brute(document, (64, 4096, 64, 32768), kept)
    heights = [box(band)["height"] for band in page.locator("[data-footprint] .band").all()]
    slots = [
        max(brute.sizes[name] for name in slot["resource_ids"])
        for slot in pool["step_resource_slots"]
    ]
    assert heights == pytest.approx(
        [sum(heights) * slot / sum(slots) for slot in slots], abs=len(slots)
    )
    scale = sum(heights) / sum(slots)
    bars = page.locator("[data-footprint] .bar")
    assert bars.count() == sum(len(slot["resource_ids"]) for slot in pool["step_resource_slots"])
    for bar in bars.all()[:12]:
        height = box(bar.locator("rect"))["height"]
        wanted = brute.sizes[str(bar.get_attribute("data-name"))] * scale
        assert height == pytest.approx(wanted, abs=2)
    bars.first.hover()
    assert "Held in" in page.locator("#tip").inner_text()


def test_sizes_past_53_bits_are_exact(open_page: Open) -> None:
    document = sample("fragment")
    huge = 2**63 + 1
    row = document["memory"]["dynamic_descriptors"][0]
    row["demand"] = {"fixed": {"bytes": huge}}
    row["alignment_bytes"] = 1
    row["storage"]["profile"] = {"allocator": "linear_arena", "view": "contiguous"}
    page = open_page(audit(document, prove=False))
    take(page, (1, 1, 1, 1))
    live = Brute(document, (1, 1, 1, 1)).live()
    assert max(live) > huge
    assert table(page)["Live bytes"] == live
    assert f"({max(live):,} bytes)" in page.locator("[data-footprint] .peak").inner_text()
    assert "It does not fit." in page.locator("[data-footprint] .peak").inner_text()


def test_a_size_that_is_not_defined_is_named(open_page: Open) -> None:
    document = sample("fragment")
    row = document["memory"]["dynamic_descriptors"][0]
    row["alignment_bytes"] = 3
    page = open_page(audit(document, prove=False))
    words = page.locator("[data-footprint] .peak").inner_text()
    assert f"the size of {row['base_resource_id']} is not defined, so nothing is drawn" in words
    page.locator("[data-footprint] .view").click()
    page.keyboard.press("p")
    assert page.locator("[data-footprint] svg .area").count() == 0


def test_members_that_are_live_together_hold_bytes_twice(open_page: Open) -> None:
    document = sample("fragment")
    pool = document["memory"]["dynamic_pools"][0]
    merged = sorted({name for slot in pool["step_resource_slots"] for name in slot["resource_ids"]})
    pool["step_resource_slots"] = [
        {"kind": "ordered_single_fence_step_wave", "resource_ids": merged}
    ]
    page = open_page(audit(document, prove=False))
    row = page.locator("[data-footprint] .held tbody tr", has_text="held twice").first
    assert "held twice" in row.inner_text()


SLIDES = """() => {
  const slider = document.querySelector('[data-count=tokens] input[type=range]');
  const started = performance.now();
  for (let notch = 0; notch < 20; notch += 1) {
    slider.value = notch * 50;
    slider.dispatchEvent(new Event('input'));
  }
  return (performance.now() - started) / 20;
}"""


def test_a_deep_plan_stays_quick(open_page: Open) -> None:
    page = open_page(audit(models.decoder(100), prove=False))
    assert page.evaluate(SLIDES) < 250  # milliseconds a step, on a busy machine
    assert page.locator("[data-footprint] svg *").count() < 200
    page.get_by_label("What is drawn").select_option(index=3)
    page.locator("[data-footprint] .band").first.wait_for()
    assert page.locator("[data-footprint] svg *").count() < 6000
