"""ExecuTorch programs written by hand: delegates, states, lists, views, several methods."""

from __future__ import annotations

from typing import Any

import pytest

from ferrum_verify import audit
from ferrum_verify.importers.executorch import imported
from ferrum_verify.importers.unreadable import ForeignPlanError
from tests.importers import pte
from tests.importers.pte import delegate, free, jump, kernel, method, move, number, tensor

ADD, INDEX_PUT, VIEW, OTHER = 0, 1, 2, 3
OPERATORS = ["aten::add.out", "aten::index_put_.", "executorch_prim::et_view.default", "mine::f."]


def read(values: list[Any], instructions: list[Any], **rest: Any) -> Any:
    made = method(values, instructions, operators=OPERATORS, **rest)
    return imported([("model.pte", pte.program(made))])


def by_id(listed: list[Any]) -> dict[str, Any]:
    return {each["id"]: each for each in listed}


def notes(document: Any) -> list[str]:
    return [each["text"] for each in document.get("notes", ())]


def test_what_is_written_lies_in_the_last_argument() -> None:
    values = [tensor(0, 4), tensor(16, 4), number()]
    document = read(values, [kernel(ADD, 0, 2, 1, 1)], inputs=[0], outputs=[1])
    (node,) = document["nodes"]
    assert (node["reads"], node["writes"]) == (["v0"], ["v1"])
    assert by_id(document["buffers"])["v1"]["live_out"]
    assert audit(document, execution="in-order").verdict == "verified"


def test_lists_hold_several_values() -> None:
    listed = {0: ("<B", 10), 1: {0: ("<i", [1, 2])}}
    values = [tensor(0, 4), tensor(16, 4), tensor(32, 4), listed]
    document = read(values, [kernel(ADD, 0, 1, 2, 3), kernel(ADD, 3, 0)], inputs=[0])
    first, second = document["nodes"]
    assert (first["reads"], first["writes"]) == (["v0"], ["v1", "v2"])
    assert (second["reads"], second["writes"]) == (["v1", "v2"], ["v0"])


def test_kernels_that_work_in_place_read_what_they_write() -> None:
    values = [tensor(0, 4), tensor(16, 4)]
    (node,) = read(values, [kernel(INDEX_PUT, 0, 1, 0)], inputs=[0, 1])["nodes"]
    assert (node["reads"], node["writes"]) == (["v0", "v1"], ["v0"])


@pytest.mark.parametrize("operator", [INDEX_PUT, OTHER])
def test_a_kernel_that_ends_in_a_number_may_write_the_tensors_before_it(operator: int) -> None:
    values = [tensor(0, 4), number()]
    document = read(values, [kernel(operator, 0, 1)], inputs=[0])
    assert document["nodes"][0]["writes"] == ["v0"]
    assert [each["nodes"] for each in document["notes"]] == [["i0"]]


@pytest.mark.parametrize("kind", [0, 12])
def test_a_value_of_no_known_kind_is_refused(kind: int) -> None:
    with pytest.raises(ForeignPlanError, match=f"of kind {kind}, which is not known"):
        read([tensor(0, 4), {0: ("<B", kind)}], [kernel(ADD, 0, 1)], inputs=[0])


@pytest.mark.parametrize("kind", [5, 10, 11])
def test_a_value_without_its_fields_is_refused(kind: int) -> None:
    with pytest.raises(ForeignPlanError, match="has no fields"):
        read([tensor(0, 4), {0: ("<B", kind)}], [kernel(ADD, 0, 1)], inputs=[0])


def test_delegates_read_what_was_written_and_write_the_rest() -> None:
    values = [tensor(0, 4), tensor(16, 4), tensor(32, 4)]
    document = read(values, [delegate(0, 1), delegate(1, 2)], inputs=[0], delegates=["Backend"])
    first, second = document["nodes"]
    assert (first["label"], first["reads"], first["writes"]) == (
        "delegate Backend", ["v0"], ["v0", "v1"],
    )  # fmt: skip
    assert (second["reads"], second["writes"]) == (["v1"], ["v1", "v2"])
    assert audit(document, execution="in-order").verdict == "verified"


def test_a_delegate_that_may_read_or_write_leaves_the_verdict_open() -> None:
    values = [tensor(0, 4), tensor(16, 4), tensor(16, 4)]
    calls = [kernel(ADD, 0, 1, 1), delegate(0, 2)]
    document = read(values, calls, inputs=[0], delegates=["Backend"])
    assert any("reads value 2 or writes it is not recorded" in each for each in notes(document))
    assert audit(document, execution="in-order").verdict == "undecided"


