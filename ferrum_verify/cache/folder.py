"""The folder of a cache: entries that are written whole, and believed only if they are ours.

Files of our own, and no library: an entry may come from whoever may write to the folder, and
what reads one must run nothing (``pickle`` would) and lock nothing (SQLite would, over a network).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import stat
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from ferrum_verify.cache.error import CacheError
from ferrum_verify.cache.key import cache_key
from ferrum_verify.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Kind = Literal["formulas", "reports"]
Fault = Literal["damaged or foreign", "of another version"]

DEFAULT_FOLDER = Path(".ferrum-verify-cache")
SCHEMA = "ferrum-verify/cache/v1"
MOST_BYTES: dict[Kind, int] = {"formulas": 2**16, "reports": 2**26}
"""Bytes that are read of one entry: of more none is ours."""

_TAG = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This file marks a folder of ferrum-verify as a cache, which backups may leave out.\n"
)
_BEING_WRITTEN = ".t"
"""How names of files begin that are not yet whole."""

_OURS = {"CACHEDIR.TAG": _TAG, ".gitignore": "*\n"}


@dataclass(slots=True)
class CacheFolder:
    """Entries by kind and key, a hash in hexadecimal digits; ``faults`` counts what was ignored.

    What cannot be written is not remembered: a full disk costs time, and no answer.
    """

    path: Path
    key: bytes = field(repr=False)
    faults: Counter[Fault] = field(default_factory=Counter)

    @classmethod
    def open(cls, path: Path) -> CacheFolder:
        """The folder, made if it is not there; raises CacheError where it can be none."""
        key = cache_key()
        try:
            path.mkdir(exist_ok=True)
            if path.is_symlink():
                raise CacheError("it is a symbolic link")
            # Another process may be making it.
            others = any(not each.name.startswith(_BEING_WRITTEN) for each in path.iterdir())
            if others and not _is_ours(path):
                raise CacheError("it holds something else")
            for name, text in _OURS.items():
                if not (path / name).exists():
                    _write_whole(path / name, text.encode())
        except OSError as error:
            raise CacheError(error.strerror or str(error)) from None
        return cls(path, key)

    def read(self, kind: Kind, key: str) -> Any:
        """What was written under the key; None where nothing was, or nothing to be believed."""
        place = self._place(kind, key)
        if place.parent.is_symlink() or place.parent.parent.is_symlink():
            return None
        try:
            text = _read_bounded(place, MOST_BYTES[kind])
        except FileNotFoundError:
            return None
        except OSError:
            text = b""
        code, _, body = text.partition(b"\n")
        if not hmac.compare_digest(code, self._code(body)):
            self.faults["damaged or foreign"] += 1
            return None
        entry = json.loads(body)
        if (entry["schema"], entry["version"]) != (SCHEMA, __version__):
            self.faults["of another version"] += 1
            return None
        if (entry["kind"], entry["key"]) != (kind, key):
            self.faults["damaged or foreign"] += 1  # an entry of ours under another's name
            return None
        return entry["value"]

    def write(self, kind: Kind, key: str, value: Any) -> None:
        """Remember a JSON value, in place of what may be there."""
        entry = {"schema": SCHEMA, "version": __version__, "kind": kind, "key": key}
        body = json.dumps(entry | {"value": value}, separators=(",", ":")).encode()
        text = self._code(body) + b"\n" + body
        if len(text) > MOST_BYTES[kind]:
            return
        place = self._place(kind, key)
        try:
            if place.parent.is_symlink() or place.parent.parent.is_symlink():
                return
            place.parent.mkdir(parents=True, exist_ok=True)
            _write_whole(place, text)
        except OSError:
            return

    def entries(self, kind: Kind) -> Iterator[Path]:
        """The files of all entries of a kind, and of entries that were being written."""
        folder = self.path / kind
        if folder.is_symlink():
            return
        for place in folder.glob("??"):
            if place.is_dir() and not place.is_symlink():
                yield from (
                    each
                    for each in place.iterdir()
                    if each.name[:2] in (place.name, _BEING_WRITTEN)
                    and each.is_file()
                    and not each.is_symlink()
                )

    def _place(self, kind: Kind, key: str) -> Path:
        return self.path / kind / key[:2] / f"{key}.json"

    def _code(self, body: bytes) -> bytes:
        return hmac.new(self.key, body, hashlib.sha256).hexdigest().encode()


def told_of(path: str, faults: Mapping[Fault, int]) -> list[str]:
    """What people are told of entries that were ignored; ``path`` as it may be printed."""
    return [
        f"Ignored in the cache {path}: {count:,} {'entry' if count == 1 else 'entries'} {fault}."
        for fault, count in sorted(faults.items())
    ]


def clear(path: Path) -> int:
    """Remove every entry of the folder, and nothing else; how many there were.

    Raises CacheError where the folder is no cache, or an entry cannot be removed.
    """
    folder = existing(path)
    count = 0
    try:
        for kind in get_args(Kind):
            for entry in [*folder.entries(kind)]:
                entry.unlink(missing_ok=True)
                count += not entry.name.startswith(_BEING_WRITTEN)
    except OSError as error:
        raise CacheError(error.strerror or str(error)) from None
    return count


def existing(path: Path) -> CacheFolder:
    """The folder of a cache that is there; raises CacheError where there is none."""
    if path.is_symlink() or not _is_ours(path):
        raise CacheError("there is none")
    return CacheFolder(path, b"")


def _is_ours(path: Path) -> bool:
    try:
        return _read_bounded(path / "CACHEDIR.TAG", len(_TAG)) == _TAG.encode()
    except OSError:
        return False


def _read_bounded(path: Path, most: int) -> bytes:
    """The bytes of a regular file, or none of one that has more than ``most``."""
    # Neither a link out of the folder is followed, nor does a pipe keep anybody waiting.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            return b""
        text = stream.read(most + 1)
    return text if len(text) <= most else b""


def _write_whole(path: Path, text: bytes) -> None:
    """Write a file that no reader sees half of, whoever else writes it."""
    handle, name = tempfile.mkstemp(prefix=_BEING_WRITTEN, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
