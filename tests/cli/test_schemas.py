"""JSON Schema: it takes the sound documents, and refuses what it can refuse."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli.schemas import schema_names, schema_of
from tests.vectors import cases, fragment_of


def validator(name: str) -> Any:
    schema = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("name", schema_names())
def test_schemas_are_schemas(name: str) -> None:
    assert validator(name).schema["$schema"].endswith("2020-12/schema")


SAMPLES = ("problem", "fragment", "bundle", "program", "catalog", "policy", "schedule")


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_follow_their_schema(name: str) -> None:
    validator(name).validate(sample(name))


def test_a_bundle_of_8_1_follows_the_same_schema() -> None:
    validator("bundle").validate(sample("bundle-8.1"))
    broken = sample("bundle-8.1")
    broken["plan"]["payload"]["memory"]["checkpoint_capacity"] = {"maximum_retained_bytes": 0}
    assert not validator("bundle").is_valid(broken)


def test_parts_of_samples_follow_their_schema() -> None:
    validator("execution-plan").validate(sample("bundle")["plan"])
    validator("memory-plan").validate(sample("fragment")["memory"])


def test_reference_documents_follow_their_schema() -> None:
    fragments, bundles = validator("fragment"), validator("bundle")
    intact = [case for case in cases("memory-plans") if case.get("mutation") == "intact"]
    for case in intact[::10]:
        fragments.validate(fragment_of(case))
    for case in cases("execution-plans")[::40]:
        if case["mutation"] == "intact":
            bundles.validate(case["bundle"])


def test_wire_mutations_break_the_schema() -> None:
    fragments = validator("fragment")
    seen = set()
    for case in cases("memory-plans"):
        mutation = case.get("mutation", "")
        if mutation.startswith("wire_") and mutation not in seen:
            seen.add(mutation)
            assert not fragments.is_valid(fragment_of(case)), case["id"]
    assert len(seen) == 12


def test_an_unknown_name() -> None:
    with pytest.raises(KeyError):
        schema_of("novel")
