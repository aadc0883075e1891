"""ExecuTorch programs: what is read out of real ones, and of damaged and hostile ones."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from ferrum_verify.importers import executorch
from ferrum_verify.importers.flatbuffers import Table
from ferrum_verify.importers.unreadable import ForeignPlanError
from tests.importers.foreign import contents, imported, plan, refusal

NAME = "executorch-21490"


def bent(at: int, to: bytes) -> Any:
    ((file, data),) = contents(NAME)
    return imported(NAME, [(file, data[:at] + to + data[at + len(to) :])])


def nodes(document: Any) -> dict[str, Any]:
    return {each["id"]: each for each in document["nodes"]}


def test_a_value_that_was_moved_is_read_where_each_arm_left_it() -> None:
    found = nodes(plan(NAME))
    assert found["i12.1"]["reads"] == ["v4", "v11"]
    assert found["i12.1"]["arms"] == [["value1", "true"]]
    assert found["i12.0"]["reads"] == ["v7", "v13"]
    assert found["i12.0"]["arms"] == [["value1", "false"]]


def test_both_conditionals_test_one_value_so_they_take_the_same_arm() -> None:
    arms = [each.get("arms", []) for each in plan(NAME)["nodes"]]
    assert {condition for pairs in arms for condition, _ in pairs} == {"value1"}


def test_the_predicate_is_read_by_the_jump_and_what_follows_waits_for_it() -> None:
    found = nodes(plan(NAME))
    assert found["i0"]["reads"] == ["v1"]
    assert "i0" in found["i1"]["dependencies"]


def test_views_are_other_names_of_what_was_written_there_last() -> None:
    buffers = {each["id"]: each for each in plan("executorch-block")["buffers"]}
    assert buffers["v36"]["alias_of"] == "v29"
    assert buffers["v65"]["alias_of"] == "v59"
    assert buffers["v53"]["alias_of"] == "v50"


def test_the_outputs_of_a_kernel_with_several_are_all_written() -> None:
    first = plan("executorch-block")["nodes"][0]
    assert (first["label"], first["writes"]) == (
        "aten::native_layer_norm.out",
        ["v29", "v30", "v31"],
    )


def test_a_kernel_of_another_library_is_named() -> None:
    ((_, data),) = contents(NAME)
    document = bent(data.index(b"aten::sub"), b"mine::sub")
    (note,) = document["notes"]
    assert note["text"] == "What mine::sub.out reads and writes is not known."
    assert note["nodes"] == [
        name for name in nodes(document) if name in ("i10", "i12", "i12.0", "i12.1")
    ]


def test_a_jump_backwards_is_named() -> None:
    ((_, data),) = contents(NAME)
    jump = (10).to_bytes(4, "little") + (1).to_bytes(4, "little")
    document = bent(data.index(jump), (2).to_bytes(4, "little"))
    assert any("jumps backwards" in note["text"] for note in document["notes"])


@pytest.mark.parametrize("length", range(0, 2368, 7))
def test_a_program_that_is_cut_short_is_refused(length: int) -> None:
    ((file, data),) = contents(NAME)
    with pytest.raises(ForeignPlanError):
        imported(NAME, [(file, data[:length])])


def test_a_damaged_program_is_read_or_refused() -> None:
    ((file, data),) = contents(NAME)
    random, said = Random(1), []
    for _ in range(1500):
        damaged = bytearray(data)
        for _ in range(random.choice([1, 1, 2, 4])):
            damaged[random.randrange(2368)] = random.choice([0, 1, 127, 255, random.randrange(256)])
        said.append(refusal(executorch.imported, [(file, bytes(damaged))]))
    refused = [each for each in said if each is not None]
    assert 0 < len(refused) < len(said)
    assert all(each.endswith(".") for each in refused)


def test_vectors_that_are_shared_are_not_read_over_and_over() -> None:
    # A root table with a vector of a thousand tables, all of them one, which has a long vector.
    count, here = 1000, 4028
    words = [16, int.from_bytes(b"ET12", "little"), 6 | 8 << 16, 4, 8, 4, count]
    words += [here - 28 - 4 * each for each in range(count)]
    words += [here - 8, 4, count, *range(count)]
    data = b"".join(word.to_bytes(4, "little") for word in words)
    tables = Table.root(data).tables(0)
    assert tables[0].numbers(0, "<I") == tuple(range(count))
    with pytest.raises(ForeignPlanError, match="no end to reading them"):
        [each.numbers(0, "<I") for each in tables]
