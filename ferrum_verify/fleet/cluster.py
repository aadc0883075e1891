"""A Dask cluster: documents go to its workers, and reports come back as they are done.

What is sent is what a file holds, so that workers need not see this machine's files. Dask takes a
document that a lost worker had to another; one that no worker survives is given up, and named.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ferrum_verify.findings.errors import FerrumVerifyError
from ferrum_verify.fleet.auditor import Auditor
from ferrum_verify.fleet.jobs import Done, done_with
from ferrum_verify.reading.load import MAXIMUM_FILE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ferrum_verify.fleet.reading import DocumentWire
    from ferrum_verify.fleet.terms import Terms

MISSING = "Dask is not installed: pip install 'ferrum-verify[dask]'."
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
        except ImportError:
            raise ClusterError(MISSING) from None
        try:
            client = distributed.Client(self.address, timeout=SECONDS_TO_CONNECT)
        except (OSError, ValueError) as error:
            raise ClusterError(f"There is no Dask cluster at {self.address}: {error}.") from None
        with client:
            terms = client.scatter(
                _Sent(uuid4().hex, self.terms, self.carrying), broadcast=True, hash=False
            )
            waiting = [*places][::-1]
            most = AHEAD * max(1, sum(client.nthreads().values()))
            following = distributed.as_completed()
            while waiting or self._underway:
                while waiting and len(self._underway) < most:
                    place = waiting.pop()
                    content = _content(paths[place])
                    future = client.submit(
                        _audit, terms, paths[place], content, pure=False, retries=1
                    )
                    self._underway[future] = place
                    following.add(future)
                future = next(following)
                place = self._underway.pop(future)
                yield place, _result(future, distributed.KilledWorker)


@dataclass(frozen=True, slots=True)
class _Sent:
    """What every worker is told once; ``run`` tells one run from the next."""

    run: str
    terms: Terms
    carrying: Mapping[str, DocumentWire]


def _result(future: Any, killed: type[Exception]) -> Done:
    try:
        done: Done = future.result()
    except killed:
        return Done(None)
    return done


def _content(path: str) -> bytes | None:
    """What the file holds; None of one that cannot be read, as whoever audits it will find."""
    try:
        with Path(path).open("rb") as stream:
            content = stream.read(MAXIMUM_FILE_BYTES + 1)
    except (OSError, ValueError):
        return None
    return content if len(content) <= MAXIMUM_FILE_BYTES else None


_lock = Lock()
_auditors: dict[str, Auditor] = {}
"""The auditor of a worker for the run that last asked it."""


def _audit(sent: _Sent, path: str, content: bytes | None) -> Done:
    with _lock:  # a worker may have several threads, and the solver works for one at a time
        if sent.run not in _auditors:
            _auditors.clear()
            _auditors[sent.run] = Auditor.of(sent.terms, sent.carrying)
        return done_with(_auditors[sent.run], path, content)
