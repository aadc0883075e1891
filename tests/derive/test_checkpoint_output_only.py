"""Output-only inputs: the fixed point, by hand and against a plain reading of the format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrum_verify.derive.output_only import alias_classes, reached_state
from ferrum_verify.deriving.checkpoints import derive_sequence_checkpoint
from ferrum_verify.documents.node import PlanNode
from ferrum_verify.findings.errors import DerivationError
from tests.derive import checkpoint_bundles as make

if TYPE_CHECKING:
    from collections.abc import Sequence

Json = make.Json


def token_work(value_id: str) -> Json:
    axis = {
        "value_id": value_id,
        "role": "input",
        "ordinal": 0,
        "axis": 0,
        "rank": 1,
        "canonical_extent": 1,
    }
    return {"tokens": {"source": axis, "projections": [axis]}}


def alias(output: str, source: str, ordinals: tuple[int, int] = (0, 0)) -> Json:
    return {
        "output_value_id": output,
        "output_ordinal": ordinals[1],
        "input_value_id": source,
        "input_ordinal": ordinals[0],
        "kind": "must_alias",
    }


def update(bundle: Json, node: str, output: str, source: str) -> None:
    """Let the node update an input in place, which becomes that output of it."""
    values = make.node_of(bundle, node)["values"]
    ordinals = [sum(each["role"] == role for each in values) for role in ("input", "output")]
    before = make.value(source, "input", ordinals[0])
    after = next((each for each in values if each["value_id"] == output), None)
    if after is None:
        after = make.value(output, "output", ordinals[1])
        values.append(after)
    values.insert(ordinals[0], before)
    after["alias"] = {"must_alias": {"tensor_index": before["ordinal"]}}
    after["storage"] = before["storage"]
    ends = before["ordinal"], after["ordinal"]
    make.node_of(bundle, node)["exact_aliases"].append(alias(output, source, ends))


def affects(value: str, node: str, state: str) -> list[Any]:
    return [
        {
            "output_only_input_affects_state": {
                "value_id": value,
                "node_id": node,
                "state_id": f"state.{state}",
            }
        }
    ]


def reasons(bundle: Json) -> list[Any]:
    return derive_sequence_checkpoint(bundle).reasons


def feed_bias(bundle: Json, node: str) -> None:
    make.node_of(bundle, node)["values"].append(make.value("bias", "input", 5))


def test_an_input_of_a_node_with_state() -> None:
    bundle = make.sound()
    feed_bias(bundle, "attention")
    assert reasons(bundle) == affects("bias", "attention", "kv")


def test_through_the_output_of_a_node_before() -> None:
    bundle = make.sound()
    feed_bias(bundle, "embed")
    assert reasons(bundle) == affects("bias", "attention", "kv")


def test_a_read_of_state_counts() -> None:
    bundle = make.sound()
    feed_bias(bundle, "attention")
    make.node_of(bundle, "attention")["state_effects"][0]["access"] = "read"
    assert reasons(bundle) == affects("bias", "attention", "kv")


def test_the_first_effect_of_the_node_is_named() -> None:
    bundle = make.sound()
    feed_bias(bundle, "mixer")
    effects = make.node_of(bundle, "mixer")["state_effects"]
    effects.append(effects[0] | {"state_id": "state.second"})
    assert reasons(bundle) == affects("bias", "mixer", "recurrent")


def test_a_node_without_effects_is_passed() -> None:
    bundle = make.sound()
    feed_bias(bundle, "attention")
    make.node_of(bundle, "attention")["state_effects"] = []
    assert reasons(bundle) == affects("bias", "mixer", "recurrent")


def test_the_source_of_token_work_is_an_input() -> None:
    bundle = make.sound()
    make.node_of(bundle, "mixer")["work"] = token_work("bias")
    assert reasons(bundle) == affects("bias", "mixer", "recurrent")


def test_an_input_that_the_node_writes_is_affected() -> None:
    bundle = make.sound()
    make.nodes_of(bundle).insert(
        0,
        make.node(
            "rewrite",
            make.value("bias", "input", 0),
            make.value("x1", "input", 1, access="read_write"),
            make.value("unused", "output", 0),
        ),
    )
    bundle["catalog"]["providers"]["op.rewrite"] = [make.provider("rewrite")]
    assert reasons(bundle) == affects("bias", "mixer", "recurrent")


def test_an_alias_carries_to_a_reader_earlier_in_the_plan() -> None:
    bundle = make.sound()
    update(bundle, "head", "logits", "x0")
    assert reasons(bundle) == affects("bias", "attention", "kv")


def test_aliases_connect_over_several_steps() -> None:
    bundle = make.sound()
    update(bundle, "head", "logits", "hidden")
    update(bundle, "embed", "spare", "hidden")
    make.node_of(bundle, "attention")["values"].append(make.value("spare", "input", 2))
    assert reasons(bundle) == affects("bias", "attention", "kv")


def test_a_false_alias_is_refused() -> None:
    bundle = make.sound()
    update(bundle, "head", "logits", "x0")
    make.binding_of(bundle, "head", "logits")["alias"] = "no_alias"
    with pytest.raises(DerivationError, match="the output's alias policy is no_alias"):
        reasons(bundle)


def test_the_first_listed_input_gives_the_origin() -> None:
    bundle = make.sound()
    bundle["program"]["inputs"] += ["a.mask"]
    bundle["program"]["checkpoint_inputs"]["output_only_inputs"] = ["a.mask", "bias"]
    make.node_of(bundle, "attention")["values"] += [
        make.value("bias", "input", 5),
        make.value("a.mask", "input", 6),
    ]
    assert reasons(bundle) == affects("bias", "attention", "kv")


def test_an_origin_stays_with_a_value_that_is_reached_twice() -> None:
    nodes = [
        plan_node("n0", reads=("b",), writes=("x",)),
        plan_node("n1", reads=("a",), writes=("x",)),
        plan_node("n2", reads=("x",), writes=(), stateful=True),
    ]
    found = reached_state(("a", "b"), nodes)
    assert found is not None
    assert found.origin == "b"


def test_input_coverage_and_reached_state_are_both_reported() -> None:
    bundle = make.sound()
    bundle["program"]["inputs"].append("image")
    feed_bias(bundle, "attention")
    assert reasons(bundle) == ["input_coverage", *affects("bias", "attention", "kv")]


def test_a_long_chain_that_runs_against_plan_order_is_followed() -> None:
    # A sweep over all nodes for each link would take four hundred million visits.
    length = 20_000
    nodes = [
        plan_node(f"n{index}", reads=(f"v{index}",), writes=(f"v{index - 1}",))
        for index in range(1, length)
    ]
    nodes.insert(0, plan_node("state", reads=("v0",), writes=(), stateful=True))
    found = reached_state((f"v{length - 1}",), nodes)
    assert found is not None
    assert (found.origin, found.node_index) == (f"v{length - 1}", 0)


VALUES = ("a", "b", "c", "d", "e", "f")


def plan_node(
    name: str,
    *,
    reads: Sequence[str],
    writes: Sequence[str],
    updates: Sequence[str] = (),
    work: str | None = None,
    aliases: Sequence[tuple[str, str]] = (),
    stateful: bool = False,
) -> PlanNode:
    node = make.node(
        name,
        *(make.value(value, "input", index) for index, value in enumerate(reads)),
        *(make.value(value, "output", index) for index, value in enumerate(writes)),
        *(
            make.value(value, "input", 10 + index, access="read_write")
            for index, value in enumerate(updates)
        ),
        effects=("kv",) if stateful else (),
    )
    node["exact_aliases"] = [alias(output, source) for output, source in aliases]
    if work is not None:
        node["work"] = token_work(work)
    return PlanNode.model_validate(node)


values = st.sampled_from(VALUES)
plan_nodes = st.builds(
    plan_node,
    st.just("n"),
    reads=st.lists(values, max_size=2),
    writes=st.lists(values, max_size=2),
    updates=st.lists(values, max_size=1),
    work=st.none() | values,
    aliases=st.lists(st.tuples(values, values), max_size=1),
    stateful=st.integers(0, 3).map(lambda draw: draw == 0),
)


def swept(output_only: Sequence[str], nodes: Sequence[PlanNode]) -> tuple[str, int] | None:
    """The format's text, sweep by sweep, with nothing saved."""
    pairs = [
        (one.input_value_id, one.output_value_id) for node in nodes for one in node.exact_aliases
    ]
    affected = {value: value for value in sorted(output_only)}
    while True:
        before = dict(affected)
        for value in sorted(before):
            # The greatest affected member of a class comes last and so gives the origin.
            for member in sorted(connected(value, pairs) - before.keys()):
                affected[member] = before[value]
        for index, node in enumerate(nodes):
            inputs = [one.value_id for one in node.values if one.role == "input"]
            if node.work != "fixed":
                inputs.append(node.work.source.value_id)
            origin = next((affected[value] for value in inputs if value in affected), None)
            if origin is None:
                continue
            if node.state_effects:
                return origin, index
            for one in node.values:
                if one.role == "output" or one.access in ("write", "read_write"):
                    affected.setdefault(one.value_id, origin)
        if affected == before:
            return None


