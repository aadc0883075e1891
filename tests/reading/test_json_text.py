"""JSON is read as strictly as the engine reads it, and no text makes the reader raise."""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrum_verify.findings.errors import DocumentError
from ferrum_verify.findings.wording import LONG_NUMBER, printable, quoted
from ferrum_verify.reading import json_text
from ferrum_verify.reading.json_text import MAXIMUM_BUNDLE_BYTES, parse_json
from ferrum_verify.reading.json_values import MAXIMUM_BYTES, MAXIMUM_DEPTH, MAXIMUM_MEMBERS, admit

if TYPE_CHECKING:
    from ferrum_verify.findings import Finding


def refused(text: bytes) -> tuple[Finding, ...]:
    with pytest.raises(DocumentError) as caught:
        parse_json(text)
    return caught.value.findings


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "is empty"),
        (b" \n\t ", "is empty"),
        (b"\xef\xbb\xbf{}", "byte-order mark"),
        ("{}".encode("utf-16"), "byte-order mark"),
        (b'{"a": "\xff"}', "not UTF-8: invalid start byte at byte 7"),
        (b'{"a": 1', "ends in the middle"),
        (b'{"a": 1,', "ends in the middle"),
        (b'{"a": 1} x', "goes on after the end of the JSON value, at line 1, column 10"),
        (b"{} {}", "goes on after the end"),
        (b"{'a': 1}", "is not JSON"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "-Infinity"),
        (b'{"a": 1e400}', "The number inf"),
        (b'{"a": 01}', "is not JSON"),
        (b'{"a": +1}', "is not JSON"),
        (b'{"a": 1,}', "is not JSON"),
        (b'{"a": "\n"}', 'invalid control character at line 1, column 8: «\\n"}» after «{"a": "».'),
        (b'{"a": "b", "c: 1}', "unterminated string starting at line 1, column 12: «"),
        (b'{"a": "\\q"}', "invalid \\escape at line 1, column 8: «"),
        (b'{"a": "\\ud800"}', "half of a surrogate pair"),
        (b'{"\\udc00": 1}', "half of a surrogate pair"),
        (b"nul", "is not JSON"),
        (b"\x00", "is not JSON"),
    ],
)
def test_text_that_is_not_json(text: bytes, says: str) -> None:
    (finding,) = refused(text)
    assert finding.rule == "wire.not-json"
    assert says in finding.message


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        (b'{"a": 1,}', "Remove the comma"),
        (b'{"a": [1, 2,\n]}', "Remove the comma"),
        (b"{'a': 1}", "double quotes"),
        (b"{a: 1}", "double quotes"),
        (b"// plan\n{}", "Remove the comment"),
        (b'{"a": 1 /* one */}', "Remove the comment"),
        (b'{"a": None}', "Write null"),
        (b'{"a": NaN}', "Write a number"),
        (b'{"a": 1 "b": 2}', "Put a comma"),
        (b'{"a" 1}', "Put a colon"),
        (b'{"a": "\\q"}', "Write a backslash"),
        (b"{} {}", "one a line"),
        (b'{"a": 1', "cut short"),
        (b"", "ran to its end"),
        (b"\xef\xbb\xbf{}", "without the byte-order mark"),
        ("{}".encode("utf-16"), "as UTF-8"),
        ("{}".encode("utf-16-le"), "as UTF-8"),
        (b'{"a": "\xff"}', "as UTF-8"),
    ],
)
def test_the_fix_fits_the_fault(text: bytes, fix: str) -> None:
    (finding,) = refused(text)
    assert finding.fix is not None
    assert fix in finding.fix


def test_what_stands_at_the_fault_is_shown_short_and_printable() -> None:
    hostile = '{"a": "' + "x" * 5_000 + '", \x1b[31m\u202e' + "y" * 5_000 + "}"
    (finding,) = refused(hostile.encode())
    assert "«\\x1b[31m\\u202eyyyy" in finding.message
    assert finding.message.isprintable()
    assert len(finding.message) < 250


def test_place_of_a_value_that_json_does_not_have() -> None:
    first, second = refused(b'{"a": [0, 1e999], "b": {"c": "\\ud83d"}}')
    assert (first.location, second.location) == ("/a/1", "/b/c")


