"""Each statement that is certain of plan schema 8.1, broken in a plan of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ferrum_verify import audit
from ferrum_verify.catalogue.restamp import restamp
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.counterexamples.checking import check_counterexample
from ferrum_verify.findings import DELETE, Swap
from ferrum_verify.plan.canonical import semantics_fingerprint
from tests.rules.edited import MEMORY, NODES, broken, edited, faults, rules

NOTE = "wire.schema-from-public-files"
PAYLOAD = "/plan/payload"
LAYOUT = f"{PAYLOAD}/sequence_checkpoint_layout"
WEIGHTS = f"{PAYLOAD}/execution_weights"
TRANSFORM = f"{WEIGHTS}/static_weight_transforms/0"
SCRATCH = f"{MEMORY}/static_allocations/6"
POOLS = f"{MEMORY}/dynamic_pools"
GROWTH = "checkpoint_growth_ceiling_bytes"
PROVIDER = "/catalog/providers/operation.norm/0"
IDENTITY = "/catalog/weight_materializers/weight-materializer.identity"


def today(edits: dict[str, Any], *, rehash: bool = True) -> set[str]:
    return rules(edits, sample="bundle-8.1", rehash=rehash)


def test_a_plan_of_8_1_is_verified_with_one_note() -> None:
    report = audit(sample("bundle-8.1"))
    assert report.verdict == "verified"
    assert [finding.rule for finding in report.findings] == [NOTE]
    assert "please send one" in report.findings[0].message


def test_only_a_plan_of_8_1_has_the_note() -> None:
    assert all(finding.rule != NOTE for finding in audit(sample("bundle")).findings)


@pytest.mark.parametrize("version", [(6, 0), (7, 3), (8, 0), (8, 2), (9, 0)])
def test_versions_around_it_are_read_past_and_undecided(version: tuple[int, int]) -> None:
    major, minor = version
    document = edited(
        {
            f"{PAYLOAD}/schema": {"major": major, "minor": minor},
            f"{PAYLOAD}/execution_weights": DELETE,
            f"{PAYLOAD}/of_that_version": 1,
        },
        sample="bundle-8.1",
    )
    report = audit(document, prove=False)
    assert report.verdict == "undecided"
    assert [finding.rule for finding in report.findings] == ["wire.schema-version"]
    assert "8.1" in report.findings[0].message
    # What is understood is judged by the rules of 8.1.
    pool = document["plan"]["payload"]["memory"]["dynamic_pools"][2]
    pool[GROWTH] += 64
    restamp(document)
    assert "pool.checkpoint-growth" in {finding.rule for finding in faults(document)}


@pytest.mark.parametrize(
    ("place", "rule"),
    [
        (f"{WEIGHTS}", "wire.missing-field"),
        (f"{PAYLOAD}/terminal_output_resources", "wire.missing-field"),
        (f"{NODES}/3/provider_execution_semantics", "wire.missing-field"),
        (f"{PROVIDER}/execution_semantics", "wire.missing-field"),
    ],
)
def test_what_has_no_default_is_there(place: str, rule: str) -> None:
    assert (rule, place.rpartition("/")[0]) in broken({place: DELETE}, sample="bundle-8.1")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (f"{PAYLOAD}/surprise", 1),
        (f"{WEIGHTS}/surprise", 1),
        (f"{LAYOUT}/surprise", 1),
        (f"{NODES}/0/provider_execution_semantics/surprise", 1),
        (f"{MEMORY}/checkpoint_capacity/surprise", 1),
    ],
)
def test_unknown_members_are_refused(place: str, value: int) -> None:
    assert today({place: value}) == {"wire.unknown-field"}


@pytest.mark.parametrize(
    ("place", "value", "also"),
    [
        (f"{WEIGHTS}/approximate_quality_approval", None, set()),
        (
            f"{WEIGHTS}/static_weight_transforms",
            [],
            {"static.initialization-scratch"},
        ),
        (f"{POOLS}/0/{GROWTH}", 0, set()),
        (f"{LAYOUT}", None, {"checkpoint.layout-differs", "pool.checkpoint-growth"}),
        (
            f"{MEMORY}/checkpoint_capacity",
            None,
            {"contract.policy-limit", "pool.checkpoint-growth"},
        ),
        (f"{LAYOUT}/providers/4/contract/state_ports", [], {"checkpoint.layout-differs"}),
        (f"{LAYOUT}/inputs/output_only_inputs", [], {"checkpoint.layout-differs"}),
        (
            f"{LAYOUT}/completed_input_capture",
            "unsupported",
            {"checkpoint.layout-differs"},
        ),
    ],
)
def test_a_default_is_left_out(place: str, value: Any, also: set[str]) -> None:
    assert today({place: value}) - also == {"wire.default-written"}


def test_a_memory_plan_alone_may_write_defaults() -> None:
    memory = sample("fragment")["memory"]
    plain = faults(memory)
    memory["dynamic_pools"][0][GROWTH] = 0
    memory["checkpoint_capacity"] = None
    assert faults(memory) == plain


@pytest.mark.parametrize(
    "member",
    [
        "execution_weights",
        "terminal_output_resources",
        "sequence_checkpoint_layout",
        "nodes/0/provider_execution_semantics",
        "memory/checkpoint_capacity",
    ],
)
def test_a_plan_of_5_0_has_none_of_it(member: str) -> None:
    value: Any = sample("bundle-8.1")["plan"]["payload"]
    for step in member.split("/"):
        value = value[int(step) if step.isdecimal() else step]
    found = broken({f"{PAYLOAD}/{member}": value})
    assert ("wire.unknown-field", f"{PAYLOAD}/{member}") in found


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("/catalog/weight_materializers", {}),
        (f"{PROVIDER}/execution_semantics", None),
        ("/policy/attention_execution", "portable"),
        ("/policy/execution_determinism", "bitwise_same_runtime"),
        ("/policy/memory/checkpoint_capacity", {"maximum_retained_bytes": 1}),
    ],
)
def test_nor_have_its_sources(place: str, value: Any) -> None:
    assert ("wire.unknown-field", place) in broken({place: value})


def test_each_version_has_its_own_word_for_a_selection_without_request() -> None:
    reason = f"{NODES}/0/selection/selection_reason"
    assert broken({reason: "canonical_compatible"}) == [("wire.unknown-variant", reason)]
    assert broken({reason: "deterministic_compatible"}, sample="bundle-8.1") == [
        ("wire.unknown-variant", reason)
    ]


REPLAY = "bitwise_same_runtime_with_replay"
CONTIGUOUS = "/catalog/providers/operation.attention/0/execution_semantics"


def semantics(*, replayed: bool) -> dict[str, Any]:
    return {
        "contract_version": {"major": 1, "minor": 0},
        "contract_fingerprint": semantics_fingerprint(1, 0, replayed=replayed),
        "repeatability": "bitwise_same_runtime",
        "replay_equivalence": "bitwise_eager_equivalent" if replayed else "ineligible",
    }


def rejected(required: str, *, replayed: bool) -> dict[str, Any]:
    """The contiguous attention, rejected by its node for its determinism."""
    reason = {"required": required, "available": semantics(replayed=replayed)}
    return {
        f"{NODES}/2/selection/rejected_providers/0/reasons": {
            "incompatible": [{"insufficient_execution_determinism": reason}]
        }
    }


def test_a_provider_may_be_rejected_for_its_determinism() -> None:
    strict = {"/policy/execution_determinism": REPLAY, CONTIGUOUS: semantics(replayed=False)}
    edits = rejected(REPLAY, replayed=False)
    # The mixer's own replays are ineligible, which such a policy does not allow.
    assert today(edits | strict) == {"contract.execution-determinism"}
    assert "wire.unknown-variant" in rules(edits)


@pytest.mark.parametrize(
    ("edits", "why"),
    [
        (rejected(REPLAY, replayed=False), "the policy requires bitwise_same_runtime"),
        (
            rejected(REPLAY, replayed=False) | {"/policy/execution_determinism": REPLAY},
            "where the catalog has bitwise_eager_equivalent",
        ),
        (
            rejected(REPLAY, replayed=True) | {"/policy/execution_determinism": REPLAY},
            "which is enough",
        ),
        (
            rejected(REPLAY, replayed=False)
            | {
                "/policy/execution_determinism": REPLAY,
                CONTIGUOUS: semantics(replayed=False),
                f"{NODES}/2/provider_execution_semantics": semantics(replayed=False),
                "/catalog/providers/operation.attention/1/execution_semantics": semantics(
                    replayed=False
                ),
            },
            "the replays of `provider.attention.reference`, which was selected, are ineligible too",
        ),
    ],
)
def test_such_a_rejection_agrees_with_the_rest(edits: dict[str, Any], why: str) -> None:
    found = [
        finding
        for finding in faults(edited(edits, sample="bundle-8.1"))
        if finding.rule == "graph.rejected-determinism"
    ]
    assert any(why in finding.message for finding in found)
    assert all("`node.attention`" in finding.message for finding in found)


def test_a_plan_alone_shows_what_its_policy_rejects() -> None:
    edits = rejected(REPLAY, replayed=False) | {
        f"{NODES}/2/provider_execution_semantics": semantics(replayed=False)
    }
    plan = edited(edits, sample="bundle-8.1")["plan"]
    assert "graph.rejected-determinism" in {finding.rule for finding in faults(plan)}


def test_the_hash_covers_every_new_member() -> None:
    for place in (
        f"{WEIGHTS}/source_schema_fingerprint",
        f"{NODES}/0/provider_execution_semantics/contract_fingerprint",
    ):
        assert "integrity.plan-hash" in today({place: "0" * 64}, rehash=False)
    assert "integrity.plan-hash" in today({LAYOUT: DELETE}, rehash=False)


@pytest.mark.parametrize(
    ("edits", "wanted"),
    [
        ({f"{PAYLOAD}/terminal_output_resources": []}, {"slot.terminal-output-order"}),
        (
            {f"{PAYLOAD}/terminal_output_resources": ["resource.logits", "resource.attended"]},
            {"slot.terminal-output-order"},
        ),
        (
            {f"{PAYLOAD}/terminal_output_resources/0": "resource.norm"},
            {"slot.terminal-output-unreadable"},
        ),
        (
            {f"{PAYLOAD}/terminal_output_resources/+0": "resource.attention.scratch"},
            {"slot.terminal-output-unreadable"},
        ),
    ],
)
def test_terminal_outputs(edits: dict[str, Any], wanted: set[str]) -> None:
    found = today(edits)
    assert wanted <= found
    assert found - wanted <= {"slot.terminal-outputs-differ"}


def test_a_terminal_output_shares_no_slot() -> None:
    found = today(
        {
            f"{PAYLOAD}/terminal_output_resources/-": "resource.mixed",
            "/program/outputs/-": "value.mixed",
        }
    )
    assert {"slot.retained-shared"} <= found
    document = edited(
        {f"{PAYLOAD}/terminal_output_resources/-": "resource.mixed"}, sample="bundle-8.1"
    )
    (overlap,) = [
        finding
        for finding in audit(document).findings
        if finding.rule == "slot.retained-shared" and finding.counterexample is not None
    ]
    assert overlap.counterexample is not None
    assert check_counterexample(document, overlap.counterexample, "fenced")


def test_outputs_are_of_every_binding_in_either_role() -> None:
    # The residual reads what attention wrote: an output that is an input elsewhere.
    found = today({"/program/outputs/-": "value.hidden"})
    assert "slot.terminal-outputs-differ" in found


def test_without_the_program_they_are_undecided() -> None:
    document = sample("bundle-8.1")["plan"]
    report = audit(document, prove=False)
    assert report.verdict == "undecided"
    assert {f.rule for f in report.findings if f.undecided} == {
        "slot.terminal-outputs-unknown",
        "checkpoint.layout-underived",
    }


@pytest.mark.parametrize(
    ("field", "value", "wanted"),
    [
        ("contract_version/major", 2, "wire.contract-version"),
        ("repeatability", "never", "wire.unknown-variant"),
        ("replay_equivalence", "roughly", "wire.unknown-variant"),
        ("contract_fingerprint", "0" * 64, "contract.execution-semantics"),
    ],
)
def test_execution_semantics(field: str, value: Any, wanted: str) -> None:
    assert today({f"{NODES}/1/provider_execution_semantics/{field}": value}) == {wanted}


def test_their_fingerprints() -> None:
    assert semantics_fingerprint(1, 0, replayed=False).startswith("bd310dd799501048")
    assert semantics_fingerprint(1, 0, replayed=True).startswith("c090a0186eb5c2db")


def test_what_a_policy_requires() -> None:
    place = "/policy/execution_determinism"
    assert today({place: "bitwise_same_runtime"}) == set()
    (finding,) = [
        finding
        for finding in faults(
            edited({place: "bitwise_same_runtime_with_replay"}, sample="bundle-8.1")
        )
        if finding.rule == "contract.execution-determinism"
    ]
    assert "provider.mixer" in finding.message


@pytest.mark.parametrize(
    ("edits", "wanted"),
    [
        # The pool of the counter: alignment 64; of the cache: blocks of 256.
        ({f"{POOLS}/2/{GROWTH}": 5000}, {"pool.checkpoint-growth"}),
        ({f"{POOLS}/4/{GROWTH}": 4992}, {"pool.checkpoint-growth"}),
        ({f"{POOLS}/2/{GROWTH}": DELETE}, {"pool.checkpoint-growth"}),
        ({f"{POOLS}/5/{GROWTH}": 64}, {"pool.checkpoint-growth"}),
        (
            {f"{POOLS}/2/provisioning/maximum_resident_bytes": 256},
            {"pool.resident-maximum"},
        ),
        (
            {f"{MEMORY}/theoretical_ceiling_bytes": str(397_760 + 4992 + 4864)},
            {"capacity.ceiling-mismatch"},
        ),
        (
            {f"{MEMORY}/checkpoint_capacity": {"maximum_retained_bytes": 0}},
            {"wire.range"},
        ),
        (
            {"/policy/memory/checkpoint_capacity": {"maximum_retained_bytes": 8192}},
            {"contract.policy-limit"},
        ),
        (
            {f"{MEMORY}/checkpoint_capacity": DELETE},
            {"contract.policy-limit", "pool.checkpoint-growth"},
        ),
        (
            {f"{LAYOUT}/states/1/resource_id": "resource.absent"},
            {
                "pool.checkpoint-growth-unfit",
                "pool.checkpoint-growth",
                "checkpoint.layout-differs",
            },
        ),
    ],
)
def test_growth(edits: dict[str, Any], wanted: set[str]) -> None:
    assert today(edits) == wanted


def test_two_ceilings_of_one_pool_are_refused() -> None:
    document = sample("bundle-8.1")
    memory = document["plan"]["payload"]["memory"]
    rows = {row["base_resource_id"]: row for row in memory["dynamic_descriptors"]}
    # In one pool, with another alignment: that alone is a fault of the row's pool id.
    rows["resource.cache"]["pool_id"] = rows["resource.counter"]["pool_id"]
    restamp(document)
    assert "pool.checkpoint-growth-conflict" in {finding.rule for finding in faults(document)}


@pytest.mark.parametrize(
    ("edits", "rule"),
    [
        ({f"{POOLS}/2/{GROWTH}": 4992}, "pool.checkpoint-growth-unknown"),
        ({f"{POOLS}/2/{GROWTH}": 4864}, "pool.checkpoint-growth-unfounded"),
        ({f"{POOLS}/5/{GROWTH}": 4992}, "pool.checkpoint-growth-unfounded"),
        ({f"{MEMORY}/checkpoint_capacity": DELETE}, "pool.checkpoint-growth-unfounded"),
    ],
)
def test_growth_of_a_memory_plan_alone(edits: dict[str, Any], rule: str) -> None:
    memory = edited(edits, sample="bundle-8.1")["plan"]["payload"]["memory"]
    assert rule in {finding.rule for finding in faults(memory)}


@pytest.mark.parametrize(
    ("edits", "wanted"),
    [
        ({SCRATCH: DELETE}, "static.initialization-scratch"),
        ({f"{SCRATCH}/usage": "persistent"}, "static.initialization-contract"),
        ({f"{SCRATCH}/per_instance_bytes": 8192}, "static.initialization-scratch"),
        ({f"{SCRATCH}/alignment_bytes": 64}, "static.initialization-scratch"),
        ({f"{SCRATCH}/resource_id": "resource.zzz"}, "static.initialization-scratch"),
        ({f"{SCRATCH}/lifetime": "step"}, "static.lifetime"),
        (
            {f"{SCRATCH}/storage/profile/allocator": {"fixed_block_arena": {"block_bytes": 256}}},
            "static.initialization-scratch",
        ),
        ({f"{MEMORY}/static_bytes": 2624}, "static.total-mismatch"),
        ({f"{NODES}/0/resources/-": "SCRATCH"}, "graph.resources-differ"),
        ({f"{TRANSFORM}/logical_dimensions": [256, 128]}, "static.initialization-scratch"),
        ({f"{WEIGHTS}/static_weight_transforms": DELETE}, "static.initialization-scratch"),
    ],
)
def test_initialization_scratch(edits: dict[str, Any], wanted: str) -> None:
    row = sample("bundle-8.1")["plan"]["payload"]["memory"]["static_allocations"][6]
    edits = {
        place: row["resource_id"] if value == "SCRATCH" else value for place, value in edits.items()
    }
    assert wanted in today(edits)


def test_a_second_scratch_and_one_of_a_dynamic_row_are_refused() -> None:
    row = dict(sample("bundle-8.1")["plan"]["payload"]["memory"]["static_allocations"][6])
    row["resource_id"] += "0"
    assert "static.initialization-scratch" in today({f"{MEMORY}/static_allocations/-": row})
    kind = f"{MEMORY}/dynamic_descriptors/0/kind"
    assert "wire.unknown-variant" in today({kind: "initialization_scratch"})
    assert ("wire.unknown-variant", f"{MEMORY}/static_allocations/0/kind") in broken(
        {f"{MEMORY}/static_allocations/0/kind": "initialization_scratch"}
    )


def test_the_scratch_of_gpt_oss_is_known_without_execution_dimensions() -> None:
    transform = {
        "kind": "gpt_oss_mxfp4_to_marlin",
        "source_blocks_id": "file.spare.values",
        "source_scales_id": "file.spare.scales",
        "packed_values_id": "weight.spare.packed",
        "scales_id": "weight.spare.scales",
        "logical_dimensions": [8, 256, 128],
    }
    place = f"{SCRATCH}/per_instance_bytes"
    messages = [
        finding
        for finding in faults(edited({TRANSFORM: transform, place: 1}, sample="bundle-8.1"))
        if finding.location == place
    ]
    assert [finding.expected for finding in messages] == [256 * 128 // 2]
    transform["execution_dimensions"] = [8, 256, 256]
    assert "static.initialization-scratch-unknown" in today({TRANSFORM: transform})


def test_the_scratch_is_as_large_as_the_largest_transform() -> None:
    document = sample("bundle-8.1")
    transforms = document["plan"]["payload"]["execution_weights"]["static_weight_transforms"]
    larger = {"logical_dimensions": [4, 256, 128], "matrices_per_output": 2}
    transforms.append(transforms[0] | larger)
    restamp(document)
    place = f"{SCRATCH}/per_instance_bytes"
    (found,) = [finding for finding in faults(document) if finding.location == place]
    assert (found.expected, found.actual) == (2 * 256 * 128, 16_384)


@pytest.mark.parametrize(
    ("edits", "wanted"),
    [
        ({f"{TRANSFORM}/source_scales_id": "file.spare.values"}, "value.weight-transform"),
        ({f"{TRANSFORM}/scales_id": "weight.spare.packed"}, "value.weight-transform"),
        ({f"{TRANSFORM}/scales_id": "weight.absent"}, "value.weight-transform"),
        ({f"{TRANSFORM}/source_scales_id": "file.other"}, "value.weight-transform"),
        ({f"{TRANSFORM}/logical_dimensions": [128, 64]}, "value.weight-transform"),
        ({f"{TRANSFORM}/logical_dimensions": [128]}, "value.weight-transform"),
        (
            {f"{WEIGHTS}/component_sources/weight.spare.packed": Swap("PACKED")},
            "value.weight-transform",
        ),
        ({f"{WEIGHTS}/component_sources/weight.norm.values": []}, "value.weight-sources"),
        (
            {f"{WEIGHTS}/component_sources/weight.norm.values": ["file.a", "file.a"]},
            "value.weight-sources",
        ),
        ({f"{WEIGHTS}/component_sources/weight.extra": ["file.a"]}, "value.weight-sources"),
        ({f"{WEIGHTS}/schema/format_id": "weight-format.other"}, "value.weight-schema"),
        ({f"{WEIGHTS}/materializer_version/major": 0}, "value.weight-schema"),
        (
            {
                f"{WEIGHTS}/schema/components/0/encoding": {
                    "block_quantized": {"format_id": "awq", "bytes_per_block": 1}
                }
            },
            "value.weight-schema",
        ),
        (
            {f"{WEIGHTS}/materializer_id": "weight-materializer.lost"},
            "contract.weight-materializer",
        ),
        (
            {f"{WEIGHTS}/materializer_implementation_fingerprint": "0" * 64},
            "contract.weight-materializer",
        ),
        ({IDENTITY: DELETE}, "contract.weight-materializers"),
        ({f"{IDENTITY}/fidelity": "approximate"}, "contract.weight-materializers"),
        (
            {f"{IDENTITY}/implementation_fingerprint": "0" * 64},
            "contract.identity-materializer-unknown",
        ),
        ({f"{IDENTITY}/id": "weight-materializer.other"}, "contract.weight-materializers"),
        ({"/catalog/weight_materializers": {}}, "contract.weight-materializers"),
    ],
)
def test_execution_weights(edits: dict[str, Any], wanted: str) -> None:
    edits = {
        place: ["file.spare.scales", "file.spare.values"] if isinstance(value, Swap) else value
        for place, value in edits.items()
    }
    assert wanted in today(edits)


def test_transforms_ascend_and_make_each_component_once() -> None:
    document = sample("bundle-8.1")
    transforms = document["plan"]["payload"]["execution_weights"]["static_weight_transforms"]
    transforms.append(dict(transforms[0]))
    restamp(document)
    messages = [f.message for f in faults(document) if f.rule == "value.weight-transform"]
    assert any("both make `weight.spare.packed`" in message for message in messages)
    assert any("stands twice" in message for message in messages)


@pytest.mark.parametrize(
    ("edits", "place"),
    [
        ({f"{LAYOUT}/boundaries/prefix/minimum_tokens": 3}, f"{LAYOUT}/boundaries"),
        ({f"{LAYOUT}/input_dependency": "entire_token_input"}, f"{LAYOUT}/input_dependency"),
        ({f"{LAYOUT}/completed_input_capture": DELETE}, LAYOUT),
        ({f"{LAYOUT}/providers/0": DELETE}, f"{LAYOUT}/providers"),
        (
            {f"{LAYOUT}/providers/1/contract/boundaries/prefix/alignment": 7},
            f"{LAYOUT}/providers/1",
        ),
        ({f"{LAYOUT}/states/0/layout": "contiguous_boundary_value"}, f"{LAYOUT}/states/0"),
        ({f"{LAYOUT}/states/1/offset_bytes": 8}, f"{LAYOUT}/states/1"),
        ({f"{LAYOUT}/inputs/token_input": "value.other"}, f"{LAYOUT}/inputs"),
    ],
)
def test_the_stated_layout_is_the_derived_one(edits: dict[str, Any], place: str) -> None:
    assert broken(edits, sample="bundle-8.1") == [("checkpoint.layout-differs", place)]


def test_a_plan_without_checkpoints_states_no_layout() -> None:
    silent = {"/catalog/providers/operation.mixer/0/checkpoint_capability": "unsupported"}
    assert today(silent) == {"checkpoint.layout-differs"}
    growth = {
        f"{POOLS}/{index}/{field}": value
        for index, own in ((2, 256), (4, 32_768))
        for field, value in ((GROWTH, DELETE), ("provisioning/maximum_resident_bytes", own))
    }
    assert today(silent | {LAYOUT: DELETE} | growth) == set()


@pytest.mark.parametrize("word", ["auto", "fast"])
def test_a_policy_names_how_attention_runs(word: str) -> None:
    assert "wire.unknown-variant" in today({"/policy/attention_execution": word})


@pytest.mark.parametrize("member", ["attention_execution", "execution_determinism", "admission"])
def test_a_policy_of_another_type_is_undecided(member: str) -> None:
    document = edited({f"/policy/{member}": DELETE}, sample="bundle-8.1")
    report = audit(document, prove=False)
    assert report.verdict == "undecided"
    (finding,) = [finding for finding in report.findings if finding.undecided]
    assert finding.rule == "wire.policy-type"
    assert member in finding.message


@pytest.mark.parametrize(
    "member",
    [
        "memory/reserve_bytes",
        "memory/dynamic_storage_profile_order/0/view",
        "admission/allow_defer",
        "reusable_execution/buckets/0/capacity/maximum_tokens",
        "version/minor",
    ],
)
def test_nor_is_one_that_lacks_something_within(member: str) -> None:
    document = edited({f"/policy/{member}": DELETE}, sample="bundle-8.1")
    report = audit(document, prove=False)
    assert report.verdict == "undecided"
    (finding,) = [finding for finding in report.findings if finding.severity != "note"]
    assert finding.rule == "wire.policy-type"
    assert member.replace("/", ".") in finding.message
    # What is there in another form is at fault all the same.
    assert "wire.type" in today({f"/policy/{member.partition('/')[0]}": "text"})


@pytest.mark.parametrize("member", ["attention_execution", "execution_determinism"])
def test_a_policy_has_no_null_for_what_is_new(member: str) -> None:
    edits: dict[str, Any] = {f"/policy/{member}": None}
    assert broken(edits, sample="bundle-8.1") == [("wire.policy-type", "/policy")]
    alone = edited(edits, sample="bundle-8.1")["policy"]
    (finding,) = faults(alone)
    assert (finding.rule, finding.undecided) == ("wire.policy-type", True)
    assert member in finding.message


@pytest.mark.parametrize(
    "place",
    [
        WEIGHTS,
        f"{PAYLOAD}/terminal_output_resources",
        f"{NODES}/3/provider_execution_semantics",
        f"{PROVIDER}/execution_semantics",
        "/catalog/weight_materializers",
    ],
)
def test_null_is_none_of_the_new_members(place: str) -> None:
    assert ("wire.type", place) in broken({place: None}, sample="bundle-8.1")


def test_nor_in_a_catalog_alone() -> None:
    catalog = sample("catalog-8.1") | {"weight_materializers": None}
    assert [(each.rule, each.location) for each in faults(catalog)] == [
        ("wire.type", "/weight_materializers")
    ]


def test_a_policy_may_have_no_room_for_checkpoints() -> None:
    edits = {"/policy/memory/checkpoint_capacity": None, f"{MEMORY}/checkpoint_capacity": DELETE}
    assert "wire.type" not in today(edits)
    assert "wire.policy-type" not in today(edits)


def test_a_resolved_model_plan_is_read_as_a_bundle() -> None:
    document = resolved(sample("bundle-8.1"))
    report = audit(document)
    assert report.verdict == "verified"
    assert report.documents[0].kind == "resolved-model-plan"
    assert [finding.rule for finding in report.findings] == [NOTE]


def test_its_hashes_are_checked_in_the_order_in_which_it_stands() -> None:
    document = resolved(sample("bundle-8.1"))
    program = document["parts"]["prepared_family"]["program"]
    document["parts"]["prepared_family"]["program"] = dict(reversed(program.items()))
    found = {(finding.rule, finding.location) for finding in faults(document)}
    assert found == {
        (
            "integrity.program-fingerprint",
            "/parts/execution_plan/payload/program_fingerprint",
        )
    }


def test_findings_in_it_point_into_the_file() -> None:
    document = resolved(sample("bundle-8.1"))
    parts = document["parts"]
    parts["capabilities"]["surprise"] = 1
    parts["runtime"]["memory"]["capacity_bytes"] = -1
    parts["execution_plan"]["payload"]["memory"]["dynamic_pools"][2][GROWTH] = 64
    locations = {finding.location for finding in faults(document)}
    assert {
        "/parts/capabilities/surprise",
        "/parts/runtime/memory/capacity_bytes",
        f"/parts/execution_plan/payload/memory/dynamic_pools/2/{GROWTH}",
    } <= locations
    for location in locations:
        value = document
        for step in location.split("/")[1:]:
            value = value[int(step)] if isinstance(value, list) else value[step]


def test_a_counterexample_in_it_holds() -> None:
    document = resolved(sample("bundle-8.1"))
    memory = document["parts"]["execution_plan"]["payload"]["memory"]
    memory["dynamic_pools"][5]["theoretical_ceiling_bytes"] = "1024"
    found = [f for f in audit(document).findings if f.counterexample is not None]
    assert found
    for finding in found:
        assert finding.counterexample is not None
        assert check_counterexample(document, finding.counterexample, "fenced")


@pytest.mark.parametrize("version", [1, 3, "2"])
def test_another_wire_version_is_a_fault(version: Any) -> None:
    document = resolved(sample("bundle-8.1"))
    document["wire_version"] = version
    assert [finding.location for finding in faults(document)] == ["/wire_version"]


def resolved(bundle: dict[str, Any]) -> dict[str, Any]:
    """A resolved model plan of the parts of a bundle, with members that nobody reads."""
    document: dict[str, Any] = json.loads(
        json.dumps(
            {
                "wire_version": 2,
                "parts": {
                    "source": {"path": "weights.safetensors"},
                    "prepared_family": {"family": "sample", "program": bundle["program"]},
                    "capabilities": bundle["catalog"],
                    "runtime": bundle["policy"],
                    "execution_plan": bundle["plan"],
                    "resources": [],
                },
                "fingerprint": "0" * 64,
            }
        )
    )
    return document


def test_a_catalog_that_names_no_materializer_has_the_identity_alone() -> None:
    silent = {"/catalog/weight_materializers": DELETE}
    assert "contract.weight-materializer" in today(silent)
    build = sample("bundle-8.1")["catalog"]["weight_materializers"]["weight-materializer.identity"]
    identity = silent | {
        f"{WEIGHTS}/materializer_id": build["id"],
        f"{WEIGHTS}/materializer_version": {"major": 2, "minor": 0},
        f"{WEIGHTS}/materializer_implementation_fingerprint": build["implementation_fingerprint"],
    }
    assert today(identity) == set()
    assert today(identity | {f"{WEIGHTS}/materializer_version/major": 3}) == {
        "contract.weight-materializer"
    }


@pytest.mark.parametrize("named", [True, False])
def test_the_identity_s_own_build_was_computed_and_not_observed(named: bool) -> None:
    edits: dict[str, Any] = {
        f"{WEIGHTS}/materializer_id": "weight-materializer.identity",
        f"{WEIGHTS}/materializer_version": {"major": 2, "minor": 0},
        f"{WEIGHTS}/materializer_implementation_fingerprint": "0" * 64,
    }
    if named:
        edits[f"{IDENTITY}/implementation_fingerprint"] = "0" * 64
    else:
        edits["/catalog/weight_materializers"] = DELETE
    report = audit(edited(edits, sample="bundle-8.1"), prove=False)
    assert report.verdict == "undecided"
    (finding,) = [each for each in report.findings if each.severity != "note"]
    assert (finding.rule, finding.severity) == ("contract.identity-materializer-unknown", "warning")


def without_checkpoints() -> dict[str, Any]:
    """Edits that leave a plan as engines wrote it before layout, capacity and growth came."""
    return {
        LAYOUT: DELETE,
        f"{MEMORY}/checkpoint_capacity": DELETE,
        "/policy/memory/checkpoint_capacity": DELETE,
    } | {
        f"{POOLS}/{index}/{field}": value
        for index, own in ((2, 256), (4, 32_768))
        for field, value in ((GROWTH, DELETE), ("provisioning/maximum_resident_bytes", own))
    }


def test_a_plan_from_before_checkpoint_members_is_undecided() -> None:
    report = audit(edited(without_checkpoints(), sample="bundle-8.1"), prove=False)
    assert report.verdict == "undecided"
    assert [each.rule for each in report.findings if each.undecided] == [
        "checkpoint.layout-unstated"
    ]
    # One that has a capacity comes from an engine that knows layouts.
    edits = without_checkpoints()
    for place in (f"{MEMORY}/checkpoint_capacity", "/policy/memory/checkpoint_capacity"):
        del edits[place]
    assert today(edits) == {"checkpoint.layout-differs"}


@pytest.mark.parametrize("version", [(6, 0), (8, 0)])
def test_so_is_one_of_a_version_before_it(version: tuple[int, int]) -> None:
    schema = {"major": version[0], "minor": version[1]}
    assert today(without_checkpoints() | {f"{PAYLOAD}/schema": schema}) == {
        "wire.schema-version",
        "checkpoint.layout-unstated",
    }


@pytest.mark.parametrize(
    ("edits", "unread"),
    [
        ({f"{WEIGHTS}/schema/components/0/encoding": "packed"}, "quantization formats"),
        ({f"{WEIGHTS}/schema/components/0/component_id": 1}, "ids"),
        ({f"{WEIGHTS}/schema/components": "elsewhere"}, "ids and quantization formats"),
    ],
)
def test_components_that_are_not_understood_are_named(edits: dict[str, Any], unread: str) -> None:
    document = edited(edits, sample="bundle-8.1")
    (finding,) = [
        each
        for each in audit(document, prove=False).findings
        if each.rule == "value.weight-components-unread"
    ]
    assert finding.severity == "note"
    assert f"The {unread} of the weight schema's components" in finding.message


GPT_OSS = {
    "kind": "gpt_oss_mxfp4_to_marlin",
    "source_blocks_id": "file.spare.values",
    "source_scales_id": "file.spare.scales",
    "packed_values_id": "weight.spare.packed",
    "scales_id": "weight.spare.scales",
    "logical_dimensions": [8, 256, 128],
}


@pytest.mark.parametrize(
    "transform",
    [
        GPT_OSS | {"logical_dimensions": [0, 256, 128]},
        GPT_OSS | {"logical_dimensions": [8, 256, 0], "execution_dimensions": [8, 256, 128]},
    ],
)
def test_a_dimension_of_0_is_a_fault(transform: dict[str, Any]) -> None:
    messages = [
        each.message
        for each in faults(edited({TRANSFORM: transform}, sample="bundle-8.1"))
        if each.rule == "value.weight-transform"
    ]
    assert messages == ["The weight transform 0 has a dimension of 0."]


def test_so_it_is_of_an_8_bit_weight() -> None:
    assert "value.weight-transform" in today({f"{TRANSFORM}/logical_dimensions": [0, 128, 128]})


def test_in_which_order_a_transform_s_members_stand_does_not_matter() -> None:
    backwards = dict(reversed(GPT_OSS.items()))
    for transform in (GPT_OSS, backwards):
        assert "value.weight-transform" not in today({TRANSFORM: transform})
    assert "value.weight-transform" in today(
        {TRANSFORM: backwards | {"source_blocks_id": "file.other"}}
    )


def test_a_place_in_a_catalog_is_a_pointer_that_resolves() -> None:
    document = sample("catalog-8.1")
    document["providers"]["op/slashed"] = [
        document["providers"]["operation.norm"][0] | {"operation_id": "op/slashed"}
    ]
    document["providers"]["op/slashed"][0]["execution_semantics"] = semantics(replayed=True) | {
        "contract_fingerprint": "0" * 64
    }
    places = [e.location for e in faults(document) if e.rule == "integrity.execution-semantics"]
    assert places == ["/providers/op~1slashed/0/execution_semantics/contract_fingerprint"]


def alone(edits: dict[str, Any]) -> set[tuple[str, str]]:
    """What is found in a memory plan of today by itself."""
    memory = edited(edits, sample="bundle-8.1")["plan"]["payload"]["memory"]
    plain = sample("bundle-8.1")["plan"]["payload"]["memory"]
    known = {(each.rule, each.location) for each in faults(plain)}
    return {(each.rule, each.location) for each in faults(memory)} - known


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("resource_id", "resource/zzz"),
        ("alignment_bytes", 512),
        ("storage/profile", {"allocator": {"fixed_block_arena": {"block_bytes": 256}},
                             "view": "contiguous"}),
    ],
)  # fmt: skip
def test_the_scratch_of_a_memory_plan_alone_has_its_form(field: str, value: Any) -> None:
    assert "static.initialization-scratch" in {
        rule for rule, _ in alone({f"{SCRATCH}/{field}": value})
    }


def test_a_memory_plan_alone_has_one_scratch_at_most() -> None:
    row = dict(sample("bundle-8.1")["plan"]["payload"]["memory"]["static_allocations"][6])
    row["resource_id"] = row["resource_id"][:-64] + "f" * 64
    assert ("static.initialization-scratch", "/static_allocations/7") in alone(
        {f"{MEMORY}/static_allocations/-": row}
    )


def test_no_node_of_a_fragment_uses_the_scratch() -> None:
    payload = sample("bundle-8.1")["plan"]["payload"]
    resource = payload["memory"]["static_allocations"][6]["resource_id"]
    nodes = [
        {key: node[key] for key in ("id", "dependencies", "resources", "binding_resource")}
        for node in payload["nodes"]
    ]
    fragment = {"nodes": nodes, "memory": payload["memory"]}
    assert "static.initialization-scratch" not in {each.rule for each in faults(fragment)}
    nodes[0]["resources"] = [*nodes[0]["resources"], resource]
    assert "static.initialization-scratch" in {each.rule for each in faults(fragment)}


def test_the_maximum_of_a_memory_plan_alone_has_its_stated_growth() -> None:
    place = f"{POOLS}/2/provisioning/maximum_resident_bytes"
    assert ("pool.resident-maximum", place.removeprefix(MEMORY)) in alone({place: 256})