def connected(start: str, pairs: Sequence[tuple[str, str]]) -> set[str]:
    if not any(start in pair for pair in pairs):
        return set()
    found = {start}
    while more := {
        member for pair in pairs if found & set(pair) for member in pair if member not in found
    }:
        found |= more
    return found


@given(st.sets(values, max_size=3), st.lists(plan_nodes, max_size=6))
def test_agrees_with_a_plain_reading(output_only: set[str], nodes: list[PlanNode]) -> None:
    found = reached_state(sorted(output_only), nodes)
    answer = None if found is None else (found.origin, found.node_index)
    assert answer == swept(sorted(output_only), nodes)


@given(st.lists(plan_nodes, max_size=6))
def test_alias_classes_are_the_connected_values(nodes: list[PlanNode]) -> None:
    pairs = [
        (one.input_value_id, one.output_value_id) for node in nodes for one in node.exact_aliases
    ]
    expected = {value: connected(value, pairs) for pair in pairs for value in pair}
    assert alias_classes(nodes) == expected


def test_without_output_only_inputs_nothing_is_reached() -> None:
    assert reached_state((), [plan_node("n", reads=("a",), writes=(), stateful=True)]) is None


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_a_class_takes_the_origin_of_its_greatest_affected_member(order: tuple[str, str]) -> None:
    nodes = [
        plan_node("n0", reads=(), writes=(), aliases=[("c", order[0]), ("c", order[1])]),
        plan_node("n1", reads=("c",), writes=(), stateful=True),
    ]
    found = reached_state(("a", "b"), nodes)
    assert found is not None
    assert found.origin == "b"
