"""Matches on a machine of a cluster: a worker asks the *host* beside it, which has a process for each match.

    worker -> host   ("play", run, task, preloaded)      or  ("end", run): nobody wants its result any more
    host -> worker   (run, report)

The host is a process of its own, ``python -m runtime.tournament.match_host DESCRIPTOR``, as workers of Dask may start
none by ``multiprocessing``. It ends, with all that it started, when the worker's end of the pipe is closed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from queue import Empty, SimpleQueue
from socket import gethostname
from typing import Final
from uuid import uuid4

from machines.parser.loader import SpecNotFound
from machines.problems import SpecError
from runtime.journal.replay import spec_hash
from runtime.process.installation import program_version
from runtime.tournament.engines import LocalEngine
from runtime.tournament.match_process import MatchReport, MatchTask
from runtime.tournament.preparation import recipe

LOOK_SECONDS: Final = 1.0  # between two looks whether a match is still wanted


class MatchHost:
    """The worker's side of a host; several threads may have matches played at a time."""

    def __init__(self) -> None:
        self._connection, theirs = Pipe()
        words = [sys.executable, "-m", "runtime.tournament.match_host", str(theirs.fileno())]
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # a Ctrl-C is the worker's
        )
        theirs.close()
        self._lock = threading.Lock()
        self._waiting: dict[str, SimpleQueue[MatchReport]] = {}
        self.ended = False
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def close(self) -> None:
        """End the host, and all matches with it."""
        self._process.terminate()
        self._listener.join()
        self._connection.close()

    def play(
        self, run: str, task: MatchTask, preloaded: Sequence[str], is_wanted: Callable[[], bool] = lambda: True
    ) -> MatchReport:
        """Play a match and return how it went; it is ended if it is not wanted any more."""
        heard: SimpleQueue[MatchReport] = SimpleQueue()
        with self._lock:
            self._waiting[run] = heard
            if self.ended:
                self._give_up()
            else:
                self._say("play", run, task, tuple(preloaded))
        while True:
            with suppress(Empty):
                return heard.get(timeout=LOOK_SECONDS)
            if not is_wanted():
                with self._lock:
                    del self._waiting[run]
                    self._say("end", run)
                return MatchReport(broken="nobody wants its result any more")

    def _say(self, *words: object) -> None:
        with suppress(OSError):  # then `_listen` hears that it ended
            self._connection.send(words)

    def _listen(self) -> None:
        with suppress(EOFError, OSError):
            while True:
                run, report = self._connection.recv()
                with self._lock:
                    if run in self._waiting:
                        self._waiting.pop(run).put(report)
        code = self._process.wait()
        with self._lock:
            self.ended = True
            self._give_up(code)

    def _give_up(self, code: int | None = None) -> None:
        for heard in self._waiting.values():
            heard.put(MatchReport(broken=f"what plays matches on {gethostname()} ended with {code}"))
        self._waiting.clear()


_hosts: list[MatchHost] = []
_making = threading.Lock()


def _host() -> MatchHost:
    """Return the host of this process; a new one if the last has ended."""
    with _making:
        if not _hosts or _hosts[-1].ended:
            _hosts[:] = [MatchHost()]
        return _hosts[-1]


def play_here(task: MatchTask, preloaded: Sequence[str], is_wanted: Callable[[], bool] = lambda: True) -> MatchReport:
    """Play a match beside this worker and return how it went, under the name of a run of its own.

    Whoever asked may have it played twice. It never raises: what goes wrong is told as the arena's fault.
    """
    try:
        if why := unlike(task.accord, task.spec_hash, task.spec, task.folder.parents[2]):
            return MatchReport(broken=why)
        run = uuid4().hex[:12]
        own = replace(task, folder=task.folder.parent / run, mark=f"{task.mark}/{run}")
        return replace(_host().play(run, own, preloaded, is_wanted), run=run)
    except BaseException as error:
        return MatchReport(broken=f"on {gethostname()}: {type(error).__name__}: {error}")


def unlike(accord: str, digest: str, spec: str, folder: Path) -> str:
    """Return why an event's matches cannot be played on this machine; empty if they can.

    ``accord`` is the version that holds the event, ``digest`` the hash of its spec, ``folder`` where its file is.
    """
    where = gethostname()
    if program_version() != accord:
        return f"{where} has Accord {program_version()}, and the event is held by {accord}: install the same"
    if not folder.is_dir():
        return f"{where} has no folder {folder}: share the event's folder with it, under the same path"
    try:
        found = spec_hash(spec)
    except (OSError, SpecError, SpecNotFound):
        return f"{where} has no spec {spec}: share the folder that it is in, under the same path"
    return "" if found == digest else f"{where} has another spec {spec} than where the event is held"


def serve(connection: Connection) -> None:
    """Be the host, until the other end of the connection is closed."""
    engine: LocalEngine | None = None
    while True:
        sources = engine.sources() if engine is not None else []
        ready = wait([connection, *sources], timeout=LOOK_SECONDS)
        if engine is not None:
            for run, report in engine.reports(ready):
                connection.send((run, report))
        if connection in ready:
            asked = connection.recv()
            if asked[0] == "play":
                _, run, task, preloaded = asked
                made = recipe(task.spec, task.settings, task.rules, task.server, task.client)
                engine = engine or LocalEngine(preloaded, [made])
                engine.start(run, task)
            elif engine is not None:
                engine.end(asked[1])


def main(descriptor: int) -> None:
    """Be the host of whoever has the other end of the pipe with this descriptor, and end all with it."""
    with suppress(EOFError, OSError):
        serve(Connection(descriptor))
    os._exit(0)  # each match sees that its pipe is closed, and ends with its programs


if __name__ == "__main__":
    main(int(sys.argv[1]))
