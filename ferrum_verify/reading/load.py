"""Reading documents: files, archives, one document a line, and standard input.

Whatever is wrong with a file is a finding, never an exception. A file is read as a stream and
only up to the format's limit, so that an archive that unpacks to terabytes stops early.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import os
import sys
import time
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from ferrum_verify.findings import Finding, Rule
from ferrum_verify.findings.errors import DocumentError
from ferrum_verify.findings.wording import printable
from ferrum_verify.reading.folders import NAMES, files_under
from ferrum_verify.reading.json_faults import for_import
from ferrum_verify.reading.json_text import MAXIMUM_BUNDLE_BYTES, parse_json
from ferrum_verify.reading.json_values import LIMIT, NOT_JSON, admit
from ferrum_verify.reading.kinds import detect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

MAXIMUM_LINES = 100_000
"""Lines that are read of one ``.jsonl`` file."""

MAXIMUM_FILE_BYTES = 4 * MAXIMUM_BUNDLE_BYTES
"""Bytes that are read of one ``.jsonl`` file, decompressed: sixteen of the largest plans."""

STANDARD_INPUT = "-"
_GZIP_MAGIC = b"\x1f\x8b"


class Origin(NamedTuple):
    """Where a value stands: the file, the line that its document begins on, and the pointer."""

    path: Path | None
    line: int
    pointer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedDocument:
    """One JSON value and where it came from; ``findings`` say why there is none.

    ``source`` is printable: the path, with ``:LINE`` where a file holds a document a line.
    ``seconds`` is the time that reading took. ``origins`` are of a document that was put together
    of several files: where each of its members stands, by the member's pointer. ``digest`` is
    the SHA-256 of its bytes, where these are asked about.
    """

    source: str
    value: Any = None
    findings: tuple[Finding, ...] = ()
    path: Path | None = field(default=None, compare=False)
    line: int = field(default=1, compare=False)
    seconds: float = field(default=0.0, compare=False)
    origins: Mapping[str, Origin] = field(default_factory=dict, compare=False)
    digest: str | None = field(default=None, compare=False)


UNREADABLE_FILE = Rule(
    id="wire.unreadable-file",
    summary="The file can be opened, and its bytes read to the end.",
    why="Nothing can be said about a plan that was never seen.",
    fix="Check the path and its permissions; write a damaged archive again.",
    source="a check of this verifier on its input",
)


def read_documents(
    path: str | os.PathLike[str],
    is_known: Callable[[str], bool] | None = None,
    content: bytes | None = None,
    *,
    folders: bool = False,
) -> Iterator[LoadedDocument]:
    """The documents of a ``.json`` or ``.jsonl`` file, compressed or not, or of ``-``.

    At least one is given: what cannot be read is a document with ``wire`` findings. Where
    ``is_known`` is given, documents of files have digests, and one whose digest it takes is not
    parsed. ``content`` is what the file holds, where it was read elsewhere. Where ``folders`` may
    be given they are of the files below one, without JSON of kinds that are not known.
    """
    name = os.fsdecode(path)
    if name == STANDARD_INPUT and path != STANDARD_INPUT:
        name = os.path.join(os.curdir, name)  # a path is a file, whatever it is called
    place = None if name == STANDARD_INPUT else Path(name)
    source = "<stdin>" if place is None else printable(name)
    if folders and place is not None and os.path.isdir(place):
        yield from _documents_of_folder(place, source)
        return
    try:
        with _open(name, content) as stream:
            if place is None:
                yield from _documents_of_standard_input(stream, source)
            elif _stem(name).endswith(".jsonl"):
                yield from _documents_of_lines(stream, source, place, is_known=is_known)
            else:
                started = time.perf_counter()
                text = stream.read(MAXIMUM_BUNDLE_BYTES + 1)
                yield _document(text, source, place, started=started, is_known=is_known)
    except (OSError, EOFError, zlib.error, UnicodeEncodeError) as error:
        finding = UNREADABLE_FILE.finding(_reason(error, source))
        yield LoadedDocument(source=source, findings=(finding,), path=place)


def read_bytes(path: str | os.PathLike[str], most: int, *, whole: bool = True) -> bytes:
    """The bytes of a file, decompressed where it is an archive; unless ``whole``, the first ones.

    Raises ``DocumentError`` where it cannot be read, or as a whole has more than ``most``.
    """
    name = os.fsdecode(path)
    try:
        with _open(name) as stream:
            data = stream.read(most + 1)
    except (OSError, EOFError, zlib.error, UnicodeEncodeError) as error:
        raise DocumentError(_reason(error, printable(name))) from None
    if whole and len(data) > most:
        raise DocumentError(f"The file has more than {most:,} bytes ({most >> 20} MiB).")
    return data[:most]


def _documents_of_folder(folder: Path, source: str) -> Iterator[LoadedDocument]:
    found = False
    for path in files_under(folder):
        for loaded in read_documents(path):
            if loaded.findings or detect(loaded.value) is not None:
                found = True
                yield loaded
    if not found:
        yield LoadedDocument(source=source, findings=(no_document_in(source),), path=folder)


def no_document_in(folder: str) -> Finding:
    """The fault of a folder, by its printable name, in which no document was found."""
    return UNREADABLE_FILE.finding(
        f"the folder {folder} holds no document: no file of a known kind, schedules aside, whose "
        f"name ends in {', '.join(NAMES)}",
        fix="Name a file of another ending itself; plans of ExecuTorch and TVM, and dump folders "
        "of XLA, are first written as buffer plans by `ferrum-verify import`",
    )


def from_memory(value: Any, source: str = "<document>") -> LoadedDocument:
    """A value that a Python caller has at hand, held to the same rules as JSON text."""
    started = time.perf_counter()
    try:
        admitted = admit(value)
    except DocumentError as error:
        return LoadedDocument(source=source, findings=error.findings)
    return LoadedDocument(source=source, value=admitted, seconds=time.perf_counter() - started)


@contextmanager
def _open(name: str, content: bytes | None = None) -> Iterator[IO[bytes]]:
    with _raw(name, content) as raw:
        packed = name.lower().endswith(".gz") or raw.peek(2)[:2] == _GZIP_MAGIC
        if packed:
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield cast("IO[bytes]", unpacked)
        else:
            yield raw


@contextmanager
def _raw(name: str, content: bytes | None) -> Iterator[Any]:
    if content is not None:
        yield io.BufferedReader(cast("io.RawIOBase", io.BytesIO(content)))
        return
    if name != STANDARD_INPUT:
        if "\0" in name:
            raise OSError(errno.EINVAL, "its name holds a null byte")
        with Path(name).open("rb") as raw:
            yield raw
        return
    if sys.stdin is None:
        raise OSError(errno.EBADF, "it is closed")
    # A reader of our own, as a replaced standard input may not know how to peek.
    peeking = io.BufferedReader(cast("io.RawIOBase", sys.stdin.buffer))
    try:
        yield peeking
    finally:
        peeking.detach()


def _document(
    text: bytes,
    source: str,
    path: Path | None,
    *,
    line: int = 1,
    started: float,
    is_known: Callable[[str], bool] | None = None,
) -> LoadedDocument:
    digest = None if is_known is None else hashlib.sha256(text).hexdigest()
    value, findings = None, tuple[Finding, ...]()
    if digest is None or is_known is None or not is_known(digest):
        try:
            value = parse_json(text)
        except DocumentError as error:
            findings = for_import(error.findings, text)
    return LoadedDocument(
        source=source,
        value=value,
        findings=findings,
        path=path,
        line=line,
        seconds=0.0 if findings else time.perf_counter() - started,
        digest=digest,
    )


def _documents_of_lines(
    stream: IO[bytes],
    source: str,
    path: Path | None,
    *,
    first_line: int = 1,
    is_known: Callable[[str], bool] | None = None,
) -> Iterator[LoadedDocument]:
    number = first_line - 1
    found = first_line > 1
    size = 0
    started = time.perf_counter()
    while line := stream.readline(MAXIMUM_BUNDLE_BYTES + 2):
        number += 1
        size += len(line)
        here = f"{source}:{number}"
        passed = _passed_limit(number, size)
        if passed is not None:
            finding = LIMIT.finding(f"The file has more than {passed}; the rest is not read.")
            yield LoadedDocument(source=here, findings=(finding,), path=path, line=number)
            return
        if line.strip():
            found = True
            text = line.rstrip(b"\r\n")
            yield _document(text, here, path, line=number, started=started, is_known=is_known)
            started = time.perf_counter()
        if len(line) > MAXIMUM_BUNDLE_BYTES + 1:
            return  # the rest of an overlong line: nothing after it can be told apart
    if not found:
        finding = NOT_JSON.finding("The file holds no document.")
        yield LoadedDocument(source=source, findings=(finding,), path=path)


def _passed_limit(lines: int, size: int) -> str | None:
    """The limit of a file of lines that so many of them, with so many bytes, pass."""
    if lines > MAXIMUM_LINES:
        return f"{MAXIMUM_LINES:,} lines"
    if size > MAXIMUM_FILE_BYTES:
        return f"{MAXIMUM_FILE_BYTES:,} bytes of JSON ({MAXIMUM_FILE_BYTES // 2**20} MiB)"
    return None


def _documents_of_standard_input(stream: IO[bytes], source: str) -> Iterator[LoadedDocument]:
    """Either one document over any number of lines, or one document a line.

    It is a document a line when the first line is a whole one and more follows.
    """
    started = time.perf_counter()
    head = stream.readline(MAXIMUM_BUNDLE_BYTES + 2)
    first = _document(head.rstrip(b"\r\n"), source, None, started=started)
    if first.findings:
        rest = (
            stream.read(MAXIMUM_BUNDLE_BYTES + 1 - len(head))
            if len(head) <= MAXIMUM_BUNDLE_BYTES
            else b""
        )
        yield _document(head + rest, source, None, started=started)
        return
    others = _documents_of_lines(stream, source, None, first_line=2)
    second = next(others, None)
    if second is None:
        yield first
        return
    yield LoadedDocument(source=f"{source}:1", value=first.value, seconds=first.seconds)
    yield second
    yield from others


def _stem(name: str) -> str:
    return name.lower().removesuffix(".gz")


_REASONS: dict[type[Exception], str] = {
    IsADirectoryError: "The path {source} is a directory, not a file.",
    FileNotFoundError: "There is no file {source}.",
    PermissionError: "The file {source} may not be read.",
    UnicodeEncodeError: "No file can have the name {source}: it holds half of a surrogate pair.",
    gzip.BadGzipFile: "The file {source} is not a gzip archive.",
    OSError: "The file {source} cannot be read{why}.",
}


def _reason(error: Exception, source: str) -> str:
    damaged = "The gzip archive {source} is damaged or cut short."
    sentence = next((each for kind, each in _REASONS.items() if isinstance(error, kind)), damaged)
    stated = getattr(error, "strerror", None)
    return sentence.format(source=source, why="" if stated is None else f": {stated}")
