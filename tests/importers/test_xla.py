"""XLA dumps: what is read out of the texts, and what is said where something is missing."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from ferrum_verify.importers.unreadable import ForeignPlanError
from ferrum_verify.importers.xla import imported
from tests.importers.foreign import contents, plan, refusal

MODULE = """HloModule m, is_scheduled=true, input_output_alias={ {}: (1, {}, may-alias) }

%body (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  ROOT %q = f32[4]{0} negate(%p)
}

ENTRY %main (x: f32[4], y: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  %y = f32[4]{0} parameter(1)
  %a = f32[4]{0} add(%x, %y)
  %pair = (f32[4]{0}, /*index=1*/f32[2]{0}) sort(%a), dimensions={0}, to_apply=%body
  %first = f32[4]{0} get-tuple-element(%pair), index=0
  %b = f32[4]{0} OPCODE(%first), control-predecessors={%a}, to_apply=%body
  ROOT %c = f32[4]{0} multiply(%b, %y)
}
"""
ASSIGNED = """BufferAssignment:
allocation 0: size 16, parameter 0, shape |f32[4]| at ShapeIndex {}:
 value: <0 x @0> (size=16,offset=0): f32[4]{0}
allocation 1: size 16, parameter 1, shape |f32[4]| at ShapeIndex {}, maybe-live-out:
 value: <1 y @0> (size=16,offset=0): f32[4]{0}
 value: <6 c @0> (size=16,offset=0): f32[4]{0}
allocation 2: size 64, preallocated-temp:
 value: <2 a @0> (size=16,offset=0): f32[4]{0}
 value: <3 pair{0} @0> (size=16,offset=16): f32[4]{0}
 value: <4 pair{1} @0> (size=8,offset=32): f32[2]{0}
 value: <5 b @0> (size=16,offset=0): f32[4]{0}
allocation 3: size 4, thread-local:
 value: <7 q @0> (size=4,offset=0): f32[]

Total bytes used: 96 (96B)

