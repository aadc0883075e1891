"""Contract rules: catalogs alone, estimates and workspaces, and a plan's provenance."""

from __future__ import annotations

from typing import Any

import pytest

from ferrum_verify.auditing.audit import audit
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.documents.catalog import CapabilityCatalog
from ferrum_verify.findings import DELETE, Swap
from ferrum_verify.rules import declarations
from tests.rules.edited import MEMORY, NODES, broken, edited, faults, rules

ATTENTION = f"{NODES}/2"
ESTIMATE = f"{ATTENTION}/provider_resources"
STALE = sample("bundle")["plan"]["payload"]["nodes"][2]["provider_resources"][
    "estimate_fingerprint"
]


def estimate(member: str, value: Any, *, sample: str = "bundle") -> list[tuple[str, str]]:
    return broken({f"{ESTIMATE}/{member}": value}, sample=sample)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("value_alignment_bytes", 48),
        ("value_alignment_bytes", 128),
        ("scratch/size_formula", {"fixed": {"bytes": 1}}),
        ("scratch/alignment_bytes", 8),
        ("scratch/storage/accepted_profiles", []),
        ("scratch", None),
        ("binding/scope", "step"),
        ("provider_id", "provider.other"),
    ],
)
def test_an_edited_estimate_breaks_its_fingerprint_alone(member: str, value: Any) -> None:
    fingerprint = f"{ESTIMATE}/estimate_fingerprint"
    edits = {f"{ESTIMATE}/{member}": value, fingerprint: STALE}
    found = {finding for finding in broken(edits) if finding[0] != "graph.workspaces-differ"}
    assert found == {("integrity.estimate-fingerprint", fingerprint)}


@pytest.mark.parametrize(
    ("part", "formula"),
    [
        ("scratch", {"fixed": {"bytes": 512}}),
        ("scratch", {"tokens": {"bytes_per_token": 16}}),
        ("scratch", {"affine": {"fixed_bytes": 512, "bytes_per_sequence": 64}}),
        ("binding", {"actual_sequences": {"bytes_per_sequence": 65}}),
        ("binding", {"pages": {"bytes_per_page": 64, "maximum_pages": 4}}),
    ],
)
def test_workspace_sizes(part: str, formula: dict[str, Any]) -> None:
    if "affine" in formula:
        formula["affine"]["bytes_per_token"] = 17
    row = 2 if part == "scratch" else 1
    assert estimate(f"{part}/size_formula", formula) == [
        ("contract.workspace-size", f"{MEMORY}/dynamic_descriptors/{row}/demand")
    ]


def test_a_workspace_in_shape_buckets() -> None:
    bucket = f"{NODES}/5/provider_resources/scratch/size_formula/bounded_shape_buckets/buckets/1"
    [finding] = faults(edited({f"{bucket}/bytes": 2048}))
    assert finding.rule == "contract.workspace-size"
    assert finding.message.endswith(
        "has 1,024 bytes in bucket 1 (up to 4 sequences, 256 tokens, 8 pages), but its estimate "
        "asks for 2,048 bytes there."
    )
    assert finding.fix is not None
    assert "as it stands" in finding.fix


def test_an_alias_policy_that_differs_is_told_in_both_words() -> None:
    alias = f"{NODES}/0/values/1/alias"
    [finding] = [
        each
        for each in faults(edited({alias: {"may_alias": {"tensor_index": 0}}}))
        if each.rule == "contract.port-differs"
    ]
    assert "the alias policy is may_alias of input 0, not no_alias" in finding.message
    assert (finding.location, finding.expected) == (alias, "no_alias")


def test_persistent_workspaces() -> None:
    static = f"{NODES}/4/provider_resources/persistent"
    row = f"{MEMORY}/static_allocations/4"
    expected = [("contract.workspace-size", f"{row}/per_instance_bytes")]
    assert broken({f"{static}/size_formula/fixed/bytes": 97}, sample="workspaces") == expected
    assert estimate("persistent/size_formula/fixed/bytes", 47, sample="workspaces") == [
        ("contract.workspace-size", f"{MEMORY}/dynamic_descriptors/2/demand")
    ]
    assert broken({f"{static}/scope": "sequence"}, sample="workspaces") == [
        ("contract.workspace-lifetime", f"{row}/lifetime")
    ]
    assert estimate("persistent/scope", "plan", sample="workspaces") == [
        ("contract.workspace-lifetime", f"{MEMORY}/dynamic_descriptors/2/lifetime")
    ]
    assert estimate("persistent/scope", "invocation", sample="workspaces") == [
        ("contract.workspace-scope", f"{ESTIMATE}/persistent/scope")
    ]
    assert broken({f"{row}/kind/persistent/node_id": "node.head"}, sample="workspaces") == [
        ("contract.workspace-kind", f"{row}/kind")
    ]


