"""``contracts check``: a catalog on its own, and against a program, a policy and plans."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrum_verify.contracts.examples import LINEAR, checked
from ferrum_verify.contracts.names import code
from ferrum_verify.contracts.program_checks import program_findings
from ferrum_verify.contracts.program_uses import excluded_ports, usable_profiles
from ferrum_verify.contracts.reach_checks import reach_findings
from ferrum_verify.contracts.sources import (
    PlanSource,
    catalog_source,
    read_beside,
    read_one,
    read_plans,
)
from ferrum_verify.contracts.workspace_limits import ceilings_of, workspace_findings
from ferrum_verify.findings import Rule, pointer
from ferrum_verify.limits import Limits
from ferrum_verify.plan.resource_rows import describe_profile
from ferrum_verify.report.model import DocumentReport, Report, verdict_of
from ferrum_verify.report.shown import gate, shown
from ferrum_verify.rules import (
    declarations,
    execution_semantics,
    execution_weights,
    source_integrity,
)
from ferrum_verify.rules.capacity_grant import POLICY_EXCEEDS_DEVICE
from ferrum_verify.rules.provider_declarations import obstacles

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ferrum_verify.contracts.sources import CatalogSource, Document, ReadDocument
    from ferrum_verify.documents.catalog import CapabilityCatalog
    from ferrum_verify.documents.policy import RuntimePolicy
    from ferrum_verify.documents.storage import StorageProfile
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.reading.load import LoadedDocument

DEFAULT_LIMITS = Limits()
"""The solver's limits; what it is asked here takes a small part of them."""


def check_contracts(
    catalog: Document,
    program: Document | None = None,
    policy: Document | None = None,
    plans: Iterable[Document] = (),
    *,
    prove: bool = True,
    limits: Limits = DEFAULT_LIMITS,
) -> Report:
    """What is wrong with a catalog's declarations.

    They are judged on their own, and against the program, the policy and the workspace
    estimates of the plans that are given; a catalog in a bundle is held to the bundle's own.
    Each is parsed JSON or a path. The first document of the report is the catalog. ``prove``
    puts what is said of all shapes to the solver as well, within ``limits``.

    Raises DocumentError where a document cannot be judged, in one sentence; a catalog that is
    only malformed is a report with findings.
    """
    read = read_one(catalog, "<catalog>")
    source = catalog_source(read)
    if source is None:
        return Report(execution="fenced", documents=(_malformed(read),))
    findings = list(read.findings)
    with_program = source.subject if program is None else read_beside(program, "program")
    with_policy = source.subject if policy is None else read_beside(policy, "policy")
    model, rules = with_program.program, with_policy.policy
    given = list(read_plans(plans))
    started = time.perf_counter()
    usable = usable_profiles(source.catalog, rules)
    findings += _own_findings(source)
    if rules is not None:
        findings += _policy_findings(source.catalog, rules, usable, source.place)
    if model is not None:
        findings += program_findings(source.catalog, model, usable, source.place)
    findings += reach_findings(source.catalog, model, rules, usable, source.place)
    raw = {"catalog": source.raw}
    raw |= {"program": with_program.raw["program"]} if model is not None else {}
    raw |= {"policy": with_policy.raw["policy"]} if rules is not None else {}
    held = _Workspaces(usable, rules, limits if prove else None, raw)
    documents = [_report(source.loaded, source.subject, findings, held, started)]
    documents += [
        _report(plan.loaded, plan.subject, [], held, time.perf_counter()) for plan in given
    ]
    return Report(execution="fenced", documents=tuple(documents))


def _malformed(read: ReadDocument) -> DocumentReport:
    return DocumentReport(
        source=read.loaded.source,
        kind=read.subject.kind,
        verdict=verdict_of(read.findings),
        findings=tuple(read.findings),
        timings={"read": read.loaded.seconds},
        path=read.loaded.path,
        line=read.loaded.line,
    )


class _Workspaces(NamedTuple):
    """What the workspaces of plans are held to."""

    usable: tuple[StorageProfile, ...]
    policy: RuntimePolicy | None
    limits: Limits | None
    raw: dict[str, Any]
    """The JSON of the catalog, and of program and policy where they are at hand."""


def _own_findings(source: CatalogSource) -> Iterator[Finding]:
    """What the catalog's declarations and fingerprints say by themselves."""
    yield from declarations.check(source.catalog, source.place)
    yield from execution_semantics.check(source.alone)
    yield from execution_weights.check(source.alone)
    yield from source_integrity.check(source.alone)


