"""``schema``: the JSON Schema of every kind of document, for editors and other validators.

A schema states the form alone. What it cannot say (duplicate keys, 48.0 being no integer,
the relations between numbers) is what an audit is for.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast, get_args

import click

from ferrum_verify.cli.output import OUTPUT_OPTION, emit
from ferrum_verify.reading.document import Kind
from ferrum_verify.reading.kinds import FORMS, model_of
from ferrum_verify.report.schema import report_schema

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

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
        return {"$schema": DIALECT, **report_schema()}
    model = model_of(FORMS[cast("Kind", name)])
    return {"$schema": DIALECT, **model.model_json_schema(), "title": name}


@click.command
@click.argument("name", type=click.Choice(schema_names()))
@OUTPUT_OPTION
def schema(name: str, output: Path | None) -> int:
    """Print the JSON Schema of a kind of document, or of the report."""
    emit(json.dumps(schema_of(name), indent=2) + "\n", output)
    return 0