def test_surrogate_pairs_are_characters() -> None:
    assert parse_json(b'["\\ud83d\\ude00"]') == ["\N{GRINNING FACE}"]


def test_each_duplicate_key_is_a_finding_at_its_place() -> None:
    text = b'{"a": [{"x": 1, "y": 2, "x": 3, "x": 4}], "b": {"~/": 1, "~/": 2}}'
    findings = refused(text)
    assert {finding.rule for finding in findings} == {"wire.duplicate-key"}
    assert sorted(finding.location for finding in findings) == ["/a/0/x", "/b/~0~1"]
    assert any("stands 3 times" in finding.message for finding in findings)


def test_duplicates_below_a_dropped_member_do_not_hide_the_outer_one() -> None:
    findings = refused(b'{"a": {"x": 1, "x": 2}, "a": 3}')
    assert [finding.location for finding in findings] == ["/a"]


def test_depth_up_to_the_limit() -> None:
    assert parse_json(b"[" * MAXIMUM_DEPTH + b"]" * MAXIMUM_DEPTH)


@pytest.mark.parametrize("depth", [MAXIMUM_DEPTH + 1, 1_000, 100_000])
def test_depth_past_the_limit(depth: int) -> None:
    for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
        inside = b"1" if opening != b"[" else b""
        (finding,) = refused(opening * depth + inside + closing * depth)
        assert finding.rule == "wire.limit"


def test_size_past_the_limit() -> None:
    (finding,) = refused(b" " * (MAXIMUM_BUNDLE_BYTES + 1))
    assert finding.rule == "wire.limit"
    assert "64 MiB" in finding.message
    (finding,) = refused(b"[" + b" " * MAXIMUM_BYTES + b"]")
    assert finding.rule == "wire.limit"
    assert "16 MiB" in finding.message


@pytest.mark.parametrize("digits", [41, 4_300, 4_301, 1_000_000])
@pytest.mark.parametrize("sign", ["", "-"])
def test_long_integers_are_read_as_one_that_no_field_holds(digits: int, sign: str) -> None:
    value = parse_json(f'{{"a": {sign}{"9" * digits}}}'.encode())
    assert abs(value["a"]) == LONG_NUMBER
    assert (value["a"] < 0) == bool(sign)
    assert quoted(value["a"]) == "a number of more than 40 digits"


def test_numbers_keep_their_kind() -> None:
    value = parse_json(b'[18446744073709551616, 48.0, 1e2, "x-0", -0, -0]')
    assert value[0] == 2**64
    assert [type(each) for each in value] == [int, float, float, str, float, float]
    assert math.copysign(1, value[4]) == -1


def test_plain_json_is_admitted_as_it_is() -> None:
    value = {"a": [1, 2.5, "x", None, True, {"é": []}]}
    assert admit(value) is value


class Colour(IntEnum):
    RED = 1


class Name(str):
    __slots__ = ()


def test_subclasses_and_tuples_become_plain() -> None:
    value = {Name("a"): (1, Colour.RED), "b": OrderedDict(c=Name("d"))}
    admitted = admit(value)
    assert admitted == {"a": [1, 1], "b": {"c": "d"}}
    assert type(admitted["a"]) is list
    assert type(admitted["a"][1]) is int
    assert type(admitted["b"]["c"]) is str
    assert all(type(key) is str for key in admitted)


@pytest.mark.parametrize(
    "value",
    [
        {1: 2},
        {"a": {1, 2}},
        {"a": b"bytes"},
        {"a": float("nan")},
        {"a": float("inf")},
        {"a": "\ud800"},
        {"a\udfff": 1},
        {"a": object()},
        {"a": 1j},
        {None: 1},
        iter([]),
    ],
)
def test_values_that_json_does_not_have(value: Any) -> None:
    with pytest.raises(DocumentError) as caught:
        admit(value)
    assert {finding.rule for finding in caught.value.findings} == {"wire.not-json"}


def test_a_value_that_contains_itself() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(DocumentError) as caught:
        admit({"a": cycle})
    assert caught.value.findings[0].rule == "wire.limit"


def test_a_value_that_unfolds_without_end() -> None:
    value: Any = []
    for _ in range(100):
        value = [value, value]
    with pytest.raises(DocumentError) as caught:
        admit(value)
    assert caught.value.findings[0].rule == "wire.limit"


