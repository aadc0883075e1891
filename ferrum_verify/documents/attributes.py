"""The attributes of a node: names, and values that say their own type.

They are kept as plain JSON, so that one that is no attribute hides nothing else of its node.
"""

import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from ferrum_verify.documents.primitives import I64, I64_MAX, U64, U64_MAX
from ferrum_verify.documents.variants import WHOLE


@WHOLE
class Rational(TypedDict):
    """A fraction; the canonical form is the reduced one, of 0 it is 0/1."""

    numerator: I64
    denominator: Annotated[U64, Field(ge=1)]


_NAME = re.compile("[A-Za-z0-9._:/-]{1,160}")


def attribute_name_is_legal(name: str) -> bool:
    """Whether an attribute may have this name: the alphabet and length of all names."""
    return _NAME.fullmatch(name) is not None


def attribute_is_typed(value: Any) -> bool:
    """Whether a value is an attribute: an object with one key, its type, and a value of that."""
    if not isinstance(value, dict) or len(value) != 1:
        return False
    ((kind, held),) = value.items()
    is_value = _KINDS.get(kind)
    return is_value is not None and is_value(held)


def _is_i64(value: Any) -> bool:
    return type(value) is int and -I64_MAX - 1 <= value <= I64_MAX


def _is_u64(value: Any) -> bool:
    return type(value) is int and 0 <= value <= U64_MAX


def _is_rational(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"numerator", "denominator"}
        and _is_i64(value["numerator"])
        and _is_u64(value["denominator"])
        and value["denominator"] > 0
    )


_KINDS: dict[str, Callable[[Any], bool]] = {
    "bool": lambda held: isinstance(held, bool),
    "integer": _is_i64,
    "unsigned": _is_u64,
    "rational": _is_rational,
    "text": lambda held: isinstance(held, str),
    "integers": lambda held: isinstance(held, list) and all(map(_is_i64, held)),
}
