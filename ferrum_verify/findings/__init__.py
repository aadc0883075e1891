"""What a check says: rules, their findings, and how both are worded."""

from ferrum_verify.documents.pointer import pointer
from ferrum_verify.findings.finding import (
    DELETE,
    Delete,
    Example,
    Family,
    Finding,
    Judge,
    Judgment,
    Rule,
    Severity,
    Swap,
    rules_of,
)

__all__ = [
    "DELETE",
    "Delete",
    "Example",
    "Family",
    "Finding",
    "Judge",
    "Judgment",
    "Rule",
    "Severity",
    "Swap",
    "pointer",
    "rules_of",
]
