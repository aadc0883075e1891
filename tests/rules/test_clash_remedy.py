"""What a clash of slot members says would mend it, and that it does."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

import models
from ferrum_verify import audit
from ferrum_verify.catalogue import catalogue
from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.report.formats import FORMATS, render


@pytest.fixture(scope="module")
def plan() -> Any:
    return models.problem("qwen3.5-4b", 1)


def test_the_dependency_that_is_named_mends_the_clash(plan: Any) -> None:
    report = audit(plan, "concurrent", prove=False, judge="safety")
    (finding,) = (each for each in report.findings if each.severity == "error")
    assert finding.rule == "slot.shared-while-live"
    assert finding.fix == (
        "Add a dependency from `node/l0000/z` to `node/l0000/delta`, or give "
        "`resource/activation/l0000/norm1` a slot of its own, which takes 20.0 MiB more."
    )
    mended = copy.deepcopy(plan)
    earlier, later = re.findall(r"`(node/.*?)`", finding.fix)
    (node,) = (each for each in mended["nodes"] if each["id"] == later)
    node["dependencies"] = sorted([*node["dependencies"], earlier])
    assert audit(mended, "concurrent", prove=False).verdict == "verified"


def test_what_no_dependency_can_mend_gets_a_slot_only() -> None:
    example = catalogue()["slot.shared-while-live"].example
    assert example is not None
    document = sample(example.sample)
    apply_edits(document, example.edits)
    report = audit(document, judge="safety", prove=False)
    (finding,) = (each for each in report.findings if each.severity == "error")
    assert finding.fix is not None
    assert finding.fix.startswith("Give `act/")


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - {"github", "concise"}))
def test_every_format_shows_it(name: str, plan: Any) -> None:
    report = audit(plan, "concurrent", prove=False, judge="safety")
    assert "a slot of its own, which takes" in " ".join(render(report, name).split())
