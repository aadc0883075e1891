"""Hostile documents: texts of the corpus, damaged as bytes or as JSON, and random ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

    from tests.fuzz.corpus import Corpus

LEAVES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 63, 64, 255, 0.0, 0.5, 1.0, -0.0, 1e308, 5e-324),
    *(2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63, 2**64 - 1, 2**64, 2**128, 10**50, -(10**50)),
    *("", "0", "00", "a b", "value", "f" * 64, "F" * 64, "x" * 161, "x" * 5000, "\0", "\ud800"),
    *("\x1b[2J\x1b[31m", "\n::error::taken\n", "\u202egnp.exe", "\u2066x\u2069", "\u200b\u200f"),
    *("<script>alert(1)</script>", "</script><!--", "]]>", "| a | b |\n# x", "@everyone `", "%0A"),
    *([], {}, [[]], [{}], {"": {}}, [None], {"fixed": {"bytes": 2**64}}, ["a", "a"]),
)
"""What is put into places where something else belongs."""

_NAMES = (
    "nodes",
    "memory",
    "plan",
    "payload",
    "program",
    "catalog",
    "policy",
    "providers",
    "",
    "a",
)
_LARGEST_STEPS = 400


def mutated(random: Random, corpus: Corpus) -> bytes:
    """One document: one in twenty is random, one in four is damaged as bytes, the rest as JSON."""
    kind = random.random()
    if kind < 0.04:
        return _dumped(_any(random, 4))
    if kind < 0.05:
        return random.randbytes(random.randrange(300))
    text = corpus.draw(random)
    if kind < 0.30:
        return _damaged(random, text)
    value = json.loads(text)
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        value = _edited(random, value)
    return _dumped(value)


def _dumped(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _damaged(random: Random, text: bytes) -> bytes:
    data = bytearray(text)
    for _ in range(random.choice((1, 1, 2, 5))):
        if not data:
            break
        start = random.randrange(len(data))
        end = min(len(data), start + random.choice((1, 2, 8, 64, 512)))
        match random.randrange(6):
            case 0:
                data[start] ^= 1 << random.randrange(8)
            case 1:
                del data[start:]
            case 2:
                del data[start:end]
            case 3:
                data[start:start] = data[start:end] * random.choice((1, 1, 20))
            case 4:
                data[start:end] = random.randbytes(end - start)
            case _:
                data[start:start] = random.choice(_INSERTED)
    return bytes(data)


_INSERTED = (
    *(b"[" * 600, b'{"a":' * 300, b'"', b"\\", b"9" * 5000, b"1e999", b"NaN", b"-Infinity"),
    *(b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\0", b"\x1b[2J", b"\n", b"}{", b"\\ud800"),
    *("\u202e".encode(), "\u2028".encode(), b"0", b"-", b".5", b"//", b",,", b"\x1f\x8b\x08"),
)


def _walked(random: Random, value: Any) -> tuple[Any, Any]:
    """A member that is reached at random from the top, as (holder, key)."""
    holder, key = value, None
    for _ in range(_LARGEST_STEPS):
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        key = random.choice(keys)
        inner = holder[key]
        if not isinstance(inner, dict | list) or not inner or random.random() < 0.07:
            break
        holder = inner
    return holder, key


def _edited(random: Random, value: Any) -> Any:
    if not isinstance(value, dict | list) or not value:
        return leaf(random)
    holder, key = _walked(random, value)
    match random.randrange(8):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, list):
            holder.insert(random.randrange(len(holder) + 1), holder[key])
        case 1 | 2:
            other, name = _walked(random, value)
            # By way of text, as a value that holds itself is no JSON.
            holder[key], other[name] = _copied(other[name]), _copied(holder[key])
        case 3 if type(holder[key]) is int:
            holder[key] += random.choice((-1, 1, 7, -(2**40), 2**33))
        case 4 if isinstance(holder, dict):
            holder[random.choice((*_NAMES, "\u202e", "\x1b[2J", "~/%"))] = holder.pop(key)
        case 5 if isinstance(holder, list):
            random.shuffle(holder)
        case 6:
            holder[key] = _any(random, 3)
        case _:
            holder[key] = leaf(random)
    return value


def leaf(random: Random) -> Any:
    """Something that seldom belongs where it is put."""
    return _copied(random.choice(LEAVES))


def _copied(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _any(random: Random, depth: int) -> Any:
    kind = random.random()
    if depth == 0 or kind < 0.4:
        return leaf(random)
    if kind < 0.65:
        return [_any(random, depth - 1) for _ in range(random.randrange(4))]
    return {random.choice(_NAMES): _any(random, depth - 1) for _ in range(random.randrange(5))}
