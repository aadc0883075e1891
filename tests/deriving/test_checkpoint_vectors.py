"""All recorded answers of the reference engine about sequence checkpoints."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ferrum_verify.deriving.checkpoints import derive_sequence_checkpoint
from ferrum_verify.findings.errors import DerivationError, DocumentError

VECTORS = Path(__file__).parents[1] / "fixtures" / "sequence-checkpoints.jsonl.gz"


def cases() -> list[dict[str, Any]]:
    with gzip.open(VECTORS) as lines:
        return [json.loads(line) for line in lines]


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
        return {"rejected": bool(families), "stage": stage} | (
            {} if stage == "derive" or families == {"wire"} else {"families": families}
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


CASES = cases()


def test_the_fixture_is_complete() -> None:
    outcomes = [
        case["expect"].get("stage") or ("layout" if case["expect"]["supported"] else "reasons")
        for case in CASES
    ]
    counts = {outcome: outcomes.count(outcome) for outcome in set(outcomes)}
    assert counts == {"wire": 68, "derive": 51, "reasons": 345, "layout": 236}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_answer_is_the_reference_engines(case: dict[str, Any]) -> None:
    assert answer(case) == case["expect"]
