"""Every command with every format, run in this process on one hostile document."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import signal
import sys
import time
import traceback
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args
from unittest.mock import patch

from ferrum_verify import FerrumVerifyError, audit, check_counterexample
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import run
from ferrum_verify.counterexamples import Execution
from ferrum_verify.report.formats import FORMATS
from tests.fuzz.corpus import Corpus
from tests.fuzz.mutations import leaf, mutated
from tests.integrations.repository import repository

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    Call = Callable[[bytes, Random, Corpus], None]
    """What is done with a hostile document; what else it needs is drawn from the corpus."""

MOST_SECONDS = 10.0
"""Of the processor, for one document: what a reader of the project is promised."""

_HIDING = re.compile(
    "[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e"
    "\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]"
)
"""Characters that command a terminal, turn text around or are not seen."""


class Outcome(NamedTuple):
    """How a call ended, after so many seconds of the processor; a fault says where it is."""

    kind: str
    seconds: float
    fault: str | None = None


class _OverTimeError(BaseException):
    """A call took longer than it may."""


def _file(number: int, document: bytes, random: Random, corpus: Corpus) -> str:
    """A file: of the document, of another hostile one, or of one as it stands in the corpus."""
    path = Path(f"{number}.json")
    texts = (lambda: document, lambda: mutated(random, corpus), lambda: corpus.draw(random))
    path.write_bytes(texts[number]())
    return path.name


def _command(*arguments: str) -> Call:
    """A command line in which the digits 0, 1 and 2 stand for those files."""

    def call(document: bytes, random: Random, corpus: Corpus) -> None:
        filled = [
            _file(int(each), document, random, corpus) if each in ("0", "1", "2") else each
            for each in arguments
        ]
        if filled[0] == "audit" and "--schedule" not in filled:
            filled += ["--execution", random.choice(get_args(Execution))]
        status = run(filled)
        if status not in (0, 1, 2, 3):
            raise AssertionError(f"exit status {status}")

    return call


def _in_memory(document: bytes, random: Random, _corpus: Corpus) -> None:
    """``audit()`` of a value that a caller has at hand, with what no JSON text can hold."""
    try:
        value = json.loads(document)
    except (ValueError, RecursionError):
        value = document
    if isinstance(value, dict) and value:
        odd: list[Any] = [float("nan"), float("inf"), b"x", {1: 2}, {1, 2}, object(), (1,), 1j]
        value[random.choice(list(value))] = random.choice(odd)
    audit(value, random.choice(get_args(Execution)), prove=False)


def _counterexample(_document: bytes, random: Random, corpus: Corpus) -> None:
    """``check_counterexample()`` of a document and a counterexample, of which one is hostile."""
    found = json.loads(json.dumps(random.choice(corpus.counterexamples)))
    document, wire, schedule = found
    target = random.choice([each for each in found if each is not None])
    for _ in range(random.choice((1, 2, 5))):
        holder = target
        while True:
            key = random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
            if not isinstance(holder[key], dict | list) or not holder[key]:
                break
            if random.random() < 0.1:
                break
            holder = holder[key]
        odd = random.choice((float("nan"), float("inf"), b"x", object()))
        holder[key] = odd if random.random() < 0.1 else leaf(random)
    execution = random.choice(get_args(Execution))
    answer = check_counterexample(document, wire, execution, schedule)
    if not isinstance(answer, bool):
        raise AssertionError(f"an answer of {answer!r}")


def _scheduled(format_name: str) -> Call:
    """A plan under a schedule, of which one is hostile, or both."""

    def call(document: bytes, random: Random, _corpus: Corpus) -> None:
        plan, schedule = _fitting()
        hostile = random.choice(("plan", "schedule", "both"))
        if hostile != "schedule":
            plan = document if random.random() < 0.3 else mutated(random, _of_one(plan))
        if hostile != "plan":
            schedule = mutated(random, _of_one(schedule))
        Path("plan.json").write_bytes(plan)
        Path("schedule.json").write_bytes(schedule)
        judge = random.choice(("all", "all", "safety", "conformance"))
        words = (
            "audit",
            "--no-prove",
            "plan.json",
            "--schedule",
            "schedule.json",
            "--judge",
            judge,
        )
        run([*words, "--format", format_name])

    return call


@cache
def _fitting() -> tuple[bytes, bytes]:
    """A plan and a schedule that launches its nodes."""
    plan, schedule = (json.dumps(sample(name)).encode() for name in ("fragment", "schedule"))
    return plan, schedule


def _of_one(text: bytes) -> Corpus:
    return Corpus((text,), (1.0,), ())


def _names(document: bytes, random: Random, _corpus: Corpus) -> None:
    """What takes a name instead of a document."""
    text = document[: random.choice((5, 50, 500))].decode("utf-8", "surrogateescape")
    run([random.choice(("explain", "schema", "audit", text)), text.replace("\0", " ")])


def _review(document: bytes, random: Random, corpus: Corpus) -> None:
    """A branch that makes one hostile document of another, as a plan, a catalog or settings."""
    folder = Path("repository")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    other = mutated(random, corpus)
    texts = [each.decode("utf-8", "replace") for each in (document, other)]
    names = ("plans/a.json", "catalogs/b.json", "pyproject.toml", "plans/\u202ec\n::d.json")
    base = repository(
        folder,
        {name: random.choice(texts) for name in names[:2]},
        {name: random.choice(texts) for name in names[:3]} | {names[3]: texts[0]},
    )
    with contextlib.chdir(folder):
        format_name = random.choice(list(FORMATS))
        run(["review", "--base", base, "--no-prove", "--format", format_name])


def _settings(document: bytes, random: Random, corpus: Corpus) -> None:
    """A hostile document in place of a baseline or of settings."""
    hostile, sound = (_file(number, document, random, corpus) for number in (0, 2))
    option = random.choice(("--baseline", "--config"))
    run(["audit", "--no-prove", sound, option, hostile, "--format", "github"])


def _all_calls() -> Iterator[tuple[str, Call]]:
    plain = ("audit", "--no-prove", "0"), ("contracts", "check", "--no-prove", "0")
    more = (
        ("contracts", "check", "--no-prove", "2", "--plan", "0"),
        ("contracts", "check", "--no-prove", "0", "--program", "1", "--policy", "1"),
        ("contracts", "compare", "--no-prove", "2", "0", "--plan", "1"),
        ("contracts", "compare", "--no-prove", "0", "0", "--plan", "0"),
    )
    for words, name in product((*plain, *more), FORMATS):
        yield " ".join((*words, name)), _command(*words, "--format", name)
    for name in FORMATS:
        yield f"audit --schedule {name}", _scheduled(name)
        against = ("audit", "--no-prove", "0", "--against", "2")
        yield f"audit --against {name}", _command(*against, "--format", name)
    for word in ("derive", "bindings", "checkpoint"):
        yield word, _command(word, "0")
    yield "slots", _command("slots", "0", "--search-limit", "1")
    yield "schedule", _command("schedule", "0", "--streams", "a=*/*,b=*", "--in-flight", "2")
    yield "audit()", _in_memory
    yield "check_counterexample()", _counterexample
    yield "names", _names
    yield "settings", _settings


CALLS = dict(_all_calls())
"""Every command with every format, by name."""

SAMPLED = {"audit with proofs": 7, "contracts compare with proofs": 107, "review": 207}
"""What takes long, and the documents of each 500 that it comes with: the one of this number."""

_SLOW = {
    "audit with proofs": _command("audit", "0", "--proof-limit", "2"),
    "contracts compare with proofs": _command("contracts", "compare", "2", "0", "--plan", "1"),
    "review": _review,
}


def called(name: str, document: bytes, random: Random, corpus: Corpus) -> Outcome:
    """Run a call, and say how it ended."""
    call = CALLS.get(name) or _SLOW[name]
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
    out, err = streams
    os.environ["FERRUM_VERIFY_DEBUG"] = "1"
    started = time.process_time()
    fault, kind = None, "done"
    signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        with patch.object(sys, "stdout", out), patch.object(sys, "stderr", err):
            call(document, random, corpus)
    except FerrumVerifyError as error:
        kind, fault = "internal error", f"{type(error).__name__}: {error}"
    except _OverTimeError:
        kind, fault = "over time", _where()
    except Exception as error:
        kind, fault = "internal error", f"{type(error).__name__}: {error} {_where()}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    seconds = time.process_time() - started
    if fault is not None:
        return Outcome(kind, seconds, fault)
    text = "".join(each.buffer.getvalue().decode("utf-8", "replace") for each in streams)
    if "Traceback (most recent call last)" in text:
        return Outcome("traceback", seconds, f"traceback: {text[-300:]}")
    text = text.replace("@\u200b", "@")  # where Markdown would mention somebody
    hiding = _HIDING.search(text)
    if hiding is not None:
        around = text[max(0, hiding.start() - 60) : hiding.end() + 30]
        return Outcome("hidden text", seconds, f"hidden text in {name}: {around!r}")
    return Outcome("done", seconds)


def _too_long(*_: object) -> None:
    raise _OverTimeError


def _where() -> str:
    """The last frames of what is being handled, as one line."""
    frames = traceback.extract_tb(sys.exc_info()[2])
    return " < ".join(f"{Path(each.filename).name}:{each.lineno}" for each in frames[-3:][::-1])
