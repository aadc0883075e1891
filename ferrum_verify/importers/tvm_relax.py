"""TVM Relax functions after memory planning, in the text that ``script()`` prints.

A storage is an arena, a tensor in it a buffer, a call a node. A call writes the tensors that were
allocated for it, which are those that nobody has written before.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrum_verify.importers.drafting import FALSE, MOST_NESTED, TRUE, Draft
from ferrum_verify.importers.relax_names import Names
from ferrum_verify.importers.relax_tensors import tensor_of
from ferrum_verify.importers.relax_text import functions_of
from ferrum_verify.importers.texts import arguments_of, call_of, text_of
from ferrum_verify.importers.unreadable import ForeignPlanError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.importers.relax_text import Line

_ASSIGN = re.compile(r"([A-Za-z_]\w*)(?:: (.+?))? = (.+)$")
_RENAMES = re.compile(r"[A-Za-z_]\w*(\[\d{1,6}\])?$|\(|metadata\[")
_BOUNDS = re.compile(r'"tir_var_(upper|lower)_bound": \{([^{}]*)\}')
_BOUND = re.compile(r'"(\w+)": (?:T\.int64\()?(\d{1,18})')

_SAME_BYTES = {"R.match_cast", "R.reshape", "R.memory.ensure_zero_offset", "vm.builtin.reshape"}
_NO_BYTES = {"R.memory.kill_tensor", "R.memory.kill_storage", "R.vm.kill_object", "R.shape_of"}
_NO_BYTES |= {"R.func_attr", "R.output", "R.shape", "R.prim_value", "R.const", "R.str", "R.dtype"}
_NO_BYTES |= {"R.null_value", "T.int64", "vm.builtin.shape_of", "vm.builtin.null_value"}
_TYPES = ("sinfo_args=", "dtype=")
_KEY = re.compile(r"[A-Za-z_]\w*=(?!=)")
_IN_PLACE = re.compile(r"in_?place", re.IGNORECASE)
_RESULT = "return@"
_OWN = {"R.builtin.alloc_tensor"}
_IF = re.compile(r"if (.+):$")
_LOOP = re.compile(r"(if|else|elif|for|while)\b")


class _Branch(NamedTuple):
    """An open branch: how far it is indented, and which arm of which condition it is."""

    indent: int
    condition: str | None
    arm: str


def imported(files: Sequence[tuple[str, bytes]]) -> dict[str, Any]:
    """The plan of the functions; raises ``ForeignPlanError`` where the text has none."""
    if len(files) != 1:
        raise ForeignPlanError("A TVM Relax module is one text file.")
    functions = functions_of(text_of(files[0][1]))
    if not functions:
        raise ForeignPlanError("It is no TVM Relax text: no line has @R.function.")
    draft = Draft(source="tvm-relax")
    for name, parameters, body in functions:
        _Function(draft, f"{name}/" if len(functions) > 1 else "").add(parameters, body)
    draft.add_empty_arms()
    if not draft.nodes:
        raise ForeignPlanError("Its functions call nothing.")
    return draft.document()


class _Function:
    """A function on its way into the draft."""

    def __init__(self, draft: Draft, prefix: str) -> None:
        self.draft, self.prefix = draft, prefix
        self.names = Names(draft, prefix, set())
        self.tests: dict[str, str] = {}  # the node that reads each condition

    def add(self, parameters: str, body: list[Line]) -> None:
        """The parameters, and the body line by line."""
        self._bounds(body)
        named = [each.partition(": ") for each in arguments_of(parameters)]
        bound = Counter(match[1] for line in body if (match := _ASSIGN.match(line.text)))
        bound.update(name for name, _, _ in named)
        self.names.merged = {name for name, times in bound.items() if times > 1 and name != "_"}
        for name, _, annotation in named:
            for buffer in self.names.parameter(name, annotation):
                self.draft.buffers[buffer]["live_in"] = True
        branches: list[_Branch] = []
        for line in body:
            closed = None
            while branches and line.indent <= branches[-1].indent:
                closed = branches.pop()
            arms = [(each.condition, each.arm) for each in branches]
            self.names.within = tuple((name, arm) for name, arm in arms if name is not None)
            before = len(self.draft.nodes)
            if line.text == "else:" and closed is not None and closed.indent == line.indent:
                branches.append(closed._replace(arm=FALSE))
            elif match := _IF.match(line.text):
                branches.append(_Branch(line.indent, self._test(match[1]), TRUE))
            elif _LOOP.match(line.text):
                branches.append(_Branch(line.indent, None, TRUE))
            elif line.text != "pass" and not line.text.startswith("with "):
                self._statement(line.text)
            if len(branches) > MOST_NESTED:
                raise ForeignPlanError(f"More than {MOST_NESTED} branches stand in each other.")
            made = list(islice(reversed(self.draft.nodes), len(self.draft.nodes) - before))
            if made and any(each.condition is None for each in branches):
                self.draft.note("A loop is read as if its body ran once.", made)

    def _bounds(self, body: list[Line]) -> None:
        """The dimensions that have an upper bound."""
        bounds: dict[str, dict[str, int]] = {}
        for which, entries in (each for line in body for each in _BOUNDS.findall(line.text)):
            for name, bound in _BOUND.findall(entries):
                dimension = bounds.setdefault(self.prefix + name, {"minimum": 1})
                dimension["maximum" if which == "upper" else "minimum"] = int(bound)
        self.draft.shape |= {name: each for name, each in bounds.items() if "maximum" in each}

    def _test(self, condition: str) -> str:
        """The condition of a branch, whose value a node reads."""
        (node, *_) = self._node(f"if {condition}", [condition], [])
        plain = re.fullmatch(r"\w+", condition) and condition not in self.names.merged
        name = self.prefix + condition if plain else node
        self.tests[name] = node
        return name

    def _statement(self, text: str) -> None:
        if text.startswith("return "):
            self._return(text.removeprefix("return "))
            return
        match = _ASSIGN.match(text)
        target, annotation, value = match.groups() if match else ("_", None, text)
        self._bind(target, annotation, value)

    def _bind(self, target: str, annotation: str | None, value: str) -> None:
        """A name for what a value is; a call is made a node on the way."""
        callee, arguments = call_of(value) or ("", [])
        arguments = [_KEY.sub("", each) for each in arguments if not each.startswith(_TYPES)]
        if callee == "R.call_packed" and arguments:
            callee, arguments = arguments[0].strip('"'), arguments[1:]
        if not callee and not all(map(_RENAMES.match, arguments_of(value))):
            text = value if target in ("_", _RESULT) else f"{target} = {value}"
            self._call(target, text, "", [value])
        elif not callee:
            self.names.rename(target, annotation, value)
        elif callee in _SAME_BYTES and arguments:
            self.names.rename(target, annotation, arguments[0])
        elif callee == "R.tuple":
            self.names.rename(target, annotation, f"({', '.join(arguments)},)")
        elif callee == "R.TupleGetItem" and len(arguments) == 2:
            self.names.rename(target, annotation, f"{arguments[0]}[{arguments[1]}]")
        elif callee == "R.memory.alloc_storage" and arguments:
            self.names.storage(target, arguments)
        elif callee == "R.memory.alloc_tensor" and len(arguments) >= 4:
            self.names.tensor(target, arguments)
        elif callee in _OWN and len(arguments) >= 2:
            self.names.own(target, tensor_of(arguments[0], arguments[1]))
            self.names.fresh.update(self.names.of.get(target, ()))
        elif callee not in _NO_BYTES:
            self._call(target, value, callee, arguments)
        elif target in self.names.merged:
            self.names.unplaced.add(target)
        else:
            self.names.harmless.add(target)

    def _call(self, target: str, text: str, callee: str, arguments: list[str]) -> None:
        """A call, as the next node."""
        touched = self.names.buffers(arguments)
        writes = [each for each in touched if self.draft.storage(each) in self.names.fresh]
        foreign = "." in callee and not callee.startswith(("cls.", "R.vm.call_tir_dyn"))
        in_place = _IN_PLACE.search(callee) is not None and len(touched) > len(writes)
        unknown = foreign or callee == "" or not writes or in_place
        made = self._node(text, arguments, writes, changed=touched if unknown else [])
        self.names.fresh -= {self.draft.storage(each) for each in touched}
        if unknown:
            self.names.of[target] = touched
            if target in self.names.merged:
                self.names.unplaced.add(target)
            said = f"What {callee} reads and writes" if callee else f"The statement {text[:80]}"
            self.draft.note(f"{said} is not known.", made)

    def _node(
        self, label: str, arguments: list[str], writes: list[str], changed: Sequence[str] = ()
    ) -> list[str]:
        """A node for each combination of arms in which its arguments stand for something else.

        Of what it writes it reads nothing; what is ``changed`` it reads and writes.
        """
        name, made = f"{self.prefix}i{len(self.draft.nodes)}", []
        cases = self.names.cases(arguments, self.names.within)
        for number, (guard, found) in enumerate(cases):
            made.append(f"{name}.{number}" if len(cases) > 1 else name)
            self.draft.node(
                made[-1],
                label[:160],
                [each for each in found if each not in writes],
                [each for each in found if each in writes or each in changed],
                arms=guard,
                after=[self.tests[condition] for condition, _ in guard if condition in self.tests],
            )
        if doubtful := self.names.doubtful(arguments):
            said = ", ".join(
                "the result of a call" if each == _RESULT else each for each in doubtful
            )
            self.draft.note(f"It uses {said[:160]}, of which no place in memory is known.", made)
        return made

    def _return(self, value: str) -> None:
        """What is returned lives on, whichever arms left it."""
        if call_of(value) is not None:
            self._bind(_RESULT, None, value)
            value = _RESULT
        cases = self.names.cases([value], ())
        if len(cases) > 1 or self.names.doubtful([value]):
            self._node("return", [value], [])
            return
        for buffer in cases[0][1]:
            self.draft.buffers[self.draft.storage(buffer)]["live_out"] = True
