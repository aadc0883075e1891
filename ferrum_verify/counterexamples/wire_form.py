"""The form of a counterexample's JSON: which members it has, and that each is what it says.

What is checked afterwards compares numbers, and to Python 1, 1.0 and True are the same. So every
number must be a whole one from the start, every name a text, and nothing may stand beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ferrum_verify.counterexamples.sizes import MAXIMUM, is_shape

Form = Callable[[Any], bool]


def is_well_formed(wire: Any, *, of_buffers: bool = False) -> bool:
    """Whether the JSON has the members of its kind and no others, each of the right type.

    Those of a buffer plan have other ones than those of the engine's documents.
    """
    return any(form(wire) for form in (_KINDS_OF_BUFFERS if of_buffers else _KINDS))


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_integer(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_count(value: Any) -> bool:
    return _is_integer(value) and value <= MAXIMUM


def _one_of(*texts: str) -> Form:
    return lambda value: type(value) is str and value in texts


def _object(required: Mapping[str, Form], optional: Mapping[str, Form] | None = None) -> Form:
    known = {**required, **(optional or {})}

    def form(value: Any) -> bool:
        return (
            type(value) is dict
            and required.keys() <= value.keys() <= known.keys()
            and all(known[name](member) for name, member in value.items())
        )

    return form


def _any_of(*forms: Form) -> Form:
    return lambda value: any(form(value) for form in forms)


def _is_run(value: Any) -> bool:
    return type(value) is list and all(_node(each) for each in value)


def _is_shape(value: Any) -> bool:
    return _counts(value) and is_shape(value)


def _is_named_shape(value: Any) -> bool:
    """Whether each name has a value: what names there are, the plan says."""
    return type(value) is dict and all(
        _is_text(name) and _is_count(each) for name, each in value.items()
    )


def _is_arms(value: Any) -> bool:
    return type(value) is dict and all(map(_is_text, (*value, *value.values())))


_step = {"step": _is_count}
_node = _object(
    {"id": _is_text, "start": _is_count, "end": _is_count}, {"stream": _is_text, **_step}
)
_counts = _object(dict.fromkeys(("sequences", "tokens", "pages"), _is_count))
_use = _object({"resource": _is_text, "node": _is_text}, _step)
_extent = _object(
    {"resource": _is_text, "start": _is_integer, "end": _is_integer}, {"value": _is_text}
)
_span = _object({"minimum_tokens": _is_count, "alignment": _is_count})
_sides = {"prefix": _span, "suffix": _span}
_most = {"maximum_tokens": _is_count}
_provider = {"operation": _is_text, "provider": _is_text}

_party = _any_of(
    _object({"by": _one_of("every-provider", "base", "head")}, _sides),
    _object({"by": _one_of("provider", "base", "head"), **_provider}, _sides),
    _object({"by": _one_of("provider"), "provider": _is_text, "node": _is_text}, _sides),
    _object({"by": _one_of("merge")}, _sides),
    _object({"by": _one_of("merge"), **_most}),
    _object({"by": _one_of("state"), "state": _is_text, **_most}),
    _object({"by": _one_of("step"), **_most}),
)
_parties = {
    **dict.fromkeys(("permitted", "refused"), _party),
    **dict.fromkeys(("permitted_by", "refused_by"), _is_text),
}
_bytes = _object({"start": _is_integer, "end": _is_integer})
_at_shape = {"kind": _one_of("shape"), "shape": _is_shape}

_KINDS = (
    _object(
        {"kind": _one_of("schedule"), "nodes": _is_run, "left": _use, "right": _use}
        | {"at": _is_count}
    ),
    _object(
        {
            "kind": _one_of("access"),
            "nodes": _is_run,
            "resource": _is_text,
            "bytes": _bytes,
            "writer": _object({"node": _is_text}, _step),
            "other": _object({"node": _is_text, "mode": _one_of("read", "write")}, _step),
            "at": _is_count,
        },
        {"value": _is_text},
    ),
    _object(
        {"kind": _one_of("dependency"), "nodes": _is_run, "node": _is_text, "dependency": _is_text},
        {"dependency_step": _is_count, **_step},
    ),
    _object(
        {"kind": _one_of("overlap"), "shape": _is_shape, "left": _extent, "right": _extent}
        | {"byte": _is_integer}
    ),
    _object({**_at_shape, "bytes": _is_integer, "limit": _is_integer, "limit_from": _is_text}),
    _object({**_at_shape, "overflow": lambda value: value is True}),
    _object({"kind": _one_of("span"), "tokens": _is_count, **_parties}),
    _object(
        {"kind": _one_of("span"), **_parties}
        | dict.fromkeys(("processed", "boundary", "prompt"), _is_count)
    ),
)

_named_shape = {"shape": _is_named_shape}
_of_buffers = {**_named_shape, "arms": _is_arms, "bytes": _bytes}

_KINDS_OF_BUFFERS = (
    _object(
        {"kind": _one_of("schedule"), "nodes": _is_run, "left": _use, "right": _use}
        | {"at": _is_count, **_of_buffers}
    ),
    _object(
        {
            "kind": _one_of("access"),
            "nodes": _is_run,
            "resource": _is_text,
            "writer": _object({"node": _is_text}),
            "other": _object({"node": _is_text, "mode": _one_of("read", "write")}),
            "at": _is_count,
            **_of_buffers,
        }
    ),
    _object(
        {"kind": _one_of("overlap"), "left": _extent, "right": _extent, "byte": _is_integer}
        | _named_shape
    ),
    _object(
        {"kind": _one_of("shape"), "bytes": _is_integer, "limit": _is_integer}
        | {"limit_from": _is_text, **_named_shape}
    ),
    _object({"kind": _one_of("shape"), "overflow": lambda value: value is True, **_named_shape}),
)
