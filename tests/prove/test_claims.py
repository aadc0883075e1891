"""Each claim against a plan that was corrupted just so: refuted by the solver alone.

No concrete rule runs here. What is asserted is the claim, its counterexample, and that the
independent check accepts it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.counterexamples import Shape
from ferrum_verify.counterexamples.checking import check_counterexample
from ferrum_verify.limits import Limits
from ferrum_verify.plan.frontier import largest_sequences, largest_tokens
from ferrum_verify.prove import claims
from ferrum_verify.prove.bindings import layout_claims, owner_claims
from ferrum_verify.prove.capacity import batch_need, frontier_claims, sequence_claims
from ferrum_verify.prove.claims import claims_of, plan_of
from ferrum_verify.prove.obligation import Proved, Refuted, Undecided
from ferrum_verify.prove.prover import Proof, prove
from ferrum_verify.prove.sizes import descriptor_claims
from ferrum_verify.reading.parse import subject_of

if TYPE_CHECKING:
    from ferrum_verify.derive.bindings import BindingLayout

POOLS = "/memory/dynamic_pools"
ROWS = "/memory/dynamic_descriptors"


def prove_fragment(fragment: Any, execution: Any = "fenced") -> Proof:
    subject, _ = subject_of(fragment)
    assert subject is not None
    plan = plan_of(subject, execution, ordered=True)
    assert plan is not None
    return prove(
        claims_of(plan), Limits(), lambda found: check_counterexample(fragment, found, execution)
    )


def refuted(fragment: Any, rule: str, execution: Any = "fenced") -> list[Any]:
    """The refuted claims that mirror a rule; none of any rule may be undecided."""
    proof = prove_fragment(fragment, execution)
    assert not proof.of(Undecided), [v.outcome for v in proof.of(Undecided)]
    return [v for v in proof.of(Refuted) if v.obligation.rule.id == rule]


def edited(edits: dict[str, Any]) -> Any:
    fragment = sample("fragment")
    apply_edits(fragment, edits)
    return fragment


@pytest.mark.parametrize("execution", ["in-order", "fenced", "concurrent"])
def test_every_claim_about_the_sample_is_proved(execution: Any) -> None:
    proof = prove_fragment(sample("fragment"), execution)
    assert not proof.of(Refuted)
    assert not proof.of(Undecided)
    assert len(proof.of(Proved)) > 80


SHARED = {
    f"{POOLS}/0/step_resource_slots/1": {
        "kind": "ordered_single_fence_step_wave",
        "resource_ids": ["act/key", "act/query"],
    },
    f"{POOLS}/0/step_resource_slots/3": {"kind": "dedicated", "resource_ids": ["act/output"]},
}


@pytest.mark.parametrize("execution", ["in-order", "fenced", "concurrent"])
def test_a_shared_slot_is_refuted_by_a_schedule(execution: Any) -> None:
    (verdict,) = refuted(edited(SHARED), "slot.shared-while-live", execution)
    found = verdict.counterexample.to_wire()
    assert {found["left"]["resource"], found["right"]["resource"]} == {"act/key", "act/query"}
    assert [node["id"] for node in found["nodes"]] == [
        "node/embed",
        "node/key",
        "node/query",
        "node/attention",
    ]
    assert found["at"] == 2


def test_a_retained_resource_that_shares_is_refuted_by_an_overlap() -> None:
    (verdict,) = refuted(
        edited({"/retained_completion_resources": ["act/output"]}), "slot.retained-shared"
    )
    found = verdict.counterexample.to_wire()
    assert found["left"] == {"resource": "act/output", "start": 0, "end": 128}
    assert found["right"] == {"resource": "act/key", "start": 0, "end": 64}
    assert found["byte"] == 0


def test_rows_that_may_overlap_are_refuted_by_a_schedule() -> None:
    fragment = edited(
        {
            "/nodes/4/dependencies": ["node/attention", "node/key"],
            "/nodes/5/dependencies": ["node/embed"],
        }
    )
    (fenced,) = refuted(fragment, "liveness.rows-overlap")
    assert fenced.obligation.names == ("node/attention", "node/head")
    assert fenced.counterexample is None  # `node/output` waits for the one before the other starts
    (verdict,) = refuted(fragment, "liveness.rows-overlap", "concurrent")
    assert verdict.obligation.names == fenced.obligation.names
    found = verdict.counterexample.to_wire()
    assert found["left"]["resource"] == "scratch/attention"
    assert found["right"]["resource"] == "scratch/head"


@pytest.mark.parametrize(("pool", "peak"), [(3, 2047), (6, 319)])
def test_a_peak_that_is_too_low_is_refuted(pool: int, peak: int) -> None:
    fragment = edited({f"{POOLS}/{pool}/minimum_invocation_peak_bytes": peak})
    (verdict,) = refuted(fragment, "liveness.peak")
    assert verdict.counterexample.to_wire() == {
        "kind": "shape",
        "shape": {"sequences": 1, "tokens": 1, "pages": 1},
        "bytes": peak + 1,
        "limit": peak,
        "limit_from": f"{POOLS}/{pool}/minimum_invocation_peak_bytes",
    }


def test_a_demand_that_passes_u64_is_refuted_at_the_fewest_tokens() -> None:
    fragment = edited({f"{ROWS}/8/demand/tokens/bytes_per_token": 2**60})
    (verdict,) = refuted(fragment, "descriptor.size-overflow")
    assert verdict.counterexample.to_wire() == {
        "kind": "shape",
        "shape": {"sequences": 1, "tokens": 16, "pages": 1},
        "overflow": True,
    }


def test_an_alignment_that_masks_cannot_round_to_is_refuted() -> None:
    # 128 bytes: masks give (128 + 47) & ~47 = 128, and the least multiple of 48 is 144.
    fragment = edited(
        {f"{ROWS}/0/alignment_bytes": 48, f"{ROWS}/0/demand": {"fixed": {"bytes": 128}}}
    )
    (verdict,) = refuted(fragment, "descriptor.alignment")
    assert verdict.counterexample.to_wire() == {
        "kind": "shape",
        "shape": {"sequences": 1, "tokens": 1, "pages": 1},
        "bytes": 144,
        "limit": 128,
        "limit_from": f"{ROWS}/0",
    }


def test_a_demand_that_shrinks_is_refuted() -> None:
    path = f"{ROWS}/10/demand/bounded_shape_buckets/buckets/1/bytes"
    (verdict,) = refuted(edited({path: 1024}), "descriptor.illegal-demand")
    found = verdict.counterexample
    assert (found.bytes, found.limit) == (2048, 1024)
    assert found.shape == Shape(1, 1, 1)


@pytest.mark.parametrize(
    "demand",
    [
        {
            "affine": {
                "fixed_bytes": 0,
                "bytes_per_sequence": 1000,
                "maximum_sequences": 4,
                "bytes_per_token": 1000,
                "maximum_tokens": 4096,
            }
        },
        {"pages": {"bytes_per_page": 1000, "maximum_pages": 1048576}},
        {"tokens": {"bytes_per_token": 12345679, "maximum_tokens": 1000003}},
    ],
)
def test_demands_of_odd_strides_are_proved_at_once(demand: dict[str, Any]) -> None:
    fragment = edited({f"{ROWS}/8/demand": demand})
    subject, _ = subject_of(fragment)
    assert subject is not None
    assert subject.memory is not None
    row = subject.memory.dynamic_descriptors[8]
    proof = prove([descriptor_claims(row, "/row")], Limits(), lambda _: True)
    assert len(proof.of(Proved)) == 3


def test_a_pool_ceiling_that_is_too_low_is_refuted() -> None:
    fragment = edited({f"{POOLS}/1/theoretical_ceiling_bytes": "4095"})
    (verdict,) = refuted(fragment, "pool.ceiling")
    assert verdict.obligation.location == "/memory/dynamic_pools/1/theoretical_ceiling_bytes"


def test_a_budget_that_is_too_low_is_refuted_at_the_smallest_shape() -> None:
    path = "/memory/reusable_execution/buckets/2/pool_budgets/0/step_bytes"
    verdicts = refuted(edited({path: 25087}), "reusable.budget")
    (verdict,) = verdicts
    found = verdict.counterexample
    assert found.limit == 25087
    assert found.bytes == 25088
    assert found.shape == Shape(1, 64, 1)


def test_an_invocation_budget_that_is_too_low_is_refuted() -> None:
    path = "/memory/reusable_execution/buckets/1/pool_budgets/1/invocation_bytes"
    (verdict,) = refuted(edited({path: 8191}), "reusable.budget")
    assert verdict.counterexample.bytes == 8192
    assert verdict.counterexample.shape == Shape(2, 1, 1)


def test_lanes_that_do_not_fit_are_refuted() -> None:
    fragment = edited({f"{POOLS}/0/reusable_workspace_ceiling_bytes": 56063})
    (verdict,) = refuted(fragment, "pool.reusable-ceiling")
    assert (verdict.counterexample.bytes, verdict.counterexample.limit) == (56064, 56063)


def test_a_plan_that_does_not_fit_is_refuted() -> None:
    fragment = edited(
        {"/memory/policy_capacity_bytes": 150000, "/memory/usable_capacity_bytes": 141808}
    )
    (verdict,) = refuted(fragment, "capacity.exceeds-usable")
    assert (verdict.counterexample.bytes, verdict.counterexample.limit) == (144704, 141808)


def test_a_frontier_that_is_claimed_too_far_is_refuted() -> None:
    fragment = edited(
        {"/memory/policy_capacity_bytes": 250000, "/memory/usable_capacity_bytes": 241808}
    )
    plan = _plan(fragment)
    headroom = claims.headroom_of(plan, lambda capacity: largest_tokens(capacity, 1))
    assert headroom is not None
    assert headroom.refused_bytes is not None
    need = batch_need(plan.memory, plan.descriptors)
    assert need is not None
    for wrong, fate in ((1, "does not fit"), (-1, "still fits")):
        moved = replace(headroom, tokens=headroom.tokens + wrong)
        proof = prove(
            [frontier_claims(plan.memory, "/memory", need, moved)],
            Limits(),
            lambda found: check_counterexample(fragment, found),
        )
        (verdict,) = proof.of(Refuted)
        assert fate in verdict.obligation.says(None)
        # That a long sequence is refused is no fault of the plan.
        assert verdict.counterexample is None


def test_a_number_of_sequences_that_is_claimed_too_far_is_refuted() -> None:
    plan = _plan(sample("fragment"))
    memory = plan.memory.model_copy(update={"usable_capacity_bytes": 170_000})
    plan = replace(plan, memory=memory)
    headroom = claims.headroom_of(plan, lambda capacity: largest_sequences(capacity, 1))
    assert headroom is not None
    assert headroom.refused_bytes is not None
    assert headroom.sequences == 2
    need = batch_need(plan.memory, plan.descriptors)
    assert need is not None
    for wrong, fate in ((0, ""), (1, "do not fit"), (-1, "still fit")):
        moved = replace(headroom, sequences=headroom.sequences + wrong)
        proof = prove([sequence_claims(memory, "/memory", need, moved)], Limits(), lambda _: True)
        told = [verdict.obligation.says(None) for verdict in proof.of(Refuted)]
        assert all(fate in text for text in told)
        assert len(told) == abs(wrong)


def test_totals_that_pass_u64_are_refuted() -> None:
    fragment = edited({f"{POOLS}/0/minimum_step_bytes": 2**64 - 1})
    (verdict,) = refuted(fragment, "capacity.total-overflow")
    assert "within u64" in verdict.obligation.claim


def _plan(fragment: Any) -> claims.Plan:
    subject, _ = subject_of(fragment)
    assert subject is not None
    plan = plan_of(subject, "fenced", ordered=True)
    assert plan is not None
    return plan


def _layout() -> tuple[claims.Plan, BindingLayout]:
    plan = _plan(sample("fragment"))
    pool = plan.memory.dynamic_pools[6]
    assert plan.subject.order is not None
    layouts = claims.layouts_under_test(pool, plan.memory, plan.subject.order)
    return plan, layouts[0]


def _refuted_layout(layout: BindingLayout, plan: claims.Plan) -> list[str]:
    nodes = plan.subject.nodes
    assert nodes is not None
    owners = {index: node.binding_resource for index, node in enumerate(nodes)}
    proof = prove(
        [
            layout_claims(layout, "/arena", plan.descriptors, Shape(1, 1, 16)),
            owner_claims(layout, "/arena", owners),
        ],
        Limits(),
        lambda _: True,
    )
    assert not proof.of(Undecided)
    return sorted(v.obligation.id.removeprefix("/arena: ") for v in proof.of(Refuted))


def test_a_sound_arena_is_proved() -> None:
    plan, layout = _layout()
    assert _refuted_layout(layout, plan) == []


@pytest.mark.parametrize(
    ("slot", "change", "claims_broken"),
    [
        (1, {"physical_offset_bytes": 128}, ["apart", "covers"]),
        (1, {"physical_offset_bytes": 256}, ["covers"]),
        (1, {"physical_offset_bytes": 200}, ["aligned binding/head", "covers"]),
        (0, {"capacity_size_bytes": 128}, ["covers", "projected binding/attention"]),
        (
            0,
            {"capacity_size_bytes": 0},
            [
                "aligned binding/attention",
                "covers",
                "projected binding/attention",
            ],
        ),
        (1, {"node_index": 3}, ["owners"]),
        (1, {"resource_id": "binding/attention"}, ["owners", "projected binding/attention"]),
    ],
)
def test_a_corrupted_arena_is_refuted(
    slot: int, change: dict[str, Any], claims_broken: list[str]
) -> None:
    plan, layout = _layout()
    slots = list(layout.slots)
    slots[slot] = replace(slots[slot], **change)
    assert _refuted_layout(replace(layout, slots=tuple(slots)), plan) == claims_broken


def test_overlapping_slots_show_the_first_byte_that_both_hold() -> None:
    plan, layout = _layout()
    slots = list(layout.slots)
    slots[1] = replace(slots[1], physical_offset_bytes=128)
    wrong = replace(layout, slots=tuple(slots))
    proof = prove(
        [layout_claims(wrong, "/arena", plan.descriptors, Shape(1, 1, 16))],
        Limits(),
        lambda _: True,
    )
    found = next(v.counterexample for v in proof.of(Refuted) if v.obligation.id.endswith("apart"))
    assert found is not None
    assert found.to_wire()["byte"] == 128
