"""Hostile input: whatever is thrown at an entry point, no exception but our own leaves it."""

from __future__ import annotations

import gzip
import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ferrum_verify import (
    FerrumVerifyError,
    compile_program_bindings,
    derive_memory_plan,
    derive_sequence_checkpoint,
)
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import run
from ferrum_verify.reading.load import from_memory, read_documents
from ferrum_verify.report.formats import render
from ferrum_verify.report.model import Report

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferrum_verify.reading.load import LoadedDocument

NAMES = ("problem", "fragment", "bundle", "program", "catalog", "policy")
SAMPLES: dict[str, Any] = {name: sample(name) for name in NAMES}
TEXTS = {name: json.dumps(document).encode() for name, document in SAMPLES.items()}
DERIVATIONS = (derive_memory_plan, compile_program_bindings, derive_sequence_checkpoint)
FUZZING = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

HUGE = st.sampled_from([2**32, 2**53 + 1, 2**63, 2**64 - 1, 2**64, 2**128, 10**50, 10**4000])
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | HUGE
    | HUGE.map(lambda number: -number)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["", "0", "00", "a b", "value", "f" * 64, "F" * 64, "x" * 161]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["nodes", "memory", "plan", "payload", "plan_hash", "bytes", "fixed"])
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def judged(loaded: LoadedDocument) -> Report:
    """Audit as the command does, and write the report in each format."""
    from ferrum_verify.auditing.audit import audit_document

    report = Report(execution="fenced", documents=(audit_document(loaded, prove=False),))
    assert report.verdict in ("verified", "violated", "undecided", "unreadable")
    for name in ("text", "json"):
        render(report, name).encode()
    return report


def places(value: Any, steps: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every member of a document."""
    members = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, member in members:
        yield (*steps, key)
        yield from places(member, (*steps, key))


def replaced(document: Any, steps: tuple[Any, ...], value: Any) -> Any:
    copy = deepcopy(document)
    holder = copy
    for step in steps[:-1]:
        holder = holder[step]
    holder[steps[-1]] = value
    return copy


def at(document: Any, steps: tuple[Any, ...]) -> Any:
    for step in steps:
        document = document[step]
    return document


PLACES = {name: list(places(document)) for name, document in SAMPLES.items()}


@FUZZING
@given(JSON)
def test_any_json(value: Any) -> None:
    judged(from_memory(value))
    for derivation in DERIVATIONS:
        try:
            derivation(value)
        except FerrumVerifyError:
            continue


@FUZZING
@given(st.data(), st.sampled_from(NAMES), JSON)
def test_any_json_in_any_place_of_a_sound_document(data: Any, name: str, value: Any) -> None:
    steps = data.draw(st.sampled_from(PLACES[name]))
    document = replaced(SAMPLES[name], steps, value)
    judged(from_memory(document))
    for derivation in DERIVATIONS:
        try:
            derivation(document)
        except FerrumVerifyError:
            continue


@FUZZING
@given(st.data(), st.sampled_from(NAMES))
def test_members_dropped_repeated_and_exchanged(data: Any, name: str) -> None:
    document = deepcopy(SAMPLES[name])
    for _ in range(data.draw(st.integers(1, 3))):
        steps = data.draw(st.sampled_from(list(places(document))))
        other = data.draw(st.sampled_from(list(places(document))))
        holder, key = at(document, steps[:-1]), steps[-1]
        match data.draw(st.sampled_from(["drop", "repeat", "exchange"])):
            case "drop":
                del holder[key]
            case "repeat" if isinstance(holder, list):
                holder.insert(key, deepcopy(holder[key]))
            case _:
                holder[key] = deepcopy(at(document, other))
        if not document:
            return
    judged(from_memory(document))


@FUZZING
@given(st.data(), st.sampled_from(NAMES), st.booleans())
def test_damaged_files(tmp_path: Path, data: Any, name: str, packed: bool) -> None:
    text = bytearray(gzip.compress(TEXTS[name], mtime=0) if packed else TEXTS[name])
    for _ in range(data.draw(st.integers(1, 4))):
        index = data.draw(st.integers(0, len(text) - 1))
        text[index] ^= 1 << data.draw(st.integers(0, 7))
    if data.draw(st.booleans()):
        del text[data.draw(st.integers(0, len(text) - 1)) :]
    path = tmp_path / ("damaged.json.gz" if packed else "damaged.json")
    path.write_bytes(text)
    for loaded in read_documents(path):
        judged(loaded)
    assert run(["derive", str(path), "-o", str(tmp_path / "out")]) in (0, 1, 2)
    assert run(["audit", "--no-prove", str(path), "-o", str(tmp_path / "out")]) in (0, 1, 2, 3)


@pytest.mark.parametrize("name", NAMES)
def test_a_number_that_does_not_fit_is_found_wherever_it_stands(name: str) -> None:
    document = SAMPLES[name]
    checked = 0
    numbers = [steps for steps in PLACES[name] if type(at(document, steps)) is int]
    # Attributes and the like are any JSON: a number there has no range.
    for steps in numbers[:: max(1, len(numbers) // 15)]:
        if "attributes" in steps or "oracle" in steps or "work" in steps:
            continue
        for value in (-1, 2**64, 10**5000):
            report = judged(from_memory(replaced(document, steps, value)))
            wire = [finding for finding in report.findings if finding.family == "wire"]
            location = "".join(f"/{str(step).replace('/', '~1')}" for step in steps)
            if wire:
                assert [finding.location for finding in wire] == [location]
                assert wire[0].rule in ("wire.range", "wire.type")
                checked += 1
            assert report.verdict == "violated", location
    assert checked or not numbers
