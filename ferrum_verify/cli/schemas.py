"""JSON Schema of every kind of document, for editors and for other validators.

A schema states the form alone. What it cannot say (duplicate keys, 48.0 being no integer,
the relations between numbers) is what an audit is for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, get_args

from ferrum_verify.reading.subject import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

DIALECT = "https://json-schema.org/draft/2020-12/schema"
REPORT = "report"


def schema_names() -> Sequence[str]:
    """The names that ``schema_of`` knows: each kind of document, and the report."""
    return (*get_args(Kind), REPORT)


def schema_of(name: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a kind of document or of the report.

    Raises ``KeyError`` for a name that is not in ``schema_names()``.
    """
    if name == REPORT:
        from ferrum_verify.report.schema import report_schema  # noqa: PLC0415

        return {"$schema": DIALECT, **report_schema()}
    from ferrum_verify.reading.kinds import FORMS, model_of  # noqa: PLC0415  (loads slowly)

    model = model_of(FORMS[cast("Kind", name)])
    return {"$schema": DIALECT, **model.model_json_schema(), "title": name}
