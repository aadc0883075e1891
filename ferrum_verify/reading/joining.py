"""A bundle of separate files: what each holds, and what fits what by the hashes.

A plan states the hash of the program, the catalog and the policy that it was compiled from. A
file's part is told by its content, so that files may be named in any order.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeGuard

from ferrum_verify.findings.errors import DocumentError, summarise
from ferrum_verify.plan.canonical import keys_are_sorted
from ferrum_verify.plan.number_notation import (
    differing_fingerprint,
    differing_ordered_fingerprint,
)
from ferrum_verify.reading.json_values import admit
from ferrum_verify.reading.kinds import detect, resemblance
from ferrum_verify.reading.load import LoadedDocument, Origin, read_documents
from ferrum_verify.reading.parse import places_of
from ferrum_verify.reading.parts import bundle_parts, payload_of

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

Source = Literal["program", "catalog", "policy"]
Answer = Literal["fits", "unknown", "differs"]

PLAN = "plan"
SOURCES: tuple[Source, ...] = ("program", "catalog", "policy")
"""What a plan is compiled from, in the order in which a bundle holds it."""

STATED: dict[Source, str] = {
    "program": "program_fingerprint",
    "catalog": "capability_catalog_fingerprint",
    "policy": "policy_fingerprint",
}
"""Where the payload of a plan states the hash of each source."""

_BEST_FIRST: tuple[Answer, ...] = ("fits", "unknown", "differs")


class Part(NamedTuple):
    """A plan or one of its sources, and the document that it was found in."""

    name: str
    value: Any
    document: LoadedDocument
    pointer: str

    @property
    def label(self) -> str:
        """What messages call it: its file, and which member of it where it is but one."""
        source = self.document.source
        return f"the {self.name} of {source}" if self.pointer else source

    @property
    def origin(self) -> Origin:
        """Where it stands."""
        return Origin(self.document.path, self.document.line, self.pointer)


class Match(NamedTuple):
    """Whether a source is the one that the plan was compiled from, by its hash.

    ``unknown`` is the answer where the plan states no hash (``computed`` is None then), or where
    the hash covers an order of keys that was lost.
    """

    part: Part
    answer: Answer
    computed: str | None = None


def read_parts(paths: Iterable[str | os.PathLike[str]]) -> list[Part]:
    """All plans and sources in the files, in their order.

    Raises DocumentError in one sentence where a file cannot be read, or a document is neither.
    """
    found: list[Part] = []
    for path in paths:
        for document in read_documents(path):
            parts = parts_of(document)
            if not parts:
                kind = detect(document.value)
                what = (
                    f"no document of a known kind{resemblance(document.value)}"
                    if kind is None
                    else f"a {kind}, and holds no plan, program, catalog or policy"
                )
                raise DocumentError(f"{document.source} is {what}.")
            found += parts
    return found


def parts_of(document: LoadedDocument) -> list[Part]:
    """The plan and the sources that a document holds; none where it is of another kind.

    Raises DocumentError where it could not be read.
    """
    if document.findings:
        raise DocumentError(f"{document.source}: {summarise(document.findings)}", document.findings)
    kind = detect(document.value)
    if kind is None:
        return []
    places = places_of(kind)
    return [
        Part(name, value, document, getattr(places, name))
        for name, value in bundle_parts(kind, document.value).items()
    ]


def stated_hash(plan: Any, name: Source) -> str | None:
    """The hash of a source that the plan states; None where it states none."""
    payload = payload_of("execution-plan", plan) if isinstance(plan, dict) else {}
    stated = payload.get(STATED[name])
    return stated if isinstance(stated, str) else None


def match(plan: Any, source: Part) -> Match:
    """Whether a source is the one whose hash the plan states."""
    assert is_source(source.name)
    stated = stated_hash(plan, source.name)
    if stated is None:
        return Match(source, "unknown")
    is_policy = source.name == "policy"
    hashed = differing_fingerprint if is_policy else differing_ordered_fingerprint
    computed = hashed(stated, source.value)
    if computed is None:
        return Match(source, "fits")
    lost = not is_policy and isinstance(source.value, dict) and keys_are_sorted(source.value)
    return Match(source, "unknown" if lost else "differs", computed)


def chosen(plan: Any, candidates: Sequence[Part]) -> Part:
    """The first of several candidates for a source that fits the plan, else that may, else any."""
    if len(candidates) == 1:
        return candidates[0]
    return min(candidates, key=lambda part: _BEST_FIRST.index(match(plan, part).answer))


def completed(document: LoadedDocument, given: Sequence[Part]) -> LoadedDocument:
    """The document's plan with the given sources, in place of its own; itself if it has no plan.

    Of several candidates for a source the one that fits is taken; where none does, the findings
    say so of one.
    """
    own = {} if document.findings else {part.name: part for part in parts_of(document)}
    candidates = {name: [part for part in given if part.name == name] for name in SOURCES}
    if PLAN not in own or not given:
        return document
    plan = own[PLAN]
    whole = own | {name: chosen(plan.value, each) for name, each in candidates.items() if each}
    value = {name: part.value for name, part in whole.items()}
    if detect(document.value) == "bundle":
        value = document.value | value  # what else it holds, it should not: that is told of it
    try:
        value = admit(value)
    except DocumentError as error:
        return replace(document, value=None, findings=error.findings)
    origins = {f"/{name}": part.origin for name, part in whole.items()}
    return replace(document, value=value, origins=origins)


def is_source(name: str) -> TypeGuard[Source]:
    """Whether a part is one that a plan is compiled from."""
    return name in SOURCES
