"""The key of a cache: whoever has it may write entries that are believed.

A cache lies in a work tree by default, and a work tree comes from whoever wrote the branch: an
entry that says "verified" must not be believed for being there. So each is authenticated by a
key that is no part of the tree.
"""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from pathlib import Path

from ferrum_verify.cache.error import CacheError

VARIABLE = "FERRUM_VERIFY_CACHE_KEY"
"""Holds the key of a cache that several people or machines share."""

LEAST_CHARACTERS = 16
_LONGEST_FILE = 4096


def cache_key() -> bytes:
    """The key of the environment, else that of the user, which is made when it is first needed.

    Raises CacheError in one sentence where there is none to be had.
    """
    given = os.environ.get(VARIABLE)
    if given is not None:
        if len(given) < LEAST_CHARACTERS:
            raise CacheError(f"{VARIABLE} has fewer than {LEAST_CHARACTERS} characters")
        return os.fsencode(given)
    try:
        path = _file()
        return _read(path) or _made(path)
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CacheError(f"no key can be kept for it ({reason}); set {VARIABLE}") from None


def _file() -> Path:
    folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(folder) / "ferrum-verify" / "cache-key"


def _read(path: Path) -> bytes | None:
    try:
        # A pipe keeps nobody waiting.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as stream:
            regular = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
            key = stream.read(_LONGEST_FILE) if regular else b""
    except FileNotFoundError:
        return None
    if len(key) < LEAST_CHARACTERS:
        raise CacheError(f"{path} holds no key; remove it, and another is made")
    return key


def _made(path: Path) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=path.parent)  # for its owner's eyes alone
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(secrets.token_hex(32).encode())
        # Of several processes at once the first one's key counts, and is whole when it is there.
        os.link(name, path)
    except FileExistsError:
        pass
    finally:
        Path(name).unlink()
    return _read(path) or b""
