"""``contracts check``: a catalog alone, and against a program, a policy and estimates."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import models
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.contracts import check_contracts
from ferrum_verify.counterexamples import Shape, ShapeCounterexample, SpanCounterexample
from ferrum_verify.counterexamples.checking import check_counterexample
from tests.contracts.catalogs import LINEAR, PAGED, attention, contract_of

if TYPE_CHECKING:
    from ferrum_verify.findings import Finding

Json = dict[str, Any]


def found_in(document: Json, **others: Any) -> list[Finding]:
    return list(check_contracts(document, **others, prove=False).findings)


def rules_in(document: Json, **others: Any) -> set[str]:
    return {finding.rule for finding in found_in(document, **others)}


def only(findings: list[Finding], rule: str) -> Finding:
    (found,) = (finding for finding in findings if finding.rule == rule)
    return found


@pytest.mark.parametrize("family", models.families())
def test_model_families_are_sound(family: str) -> None:
    bundle = models.bundle(family, layers=4, schema="5.0")
    for report in (
        check_contracts(bundle["catalog"]),
        check_contracts(bundle["catalog"], bundle["program"], bundle["policy"], [bundle]),
        check_contracts(bundle),
    ):
        assert report.verdict == "verified"
        assert [f for f in report.findings if f.severity != "note"] == []
    assert report.obligations.proved > 0
    assert report.obligations.refuted == report.obligations.undecided == 0


def test_declarations_are_judged_by_their_own_rules() -> None:
    catalog = sample("catalog")
    contract_of(catalog)["state_ports"][0]["storage_profile"] = LINEAR
    catalog["operations"]["operation.norm"]["id"] = "operation.other"
    assert {"contract.state-port-storage", "contract.misplaced-declaration"} <= rules_in(catalog)


def test_a_stale_fingerprint_is_told() -> None:
    catalog = sample("catalog")
    attention(catalog)["operation_fingerprint"] = "0" * 64
    (found,) = found_in(catalog)
    assert found.family == "integrity"
    assert found.location == "/providers/operation.attention/1/operation_fingerprint"


def test_a_span_beyond_what_states_hold() -> None:
    catalog, program = sample("catalog"), sample("program")
    contract_of(catalog)["boundaries"]["prefix"] = {"minimum_tokens": 200, "alignment": 150}
    assert found_in(catalog) == []
    found = only(found_in(catalog, program=program), "contract.span-unreachable")
    assert found.message == (
        "Provider `provider.attention.reference` of `operation.attention` takes a multiple of 150 "
        "tokens, at least 300 before a boundary: the first has 300, too many for state "
        "`state.cache`, which holds 256 tokens."
    )
    assert isinstance(found.counterexample, SpanCounterexample)
    assert found.counterexample.tokens == 300
    # A step of the policy's 256 tokens is too short as well, which is the same fact.
    again = found_in(catalog, program=program, policy=sample("policy"))
    assert [finding.rule for finding in again] == ["contract.span-unreachable"]
    alone = found_in(catalog, policy=sample("policy"))
    assert [finding.rule for finding in alone] == ["contract.span-beyond-step"]


def test_spans_that_only_together_are_out_of_reach() -> None:
    catalog, program = sample("catalog"), sample("program")
    for operation, alignment in (("norm", 19), ("residual", 17)):
        (provider,) = catalog["providers"][f"operation.{operation}"]
        boundaries = provider["checkpoint_capability"]["completed_boundary"]["boundaries"]
        boundaries["prefix"]["alignment"] = alignment
    found = only(found_in(catalog, program=program), "contract.span-unreachable")
    assert found.message == (
        "The program leaves no other choice than `provider.norm.reference` (a multiple of 19 "
        "tokens) and `provider.residual.reference` (a multiple of 17 tokens), and the first prefix "
        "that all of them permit has 323 tokens, too many for state `state.cache`, which holds 256 "
        "tokens."
    )
    # Where another provider can be selected, nothing is certain.
    (norm,) = catalog["providers"]["operation.norm"]
    other = deepcopy(norm)
    other["provider_id"] = "provider.norm.other"
    other["checkpoint_capability"]["completed_boundary"]["boundaries"]["prefix"]["alignment"] = 1
    catalog["providers"]["operation.norm"].append(other)
    assert rules_in(catalog, program=program) == set()


def test_state_ports_against_the_programs_states() -> None:
    program = sample("program")
    catalog = sample("catalog")
    ports = contract_of(catalog)["state_ports"]
    ports[0]["layout"] = "contiguous_boundary_value"
    assert found_in(catalog) == []
    found = only(found_in(catalog, program=program), "contract.state-port-layout")
    assert "state `state.cache`, which holds `prefix_positions`" in found.message
    assert found.severity == "warning"

    catalog = sample("catalog")
    contract_of(catalog)["state_ports"].pop(0)
    found = only(found_in(catalog, program=program), "contract.state-unserved")
    assert "binds `state.cache` at input 1 and has no state port" in found.message

    catalog = sample("catalog")
    policy = sample("policy")
    policy["memory"]["dynamic_storage_profile_order"] = [LINEAR]
    rules = rules_in(catalog, program=program, policy=policy)
    # The paged provider drops out, and the contiguous one serves the program.
    assert rules >= {"contract.policy-excludes-provider"}
    assert "contract.operation-unserved" not in rules

    catalog = sample("catalog")
    attention(catalog)["checkpoint_capability"] = "unsupported"
    found = only(found_in(catalog, program=program), "contract.checkpoint-undeclared")
    assert "node.attention" in found.message
    # A program without captured states asks for no contract.
    for state in program["states"]:
        state["checkpoint"] = "unsupported"
    assert rules_in(catalog, program=program) == set()


def test_operations_that_nobody_serves() -> None:
    program = sample("program")
    catalog = sample("catalog")
    del catalog["operations"]["operation.norm"]
    del catalog["providers"]["operation.norm"]
    found = only(found_in(catalog, program=program), "contract.operation-unserved")
    assert found.message == (
        "The program runs `operation.norm` in `node.norm`, and the catalog has no such operation."
    )
    catalog = sample("catalog")
    catalog["providers"]["operation.norm"] = []
    found = only(found_in(catalog, program=program), "contract.operation-unserved")
    assert found.location == "/providers/operation.norm"
    catalog = sample("catalog")
    catalog["operations"]["operation.norm"]["version"] = {"major": 2, "minor": 0}
    messages = [f.message for f in found_in(catalog, program=program)]
    assert any("wants version 1.0 of `operation.norm` in `node.norm`" in text for text in messages)
    policy = sample("policy")
    policy["memory"]["dynamic_storage_profile_order"] = [PAGED]
    assert "contract.operation-unserved" in rules_in(
        sample("catalog"), program=program, policy=policy
    )


def test_ports_and_tensors_of_the_program() -> None:
    catalog, program = sample("catalog"), sample("program")
    program["blocks"][0]["nodes"][0]["inputs"].append("value.tokens")
    found = only(found_in(catalog, program=program), "contract.program-ports")
    assert "binds 3 inputs instead of 2 of `operation.embed` in `node.embed`" in found.message
    program = sample("program")
    program["weights"][0]["tensor"] = {
        "dimensions": [32, 9],
        "element_type": "u8",
        "layout": "contiguous",
    }
    messages = " ".join(f.message for f in found_in(catalog, program=program))
    assert "binds `u8`, which is none of `f32`, at input 1 of `operation.embed`" in messages
    assert "binds an axis 1 of 9 instead of 8 at input 1 of `operation.embed`" in messages


def test_the_policy_and_the_device() -> None:
    catalog, policy = sample("catalog"), sample("policy")
    policy["memory"]["dynamic_storage_profile_order"].append(
        {"allocator": {"fixed_block_arena": {"block_bytes": 512}}, "view": "contiguous"}
    )
    policy["memory"]["capacity_bytes"] = 2**40
    assert rules_in(catalog, policy=policy) == {
        "contract.policy-profile-unknown",
        "capacity.policy-exceeds-device",
    }


def scratch_of(bundle: Json) -> Json:
    estimate: Json = bundle["plan"]["payload"]["nodes"][2]["provider_resources"]["scratch"]
    return estimate


def test_workspaces_at_the_policys_limits() -> None:
    bundle = sample("bundle")
    # 4 sequences and 256 tokens at most, and 1,040,384 usable bytes.
    scratch_of(bundle)["size_formula"] = {
        "affine": {"fixed_bytes": 0, "bytes_per_sequence": 64, "bytes_per_token": 4_096}
    }
    report = check_contracts(bundle)
    found = only(list(report.findings), "contract.workspace-exceeds-policy")
    shown = found.counterexample
    assert isinstance(shown, ShapeCounterexample)
    size = {t: -(-(64 + 4_096 * t) // 64) * 64 for t in range(1, 257)}
    first = min(t for t in size if size[t] > 1_040_384)
    assert shown == ShapeCounterexample(
        Shape(1, first, 1), size[first], 1_040_384, "/policy/memory/capacity_bytes"
    )
    assert check_counterexample(bundle, shown)
    for wrong in (
        replace(shown, limit_from="/policy/memory/reserve_bytes"),
        replace(shown, bytes=size[first] + 64),
        replace(shown, shape=Shape(1, first - 1, 1)),
    ):
        assert not check_counterexample(bundle, wrong)
    assert (report.obligations.refuted, report.obligations.undecided) == (1, 0)
    # The policy that is given counts, not the one that the plan was compiled under.
    policy = sample("policy")
    policy["admission"]["maximum_scheduled_tokens"] = first - 1
    assert "contract.workspace-exceeds-policy" not in rules_in(bundle, policy=policy)


def test_workspaces_without_a_size_or_a_place() -> None:
    bundle = sample("bundle")
    scratch_of(bundle)["size_formula"] = {"tokens": {"bytes_per_token": 2**60}}
    found = only(found_in(bundle), "contract.workspace-formula")
    assert found.counterexample == ShapeCounterexample(Shape(1, 16, 1), overflow=True)
    assert check_counterexample(bundle, found.counterexample)
    smaller = ShapeCounterexample(Shape(1, 15, 1), overflow=True)
    assert not check_counterexample(bundle, smaller)
    for formula, clause in (
        ({"fixed": {"bytes": 0}}, "is 0 bytes"),
        ({"tokens": {"bytes_per_token": 0}}, "is 0 bytes"),
        ({"fixed": {"bytes": 2**64 - 1}}, "passes u64"),
        ({"bounded_shape_buckets": {"buckets": []}}, "has no bucket"),
    ):
        scratch_of(bundle)["size_formula"] = formula
        assert clause in only(found_in(bundle), "contract.workspace-formula").message
    bundle = sample("bundle")
    scratch_of(bundle)["storage"]["accepted_profiles"] = [
        {"allocator": {"fixed_block_arena": {"block_bytes": 512}}, "view": "contiguous"}
    ]
    found = only(found_in(bundle), "contract.workspace-storage")
    assert found.location == "/plan/payload/nodes/2/provider_resources/scratch/storage"


def test_plans_beside_a_catalog_are_documents_of_their_own() -> None:
    plan = sample("bundle")
    scratch_of(plan)["size_formula"] = {"tokens": {"bytes_per_token": 2**60}}
    report = check_contracts(sample("catalog"), plans=[plan], prove=False)
    catalog, judged = report.documents
    assert (catalog.kind, catalog.verdict) == ("catalog", "verified")
    assert (judged.kind, judged.verdict) == ("bundle", "violated")
    assert [finding.rule for finding in judged.findings] == ["contract.workspace-formula"]


def test_alike_workspaces_are_told_together() -> None:
    bundle = models.bundle("llama-3.1-8b", layers=3, schema="5.0")
    policy = deepcopy(bundle["policy"])
    policy["memory"]["reserve_bytes"] = policy["memory"]["capacity_bytes"] - 1_000_000
    found = [
        finding
        for finding in found_in(bundle, policy=policy)
        if finding.rule == "contract.workspace-exceeds-policy"
    ]
    assert len(found) == len({finding.message for finding in found}) == 2
    assert "`node/l0000/attn`, `node/l0001/attn` and `node/l0002/attn`" in found[0].message
