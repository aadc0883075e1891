"""A counterexample is stepped through, by button, slider and keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.counterexamples import ScheduleCounterexample

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from ferrum_verify.report.model import Report
    from tests.browser.conftest import Open


def first(page: Page) -> Locator:
    return page.locator("[data-counterexample='0']")


def state(shown: Locator, node: str) -> str | None:
    return shown.locator(f'.event[data-node="{node}"]').get_attribute("data-state")


def test_it_opens_at_the_clash(open_page: Open, hazard: Report) -> None:
    shown = first(open_page(hazard))
    schedule = hazard.findings[0].counterexample
    assert isinstance(schedule, ScheduleCounterexample)
    heading = shown.locator(".panel h5").inner_text()
    assert heading == f"Time {schedule.at}: both are live, and hold the same bytes"
    assert shown.locator(".schedule .together").count() == 1
    assert state(shown, "node/l0000/delta") == "running"
    assert state(shown, "node/l0000/z") == "running"
    assert state(shown, "node/l0000/o") == "waiting"
    assert state(shown, "node/embedding") == "done"
    for name in (schedule.left.resource, schedule.right.resource):
        assert name in shown.locator(".sharers").inner_text()


def test_buttons_step_through_every_event(open_page: Open, hazard: Report) -> None:
    shown = first(open_page(hazard))
    schedule = hazard.findings[0].counterexample
    assert isinstance(schedule, ScheduleCounterexample)
    shown.get_by_label("First event").click()
    assert shown.locator(".panel h5").inner_text() == "Time 0"
    assert "not yet live" in shown.locator(".panel").inner_text()
    seen = [shown.locator(".panel h5").inner_text()]
    events = {time for node in schedule.nodes for time in (node.start, node.end)}
    for _ in range(len(events) - 1):
        shown.get_by_label("One event on").click()
        seen.append(shown.locator(".panel h5").inner_text())
    assert len(set(seen)) == len(events)
    assert state(shown, schedule.nodes[-1].id) == "done"
    assert "dead since" in shown.locator(".panel").inner_text()
    shown.get_by_label("One event back").click()
    assert state(shown, schedule.nodes[-1].id) == "running"
    shown.get_by_label("Go to the time of the clash").click()
    assert "both are live" in shown.locator(".panel h5").inner_text()


def test_keys_and_slider_step_too(open_page: Open, hazard: Report) -> None:
    page = open_page(hazard)
    shown = first(page)
    shown.get_by_label("One event back").focus()
    page.keyboard.press("Home")
    assert shown.locator(".panel h5").inner_text() == "Time 0"
    page.keyboard.press("ArrowRight")
    assert shown.locator(".panel h5").inner_text() == "Time 1"
    slider = shown.get_by_label("Time in the schedule")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert shown.locator(".panel h5").inner_text() == "Time 2"
    assert slider.get_attribute("aria-valuetext") == "time 2"


def test_users_of_both_are_marked(open_page: Open, hazard: Report) -> None:
    shown = first(open_page(hazard))
    letters = {
        str(event.get_attribute("data-node")): (event.text_content() or "")
        for event in shown.locator(".event").all()
    }
    assert letters["node/l0000/z"] == "A"
    assert letters["node/l0000/norm1"] == "A"
    assert letters["node/l0000/delta"] == "B"
    assert letters["node/embedding"] == ""


def test_a_long_schedule_shows_who_matters_until_all_are_asked_for(
    open_page: Open, hazard: Report
) -> None:
    page = open_page(hazard)
    third = page.locator("[data-counterexample='2']")
    schedule = hazard.findings[2].counterexample
    assert isinstance(schedule, ScheduleCounterexample)
    third.locator("summary").click()
    third.locator(".event").first.wait_for()
    assert len(schedule.nodes) > 24
    assert third.locator(".event").count() < 12
    third.get_by_text("show all").click()
    assert third.locator(".event").count() == len(schedule.nodes)
