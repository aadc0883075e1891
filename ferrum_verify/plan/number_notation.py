"""Comparing fingerprints whatever way a float is spelled.

JSON does not fix one spelling of a float: the engine writes 1e-5 as ``1e-5`` or ``0.00001``
where Python writes ``1e-05``. A document that holds floats, such as an epsilon among a node's
attributes, therefore has one hash in each spelling, and a fingerprint holds if it is one of
them. Documents without floats, which is nearly all, are hashed once.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ferrum_verify.plan.canonical import fingerprint, ordered_fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator


def differing_fingerprint(stated: str, value: Any) -> str | None:
    """The canonical fingerprint of ``value`` if it is not ``stated``, else None."""
    computed = fingerprint(value)
    if computed == stated or stated in _in_engine_notation(value, sort_keys=True):
        return None
    return computed


def differing_ordered_fingerprint(stated: str, value: Any) -> str | None:
    """The same for the fingerprint in the value's own key order."""
    computed = ordered_fingerprint(value)
    if computed == stated or stated in _in_engine_notation(value, sort_keys=False):
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


def _in_engine_notation(value: Any, *, sort_keys: bool) -> Iterator[str]:
    if not _holds_float(value):
        return
    text = "".join(_pieces(value, sort_keys))
    yield sha256(text.encode()).hexdigest()


def _holds_float(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_holds_float(member) for member in value.values())
    if isinstance(value, list):
        return any(_holds_float(member) for member in value)
    return isinstance(value, float)


def _pieces(value: Any, sort_keys: bool) -> Iterator[str]:
    match value:
        case dict():
            separator = "{"
            for key in sorted(value) if sort_keys else value:
                yield f"{separator}{json.dumps(key, ensure_ascii=False)}:"
                yield from _pieces(value[key], sort_keys)
                separator = ","
            yield "}" if value else "{}"
        case list():
            separator = "["
            for member in value:
                yield separator
                yield from _pieces(member, sort_keys)
                separator = ","
            yield "]" if value else "[]"
        case float():
            yield engine_float(value)
        case _:
            yield json.dumps(value, ensure_ascii=False)
