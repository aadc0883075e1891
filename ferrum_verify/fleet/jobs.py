"""Jobs: several processes of one machine, each of which audits file after file.

A process that dies takes all that its pool was doing with it, and nobody is told which document
killed it. So only a few are under way at a time, and after a death each of those is tried again
by itself: the one that kills its process once more is named, and the others go on.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ferrum_verify.fleet.auditor import Auditor
from ferrum_verify.fleet.done import KILLED, Done, done_with

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

    from ferrum_verify.fleet.reading import DocumentWire
    from ferrum_verify.fleet.terms import Terms


def usable_processors() -> int:
    """How many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(slots=True)
class Pool:
    """Processes that audit by the same terms, made again when one of them has died."""

    terms: Terms
    carrying: Mapping[str, DocumentWire]
    jobs: int
    _pool: ProcessPoolExecutor | None = None
    _underway: dict[Future[Done], int] = field(default_factory=dict)

    def run(self, paths: Sequence[str], places: Iterable[int]) -> Iterator[tuple[int, Done]]:
        """The places of files with what was found there, as they come.

        Whatever ends it early, an interruption too, ends the processes.
        """
        waiting = [*places][::-1]
        try:
            while waiting or self._underway:
                while waiting and len(self._underway) <= self.jobs:
                    self._start(waiting.pop(), paths)
                suspects = yield from self._finished()
                for place in suspects:
                    yield place, self._alone(paths[place])
        finally:
            self._end()

    def _start(self, place: int, paths: Sequence[str]) -> None:
        if self._pool is None:
            self._pool = self._made(self.jobs)
        try:
            with _deaf_to_interruptions():
                self._underway[self._pool.submit(_audit, paths[place])] = place
        except BrokenProcessPool as error:
            broken: Future[Done] = Future()
            broken.set_exception(error)
            self._underway[broken] = place

    def _finished(self) -> Generator[tuple[int, Done], None, list[int]]:
        """What has ended; returns the places of files that a process may have died of."""
        ended, _ = wait(self._underway, return_when=FIRST_COMPLETED)
        suspects: list[int] = []
        for future in ended:
            place = self._underway.pop(future)
            try:
                yield place, future.result()
            except BrokenProcessPool:
                suspects.append(place)
        if suspects:
            # All that was under way is lost with the pool, whoever broke it.
            suspects += self._underway.values()
            self._underway.clear()
            self._end()
        return sorted(suspects)

    def _alone(self, path: str) -> Done:
        with self._made(1) as pool:
            try:
                with _deaf_to_interruptions():
                    future = pool.submit(_audit, path)
                return future.result()
            except BrokenProcessPool:
                return Done(None, KILLED)

    def _made(self, jobs: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            jobs,
            # A copy of this process would have the solver's threads without what they hold.
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
            initargs=(self.terms, self.carrying),
        )

    def _end(self) -> None:
        pool, self._pool = self._pool, None
        if pool is None:
            return
        processes = [*(pool._processes or {}).values()]  # it has no other way to end them
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


@contextmanager
def _deaf_to_interruptions() -> Iterator[None]:
    """Ctrl-C in a terminal goes to every process: what begins meanwhile is to be deaf to it.

    The first process ends the others.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


_auditor: list[Auditor] = []
"""The auditor of a process of a pool, once it has begun."""


def _begin(terms: Terms, carrying: Mapping[str, DocumentWire]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _auditor[:] = [Auditor.of(terms, carrying)]


def _audit(path: str) -> Done:
    (auditor,) = _auditor
    return done_with(auditor, path)