def test_a_ceiling_of_the_whole_plan_is_one_fault() -> None:
    """All workspaces agree on 4 sequences and 256 tokens: the plan's own numbers are wrong."""
    plan = sample("bundle")["plan"]
    plan["payload"]["memory"]["maximum_active_sequences"] = 3
    plan["payload"]["maximum_scheduled_tokens"] = 128
    found = {
        (finding.rule, finding.location)
        for finding in faults(plan)
        if not finding.rule.startswith("integrity.")
    }
    assert found == {
        ("contract.workspace-instances", "/payload/memory/maximum_active_sequences"),
        ("contract.workspace-size", "/payload/maximum_scheduled_tokens"),
    }


def test_a_ceiling_that_the_policy_knows_is_its_departure() -> None:
    assert broken({f"{MEMORY}/maximum_active_sequences": 3}) == [
        ("contract.policy-limit", f"{MEMORY}/maximum_active_sequences")
    ]
    assert broken({"/plan/payload/maximum_scheduled_tokens": 128}) == [
        ("contract.policy-limit", "/plan/payload/maximum_scheduled_tokens")
    ]


@pytest.mark.parametrize(
    ("member", "value", "rule"),
    [
        ("demand/tokens/maximum_tokens", 128, "contract.workspace-size"),
        ("kind", "value", "contract.workspace-kind"),
    ],
)
def test_one_workspace_that_differs(member: str, value: Any, rule: str) -> None:
    assert rule in rules({f"{MEMORY}/dynamic_descriptors/11/{member}": value})


@pytest.mark.parametrize(
    ("pointer", "value", "rule"),
    [
        ("device_runtime_implementation_fingerprint", "1" * 64, "contract.device-differs"),
        ("nodes/0/operation_id", "operation.absent", "contract.unknown-operation"),
        ("nodes/0/provider_resources/estimator_id", "estimator.x", "contract.provider-differs"),
        (
            "nodes/0/provider_resources/estimator_version/minor",
            3,
            "contract.provider-differs",
        ),
        (
            "nodes/0/provider_resources/estimator_implementation_fingerprint",
            "1" * 64,
            "contract.provider-differs",
        ),
        ("nodes/0/attributes", {"extra": {"integer": 1}}, None),
        ("nodes/1/attributes", {}, "contract.program-node-differs"),
        ("nodes/1/values/1/weight", None, "contract.weight-differs"),
    ],
)
def test_a_plan_that_departs_from_its_sources(pointer: str, value: Any, rule: str | None) -> None:
    found = rules({f"/plan/payload/{pointer}": value})
    assert rule in found if rule else found == set()


@pytest.mark.parametrize(
    ("pointer", "value", "rule"),
    [
        ("/catalog/device/total_memory_bytes", 2 << 20, "contract.device-differs"),
        ("/catalog/operations/operation.embed/version/minor", 1, "contract.unknown-operation"),
        (
            "/catalog/operations/operation.embed/inputs/0/dimensions/0",
            {"exact": 2},
            "contract.port-differs",
        ),
        (
            "/catalog/operations/operation.embed/inputs/0/dimensions",
            [],
            "contract.port-differs",
        ),
        (
            "/catalog/operations/operation.embed/inputs/0/element_types",
            ["i32"],
            "contract.port-differs",
        ),
        (
            "/catalog/operations/operation.mixer/resources/binding",
            "forbidden",
            "contract.workspace-requirement",
        ),
        (
            "/catalog/operations/operation.embed/resources/scratch",
            "required",
            "contract.workspace-requirement",
        ),
        (
            "/catalog/providers/operation.attention/1/capabilities",
            ["capability.compute"],
            "contract.missing-capability",
        ),
        ("/program/weights/0/weight_id", "weight.other", "contract.weight-differs"),
        ("/program/weights/0/tensor/dimensions", [8, 32], "contract.weight-differs"),
        ("/program/states/1/tensor/dimensions", [2], "contract.state-differs"),
        (
            "/program/blocks/0/nodes/0/required_version/major",
            2,
            "contract.program-node-differs",
        ),
        (
            "/program/blocks/0/nodes/0/operation_id",
            "operation.head",
            "contract.program-node-differs",
        ),
        ("/program/blocks/0/nodes/0/work", "fixed", "contract.program-node-differs"),
        ("/policy/memory/capacity_bytes", 1 << 21, "contract.policy-limit"),
        ("/policy/memory/reserve_bytes", 0, "contract.policy-limit"),
        ("/policy/memory/maximum_active_sequences", 5, "contract.policy-limit"),
        (
            "/policy/reusable_execution/maximum_reusable_lanes",
            3,
            "contract.policy-reusable-execution",
        ),
        (
            "/policy/reusable_execution/program_policy/warmup_passes",
            2,
            "contract.policy-reusable-execution",
        ),
    ],
)
def test_sources_that_a_plan_departs_from(pointer: str, value: Any, rule: str) -> None:
    assert rules({pointer: value}) == {rule}


