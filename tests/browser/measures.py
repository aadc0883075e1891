"""Where things stand on the page, in pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, Locator


def box(element: Locator) -> FloatRect:
    """The rectangle of an element that is on the page."""
    found = element.bounding_box()
    assert found is not None
    return found


def widths(elements: Locator) -> list[float]:
    return [box(element)["width"] for element in elements.all()]
