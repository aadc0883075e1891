"""Reading the small files that a project keeps beside its plans, and no more of them than that."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MAXIMUM_BYTES = 64 * 2**20
"""Bytes of a file of settings or of a baseline: far more than any real one has."""


def read_bounded(path: Path) -> bytes:
    """The bytes of a regular file.

    Raises OSError for whatever is none (a device or a pipe may never end) or is too large.
    """
    # Opening a pipe would wait for somebody to write to it.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        content = stream.read(MAXIMUM_BYTES + 1)
    if len(content) > MAXIMUM_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {MAXIMUM_BYTES // 2**20} MiB")
    return content
