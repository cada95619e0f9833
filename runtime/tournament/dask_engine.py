"""Matches on the workers of a Dask cluster: ``accord tournament run EVENT.yaml --on dask://HOST:PORT``.

Dask plays a match again whose worker was lost, sometimes one that came to its end; a result counts once, by its key in
the database. The event's folder, and that of its spec, must be seen by all workers under the same path.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from math import inf
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final

from runtime.sessions.game_result import Participant
from runtime.tournament.engines import EngineLostError
from runtime.tournament.event import Event
from runtime.tournament.match_host import play_here, unlike
from runtime.tournament.match_process import MatchReport, MatchTask

distributed: Any = import_module("distributed")  # it has no types, and need not be there where types are checked

CONNECT_SECONDS: Final = 10.0
COUNT_SECONDS: Final = 5.0  # between two looks how many workers there are


class DaskEngine:
    """Plays matches on the workers of the cluster whose scheduler is at ``address``, as HOST:PORT.

    ``preloaded`` are modules that all matches need; ``tell`` hears if there is no worker.

    Raises:
        EngineLostError: no scheduler is there.
    """

    def __init__(self, address: str, preloaded: Sequence[str], tell: Callable[[str], None]) -> None:
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what is to be told is told by `EngineLostError`
        self._address, self._preloaded, self._tell = address, tuple(preloaded), tell
        try:
            self._client = distributed.Client(f"tcp://{address}", timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise EngineLostError(f"no scheduler of Dask is at {address}: {error}") from None
        self._futures: dict[str, Any] = {}
        self._done: SimpleQueue[str] = SimpleQueue()
        self._woken, self._waker = Pipe(duplex=False)
        self._most, self._counted = 0, -inf

    def most(self) -> int:
        """Return how many threads all workers have together; 1 while there is no worker."""
        if time.monotonic() - self._counted > COUNT_SECONDS:
            found = sum(self._client.nthreads().values()) if self._client.status == "running" else 0
            if not found and self._most != 1:
                self._tell(f"the cluster at {self._address} has no worker: dask worker {self._address} is waited for")
            self._most, self._counted = max(1, found), time.monotonic()
        return self._most

    def check(self, accord: str, digest: str, event: Event) -> None:
        """Make sure that matches of an event can be played by each worker that is there.

        Raises:
            EngineLostError: they cannot; the text says where, and why not.
        """
        given = accord, digest, _whole(event.spec), event.file.parent.resolve()
        for worker, found in self._client.run(unlike, *given, on_error="return").items():
            if found:
                why = f"{worker} has no Accord: {found}" if isinstance(found, ImportError) else str(found)
                raise EngineLostError(why)

    def start(self, run: str, task: MatchTask) -> None:
        """Begin to play a match."""
        key = f"accord-{task.mark}".replace("/", "-")
        future = self._client.submit(_play, _shared(task), self._preloaded, key=key, pure=False)
        self._futures[run] = future

        def done(_: object) -> None:
            self._done.put(run)
            with suppress(OSError, ValueError):  # it was closed
                self._waker.send_bytes(b".")

        future.add_done_callback(done)

    def sources(self) -> list[Connection]:
        """Return what can be read as soon as something has come of a match."""
        return [self._woken]

    def due(self) -> float:
        """Return never: whoever plays a match there knows its time."""
        return inf

    def reports(self, ready: Sequence[object]) -> Iterator[tuple[str, MatchReport]]:
        """Yield what has come of matches.

        Raises:
            EngineLostError: the scheduler was lost.
        """
        if self._woken in ready:
            self._woken.recv_bytes()
            with suppress(Empty):
                run = self._done.get_nowait()
                yield run, self._report_of(self._futures.pop(run))

    def _report_of(self, future: Any) -> MatchReport:
        if future.status == "finished":
            found = future.result()
            assert isinstance(found, MatchReport), "that is what _play returns"
            return found
        if future.status == "error":  # _play raises nothing: it was never called, or its workers were lost
            return MatchReport(broken=f"{type(error := future.exception()).__name__}: {error}")
        raise EngineLostError(f"the scheduler of Dask at {self._address} was lost")

    def close(self) -> None:
        """Have the workers end all matches that are still played."""
        for future in self._futures.values():
            with suppress(Exception):  # the scheduler may be gone
                future.cancel()
        with suppress(Exception):
            self._client.close(timeout=CONNECT_SECONDS)


def _shared(task: MatchTask) -> MatchTask:
    """Return a task with whole paths, which lead to the same elsewhere."""
    seats = tuple([_with_whole_path(seat) for seat in task.seats])
    return replace(task, spec=_whole(task.spec), seats=seats)


def _whole(spec: str) -> str:
    return str(Path(spec).resolve()) if spec.endswith((".yaml", ".yml")) else spec


def _with_whole_path(seat: Participant) -> Participant:
    return replace(seat, folder=seat.folder.resolve()) if seat.folder is not None else seat


def _play(task: MatchTask, preloaded: tuple[str, ...]) -> MatchReport:
    """Play a match; this runs in a thread of a worker."""
    worker = distributed.get_worker()
    key = worker.get_current_task()

    def is_wanted() -> bool:
        found = worker.state.tasks.get(key)
        return found is not None and found.state != "cancelled"

    return play_here(task, preloaded, is_wanted)
