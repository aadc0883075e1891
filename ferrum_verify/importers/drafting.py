"""A buffer plan that is being written: what the importers have in common.

Nodes are added in the order in which the other planner runs them. Where its file names no
dependencies they follow from the storages that the nodes touch: a reader waits for whoever wrote
the storage before it, a writer for all who touched it before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Arm = tuple[str, str]
"""A condition, and which of its arms."""

Size = int | dict[str, Any]
"""Bytes: a number, or a fixed part with so many bytes for each unit of a dimension."""

TRUE, FALSE = "true", "false"
OTHER = {TRUE: FALSE, FALSE: TRUE}
"""The two arms of a test, each with the other."""

MOST_NESTED = 32
"""Conditionals inside of each other."""

SCHEMA = "ferrum-verify/buffer-plan/v1"


@dataclass(slots=True)
class _Touched:
    """Who wrote a storage last, and who has touched it since, each with the arms it runs in."""

    writers: dict[str, frozenset[Arm]] = field(default_factory=dict)
    readers: dict[str, frozenset[Arm]] = field(default_factory=dict)


@dataclass(slots=True)
class Draft:
    """Buffers and nodes so far, and what was not understood."""

    source: str
    shape: dict[str, dict[str, int]] = field(default_factory=dict)
    arenas: dict[str, dict[str, int]] = field(default_factory=dict)
    buffers: dict[str, dict[str, Any]] = field(default_factory=dict)
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[dict[str, Any]] = field(default_factory=list)
    _touched: dict[str, _Touched] = field(default_factory=dict)

    def place(self, name: str, arena: str, offset: Size, size: Size, label: str = "") -> None:
        """A buffer with bytes of its own in an arena."""
        self.buffers[name] = {"id": name, "label": label, "arena": arena, "offset": offset}
        self.buffers[name] |= {"bytes": size}

    def alias(self, name: str, of: str, size: Size, label: str = "") -> None:
        """Another name of the first bytes of a buffer."""
        base = self.storage(of)
        self.buffers[name] = {"id": name, "label": label, "alias_of": base, "bytes": size}

    def storage(self, name: str) -> str:
        """The buffer that has the bytes: itself, or what it is another name of."""
        base: str = self.buffers[name].get("alias_of", name)
        return base

    def node(
        self,
        name: str,
        label: str,
        reads: Iterable[str] = (),
        writes: Iterable[str] = (),
        *,
        arms: Sequence[Arm] = (),
        after: Iterable[str] = (),
    ) -> None:
        """The next node in program order, waiting for ``after`` beside what its buffers say."""
        reads, writes = list(dict.fromkeys(reads)), list(dict.fromkeys(writes))
        guard = frozenset(arms)
        waits: dict[str, None] = dict.fromkeys(after)
        before = [self._of(buffer).writers for buffer in (*reads, *writes)]
        before += [self._of(buffer).readers for buffer in writes]
        for others in before:
            waits |= {each: None for each, arms in others.items() if not _exclude(guard, arms)}
        for buffer in reads:
            self._of(buffer).readers[name] = guard
        for buffer in writes:
            touched = self._of(buffer)
            # Who runs only where this node runs is behind it from now on.
            touched.readers = {n: g for n, g in touched.readers.items() if not guard <= g}
            touched.writers = {n: g for n, g in touched.writers.items() if not guard <= g}
            touched.writers[name] = guard
        self.nodes[name] = {"id": name, "label": label, "dependencies": list(waits)}
        self.nodes[name] |= {"reads": reads, "writes": writes}
        if arms:
            self.nodes[name]["arms"] = [list(arm) for arm in arms]

    def add_empty_arms(self) -> None:
        """A node for each arm that has none, so that it is known that the other need not run."""
        arms = {tuple(arm): None for node in self.nodes.values() for arm in node.get("arms", ())}
        for condition, arm in list(arms):
            if (condition, OTHER[arm]) not in arms:
                name = f"{condition}.{OTHER[arm]}"
                self.node(name, "nothing to do", arms=[(condition, OTHER[arm])])

    def note(self, text: str, nodes: Iterable[str] = (), buffers: Iterable[str] = ()) -> None:
        """What was not understood; with nodes or buffers the verdict is open."""
        named = {"nodes": list(nodes), "buffers": list(buffers)}
        self.notes.append({"text": text, **{key: each for key, each in named.items() if each}})

    def document(self) -> dict[str, Any]:
        """The plan as a document; names that stand for nothing are left out."""
        buffers = [
            {key: each for key, each in buffer.items() if each != "" or key == "id"}
            for buffer in self.buffers.values()
        ]
        made: dict[str, Any] = {"schema": SCHEMA, "source": self.source}
        if self.shape:
            made["shape"] = self.shape
        made |= {"arenas": self.arenas, "buffers": buffers, "nodes": list(self.nodes.values())}
        return made | ({"notes": self.notes} if self.notes else {})

    def _of(self, buffer: str) -> _Touched:
        return self._touched.setdefault(self.storage(buffer), _Touched())


def _exclude(guard: frozenset[Arm], other: frozenset[Arm]) -> bool:
    """Whether the two never run in one run: they take different arms of a condition."""
    arms = dict(guard)
    return any(arms.get(condition, arm) != arm for condition, arm in other)
