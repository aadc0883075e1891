"""Bytes that are copied for two states: apart at every boundary, or shown where they meet."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ferrum_verify.counterexamples.checking import check_counterexample
from ferrum_verify.limits import Limits
from ferrum_verify.prove.checkpoint_ranges import Copied, never_meet, range_claims
from ferrum_verify.prove.obligation import Proved, Refuted
from ferrum_verify.prove.prover import prove
from ferrum_verify.rules import checkpoint, value
from tests.prove import span_bundles as make

CONTRACT = f"{make.SELECTED['attention']}/checkpoint_capability/completed_boundary"
COUNTER = "/plan/payload/nodes/2/values/2"
PAGED = {
    "allocator": {"fixed_block_arena": {"block_bytes": 256}},
    "view": {"paged_regions": {"block_bytes": 256}},
}


def shared(offset: int) -> make.Json:
    """The sample in which the counter lies in the cache's resource, ``offset`` bytes into it.

    The cache has 256 positions of 32 bytes each.
    """
    tensor = {"dimensions": [8], "element_type": "f16", "layout": "contiguous"}
    component = {
        "component_id": None,
        "resource_id": "resource.cache",
        "offset_bytes": offset,
        "length_bytes": 16,
        "element_type": "f16",
    }
    document = make.bundle(
        edits={
            "/program/states/1/tensor": tensor,
            "/program/states/1/initialization": "none",
            f"{COUNTER}/tensor": tensor,
            f"{COUNTER}/storage/components": [component],
            f"{CONTRACT}/state_ports/1/storage_profile": PAGED,
            f"{make.SELECTED['attention']}/dynamic_storage_bindings/-": {
                "role": "input",
                "ordinal": 2,
                "storage": {"accepted_profiles": [PAGED]},
            },
        }
    )
    bindings = document["catalog"]["providers"]["operation.attention"][1][
        "dynamic_storage_bindings"
    ]
    bindings[:] = [b for b in bindings if b["ordinal"] != 2 or b["role"] != "input"] + bindings[-1:]
    rows = document["plan"]["payload"]["memory"]["dynamic_descriptors"]
    rows[:] = [row for row in rows if row["base_resource_id"] != "resource.counter"]
    return document


def overlap(tokens: int, start: int, size: int, byte: int) -> dict[str, Any]:
    return {
        "kind": "overlap",
        "shape": {"sequences": 1, "tokens": tokens, "pages": 1},
        "left": {"resource": "resource.cache", "start": 0, "end": 32 * tokens},
        "right": {"resource": "resource.cache", "start": start, "end": start + size},
        "byte": byte,
    }


def test_states_of_other_resources_need_no_claim() -> None:
    claims = make.proof_of(make.bundle()).claims
    assert never_meet not in [verdict.obligation.formula.encode for verdict in claims]


def test_a_value_inside_a_growing_prefix_meets_it_later() -> None:
    document = shared(offset=100)
    proof = make.proof_of(document)
    assert make.refuted(proof) == [("checkpoint.state-layout", overlap(4, 100, 16, 100))]
    assert make.messages(proof) == [
        "the states state.cache and state.counter meet in resource.cache at byte 100 from 4 "
        "tokens on, and are not the same content in the same form"
    ]
    subject = make.subject(document)
    assert [finding.rule for finding in checkpoint.check(subject)] == ["checkpoint.state-layout"]
    assert "value.overlap" not in {finding.rule for finding in value.check(subject)}


def test_a_value_at_the_last_position_meets_it_at_the_last_boundary() -> None:
    assert make.refuted(make.proof_of(shared(offset=256 * 32 - 16))) == [
        ("checkpoint.state-layout", overlap(256, 8176, 16, 8176))
    ]


def test_a_value_in_the_first_position_meets_it_at_once() -> None:
    document = shared(offset=30)
    assert make.refuted(make.proof_of(document)) == [("value.overlap", overlap(1, 30, 16, 30))]
    subject = make.subject(document)
    assert "value.overlap" in {finding.rule for finding in value.check(subject)}
    assert list(checkpoint.check(subject)) == []


def test_without_a_checkpoint_only_the_first_token_matters() -> None:
    inside, across = shared(offset=100), shared(offset=30)
    for document in (inside, across):
        del document["program"]["checkpoint_inputs"]
    assert make.refuted(make.proof_of(inside)) == []
    assert len(make.proof_of(inside).of(Proved)) == 1
    assert make.refuted(make.proof_of(across)) == [("value.overlap", overlap(1, 30, 16, 30))]


def test_a_forged_overlap_is_refused() -> None:
    document = shared(offset=100)
    good = overlap(4, 100, 16, 100)
    assert check_counterexample(document, good)
    assert check_counterexample(document, {**good, "left": good["right"], "right": good["left"]})
    for forged in (
        overlap(3, 100, 16, 100),
        overlap(4, 100, 16, 99),
        overlap(4, 100, 16, 128),
        overlap(4, 100, 32, 100),
        overlap(4, 96, 16, 100),
        overlap(257, 100, 16, 100),
        {**good, "right": good["left"]},
        {**good, "left": {**good["left"], "resource": "resource.hidden"}},
    ):
        assert not check_counterexample(document, forged)
    beyond = {**good, "shape": {"sequences": 1, "tokens": 0, "pages": 1}}
    assert not check_counterexample(document, beyond)


def copied(
    name: str,
    start: int,
    size: int,
    *,
    grows: bool = False,
    most: int = 2**64 - 1,
    content: Any = 0,
) -> Copied:
    return Copied(name, f"value.{name}", "r", start, size, grows, most, content, "")


def decide(*states: Copied) -> list[tuple[int, ...]]:
    """The least boundary and byte of each pair that meets."""
    proof = prove([range_claims(states, "", captured=True)], Limits(), lambda _: True)
    assert len(proof.of(Proved)) + len(proof.of(Refuted)) == len(proof.verdicts)
    return [v.outcome.values for v in proof.of(Refuted) if isinstance(v.outcome, Refuted)]


def test_the_same_content_in_the_same_place_is_no_overlap() -> None:
    prefix = copied("a", 0, 32, grows=True, most=1 << 20)
    assert decide(prefix, copied("b", 0, 32, grows=True, most=1 << 20)) == []
    assert decide(prefix, copied("b", 0, 32, grows=True, most=1 << 20, content=1)) == [(1, 0)]
    assert decide(copied("a", 8, 8), copied("b", 8, 8)) == []
    # Equal at one token, and at no other.
    assert decide(prefix, copied("b", 0, 32)) == [(2, 0)]


def test_states_that_follow_each_other_alike_are_asked_once() -> None:
    row = [copied(f"s{index}", 64 * index, 64) for index in range(40)]
    proof = prove([range_claims(row, "", captured=True)], Limits(), lambda _: True)
    assert (len(proof.of(Proved)), proof.formulas) == (780, 39)
    # What is shown of the one that is out of line are its own bytes.
    row[20] = copied("s20", 64 * 20 - 1, 64)
    assert decide(*row) == [(1, 63)]
    proof = prove([range_claims(row, "", captured=True)], Limits(), lambda _: True)
    shown = [v.counterexample.to_wire() for v in proof.claims if v.counterexample is not None]
    assert [wire["byte"] for wire in shown] == [64 * 20 - 1]


def test_sizes_near_the_largest() -> None:
    step = 1 << 52
    prefix = copied("a", 0, step, grows=True, most=2**12 - 1)
    end = step * (2**12 - 1)
    assert decide(prefix, copied("b", end, 1)) == []
    assert decide(prefix, copied("b", end - 1, 1)) == [(2**12 - 1, end - 1)]
    assert decide(copied("a", 2**64 - 2, 1), copied("b", 2**64 - 1, 1)) == []
    # Bytes times tokens pass 64 bits; a product that wraps would show nothing.
    wide = copied("a", 0, 1 << 40, grows=True, most=1 << 40)
    assert decide(wide, copied("b", (1 << 63) + 5, 8)) == [((1 << 23) + 1, (1 << 63) + 5)]


states = st.builds(
    lambda start, size, grows, most, content: copied(
        "s",
        0 if grows else start,
        size,
        grows=grows,
        most=most if grows else 2**64 - 1,
        content=(size, grows, content),
    ),
    st.integers(0, 40),
    st.integers(1, 12),
    st.booleans(),
    st.just(5),
    st.integers(0, 1),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(states, min_size=2, max_size=4))
@example([copied("s", 0, 3), copied("s", 0, 3), copied("s", 2, 3)])
def test_any_states_against_brute_force(states: list[Copied]) -> None:
    def bytes_at(state: Copied, tokens: int) -> set[int]:
        return set(range(state.start, state.start + state.size * (tokens if state.grows else 1)))

    def meet(left: Copied, right: Copied, tokens: int) -> bool:
        one, other = bytes_at(left, tokens), bytes_at(right, tokens)
        return bool(one & other) and not (one == other and left.content == right.content)

    first = next(
        (
            tokens
            for tokens in range(1, 6)
            for index, left in enumerate(states)
            for right in states[:index]
            if meet(left, right, tokens)
        ),
        None,
    )
    found = decide(*states)
    assert min((tokens for tokens, _ in found), default=None) == first
