"""TVM Relax functions after memory planning, in the text that ``script()`` prints.

A storage is an arena, a tensor in it a buffer, a call a node. A call writes the tensors that were
allocated for it, which are those that nobody has written before.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrum_verify.importers.drafting import Draft
from ferrum_verify.importers.relax_tensors import Tensor, annotated, extent, extents, tensor_of
from ferrum_verify.importers.symbolic import Linear
from ferrum_verify.importers.texts import arguments_of, call_of, enclosed, text_of
from ferrum_verify.importers.unreadable import ForeignPlanError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_LINE = 1_000_000
"""Characters of one line."""

_DEF = re.compile(r"def (\w+)\(")
_ASSIGN = re.compile(r"([A-Za-z_]\w*)(?:: (.+?))? = (.+)$")
_NAME = re.compile(r"(?<![\w.\"])[A-Za-z_]\w*(?![\w(\"])(?!\s*=[^=])")
_RENAMES = re.compile(r"[A-Za-z_]\w*(\[\d{1,6}\])?$|\(|metadata\[")
_ELEMENT = re.compile(r"([A-Za-z_]\w*)\[(\d{1,6})\]$")
_BOUNDS = re.compile(r'"tir_var_(upper|lower)_bound": \{([^{}]*)\}')
_BOUND = re.compile(r'"(\w+)": (?:T\.int64\()?(\d{1,18})')

_SAME_BYTES = {"R.match_cast", "R.reshape", "R.memory.ensure_zero_offset", "vm.builtin.reshape"}
_NO_BYTES = {"R.memory.kill_tensor", "R.memory.kill_storage", "R.vm.kill_object", "R.shape_of"}
_NO_BYTES |= {"R.func_attr", "R.output", "R.shape", "R.prim_value", "R.const", "R.str", "R.dtype"}
_NO_BYTES |= {"R.tuple", "R.null_value", "T.int64", "vm.builtin.shape_of", "vm.builtin.null_value"}
_OWN = {"R.builtin.alloc_tensor"}
_BRANCH = "A branch is read as if it always ran"


class _Line(NamedTuple):
    indent: int
    text: str


def imported(files: Sequence[tuple[str, bytes]]) -> dict[str, Any]:
    """The plan of the functions; raises ``ForeignPlanError`` where the text has none."""
    if len(files) != 1:
        raise ForeignPlanError("A TVM Relax module is one text file.")
    functions = _functions(text_of(files[0][1]))
    if not functions:
        raise ForeignPlanError("It is no TVM Relax text: no line has @R.function.")
    draft = Draft(source="tvm-relax")
    for name, parameters, body in functions:
        _Function(draft, f"{name}/" if len(functions) > 1 else "").add(parameters, body)
    if not draft.nodes:
        raise ForeignPlanError("Its functions call nothing.")
    return draft.document()


def _functions(text: str) -> list[tuple[str, str, list[_Line]]]:
    """The Relax functions: name, parameters, and the lines of the body."""
    found: list[tuple[str, str, list[_Line]]] = []
    relax = inside = False
    for number, raw in enumerate(text.splitlines(), start=1):
        if len(raw) > MOST_LINE:
            raise ForeignPlanError(f"Line {number:,} has more than {MOST_LINE:,} characters.")
        line = _Line(len(raw) - len(raw.lstrip()), " ".join(raw.split()))
        if line.text.startswith("@"):
            relax, inside = line.text.startswith("@R.function"), False
        elif relax and (match := _DEF.match(line.text)):
            end = enclosed(line.text, match.end() - 1)
            found.append((match[1], line.text[match.end() : end], []))
            relax, inside = False, True
        elif inside and line.text and not line.text.startswith("#"):
            found[-1][2].append(line)
    for name, _, body in found:
        if not any(line.text.startswith("return ") for line in body):
            raise ForeignPlanError(f"The function {name} returns nothing, so it is cut short.")
    return found


class _Function:
    """A function on its way into the draft."""

    def __init__(self, draft: Draft, prefix: str) -> None:
        self.draft, self.prefix = draft, prefix
        self.storages: dict[str, Linear] = {}
        self.names: dict[str, list[str]] = {}  # the buffers that a name stands for
        self.elements: dict[str, list[str]] = {}  # what the members of a tuple are called
        self.fresh: set[str] = set()  # buffers that nobody has written yet
        self.unplaced: set[str] = set()  # names of tensors whose place or size is not known

    def add(self, parameters: str, body: list[_Line]) -> None:
        """The parameters, and the body line by line."""
        for which, entries in (each for line in body for each in _BOUNDS.findall(line.text)):
            for name, bound in _BOUND.findall(entries):
                dimension = self.draft.shape.setdefault(self.prefix + name, {"minimum": 1})
                dimension["maximum" if which == "upper" else "minimum"] = int(bound)
        for each in arguments_of(parameters):
            name, _, annotation = each.partition(": ")
            self._own(name, annotated(annotation))
            for buffer in self.names.get(name, ()):
                self.draft.buffers[buffer]["live_in"] = True
        branch: int | None = None
        for line in body:
            if branch is not None and line.indent <= branch:
                branch = None
            if re.match(r"(if|else|for|while)\b", line.text):
                branch = line.indent if branch is None else branch
            elif not line.text.startswith(("with ", "pass")):
                before = len(self.draft.nodes)
                self._statement(line.text)
                if branch is not None and len(self.draft.nodes) > before:
                    self.draft.note(f"{_BRANCH}.", [next(reversed(self.draft.nodes))])

    def _statement(self, text: str) -> None:
        if text.startswith("return "):
            for buffer in self._buffers([text.removeprefix("return ")]):
                self.draft.buffers[self.draft.storage(buffer)]["live_out"] = True
            return
        match = _ASSIGN.match(text)
        target, annotation, value = match.groups() if match else ("_", None, text)
        callee, arguments = call_of(value) or ("", [])
        arguments = [each for each in arguments if not re.match(r"\w+=", each)]
        if callee == "R.call_packed" and arguments:
            callee, arguments = arguments[0].strip('"'), arguments[1:]
        if not callee and not _RENAMES.match(value):
            self._call(target, text, "", [value])
        elif not callee:
            self._rename(target, annotation, value)
        elif callee in _SAME_BYTES and arguments:
            self._rename(target, annotation, arguments[0])
        elif callee == "R.memory.alloc_storage" and arguments:
            self._storage(target, arguments)
        elif callee == "R.memory.alloc_tensor" and len(arguments) >= 4:
            self._tensor(target, arguments)
        elif callee in _OWN and len(arguments) >= 2:
            self._own(target, tensor_of(arguments[0], arguments[1]))
            self.fresh.update(self.names.get(target, ()))
        elif callee not in _NO_BYTES:
            self._call(target, value, callee, arguments)

    def _storage(self, target: str, arguments: list[str]) -> None:
        """A storage, of its bytes at the largest shape."""
        size = self._sized(extents(arguments[0]))
        if size is not None:
            self.storages[target] = size
            most = size.at_most(self.draft.shape)
            self.draft.arenas[self.prefix + target] = {"bytes": most, "alignment": 1}

    def _tensor(self, target: str, arguments: list[str]) -> None:
        """A tensor at an offset in a storage."""
        storage, offset = self.storages.get(arguments[0]), self._sized(extent(arguments[1]))
        tensor = tensor_of(arguments[2], arguments[3])
        size, name = self._sized(tensor.size), self.prefix + target
        if storage is None or offset is None or size is None:
            self.unplaced.add(target)
            return
        arena = self.prefix + arguments[0]
        self.draft.place(name, arena, offset.wire(), size.wire(), tensor.label)
        self.names[target] = [name]
        self.fresh.add(name)
        if storage.per and (storage, 0) != (size, offset.fixed):
            self.draft.note(f"{arguments[0]} is taken at its largest.", buffers=[name])

    def _own(self, target: str, tensor: Tensor) -> None:
        """A tensor in memory of its own, which the plan shares with nothing."""
        name, size = self.prefix + target, self._sized(tensor.size)
        if size is not None and (most := size.at_most(self.draft.shape)):
            self.draft.arenas[name] = {"bytes": most, "alignment": 1}
            self.draft.place(name, name, 0, size.wire(), tensor.label)
            self.names[target] = [name]

    def _rename(self, target: str, annotation: str | None, value: str) -> None:
        """Another name of what a value stands for: a tensor, a tuple, or a member of one."""
        if value.startswith("("):
            self.elements[target] = arguments_of(value[1 : enclosed(value, 0)])
        if (match := _ELEMENT.match(value)) and match[1] in self.elements:
            members = self.elements[match[1]]
            value = members[int(match[2])] if int(match[2]) < len(members) else value
        if value in self.elements:
            self.elements[target] = self.elements[value]
        if self.unplaced.intersection(_NAME.findall(value)):
            self.unplaced.add(target)
        stands = self._buffers([value])
        self.names[target] = stands
        if len(stands) == 1 and target not in self.elements:
            of, tensor = self.draft.buffers[stands[0]], annotated(annotation or "")
            size = self._sized(tensor.size)
            self.draft.alias(
                self.prefix + target,
                stands[0],
                of["bytes"] if size is None else size.wire(),
                tensor.label or of["label"],
            )
            self.names[target] = [self.prefix + target]

    def _call(self, target: str, text: str, callee: str, arguments: list[str]) -> None:
        """A call, as the next node."""
        touched = self._buffers(arguments)
        writes = [each for each in touched if self.draft.storage(each) in self.fresh]
        reads = [each for each in touched if each not in writes]
        node = f"{self.prefix}i{len(self.draft.nodes)}"
        foreign = "." in callee and not callee.startswith(("cls.", "R.vm.call_tir_dyn"))
        unknown = foreign or callee == "" or not writes
        self.draft.node(node, text[:160], reads, touched if unknown else writes)
        self.fresh -= {self.draft.storage(each) for each in touched}
        if unknown:
            self.names[target] = touched
            said = f"What {callee} reads and writes" if callee else f"The statement {text[:80]}"
            self.draft.note(f"{said} is not known.", [node])
        if self.unplaced.intersection(_NAME.findall(" ".join(arguments))):
            self.draft.note("A tensor that it uses has no place that could be read.", [node])

    def _buffers(self, values: Iterable[str]) -> list[str]:
        """The buffers that the names in these values stand for, each once."""
        names = [name for value in values for name in _NAME.findall(value)]
        return list(dict.fromkeys(each for name in names for each in self.names.get(name, ())))

    def _sized(self, size: Linear | None) -> Linear | None:
        """The size over this function's dimensions; None where one has no upper bound."""
        if size is None:
            return None
        size = Linear(size.fixed, tuple((self.prefix + name, each) for name, each in size.per))
        bounded = all("maximum" in self.draft.shape.get(name, ()) for name, _ in size.per)
        return size if bounded else None
