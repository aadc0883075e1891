"""Imports run one way: every room imports only what lies below it, and no files go in circles."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import networkx as nx
import pytest

TOP = Path(__file__).parents[1]
LAYERS: tuple[tuple[str, ...], ...] = (
    ("documents", "counterexamples", "beside", "limits", "version"),
    ("findings", "plan", "cache"),
    ("reading", "derive", "importers"),
    ("rules",),
    ("prove", "report"),
    ("auditing", "contracts"),
    ("catalogue", "deriving"),
    ("integrations", "fleet"),
    ("cli",),
    ("__main__",),
)
"""The rooms of the package, from the ground up; the package's own face may name them all."""

BESIDE_THE_ROOMS = {"browser", "definition", "docs", "fuzz", "models", "mutants", "proofs"}
"""Folders of tests that are of no room: of the whole, or of what stands beside the package."""

MODULES = {
    ".".join(path.relative_to(TOP).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((TOP / "ferrum_verify").rglob("*.py"))
}


def imported(source: str) -> set[str]:
    """Every module of the package that a source imports, wherever the import stands."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            members = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {member if member in MODULES else node.module for member in members}
    return names & MODULES.keys()


def floor_of(module: str) -> int | None:
    room = module.split(".")[1]
    return next((floor for floor, rooms in enumerate(LAYERS, start=1) if room in rooms), None)


def room_of(module: str) -> str:
    return module.split(".")[1]


INSIDE = [module for module in MODULES if module != "ferrum_verify"]


def test_every_room_has_its_floor() -> None:
    assert len(LAYERS) <= 10
    assert [module for module in INSIDE if floor_of(module) is None] == []
    assert {room for rooms in LAYERS for room in rooms} == {room_of(module) for module in INSIDE}


@pytest.mark.parametrize("module", INSIDE)
def test_a_room_imports_only_what_lies_below(module: str) -> None:
    below, room = floor_of(module), room_of(module)
    assert below is not None
    for name in imported(MODULES[module].read_text(encoding="utf-8")):
        assert name != "ferrum_verify", f"{module} imports the face of the package"
        floor = floor_of(name)
        assert room_of(name) == room or (floor is not None and floor < below), name


def test_the_tests_stand_in_folders_of_the_rooms_names() -> None:
    rooms = {room for rooms in LAYERS for room in rooms}
    for path in (TOP / "tests").rglob("test_*.py"):
        (folder, *_) = path.relative_to(TOP / "tests").parts
        assert folder in rooms | BESIDE_THE_ROOMS | {"test_layers.py"}, path


def test_whoever_checks_counterexamples_stands_alone() -> None:
    own = {module for module in INSIDE if room_of(module) == "counterexamples"}
    for module in own:
        assert imported(MODULES[module].read_text(encoding="utf-8")) <= own, module
    assert "ferrum_verify.counterexamples.checking" in own


def test_no_files_go_in_circles() -> None:
    graph: nx.DiGraph[str] = nx.DiGraph(
        (module, name)
        for module, path in MODULES.items()
        for name in imported(path.read_text(encoding="utf-8"))
        if name != module
    )
    assert [
        sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1
    ] == []


def test_contributing_shows_the_layers() -> None:
    text = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (.+?) \|", text, re.MULTILINE)
    shown = {int(floor): set(re.findall(r"`(\w+)`", rooms)) for floor, rooms in rows}
    assert shown == {floor: set(rooms) for floor, rooms in enumerate(LAYERS, start=1)}


def test_an_import_is_seen_wherever_it_stands() -> None:
    source = (
        "def run():\n    from ferrum_verify.cli import audit\n    import ferrum_verify.limits\n"
    )
    assert imported(source) == {"ferrum_verify.cli.audit", "ferrum_verify.limits"}
