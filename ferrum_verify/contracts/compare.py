"""``contracts compare``: what a changed catalog breaks, before it is merged."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal, NamedTuple

from ferrum_verify.contracts.build_changes import IDENTITY_CHANGED
from ferrum_verify.contracts.catalog_changes import catalog_changes
from ferrum_verify.contracts.examples import ZERO, with_plan
from ferrum_verify.contracts.plan_changes import plan_changes, plan_under_head
from ferrum_verify.contracts.providers import providers_by_id
from ferrum_verify.contracts.sources import read_plans, read_sound_catalog
from ferrum_verify.findings import Rule, pointer
from ferrum_verify.findings.errors import DocumentError
from ferrum_verify.limits import Limits
from ferrum_verify.plan.canonical import ordered_fingerprint
from ferrum_verify.plan.number_notation import differing_ordered_fingerprint
from ferrum_verify.report.model import Comparison, DocumentReport, Report, verdict_of
from ferrum_verify.report.shown import gate, shown
from ferrum_verify.rules.checkpoint_causes import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ferrum_verify.contracts.plan_changes import PlanChanges
    from ferrum_verify.contracts.sources import CatalogSource, Document, PlanSource

DEFAULT_LIMITS = Limits()
"""The solver's limits; what it is asked here takes a small part of them."""


def compare_contracts(
    base: Document,
    head: Document,
    plans: Iterable[Document] = (),
    *,
    prove: bool = True,
    limits: Limits = DEFAULT_LIMITS,
) -> Report:
    """What changes from catalog ``base`` to catalog ``head``, and what plans make of it.

    Each is parsed JSON or a path; a catalog may stand in a bundle. Breaking changes are errors,
    compatible ones and mere changes of identity are notes. The first document of the report is
    HEAD; the others are the plans that were compiled under BASE. A plan that was compiled under
    HEAD is taken for what one of those became when it was rebuilt. ``prove`` puts what is said
    of all counts and shapes to the solver as well, within ``limits``.

    Raises DocumentError where a document cannot be compared, in one sentence.
    """
    old, new = read_sound_catalog(base, "BASE"), read_sound_catalog(head, "HEAD")
    given = _paired(list(read_plans(plans)), old, new)
    within = limits if prove else None
    documents = [_catalog_report(old, new, within)]
    documents += [_plan_report(each, old, new, within) for each in given]
    return Report(execution="fenced", documents=tuple(documents))


_Origin = Literal["base", "head", "other"]
"""Under which catalog a plan was compiled."""


class _Given(NamedTuple):
    """A plan, its origin, and what it became under HEAD, if that was given too."""

    plan: PlanSource
    origin: _Origin
    rebuilt: PlanSource | None = None


def _catalog_report(
    old: CatalogSource, new: CatalogSource, limits: Limits | None
) -> DocumentReport:
    started = time.perf_counter()
    findings = list(catalog_changes(old.catalog, new.catalog, new.place))
    if not findings and ordered_fingerprint(old.raw) != ordered_fingerprint(new.raw):
        findings.append(
            IDENTITY_CHANGED.finding(
                "The catalogs declare the same and are written differently, so their "
                "fingerprints differ.",
                new.place,
            )
        )
    findings = list(shown(findings, gate({"base": old.raw, "head": new.raw})))
    compared = time.perf_counter()
    obligations = None
    if limits is not None:
        # The solver takes a while to load, and only proofs need it.
        from ferrum_verify.contracts.proofs import prove_catalog  # noqa: PLC0415

        discharged = prove_catalog(old, new, limits)
        findings += discharged.findings
        obligations = discharged.counts
    return DocumentReport(
        source=new.loaded.source,
        kind=new.subject.kind,
        verdict=verdict_of(findings, obligations),
        findings=tuple(findings),
        obligations=obligations,
        timings={
            "read": old.loaded.seconds + new.loaded.seconds,
            "compare": compared - started,
            "prove": time.perf_counter() - compared,
        },
        subject=new.alone,
        path=new.loaded.path,
        line=new.loaded.line,
        comparison=_comparison(old, new, None),
    )


OTHER_CATALOG = Rule(
    id="contract.plan-of-another-catalog",
    summary="A plan that is judged was compiled under BASE or under HEAD.",
    why="A plan of another catalog is judged as if it were rebuilt on BASE, which may already "
    "differ from what runs.",
    fix="Give the plan that was compiled under BASE.",
    source="docs/format.md, «Provider contracts»",
    severity="warning",
    example=with_plan({"/plan/payload/capability_catalog_fingerprint": ZERO}),
)


