"""The claims that what a plan is handed stands until it is read, with the rules switched off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.catalogue.samples import sample
from ferrum_verify.counterexamples.checking import check_counterexample
from ferrum_verify.limits import Limits
from ferrum_verify.plan.sharing import EXECUTIONS
from ferrum_verify.prove.claims import plan_of, slot_sources
from ferrum_verify.prove.obligation import Proved, Refuted
from ferrum_verify.prove.prover import prove
from ferrum_verify.reading.parse import subject_of
from tests.definition.drafts import handed_in_late, nodes_of, plan
from tests.definition.plan_nodes import place_of
from tests.definition.planning import settle, stamp

if TYPE_CHECKING:
    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.prove.prover import Verdict

Json = dict[str, Any]


def verdicts(document: Json, execution: Execution = "fenced") -> list[Verdict]:
    subject, _ = subject_of(document)
    assert subject is not None
    claims = plan_of(subject, execution, ordered=True)
    assert claims is not None
    proof = prove(
        slot_sources(claims),
        Limits(),
        lambda found: check_counterexample(document, found, execution),
    )
    return [each for each in proof.claims if each.obligation.rule.id == "value.input-lost"]


def in_slots(document: Json, *slots: tuple[str, ...]) -> Json:
    """The document with other Step slots than were derived."""
    settle(document)
    (pool,) = document["plan"]["payload"]["memory"]["dynamic_pools"]
    kinds = {1: "dedicated"}
    pool["step_resource_slots"] = [
        {
            "kind": kinds.get(len(names), "ordered_single_fence_step_wave"),
            "resource_ids": [f"r/{name}" for name in names],
        }
        for names in slots
    ]
    stamp(document)
    return document


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_an_input_whose_bytes_another_has_first_is_refuted_by_a_run(execution: Execution) -> None:
    document = settle(handed_in_late())
    (verdict,) = verdicts(document, execution)
    assert isinstance(verdict.outcome, Refuted)
    assert verdict.obligation.names == ("r/late",)
    assert verdict.obligation.told_by[0][0].id == "slot.shared-while-live"
    assert verdict.obligation.told_by[0][1] == ("r/first", "r/late")
    assert verdict.counterexample is not None
    wire = verdict.counterexample.to_wire()
    assert (wire["writer"], wire["other"]) == ({"node": "a"}, {"node": "c", "mode": "read"})
    assert (wire["resource"], wire["value"], wire["at"]) == ("r/late", "late", 0)


def early() -> Json:
    """An input is read by the first node alone, and its bytes are another value's afterwards."""
    document = plan(
        ("a", [], ["in", "early"], "first"),
        ("b", ["a"], ["first"], "second"),
        ("c", ["b"], ["second"], "third"),
    )
    return in_slots(document, ("early", "second"), ("first",), ("third",))


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_an_input_that_is_read_first_is_proved(execution: Execution) -> None:
    (verdict,) = verdicts(early(), execution)
    assert isinstance(verdict.outcome, Proved)
    assert verdict.obligation.names == ("r/early",)


def test_nothing_is_claimed_where_no_input_shares() -> None:
    alone = in_slots(handed_in_late(), ("first",), ("late",), ("second",), ("third",))
    assert verdicts(alone) == []
    assert verdicts(sample("fragment")) == []


@pytest.mark.parametrize("aside", ["other", "second", "beyond"])
def test_the_run_shows_who_overwrites(aside: str) -> None:
    """Of the members of a slot not who reads, who writes too late, or who writes other bytes."""
    document = plan(
        ("a", [], ["in"], "first"),
        ("b", ["a"], ["in"], "beyond"),
        ("c", ["b"], ["other", "first", "beyond"], "third"),
        ("d", ["c"], ["late", "third"], "fourth"),
        ("e", ["d"], ["fourth"], "second"),
    )
    in_slots(document, (aside, "first", "late"), ("third",), ("fourth",))
    for each in nodes_of(document):
        for binding in each["values"]:
            if binding["value_id"] == "beyond":
                place_of(binding)["offset_bytes"] = 4096
    stamp(document)
    found = {each.obligation.names: each.counterexample for each in verdicts(document)}
    shown = found["r/late",]
    assert shown is not None
    wire = shown.to_wire()
    assert (wire["writer"]["node"], wire["other"]["node"]) == ("a", "d")
