"""The timeline moves as in Perfetto: by drag, wheel and the keys W, A, S and D."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.measures import box

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from ferrum_verify.report.model import Report
    from tests.browser.conftest import Open

BAR = '.view [data-name="resource/activation/l0003/q"] > rect'


def left(page: Page) -> float:
    found: float = page.locator(".timeline .view").evaluate("view => view.scrollLeft")
    return found


def length(page: Page) -> float:
    """How wide the whole plan is, in pixels."""
    found: float = page.locator(".timeline .space").evaluate("space => space.offsetWidth")
    return found


def drag(page: Page, start: tuple[float, float], by: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + by[0] / 2, start[1] + by[1] / 2)
    page.mouse.move(start[0] + by[0], start[1] + by[1])
    page.mouse.up()


def test_a_drag_moves_the_plan_and_chooses_nothing(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    for _ in range(5):
        page.get_by_label("Zoom in").click()
    view = box(page.locator(".timeline .view"))
    before, words = left(page), page.locator(".timeline .panel").inner_text()
    drag(page, (view["x"] + 700, view["y"] + 90), (-200, 0))
    assert left(page) == pytest.approx(before + 200, abs=1)
    assert page.locator(".timeline .panel").inner_text() == words
    drag(page, (view["x"] + 500, view["y"] + 90), (150, 0))
    assert left(page) == pytest.approx(before + 50, abs=1)


def test_a_drag_with_shift_zooms_to_the_stretch(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    bar = box(page.locator(BAR).first)
    page.keyboard.down("Shift")
    drag(page, (bar["x"] - 20, bar["y"] + 5), (bar["width"] + 40, 0))
    page.keyboard.up("Shift")
    page.wait_for_function("document.querySelector('.timeline .space').offsetWidth > 3000")
    grown = box(page.locator(BAR).first)
    view = box(page.locator(".timeline .view"))
    assert grown["width"] > 5 * bar["width"]
    assert view["x"] < grown["x"] < grown["x"] + grown["width"] < view["x"] + view["width"]


def test_the_wheel_with_ctrl_keeps_what_is_under_the_pointer(
    open_page: Open, decoder: Report
) -> None:
    page = open_page(decoder)
    bar = box(page.locator(BAR).first)
    middle = bar["x"] + bar["width"] / 2
    page.mouse.move(middle, bar["y"] + 5)
    page.keyboard.down("Control")
    for _ in range(4):
        page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    page.wait_for_function("document.querySelector('.timeline .space').offsetWidth > 2000")
    grown = box(page.locator(BAR).first)
    assert grown["width"] > 2 * bar["width"]
    assert grown["x"] < middle < grown["x"] + grown["width"]


def test_w_a_s_d_zoom_and_move_without_a_click(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    whole = length(page)
    page.hover(BAR)
    for _ in range(8):
        page.keyboard.press("w")
    assert length(page) > 3 * whole
    before = left(page)
    page.keyboard.press("d")
    assert left(page) > before + 50
    page.keyboard.press("a")
    assert left(page) == pytest.approx(before, abs=2)
    for _ in range(12):
        page.keyboard.press("S")
    assert length(page) <= whole + 1


def test_letters_typed_into_the_search_move_nothing(open_page: Open, decoder: Report) -> None:
    page = open_page(decoder)
    page.hover(BAR)
    whole = length(page)
    search = page.locator("input[type=search]")
    search.focus()
    page.keyboard.type("swas")
    assert search.input_value() == "swas"
    assert length(page) == whole


@pytest.mark.parametrize("width", [1280, 390])
def test_a_tooltip_leaves_the_neighbours_in_view(
    open_page: Open, decoder: Report, width: int
) -> None:
    page = open_page(decoder, width=width)
    page.locator(".timeline .view").scroll_into_view_if_needed()
    bars = page.locator(".view .bar:not(.run)")
    page.locator(".view .bar").nth(bars.count() // 2).hover()
    tip, over = box(page.locator("#tip")), box(page.locator(".view .bar:hover"))
    assert tip["width"] > 100
    gap = max(tip["y"] - over["y"] - over["height"], over["y"] - tip["y"] - tip["height"])
    assert gap >= 20
    assert tip["x"] >= 0
    assert tip["x"] + tip["width"] <= width
