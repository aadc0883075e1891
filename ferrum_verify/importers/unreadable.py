"""What an importer says of a file that it cannot read."""

from __future__ import annotations

from ferrum_verify.findings.errors import FerrumVerifyError


class ForeignPlanError(FerrumVerifyError):
    """The file is not of the format that was named, or is damaged; the message is a sentence."""
