"""What the names of a TVM Relax function stand for: storages, tensors, tuples, and each other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ferrum_verify.importers.bindings import Bindings
from ferrum_verify.importers.drafting import MOST_NESTED
from ferrum_verify.importers.relax_tensors import Tensor, annotated, extent, extents, tensor_of
from ferrum_verify.importers.symbolic import Linear
from ferrum_verify.importers.texts import arguments_of, call_of
from ferrum_verify.importers.unreadable import ForeignPlanError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrum_verify.importers.bindings import Guard
    from ferrum_verify.importers.drafting import Draft

_NAME = re.compile(r"(?<![\w.])[A-Za-z_][\w@]*(?![\w(@])(?!\s*=[^=])")
_PLAIN = re.compile(r"[A-Za-z_][\w@]*(?:\[\d{1,6}\])?$")
_ELEMENT = re.compile(r"(?<![\w.])([A-Za-z_][\w@]*)\[(\d{1,6})\]")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_HARMLESS = {"R", "T", "I", "cls", "metadata", "True", "False", "None"}


class Names:
    """The names of one function, whose storages and tensors go into the draft.

    ``of`` are the buffers that a name stands for, ``fresh`` those that nobody has written yet,
    ``unplaced`` the names of tensors whose place or size is not known, ``harmless`` those of what
    lies in no planned memory. Names that are ``merged`` are bound more than once; ``within`` are
    the arms that are being read.
    """

    def __init__(self, draft: Draft, prefix: str, merged: set[str]) -> None:
        self.draft, self.prefix, self.merged = draft, prefix, merged
        self.of: dict[str, list[str]] = {}
        self.fresh: set[str] = set()
        self.unplaced: set[str] = set()
        self.harmless = set(_HARMLESS)
        self.within: Guard = ()
        self.bindings = Bindings[str]()
        self._storages: dict[str, Linear] = {}
        self._elements: dict[str, list[str]] = {}

    def parameter(self, name: str, annotation: str) -> list[str]:
        """A parameter, in memory of its caller's; the buffers that it is known to have."""
        callee, arguments = call_of(annotation) or ("", [])
        self.harmless.add(name)
        if callee != "R.Tuple":
            self.own(name, annotated(annotation))
            return self.of.get(name, [])
        members = [f"{name}@{at}" for at in range(len(arguments))]
        found = [
            buffer
            for member, each in zip(members, arguments, strict=True)
            for buffer in self.parameter(member, each)
        ]
        self._elements[name], self.of[name] = members, found
        return found

    def storage(self, target: str, arguments: list[str]) -> None:
        """A storage, of its bytes at the largest shape."""
        self._once(target, self.prefix + target in self.draft.arenas)
        size = self._sized(extents(arguments[0]))
        if size is not None:
            self._storages[target] = size
            most = size.at_most(self.draft.shape)
            self.draft.arenas[self.prefix + target] = {"bytes": most, "alignment": 1}

    def tensor(self, target: str, arguments: list[str]) -> None:
        """A tensor at an offset in a storage."""
        self._once(target, self.prefix + target in self.draft.buffers)
        storage, offset = self._storages.get(arguments[0]), self._sized(extent(arguments[1]))
        tensor = tensor_of(arguments[2], arguments[3])
        size, name = self._sized(tensor.size), self.prefix + target
        if storage is None or offset is None or size is None:
            self.unplaced.add(target)
            return
        arena = self.prefix + arguments[0]
        self.draft.place(name, arena, offset.wire(), size.wire(), tensor.label)
        self.of[target] = [name]
        self.fresh.add(name)
        self._note_packed(name, tensor)
        if storage.per and (storage, 0) != (size, offset.fixed):
            self.draft.note(f"{arguments[0]} is taken at its largest.", buffers=[name])

    def own(self, target: str, tensor: Tensor) -> None:
        """A tensor in memory of its own, which the plan shares with nothing."""
        name, size = self.prefix + target.replace("@", "."), self._sized(tensor.size)
        self._once(target, name in self.draft.buffers)
        self.harmless.add(target)
        if size is not None and (most := size.at_most(self.draft.shape)):
            self.draft.arenas[name] = {"bytes": most, "alignment": 1}
            self.draft.place(name, name, 0, size.wire(), tensor.label)
            self.of[target] = [name]

    def rename(self, target: str, annotation: str | None, value: str) -> None:
        """Another name of what a value stands for: a tensor, a tuple, or a member of one."""
        value = self._members_in(value)
        parts = arguments_of(value[1:-1]) if value.startswith("(") else []
        plain = all(map(self._plain, parts))
        if self.doubtful([value]) or _ELEMENT.fullmatch(value) or not plain:
            self.unplaced.add(target)
        if value.startswith("(") and plain:
            self._elements[target] = parts
        if value in self._elements:
            self._elements[target] = self._elements[value]
        if not self.buffers([value]):
            self.harmless.add(target)
        if target in self.merged:
            if target in self._elements:
                self.unplaced.add(target)
            self.bindings.move(value, target, self.within)
            return
        stands = self.buffers([value])
        self.of[target] = stands
        if len(stands) == 1 and target not in self._elements and value not in self.merged:
            of, tensor = self.draft.buffers[stands[0]], annotated(annotation or "")
            size = self._sized(tensor.size)
            self.draft.alias(
                self.prefix + target,
                stands[0],
                of["bytes"] if size is None else size.wire(),
                tensor.label or of["label"],
            )
            self.of[target] = [self.prefix + target]
            self._note_packed(self.prefix + target, tensor)
        elif value in self.merged:
            self.bindings.move(value, target, ())

    def buffers(self, values: Iterable[str]) -> list[str]:
        """The buffers that the names in these values stand for, in some arm, each once."""
        names = self._names(values)
        stood = [
            stands.get(name, name)
            for name in names
            for _, stands in self.bindings.cases([name], self.within)
        ]
        return list(dict.fromkeys(each for name in stood for each in self.of.get(name, ())))

    def cases(self, values: Iterable[str], within: Guard) -> list[tuple[Guard, list[str]]]:
        """The buffers that the names stand for, in each combination of arms that matters."""
        names = self._names(values)
        return [
            (guard, [each for name in names for each in self.of.get(stands.get(name, name), ())])
            for guard, stands in self.bindings.cases(names, within)
        ]

    def doubtful(self, values: Iterable[str]) -> list[str]:
        """The names of which no place is known, or that stand for nothing that is known."""
        return [name for name in dict.fromkeys(self._names(values)) if not self._known(name)]

    def _known(self, name: str) -> bool:
        return name not in self.unplaced and all(
            each in self.of or each in self.harmless
            for _, stands in self.bindings.cases([name], self.within)
            for each in [stands.get(name, name)]
        )

    def _plain(self, part: str) -> bool:
        """Whether a member of a tuple is a name that always stands for the same, or no tensor."""
        if part.startswith("("):
            return all(map(self._plain, arguments_of(part[1:-1])))
        if _PLAIN.match(part):
            return part not in self.merged
        return not self.buffers([part])

    def _names(self, values: Iterable[str]) -> list[str]:
        return [
            name
            for value in values
            for name in _NAME.findall(_STRING.sub("", self._members_in(value)))
        ]

    def _members_in(self, value: str) -> str:
        """The value with the members of known tuples in place of ``name[index]``."""

        def member(match: re.Match[str]) -> str:
            members = self._elements.get(match[1], [])
            known = match[1] not in self.merged and int(match[2]) < len(members)
            return members[int(match[2])] if known else match[0]

        for _ in range(MOST_NESTED):
            value, before = _ELEMENT.sub(member, value), value
            if value == before:
                break
        return value

    def _once(self, target: str, bound: bool) -> None:
        if bound or target in self.merged:
            raise ForeignPlanError(f"The name {target} is bound twice, and once to memory.")

    def _note_packed(self, buffer: str, tensor: Tensor) -> None:
        if tensor.packed:
            self.draft.note(
                "How its elements of less than a byte are packed is not known: it is taken to have "
                "no gaps.",
                buffers=[buffer],
            )

    def _sized(self, size: Linear | None) -> Linear | None:
        """The size over this function's dimensions; None where one has no upper bound."""
        if size is None:
            return None
        size = Linear(size.fixed, tuple((self.prefix + name, each) for name, each in size.per))
        bounded = all("maximum" in self.draft.shape.get(name, ()) for name, _ in size.per)
        return size if bounded else None
