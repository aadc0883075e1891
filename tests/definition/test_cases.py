"""The definition of lost bytes against small plans whose mechanism of failure is known."""

from __future__ import annotations

import gzip
import json
import tomllib
from pathlib import Path

import pytest

from tests.definition.bytes import faults
from tests.definition.runs import MODELS

CASES = Path(__file__).parents[1] / "fixtures" / "cases"

# A mechanism with no verdict of its own, and what of it is or is not a lost byte.
NO_VERDICT = {
    "activation-of-request": "what lies in the bytes between two steps is nobody's question yet",
    "alignment-0": "how much padding a row has is not known; its values have their bytes",
    "invocation-carried": "a fragment does not say that anything is carried",
    "lanes-exceed-memory": "memory that is not there is refused when a lane asks for it",
    "one-binding": "nothing is wrong with it",
}

# Of text and of token spans, not of a plan's bytes.
OTHER_TOPICS = ("workflow-command", "coprime-spans")


def documents() -> list[tuple[str, str]]:
    return [
        (path.parent.name, path.name.removesuffix(".json.gz"))
        for path in sorted(CASES.glob("*/*.json.gz"))
        if path.name.startswith(("faulty", "sound")) and path.parent.name not in OTHER_TOPICS
    ]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("case", "side"), documents())
def test_a_byte_is_lost_exactly_where_the_case_says_violated(
    case: str, side: str, model: str
) -> None:
    expected = tomllib.loads((CASES / case / "case.toml").read_text())
    document = json.loads(gzip.decompress((CASES / case / f"{side}.json.gz").read_bytes()))
    found = faults(document, model)
    verdict = expected.get(side, {}).get(model)
    if case in NO_VERDICT:
        assert found == []
    elif verdict is not None:
        assert bool(found) == (verdict == "violated"), found
