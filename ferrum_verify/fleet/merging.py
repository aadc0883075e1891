"""Merging: one report of several, which says no more than they do."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ferrum_verify.findings.errors import DocumentError
from ferrum_verify.report.model import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.fleet.reading import EarlierReport


def merged(reports: Sequence[EarlierReport]) -> dict[str, Any]:
    """The JSON of the report of all documents.

    All shards of one run make the report of that run. Of other reports nobody can say what they
    leave out, so theirs names them as ``merged``. Raises DocumentError in one sentence for
    reports that do not belong together.
    """
    first = reports[0]
    for other in reports[1:]:
        if other.terms != first.terms:
            raise DocumentError(
                f"{first.source} judges under {_in_words(first)}, but {other.source} under "
                f"{_in_words(other)}: verdicts of the two cannot be counted together."
            )
    in_shards = any(each.record.shard is not None for each in reports)
    if in_shards:
        reports = _whole(reports)
    elif twice := [name for name, count in Counter(r.source for r in reports).items() if count > 1]:
        raise DocumentError(f"{twice[0]} is given twice: its documents would count twice.")
    documents = _once([each for report in reports for each in report.wire["documents"]])
    summary = dict.fromkeys(VERDICTS, 0)
    for document in documents:
        summary[document["verdict"]] += 1
    whole = {name: value for name, value in first.wire.items() if name not in ("shard", "merged")}
    whole |= {"documents": documents, "summary": summary}
    if not in_shards:
        whole["merged"] = [
            name for each in reports for name in (each.record.merged or [each.source])
        ]
    return whole


def _whole(reports: Sequence[EarlierReport]) -> list[EarlierReport]:
    """All shards of a run in their order; raises DocumentError where they are not all there."""
    by_place: dict[int, EarlierReport] = {}
    first = next(each for each in reports if each.record.shard is not None)
    assert first.record.shard is not None
    count = first.record.shard[1]
    for report in reports:
        shard = report.record.shard
        if shard is None:
            raise DocumentError(
                f"{report.source} is no whole shard, and {first.source} is one of {count}."
            )
        index, of = shard
        if of != count or index > count:
            raise DocumentError(
                f"{first.source} is a shard of {count}, but {report.source} is {index} of {of}."
            )
        if index in by_place:
            raise DocumentError(
                f"{by_place[index].source} and {report.source} are both shard {index} of {count}."
            )
        by_place[index] = report
    for index in range(1, min(count, len(reports) + 1) + 1):
        if index not in by_place:
            raise DocumentError(f"Shard {index} of {count} is missing.")
    return [by_place[index] for index in sorted(by_place)]


def _once(documents: list[Any]) -> list[Any]:
    """The documents, and after them but once the schedule that has faults in all of them."""
    last = documents[-1:]
    if not any(each.get("kind") == "schedule" and "key" not in each for each in last):
        return documents
    return [each for each in documents if each not in last] + last


def _in_words(report: EarlierReport) -> str:
    execution, judge = report.terms
    return execution + ("" if judge == "all" else f" for {judge} alone")
