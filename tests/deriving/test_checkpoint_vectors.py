"""All recorded answers of the reference engine about sequence checkpoints."""

from __future__ import annotations

from typing import Any

import pytest

from ferrum_verify.deriving.checkpoints import derive_sequence_checkpoint
from ferrum_verify.findings.errors import DerivationError, DocumentError
from tests.vectors import cases


def without_text(reason: Any) -> Any:
    if isinstance(reason, dict) and "state_layout" in reason:
        assert reason["state_layout"].pop("reason")
    return reason


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """What this package says, in the form of the recorded answer."""
    stages = {DocumentError: "wire", DerivationError: "derive"}
    try:
        result = derive_sequence_checkpoint(case["bundle"])
    except (DocumentError, DerivationError) as error:
        stage = stages[type(error)]
        families = {finding.family for finding in error.findings}
        # A descriptor row by itself is judged by the rules of descriptors, at the wire too.
        known = stage == "derive" or families <= {"wire", "descriptor"}
        return {"rejected": bool(families), "stage": stage} | (
            {} if known else {"families": families}
        )
    if result.layout is None:
        assert result.to_wire() == {"reasons": result.reasons}
        return {"supported": False, "reasons": [without_text(one) for one in result.reasons]}
    assert result.reasons == []
    return {
        "supported": True,
        "layout": result.to_wire()["layout"],
        "permits": [result.layout.permits(*query) for query in case["queries"]],
    }


CASES = cases("sequence-checkpoints")
GAPS = cases("gaps-sequence-checkpoints")


def outcomes(chosen: tuple[dict[str, Any], ...]) -> dict[str, int]:
    told = [
        case["expect"].get("stage") or ("layout" if case["expect"]["supported"] else "reasons")
        for case in chosen
    ]
    return {outcome: told.count(outcome) for outcome in set(told)}


def test_the_fixtures_are_complete() -> None:
    assert outcomes(CASES) == {"wire": 68, "derive": 51, "reasons": 345, "layout": 236}
    assert outcomes(GAPS) == {"wire": 51, "derive": 14, "reasons": 51, "layout": 40}


@pytest.mark.parametrize("case", [*CASES, *GAPS], ids=lambda case: case["id"])
def test_answer_is_the_reference_engines(case: dict[str, Any]) -> None:
    assert answer(case) == case["expect"]
