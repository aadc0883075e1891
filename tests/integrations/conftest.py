"""What several tests of the tools need."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from tests.integrations.github_service import Service

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