Used values:
"""
LINE = "allocation 2: size 64, preallocated-temp:\n"
USES = {
    "0 x @0": ("x", ["a, operand 0"]),
    "1 y @0": ("y", ["a, operand 1", "c, operand 1"]),
    "2 a @0": ("a", ["pair, operand 0"]),
    "3 pair{0} @0": ("pair {0}\n  first", ["first, operand 0 {0}", "b, operand 0"]),
    "4 pair{1} @0": ("pair {1}", []),
    "5 b @0": ("b", ["c, operand 0"]),
    "6 c @0": ("c", []),
}


def values(uses: dict[str, tuple[str, list[str]]]) -> str:
    return "".join(
        f"<{head}>\n positions:\n  {at}\n uses:\n"
        + "".join(f"  {each}\n" for each in listed or ["(none)"])
        + f" from instruction: %{at}\n"
        for head, (at, listed) in uses.items()
    )


def read(
    module: str = MODULE,
    assigned: str = ASSIGNED,
    *,
    uses: dict[str, tuple[str, list[str]]] = USES,
    opcode: str = "negate",
) -> Any:
    texts = [module.replace("OPCODE", opcode), assigned + values(uses)]
    return imported([(f"{at}.txt", text.encode()) for at, text in enumerate(texts)])


def test_instructions_read_and_write_their_values() -> None:
    nodes = {each["id"]: each for each in read()["nodes"]}
    assert list(nodes) == ["a", "pair", "first", "b", "c"]
    assert (nodes["pair"]["reads"], nodes["pair"]["writes"]) == (["a"], ["pair:0", "pair:1"])
    assert (nodes["first"]["reads"], nodes["first"]["writes"]) == ([], [])
    assert nodes["b"]["reads"] == ["pair:0"]
    assert nodes["b"]["dependencies"] == ["first", "a"]
    assert nodes["c"]["reads"] == ["y", "b"]


def test_parameters_live_on_unless_they_are_given_away() -> None:
    buffers = {each["id"]: each for each in read()["buffers"]}
    assert (buffers["x"].get("live_in"), buffers["x"].get("live_out")) == (True, True)
    assert (buffers["y"].get("live_in"), buffers["y"].get("live_out")) == (True, None)
    assert buffers["c"]["live_out"]
    assert "q" not in buffers


@pytest.mark.parametrize("opcode", ["while", "call", "custom-call", "all-reduce-start"])
def test_what_hides_what_it_does_is_named(opcode: str) -> None:
    (note,) = read(opcode=opcode)["notes"]
    assert note == {"text": f"What {opcode} does inside is not followed.", "nodes": ["b"]}


def test_values_inside_of_other_computations_are_named() -> None:
    line = " value: <5 b @0> (size=16,offset=0): f32[4]{0}\n"
    inner = line.replace("<5 b", "<8 inner").replace("offset=0", "offset=48")
    assigned = ASSIGNED.replace(line, line + inner)
    (note,) = read(assigned=assigned, uses=USES | {"8 inner @0": ("inner", [])})["notes"]
    assert note["buffers"] == ["inner"]


def test_an_operation_that_is_not_known_is_named() -> None:
    (note,) = read(opcode="frobnicate")["notes"]
    assert note == {"text": "The operation frobnicate is not known.", "nodes": ["b"]}


def test_names_without_a_percent_sign_are_names() -> None:
    assert read(MODULE.replace("%", ""))["nodes"] == read()["nodes"]


@pytest.mark.parametrize(
    ("module", "assigned", "said"),
    [
        ("", ASSIGNED, "is_scheduled=true"),
        (MODULE.replace("ENTRY ", ""), ASSIGNED, "no ENTRY"),
        (MODULE[:-2], ASSIGNED, "cut short"),
        (MODULE.replace("ROOT %c", "%c"), ASSIGNED, "no ROOT"),
        (MODULE, "", "no text has allocations"),
        (MODULE, ASSIGNED.replace("<2 a", "<9 a"), "where a is used"),
        (MODULE * 2, ASSIGNED, "several modules"),
        (MODULE, ASSIGNED.replace("offset=32", "offset:32"), "should be a value"),
        (MODULE, ASSIGNED.replace(" value: <5 b @0>", " <5 b @0>"), "should be a value"),
        (MODULE, ASSIGNED.replace("allocation 2: size 64", "allocation 2"), "an allocation"),
        (
            MODULE,
            ASSIGNED[: ASSIGNED.index("allocation 2")] + "\n",
            "a lies in no shared allocation",
        ),
        (MODULE, ASSIGNED + "\n value: <5 b @0> (size=16,offset=0): f32[4]\n", "no allocation"),
        (MODULE, ASSIGNED.replace(LINE, ""), "allocation 2 is missing"),
        (MODULE, ASSIGNED.replace("preallocated-temp", "thread-local"), "no shared allocation"),
        (MODULE.replace("add(%x, %y)", "add(%x, %z)"), ASSIGNED, "a names z"),
        (MODULE.replace("add(%x, %y)", "add(%y, %x)"), ASSIGNED, "no such use"),
        (MODULE.replace("index=0", "index=1"), ASSIGNED, "first gives pair on"),
        (MODULE.replace("%y = ", "%x = "), ASSIGNED, "x stands twice"),
    ],
)
def test_what_is_missing_is_said(module: str, assigned: str, said: str) -> None:
    with pytest.raises(ForeignPlanError, match=f"(?i){said}"):
        read(module, assigned)


@pytest.mark.parametrize(
    ("head", "given", "said"),
    [
        ("5 b @0", ("b", ["c operand 0"]), "should be a use"),
        ("5 b @0", ("b", ["(none)"]), "c has the operand b"),
        ("3 pair{0} @0", ("pair {0}", ["b, operand 0"]), "No value is at first"),
        ("6 c @0", ("c, or d", []), "should be a position"),
    ],
)
def test_what_a_value_says_must_be_read(head: str, given: tuple[str, list[str]], said: str) -> None:
    with pytest.raises(ForeignPlanError, match=said):
        read(uses=USES | {head: given})


def test_a_result_without_a_value_is_refused() -> None:
    uses = {head: each for head, each in USES.items() if not head.startswith("4 ")}
    assigned = "".join(x for x in ASSIGNED.splitlines(keepends=True) if "<4 " not in x)
    with pytest.raises(ForeignPlanError, match="pair has 2 results and 1 values"):
        read(assigned=assigned, uses=uses)


@pytest.mark.parametrize("which", [1, 2])
def test_no_cut_of_a_dump_is_read(which: int) -> None:
    files = contents("xla-cpu")
    name, data = files[which]
    lines = data.splitlines(keepends=True)
    last = max(at for at, line in enumerate(lines) if b"value: <" in line or b"from inst" in line)
    for at in Random(5).sample(range(last), 25):
        files[which] = (name, b"".join(lines[:at]))
        assert refusal(imported, files)


def test_in_place_updates_of_a_parameter_that_is_given_away() -> None:
    buffers = {each["id"]: each for each in plan("xla-cpu")["buffers"]}
    first, last = buffers["x.1"], buffers["wrapped_add.5"]
    assert (first["arena"], first["offset"]) == (last["arena"], last["offset"])
    assert "live_out" not in first
    assert last["live_out"]


def test_damaged_texts_are_read_or_refused() -> None:
    files = contents("xla-cpu")
    random = Random(4)
    for _ in range(150):
        which = random.randrange(3)
        damaged = bytearray(files[which][1])
        for _ in range(random.choice([1, 6])):
            damaged[random.randrange(len(damaged))] = random.choice(b"(){}<>=:,%@ \n09az")
        damaged = damaged[: random.choice([len(damaged), random.randrange(len(damaged))])]
        given = list(files)
        given[which] = (files[which][0], bytes(damaged))
        assert (refusal(imported, given) or ".").endswith(".")
