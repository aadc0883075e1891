"""The definition against the reference engine's answers: is it the engine that it defines?"""

from __future__ import annotations

from tests.definition.bindings import compile_bindings
from tests.definition.memory_plan import derive, is_what_the_engine_derives
from tests.definition.sharing import slot_facts
from tests.definition.sizes import Json, RefusedError
from tests.vectors import cases, fragment_of

PROBLEMS = [case for case in cases("memory-plans") if "problem" in case]
FRAGMENTS = [case for case in cases("memory-plans") if "memory" in case]
BINDINGS = cases("program-bindings")


def derived_or_none(problem: Json) -> Json | None:
    try:
        return derive(problem)
    except RefusedError:
        return None


def test_every_problem_derives_to_the_engines_plan_or_is_refused() -> None:
    wrong = [
        case["id"]
        for case in PROBLEMS
        if derived_or_none(case["problem"]) != case["expect"].get("memory")
    ]
    assert wrong == []
    assert len(PROBLEMS) == 579


def test_every_binding_problem_compiles_to_the_engines_layouts_or_is_refused() -> None:
    wrong = []
    for case in BINDINGS:
        expect = case["expect"]
        memory = layouts = None
        try:
            memory = derive(case["problem"])
            layouts = compile_bindings(case["problem"]["nodes"], memory)
        except RefusedError:
            refused_at = "derive" if memory is None else "bindings"
            right = not expect["compilable"] and expect["stage"] == refused_at
        else:
            right = (memory, layouts) == (expect.get("memory"), expect.get("layouts"))
        if not right:
            wrong.append(case["id"])
    assert wrong == []
    assert len(BINDINGS) == 200


def test_every_legible_fragment_is_judged_as_the_engine_judges_it() -> None:
    legible = [case for case in FRAGMENTS if "wire" not in case["expect"]["families"]]
    wrong = [
        case["id"]
        for case in legible
        if is_what_the_engine_derives(fragment_of(case)) != case["expect"]["conformant"]
    ]
    assert wrong == []
    assert len(legible) > 900


def test_every_slot_is_judged_as_brute_force_judged_it() -> None:
    def by_slot(facts: list[Json]) -> list[Json]:
        sets = [fact | {"hazards": sorted(map(list, fact["hazards"]))} for fact in facts]
        return sorted(sets, key=lambda fact: (fact["pool_id"], fact["resource_ids"]))

    compared = 0
    for case in FRAGMENTS:
        expected = case["expect"]["slots"]
        if expected is not None:
            actual = slot_facts(case["memory"], case["nodes"])
            assert by_slot(actual) == by_slot(expected), case["id"]
            compared += len(expected)
    assert compared > 200
