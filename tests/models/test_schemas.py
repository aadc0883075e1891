"""The families in either plan schema."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

import models
from ferrum_verify import audit
from models.__main__ import main

LAYERS = 4
every_family = pytest.mark.parametrize("family", models.families())


@cache
def text_of(family: str, schema: str) -> str:
    return json.dumps(models.bundle(family, LAYERS, schema))


def bundle(family: str, schema: str = "8.1") -> Any:
    return json.loads(text_of(family, schema))


@every_family
@pytest.mark.parametrize("execution", ["in-order", "fenced"])
def test_what_is_proved_in_5_0_is_proved_in_8_1(family: str, execution: Any) -> None:
    older = audit(bundle(family, "5.0"), execution=execution)
    today = audit(bundle(family), execution=execution)
    assert older.verdict == today.verdict == "verified"
    assert today.obligations == older.obligations
    assert older.findings == ()
    assert [finding.rule for finding in today.findings] == ["wire.schema-from-public-files"]


@every_family
def test_payloads_stand_in_the_engines_order(family: str) -> None:
    assert list(bundle(family)["plan"]["payload"]) == [
        *list(bundle(family, "5.0")["plan"]["payload"])[:11],
        "execution_weights",
        "weight_format",
        "quantization_formats",
        "retained_completion_values",
        "terminal_output_resources",
        "nodes",
        "memory",
        "sequence_checkpoint_layout",
    ]
    policy = list(bundle(family)["policy"])
    assert policy[4:] == [
        "admission",
        "attention_execution",
        "execution_determinism",
        "reusable_execution",
        "fingerprint",
    ]
    assert list(bundle(family)["catalog"])[-1] == "weight_materializers"


@every_family
def test_memory_differs_in_growth_alone(family: str) -> None:
    older = bundle(family, "5.0")["plan"]["payload"]["memory"]
    today = bundle(family)["plan"]["payload"]["memory"]
    assert today.pop("checkpoint_capacity") == {"maximum_retained_bytes": 1 << 30}
    grown = 0
    for before, after in zip(older["dynamic_pools"], today["dynamic_pools"], strict=True):
        grown += after.pop("checkpoint_growth_ceiling_bytes", 0) > 0
        before["provisioning"].pop("maximum_resident_bytes")
        after["provisioning"].pop("maximum_resident_bytes")
    assert grown >= 1
    assert today == older


def test_the_command_builds_8_1_unless_it_is_told(capfdbinary: Any) -> None:
    for arguments, major in (([], 8), (["--schema", "5.0"], 5), (["--schema", "8.1"], 8)):
        assert main(["llama-3.1-8b", "--layers", "1", "--plan", *arguments]) == 0
        plan = json.loads(capfdbinary.readouterr().out)
        assert plan["payload"]["schema"]["major"] == major
