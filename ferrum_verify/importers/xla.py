"""XLA dumps: the scheduled entry computation, and where its values lie.

Three texts of one module belong together: the scheduled HLO, the buffer assignment (allocations,
and the values in them), and the values (where each is defined and used; older versions print it
behind the assignment). Fusions and the like compute inside of one instruction. What runs a
computation of its own, hides what it does, or is no operation that is known, is named. The three
must fit: an instruction whose values or uses are missing from the others is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ferrum_verify.findings.wording import plural
from ferrum_verify.importers.drafting import Draft
from ferrum_verify.importers.texts import text_of
from ferrum_verify.importers.unreadable import ForeignPlanError
from ferrum_verify.importers.xla_fits import refuse_misfits
from ferrum_verify.importers.xla_module import FORWARDS, GIVEN, NESTED, PURE, entry, given_away
from ferrum_verify.importers.xla_values import placed, used

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrum_verify.importers.xla_module import Instruction
    from ferrum_verify.importers.xla_values import Place, Value

MOST_LINE = 1_000_000
"""Characters of one line."""


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
    instructions = entry(module)
    others = [text for text in texts if text is not module]
    sizes, places = placed(others)
    if not places:
        raise ForeignPlanError("No text has allocations: *-buffer-assignment.txt is missing.")
    values = used(others)
    refuse_misfits(instructions, places, values)
    draft = Draft(source="xla")
    draft.arenas = {name: {"bytes": size, "alignment": 1} for name, size in sizes.items()}
    _add(draft, instructions, _buffers(draft, places), values, given_away(header))
    return draft.document()


def _lines(text: str) -> list[str]:
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        if len(line) > MOST_LINE:
            raise ForeignPlanError(f"Line {number:,} has more than {MOST_LINE:,} characters.")
    return [line.strip() for line in lines]


def _buffers(draft: Draft, places: Mapping[int, Place]) -> dict[int, str]:
    """The values as buffers, but for private ones and those of no bytes; and their names."""
    names: dict[int, str] = {}
    for number, place in places.items():
        if not place.arena or not place.bytes:
            continue
        name = place.defined_by + (f":{place.index.replace(',', '.')}" if place.index else "")
        name += f":v{number}" if name in draft.buffers else ""
        shape = re.sub(r"\{.*?\}$", "", place.shape)
        draft.place(name, place.arena, place.offset, place.bytes, shape[:80])
        names[number] = name
        if place.constant:
            draft.buffers[name] |= {"live_in": True, "live_out": True}
    return names


def _add(
    draft: Draft,
    instructions: Sequence[Instruction],
    names: Mapping[int, str],
    values: Mapping[int, Value],
    donated: set[int],
) -> None:
    """The instructions as nodes, with what each reads and writes."""
    by_name = {each.name: each for each in instructions}
    reads: dict[str, list[str]] = {}
    writes: dict[str, list[str]] = {}
    elsewhere = []
    for number, name in names.items():
        value, buffer = values[number], draft.buffers[name]
        origin = by_name.get(value.defined_by)
        if origin is None:
            if "live_in" not in buffer:
                elsewhere.append(name)
            continue
        for use, _ in value.uses:
            reads.setdefault(use, []).append(name)
        if origin.opcode == "parameter":
            buffer["live_in"] = True
            if origin.parameter not in donated:
                buffer["live_out"] = True  # its caller goes on to own it
        elif origin.opcode != "constant":
            writes.setdefault(value.defined_by, []).append(name)
        if any(at in by_name and by_name[at].root for at, _ in value.positions):
            buffer["live_out"] = True
    for each in instructions:
        if each.opcode in GIVEN:
            continue
        seen = [] if each.opcode in FORWARDS else reads.get(each.name, [])
        waits = [name for name in (*each.operands, *each.after) if name in draft.nodes]
        node = {"id": each.name, "label": each.opcode, "dependencies": list(dict.fromkeys(waits))}
        node |= {"reads": list(dict.fromkeys(seen)), "writes": writes.get(each.name, [])}
        draft.nodes[each.name] = node
        _note(draft, each)
    if elsewhere:
        draft.note(
            f"{plural(len(elsewhere), 'value')} of computations inside of instructions are not "
            "followed.",
            buffers=elsewhere,
        )


def _note(draft: Draft, each: Instruction) -> None:
    """Name an instruction of which it is not known what it does."""
    if each.opcode in NESTED or each.opcode.endswith(("-start", "-done", "-update")):
        draft.note(f"What {each.opcode} does inside is not followed.", [each.name])
    elif each.opcode not in PURE | FORWARDS:
        draft.note(f"The operation {each.opcode} is not known.", [each.name])
