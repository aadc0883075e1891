"""Sessions: the commands of a page, run in a folder of their own as a reader would run them."""

from __future__ import annotations

import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ferrum_verify.cli import run as run_ferrum_verify
from models.__main__ import main as run_models
from tests.docs.pages import ROOT
from tests.integrations.repository import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.docs.pages import Block, Page

COLUMNS = "80"
"""The width of the reader's terminal."""

_SHELL = re.compile(r"[|<>;&$*`]")
LEFT_OUT = "…"
_VARYING = (
    (re.compile(r"\b\d+\.\d+ ?s\b"), "# s"),
    (re.compile(r"\b(z3|cvc5) \d[\d.]*"), r"\1 #"),
    (re.compile(r"(\b(?:z3|cvc5) #|\benumeration) +\d+\.\d+ +"), r"\1 # "),
    (re.compile(r'("key": ")[0-9a-f]{64}'), r"\1#"),
    (re.compile(r'("(?:read|parse|check|prove)": )[\d.e-]+'), r"\1#"),
)
"""What differs from run to run, and from machine to machine: times, and versions of solvers."""


class Session:
    """A reader's session in ``folder``, which has the project's files as a checkout has them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.status = 0
        self._environment = environment()
        for name in ("docs", "models", "proofs"):
            (folder / name).symlink_to(ROOT / name)
        for name in ("Makefile", "constraints.txt", "pyproject.toml"):
            shutil.copy(ROOT / name, folder / name)
        # Commands with pipes need real ones on the path.
        self._bin = folder / ".venv" / "bin"
        self._bin.mkdir(parents=True)
        for name, module in (("ferrum-verify", "-m ferrum_verify"), ("python", "")):
            script = self._bin / name
            script.write_text(f'#!/bin/sh\nexec {sys.executable} {module} "$@"\n')
            script.chmod(0o755)

    def run(self, command: str) -> str:
        """What the command prints, on both streams."""
        if command == "echo $?":
            return f"{self.status}\n"
        words = [] if _SHELL.search(command) else shlex.split(command)
        match words:
            case ["ferrum-verify", *arguments]:
                return self._call(run_ferrum_verify, arguments)
            case ["python", "-m", "models", *arguments]:
                return self._call(run_models, arguments)
            case ["make", target]:
                return "".join(self.run(line) for line in self._recipe(target))
        return self._shell(command)

    def _call(self, function: Callable[[list[str]], int], arguments: list[str]) -> str:
        with self.here() as output:
            self.status = function(arguments)
        return output()

    def _recipe(self, target: str) -> list[str]:
        """The commands that a target of the Makefile runs in an environment that is made."""
        done = subprocess.run(
            ["make", "--dry-run", "-o", ".venv/installed", "-o", ".venv/developed", target],
            cwd=self.folder,
            # The tests may run below a make of their own, whose settings are not meant.
            env={name: value for name, value in environment().items() if "MAKE" not in name},
            capture_output=True,
            text=True,
            check=True,
        )
        return [line.removeprefix(".venv/bin/") for line in done.stdout.splitlines()]

    def _shell(self, command: str) -> str:
        path = f"{self._bin}{os.pathsep}{self._environment['PATH']}"
        given = self._environment | _AUTHOR | {"COLUMNS": COLUMNS, "PATH": path}
        done = subprocess.run(
            ["bash", "-c", f"{{ {command}\n}} 2>&1"],
            cwd=self.folder,
            env=given,
            capture_output=True,
            text=True,
            check=False,
        )
        self.status = done.returncode
        return done.stdout

    @contextmanager
    def here(self) -> Iterator[Callable[[], str]]:
        """Be in the session's folder, at a terminal of its width; gives what is printed."""
        stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        before = os.getcwd(), sys.stdout, sys.stderr, os.environ.get("COLUMNS")

        def printed() -> str:
            stream.flush()
            buffer = stream.buffer
            assert isinstance(buffer, io.BytesIO)
            return buffer.getvalue().decode()

        os.chdir(self.folder)
        os.environ["COLUMNS"] = COLUMNS
        sys.stdout = sys.stderr = stream
        try:
            yield printed
        finally:
            os.chdir(before[0])
            sys.stdout, sys.stderr = before[1:3]
            if before[3] is None:
                del os.environ["COLUMNS"]
            else:
                os.environ["COLUMNS"] = before[3]


class Installed(Session):
    """The session of a reader who installed the package, in a folder without a checkout."""

    def __init__(self, folder: Path, installation: Path) -> None:
        self.folder = folder
        self.status = 0
        self._bin = installation / "bin"
        self._environment = {
            name: value for name, value in environment().items() if not name.startswith("PYTHON")
        }

    def run(self, command: str) -> str:
        """What the command prints, on both streams: nothing runs in this process."""
        return f"{self.status}\n" if command == "echo $?" else self._shell(command)


_AUTHOR = {
    "GIT_AUTHOR_NAME": "Planner",
    "GIT_AUTHOR_EMAIL": "planner@example.org",
    "GIT_COMMITTER_NAME": "Planner",
    "GIT_COMMITTER_EMAIL": "planner@example.org",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}
"""Commits of the same content have the same name then."""


def followed(page: Page, session: Session) -> Iterator[tuple[Block, list[str]]]:
    """Follow a page; of each block what its commands print, in their order."""
    names: dict[str, Any] = {}
    for block in page.blocks:
        if block.file is not None:
            path = session.folder / block.file
            assert path.resolve().is_relative_to(session.folder.resolve())
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.body, encoding="utf-8")
        elif block.kind == "run":
            session.run(block.body)
            if session.status != 0:
                yield block, [f"status {session.status}"]
        elif block.kind == "console":
            yield block, [session.run(each.command) for each in block.commands]
        elif block.kind == "python" and ">>> " in block.body:
            yield block, [_doctest(page, block, session, names)]


def _doctest(page: Page, block: Block, session: Session, names: dict[str, Any]) -> str:
    """What is wrong with the examples of a block, or nothing."""
    parsed = doctest.DocTestParser().get_doctest(
        block.body, names, page.name, page.name, block.line - 1
    )
    faults: list[str] = []
    with session.here():
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(
            parsed, out=faults.append, clear_globs=False
        )
    names.update(parsed.globs)
    return "".join(faults)


def agree(shown: str, printed: str) -> bool:
    """Whether a page shows what is printed, times aside; ``…`` stands for lines left out."""
    pieces = [
        re.escape(piece)
        for piece in re.split(rf"^{LEFT_OUT}\n", settled(shown), flags=re.MULTILINE)
    ]
    return re.fullmatch(r"(?:.*\n)*?".join(pieces), settled(printed)) is not None


def settled(text: str) -> str:
    """The text without what differs from run to run."""
    for pattern, replacement in _VARYING:
        text = pattern.sub(replacement, text)
    return text