POLICY_PROFILE = Rule(
    id="contract.policy-profile-unknown",
    summary="The device offers each storage profile that the policy lists.",
    why="An entry that it does not offer never takes effect; most likely the policy was written "
    "for another device.",
    fix="List only profiles of the device.",
    source="docs/format.md, «Provider contracts»",
    severity="warning",
    example=checked(
        {
            "/policy/memory/dynamic_storage_profile_order/-": {
                "allocator": {"fixed_block_arena": {"block_bytes": 512}},
                "view": "contiguous",
            }
        }
    ),
)
POLICY_EXCLUDES = Rule(
    id="contract.policy-excludes-provider",
    summary="The policy allows some storage that a provider accepts, at each of its ports.",
    why="Otherwise the provider can never be selected under the policy.",
    fix="Add the provider's storage to `dynamic_storage_profile_order`.",
    source="docs/format.md, «Provider contracts»",
    severity="note",
    example=checked({"/policy/memory/dynamic_storage_profile_order": [LINEAR]}),
)


def _policy_findings(
    catalog: CapabilityCatalog,
    policy: RuntimePolicy,
    usable: Sequence[StorageProfile],
    place: str,
) -> Iterator[Finding]:
    device, granted = catalog.device, policy.memory
    if granted.capacity_bytes > device.total_memory_bytes:
        yield POLICY_EXCEEDS_DEVICE.finding(
            f"Policy {code(policy.policy_id)} grants {granted.capacity_bytes:,} bytes, and device "
            f"{code(device.id)} has {device.total_memory_bytes:,}.",
            pointer(place, "device", "total_memory_bytes"),
        )
    for profile in dict.fromkeys(granted.dynamic_storage_profile_order):
        if profile not in device.dynamic_storage_profiles:
            yield POLICY_PROFILE.finding(
                f"Policy {code(policy.policy_id)} lists {describe_profile(profile)}, which device "
                f"{code(device.id)} does not offer.",
                pointer(place, "device", "dynamic_storage_profiles"),
                actual=profile.to_wire(),
            )
    for operation_id, providers in catalog.providers.items():
        operation = catalog.operations.get(operation_id)
        for position, provider in enumerate(providers):
            if list(obstacles(provider, operation, catalog)):
                continue  # it is excluded whatever the policy says
            if ports := list(excluded_ports(provider, usable)):
                where = ", ".join(f"{role} {ordinal}" for role, ordinal in ports)
                yield POLICY_EXCLUDES.finding(
                    f"Policy {code(policy.policy_id)} allows no storage that "
                    f"{code(provider.provider_id)} of {code(operation_id)} accepts at {where}.",
                    pointer(place, "providers", operation_id, position),
                )


def _report(
    loaded: LoadedDocument,
    subject: Subject,
    findings: list[Finding],
    held: _Workspaces,
    started: float,
) -> DocumentReport:
    """A document's report; where it holds a plan, its workspaces are judged too."""
    plan = _plan_in(loaded, subject)
    if plan is not None:
        ceilings = ceilings_of(plan, held.policy)
        findings += workspace_findings(plan, ceilings, held.usable)
    document = held.raw if plan is None else held.raw | {"plan": subject.raw["plan"]}
    findings = list(shown(findings, gate(document)))
    checked = time.perf_counter()
    obligations = None
    if held.limits is not None:
        # The solver takes a while to load, and only proofs need it.
        from ferrum_verify.contracts.proofs import prove_workspaces  # noqa: PLC0415

        discharged = prove_workspaces(plan, held.policy, held.usable, held.limits)
        findings += discharged.findings
        obligations = discharged.counts
    return DocumentReport(
        source=loaded.source,
        kind=subject.kind,
        verdict=verdict_of(findings, obligations),
        findings=tuple(findings),
        obligations=obligations,
        timings={
            "read": loaded.seconds,
            "check": checked - started,
            "prove": time.perf_counter() - checked,
        },
        subject=subject,
        path=loaded.path,
        line=loaded.line,
    )


def _plan_in(loaded: LoadedDocument, subject: Subject) -> PlanSource | None:
    header, nodes, memory = subject.header, subject.plan_nodes, subject.memory
    if header is None or nodes is None or memory is None:
        return None
    return PlanSource(loaded, subject, header, nodes, memory)
