"""How lists and ranges read in a sentence."""

from __future__ import annotations

from ferrum_verify.findings.wording import bytes_words, in_series


def test_a_series_and_a_range_of_bytes_in_words() -> None:
    assert [in_series("abc"[:size]) for size in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert [bytes_words(0, 64), bytes_words(5, 6)] == ["bytes 0 to 63", "byte 5"]
    assert bytes_words(1_000, 2**64) == "bytes 1,000 to its end"
