"""Holding a document to its model, in bounded time and memory however large and wrong it is.

Pydantic collects every error before it reports any, at 400 bytes each: the five million empty
nodes that 16 MiB can hold would take 6 GiB, where an audit may take 1. A large document is
therefore first held to a form of its model that stops at the first faulty member of each list,
which costs a sound document nothing; only where that fails are faults collected, row by row and
up to a limit.
"""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from pydantic import ValidationError
from pydantic_core import SchemaValidator

from ferrum_verify.documents.primitives import WireModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic_core import ErrorDetails

_Model = TypeVar("_Model", bound=WireModel)

MAXIMUM_FAULTS = 20_000
"""Faults of one document that are listed one by one; to list millions would exhaust the host."""

LARGE = 200_000
"""Values in a document from which on its faults are not collected all at once."""

_PLAN_ROWS = (
    ("nodes",),
    ("memory", "static_allocations"),
    ("memory", "dynamic_descriptors"),
    ("memory", "dynamic_pools"),
)
_ROWS: dict[str, tuple[tuple[str, ...], ...]] = {
    "Bundle": tuple(("plan", "payload", *path) for path in _PLAN_ROWS),
    "ExecutionPlan": tuple(("payload", *path) for path in _PLAN_ROWS),
    "Fragment": _PLAN_ROWS,
    "MemoryPlan": tuple(path[1:] for path in _PLAN_ROWS[1:]),
    "ResolvedModelPlan": tuple(
        ("parts", "execution_plan", "payload", *path) for path in _PLAN_ROWS
    ),
    "CheckpointBundle": (
        ("plan", "payload", "nodes"),
        ("plan", "payload", "memory", "dynamic_descriptors"),
    ),
    "BufferPlan": (("buffers",), ("nodes",), ("notes",)),
    "PlanningProblem": (("nodes",), ("static_allocations",), ("dynamic_descriptors",)),
}
"""The long lists of each kind of document, whose rows are judged one by one."""


class TooManyFaultsError(Exception):
    """More faults than are listed."""


def validated(model: type[_Model], value: Any) -> tuple[_Model | None, list[ErrorDetails]]:
    """The document as its model, or what pydantic says is wrong with it.

    Raises ``TooManyFaultsError`` past ``MAXIMUM_FAULTS``. In a part that is ``LARGE`` by itself
    and no row, only the first faulty member of each list is told.
    """
    large = is_large(value)
    try:
        return _read(model, value, large=large), []
    except ValidationError as error:
        if not large:
            return None, _listed(error)
    faults: list[ErrorDetails] = []
    for detail in _row_by_row(model, value):
        faults.append(detail)
        if len(faults) > MAXIMUM_FAULTS:
            raise TooManyFaultsError
    return None, faults


def sound(model: type[_Model], value: Any) -> _Model | None:
    """The value as its model, if there is nothing wrong with it."""
    try:
        return _read(model, value, large=is_large(value))
    except ValidationError:
        return None


def is_large(value: Any) -> bool:
    """Whether a JSON value holds so many values that it could hold too many faults."""
    total, level = 1, [value]
    while level:
        lists = [each for each in level if type(each) is list]
        objects = [each for each in level if type(each) is dict]
        total += sum(map(len, lists)) + sum(map(len, objects))
        if total > LARGE:
            return True
        level = [*chain.from_iterable(lists), *chain.from_iterable(map(dict.values, objects))]
    return False


def _row_by_row(model: type[WireModel], value: Any) -> Iterator[ErrorDetails]:
    paths = [path for path in _ROWS.get(model.__name__, ()) if _at(value, path)]
    frame = value
    for path in paths:
        frame = _emptied(frame, path)
    yield from _faults(model, frame)
    for path in paths:
        row = _row_model(model, path)
        for index, member in enumerate(_at(value, path)):
            for detail in _faults(row, member):
                detail["loc"] = (*path, index, *detail["loc"])
                yield detail


def _row_model(model: type[WireModel], path: tuple[str, ...]) -> type[WireModel]:
    for step in path[:-1]:
        held: Any = model.model_fields[step].annotation
        model = held
    row: type[WireModel] = get_args(model.model_fields[path[-1]].annotation)[0]
    return row


def _read(model: type[_Model], value: Any, *, large: bool) -> _Model:
    if not large:
        return model.model_validate(value)
    read: _Model = _until_first_fault(model).validate_python(value)
    return read


def _faults(model: type[WireModel], value: Any) -> list[ErrorDetails]:
    try:
        _read(model, value, large=is_large(value))
    except ValidationError as error:
        return _listed(error)
    return []


def _listed(error: ValidationError) -> list[ErrorDetails]:
    if error.error_count() > MAXIMUM_FAULTS:
        raise TooManyFaultsError
    return error.errors(include_url=False, include_input=False)


def _at(value: Any, path: tuple[str, ...]) -> list[Any]:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, list) else []


def _emptied(value: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """A copy with an empty list at the path; everything else is shared."""
    first, *rest = path
    return value | {first: _emptied(value[first], tuple(rest)) if rest else []}


@cache
def _until_first_fault(model: type[WireModel]) -> SchemaValidator:
    """The model's own validator, save that each list ends at its first faulty member."""
    model.model_rebuild()
    schema: Any = _stopping(model.__pydantic_core_schema__)
    try:
        # Otherwise the validators that the models have already would be taken as they are.
        return SchemaValidator(schema, _use_prebuilt=False)
    except TypeError:
        return SchemaValidator(schema)


def _stopping(schema: Any) -> Any:
    if isinstance(schema, dict):
        copy = {key: _stopping(member) for key, member in schema.items()}
        return copy | {"fail_fast": True} if copy.get("type") in ("tuple", "list") else copy
    if isinstance(schema, (list, tuple)):
        return type(schema)(map(_stopping, schema))
    return schema
