"""The documents that contracts are judged on: catalogs, programs, policies and plans.

Anything that cannot be judged is a ``DocumentError`` in one sentence, as a comparison of half a
catalog would call changes safe that nobody looked at.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ferrum_verify.documents.value_storage import malformed_reason
from ferrum_verify.findings.errors import DocumentError, summarise
from ferrum_verify.reading.document import Places, Subject
from ferrum_verify.reading.load import LoadedDocument, from_memory, read_documents
from ferrum_verify.reading.parse import subject_of
from ferrum_verify.reading.schedules import is_sound_schedule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ferrum_verify.documents.catalog import CapabilityCatalog
    from ferrum_verify.documents.execution_plan import PlanHeader
    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.documents.program import ModelProgram
    from ferrum_verify.findings import Finding

Document = dict[str, Any] | str | os.PathLike[str]
"""Parsed JSON, or the path of a file."""

BESIDE_PLANS = frozenset({"program", "catalog", "policy", "schedule"})
"""Kinds that lie in a folder beside plans, and hold none."""


class ReadDocument(NamedTuple):
    """A document of a known kind, its readable parts and its wire faults."""

    loaded: LoadedDocument
    subject: Subject
    findings: list[Finding]


@dataclass(frozen=True, slots=True)
class CatalogSource:
    """A catalog, alone or in a bundle, and the document that it was read from."""

    loaded: LoadedDocument
    subject: Subject
    catalog: CapabilityCatalog
    raw: Any
    place: str

    @property
    def alone(self) -> Subject:
        """The catalog as a subject of its own, where it still stands in its document."""
        return Subject(
            kind="catalog",
            places=Places(catalog=self.place),
            raw={"catalog": self.raw},
            catalog=self.catalog,
        )


@dataclass(frozen=True, slots=True)
class PlanSource:
    """An execution plan, alone or in a bundle, and the document that it was read from."""

    loaded: LoadedDocument
    subject: Subject
    header: PlanHeader
    nodes: tuple[PlanNode, ...]
    memory: MemoryPlan

    @property
    def program(self) -> ModelProgram | None:
        """The program that the plan was compiled from, where it is at hand."""
        return self.subject.program


def catalog_source(document: ReadDocument) -> CatalogSource | None:
    """The catalog of a document; None where it is too malformed to be read.

    Raises DocumentError where the document is of a kind that holds none.
    """
    loaded, subject = document.loaded, document.subject
    if subject.catalog is not None:
        raw, place = subject.raw["catalog"], subject.places.catalog
        return CatalogSource(loaded, subject, subject.catalog, raw, place)
    if "catalog" in subject.raw:
        return None
    raise DocumentError(f"{loaded.source} is a {subject.kind} and holds no catalog.")


def read_sound_catalog(document: Document, name: str) -> CatalogSource:
    """The catalog of a document; raises DocumentError where it is not well-formed."""
    read = read_one(document, name)
    source = catalog_source(read)
    _refuse_faults(read, read.subject.places.catalog)
    assert source is not None  # otherwise something was at fault
    return source


def read_beside(document: Document, part: Literal["program", "policy"]) -> Subject:
    """The subject that holds this part; raises DocumentError where no well-formed one is there."""
    read = read_one(document, f"the {part}")
    _refuse_faults(read, getattr(read.subject.places, part))
    if getattr(read.subject, part) is None:
        raise DocumentError(f"{read.loaded.source} is a {read.subject.kind} and holds no {part}.")
    return read.subject


def read_plans(documents: Iterable[Document]) -> Iterator[PlanSource]:
    """The plans of all documents; raises DocumentError where one is no well-formed plan.

    A path may be of a folder: there, what lies beside plans is passed over, and some plan must be.
    """
    for number, document in enumerate(documents, start=1):
        folder = None
        if isinstance(document, str | os.PathLike) and os.path.isdir(document):
            folder = os.fspath(document)
        found = False
        for loaded in _load(document, f"plan {number}", folders=True):
            if folder is not None and is_sound_schedule(loaded):
                continue
            read = _read(loaded)
            _refuse_faults(read, "")
            if folder is not None and read.subject.kind in BESIDE_PLANS:
                continue
            yield _plan_source(read)
            found = True
        if folder is not None and not found:
            raise DocumentError(f"The folder {folder} holds no execution plan.")


def _plan_source(read: ReadDocument) -> PlanSource:
    loaded, subject = read.loaded, read.subject
    header, nodes, memory = subject.header, subject.plan_nodes, subject.memory
    if header is None or nodes is None or memory is None:
        raise DocumentError(f"{loaded.source} is a {subject.kind} and holds no execution plan.")
    program = subject.program
    if program is not None and program.family_id != header.family_id:
        raise DocumentError(
            f"{loaded.source} holds a plan of family {header.family_id} and a program of family "
            f"{program.family_id}."
        )
    for node in nodes:
        for binding in node.values:
            if (reason := malformed_reason(binding)) is not None:
                raise DocumentError(
                    f"{loaded.source} cannot be judged: value {binding.value_id} of node "
                    f"{node.id} is malformed, as {reason}."
                )
    return PlanSource(loaded, subject, header, nodes, memory)


def read_one(document: Document, name: str) -> ReadDocument:
    """The only document at a path, or the parsed one; ``name`` says what it is without a path.

    Raises DocumentError where there is none of a known kind, or several.
    """
    loaded = _load(document, name)
    if len(loaded) != 1:
        where = name if isinstance(document, dict) else os.fspath(document)
        raise DocumentError(f"{where} holds {len(loaded):,} documents; one is wanted.")
    return _read(loaded[0])


def _load(document: Document, name: str, *, folders: bool = False) -> list[LoadedDocument]:
    if isinstance(document, str | os.PathLike):
        return list(read_documents(document, folders=folders))
    return [from_memory(document, name)]


def _read(loaded: LoadedDocument) -> ReadDocument:
    if loaded.findings:
        raise DocumentError(f"{loaded.source}: {summarise(loaded.findings)}", loaded.findings)
    subject, findings = subject_of(loaded.value)
    if subject is None:
        raise DocumentError(f"{loaded.source}: {summarise(findings)}", findings)
    return ReadDocument(loaded, subject, findings)


def _refuse_faults(read: ReadDocument, place: str) -> None:
    """Refuse a document with wire faults at or below the pointer ``place``."""
    faults = [
        fault
        for fault in read.findings
        if fault.severity == "error" and _is_within(fault.location, place)
    ]
    if faults:
        raise DocumentError(f"{read.loaded.source}: {summarise(faults)}", faults)


def _is_within(location: str, place: str) -> bool:
    return location == place or location.startswith(f"{place}/")
