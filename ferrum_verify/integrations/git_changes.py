"""What a branch changes, asked of git: which files, and what they were before.

Patterns are git's own: ``plans/**/*.json``, from the top of the repository.
"""

from __future__ import annotations

import errno
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ferrum_verify.findings.errors import FerrumVerifyError
from ferrum_verify.integrations.bounded import MAXIMUM_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence


class GitError(FerrumVerifyError):
    """Git is not there, this is no repository, or it lacks a commit that was asked for."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that differs from the merge base.

    ``now`` and ``before`` are its paths from the top of the repository; None where it is gone,
    or was not there yet. A file that was renamed has both, and they differ.
    """

    now: str | None
    before: str | None


@dataclass(frozen=True, slots=True)
class Branch:
    """The work tree of a repository, and the commits that it is held against.

    ``base`` is what it will be merged into, and ``merge_base`` the commit that it started from.
    """

    top: Path
    base: str
    merge_base: str

    @property
    def short_base(self) -> str:
        """The merge base as people write it."""
        return self.merge_base[:10]

    @property
    def short_target(self) -> str:
        """What it will be merged into, as people write it."""
        return self.base[:10]

    def changed_files(self, patterns: Sequence[str]) -> list[ChangedFile]:
        """The tracked files of the work tree that differ, in the order of their paths."""
        if not patterns:
            return []
        listed = _git(
            self.top,
            "diff",
            "--name-status",
            "--find-renames",
            "-z",
            self.merge_base,
            "--",
            *_pathspecs(patterns),
        )
        fields = iter(listed.decode("utf-8", "surrogateescape").split("\0")[:-1])
        changed = []
        for status in fields:
            path = next(fields)
            match status[0]:
                case "A":
                    changed.append(ChangedFile(path, None))
                case "D":
                    changed.append(ChangedFile(None, path))
                case "R" | "C":
                    changed.append(ChangedFile(next(fields), path))
                case _:
                    changed.append(ChangedFile(path, path))
        return changed

    def files(self, patterns: Sequence[str]) -> list[str]:
        """The tracked files of the work tree, by their paths from the top."""
        if not patterns:
            return []
        listed = _git(self.top, "ls-files", "-z", "--", *_pathspecs(patterns))
        paths = listed.decode("utf-8", "surrogateescape").split("\0")[:-1]
        return [path for path in paths if (self.top / path).is_file()]

    def unmatched(self, patterns: Sequence[str]) -> list[str]:
        """The patterns that name no file of the work tree or merge base that git tracks."""
        tree = f"--with-tree={self.merge_base}"
        return [
            pattern
            for pattern in patterns
            if not _git(self.top, "ls-files", tree, "--", *_pathspecs([pattern]))
        ]

    def place(self, path: Path) -> str | None:
        """A path from the top of the repository; None where it leads elsewhere.

        Links of the work tree are not followed: a branch could point them anywhere.
        """
        absolute = Path(os.path.abspath(path))
        for folder in absolute.parents:
            if os.path.realpath(folder) == os.path.realpath(self.top):
                return absolute.relative_to(folder).as_posix()
        return None

    def content(self, commit: str, path: str) -> bytes:
        """What a file held at a commit. Raises OSError where it was none, or is too large."""
        # Git asks for one name a line.
        asked = f"{commit}:{path}\n" if "\n" not in path else "\n"
        arguments = (
            "cat-file",
            "--follow-symlinks",
            "--batch-check=%(objectname) %(objecttype) %(objectsize)",
        )
        said = _git(self.top, *arguments, given=os.fsencode(asked)).decode().split()
        if len(said) != 3 or said[1] != "blob":
            raise OSError(errno.ENOENT, "it is no file there")
        if int(said[2]) > MAXIMUM_BYTES:
            raise OSError(errno.EFBIG, f"it has more than {MAXIMUM_BYTES // 2**20} MiB")
        return _git(self.top, "cat-file", "blob", said[0])

    def before(self, path: str) -> bytes:
        """What a file held at the merge base."""
        return _git(self.top, "cat-file", "blob", f"{self.merge_base}:{path}")


def branch_at(folder: Path, location: str) -> Branch:
    """The branch that is checked out in ``folder``, since it left the commit ``base``.

    Raises ``GitError`` with a sentence where there is none.
    """
    top = _git(folder, "rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape")
    try:
        base = _git(folder, "rev-parse", "--verify", "--end-of-options", f"{location}^{{commit}}")
        found = _git(folder, "merge-base", "--end-of-options", location, "HEAD")
    except GitError:
        raise GitError(
            f"{location} and HEAD have no common commit here; check the repository out with its "
            "history (fetch-depth: 0), and name a branch or commit that is there."
        ) from None
    return Branch(Path(top.rstrip("\n")), base.decode().strip(), found.decode().strip())


def _pathspecs(patterns: Sequence[str]) -> list[str]:
    return [f":(top,glob){pattern}" for pattern in patterns]


def _git(folder: Path, *arguments: str, given: bytes = b"") -> bytes:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], input=given, capture_output=True, check=False
        )
    except FileNotFoundError:
        raise GitError("There is no git here.") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = said[-1].removeprefix("fatal: ") if said else f"status {done.returncode}"
        raise GitError(f"git {arguments[0]} failed: {reason.rstrip('.')}.")
    return done.stdout
