"""Plan files that break rules, and their report, for tests of what the formats make of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ferrum_verify.auditing.audit import audit
from ferrum_verify.catalogue import catalogue
from ferrum_verify.catalogue.examples import broken_document
from ferrum_verify.report.model import DocumentReport, Report

if TYPE_CHECKING:
    from pathlib import Path

    from ferrum_verify.counterexamples import Execution


def report_of_example_files(folder: Path, *, every: int) -> Report:
    """The report of a file in ``folder`` for the example of every nth rule."""
    documents: list[DocumentReport] = []
    for rule in list(catalogue().values())[::every]:
        example = rule.example
        if example is not None and example.command == "audit":
            path = folder / f"{rule.id}.json"
            path.write_text(json.dumps(broken_document(example), indent=2), encoding="utf-8")
            documents += audit(path, execution=example.execution, prove=False).documents
    return Report(execution="fenced", documents=tuple(documents))


def report_of_files(*paths: Path | str, execution: Execution = "fenced") -> Report:
    """The report of some files, without proofs."""
    documents = [
        document
        for path in paths
        for document in audit(path, execution=execution, prove=False).documents
    ]
    return Report(execution=execution, documents=tuple(documents))
