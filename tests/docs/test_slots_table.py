"""The table of ``docs/slots.md`` is what the command writes."""

from __future__ import annotations

from tests.docs.slots_table import PAGE, written


def test_the_table_is_up_to_date() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == written(text), "run: python -m tests.docs.slots_table"
    assert "| qwen3.5-4b | 354 | 340 MiB |" in text
