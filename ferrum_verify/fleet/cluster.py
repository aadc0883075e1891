"""A Dask cluster: documents go to its workers, and reports come back as they are done.

What is sent is what a file holds, so that workers need not see this machine's files. Dask takes a
document that a lost worker had to another; one that no worker survives is given up, and named.
"""

from __future__ import annotations

from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ferrum_verify.findings.errors import FerrumVerifyError
from ferrum_verify.fleet.done import Done
from ferrum_verify.reading.load import MAXIMUM_FILE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ferrum_verify.fleet.reading import DocumentWire
    from ferrum_verify.fleet.terms import Terms

MISSING = "Dask is not installed: pip install 'ferrum-verify[dask]'."
KILLED_WORKERS = "the workers of the cluster that took it up were lost"
LOST = "the cluster was lost"
SECONDS_TO_CONNECT = 30
AHEAD = 4
"""Files for each processor of the cluster that are sent before they can be taken up."""


class ClusterError(FerrumVerifyError):
    """There is no cluster to be used; the text is a sentence."""


@dataclass(slots=True)
class Cluster:
    """The workers of the scheduler at an address, which audit by the same terms."""

    terms: Terms
    carrying: Mapping[str, DocumentWire]
    address: str
    _underway: dict[Any, int] = field(default_factory=dict)

    def run(self, paths: Sequence[str], places: Iterable[int]) -> Iterator[tuple[int, Done]]:
        """The places of files with what was found there, as they come; raises ClusterError."""
        try:
            import distributed  # noqa: PLC0415 - an extra, of many packages

            from ferrum_verify.fleet import cluster_worker  # noqa: PLC0415
        except ImportError:
            raise ClusterError(MISSING) from None
        try:
            client = distributed.Client(self.address, timeout=SECONDS_TO_CONNECT)
        except (OSError, ValueError) as error:
            raise ClusterError(f"There is no Dask cluster at {self.address}: {error}.") from None
        name = uuid4().hex
        with client:
            auditor = cluster_worker.AuditorOfRun(name, self.terms, self.carrying)
            try:
                client.register_plugin(auditor, name=name)
            except OSError as error:
                raise ClusterError(f"A worker was lost before the run began: {error}.") from None
            waiting = [*places][::-1]
            most = AHEAD * max(1, sum(client.nthreads().values()))
            following = distributed.as_completed()
            while waiting or self._underway:
                while waiting and len(self._underway) < most:
                    place = waiting.pop()
                    path = paths[place]
                    future = client.submit(
                        cluster_worker.audit, name, path, _content(path), pure=False
                    )
                    self._underway[future] = place
                    following.add(future)
                future = next(following)
                place = self._underway.pop(future)
                yield place, _result(future, distributed.KilledWorker)
            client.unregister_worker_plugin(name)


def _result(future: Any, killed: type[Exception]) -> Done:
    try:
        done: Done = future.result()
    except killed:
        return Done(None, KILLED_WORKERS)
    except (OSError, CancelledError):
        return Done(None, LOST)
    return done


def _content(path: str) -> bytes | None:
    """What the file holds; None of one that cannot be read, as whoever audits it will find."""
    try:
        with Path(path).open("rb") as stream:
            content = stream.read(MAXIMUM_FILE_BYTES + 1)
    except (OSError, ValueError):
        return None
    return content if len(content) <= MAXIMUM_FILE_BYTES else None
