"""Where a rule stands: the file that ``explain`` names states the rule."""

from __future__ import annotations

from pathlib import Path

import pytest

import ferrum_verify
from ferrum_verify.catalogue import catalogue, homes
from ferrum_verify.cli import run

TOP = Path(ferrum_verify.__file__).parents[1]


def test_each_rule_is_stated_in_its_file() -> None:
    assert list(homes()) == list(catalogue())
    for rule, file in homes().items():
        assert f'id="{rule}"' in (TOP / file).read_text(encoding="utf-8"), rule


@pytest.mark.parametrize(
    ("rule", "file"),
    [
        ("slot.not-derived", "ferrum_verify/rules/slot.py"),
        ("wire.state-ports", "ferrum_verify/reading/checkpoint_wire.py"),
        ("contract.plan-boundary-lost", "ferrum_verify/contracts/plan_checkpoint.py"),
    ],
)
def test_explain_names_the_file(rule: str, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", rule]) == 0
    assert f"Where it stands in the source\n  {file}\n" in capsys.readouterr().out
