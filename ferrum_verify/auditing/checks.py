"""Judging: which checks run on a subject, and in which order.

Checks of one family never read another family's findings, with two exceptions that keep one
cause from giving many findings: order is only judged on a sound graph, and bytes only of rows
that are sound by themselves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ferrum_verify.derive.memory_plan import derive_plan
from ferrum_verify.derive.reusable import canonical_buckets, capacity_shape
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.findings.capping import capped
from ferrum_verify.plan.canonical import bucket_id
from ferrum_verify.plan.sizes import request_bytes
from ferrum_verify.rules import (
    accesses,
    binding,
    capacity,
    capacity_grant,
    checkpoint_growth,
    descriptor,
    descriptor_rows,
    graph,
    initialization_scratch,
    lifetimes,
    liveness,
    liveness_summary,
    pool,
    pool_totals,
    reusable,
    reusable_budgets,
    slot,
    slot_retained,
    static,
    static_rows,
    terminal_outputs,
)
from ferrum_verify.rules.expected import Expected

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.documents.problem import PlanningProblem
    from ferrum_verify.documents.reusable import ProblemReusableExecution
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.reading.schedules import LoadedSchedule


def has_errors(findings: Sequence[Finding]) -> bool:
    """Whether any finding is an error."""
    return any(finding.severity == "error" for finding in findings)


def judge_memory(
    subject: Subject,
    execution: Execution,
    doubts: tuple[str, ...] = (),
    under: LoadedSchedule | None = None,
) -> tuple[list[Finding], Expected | None]:
    """All findings of the memory families and the graph, and the facts behind them.

    ``doubts`` are the JSON pointers of wire faults that were read past.

    The facts are None when the document has no memory plan that could be read.
    """
    memory = subject.memory
    known = None if memory is None else _resources(memory)
    findings = list(capped(graph.check(subject, known=known)))
    if memory is None:
        return findings, None
    ordered = not any(finding.rule in graph.ORDER_RULES for finding in findings)
    facts = Expected(subject, memory, execution, ordered=ordered, doubts=doubts, under=under)
    if not ordered:
        findings.append(graph.order_open(subject, findings))
    if subject.kind == "memory-plan":
        findings.append(
            graph.NODES_MISSING.finding(
                "the document has no nodes, so nothing that depends on their order was judged: "
                "whether slots and liveness are what the engine derives, and whether resources "
                "that share bytes are ever live together",
                subject.places.memory,
            )
        )
    for check in (
        capacity.check,
        static.check,
        initialization_scratch.check,
        descriptor.check,
        pool.check,
        checkpoint_growth.check,
        slot.check,
        terminal_outputs.check,
        liveness.check,
        reusable.check,
        binding.check,
        accesses.check,
        lifetimes.check,
    ):
        findings.extend(capped(check(facts)))
    if under is not None:
        # Seldom asked for, and no audit without it need load it.
        from ferrum_verify.rules import schedule  # noqa: PLC0415

        findings.extend(capped(schedule.check(facts)))
    return findings, facts


def _resources(memory: MemoryPlan) -> frozenset[str]:
    return frozenset(
        [row.resource_id for row in memory.static_allocations]
        + [row.base_resource_id for row in memory.dynamic_descriptors]
    )


def derive_subject(subject: Subject) -> tuple[Subject | None, list[Finding]]:
    """A problem's subject with the memory plan that the engine derives from it.

    None with the findings where the engine would refuse the problem.
    """
    problem, order = subject.problem, subject.order
    if problem is None or order is None:
        return None, []
    findings = list(capped(_check_problem(subject, problem, order)))
    if has_errors(findings):
        return None, findings
    try:
        memory = derive_plan(problem, order)
    except SizeError:
        return None, list(_check_shapes(problem))
    usable = problem.policy_capacity_bytes - problem.reserve_bytes
    findings += pool_totals.check_bounds(memory.dynamic_pools)
    # What is derived has no place in a problem; the finding is about the whole of it.
    findings += liveness_summary.check_references(memory, "")
    if not has_errors(findings):
        bounds = capacity.check_bounds(memory.dynamic_pools, memory.static_bytes, usable, "")
        findings += [replace(finding, location="") for finding in bounds]
    return (None if has_errors(findings) else replace(subject, memory=memory)), findings


def _check_problem(
    subject: Subject, problem: PlanningProblem, order: HappensBefore
) -> Iterator[Finding]:
    statics, dynamics = problem.static_allocations, problem.dynamic_descriptors
    ids = {row.resource_id for row in statics}
    known = frozenset(ids | {row.base_resource_id for row in dynamics})
    broken = list(graph.check(subject, known=known))
    yield from broken
    yield from capacity_grant.check_grant(problem, "")
    yield from static_rows.check_rows(statics, "/static_allocations")
    yield from descriptor_rows.check_rows(dynamics, "/dynamic_descriptors")
    for index, row in enumerate(dynamics):
        if row.base_resource_id in ids:
            yield descriptor.SHARES_STATIC_ID.finding(
                f"resource `{row.base_resource_id}` has a static row and a dynamic descriptor",
                f"/dynamic_descriptors/{index}/base_resource_id",
            )
    yield from slot_retained.check_retained(
        problem.retained_completion_resources, problem, subject.places.retained
    )
    users = order.listed
    for index, row in enumerate(dynamics):
        if row.base_resource_id in users:
            continue
        place = f"/dynamic_descriptors/{index}"
        if row.lifetime == "step":
            yield slot.UNUSED.finding(
                f"step resource `{row.base_resource_id}` is used by no node", place
            )
        elif row.lifetime == "invocation":
            yield liveness.UNCOVERED.finding(
                f"invocation resource `{row.base_resource_id}` is used by no node", place
            )
    yield from _check_problem_policy(problem)


def _bucket_places(policy: ProblemReusableExecution) -> dict[str, str]:
    return {
        bucket_id(
            bucket.class_id, bucket.maximum_sequences, bucket.maximum_tokens, bucket.maximum_pages
        ): f"/reusable_execution_policy/buckets/{index}"
        for index, bucket in enumerate(policy.buckets)
    }


def _check_problem_policy(problem: PlanningProblem) -> Iterator[Finding]:
    policy = problem.reusable_execution_policy
    if policy is None:
        return
    at = "/reusable_execution_policy"
    places = _bucket_places(policy)
    buckets = canonical_buckets(policy)
    yield from reusable.check_policy(
        policy.maximum_reusable_lanes,
        [(each.class_id, each.capacity, places[each.bucket_id]) for each in buckets],
        policy.program_policy,
        at,
    )
    if not problem.nodes:
        yield reusable.NO_NODES.finding("reusable execution has no node to capture", at)


def _check_shapes(problem: PlanningProblem) -> Iterator[Finding]:
    """Every demand that is not defined at the shape of a bucket."""
    policy = problem.reusable_execution_policy
    if policy is None:
        return
    places = _bucket_places(policy)
    for bucket in canonical_buckets(policy):
        shape = capacity_shape(bucket.capacity)
        for row in problem.dynamic_descriptors:
            if row.lifetime in ("step", "invocation"):
                try:
                    request_bytes(row, shape)
                except SizeError as error:
                    yield reusable_budgets.SHAPE.finding(
                        f"at the shape of a bucket of class `{bucket.class_id}` the size of "
                        f"`{row.base_resource_id}` {error}",
                        places[bucket.bucket_id],
                    )
