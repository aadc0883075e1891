"""``python -m models``: print a family's planning problem, plan or bundle as JSON."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import click

from ferrum_verify.cli.output import checked_target, emit
from ferrum_verify.plan.canonical import ordered_bytes

from . import (
    bundle,
    decoder,
    families,
    largest_legal_fragment,
    largest_legal_plan,
    problem,
)
from .dimensions import dimensions
from .schemas import LATEST, SCHEMAS

GENERATED = {
    "decoder": "planning problem of a dense stack, --layers deep",
    "largest-plan": "bundle of the deepest dense stack whose plan fits 16 MiB",
    "largest-fragment": "nodes and memory plan of the deepest dense stack that fits 16 MiB",
}


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 when a document (or the list) was written, 2 on a usage error."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.list:
        print("\n".join(_listing()))
        return 0
    if options.family is None:
        parser.error("name a family, or --list")
    if options.layers is not None and options.layers < 1:
        parser.error("--layers is at least 1")
    if options.family == "decoder" and options.layers is None:
        parser.error("decoder needs --layers")
    try:
        target = checked_target(options.output)
        document = _document(options.family, options.layers, options.part, options.schema)
        emit(f"{ordered_bytes(document).decode()}\n", target)
    except click.ClickException as error:
        parser.error(error.format_message())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m models", description=__doc__)
    parser.add_argument("family", nargs="?", choices=[*families(), *GENERATED])
    parser.add_argument(
        "--layers", type=int, help="decoder layers, instead of the published number"
    )
    parser.add_argument(
        "--schema", choices=SCHEMAS, default=LATEST, help=f"of the plan ({LATEST} by default)"
    )
    part = parser.add_mutually_exclusive_group()
    for name, meaning in (
        ("problem", "the planner's input"),
        ("plan", "the execution plan alone"),
        ("bundle", "the plan with its catalog, program and policy (the default)"),
    ):
        part.add_argument(f"--{name}", dest="part", action="store_const", const=name, help=meaning)
    parser.add_argument("-o", "--output", metavar="FILE", help="instead of stdout")
    parser.add_argument("--list", action="store_true", help="list what can be generated")
    parser.set_defaults(part="bundle")
    return parser


def _document(family: str, layers: int | None, part: str, schema: str) -> dict[str, Any]:
    if family == "decoder":
        return decoder(layers or 1)
    if family == "largest-plan":
        return largest_legal_plan()
    if family == "largest-fragment":
        return largest_legal_fragment()
    if part == "problem":
        return problem(family, layers)
    whole = bundle(family, layers, schema)
    plan: dict[str, Any] = whole["plan"]
    return plan if part == "plan" else whole


def _listing() -> list[str]:
    rows = [
        (family, f"{sizes.layers} layers, {sizes.architecture}")
        for family in families()
        for sizes in [dimensions(family)]
    ]
    rows.extend(GENERATED.items())
    return [f"{name:<18} {meaning}" for name, meaning in rows]


if __name__ == "__main__":
    sys.exit(main())
