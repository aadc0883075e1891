"""ExecuTorch programs (``.pte``): the instructions of each method, and where its tensors lie.

A program keeps no names of tensors, so a value is told by its number. A move makes one value
another name of the same storage; what it stands for then depends on the arms that ran.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ferrum_verify.importers.bindings import Bindings
from ferrum_verify.importers.drafting import Draft
from ferrum_verify.importers.jumps import Jump, arms_of
from ferrum_verify.importers.pte_buffers import Step, add_buffers
from ferrum_verify.importers.pte_calls import Call, Method, methods_of
from ferrum_verify.importers.unreadable import ForeignPlanError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.importers.bindings import Guard


def imported(files: Sequence[tuple[str, bytes]]) -> dict[str, Any]:
    """The plan of a program; raises ``ForeignPlanError`` where the bytes are none."""
    if len(files) != 1:
        raise ForeignPlanError("An ExecuTorch program is one file.")
    draft = Draft(source="executorch")
    tables = methods_of(files[0][1])
    for at, table in enumerate(tables):
        method = Method(table)
        name = re.sub(r"[^A-Za-z0-9_]", "_", method.name)[:64]
        _add(draft, method, f"{name}.{at}/" if len(tables) > 1 else "")
    draft.add_empty_arms()
    if not draft.nodes:
        raise ForeignPlanError("The program has no instruction.")
    return draft.document()


def _add(draft: Draft, method: Method, prefix: str) -> None:
    """All of a method: its memories, its buffers, and its instructions in their order."""
    calls = [call for chain in method.chains for call in chain]
    jumps = _jumps(method, calls)
    arms = arms_of(len(calls), jumps)
    bindings = Bindings[int]()
    steps: list[Step] = []
    for at, (call, within) in enumerate(zip(calls, arms.of, strict=True)):
        if call.moves is not None:
            bindings.move(*call.moves, within)
        elif call.label != "free" and (at not in jumps or jumps[at].condition is not None):
            steps += _steps(f"{prefix}i{at}", at, call, bindings.cases(call.touched, within))
    returned: set[int] = set()
    for at, value in enumerate(method.outputs):
        cases = bindings.cases([value], ())
        if len(cases) == 1:
            returned.add(cases[0][1].get(value, value))
        else:
            call = Call(f"output {at}", [value])
            steps += _steps(f"{prefix}output{at}", len(calls), call, cases)
    for memory, size in enumerate(method.sizes[1:], start=1):
        draft.arenas[f"{prefix}memory{memory}"] = {"bytes": size, "alignment": 1}
    add_buffers(draft, method, steps, returned, prefix)
    tests: dict[str, str] = {}
    for step in steps:
        if step.at in jumps:
            tests[str(jumps[step.at].condition)] = step.name
        draft.node(
            step.name,
            step.call.label,
            [f"{prefix}v{each}" for each in step.reads if f"{prefix}v{each}" in draft.buffers],
            [f"{prefix}v{each}" for each in step.writes if f"{prefix}v{each}" in draft.buffers],
            arms=[(f"{prefix}{condition}", arm) for condition, arm in step.guard],
            after=[tests[condition] for condition, _ in step.guard if condition in tests],
        )
    _add_notes(draft, method, steps, [(min(at, jumps[at].to), at) for at in arms.unread])


def _steps(name: str, at: int, call: Call, cases: list[tuple[Guard, dict[int, int]]]) -> list[Step]:
    several = len(cases) > 1
    return [
        Step(
            f"{name}.{number}" if several else name,
            at,
            call,
            guard,
            [stands.get(each, each) for each in call.reads],
            [stands.get(each, each) for each in call.writes],
        )
        for number, (guard, stands) in enumerate(cases)
    ]


def _jumps(method: Method, calls: list[Call]) -> dict[int, Jump]:
    """The jumps by position. Two that test one value, written once, test one condition."""
    changes: dict[int, int] = {}
    for call in calls:
        for each in (*call.writes, *call.numbers, *(call.moves or ())[1:]):
            changes[each] = changes.get(each, 0) + 1
    found = {}
    for at, call in enumerate(calls):
        if call.jump is None:
            continue
        value, to = call.jump
        constant = None if value in changes else method.value(value).constant
        condition = f"value{value}" if changes.get(value, 0) < 2 else f"value{value}.i{at}"
        if constant is not True:  # the jump is then never taken
            found[at] = Jump(to, None if constant is False else condition)
    return found


def _add_notes(
    draft: Draft, method: Method, steps: list[Step], unread: list[tuple[int, int]]
) -> None:
    """What the program does not say, or what is not understood of it."""
    unknown: dict[str, list[str]] = {}
    for step in steps:
        unknown.setdefault(step.call.unknown, []).append(step.name)
    for text, names in unknown.items():
        if text:
            draft.note(f"{text}.", names)
    for first, last in unread:
        draft.note(
            f"Instruction {last} jumps backwards or out of its conditional, which is not followed.",
            [step.name for step in steps if first <= step.at <= last],
        )
    if any(step.call.delegate for step in steps):
        draft.note(
            "Delegates do not say which arguments they write: each is taken to write all, and to "
            "read those that were written before it. Their own memory is not seen."
        )
    if any(value.bounded for value in method.values):
        draft.note("Tensors of dynamic shape are judged at their largest.")
    if any(value.tensor and value.memory is None and not value.held for value in method.values):
        draft.note("Tensors that the runtime places itself are not seen.")
    if len(method.chains) > 1:
        first_chain = len(method.chains[0])
        draft.note(
            "The instructions of further chains are taken to run after those of the first.",
            [step.name for step in steps if step.at >= first_chain],
        )
