"""Comparing spans: the arithmetic against brute force, and at the edges of 64 bits."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from ferrum_verify.contracts.spans import (
    LostBoundary,
    boundary_words,
    smallest_lost_boundary,
    smallest_refused,
    span_words,
)
from ferrum_verify.documents.checkpoint import BoundaryConstraint, TokenSpan

LARGEST = 2**64 - 1
COUNTS = 10_000


def span(minimum: int, alignment: int) -> TokenSpan:
    return TokenSpan(minimum_tokens=minimum, alignment=alignment)


def boundaries(prefix: TokenSpan, suffix: TokenSpan) -> BoundaryConstraint:
    return BoundaryConstraint(prefix=prefix, suffix=suffix)


def first_refused(base: TokenSpan, head: TokenSpan, limit: int) -> int | None:
    counts = range(base.alignment, limit + 1, base.alignment)
    return next((n for n in counts if base.permits(n) and not head.permits(n)), None)


def test_small_spans_exhaustively() -> None:
    sizes = [span(minimum, alignment) for minimum, alignment in product(range(1, 13), repeat=2)]
    for base, head in product(sizes, repeat=2):
        assert smallest_refused(base, head, 200) == first_refused(base, head, 200)


def test_random_spans_up_to_ten_thousand() -> None:
    random = Random(4)
    seen = set()
    for _ in range(1_000):
        alignment = random.choice([1, 2, 3, 16, 48, 64, 100, 999, 5_000])
        base = span(random.randint(1, COUNTS), alignment)
        factor = random.choice([1, 1, 2, 3])
        head = span(
            random.choice([1, base.minimum_tokens, random.randint(1, COUNTS)]),
            random.choice([alignment * factor, max(1, alignment // factor), 7, 1]),
        )
        found = smallest_refused(base, head, COUNTS)
        assert found == first_refused(base, head, COUNTS)
        seen.add(found is None)
    assert seen == {True, False}


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        (span(1, 1), span(1, 1), None),
        (span(1, 1), span(LARGEST, 1), 1),
        (span(LARGEST, 1), span(1, LARGEST), None),
        (span(1, 2**63), span(1, 2**62), None),
        # The second multiple of 2^63 no longer fits, so the one that does is all there is.
        (span(1, 2**63), span(2**63, 1), None),
        (span(1, 2**63), span(1, 3), 2**63),
        (span(1, 2**62), span(1, 2**63), 2**62),
        (span(1, 3), span(1, LARGEST), 3),
        (span(LARGEST - 1, 1), span(1, 2), LARGEST),
    ],
)
def test_at_the_edge(base: TokenSpan, head: TokenSpan, expected: int | None) -> None:
    assert smallest_refused(base, head) == expected


def test_nothing_below_the_limit_is_lost() -> None:
    assert smallest_refused(span(1, 16), span(1, 32)) == 16
    assert smallest_refused(span(1, 16), span(1, 32), 16) == 16
    assert smallest_refused(span(1, 16), span(1, 32), 15) is None


def test_lost_boundaries_against_brute_force() -> None:
    random = Random(7)
    seen = set()
    for _ in range(300):
        base, head = (
            boundaries(
                span(random.randint(1, 8), random.randint(1, 6)),
                span(random.randint(1, 8), random.randint(1, 6)),
            )
            for _ in range(2)
        )
        held = random.choice([3, 9, 100])
        lost = (
            (prompt, boundary)
            for prompt in range(2, 80)
            for boundary in range(1, min(prompt, held + 1))
            if base.permits(0, boundary, prompt) and not head.permits(0, boundary, prompt)
        )
        expected = next(lost, None)
        found = smallest_lost_boundary(base, head, held)
        seen.add(found is None)
        if expected is None:
            assert found is None
        else:
            assert found == LostBoundary(boundary=expected[1], prompt=expected[0])
    assert seen == {True, False}


def test_a_lost_boundary_fits_a_prompt() -> None:
    base = boundaries(span(1, 2**63), span(1, 1))
    # The prefix of 2^63 is refused, and any prompt with it has room for a suffix.
    assert smallest_lost_boundary(base, boundaries(span(1, 3), span(1, 1))) == LostBoundary(
        2**63, 2**63 + 1
    )
    # Here the refused suffix and the smallest prefix together pass 64 bits.
    large = boundaries(span(2**63, 1), span(1, 1))
    assert smallest_lost_boundary(large, boundaries(span(1, 1), span(1, 1))) is None


def test_in_words() -> None:
    assert span_words(span(1, 1)) == "1 or more tokens"
    assert span_words(span(1, 16)) == "a multiple of 16 tokens"
    assert span_words(span(17, 16)) == "a multiple of 16 tokens, at least 32"
    assert boundary_words(boundaries(span(1, 1_024), span(2, 1))) == (
        "a multiple of 1,024 tokens before it and 2 or more tokens after it"
    )
