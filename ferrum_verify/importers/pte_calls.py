"""What an ExecuTorch program holds, read out of its bytes: the instructions of its methods.

Fields are numbered as in the public schema, ``schema/program.fbs``. A program keeps no signatures
of kernels: what a kernel writes follows from the convention of its name and arguments, and what
follows from neither is said to be unknown.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ferrum_verify.importers.flatbuffers import Table
from ferrum_verify.importers.pte_values import Value, value_of
from ferrum_verify.importers.unreadable import ForeignPlanError

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_ARGUMENTS = 4_000_000
"""Arguments of all instructions together."""

_KERNEL, _DELEGATE, _MOVE, _JUMP, _FREE = 1, 2, 3, 4, 5
_LIBRARIES = ("aten::", "dim_order_ops::", "quantized_decomposed::")


@dataclass(slots=True)
class Call:
    """An instruction: what it is called, and which values it reads and writes.

    ``moves`` makes the second value another name of the first; ``jump`` is a predicate and a
    destination; ``numbers`` are scalars that it sets; ``unknown`` says why its accesses are not
    known.
    """

    label: str
    reads: list[int] = field(default_factory=list)
    writes: list[int] = field(default_factory=list)
    moves: tuple[int, int] | None = None
    jump: tuple[int, int] | None = None
    numbers: tuple[int, ...] = ()
    unknown: str = ""
    delegate: bool = False

    @property
    def touched(self) -> list[int]:
        """The tensors that it reads or writes."""
        return [*self.reads, *self.writes]


def methods_of(data: bytes) -> tuple[Table, ...]:
    """The methods of a program; raises ``ForeignPlanError`` where the bytes are none."""
    if len(data) < 12 or data[4:6] != b"ET":
        raise ForeignPlanError("It is no ExecuTorch program: the identifier ET12 is missing.")
    if data[8:12] == b"eh00" and len(data) >= 24:
        (size,) = struct.unpack_from("<Q", data, 16)
        if len(data) < size:
            raise ForeignPlanError(f"It is cut short: of {size:,} bytes it has {len(data):,}.")
    return Table.root(data).tables(1)


class Method:
    """One method: its planned memories, values and instructions."""

    def __init__(self, plan: Table) -> None:
        self.name = plan.text(0)
        self.sizes = plan.numbers(8, "<q")
        if min(self.sizes, default=0) < 0:
            raise ForeignPlanError("A planned memory has a negative size.")
        self.values = [value_of(each) for each in plan.tables(2)]
        self.inputs, self.outputs = plan.numbers(3, "<i"), plan.numbers(4, "<i")
        self._operators = [f"{each.text(0)}.{each.text(1)}" for each in plan.tables(6)]
        self._delegates = [each.text(0) for each in plan.tables(7)]
        self._arguments = 0
        for each in (*self.inputs, *self.outputs):
            self.value(each)
        self._written: set[int] = set()
        self._places: dict[tuple[int | None, int, int], int] = {}
        self._write([*self.inputs, *(at for at, each in enumerate(self.values) if each.state)])
        self.chains = [[self._call(each) for each in chain.tables(2)] for chain in plan.tables(5)]

    def value(self, at: int) -> Value:
        """The value with that number."""
        if not 0 <= at < len(self.values):
            raise ForeignPlanError(
                f"Value {at:,} is named, and the method has {len(self.values):,} values."
            )
        return self.values[at]

    def _call(self, instruction: Table) -> Call:
        kind, fields = instruction.number(0, "<B"), instruction.table(1)
        if fields is None:
            return Call("empty", unknown="The instruction has no arguments")
        first, second = fields.number(0, "<i"), fields.number(1, "<i")
        if kind in (_KERNEL, _DELEGATE):
            arguments = fields.numbers(1, "<i")
            for each in arguments:
                self.value(each)
            return (self._kernel if kind == _KERNEL else self._delegate)(first, arguments)
        self.value(first)
        if kind == _MOVE:
            self.value(second)
            self._write([second])
            return Call("move", moves=(first, second))
        if kind == _JUMP:
            return Call(f"test of value {first}", self._tensors([first]), jump=(first, second))
        if kind == _FREE:
            return Call("free")
        return Call("unknown", unknown=f"The instruction is of kind {kind}, which is not known")

    def _kernel(self, operator: int, arguments: tuple[int, ...]) -> Call:
        if not 0 <= operator < len(self._operators):
            raise ForeignPlanError(f"Operator {operator:,} is named, and the method has none such.")
        name = self._operators[operator]
        base, _, overload = name.rpartition(".")
        call = Call(name.removesuffix("."))
        if base == "executorch_prim::et_view" and len(arguments) == 3:
            call.moves = (arguments[0], arguments[2])
            self._write([arguments[2]])
            return call
        touched = self._tensors(arguments)
        last = arguments[-1:]
        written = set(self._tensors(last))
        named = base.startswith(_LIBRARIES) and ("out" in overload or base.endswith("_"))
        by_convention = named and bool(written)
        numbers = base.startswith((*_LIBRARIES, "executorch_prim::")) and not base.endswith(
            ("copy_index", "_")
        )
        if all(self.value(each).scalar for each in last) and (numbers or not touched):
            call.reads, call.numbers = touched, last  # a number lies in no planned memory
        elif by_convention:
            call.writes = [each for each in touched if each in written]
            changed = base.endswith("_") and not base.endswith("::copy_")
            call.reads = [each for each in touched if changed or each not in written]
        else:
            call.reads = [each for each in touched if each in self._written]
            call.writes = touched
            call.unknown = f"What {name} reads and writes is not known"
        self._write(call.writes)
        return call

    def _delegate(self, delegate: int, arguments: tuple[int, ...]) -> Call:
        if not 0 <= delegate < len(self._delegates):
            raise ForeignPlanError(f"Delegate {delegate:,} is named, and the method has none such.")
        touched = self._tensors(arguments)
        call = Call(f"delegate {self._delegates[delegate]}", writes=touched, delegate=True)
        call.reads = [each for each in touched if each in self._written]
        for each in touched:
            if each not in self._written and self._places.get(self._place(each), each) < each:
                call.unknown = (
                    f"Whether {call.label} reads value {each} or writes it is not recorded, and "
                    "it lies where a value before it lay"
                )
        self._write(touched)
        return call

    def _write(self, values: Iterable[int]) -> None:
        self._written |= set(values)
        for each in values:
            self._places.setdefault(self._place(each), each)

    def _place(self, value: int) -> tuple[int | None, int, int]:
        each = self.values[value]
        return each.memory, each.offset, each.bytes

    def _tensors(self, arguments: Iterable[int]) -> list[int]:
        """The tensors among the arguments, those in lists included, each once."""
        found: dict[int, None] = {}
        for each in arguments:
            value = self.value(each)
            items = value.items or (each,)
            self._arguments += len(items)
            if self._arguments > MOST_ARGUMENTS:
                raise ForeignPlanError(
                    f"Its instructions have more than {MOST_ARGUMENTS:,} arguments."
                )
            found |= {item: None for item in items if item >= 0 and self.value(item).tensor}
        return list(found)
