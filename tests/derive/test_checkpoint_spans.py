"""Token spans: what is permitted, what a merge permits, and where 64 bits end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrum_verify.derive.spans import NoCommonSpan, merge_boundaries, merge_spans
from ferrum_verify.deriving.checkpoints import derive_sequence_checkpoint
from ferrum_verify.documents.checkpoint import BoundaryConstraint, TokenSpan
from tests.derive import checkpoint_bundles as make

LARGEST = (1 << 64) - 1


def span(minimum: int = 1, alignment: int = 1) -> TokenSpan:
    return TokenSpan(minimum_tokens=minimum, alignment=alignment)


def boundary(prefix: TokenSpan, suffix: TokenSpan) -> BoundaryConstraint:
    return BoundaryConstraint(prefix=prefix, suffix=suffix)


small_spans = st.builds(span, st.integers(1, 30), st.integers(1, 12))
wide_spans = st.builds(
    span,
    st.integers(1, 1 << 32),
    st.sampled_from([1, 2, 3, 5, 16, 64, 1 << 31, 1 << 62, 3**39, 5**27]),
)


@pytest.mark.parametrize(
    ("minimum", "alignment", "smallest"),
    [(1, 1, 1), (1, 16, 16), (16, 16, 16), (17, 16, 32), (LARGEST, 1, LARGEST)],
)
def test_the_smallest_legal_count(minimum: int, alignment: int, smallest: int) -> None:
    one = span(minimum, alignment)
    assert one.smallest == smallest
    assert one.permits(smallest)
    assert not one.permits(smallest - alignment)


def test_the_engines_own_example() -> None:
    merged = merge_boundaries([boundary(span(1, 4), span(1, 3)), boundary(span(1, 6), span(1, 2))])
    assert (merged.prefix.alignment, merged.suffix.alignment) == (12, 6)
    assert merged.permits(5, 17, 23)
    assert not merged.permits(5, 17, 20)
    assert not merged.permits(5, 11, 17)
    assert not merged.permits(17, 17, 23)


@pytest.mark.parametrize("query", [(0, 0, 5), (0, 5, 5), (5, 4, 9), (0, 9, 5)])
def test_prefix_and_suffix_are_never_empty_or_negative(query: tuple[int, int, int]) -> None:
    assert not boundary(span(), span()).permits(*query)


def test_without_providers_every_positive_count_is_legal() -> None:
    assert merge_spans([]) == span(1, 1)
    assert merge_boundaries([]) == boundary(span(), span())


@given(st.lists(small_spans, max_size=4), st.integers(0, 400))
def test_a_merge_permits_exactly_what_all_permit(spans: list[TokenSpan], tokens: int) -> None:
    by_all = tokens > 0 and all(one.permits(tokens) for one in spans)
    assert merge_spans(spans).permits(tokens) == by_all


@given(
    st.lists(st.builds(boundary, small_spans, small_spans), max_size=3),
    st.integers(0, 60),
    st.integers(0, 120),
    st.integers(0, 240),
)
def test_merged_boundaries_permit_exactly_what_all_permit(
    constraints: list[BoundaryConstraint], processed: int, cut: int, prompt: int
) -> None:
    by_all = processed < cut < prompt and all(
        constraint.permits(processed, cut, prompt) for constraint in constraints
    )
    assert merge_boundaries(constraints).permits(processed, cut, prompt) == by_all


@given(st.lists(wide_spans, min_size=1, max_size=4))
def test_a_merge_is_refused_exactly_where_no_count_of_64_bits_is_left(
    spans: list[TokenSpan],
) -> None:
    # The alignments are products of powers of 2, 3 and 5, so the multiple is found by primes.
    multiple = 1
    for prime in (2, 3, 5):
        power = 1
        while any(one.alignment % (power * prime) == 0 for one in spans):
            power *= prime
        multiple *= power
    highest = max(one.minimum_tokens for one in spans)
    first = multiple * ((highest - 1) // multiple + 1)
    try:
        merged = merge_spans(spans)
    except NoCommonSpan:
        assert first > LARGEST
    else:
        assert merged.smallest == first <= LARGEST
        assert all(one.permits(first) for one in spans)


@given(st.lists(st.builds(boundary, small_spans, small_spans), max_size=4))
def test_the_order_of_providers_does_not_matter(constraints: list[BoundaryConstraint]) -> None:
    assert merge_boundaries(constraints[::-1]) == merge_boundaries(constraints)
    rotated = constraints[1:] + constraints[:1]
    assert merge_boundaries(rotated) == merge_boundaries(constraints)


def test_alignments_without_common_multiple() -> None:
    with pytest.raises(NoCommonSpan, match="no common multiple"):
        merge_spans([span(1, 1 << 63), span(1, 3)])


def test_a_common_multiple_of_the_largest_count() -> None:
    assert merge_spans([span(1, LARGEST), span(1, 3), span(1, 5)]).alignment == LARGEST


def test_a_minimum_above_the_last_multiple() -> None:
    assert merge_spans([span(1, 1 << 63), span(1 << 63, 1)]).smallest == 1 << 63
    with pytest.raises(NoCommonSpan, match="no multiple of"):
        merge_spans([span(1, 1 << 63), span((1 << 63) + 1, 1)])


def test_prefix_and_suffix_share_64_bits() -> None:
    half = 1 << 63
    left = boundary(span(half - 1), span(1))
    assert merge_boundaries([left, boundary(span(1), span(half))]).suffix.smallest == half
    with pytest.raises(NoCommonSpan, match="together"):
        merge_boundaries([boundary(span(half), span(1)), boundary(span(1), span(half))])


@pytest.mark.parametrize(("side", "word"), [("prefix", "prefixes"), ("suffix", "suffixes")])
def test_the_text_names_the_side(side: str, word: str) -> None:
    whole = {"prefix": span(), "suffix": span()}
    constraints = [boundary(**(whole | {side: span(1, alignment)})) for alignment in (1 << 63, 3)]
    with pytest.raises(NoCommonSpan, match=word):
        merge_boundaries(constraints)


def test_a_layout_permits_what_its_merged_boundaries_permit() -> None:
    bundle = make.sound()
    for node, prefix, suffix in (("embed", 4, 3), ("head", 6, 2)):
        make.contract_of(bundle, node)["boundaries"] = {
            "prefix": make.span(1, prefix),
            "suffix": make.span(1, suffix),
        }
    layout = derive_sequence_checkpoint(bundle).layout
    assert layout is not None
    assert layout.permits(0, 12, 18)
    # Neither the capacity of the states (128 tokens) nor capture of a whole input plays a part.
    assert layout.permits(0, 1200, 1206)
    assert not layout.permits(0, 12, 12)


def test_the_reason_covers_every_way_to_have_no_boundary() -> None:
    half = 1 << 63
    for embed, head in (
        ((1, half, 1, 1), (1, 3, 1, 1)),
        ((1, half, 1, 1), (half + 1, 1, 1, 1)),
        ((half, 1, 1, 1), (1, 1, half, 1)),
    ):
        bundle = make.sound()
        for node, (least, step, tail, tail_step) in (("embed", embed), ("head", head)):
            make.contract_of(bundle, node)["boundaries"] = {
                "prefix": make.span(least, step),
                "suffix": make.span(tail, tail_step),
            }
        assert derive_sequence_checkpoint(bundle).reasons == ["boundary_intersection"]


def test_providers_without_contract_do_not_constrain() -> None:
    bundle = make.sound()
    make.contract_of(bundle, "embed")["boundaries"]["prefix"] = make.span(1, 1 << 63)
    make.provider_of(bundle, "head")["checkpoint_capability"] = "unsupported"
    reasons = derive_sequence_checkpoint(bundle).reasons
    assert "boundary_intersection" not in reasons
