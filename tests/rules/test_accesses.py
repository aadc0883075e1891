"""Rules of accesses and lifetimes where no small edit of a sample shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferrum_verify import audit
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.plan import accesses
from tests.definition.drafts import plan, rows_of
from tests.definition.planning import settle

if TYPE_CHECKING:
    from ferrum_verify.counterexamples import Execution


@pytest.mark.parametrize("execution", ["in-order", "fenced"])
@pytest.mark.parametrize(
    ("lent", "told"),
    [(("first",), "liveness.used-twice"), (("first", "second"), "liveness.carried")],
)
def test_a_value_whose_bytes_are_lent_in_between_is_lost(
    lent: tuple[str, ...], told: str, execution: Execution
) -> None:
    document = plan(
        ("a", [], ["in"], "first"), ("b", ["a"], ["in"], "second"), ("c", ["b"], ["first"], "third")
    )
    for name in lent:
        rows_of(document)[f"r/{name}"]["lifetime"] = "invocation"
    rules = {each.rule for each in audit(settle(document), execution, prove=False).findings}
    assert told in rules


def test_accesses_of_nodes_that_cannot_be_read_are_not_said_to_be_missing() -> None:
    document = sample("bundle")
    values = document["plan"]["payload"]["nodes"][1]["values"]
    values[-1]["alias"] = {"may_alias": {}}
    [note] = [e for e in audit(document, prove=False).findings if e.severity == "note"]
    assert note.rule == "graph.accesses-unknown"
    at = f"/plan/payload/nodes/1/values/{len(values) - 1}"
    assert f"because `{at}/alias/may_alias` cannot be read" in note.message


def test_more_accesses_than_are_compared_leave_the_question_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(accesses, "MOST_STEPS", 3)
    report = audit(sample("fragment"), prove=False)
    assert report.verdict == "undecided"
    assert [each.rule for each in report.findings] == ["graph.accesses-undecided"]
