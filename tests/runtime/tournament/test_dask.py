"""Events on a cluster of Dask: the results are those of here, whatever is killed, and once each."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
if sys.platform != "linux":
    pytest.skip("who runs a program is seen in /proc", allow_module_level=True)

from tests.runtime.tournament.test_events import accord, played
from tests.runtime.tournament.test_killed import LEFT_SECONDS, MARK, Undisturbed, check_whole, still_running

pytestmark = pytest.mark.release
EVENT = """
event: far and wide
spec: sticks
settings: {reply: 100 s, think: 90 s, again: 1000}
seed: 3
database: small.db
players:
  ann: {command: python3 bot.py}
  bob: {kind: random}
  cyd: {kind: random}
"""
BOT = """
import json, os, signal, sys
if os.path.exists("hold"):  # in the first match only: it tells who it is, and plays no further
    os.rename("hold", "held")
    with open("held", "w") as file:
        file.write(str(os.getpid()))
    signal.pause()
for line in sys.stdin:
    if "ask" in json.loads(line):
        print(json.dumps({"message": "TAKE", "holes": {"count": 1}}), flush=True)
"""


class Cluster:
    """A scheduler and two workers, each worker a process that another starts anew should it be killed."""

    def __init__(self, folder: Path, mark: str) -> None:
        self._environment = {**os.environ, MARK: mark}
        self.scheduler = self._start("scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard")
        self.address = self._line_of(self.scheduler, r"Scheduler at:\s+tcp://(\S+)")[1]
        words = ["--nworkers", "2", "--nthreads", "1", "--no-dashboard", "--local-directory", str(folder)]
        self.workers = self._start("worker", f"tcp://{self.address}", *words)
        for _ in range(2):
            self._line_of(self.workers, r"Registered to:")

    def _start(self, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "dask", *words]
        return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=self._environment)

    @staticmethod
    def _line_of(process: subprocess.Popen[str], pattern: str) -> re.Match[str]:
        assert process.stderr is not None
        for line in process.stderr:
            if found := re.search(pattern, line):
                return found
        raise AssertionError(f"{process.args!r} said nothing like {pattern}")

    def close(self) -> None:
        for process in (self.workers, self.scheduler):
            process.terminate()
            process.communicate()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    mark = uuid4().hex
    found = Cluster(tmp_path_factory.mktemp("dask"), mark)
    yield found
    found.close()
    assert not still_running(mark)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    return Undisturbed(played(event(tmp_path_factory.mktemp("undisturbed"))), 0)


def event(folder: Path, *, held: bool = False) -> Path:
    """Write an event and return its path; if it is ``held``, so is one of its matches, until it is ended."""
    (folder / "bot.py").write_text(BOT)
    (folder / "far.yaml").write_text(EVENT)
    if held:
        os.mkfifo(folder / "hold")
    return folder / "far.yaml"


def start(path: Path, cluster: Cluster) -> tuple[subprocess.Popen[str], int]:
    """Begin to play an event that is held; return its process and the number of the program in the match held."""
    words = [
        sys.executable,
        "-m",
        "runtime",
        "tournament",
        "run",
        str(path),
        "--quiet",
        "--on",
        f"dask://{cluster.address}",
    ]
    running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    held = path.parent / "held"
    fifo = path.parent / "hold"
    return running, int((fifo if fifo.exists() else held).read_text())


def worker_of(program: int) -> int:
    """Return the number of the worker that has a program's match played."""
    while True:
        parent = int(Path(f"/proc/{program}/stat").read_text().rpartition(")")[2].split()[1])
        if b"match_host" in Path(f"/proc/{program}/cmdline").read_bytes():
            return parent
        program = parent


def test_a_worker_is_killed_and_each_match_has_its_result_once(
    cluster: Cluster, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    path = event(tmp_path, held=True)
    running, program = start(path, cluster)

    os.kill(worker_of(program), signal.SIGKILL)

    assert (running.communicate()[1], running.returncode) == ("", 0)
    check_whole(path, played(path), undisturbed, uuid4().hex)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)])
def test_whoever_holds_the_event_is_gone_and_so_are_its_matches_and_another_goes_on(
    number: signal.Signals, code: int, cluster: Cluster, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    path = event(tmp_path, held=True)
    running, program = start(path, cluster)
    process = os.pidfd_open(program)

    running.send_signal(number)

    assert (running.wait(), select.select([process], [], [], LEFT_SECONDS)[0]) == (code, [process])
    os.close(process)
    running.communicate()
    check_whole(path, played(path, "--on", f"dask://{cluster.address}"), undisturbed, uuid4().hex)


def test_a_scheduler_that_is_lost_stops_the_event_and_costs_nobody_a_try(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    mark = uuid4().hex
    cluster = Cluster(tmp_path, mark)
    path = event(tmp_path, held=True)
    running, _ = start(path, cluster)

    cluster.scheduler.kill()

    told = running.communicate()[1]
    assert (running.returncode, f"the scheduler of Dask at {cluster.address} was lost" in told) == (4, True), told
    cluster.close()
    check_whole(path, played(path), undisturbed, mark)


def test_what_is_no_cluster_is_told(tmp_path: Path) -> None:
    path = event(tmp_path)

    code, _, told = accord("run", str(path), "--on", "dask://127.0.0.1:1")

    assert (code, "no scheduler of Dask is at 127.0.0.1:1" in told) == (4, True), told