def test_views_that_are_made_at_run_time_are_other_names() -> None:
    values = [tensor(0, 4), tensor(16, 4), tensor(None, 2, 2), number(), tensor(32, 4)]
    calls = [kernel(ADD, 0, 1, 1), kernel(VIEW, 1, 3, 2), kernel(ADD, 2, 4, 4)]
    assert read(values, calls, inputs=[0])["nodes"][1]["reads"] == ["v1"]


def test_a_value_that_nothing_explains_leaves_the_verdict_open() -> None:
    values = [tensor(0, 4), tensor(16, 4)]
    document = read(values, [kernel(ADD, 0, 1, 1)])
    assert audit(document, execution="in-order").verdict == "undecided"
    assert "no instruction writes it" in notes(document)[0]


def test_states_live_from_one_execution_to_the_next() -> None:
    values = [tensor(0, 4), tensor(16, 4, data=3), tensor(32, 4)]
    document = read(values, [kernel(ADD, 0, 1, 2, 2), kernel(INDEX_PUT, 1, 2, 1)], inputs=[0])
    state = by_id(document["buffers"])["v1"]
    assert (state["live_in"], state["live_out"]) == (True, True)
    assert "notes" not in document


def test_what_is_read_before_it_is_written_may_be_a_state() -> None:
    values = [tensor(0, 4), tensor(16, 4), tensor(32, 4)]
    document = read(values, [kernel(ADD, 0, 1, 2, 2), kernel(INDEX_PUT, 1, 2, 1)], inputs=[0])
    assert by_id(document["buffers"])["v1"]["live_out"]
    assert audit(document, execution="in-order").verdict == "undecided"


def test_a_result_of_one_arm_is_read_at_the_end() -> None:
    values = [tensor(0, 1, kind=11), tensor(16, 4), tensor(32, 4), pte.boolean(False)]
    calls = [jump(0, 3), kernel(ADD, 1, 2, 2), move(2, 1)]
    document = read(values, calls, inputs=[0, 1], outputs=[1])
    ends = {each["id"]: each["reads"] for each in document["nodes"] if "output" in each["id"]}
    assert sorted(ends.values()) == [["v1"], ["v2"]]
    arms = [each.get("arms") for each in document["nodes"] if "output" in each["id"]]
    assert sorted(arms) == [[["value0", "false"]], [["value0", "true"]]]


def test_values_that_the_runtime_places_are_told_of() -> None:
    values = [tensor(0, 4), tensor(None, 4), tensor(None, 4, data=2)]
    document = read(values, [kernel(ADD, 0, 2, 1, 1), free(1)], inputs=[0])
    assert notes(document) == ["Tensors that the runtime places itself are not seen."]
    assert [each["id"] for each in document["nodes"]] == ["i0"]


def test_methods_are_kept_apart() -> None:
    values = [tensor(0, 4), tensor(16, 4)]
    made = [
        method(values, [kernel(ADD, 0, 1, 1)], inputs=[0], operators=OPERATORS, name=name)
        for name in ("prefill", "decode/2")
    ]
    document = imported([("model.pte", pte.program(*made))])
    assert list(document["arenas"]) == ["prefill.0/memory1", "decode_2.1/memory1"]
    assert [each["id"] for each in document["nodes"]] == ["prefill.0/i0", "decode_2.1/i0"]
    assert audit(document, execution="in-order").verdict == "verified"


def test_an_unknown_type_leaves_the_verdict_open() -> None:
    document = read([tensor(0, 4, kind=44), tensor(64, 4)], [kernel(ADD, 0, 1, 1)], inputs=[0])
    assert audit(document, execution="in-order").verdict == "undecided"


@pytest.mark.parametrize(
    ("values", "calls", "rest", "said"),
    [
        ([tensor(0, 4)], [kernel(ADD, 5)], {}, "Value 5 is named"),
        ([tensor(0, 4)], [kernel(9, 0)], {}, "Operator 9 is named"),
        ([tensor(0, 4)], [delegate(0)], {}, "Delegate 0 is named"),
        ([tensor(0, 4)], [kernel(ADD, 0)], {"outputs": [7]}, "Value 7 is named"),
        ([tensor(0, 4)], [kernel(ADD, 0)], {"memory": -1}, "negative size"),
        ([tensor(0, -4)], [kernel(ADD, 0)], {}, "a negative one"),
        ([tensor(0, 4)], [], {}, "no instruction"),
    ],
)
def test_what_makes_no_sense_is_refused(
    values: Any, calls: Any, rest: dict[str, Any], said: str
) -> None:
    with pytest.raises(ForeignPlanError, match=said):
        read(values, calls, **rest)
