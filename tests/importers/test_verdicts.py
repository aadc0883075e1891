"""The real plans: what is wrong with them, told by the verifier and by the definition."""

from __future__ import annotations

from importlib import import_module

import pytest

from ferrum_verify import audit
from tests.definition.buffer_tape import faults_in_order
from tests.importers.foreign import FIXTURES, PLANS, plan, read

WRONG = {
    "executorch-21490": {frozenset({"v4", "v11"}), frozenset({"v7", "v13"})},
    "tvm-20190-026": {frozenset({"alloc", "alloc1"})},
}
"""The storages that lose a byte to each other, of the plans that do."""


@pytest.mark.parametrize("name", PLANS)
def test_the_plan_is_judged_as_it_should_be(name: str) -> None:
    report = audit(plan(name), execution="in-order")
    assert report.verdict == ("violated" if name in WRONG else "verified")
    errors = [each for each in report.findings if each.severity == "error"]
    assert {each.rule for each in errors} == (
        {"buffer.shared-while-live"} if name in WRONG else set()
    )
    assert len(errors) == len(WRONG.get(name, ()))


@pytest.mark.parametrize("name", PLANS)
def test_the_definition_says_the_same(name: str) -> None:
    together = {
        frozenset(about) for kind, about in faults_in_order(plan(name)) if kind == "together"
    }
    assert together == WRONG.get(name, set())
    assert bool(faults_in_order(plan(name))) == (name in WRONG)


def test_the_story_names_the_value_who_overwrites_it_and_who_still_wants_it() -> None:
    first, second = (
        each
        for each in audit(plan("executorch-21490"), execution="in-order").findings
        if each.severity == "error"
    )
    for finding, names in ((first, ("v4", "v11", "i7", "i12")), (second, ("v7", "v13", "i10"))):
        for name in (*names, "aten::sub.out", "float32[4]"):
            assert name in finding.message


@pytest.mark.parametrize(
    ("module", "names", "nodes"),
    [
        ("tvm_relax", ("tvm-relax-dynamic.txt",), 6),
        ("tvm_relax", ("tvm-relax-branches.txt",), 8),
        (
            "xla",
            (
                "xla-tuple.after_optimizations.txt.gz",
                "xla-tuple.after_optimizations-buffer-assignment.txt.gz",
                "xla-tuple.after_optimizations-buffer-assignment-values.txt.gz",
            ),
            7,
        ),
    ],
)
def test_other_plans_of_the_same_planners(module: str, names: tuple[str, ...], nodes: int) -> None:
    """Dimensions with bounds, branches, and results in a tuple, as TVM and XLA print them."""
    importer = import_module(f"ferrum_verify.importers.{module}")
    document = importer.imported([(name, read(FIXTURES / name)) for name in names])
    assert len(document["nodes"]) == nodes
    assert "notes" not in document
    assert audit(document, execution="in-order").verdict == "verified"