def _plan_report(
    given: _Given, old: CatalogSource, new: CatalogSource, limits: Limits | None
) -> DocumentReport:
    started = time.perf_counter()
    plan = given.plan
    judged = None
    if given.origin == "head":
        findings = plan_under_head(plan, new.catalog)
    else:
        judged = plan_changes(plan, given.rebuilt, old.catalog, new.catalog)
        findings = list(judged.findings)
    if given.origin == "other":
        findings.append(
            OTHER_CATALOG.finding(
                "The plan was compiled under another catalog than BASE and HEAD, and is judged as "
                "if it were rebuilt on BASE.",
                pointer(plan.subject.places.payload, "capability_catalog_fingerprint"),
                actual=plan.header.capability_catalog_fingerprint,
            )
        )
    document = {"base": old.raw, "head": new.raw, "plan": plan.subject.raw["plan"]}
    if given.rebuilt is not None:
        document["rebuilt"] = given.rebuilt.subject.raw["plan"]
    findings = list(shown(findings, gate(document)))
    compared = time.perf_counter()
    obligations = None
    if limits is not None and judged is not None:
        from ferrum_verify.contracts.proofs import prove_plan  # noqa: PLC0415

        discharged = prove_plan(plan, given.rebuilt, judged, limits)
        findings += discharged.findings
        obligations = discharged.counts
    return DocumentReport(
        source=plan.loaded.source,
        kind=plan.subject.kind,
        verdict=verdict_of(findings, obligations),
        findings=tuple(findings),
        obligations=obligations,
        timings={
            "read": plan.loaded.seconds,
            "compare": compared - started,
            "prove": time.perf_counter() - compared,
        },
        subject=plan.subject,
        path=plan.loaded.path,
        line=plan.loaded.line,
        comparison=_comparison(old, new, judged),
    )


def _comparison(old: CatalogSource, new: CatalogSource, judged: PlanChanges | None) -> Comparison:
    before = None if judged is None else judged.before
    after = None if judged is None else judged.after
    return Comparison(
        base=old.loaded.source,
        head=new.loaded.source,
        head_catalog=new.catalog,
        before=None if before is None else before.to_wire(),
        after=None if after is None else after.to_wire(),
    )


def _paired(plans: Sequence[PlanSource], old: CatalogSource, new: CatalogSource) -> list[_Given]:
    """The plans to report on; a plan of HEAD goes with the one of BASE that it came from."""
    origins = [(plan, _origin(plan, old, new)) for plan in plans]
    of_head = {_model(plan): plan for plan, origin in origins if origin == "head"}
    earlier = {_model(plan) for plan, origin in origins if origin != "head"}
    return [
        _Given(plan, origin, None if origin == "head" else of_head.get(_model(plan)))
        for plan, origin in origins
        if origin != "head" or _model(plan) not in earlier
    ]


def _model(plan: PlanSource) -> tuple[str, str, str]:
    header = plan.header
    return header.family_id, header.program_fingerprint, header.policy_fingerprint


def _origin(plan: PlanSource, old: CatalogSource, new: CatalogSource) -> _Origin:
    stated = plan.header.capability_catalog_fingerprint
    if differing_ordered_fingerprint(stated, old.raw) is None:
        origin: _Origin = "base"
    elif differing_ordered_fingerprint(stated, new.raw) is None:
        origin = "head"
    else:
        origin = "other"
    _refuse_foreign(plan, new if origin == "head" else old, "HEAD" if origin == "head" else "BASE")
    return origin


def _refuse_foreign(plan: PlanSource, source: CatalogSource, name: str) -> None:
    """Raise DocumentError for a plan that no compiler could have made from the catalog."""
    catalog, header = source.catalog, plan.header
    where = f"{plan.loaded.source} holds a plan of family {header.family_id}"
    if header.device_id != catalog.device.id:
        raise DocumentError(
            f"{where} for device {header.device_id}, and {name} ({source.loaded.source}) is a "
            f"catalog of device {catalog.device.id}."
        )
    offered = {operation: providers_by_id(catalog, operation) for operation in catalog.providers}
    missing = dict.fromkeys(
        f"{node.selection.selected_provider} of {node.operation_id}"
        for node in plan.nodes
        if node.selection.selected_provider not in offered.get(node.operation_id, {})
    )
    if missing:
        raise DocumentError(
            f"{where}, and {name} ({source.loaded.source}) does not serve it: it has no "
            f"{listed(list(missing))}."
        )
