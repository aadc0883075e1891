"""The exceptions that the Python functions raise. ``audit`` raises none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.findings import Finding


class FerrumVerifyError(Exception):
    """Base of every error that this package raises on purpose.

    ``findings`` holds every fault that was found, not only the one in the message.
    """

    def __init__(self, message: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


class DocumentError(FerrumVerifyError):
    """The input is no well-formed document of the kind that was asked for."""


class DerivationError(FerrumVerifyError):
    """The engine would refuse to derive anything from this well-formed input."""


def summarise(findings: Sequence[Finding]) -> str:
    """One line that names the first fault and says how many more there are."""
    location, message = findings[0].location, findings[0].message
    first = f"{location}: {message}" if location else message
    rest = len(findings) - 1
    return first if rest == 0 else f"{first} (and {rest} more)"
