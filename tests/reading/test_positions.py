"""JSON pointers are found in the text, to the line and column."""

from __future__ import annotations

import gzip
import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrum_verify.findings import pointer
from ferrum_verify.reading.positions import Region, regions_in, regions_of_file

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """{
  "memory": {
    "static_bytes": 48,
    "a/b~c": [10,
      {"x": "é😀", "y": null}]
  },
  "nodes": []
}
"""


def shown(text: str, region: Region) -> str:
    """What a region holds, cut out of the text line by line."""
    lines = text.split("\n")[region.line - 1 : region.end_line]
    lines[-1] = lines[-1][: region.end_column - 1]
    lines[0] = lines[0][region.column - 1 :]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("place", "region", "excerpt"),
    [
        ("", Region(1, 1, 1, 2), "{"),
        ("/memory", Region(2, 3, 2, 14), '"memory": {'),
        ("/memory/static_bytes", Region(3, 5, 3, 23), '"static_bytes": 48'),
        ("/memory/a~1b~0c/0", Region(4, 15, 4, 17), "10"),
        ("/memory/a~1b~0c/1", Region(5, 7, 5, 8), "{"),
        ("/memory/a~1b~0c/1/x", Region(5, 8, 5, 17), '"x": "é😀"'),
        ("/memory/a~1b~0c/1/y", Region(5, 19, 5, 28), '"y": null'),
        ("/nodes", Region(7, 3, 7, 13), '"nodes": ['),
    ],
)
def test_region_of_a_pointer(place: str, region: Region, excerpt: str) -> None:
    assert regions_in(TEXT, [place]) == {place: region}
    assert shown(TEXT, region) == excerpt


@pytest.mark.parametrize(
    ("missing", "around"),
    [
        ("/memory/reserve_bytes", "/memory"),
        ("/nodes/3/id", "/nodes"),
        ("/memory/static_bytes/deeper", "/memory/static_bytes"),
        ("/memory/a~1b~0c/01", "/memory/a~1b~0c"),
        ("/lost", ""),
    ],
)
def test_what_is_missing_is_shown_at_what_is_around_it(missing: str, around: str) -> None:
    found = regions_in(TEXT, [missing, around])
    assert found[missing] == found[around]


def test_the_last_of_equal_keys_counts() -> None:
    assert regions_in('{"a": 1,\n"a": 2}', ["/a"])["/a"] == Region(2, 1, 2, 7)


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ('{"a": 1,\n "b" 2}', Region(2, 6, 2, 7)),
        ('{"a": }', Region(1, 7, 1, 8)),
        ('{"a": 1} x', Region(1, 10, 1, 11)),
        ("", Region(1, 1, 1, 1)),
        ("[1, 2", Region(1, 6, 1, 6)),
        ("\ufeff{}", Region(1, 1, 1, 2)),
    ],
)
@pytest.mark.parametrize("also", ["", "/a/b", "/zzz"])
def test_text_that_is_not_json_is_shown_where_it_breaks(
    text: str, region: Region, also: str
) -> None:
    assert regions_in(text, ["", also])[""] == region


def test_windows_line_ends_and_huge_numbers() -> None:
    text = '{\r\n"a": ' + "9" * 5000 + ',\r\n"b": true\r\n}\r\n'
    assert regions_in(text, ["/b"])["/b"] == Region(3, 1, 3, 10)


def test_nesting_that_no_reader_takes_stops_the_sweep() -> None:
    text = '{"a": ' + "[" * 200_000 + "]" * 200_000 + "}"
    deep = "/a" + "/0" * 150_000
    assert regions_in(text, [deep])[deep].line == 1


scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=20,
)


def members(value: Any, place: str = "") -> list[tuple[str, Any]]:
    found = [(place, value)]
    if isinstance(value, dict):
        for key, member in value.items():
            found += members(member, pointer(place, key))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            found += members(member, pointer(place, index))
    return found


@given(documents, st.sampled_from([None, 0, 3]), st.booleans())
def test_every_member_of_any_document_is_found(
    value: Any, indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    places = members(value)
    regions = regions_in(text, [place for place, _ in places])
    assert len(regions) == len(places)
    for place, member in places:
        excerpt = shown(text, regions[place])
        if isinstance(member, dict | list):
            assert excerpt[-1] in "[{"
        else:
            plain = json.dumps(member, ensure_ascii=ascii_only)
            assert excerpt.endswith(plain)


def test_a_document_a_line(tmp_path: Path) -> None:
    path = tmp_path / "plans.jsonl"
    path.write_text('{"a": 1}\n\n{"a": {"b": 2}}\n', encoding="utf-8")
    assert regions_of_file(path, {1: ["/a"], 3: ["/a/b", ""]}) == {
        (1, "/a"): Region(1, 2, 1, 8),
        (3, "/a/b"): Region(3, 8, 3, 14),
        (3, ""): Region(3, 1, 3, 2),
    }


def test_where_no_line_can_be_shown(tmp_path: Path) -> None:
    packed = tmp_path / "plan.json.gz"
    packed.write_bytes(gzip.compress(b'{"a": 1}'))
    latin = tmp_path / "latin.json"
    latin.write_bytes(b'{"a": "\xe9"}')
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    for path in (None, packed, latin, pipe, tmp_path, tmp_path / "lost.json"):
        assert regions_of_file(path, {1: ["/a"]}) == {}


def test_the_largest_plan_is_swept_about_as_fast_as_it_is_read() -> None:
    row = {"id": "node/x", "dependencies": ["a", "b"], "resources": ["r"] * 20, "size": 12345678}
    text = json.dumps({"nodes": [row] * 60_000})
    started = time.perf_counter()
    json.loads(text)
    reading = time.perf_counter() - started
    pointers = [f"/nodes/{index}/size" for index in range(0, 60_000, 1000)]
    started = time.perf_counter()
    found = regions_in(text, pointers)
    assert len(found) == 60
    assert time.perf_counter() - started < 20 * reading
