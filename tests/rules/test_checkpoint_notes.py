"""What an audit says of checkpoints: each cause once, and boundaries that are out of reach."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

import models
from ferrum_verify.catalogue import catalogue
from ferrum_verify.deriving.checkpoints import derive_sequence_checkpoint
from ferrum_verify.reading.parse import subject_of
from ferrum_verify.rules import checkpoint
from ferrum_verify.rules.checkpoint_causes import listed
from tests.derive import checkpoint_bundles as make

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrum_verify.findings import Finding

Json = make.Json
DELTA = "node/l0000/delta"
KV = "value/state/l0003/kv"


@cache
def hybrid() -> Json:
    """Three layers with recurrent state and one with a key-value cache."""
    return models.bundle("qwen3.5-4b", 4, schema="5.0")


def notes(*edits: Callable[[Json], object]) -> list[Finding]:
    bundle = deepcopy(hybrid())
    for edit in edits:
        edit(bundle)
    subject, faults = subject_of(bundle)
    assert subject is not None
    assert not faults
    return list(checkpoint.check(subject))


def ids(findings: list[Finding]) -> list[str]:
    return [finding.rule.removeprefix("checkpoint.") for finding in findings]


def provider(bundle: Json, operation: str) -> Json:
    found: Json = bundle["catalog"]["providers"][f"operation/{operation}"][0]
    return found


def contract(bundle: Json, operation: str) -> Json:
    found: Json = provider(bundle, operation)["checkpoint_capability"]["completed_boundary"]
    return found


def prefix(operation: str, minimum: int, alignment: int) -> Callable[[Json], object]:
    return lambda bundle: contract(bundle, operation)["boundaries"].update(
        prefix=make.span(minimum, alignment)
    )


def suffix(operation: str, minimum: int) -> Callable[[Json], object]:
    return lambda bundle: contract(bundle, operation)["boundaries"].update(
        suffix=make.span(minimum)
    )


def scheduled(tokens: int) -> Callable[[Json], object]:
    return lambda bundle: bundle["policy"]["admission"].update(maximum_scheduled_tokens=tokens)


def undeclared(operation: str) -> Callable[[Json], object]:
    return lambda bundle: provider(bundle, operation).update(checkpoint_capability="unsupported")


def in_program(**changes: Any) -> Callable[[Json], object]:
    return lambda bundle: bundle["program"].update(changes)


def each_state(**changes: Any) -> Callable[[Json], object]:
    def edit(bundle: Json) -> None:
        for state in bundle["program"]["states"]:
            state.update(deepcopy(changes))

    return edit


def bind(value: str, **changes: Any) -> Callable[[Json], object]:
    def edit(bundle: Json) -> None:
        for node in make.nodes_of(bundle):
            for binding in node["values"]:
                if binding["value_id"] == value:
                    binding.update(deepcopy(changes))

    return edit


def row_of(bundle: Json, value: str) -> Json:
    resource = next(
        binding["storage"]["components"][0]["resource_id"]
        for node in make.nodes_of(bundle)
        for binding in node["values"]
        if binding["value_id"] == value
    )
    return make.descriptor_of(bundle, resource)


def test_a_supported_plan_has_no_findings() -> None:
    assert notes() == []


@pytest.mark.parametrize("part", ["program", "catalog"])
def test_without_program_or_catalog_nothing_is_said(part: str) -> None:
    assert notes(lambda bundle: bundle.pop(part)) == []


def test_a_plan_alone_is_not_judged() -> None:
    subject, _ = subject_of(hybrid()["plan"])
    assert subject is not None
    assert list(checkpoint.check(subject)) == []


def test_a_provider_of_many_nodes_is_named_once() -> None:
    (note,) = notes(undeclared("gated-delta"))
    assert (note.rule, note.severity) == ("checkpoint.provider-undeclared", "note")
    assert note.location == "/catalog/providers/operation~1gated-delta/0"
    assert note.message == (
        "The plan has no sequence checkpoint: nodes `node/l0000/delta`, `node/l0001/delta` and "
        "`node/l0002/delta`, provider `provider/gated-delta`: the provider promises nothing about "
        "completed boundaries."
    )


def test_each_silent_provider_is_a_cause() -> None:
    found = notes(undeclared("gated-delta"), undeclared("embedding"))
    assert ids(found) == ["provider-undeclared", "provider-undeclared"]


def test_a_program_that_declares_nothing() -> None:
    found = notes(
        lambda bundle: bundle["program"].pop("checkpoint_inputs"),
        each_state(checkpoint="unsupported"),
    )
    assert ids(found) == ["inputs-undeclared", "state-undeclared"]
    assert found[0].location == "/program"
    assert found[1].location == "/program/states/0"
    assert "and 4 more" in found[1].message


def test_missing_ports_are_a_cause_of_the_provider() -> None:
    (note,) = notes(lambda bundle: contract(bundle, "causal-convolution").pop("state_ports"))
    assert note.rule == "checkpoint.state-port-undeclared"
    assert "`provider/causal-convolution` declares no state port input 2" in note.message
    assert "states `state/l0000/conv`, `state/l0001/conv` and `state/l0002/conv`" in note.message


def test_an_oracle_over_state() -> None:
    (note,) = notes(
        lambda bundle: contract(bundle, "gated-delta").update(partition_numerics="operation_oracle")
    )
    assert note.rule == "checkpoint.state-oracle-coverage"


def test_an_output_only_input_that_reaches_state() -> None:
    def edit(bundle: Json) -> None:
        declared = bundle["program"]["checkpoint_inputs"]
        declared["token_input"] = "value/other"
        declared["output_only_inputs"] = ["value/tokens"]
        bundle["program"]["inputs"].append("value/other")

    (note,) = notes(edit)
    assert note.rule == "checkpoint.output-only-input-affects-state"
    assert "input `value/tokens`, node `node/l0000/conv`, state `state/l0000/conv`" in note.message
    (reason,) = derive_sequence_checkpoint(edited(edit)).reasons
    index = int(note.location.rpartition("/")[2])
    name = reason["output_only_input_affects_state"]["node_id"]
    assert make.nodes_of(hybrid())[index]["id"] == name


def edited(edit: Callable[[Json], object]) -> Json:
    bundle = deepcopy(hybrid())
    edit(bundle)
    return bundle


def test_inputs_that_do_not_cover() -> None:
    (note,) = notes(in_program(inputs=["value/image"]))
    assert note.rule == "checkpoint.input-coverage"
    assert note.message == (
        "The plan has no sequence checkpoint: the program's inputs `value/image` have no role in "
        "checkpoints; `value/tokens` have one and are no inputs of the program."
    )


def test_a_state_that_is_only_read() -> None:
    (note,) = notes(bind(KV, access="read"))
    assert note.rule == "checkpoint.state-without-writer"


def test_contents_that_the_port_cannot_carry() -> None:
    def edit(bundle: Json) -> None:
        port = contract(bundle, "paged-attention")["state_ports"][0]
        port["layout"] = "contiguous_boundary_value"

    (note,) = notes(edit)
    assert note.rule == "checkpoint.state-layout"
    assert "it holds prefix_positions" in note.message


def test_a_port_on_a_value_that_is_no_state() -> None:
    def edit(bundle: Json) -> None:
        ports = contract(bundle, "paged-attention")["state_ports"]
        ports.insert(0, ports[0] | {"ordinal": 0})

    found = notes(edit)
    assert [note.rule for note in found if "no state" in note.message] == [
        "checkpoint.invalid-state-port"
    ]


def test_a_resource_of_no_state() -> None:
    def edit(bundle: Json) -> None:
        row = deepcopy(row_of(bundle, KV))
        row["base_resource_id"] = "resource/cache"
        make.descriptors_of(bundle).append(row)

    (note,) = notes(edit)
    assert note.rule == "checkpoint.uncovered-resource"
    rows = make.descriptors_of(edited(edit))
    assert note.location == f"/plan/payload/memory/dynamic_descriptors/{len(rows) - 1}"


def persistent(*, estimated: bool) -> Callable[[Json], object]:
    def edit(bundle: Json) -> None:
        node = make.node_of(bundle, DELTA)
        if estimated:
            node["provider_resources"]["persistent"] = {
                "size_formula": {"fixed": {"bytes": 64}},
                "alignment_bytes": 256,
                "scope": "sequence",
                "storage": {"accepted_profiles": [make.LINEAR]},
            }
        node["persistent_resource"] = "resource/persistent"
        make.descriptors_of(bundle).append(
            make.descriptor(
                "resource/persistent",
                {"fixed": {"bytes": 64}},
                usage="persistent",
                kind={"persistent": {"node_id": DELTA}},
                initialization="none",
            )
        )

    return edit


def test_a_persistent_workspace_is_named_once_and_not_also_uncovered() -> None:
    (note,) = notes(persistent(estimated=True))
    assert note.rule == "checkpoint.provider-persistent-workspace"


def test_a_persistent_resource_that_no_provider_asked_for_is_uncovered() -> None:
    (note,) = notes(persistent(estimated=False))
    assert note.rule == "checkpoint.uncovered-resource"


def test_no_state_at_all() -> None:
    assert "no-sequence-state" in ids(notes(in_program(states=[])))


def test_no_boundary_in_common() -> None:
    (note,) = notes(prefix("embedding", 1, 1 << 63), prefix("logits", 1, 3))
    assert note.rule == "checkpoint.boundary-intersection"
    assert "no common multiple" in note.message


@pytest.mark.parametrize(
    "edit",
    [
        lambda bundle: row_of(bundle, KV).update(initialization="zero"),
        lambda bundle: row_of(bundle, KV).update(lifetime="request"),
        lambda bundle: row_of(bundle, KV).update(usage="activations"),
        lambda bundle: row_of(bundle, KV).update(element_type="f16"),
        bind(KV, usage="activations"),
        lambda bundle: provider(bundle, "linear").update(provider_id="provider/other"),
        lambda bundle: provider(bundle, "linear").update(operation_fingerprint="0" * 64),
        lambda bundle: bundle["catalog"]["providers"].pop("operation/linear"),
        lambda bundle: row_of(bundle, KV).update(demand={"fixed": {"bytes": 0}}),
        bind(KV, storage={"components": []}),
    ],
)
def test_what_another_rule_reports_is_not_reported_again(edit: Callable[[Json], object]) -> None:
    assert notes(edit) == []


def test_a_boundary_beyond_what_the_states_hold_is_never_reached() -> None:
    (warning,) = notes(prefix("gated-delta", 1, 16_384))
    assert (warning.rule, warning.severity) == ("checkpoint.never-reachable", "warning")
    assert warning.message == (
        "The smallest boundary that all providers permit is 16,384 tokens, because of "
        "`provider/gated-delta` (node `node/l0000/delta`), but state `state/l0003/kv` holds 8,192 "
        "at most and the policy schedules 4,096 in one step."
    )
    node = make.nodes_of(hybrid())[int(warning.location.rpartition("/")[2])]
    assert node["id"] == "node/l0000/delta"


def test_two_providers_that_exceed_only_together_are_both_named() -> None:
    (warning,) = notes(prefix("gated-delta", 1, 4096), prefix("embedding", 1, 4095))
    assert warning.rule == "checkpoint.never-reachable"
    assert "provider/embedding" in warning.message
    assert "provider/gated-delta" in warning.message
    assert "provider/linear" not in warning.message


def test_the_limit_itself_is_reached() -> None:
    assert notes(prefix("gated-delta", 1, 8192), scheduled(8192)) == []
    assert notes(prefix("gated-delta", 1, 4096)) == []


def test_more_tokens_than_one_step_schedules_is_a_note() -> None:
    (note,) = notes(prefix("gated-delta", 1, 8192))
    assert (note.rule, note.severity) == ("checkpoint.beyond-one-step", "note")
    (note,) = notes(scheduled(32))
    assert note.rule == "checkpoint.beyond-one-step"


def test_without_a_policy_the_plans_own_limit_counts() -> None:
    (note,) = notes(prefix("gated-delta", 1, 8192), lambda bundle: bundle.pop("policy"))
    assert "schedules 4,096" in note.message


def test_suffixes_do_not_move_the_first_boundary() -> None:
    assert notes(suffix("embedding", 16_384)) == []


def test_every_reason_has_a_rule() -> None:
    rules = {rule for rule in catalogue() if rule.startswith("checkpoint.")}
    assert len(rules) == 21
    assert {rule.id for rule in checkpoint._OF_REASON.values()} < rules


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "c"], "a, b and c"),
        (["a", "b", "c", "d"], "a, b, c and 1 more"),
    ],
)
def test_long_lists_are_cut(names: list[str], text: str) -> None:
    assert listed(names) == text
