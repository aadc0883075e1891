"""The folder of a cache: nothing is believed but what holders of the key wrote whole."""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING

import pytest

from ferrum_verify.cache.error import CacheError
from ferrum_verify.cache.folder import MOST_BYTES, CacheFolder, clear, existing, told_of
from ferrum_verify.cache.key import VARIABLE, cache_key

if TYPE_CHECKING:
    from pathlib import Path

KEY = "ab" * 32
OTHER = "ac" * 32


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CacheFolder:
    monkeypatch.setenv(VARIABLE, "a key for the tests")
    return CacheFolder.open(tmp_path / "cache")


def only(folder: CacheFolder) -> Path:
    (entry,) = folder.entries("formulas")
    return entry


def test_what_is_written_is_read_again(folder: CacheFolder) -> None:
    assert folder.read("formulas", KEY) is None
    folder.write("formulas", KEY, {"answer": "refuted", "least": [2**70, 1]})
    assert folder.read("formulas", KEY) == {"answer": "refuted", "least": [2**70, 1]}
    assert folder.read("reports", KEY) is None
    assert CacheFolder.open(folder.path).read("formulas", KEY) is not None
    assert not folder.faults
    assert (folder.path / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172")
    assert (folder.path / ".gitignore").read_text() == "*\n"


def test_every_bit_of_an_entry_counts(folder: CacheFolder) -> None:
    folder.write("formulas", KEY, "proved")
    entry = only(folder)
    whole = entry.read_bytes()
    for place in range(len(whole)):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << (place % 8)
        entry.write_bytes(flipped)
        assert folder.read("formulas", KEY) is None, place
    for length in range(len(whole)):
        entry.write_bytes(whole[:length])
        assert folder.read("formulas", KEY) is None
    assert told_of(str(folder.path), folder.faults) == [
        f"Ignored in the cache {folder.path}: {2 * len(whole):,} entries damaged or foreign."
    ]


def test_an_entry_of_another_version_or_key_is_ignored(
    folder: CacheFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        older.setattr("ferrum_verify.cache.folder.__version__", "0.0.9")
        folder.write("formulas", KEY, "proved")
    assert folder.read("formulas", KEY) is None
    assert folder.faults == {"of another version": 1}
    monkeypatch.setenv(VARIABLE, "the key of somebody else")
    stranger = CacheFolder.open(folder.path)
    stranger.write("formulas", KEY, "proved")
    assert stranger.read("formulas", KEY) == "proved"
    assert folder.read("formulas", KEY) is None
    assert folder.faults == {"of another version": 1, "damaged or foreign": 1}


def test_an_entry_is_not_believed_under_another_name(folder: CacheFolder) -> None:
    folder.write("formulas", KEY, "proved")
    entry = only(folder)
    moved = folder.path / "formulas" / OTHER[:2] / f"{OTHER}.json"
    moved.parent.mkdir(exist_ok=True)
    moved.write_bytes(entry.read_bytes())
    assert folder.read("formulas", OTHER) is None
    (folder.path / "reports" / KEY[:2]).mkdir(parents=True)
    (folder.path / "reports" / KEY[:2] / entry.name).write_bytes(entry.read_bytes())
    assert folder.read("reports", KEY) is None
    assert folder.read("formulas", KEY) == "proved"


@pytest.mark.parametrize("kind", ["link", "pipe", "device", "folder", "large"])
def test_what_is_no_small_file_is_not_read(folder: CacheFolder, tmp_path: Path, kind: str) -> None:
    folder.write("formulas", KEY, "proved")
    entry = only(folder)
    text = entry.read_bytes()
    entry.unlink()
    if kind == "link":
        (tmp_path / "elsewhere").write_bytes(text)
        entry.symlink_to(tmp_path / "elsewhere")
    elif kind == "pipe":
        os.mkfifo(entry)
    elif kind == "device":
        entry.symlink_to("/dev/zero")
    elif kind == "folder":
        entry.mkdir()
    else:
        with entry.open("wb") as stream:
            stream.write(text)
            stream.truncate(2**40)
    assert folder.read("formulas", KEY) is None
    assert folder.faults["damaged or foreign"] == 1


def test_what_is_too_large_is_not_written(folder: CacheFolder) -> None:
    folder.write("formulas", KEY, "x" * MOST_BYTES["formulas"])
    assert not [*folder.entries("formulas")]


def test_a_folder_that_can_be_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "a key for the tests")
    (tmp_path / "file").write_text("")
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for name, reason in (
        ("file", "File exists"),
        ("link", "it is a symbolic link"),
        ("lost/cache", "No such file"),
        (".", "it holds something else"),
    ):
        with pytest.raises(CacheError, match=reason):
            CacheFolder.open(tmp_path / name)
    with pytest.raises(CacheError, match="there is none"):
        existing(tmp_path / "real")


def test_nothing_is_written_through_a_link(folder: CacheFolder, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (folder.path / "formulas").symlink_to(tmp_path / "elsewhere")
    folder.write("formulas", KEY, "proved")
    assert not [*(tmp_path / "elsewhere").iterdir()]
    assert not [*folder.entries("formulas")]


def test_clearing_removes_entries_and_nothing_else(folder: CacheFolder) -> None:
    folder.write("formulas", KEY, "proved")
    folder.write("reports", OTHER, {})
    kept = folder.path / "formulas" / KEY[:2] / "notes.txt"
    kept.write_text("mine")
    assert clear(folder.path) == 2
    assert folder.read("formulas", KEY) is None
    assert kept.read_text() == "mine"


def test_many_writers_of_one_entry(folder: CacheFolder) -> None:
    values = [{"least": [number] * 500} for number in range(8)]
    seen = []

    def write(value: object) -> None:
        for _ in range(50):
            folder.write("formulas", KEY, value)

    threads = [threading.Thread(target=write, args=(value,)) for value in values]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        seen.append(folder.read("formulas", KEY))
    assert all(value is None or value in values for value in seen)
    assert not folder.faults
    assert [*folder.entries("formulas")] == [only(folder)]


def test_a_key_is_made_once_and_is_nobody_elses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    key = cache_key()
    assert cache_key() == key
    path = tmp_path / "home" / "ferrum-verify" / "cache-key"
    assert len(json.dumps(key.decode())) == 66
    assert path.stat().st_mode & 0o077 == 0
    path.write_text("short")
    with pytest.raises(CacheError, match="holds no key"):
        cache_key()
    monkeypatch.setenv(VARIABLE, "short")
    with pytest.raises(CacheError, match="fewer than 16 characters"):
        cache_key()


def test_a_folder_of_entries_that_is_a_link_is_not_read(
    folder: CacheFolder, tmp_path: Path
) -> None:
    folder.write("reports", "ab" * 32, 1)
    (folder.path / "reports").rename(tmp_path / "elsewhere")
    (folder.path / "reports").symlink_to(tmp_path / "elsewhere")
    assert folder.read("reports", "ab" * 32) is None


def test_what_is_no_entry_keeps_nobody_from_clearing(folder: CacheFolder) -> None:
    folder.write("formulas", "ab" * 32, 1)
    place = only(folder).parent
    (folder.path / "formulas" / "zz").write_text("a file")
    (place / "abdangling").symlink_to("nowhere")
    (place / "abfolder").mkdir()
    assert clear(folder.path) == 1
