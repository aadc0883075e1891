"""Whether the three texts of an XLA module fit: nothing that one names is missing from another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.importers.unreadable import ForeignPlanError
from ferrum_verify.importers.xla_module import FORWARDS, PURE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrum_verify.importers.xla_module import Instruction
    from ferrum_verify.importers.xla_values import Place, Value


def refuse_misfits(
    instructions: Sequence[Instruction], places: Mapping[int, Place], values: Mapping[int, Value]
) -> None:
    """Raise ``ForeignPlanError`` where an instruction, value, place or use is missing."""
    _refuse_strangers({each.name for each in instructions}, places, values)
    defined: dict[str, list[Value]] = {}
    held: dict[str, list[Value]] = {}
    for value in values.values():
        defined.setdefault(value.defined_by, []).append(value)
        for name in dict.fromkeys(at for at, _ in value.positions):
            held.setdefault(name, []).append(value)
    for each in instructions:
        if each.name not in held:
            raise ForeignPlanError(f"No value is at {each.name}, so the values are cut short.")
        if each.opcode in FORWARDS:
            _refuse_unforwarded(each, held)
        elif each.opcode in PURE:
            found = [value for value in defined.get(each.name, ()) if value.index or not each.tuple]
            if len(found) < each.arrays:
                raise ForeignPlanError(
                    f"{each.name} has {each.arrays:,} results and {len(found):,} values, so the "
                    "values are cut short."
                )
            for number, operand in enumerate(each.operands):
                if not any((each.name, number) in value.uses for value in held[operand]):
                    raise ForeignPlanError(
                        f"{each.name} has the operand {operand}, of which the values say no such "
                        "use."
                    )


def _refuse_strangers(
    entry: set[str], places: Mapping[int, Place], values: Mapping[int, Value]
) -> None:
    for number, place in places.items():
        value = values.get(number)
        if value is None or (value.defined_by, value.index) != (place.defined_by, place.index):
            if not place.arena and place.defined_by not in entry:
                continue
            raise ForeignPlanError(
                f"No text says where {place.defined_by} is used: *-buffer-assignment-values.txt "
                "is missing, cut short, or of another module."
            )
    for number, value in values.items():
        if value.defined_by in entry and not (number in places and places[number].arena):
            raise ForeignPlanError(
                f"The value {value.defined_by} lies in no shared allocation: the buffer "
                "assignment is cut short, or of another module."
            )


def _refuse_unforwarded(each: Instruction, held: Mapping[str, list[Value]]) -> None:
    """What is given on must be where it came from and where it goes."""
    for number, operand in enumerate(each.operands):
        moved = [_given_on(each, number, operand, value) for value in held[operand]]
        if not all(moved):
            raise ForeignPlanError(
                f"{each.name} gives {operand} on, and the values do not say that it is there."
            )


def _given_on(each: Instruction, number: int, operand: str, value: Value) -> bool:
    """Whether a value of the operand is at the instruction, if it is given on."""
    for at, index in value.positions:
        if at != operand:
            continue
        if each.opcode == "tuple":
            target = f"{number},{index}" if index else f"{number}"
        elif each.opcode == "get-tuple-element":
            first, _, target = index.partition(",")
            if each.index is not None and first != str(each.index):
                continue
        else:
            target = index
        if (each.name, target) not in value.positions:
            return False
    return True