def test_huge_integers_at_hand() -> None:
    assert admit({"a": 10**5000})["a"] == LONG_NUMBER


def test_printable_escapes_what_a_terminal_would_obey() -> None:
    assert printable("a\x1b[31m\n\ud800b") == "a\\x1b[31m\\n\\ud800b"
    assert printable("naïve") == "naïve"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@settings(max_examples=150, deadline=None)
@given(json_values)
def test_reading_what_was_written(value: Any) -> None:
    try:
        text = json.dumps(value, allow_nan=False).encode()
    except ValueError:
        return
    assert parse_json(text) == admit(value)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60) | st.text('[]{}":,0-1e.\\udNnatrufls \n', max_size=40))
def test_any_bytes_are_read_or_refused(text: bytes | str) -> None:
    findings: tuple[Finding, ...] = ()
    try:
        parse_json(text.encode() if isinstance(text, str) else text)
    except DocumentError as error:
        findings = error.findings
    else:
        return
    assert findings


def test_a_bundle_may_be_larger_than_its_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "MAXIMUM_BYTES", 40)
    monkeypatch.setattr(json_text, "MAXIMUM_BUNDLE_BYTES", 160)
    plan = '{"payload": {}, "é\\"": [1, 2], "n": %s}'
    for size, sound in ((40, True), (41, False)):
        text = plan % ("7" * (size - len((plan % "").encode())))
        assert len(text.encode()) == size
        bundle = f' {{ "a" : "{{[,", "plan" :\n{text} , "z": [{"8" * 30}] }}'.encode()
        if sound:
            assert list(parse_json(bundle)) == ["a", "plan", "z"]
        else:
            (finding,) = refused(bundle)
            assert finding.rule == "wire.limit"
            assert finding.location == "/plan"
            assert "The plan has 41 bytes of JSON" in finding.message
            # By itself the plan is as large.
            assert [each.rule for each in refused(text.encode())] == ["wire.limit"]
    (finding,) = refused(b'{"plan": {}, "program": "' + b"x" * 160 + b'"}')
    assert finding.rule == "wire.limit"
    for other in (b'{"plan": 1, "memory": "%s"}', b'["%s"]', b'{"nodes": ["%s"]}'):
        assert [each.rule for each in refused(other % (b"x" * 60))] == ["wire.limit"]


def test_a_resolved_model_plan_may_be_larger_than_its_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json_text, "MAXIMUM_BYTES", 40)
    text = '{"parts": {"other": "%s", "execution_plan": {"payload": "%s"}}, "wire_version": 2}'
    assert parse_json((text % ("x" * 60, "y" * 20)).encode())["wire_version"] == 2
    (finding,) = refused((text % ("", "y" * 60)).encode())
    assert finding.location == "/parts/execution_plan"
    assert "The plan has 75 bytes of JSON" in finding.message


def test_a_long_text_with_room_for_too_many_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "MAXIMUM_BYTES", 40)
    monkeypatch.setattr(json_text, "MAXIMUM_VALUES", 20)
    assert parse_json(b'{"plan": {}, "z": [1,2,3,4,5,6,7,8,9,10]}')["plan"] == {}
    (finding,) = refused(b'{"plan": {}, "z": [%s]}' % b",".join([b"{}"] * 12))
    assert "has room for more than 20 values" in finding.message


def test_objects_with_too_many_members() -> None:
    members = {str(index): 0 for index in range(MAXIMUM_MEMBERS)}
    assert admit(members) is members
    members["one more"] = 0
    for value in (members, [{1, 2}, members], {"a": (members,)}):
        with pytest.raises(DocumentError) as caught:
            admit(value)
        assert [finding.rule for finding in caught.value.findings] == ["wire.limit"]


def test_of_very_many_duplicate_keys_the_first_are_told() -> None:
    text = "{" + ",".join(f'"{index}":0,"{index}":1' for index in range(10_002)) + "}"
    with pytest.raises(DocumentError) as told:
        parse_json(text.encode())
    findings = told.value.findings
    assert len(findings) == 10_001
    assert findings[0].message == 'The key "0" stands 2 times in one object.'
    assert "2 more findings" in findings[-1].message
