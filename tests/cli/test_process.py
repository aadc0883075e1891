"""The command line as a process of its own: pipes, interruption, and what it loads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ferrum_verify.catalogue.samples import sample

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "ferrum_verify"]
PIPE = subprocess.PIPE


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    streams: dict[str, Any] = {"stdout": PIPE, "stderr": PIPE}
    return subprocess.run([*COMMAND, *arguments], cwd=ROOT, check=False, **(streams | options))


@pytest.fixture
def fragment(tmp_path: Path) -> Path:
    path = tmp_path / "fragment.json"
    path.write_text(json.dumps(sample("fragment")))
    return path


def test_help_loads_neither_models_nor_solver() -> None:
    program = (
        "import sys; from ferrum_verify.cli import run; run(['--help']); "
        "print(sorted({'pydantic', 'rich', 'z3', 'networkx'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, stdout=PIPE, timeout=60
    )
    assert done.stdout.splitlines()[-1] == b"[]"


def test_a_concrete_audit_loads_no_solver_and_no_models_that_it_does_not_need(
    fragment: Path,
) -> None:
    program = (
        "import sys; from ferrum_verify.cli import run; "
        f"run(['audit', '--no-prove', {str(fragment)!r}]); "
        "print(sorted({'z3', 'ferrum_verify.documents.catalog', 'rich.progress'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, stdout=PIPE, timeout=60
    )
    assert done.stdout.splitlines()[-1] == b"[]"


def test_standard_input_and_output() -> None:
    done = run("audit", "--no-prove", "-", input=json.dumps(sample("fragment")).encode())
    assert done.returncode == 0
    assert done.stdout.startswith(b"VERIFIED  <stdin>")
    assert done.stderr == b""


def test_a_broken_pipe_is_quiet(fragment: Path) -> None:
    process = subprocess.Popen([*COMMAND, "schema", "bundle"], cwd=ROOT, stdout=PIPE, stderr=PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 0
    many = [str(fragment)] * 3
    process = subprocess.Popen(
        [*COMMAND, "audit", "--no-prove", "--format", "json", *many], cwd=ROOT, stdout=PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=60) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_device_is_one_sentence() -> None:
    with Path("/dev/full").open("wb") as full:
        done = run("schema", "report", stdout=full)
    assert done.returncode == 2
    assert done.stderr == (
        b"Error: The output cannot be written to the standard output: No space left on device.\n"
    )


@pytest.mark.parametrize("command", [["audit", "--no-prove"], ["derive"], ["rules"]])
def test_a_standard_output_that_is_closed(tmp_path: Path, fragment: Path, command: Any) -> None:
    problem = tmp_path / "problem.json"
    problem.write_text(json.dumps(sample("problem")))
    document = {"audit": [str(fragment)], "derive": [str(problem)], "rules": []}[command[0]]
    shell = ["sh", "-c", 'exec "$@" >&-', "sh", *COMMAND, *command, *document]
    done = subprocess.run(shell, cwd=ROOT, check=False, stderr=PIPE)
    assert done.returncode == 2
    assert done.stderr == (
        b"Error: The output cannot be written to the standard output: it is closed.\n"
    )
    target = tmp_path / "output"
    assert subprocess.run([*shell, "-o", str(target)], cwd=ROOT, check=False).returncode == 0
    assert target.read_text()


def test_all_standard_streams_closed(fragment: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *COMMAND, "audit", "--no-prove", str(fragment)],
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 2


def test_names_that_the_terminal_cannot_show(tmp_path: Path) -> None:
    path = tmp_path / "naïve\udcff.json"
    path.write_text("{}")
    done = run("audit", "--no-prove", str(path), env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 2
    assert b"na\\xefve\\udcff.json" in done.stdout.replace(b"\n", b"")
    assert b"Traceback" not in done.stderr


def test_ctrl_c_ends_with_130(fragment: Path) -> None:
    # The second document is interrupted while it is read, as by a person at the keyboard.
    program = f"""
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
from ferrum_verify.cli import main
from ferrum_verify.reading import load
read = load.read_documents
def interrupted(path, *more, **options):
    yield from read(path, *more, **options)
    os.kill(os.getpid(), signal.SIGINT)
    signal.pause()
load.read_documents = interrupted
import sys
sys.argv = ["ferrum-verify", "audit", "--no-prove", {str(fragment)!r}]
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=False, stdout=PIPE, stderr=PIPE, timeout=60
    )
    assert done.returncode == 130
    assert done.stdout.startswith(b"VERIFIED")
    assert b"Interrupted: the report covers 1 of the documents." in done.stderr
    assert b"Traceback" not in done.stderr
