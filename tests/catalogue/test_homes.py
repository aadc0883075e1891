"""Where a rule stands: the file that ``explain`` names states the rule."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ferrum_verify
from ferrum_verify.catalogue import catalogue, homes
from ferrum_verify.cli import run

TOP = Path(ferrum_verify.__file__).parents[1]
ELSEWHERE = {"NODES_MISSING"}
"""Reported by the judge of a memory plan alone, which is no rule's check."""


def test_each_rule_is_stated_in_its_file() -> None:
    assert list(homes()) == list(catalogue())
    for rule, file in homes().items():
        assert f'id="{rule}"' in (TOP / file).read_text(encoding="utf-8"), rule


def test_each_rule_stands_above_its_check() -> None:
    """Between a rule and the first function after it that names it stands no other function."""
    for file in {file for file in homes().values() if "/contracts/" not in file}:
        tree = ast.parse((TOP / file).read_text(encoding="utf-8"))
        waiting: set[str] = set()
        for statement in tree.body:
            names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name("Rule"))):
                    waiting.add(name)
                case ast.FunctionDef() | ast.ClassDef():
                    assert waiting <= names | ELSEWHERE, (file, statement.name, waiting - names)
                    waiting.clear()
                case _:
                    waiting -= names


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
