"""TVM Relax text: what is read out of it, and what is said where it cannot be."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from ferrum_verify import audit
from ferrum_verify.importers.tvm_relax import imported
from ferrum_verify.importers.unreadable import ForeignPlanError
from tests.importers.foreign import contents, refusal

_HEAD = """@R.function
def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
    storage: R.Any = R.memory.alloc_storage(R.shape([32]), 0, R.str("global"), R.dtype("float32"))
    a: R.Any = R.memory.alloc_tensor(storage, 0, R.shape([4]), R.dtype("float32"), 0)
    b: R.Any = R.memory.alloc_tensor(storage, 16, R.shape([4]), R.dtype("float32"), 0)
"""


def read(*lines: str, head: str = _HEAD) -> Any:
    text = head + "".join(f"    {line}\n" for line in lines)
    return imported([("main.txt", text.encode())])


def buffers(document: Any) -> dict[str, Any]:
    return {each["id"]: each for each in document["buffers"]}


def test_a_call_writes_what_was_allocated_for_it() -> None:
    document = read("cls.split(x, a, b)", "return b")
    (node,) = document["nodes"]
    assert (node["reads"], node["writes"]) == (["x"], ["a", "b"])
    assert "notes" not in document


def test_offsets_and_what_is_returned() -> None:
    found = buffers(read("cls.split(x, a, b)", "return b"))
    assert found["b"] == {
        "id": "b", "label": "float32[4]", "arena": "storage", "offset": 16, "bytes": 16,
        "live_out": True,
    }  # fmt: skip
    assert found["x"]["live_in"]


@pytest.mark.parametrize(
    "alias",
    [
        "a",
        'R.match_cast(a, R.Tensor((4,), dtype="float32"))',
        "R.reshape(a, R.shape([2, 2]))",
        'R.call_packed("vm.builtin.reshape", a, R.shape([4]), sinfo_args=(R.Any,))',
    ],
)
def test_other_names_of_the_same_bytes(alias: str) -> None:
    document = read("f(x, a)", f"c = {alias}", "g(c, b)", "return b")
    assert buffers(document)["c"]["alias_of"] == "a"
    assert document["nodes"][1]["reads"] == ["c"]
    assert document["nodes"][1]["dependencies"] == ["i0"]


def test_members_of_a_tuple() -> None:
    document = read("cls.split(x, a, b)", "t = (a, b)", "c = t[1]", "return c")
    assert buffers(document)["c"]["alias_of"] == "b"
    assert buffers(document)["b"]["live_out"]
    assert "live_out" not in buffers(document)["a"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('R.call_packed("my.kernel", x, a)', "What my.kernel reads and writes is not known."),
        ("cls.inner(x)", "What cls.inner reads and writes is not known."),
        ("c = R.add(x, a)", "What R.add reads and writes is not known."),
        ("c = x + a", "The statement c = x + a is not known."),
    ],
)
def test_what_is_not_known_is_named(line: str, said: str) -> None:
    document = read(line, "return b")
    assert document["notes"] == [{"text": said, "nodes": ["i0"]}]


BRANCHES = ("if x:", "    f(x, a)", "    c = a", "else:", "    g(x, b)", "    c = b")


def test_branches_are_arms_of_what_they_test() -> None:
    third = 'd = R.memory.alloc_tensor(storage, 32, R.shape([4]), R.dtype("float32"), 0)'
    head = _HEAD.replace("shape([32])", "shape([48])")
    document = read(third, *BRANCHES, "h(c, d)", "return d", head=head)
    found = [(each["id"], each["reads"], each.get("arms", [])) for each in document["nodes"]]
    yes, no = [["x", "true"]], [["x", "false"]]
    assert found == [
        ("i0", ["x"], []),
        ("i1", ["x"], yes),
        ("i2", ["x"], no),
        ("i3.0", ["b"], no),
        ("i3.1", ["a"], yes),
    ]
    assert "notes" not in document
    assert audit(document, execution="in-order").verdict == "verified"


def test_what_each_arm_returns_is_read_at_the_end() -> None:
    document = read(
        "if x:", "    f(x, a)", "    c = a", "else:", "    g(x, b)", "    c = b", "return c"
    )
    assert [each["label"] for each in document["nodes"][-2:]] == ["return", "return"]


def test_a_branch_without_another_has_an_empty_arm() -> None:
    document = read("if x:", "    f(x, a)", "g(x, b)", "return b")
    (empty,) = [each for each in document["nodes"] if each.get("arms") == [["x", "false"]]]
    assert (empty["reads"], empty["writes"]) == ([], [])
    assert "arms" not in document["nodes"][2]


def test_a_loop_is_named() -> None:
    document = read("for i in range(3):", "    f(x, a)", "return a")
    assert document["notes"] == [
        {"text": "A loop is read as if its body ran once.", "nodes": ["i0"]}
    ]


@pytest.mark.parametrize("tuple_of", ["R.tuple(a, x)", "(a, x)", "((a, x), x)[0]", "(a,)"])
@pytest.mark.parametrize("member", ["t[0]", "R.TupleGetItem(t, 0)"])
def test_a_member_of_any_tuple_is_read(tuple_of: str, member: str) -> None:
    made = ["s = ((a, x), x)", "t = s[0]"] if tuple_of.endswith("[0]") else [f"t = {tuple_of}"]
    document = read("f(x, a)", *made, f"u = {member}", "g(u, b)", "return b")
    assert buffers(document)["u"]["alias_of"] == "a"
    assert document["nodes"][1]["reads"] == ["u"]
    assert "notes" not in document


def test_a_member_of_a_tuple_is_read_where_it_stands() -> None:
    document = read("f(x, a)", "t = (a, x)", "g(t[1], b)", "return b")
    assert document["nodes"][1]["reads"] == ["x"]


def test_members_of_a_parameter_are_memory_of_its_own() -> None:
    pair = 'R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((2,), dtype="float32"))'
    head = _HEAD.replace('R.Tensor((4,), dtype="float32"))', pair + ")", 1)
    document = read("f(x[1], a)", "g(a, b)", "return b", head=head)
    assert document["nodes"][0]["reads"] == ["x.1"]
    assert (buffers(document)["x.1"]["bytes"], buffers(document)["x.1"]["live_in"]) == (8, True)
    assert audit(document, execution="in-order").verdict == "verified"


@pytest.mark.parametrize(
    "lines",
    [
        ("f(x, a)", "g(q, b)", "return b"),
        ("f(x, a)", "c = q", "g(c, b)", "return b"),
        ("f(x, a)", "t = (a, q)", "c = t[1]", "g(c, b)", "return b"),
        ("f(x, a)", "t = (a, a)", "c = t[2]", "g(c, b)", "return b"),
        ("f(x, a)", "c = (a + b)", "g(c, b)", "return b"),
        ("f(x, a)", "c = cls.g(a, b)", "return c"),
        ("f(x, a)", "g(a, b)", "return q"),
        ("f(x, a)", "return cls.g(a, b)"),
        ("f(x, a)", "y = a", "t = (y, x)", "y = x", "c = t[0]", "g(c, b)", "return b"),
        ("f(x, a)", "g(a, b) ; h(b)", "return b"),
        ("f(x, a)", "passed = q", "g(passed, b)", "return b"),
    ],
)
def test_a_name_that_stands_for_nothing_known_leaves_the_verdict_open(
    lines: tuple[str, ...],
) -> None:
    document = read(*lines)
    assert all(note["nodes"] for note in document["notes"])
    assert audit(document, execution="in-order").verdict == "undecided"


def test_arguments_by_key_are_read_like_others() -> None:
    document = read("f(x, a)", "g(left=a, out=b)", "return b")
    assert (document["nodes"][1]["reads"], document["nodes"][1]["writes"]) == (["a"], ["b"])


def test_a_call_in_place_may_write_what_it_reads() -> None:
    document = read("f(x, a)", "cls.add_inplace(a, b)", "return b")
    assert document["nodes"][1]["writes"] == ["a", "b"]
    assert [note["nodes"] for note in document["notes"]] == [["i1"]]
    assert audit(document, execution="in-order").verdict == "undecided"


def test_elements_of_less_than_a_byte_leave_the_verdict_open() -> None:
    head = _HEAD.replace('R.dtype("float32"), 0)\n    b', 'R.dtype("float4_e2m1fn"), 0)\n    b')
    document = read("f(x, a)", "g(a, b)", "return b", head=head)
    assert buffers(document)["a"]["bytes"] == 2
    assert [note["buffers"] for note in document["notes"]] == [["a"]]


@pytest.mark.parametrize(
    "again",
    [
        'a = R.memory.alloc_tensor(storage, 16, R.shape([4]), R.dtype("float32"), 0)',
        'storage = R.memory.alloc_storage(R.shape([64]), 0, R.str("global"))',
        'x = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), 0, R.str("global"))',
    ],
)
def test_a_name_of_two_memories_is_refused(again: str) -> None:
    with pytest.raises(ForeignPlanError, match="is bound twice"):
        read("f(x, a)", again, "g(a, b)", "return b")


def test_dimensions_with_upper_bounds_are_judged_at_every_value() -> None:
    head = """@R.function
