"""Remembered reports: what was audited before, by the same terms, is not audited again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ferrum_verify.fleet.settled import is_settled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.cache.folder import CacheFolder
    from ferrum_verify.fleet.reading import DocumentWire
    from ferrum_verify.reading.load import LoadedDocument
    from ferrum_verify.report.model import DocumentReport


@dataclass(slots=True)
class RememberedReports:
    """Reports by the hash of a document's bytes and of the terms, which ``terms`` is.

    ``earlier`` are those of a report that a run goes on from, ``folder`` is a cache. With
    ``doubted`` the folder is not believed but compared: ``contradicted`` names the documents
    that it says something else of.
    """

    terms: str
    folder: CacheFolder | None = None
    earlier: Mapping[str, DocumentWire] = field(default_factory=dict)
    doubted: bool = False
    contradicted: list[str] = field(default_factory=list)
    _found: dict[str, DocumentReport | None] = field(default_factory=dict)

    def key(self, digest: str) -> str:
        """The key of a document whose bytes have this hash."""
        return hashlib.sha256(f"{self.terms}\0{digest}".encode()).hexdigest()

    def is_known(self, digest: str) -> bool:
        """Whether the document need not be audited; what is known is kept until it is asked for."""
        key = self.key(digest)
        if key not in self._found:
            self._found[key] = None if self.doubted else self._read(key)
        return self._found[key] is not None

    def of(self, loaded: LoadedDocument) -> DocumentReport | None:
        """What is known of a document, under the name that it has now."""
        if loaded.digest is None or not self.is_known(loaded.digest):
            return None
        found = self._found.pop(self.key(loaded.digest))
        assert found is not None
        return replace(
            found,
            source=loaded.source,
            path=loaded.path,
            line=loaded.line,
            origins=loaded.origins,
        )

    def keep(self, loaded: LoadedDocument, report: DocumentReport) -> DocumentReport:
        """Remember what was found of a document; the report with its key."""
        if loaded.digest is None:
            return report
        key = self.key(loaded.digest)
        self._found.pop(key, None)
        report = replace(report, key=key)
        if self.folder is None or report.interrupted or report.memory is not None:
            return report
        if self.doubted:
            before = self._read(key)
            if before is not None and not _agree(before, report):
                self.contradicted.append(report.source)
        undecided = 0 if report.obligations is None else report.obligations.undecided
        if is_settled(report.verdict, undecided):
            self.folder.write("reports", key, report.to_wire() | {"source": ""})
        return report

    def _read(self, key: str) -> DocumentReport | None:
        stated = self.earlier.get(key)
        wire = None
        if stated is None and self.folder is not None:
            wire = self.folder.read("reports", key)
        if stated is None and wire is None:
            return None
        # With the catalogue of rules it takes longer to import than an audit takes to run.
        from ferrum_verify.fleet.reading import document_of  # noqa: PLC0415

        if stated is not None:
            return replace(document_of(stated, source=""), carried=True)
        try:
            return document_of(wire, source="")
        except ValueError:
            assert self.folder is not None
            self.folder.faults["damaged or foreign"] += 1
            return None


def _agree(one: DocumentReport, other: DocumentReport) -> bool:
    def plain(report: DocumentReport) -> dict[str, Any]:
        return replace(report, timings={}, source="", key=None).to_wire()

    return plain(one) == plain(other)
