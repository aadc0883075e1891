"""The memory of a plan under HEAD: growth with its worst shape, and what no longer fits."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import models
from ferrum_verify.catalogue.restamp import restamp
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.contracts import compare_contracts
from ferrum_verify.counterexamples import Shape, ShapeCounterexample
from tests.contracts.catalogs import kind_of

Json = dict[str, Any]
ESTIMATOR = "resource_estimator_implementation_fingerprint"


def row_of(document: Json, resource: str) -> Json:
    rows = document["plan"]["payload"]["memory"]["dynamic_descriptors"]
    found: Json = next(row for row in rows if row["base_resource_id"] == resource)
    return found


def new_estimator(document: Json) -> None:
    document["catalog"]["providers"]["operation.attention"][1][ESTIMATOR] = "0" * 64


def rebuilt(edit: Any) -> tuple[Json, Json]:
    base = sample("bundle")
    head = deepcopy(base)
    new_estimator(head)
    edit(head)
    restamp(head)
    return base, head


def test_growth_at_its_worst_shape() -> None:
    def edit(document: Json) -> None:
        # Below 85 tokens the smaller fixed part outweighs the larger one for each token.
        row_of(document, "resource.attention.scratch")["demand"]["affine"] |= {
            "fixed_bytes": 256,
            "bytes_per_token": 19,
        }

    base, head = rebuilt(edit)
    report = compare_contracts(base, head, [base, head])
    assert len(report.documents) == 2  # the rebuilt plan goes with the one that it came from
    (grown,) = (f for f in report.findings if f.rule == "contract.plan-memory-growth")
    shown = grown.counterexample
    assert isinstance(shown, ShapeCounterexample)
    assert isinstance(shown.shape, Shape)
    before, after = (
        {
            t: -(-(fixed + 64 * s + each * t) // 64) * 64
            for s in range(1, 5)
            for t in range(1, 257)
            if s == shown.shape.sequences
        }
        for fixed, each in ((512, 16), (256, 19))
    )
    largest = max(after[t] - before[t] for t in after)
    assert shown.bytes is not None
    assert shown.limit is not None
    assert shown.bytes - shown.limit == largest > 0
    assert after[shown.shape.tokens] - before[shown.shape.tokens] == largest
    assert f"grows by {largest:,} bytes" in grown.message
    assert "the scratch workspace of `provider.attention.reference`" in grown.message.lower()
    assert grown.severity == "warning"
    assert report.documents[1].obligations is not None
    assert report.documents[1].obligations.proved == 1
    # Growth alone breaks nothing.
    assert report.exit_status == 0


def test_alike_rows_are_told_together() -> None:
    base = models.bundle("llama-3.1-8b", layers=3, schema="5.0")
    head = deepcopy(base)
    attention = head["catalog"]["providers"]["operation/paged-attention"][0]
    attention["resource_estimator_version"] = {"major": 1, "minor": 1}
    rows = head["plan"]["payload"]["memory"]["dynamic_descriptors"]
    changed = [row for row in rows if row["base_resource_id"].startswith("resource/scratch/")]
    changed = [row for row in changed if "bounded_shape_buckets" in row["demand"]]
    assert len(changed) == 3
    for row in changed:
        # The middle one of three buckets: it covers up to 64 sequences and 64 tokens.
        row["demand"]["bounded_shape_buckets"]["buckets"][1]["bytes"] += 65_536
    restamp(head)
    report = compare_contracts(base, head, [base, head])
    (grown,) = (f for f in report.findings if f.rule == "contract.plan-memory-growth")
    assert isinstance(grown.counterexample, ShapeCounterexample)
    # The first bucket ends at 512 pages.
    assert grown.counterexample.shape == Shape(1, 1, 513)
    assert "grows by 65,536 bytes for each claim at 1 sequence, 1 token, 513 pages" in grown.message
    for row in changed:
        assert row["base_resource_id"] in grown.message


def test_a_new_workspace_is_growth() -> None:
    def edit(document: Json) -> None:
        row = deepcopy(row_of(document, "resource.norm.scratch"))
        row["base_resource_id"] = "resource.new.scratch"
        document["plan"]["payload"]["memory"]["dynamic_descriptors"].append(row)

    base, head = rebuilt(edit)
    report = compare_contracts(base, head, [base, head])
    (grown,) = (f for f in report.findings if f.rule == "contract.plan-memory-growth")
    assert "from 0 to 4,096" in grown.message
    assert grown.location == "/plan/payload/memory/dynamic_descriptors"


def test_another_storage_profile_can_cost_memory() -> None:
    def edit(document: Json) -> None:
        row = row_of(document, "resource.counter")
        row["storage"]["profile"] = {
            "allocator": {"fixed_block_arena": {"block_bytes": 4_096}},
            "view": "contiguous",
        }

    base, head = rebuilt(edit)
    (grown,) = (
        f
        for f in compare_contracts(base, head, [base, head]).findings
        if f.rule == "contract.plan-memory-growth"
    )
    assert "The state value (`resource.counter`) grows by" in grown.message
    assert "to 4,096" in grown.message


def test_the_growth_of_a_minimal_request_is_told_once() -> None:
    def edit(document: Json) -> None:
        for resource in ("resource.attention.scratch", "resource.norm.scratch"):
            (form,) = row_of(document, resource)["demand"].values()
            form["bytes_per_token"] += 64
        memory = document["plan"]["payload"]["memory"]
        memory["minimum_runnable_request_bytes"] += 128

    base, head = rebuilt(edit)
    before = base["plan"]["payload"]["memory"]["minimum_runnable_request_bytes"]
    total = f"In all, a minimal request takes {before + 128:,} bytes instead of {before:,}."
    messages = [
        finding.message
        for finding in compare_contracts(base, head, [base, head], prove=False).findings
        if finding.rule == "contract.plan-memory-growth"
    ]
    assert [total in message for message in messages] == [True, False]


def test_new_estimates_that_ask_for_no_more() -> None:
    def edit(document: Json) -> None:
        row_of(document, "resource.attention.scratch")["demand"]["affine"]["bytes_per_token"] = 8

    base, head = rebuilt(edit)
    report = compare_contracts(base, head, [base, head])
    rules = {kind_of(finding) for finding in report.documents[1].findings}
    assert "contract.plan-memory-kept" in rules
    assert "contract.plan-memory-growth" not in rules


def test_estimates_that_nobody_made_yet_leave_it_open() -> None:
    base, head = rebuilt(lambda _: None)
    report = compare_contracts(base, head, [base])
    (unknown,) = (f for f in report.findings if f.undecided)
    assert unknown.rule == "contract.plan-estimates-unknown"
    assert "provider.attention.reference" in unknown.message
    assert (report.verdict, report.exit_status) == ("undecided", 3)
    # Where no estimator changes, no estimate does.
    head["catalog"] = sample("catalog")
    assert compare_contracts(base, head, [base]).verdict == "verified"


def test_an_estimate_that_refuses_a_shape() -> None:
    def edit(document: Json) -> None:
        row = row_of(document, "resource.head.scratch")
        row["demand"]["bounded_shape_buckets"]["buckets"][1]["maximum_tokens"] = 100

    base, head = rebuilt(edit)
    (refused,) = (
        f
        for f in compare_contracts(base, head, [base, head]).findings
        if f.rule == "contract.plan-estimate-refuses"
    )
    assert refused.message == (
        "At 1 sequence, 101 tokens, 1 page, the scratch workspace of `provider.head.reference` "
        "(`resource.head.scratch`) had a size, and under HEAD's estimate has none."
    )
    assert refused.severity == "error"


def test_an_estimate_that_passes_64_bits() -> None:
    def edit(document: Json) -> None:
        scratch = row_of(document, "resource.attention.scratch")
        scratch["demand"]["affine"]["bytes_per_token"] = 2**62

    base, head = rebuilt(edit)
    report = compare_contracts(base, head, [base, head])
    (refused,) = (f for f in report.findings if f.rule == "contract.plan-estimate-refuses")
    assert "passes u64" in refused.message


def test_a_plan_that_no_longer_fits() -> None:
    def edit(document: Json) -> None:
        document["plan"]["payload"]["memory"]["minimum_runnable_request_bytes"] = 1_040_000

    base, head = rebuilt(edit)
    (exceeded,) = (
        f
        for f in compare_contracts(base, head, [base, head]).findings
        if f.rule == "contract.plan-memory-exceeded"
    )
    assert "take 1," in exceeded.message
    assert exceeded.judgment == "safety"


def test_a_device_that_is_too_small_for_the_policy() -> None:
    base, head = sample("bundle"), sample("bundle")
    head["catalog"]["device"]["total_memory_bytes"] = 1_048_576
    rules = {f.rule for f in compare_contracts(base, head, [base], prove=False).findings}
    assert "contract.plan-memory-exceeded" not in rules  # the policy's 1 MiB still fits
    head["catalog"]["device"]["total_memory_bytes"] = 1_048_575
    rules = {f.rule for f in compare_contracts(base, head, [base], prove=False).findings}
    assert "contract.plan-memory-exceeded" in rules


def test_the_plan_of_another_policy_is_no_counterpart() -> None:
    def edit(document: Json) -> None:
        document["policy"]["version"]["minor"] = 7
        document["plan"]["payload"]["policy_version"]["minor"] = 7

    base, head = rebuilt(edit)
    report = compare_contracts(base, head, [base, head])
    of_base, of_head = report.documents[1:]
    assert any(f.rule == "contract.plan-estimates-unknown" for f in of_base.findings)
    assert [f.rule for f in of_head.findings] == ["contract.plan-of-head"]
