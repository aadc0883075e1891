"""Small plans with real mechanisms of failure, as fixtures."""

from __future__ import annotations

import gzip
import json
from typing import Any

from tests.vectors import FIXTURES


def case(name: str, which: str = "faulty") -> Any:
    """The faulty document of a case, or its sound twin."""
    return json.loads(
        gzip.decompress((FIXTURES / "cases" / name / f"{which}.json.gz").read_bytes())
    )
