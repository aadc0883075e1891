"""Every way in which a file can be bad is a finding, and good ones are read in every wrapping."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ferrum_verify import (
    FerrumVerifyError,
    audit,
    compile_program_bindings,
    derive_memory_plan,
    derive_sequence_checkpoint,
)
from ferrum_verify.contracts.compare import compare_contracts
from ferrum_verify.reading import load
from ferrum_verify.reading.json_text import MAXIMUM_BUNDLE_BYTES
from ferrum_verify.reading.json_values import MAXIMUM_BYTES
from ferrum_verify.reading.load import LoadedDocument, from_memory, read_documents


def read(path: Path | str) -> list[LoadedDocument]:
    return list(read_documents(path))


def only_rule(documents: list[LoadedDocument]) -> str:
    (document,) = documents
    (finding,) = document.findings
    return finding.rule


@pytest.mark.parametrize("name", ["plan.json", "plan.json.gz", "PLAN.JSON.GZ", "plan.txt"])
def test_one_document(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    text = b'{"a": 1}\n'
    path.write_bytes(gzip.compress(text) if name.lower().endswith(".gz") else text)
    (document,) = read(path)
    assert document.value == {"a": 1}
    assert document.findings == ()
    assert (document.source, document.path, document.line) == (str(path), path, 1)


def test_an_archive_without_its_suffix(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(gzip.compress(b"[1]"))
    assert read(path)[0].value == [1]


@pytest.mark.parametrize("packed", [False, True])
def test_one_document_a_line(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / ("plans.jsonl.gz" if packed else "plans.jsonl")
    text = b'{"a": 1}\r\n\n  \n[2]\nbroken\n{"b": 3}'
    path.write_bytes(gzip.compress(text) if packed else text)
    documents = read(path)
    assert [document.value for document in documents] == [{"a": 1}, [2], None, {"b": 3}]
    assert [document.line for document in documents] == [1, 4, 5, 6]
    assert documents[2].source == f"{path}:5"
    assert documents[2].findings[0].rule == "wire.not-json"


@pytest.mark.parametrize("text", [b"", b"\n\n \n"])
def test_lines_without_a_document(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "plans.jsonl"
    path.write_bytes(text)
    assert only_rule(read(path)) == "wire.not-json"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert only_rule(read(tmp_path / "missing.json")) == "wire.unreadable-file"
    assert only_rule(read(tmp_path)) == "wire.unreadable-file"
    assert only_rule(read(tmp_path / "missing.json" / "below")) == "wire.unreadable-file"
    assert only_rule(read("nul\0byte.json")) == "wire.unreadable-file"
    assert only_rule(read("x" * 5_000)) == "wire.unreadable-file"


def test_a_name_that_no_file_can_have() -> None:
    (document,) = read("\udc00.json")
    assert document.findings[0].rule == "wire.unreadable-file"
    assert document.findings[0].message == (
        "No file can have the name \\udc00.json: it holds half of a surrogate pair."
    )
    derivations = (derive_memory_plan, compile_program_bindings, derive_sequence_checkpoint)
    for derivation in derivations:
        with pytest.raises(FerrumVerifyError):
            derivation("\udc00")
    with pytest.raises(FerrumVerifyError):
        compare_contracts("\udc00", "\udc00")
    assert audit("\udc00").verdict == "unreadable"


def test_a_path_may_be_of_bytes(tmp_path: Path) -> None:
    class Place:
        def __fspath__(self) -> bytes:
            return os.fsencode(tmp_path / "plan.json")

    (tmp_path / "plan.json").write_text("[1]")
    (document,) = read_documents(Place())  # type: ignore[arg-type]
    assert document.value == [1]


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    (document,) = read(tmp_path / "plan.json")
    assert "may not be read" in document.findings[0].message


def test_names_are_shown_without_control_characters() -> None:
    (document,) = read("bad\x1b[31mname\udcff.json")
    assert document.source == "bad\\x1b[31mname\\udcff.json"
    assert document.source in document.findings[0].message


@pytest.mark.parametrize(
    "damage",
    [
        lambda packed: packed[:-9],
        lambda packed: packed[: len(packed) // 2],
        lambda packed: packed[:20] + b"\xff\xff\xff" + packed[23:],
        lambda _: b"not an archive",
        lambda _: b"\x1f\x8b",
    ],
)
def test_damaged_archives(tmp_path: Path, damage: Any) -> None:
    path = tmp_path / "plan.json.gz"
    path.write_bytes(damage(gzip.compress(json.dumps(list(range(1000))).encode(), mtime=0)))
    assert only_rule(read(path)) == "wire.unreadable-file"


@pytest.mark.parametrize("name", ["bomb.json.gz", "bomb.jsonl.gz"])
def test_an_archive_that_unpacks_to_far_more_stops_early(tmp_path: Path, name: str) -> None:
    # Its end is cut off: a reader that unpacked it all would find the damage, not the limit.
    packed = gzip.compress(b"0" * (4 * MAXIMUM_BUNDLE_BYTES), compresslevel=1)
    path = tmp_path / name
    path.write_bytes(packed[: len(packed) // 2])
    assert only_rule(read(path)) == "wire.limit"


def test_the_largest_document_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    path.write_bytes(b"[" + b" " * (MAXIMUM_BYTES - 2) + b"]")
    assert read(path)[0].value == []
    path.write_bytes(b"[" + b" " * (MAXIMUM_BYTES - 1) + b"]")
    assert only_rule(read(path)) == "wire.limit"


def test_lines_past_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "MAXIMUM_LINES", 3)
    path = tmp_path / "plans.jsonl"
    path.write_bytes(b"{}\n" * 10)
    documents = read(path)
    assert len(documents) == 4
    assert documents[3].findings[0].rule == "wire.limit"


def test_lines_that_are_too_long_in_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "MAXIMUM_FILE_BYTES", 2**20)
    path = tmp_path / "plans.jsonl.gz"
    path.write_bytes(gzip.compress((b"{}" + b" " * (2**18 - 3) + b"\n") * 10, mtime=0))
    documents = read(path)
    assert [each.value for each in documents] == [{}, {}, {}, {}, None]
    assert "1,048,576 bytes of JSON (1 MiB)" in documents[4].findings[0].message


@pytest.mark.parametrize(
    ("text", "values", "sources"),
    [
        (b'{"a": 1}', [{"a": 1}], ["<stdin>"]),
        (b'{\n "a": 1\n}\n\n', [{"a": 1}], ["<stdin>"]),
        (b'{"a": 1}\n\n[2]\n', [{"a": 1}, [2]], ["<stdin>:1", "<stdin>:3"]),
        (gzip.compress(b"[1]\n[2]\n", mtime=0), [[1], [2]], ["<stdin>:1", "<stdin>:2"]),
        (b"", [None], ["<stdin>"]),
        (b"\x1f", [None], ["<stdin>"]),
    ],
)
def test_standard_input(
    monkeypatch: pytest.MonkeyPatch, text: bytes, values: list[Any], sources: list[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))
    documents = read("-")
    assert [document.value for document in documents] == values
    assert [document.source for document in documents] == sources


def test_standard_input_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert only_rule(read("-")) == "wire.unreadable-file"


def test_standard_input_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path(os.devnull).parent.joinpath("zero").open("rb") as zeros:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=zeros))
        assert only_rule(read("-")) == "wire.limit"


def test_values_at_hand() -> None:
    assert from_memory({"a": 1}).value == {"a": 1}
    assert from_memory({"a": {1}}).findings[0].rule == "wire.not-json"