def test_a_checkpointed_state_lives_as_long_as_its_sequence() -> None:
    expected = {"contract.state-differs", "wire.malformed-state"}
    assert rules({"/program/states/1/lifetime": "request"}) == expected


def test_the_plan_may_run_a_later_minor_version() -> None:
    earlier = "/program/blocks/0/nodes/0/required_version/minor"
    assert rules({earlier: 0}) == set()
    assert rules({earlier: 1}) == {"contract.program-node-differs"}


def test_a_node_that_the_program_does_not_name() -> None:
    [finding] = faults(edited({"/program/blocks/0/nodes/0/id": "node.first"}))
    assert finding.rule == "contract.program-nodes"
    assert "lacks `node.first`" in finding.message
    assert "has `node.embed`" in finding.message


def test_a_state_without_effect() -> None:
    [finding] = faults(edited({f"{ATTENTION}/state_effects": []}))[:1]
    assert finding.rule == "contract.state-effect-differs"
    assert "no effect" in finding.message


def test_a_provider_in_doubt_is_judged_no_further() -> None:
    assert rules({f"{ATTENTION}/selection/selected_provider": "provider.attention.unknown"}) == {
        "contract.estimate-of-other-provider"
    }


CATALOG_EDITS: list[tuple[str, Any, str]] = [
    ("/operations/operation.embed/id", "operation.other", "contract.misplaced-declaration"),
    (
        "/engine_providers/provider.engine.sample/provider_id",
        "provider.engine.other",
        "contract.misplaced-declaration",
    ),
    (
        "/device/dynamic_storage_profiles/-",
        {"allocator": {"fixed_block_arena": {"block_bytes": 48}}, "view": "contiguous"},
        "contract.illegal-profile",
    ),
    (
        "/providers/operation.attention/1/checkpoint_capability/completed_boundary/state_ports"
        "/1/ordinal",
        9,
        "contract.unknown-port",
    ),
]


@pytest.mark.parametrize(("pointer", "value", "rule"), CATALOG_EDITS)
def test_catalogs_alone(pointer: str, value: Any, rule: str) -> None:
    assert rules({pointer: value}, sample="catalog") == {rule}


@pytest.mark.parametrize(
    ("pointer", "value", "reason"),
    [
        ("version/major", 0, "requires at least 1.0"),
        ("capabilities", [], "lacks `capability.compute`"),
        ("capabilities", ["capability.compute", "capability.x"], "device lacks `capability.x`"),
        (
            "dynamic_storage_bindings/0/storage/accepted_profiles",
            [{"allocator": {"fixed_block_arena": {"block_bytes": 512}}, "view": "contiguous"}],
            "offers no storage that it accepts at input 0",
        ),
    ],
)
def test_providers_that_can_never_be_selected(pointer: str, value: Any, reason: str) -> None:
    catalog = edited({f"/providers/operation.embed/0/{pointer}": value}, sample="catalog")
    report = audit(catalog, prove=False)
    assert report.verdict == "verified"
    [finding] = report.findings
    assert finding.rule == "contract.unselectable-provider"
    assert reason in finding.message


def test_declarations_can_be_checked_without_an_audit() -> None:
    catalog = CapabilityCatalog.model_validate(sample("catalog"))
    assert list(declarations.check(catalog, "")) == []


