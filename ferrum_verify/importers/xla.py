"""XLA dumps: the scheduled entry computation, and where its values lie.

Three texts of one module belong together: the scheduled HLO, the buffer assignment (allocations,
and the values in them), and the values (where each is defined and used; older versions print it
behind the assignment). Fusions and the like compute inside of one instruction. What runs a
computation of its own, or hides what it does, is named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ferrum_verify.findings.wording import plural
from ferrum_verify.importers.drafting import Draft
from ferrum_verify.importers.texts import enclosed, text_of
from ferrum_verify.importers.unreadable import ForeignPlanError

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_LINE = 1_000_000
"""Characters of one line."""

_INSTRUCTION = re.compile(r"(ROOT )?%?([A-Za-z_][\w.\-]*) = ")
_OPCODE = re.compile(r"[^ ]* ?([a-z][\w\-]*)\(")
_NAME = re.compile(r"[A-Za-z_][\w.\-]*")
_AFTER = re.compile(r"control-predecessors=\{([^{}]*)\}")
_PARAMETER = re.compile(r"parameter\((\d{1,9})\)")
_KEPT = re.compile(r"\((\d{1,9}), \{")
_ALLOCATION = re.compile(r"allocation (\d{1,9}): size (\d{1,20})(.*)$")
_VALUE = re.compile(
    r"value: <(\d{1,9}) ([\w.\-]+?)((?:\{[\d,]*\})?) @(\d{1,9})> "
    r"\(size=(\d{1,20}),offset=(\d{1,20})\)(?:: (.*))?$"
)
_HEAD = re.compile(r"<(\d{1,9}) [\w.\-]+(?:\{[\d,]*\})? @\d{1,9}>$")
_USE = re.compile(r"([\w.\-]+), operand \d+")

_MOVES_NOTHING = {"bitcast", "get-tuple-element", "tuple"}
_NESTED = {"while", "conditional", "call", "custom-call", "infeed", "outfeed", "send", "recv"}


@dataclass(slots=True)
class _Value:
    defined_by: str
    name: str
    constant: bool
    uses: list[str] = field(default_factory=list)
    positions: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Instruction:
    name: str
    opcode: str
    operands: list[str]
    after: list[str]
    root: bool
    parameter: int | None


def imported(files: Sequence[tuple[str, bytes]]) -> dict[str, Any]:
    """The plan of the module; raises ``ForeignPlanError`` where a text of the three is missing."""
    texts = [_lines(text_of(data)) for _, data in files]
    headed = [(text, line) for text in texts for line in text if line.startswith("HloModule ")]
    if len(headed) > 1:
        raise ForeignPlanError("The texts are of several modules; name those of one.")
    if not headed or "is_scheduled=true" not in headed[0][1]:
        raise ForeignPlanError(
            "No text begins with HloModule and says is_scheduled=true: the module after "
            "optimizations, *after_optimizations.txt, is missing."
        )
    ((module, header),) = headed
    instructions = _entry(module)
    lines = [line for text in texts for line in text]
    draft = Draft(source="xla")
    values = _allocations(draft, lines)
    if not values:
        raise ForeignPlanError("No text has allocations: *-buffer-assignment.txt is missing.")
    _uses(lines, values)
    _add(draft, header, instructions, values)
    return draft.document()


def _lines(text: str) -> list[str]:
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        if len(line) > MOST_LINE:
            raise ForeignPlanError(f"Line {number:,} has more than {MOST_LINE:,} characters.")
    return [line.strip() for line in lines]


def _entry(lines: list[str]) -> list[_Instruction]:
    """The instructions of the entry computation, in the order of the schedule."""
    start = next((at for at, line in enumerate(lines) if line.startswith("ENTRY ")), None)
    if start is None:
        raise ForeignPlanError("The module has no ENTRY computation.")
    found = []
    for line in lines[start + 1 :]:
        if line == "}":
            break
        if line:
            found.append(_instruction(line))
    else:
        raise ForeignPlanError("The ENTRY computation does not end, so the text is cut short.")
    if not any(each.root for each in found):
        raise ForeignPlanError("The ENTRY computation has no ROOT, so the text is cut short.")
    return found


def _instruction(line: str) -> _Instruction:
    match = _INSTRUCTION.match(line)
    if match is None:
        raise ForeignPlanError(f"A line of the ENTRY computation is no instruction: {line[:80]!r}.")
    rest = line[match.end() :]
    shape = enclosed(rest, 0) + 1 if rest.startswith("(") else 0
    opcode = _OPCODE.match(rest, shape)
    if opcode is None:
        raise ForeignPlanError(f"The instruction {match[2]} has no operation that can be read.")
    end = enclosed(rest, opcode.end() - 1)
    after = _AFTER.search(rest, end)
    number = _PARAMETER.match(rest, opcode.start(1))
    return _Instruction(
        match[2],
        opcode[1],
        _NAME.findall(rest, opcode.end(), end),
        _NAME.findall(after[1]) if after else [],
        match[1] is not None,
        int(number[1]) if number and opcode[1] == "parameter" else None,
    )


def _allocations(draft: Draft, lines: list[str]) -> dict[int, _Value]:
    """The allocations as arenas and the values in them as buffers, but for private ones."""
    values: dict[int, _Value] = {}
    arena = ""
    constant = False
    for line in lines:
        if match := _ALLOCATION.match(line):
            private = ", thread-local" in match[3]
            arena = "" if private else f"allocation{match[1]}"
            constant = ", constant" in match[3]
            if arena in draft.arenas:
                raise ForeignPlanError(f"Allocation {match[1]} stands twice.")
            if arena:
                draft.arenas[arena] = {"bytes": int(match[2]), "alignment": 1}
        elif arena and (match := _VALUE.match(line)) and int(match[5]):
            index = match[3].strip("{}").replace(",", ".")
            name = match[2] + (f":{index}" if index else "")
            name += f":v{match[1]}" if name in draft.buffers else ""
            shape = re.sub(r"\{.*?\}$", "", match[7] or "")
            draft.place(name, arena, int(match[6]), int(match[5]), shape[:80])
            values[int(match[1])] = _Value(match[2], name, constant)
            if constant:
                draft.buffers[name] |= {"live_in": True, "live_out": True}
    return values


def _uses(lines: list[str], values: dict[int, _Value]) -> None:
    """Where each value is used, and which instructions it is at."""
    seen: set[int] = set()
    value: _Value | None = None
    part = ""
    for line in lines:
        if match := _HEAD.match(line):
            value, part = values.get(int(match[1])), ""
            seen.add(int(match[1]))
        elif line in ("positions:", "uses:") or line.startswith("from instruction:"):
            part = line
        elif value is not None and part == "uses:" and (match := _USE.match(line)):
            value.uses.append(match[1])
        elif value is not None and part == "positions:" and line:
            value.positions.add(line.split(" ", 1)[0])
    missing = [each.name for number, each in values.items() if number not in seen]
    if missing:
        raise ForeignPlanError(
            f"No text says where {missing[0]} is used: *-buffer-assignment-values.txt is missing."
        )


def _add(
    draft: Draft, header: str, instructions: list[_Instruction], values: dict[int, _Value]
) -> None:
    """The instructions as nodes, with what each reads and writes."""
    by_name = {each.name: each for each in instructions}
    reads: dict[str, list[str]] = {}
    writes: dict[str, list[str]] = {}
    elsewhere = []
    given_away = {int(number) for part in _donations(header) for number in _KEPT.findall(part)}
    for value in values.values():
        buffer, origin = draft.buffers[value.name], by_name.get(value.defined_by)
        if origin is None:
            if not value.constant:
                elsewhere.append(value.name)
            continue
        for use in value.uses:
            reads.setdefault(use, []).append(value.name)
        if origin.opcode == "parameter":
            buffer["live_in"] = True
            if origin.parameter not in given_away:
                buffer["live_out"] = True  # its caller goes on to own it
        elif origin.opcode != "constant":
            writes.setdefault(value.defined_by, []).append(value.name)
        if any(by_name[name].root for name in value.positions if name in by_name):
            buffer["live_out"] = True
    for each in instructions:
        if each.opcode in ("parameter", "constant"):
            continue
        seen = [] if each.opcode in _MOVES_NOTHING else reads.get(each.name, [])
        waits = [name for name in (*each.operands, *each.after) if name in draft.nodes]
        node = {"id": each.name, "label": each.opcode, "dependencies": list(dict.fromkeys(waits))}
        node |= {"reads": list(dict.fromkeys(seen)), "writes": writes.get(each.name, [])}
        draft.nodes[each.name] = node
        if each.opcode in _NESTED or each.opcode.endswith(("-start", "-done", "-update")):
            draft.note(f"What {each.opcode} does inside is not followed.", [each.name])
    if elsewhere:
        draft.note(
            f"{plural(len(elsewhere), 'value')} of computations inside of instructions are not "
            "followed.",
            buffers=elsewhere,
        )


def _donations(header: str) -> list[str]:
    """The parts of the header that give parameters away to the module."""
    parts = []
    for key in ("input_output_alias=", "buffer_donor="):
        start = header.find(key)
        if start >= 0:
            start += len(key)
            parts.append(header[start : enclosed(header, start)])
    return parts
