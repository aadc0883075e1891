"""What an audit says of itself: claims and questions that stay open, answers that contradict."""

from __future__ import annotations

from ferrum_verify.findings import Rule

UNDECIDED = Rule(
    id="integrity.proof-undecided",
    summary="Every claim about the plan is proved or refuted.",
    why="What is not proved is not known: the plan may be safe, or there may be a shape or a "
    "schedule at which it is not.",
    fix="Give the solver more time, as the message says.",
    source="a limit of this verifier",
    judgment="safety",
    severity="warning",
    undecided=True,
)
AUDIT_ENDED = Rule(
    id="integrity.audit-ended",
    summary="The audit of a document comes to its end.",
    why="Nothing is known of a document whose audit ended its process, most often for want of "
    "memory: it may be safe or not.",
    fix="Audit the document by itself, on a machine with more memory, or without proofs.",
    source="a limit of this verifier",
    judgment="safety",
    severity="warning",
    undecided=True,
)
VACUOUS = Rule(
    id="integrity.proof-vacuous",
    summary="What each claim assumes can be met.",
    why="A claim about every shape of a row that has no shape at all says nothing: it holds, and "
    "so does its opposite. It is counted apart, neither proved nor refuted.",
    fix="Where the range is empty by mistake, correct it: most often a declared maximum is 0.",
    source="a check of this verifier on itself",
    judgment="safety",
    severity="note",
)
DISAGREEMENT = Rule(
    id="integrity.proof-disagreement",
    summary="The concrete checks and the proofs agree wherever both speak.",
    why="One of the two is wrong, so neither can be relied on for this plan.",
    fix="Report the plan: this is a fault of the verifier, not of the plan.",
    source="a check of this verifier on itself",
    judgment="safety",
)
SAFETY_IN_DOUBT = Rule(
    id="integrity.safety-in-doubt",
    summary="Where only safety is judged, no fault of conformance keeps it from being judged.",
    why="A row that cannot be read has no bytes that could be judged, and nodes without an order "
    "have no lives. That no fault of safety was found there says nothing.",
    fix="Audit with `--judge all`, and mend the faults that are named.",
    source="docs/audit.md, «What is judged»",
    judgment="safety",
    severity="warning",
    undecided=True,
)
