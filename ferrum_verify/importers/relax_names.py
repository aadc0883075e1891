"""What the names of a TVM Relax function stand for: storages, tensors, tuples, and each other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ferrum_verify.importers.bindings import Bindings
from ferrum_verify.importers.relax_tensors import Tensor, annotated, extent, extents, tensor_of
from ferrum_verify.importers.symbolic import Linear
from ferrum_verify.importers.texts import arguments_of
from ferrum_verify.importers.unreadable import ForeignPlanError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrum_verify.importers.bindings import Guard
    from ferrum_verify.importers.drafting import Draft

NAME = re.compile(r"(?<![\w.\"])[A-Za-z_]\w*(?![\w(\"])(?!\s*=[^=])")
_ELEMENT = re.compile(r"([A-Za-z_]\w*)\[(\d{1,6})\]$")


class Names:
    """The names of one function, whose storages and tensors go into the draft.

    ``of`` are the buffers that a name stands for, ``fresh`` those that nobody has written yet,
    ``unplaced`` the names of tensors whose place or size is not known. Names that are ``merged``
    are bound in each arm to something else; ``within`` are the arms that are being read.
    """

    def __init__(self, draft: Draft, prefix: str, merged: set[str]) -> None:
        self.draft, self.prefix, self.merged = draft, prefix, merged
        self.of: dict[str, list[str]] = {}
        self.fresh: set[str] = set()
        self.unplaced: set[str] = set()
        self.within: Guard = ()
        self.bindings = Bindings[str]()
        self._storages: dict[str, Linear] = {}
        self._elements: dict[str, list[str]] = {}

    def storage(self, target: str, arguments: list[str]) -> None:
        """A storage, of its bytes at the largest shape."""
        size = self._sized(extents(arguments[0]))
        if size is not None:
            self._storages[target] = size
            most = size.at_most(self.draft.shape)
            self.draft.arenas[self.prefix + target] = {"bytes": most, "alignment": 1}

    def tensor(self, target: str, arguments: list[str]) -> None:
        """A tensor at an offset in a storage."""
        if self.prefix + target in self.draft.buffers:
            raise ForeignPlanError(f"The name {target} is bound to two tensors.")
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
        if storage.per and (storage, 0) != (size, offset.fixed):
            self.draft.note(f"{arguments[0]} is taken at its largest.", buffers=[name])

    def own(self, target: str, tensor: Tensor) -> None:
        """A tensor in memory of its own, which the plan shares with nothing."""
        name, size = self.prefix + target, self._sized(tensor.size)
        if size is not None and (most := size.at_most(self.draft.shape)):
            self.draft.arenas[name] = {"bytes": most, "alignment": 1}
            self.draft.place(name, name, 0, size.wire(), tensor.label)
            self.of[target] = [name]

    def rename(self, target: str, annotation: str | None, value: str) -> None:
        """Another name of what a value stands for: a tensor, a tuple, or a member of one."""
        parts = arguments_of(value[1:-1] if value.startswith("(") else value)
        if len(parts) > 1 or value.startswith("("):
            self._elements[target] = parts
        if (match := _ELEMENT.match(value)) and match[1] in self._elements:
            members = self._elements[match[1]]
            value = members[int(match[2])] if int(match[2]) < len(members) else value
        if value in self._elements:
            self._elements[target] = self._elements[value]
        if self.unplaced.intersection(NAME.findall(value)):
            self.unplaced.add(target)
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
        elif value in self.merged:
            self.bindings.move(value, target, ())

    def buffers(self, values: Iterable[str]) -> list[str]:
        """The buffers that the names in these values stand for, in some arm, each once."""
        names = [name for value in values for name in NAME.findall(value)]
        stood = [
            stands.get(name, name)
            for name in names
            for _, stands in self.bindings.cases([name], self.within)
        ]
        return list(dict.fromkeys(each for name in stood for each in self.of.get(name, ())))

    def cases(self, values: Iterable[str], within: Guard) -> list[tuple[Guard, list[str]]]:
        """The buffers that the names stand for, in each combination of arms that matters."""
        names = [name for value in values for name in NAME.findall(value)]
        return [
            (guard, [each for name in names for each in self.of.get(stands.get(name, name), ())])
            for guard, stands in self.bindings.cases(names, within)
        ]

    def doubtful(self, values: Iterable[str]) -> bool:
        """Whether a tensor is among the names whose place is not known."""
        return any(not self.unplaced.isdisjoint(NAME.findall(value)) for value in values)

    def _sized(self, size: Linear | None) -> Linear | None:
        """The size over this function's dimensions; None where one has no upper bound."""
        if size is None:
            return None
        size = Linear(size.fixed, tuple((self.prefix + name, each) for name, each in size.per))
        bounded = all("maximum" in self.draft.shape.get(name, ()) for name, _ in size.per)
        return size if bounded else None