WORK = "/program/blocks/0/nodes/1/work"
TOKENS = f"{WORK}/tokens"


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        ({f"{TOKENS}/source/value_id": "value.normed"}, "along axis 0 of `value.normed`"),
        ({f"{TOKENS}/source/role": "output"}, "not as the program does"),
        ({f"{TOKENS}/source/axis": 1}, "along axis 1 of `value.hidden`"),
        ({f"{TOKENS}/source/rank": 3}, "not as the program does"),
        ({f"{TOKENS}/projections": []}, "narrows axis 0 of `value.hidden`"),
        ({f"{TOKENS}/projections": DELETE}, "unlike the program"),
        ({f"{NODES}/1/work/tokens/projections/1": DELETE}, "does not narrow axis 0 of"),
        (
            {f"{TOKENS}/projections/0": Swap(f"{TOKENS}/projections/1")},
            "projects the same axes unsorted",
        ),
        ({TOKENS: {"source": {"value_id": "value.hidden", "axis": 1}}}, "along axis 1"),
        ({WORK: "fixed"}, "its work is tokens, not fixed"),
    ],
)
def test_work_that_is_not_the_programs(edits: dict[str, Any], words: str) -> None:
    [finding] = faults(edited(edits))
    assert finding.rule == "contract.program-node-differs"
    assert words in finding.message


def test_a_program_may_state_the_source_alone() -> None:
    assert broken({TOKENS: {"source": {"value_id": "value.hidden", "axis": 0}}}) == []


def test_work_that_is_faulty_by_itself_is_one_fault() -> None:
    rank = f"{NODES}/1/work/tokens/projections/1/rank"
    assert [rule for rule, _ in broken({rank: 3})] == ["graph.work-unmatched-projection"]


@pytest.mark.parametrize(
    ("edits", "rule"),
    [
        ({f"{TOKENS}/source/rank": None}, "wire.type"),
        ({f"{TOKENS}/source/axis": 0.0}, "wire.type"),
        ({f"{TOKENS}/weighted": 1}, "wire.unknown-field"),
        ({f"{TOKENS}/projections": None}, "wire.type"),
        ({WORK: "sequences"}, "wire.unknown-variant"),
        ({WORK: True}, "wire.type"),
    ],
)
def test_a_programs_work_is_typed(edits: dict[str, Any], rule: str) -> None:
    assert [found for found, _ in broken(edits)] == [rule]


AXIS = "/operations/operation.norm/inputs/0/dimensions/0"


@pytest.mark.parametrize(
    ("dimension", "faulty"),
    [
        ({"exact": 1.0}, True),
        ({"exact": None}, True),
        ({"exact": True}, True),
        ({"exact": 1, "symbol": "tokens"}, True),
        ({"symbol": 3}, True),
        (None, True),
        (1, True),
        ({"symbol": "tokens"}, False),
        ({"range": [1, 2.5, None]}, False),
        ("any", False),
    ],
)
def test_known_dimensions_of_a_catalog_are_typed(dimension: Any, faulty: bool) -> None:
    found = [rule for rule, _ in broken({AXIS: dimension}, sample="catalog")]
    assert found == (["wire.type"] if faulty else [])


POLICY_BUCKETS = "/reusable_execution/buckets"


@pytest.mark.parametrize("place", ["", "/policy"])
def test_a_policys_reusable_execution_keeps_the_rules(place: str) -> None:
    policy = sample("policy")
    kind = "bundle" if place else "policy"
    again = {f"{place}{POLICY_BUCKETS}/-": policy["reusable_execution"]["buckets"][0]}
    empty = {f"{place}{POLICY_BUCKETS}/0/capacity/maximum_pages": 0}
    lanes = {f"{place}/reusable_execution/maximum_reusable_lanes": 0}
    profile = policy["memory"]["dynamic_storage_profile_order"][0]
    twice = {f"{place}/memory/dynamic_storage_profile_order/-": profile}
    for edits, rule in (
        (again, "reusable.bucket-nesting"),
        (empty, "reusable.zero-capacity"),
        (lanes, "reusable.zero-lanes"),
        (twice, "contract.policy-duplicate-profile"),
    ):
        found = {finding.rule for finding in faults(edited(edits, sample=kind))}
        assert found - {"integrity.policy-edited"} == {rule}


def test_a_fault_that_a_plan_has_from_its_policy_is_said_of_the_plan() -> None:
    lanes = "reusable_execution/maximum_reusable_lanes"
    found = broken({f"/policy/{lanes}": 0, f"{MEMORY}/{lanes}": 0})
    assert [place for rule, place in found if rule == "reusable.zero-lanes"] == [
        f"{MEMORY}/{lanes}"
    ]
