"""Comparing fingerprints whatever way a float is spelled.

JSON does not fix one spelling of a float: the engine writes 1e-5 as ``1e-5`` or ``0.00001``
where Python writes ``1e-05``. A document that holds floats, such as an epsilon among a node's
attributes, therefore has one hash in each spelling, and a fingerprint holds if it is one of
them. Documents without floats, which is nearly all, are hashed once.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

from ferrum_verify.plan.canonical import canonical_bytes, ordered_bytes


def differing_fingerprint(stated: str, value: Any) -> str | None:
    """The canonical fingerprint of ``value`` if it is not ``stated``, else None."""
    return _differing(stated, canonical_bytes(value))


def differing_ordered_fingerprint(stated: str, value: Any) -> str | None:
    """The same for the fingerprint in the value's own key order."""
    return _differing(stated, ordered_bytes(value))


def _differing(stated: str, text: bytes) -> str | None:
    computed = sha256(text).hexdigest()
    if computed == stated or _in_engine_notation(text.decode()) == stated:
        return None
    return computed


def engine_float(number: float) -> str:
    """A float in the shortest notation of the engine's JSON writer.

    Plain digits while the decimal exponent is within -5 … 15, else digits with an exponent
    that has neither a plus sign nor leading zeros.
    """
    sign, digits, exponent = _decimal(number)
    point = len(digits) + exponent
    if exponent >= 0 and point <= 16:
        text = f"{digits}{'0' * exponent}.0"
    elif 0 < point <= 16:
        text = f"{digits[:point]}.{digits[point:]}"
    elif -5 < point <= 0:
        text = f"0.{'0' * -point}{digits}"
    else:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        text = f"{digits[0]}{fraction}e{point - 1}"
    return sign + text


def _decimal(number: float) -> tuple[str, str, int]:
    mantissa, _, power = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    sign = "-" if str(number).startswith("-") else ""
    stripped = (whole + fraction).rstrip("0")
    exponent = int(power or 0) - len(fraction) + len(whole + fraction) - len(stripped)
    digits = stripped.lstrip("0")
    return (sign, digits, exponent) if digits else (sign, "0", 0)


def _in_engine_notation(text: str) -> str:
    """The fingerprint of JSON text with its floats in the engine's notation."""
    return sha256(_TEXT_OR_FLOAT.sub(_respelled, text).encode()).hexdigest()


_TEXT = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_FLOAT = r"-?\d+(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+)"
_TEXT_OR_FLOAT = re.compile(f"{_TEXT}|{_FLOAT}")


def _respelled(found: re.Match[str]) -> str:
    return found[0] if found[0][0] == '"' else engine_float(float(found[0]))