def main(x: R.Tensor(("n", 4), dtype="float16")) -> R.Tensor(("n", 4), dtype="float16"):
    R.func_attr({"tir_var_upper_bound": {"n": 8}})
    storage = R.memory.alloc_storage(R.shape([64]), 0, R.str("global"), R.dtype("uint8"))
    a = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([n, 4]), R.dtype("float16"))
    b = R.memory.alloc_tensor(storage, R.prim_value(32), R.shape([n * 2]), R.dtype("float16"))
"""
    document = read("f(x, a)", "g(x, b)", "h(a, b)", "return b", head=head)
    assert document["shape"] == {"n": {"minimum": 1, "maximum": 8}}
    assert buffers(document)["a"]["bytes"] == {"fixed": 0, "per": {"n": 8}}
    assert buffers(document)["b"]["bytes"] == {"fixed": 0, "per": {"n": 4}}
    (error,) = [
        each for each in audit(document, execution="in-order").findings if each.severity == "error"
        and "shared" in each.rule
    ]  # fmt: skip
    assert "`a`" in error.message


def test_a_dimension_without_a_bound_leaves_a_note() -> None:
    head = _HEAD.replace("a: R", "n = T.int64()\n    a: R").replace(
        "R.shape([4]), R.dtype", "R.shape([n]), R.dtype", 1
    )
    document = read("f(x, a)", "f(a, b)", "return b", head=head)
    assert [note["nodes"] for note in document["notes"]] == [["i0"], ["i0"], ["i1"]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no line has @R.function"),
        (_HEAD, "returns nothing"),
        (_HEAD + "    return x\n", "call nothing"),
    ],
)
def test_what_is_no_function_is_refused(text: str, said: str) -> None:
    with pytest.raises(ForeignPlanError, match=said):
        imported([("main.txt", text.encode())])


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(ForeignPlanError, match="byte 1 is not UTF-8"):
        imported([("main.txt", b"a\xff")])


def test_damaged_text_is_read_or_refused() -> None:
    ((file, data),) = contents("tvm-relax-block")
    random = Random(2)
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(random.choice([1, 4])):
            damaged[random.randrange(len(data))] = random.choice(b'()[]{}=:,."% \n09az')
        at = random.randrange(len(data))
        del damaged[at : at + random.choice([0, 0, 50])]
        assert (refusal(imported, [(file, bytes(damaged))]) or ".").endswith(".")


def test_deep_brackets_are_no_trouble() -> None:
    deep = "(" * 50_000 + ")" * 50_000
    document = read(f"f(x, {deep}, a)", f"c = {'-' * 50_000}x", "return a")
    assert document["nodes"][0]["writes"] == ["a"]
