"""The scheduled entry computation of an XLA module, and what its instructions do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferrum_verify.importers.texts import arguments_of, enclosed
from ferrum_verify.importers.unreadable import ForeignPlanError

if TYPE_CHECKING:
    from collections.abc import Sequence

_INSTRUCTION = re.compile(r"(ROOT )?%?([A-Za-z_][\w.\-]*) = ")
_OPCODE = re.compile(r"[^ ]* ?([a-z][\w\-]*)\(")
_NAME = re.compile(r"[A-Za-z_][\w.\-]*")
_COMMENT = re.compile(r"/\*.*?\*/")
_OPERAND = re.compile(r"(?:.* )?%?([A-Za-z_][\w.\-]*)$")
_ARRAY = re.compile(r"\w\[")
_AFTER = re.compile(r"control-predecessors=\{([^{}]*)\}")
_PARAMETER = re.compile(r"parameter\((\d{1,9})\)")
_INDEX = re.compile(r", index=(\d{1,9})")
_KEPT = re.compile(r"\((\d{1,9}), \{")

GIVEN = {"parameter", "constant"}
"""What is there before the first instruction runs."""

FORWARDS = {"bitcast", "get-tuple-element", "tuple"}
"""What gives its operands on as they lie, and touches no bytes."""

NESTED = {"while", "conditional", "call", "custom-call", "infeed", "outfeed", "send", "recv"}
"""What runs computations of its own or hides what it does; so do asynchronous instructions."""

_PURE = """
    abs acos acosh add after-all all-gather all-reduce all-to-all and asin asinh atan2 atanh
    batch-norm-grad batch-norm-inference batch-norm-training bitcast-convert broadcast cbrt ceil
    cholesky clamp collective-broadcast collective-permute compare complex concatenate convert
    convolution copy cosh cosine count-leading-zeros divide dot dynamic-slice dynamic-update-slice
    erf exponential exponential-minus-one fft floor fusion gather get-dimension-size imag iota
    is-finite log log-plus-one logistic map maximum minimum multiply negate not or pad
    partition-id popcnt power ragged-dot real reduce reduce-precision reduce-scatter reduce-window
    remainder replica-id reshape reverse rng rng-bit-generator round-nearest-afz
    round-nearest-even rsqrt scatter select select-and-scatter shift-left shift-right-arithmetic
    shift-right-logical sign sine sinh slice sort sqrt stochastic-convert subtract tan tanh topk
    transpose triangular-solve xor
"""

PURE = frozenset(_PURE.split())
"""What reads its operands, writes its results, and does nothing else."""


@dataclass(slots=True)
class Instruction:
    """An instruction: its operands in their order, and how many arrays its result has.

    ``index`` is that of the member that it takes out of a tuple, ``parameter`` its number.
    """

    name: str
    opcode: str
    operands: list[str]
    after: list[str]
    root: bool
    tuple: bool
    arrays: int
    index: int | None
    parameter: int | None


def entry(lines: Sequence[str]) -> list[Instruction]:
    """The instructions of the entry computation, in the order of the schedule."""
    start = next((at for at, line in enumerate(lines) if line.startswith("ENTRY ")), None)
    if start is None:
        raise ForeignPlanError("The module has no ENTRY computation.")
    found: dict[str, Instruction] = {}
    for line in lines[start + 1 :]:
        if line == "}":
            break
        if line:
            each = _instruction(line)
            _in_order(each, found)
            found[each.name] = each
    else:
        raise ForeignPlanError("The ENTRY computation does not end, so the text is cut short.")
    if not any(each.root for each in found.values()):
        raise ForeignPlanError("The ENTRY computation has no ROOT, so the text is cut short.")
    return list(found.values())


def given_away(header: str) -> set[int]:
    """The numbers of the parameters that the header gives away to the module."""
    parts = []
    for key in ("input_output_alias=", "buffer_donor="):
        start = header.find(key)
        if start >= 0:
            start += len(key)
            parts.append(header[start : enclosed(header, start)])
    return {int(number) for part in parts for number in _KEPT.findall(part)}


def _instruction(line: str) -> Instruction:
    match = _INSTRUCTION.match(line)
    if match is None:
        raise ForeignPlanError(f"A line of the ENTRY computation is no instruction: {line[:80]!r}.")
    rest = line[match.end() :]
    shape = enclosed(rest, 0) + 1 if rest.startswith("(") else 0
    opcode = _OPCODE.match(rest, shape)
    if opcode is None:
        raise ForeignPlanError(f"The instruction {match[2]} has no operation that can be read.")
    end = enclosed(rest, opcode.end() - 1)
    after, index = _AFTER.search(rest, end), _INDEX.match(rest, end + 1)
    number = _PARAMETER.match(rest, opcode.start(1))
    return Instruction(
        name=match[2],
        opcode=opcode[1],
        operands=[] if opcode[1] in GIVEN else _operands(match[2], rest[opcode.end() : end]),
        after=_NAME.findall(after[1]) if after else [],
        root=match[1] is not None,
        tuple=shape > 0,
        arrays=len(_ARRAY.findall(rest, 0, opcode.start(1))),
        index=int(index[1]) if index else None,
        parameter=int(number[1]) if number and opcode[1] == "parameter" else None,
    )


def _operands(name: str, text: str) -> list[str]:
    found = []
    for part in arguments_of(_COMMENT.sub("", text)):
        match = _OPERAND.match(part)
        if match is None:
            raise ForeignPlanError(f"An operand of {name} cannot be read: {part[:80]!r}.")
        found.append(match[1])
    return found


def _in_order(each: Instruction, before: dict[str, Instruction]) -> None:
    """Refuse an instruction that stands twice, or before what it waits for."""
    if each.name in before:
        raise ForeignPlanError(f"The instruction {each.name} stands twice.")
    for name in (*each.operands, *each.after):
        if name not in before:
            raise ForeignPlanError(f"{each.name} names {name}, which no instruction before it is.")
