"""What is measured still runs: each server that the comparison knows plays a batch, and the engine its games."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.comparison import WORDS, Server
from benchmarks.engine import TURNS, pairs_program, simple_events
from benchmarks.handwritten import SERVERS
from benchmarks.simulation import row
from tests.parts import by_default

ROOT = Path(__file__).resolve().parents[1]
PAIRS, MOVES = 2, 20


def test_every_server_of_the_comparison_is_tried_here() -> None:
    assert {"ours", "hall", "ours-stock", *SERVERS} == set(WORDS)


@pytest.mark.parametrize("kind", by_default(sorted(WORDS), ["ours", "hall"]))
def test_a_server_plays_a_batch_to_its_end(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    server = Server(kind, "asyncio", PAIRS, MOVES)
    try:
        server.ready()
        batches = [server.batch([sys.executable, "-m", "benchmarks.bots"]) for _ in range(2)]
    finally:
        server.close()

    assert [batch.moves for batch in batches] == [PAIRS * MOVES] * 2


def test_the_engine_plays_what_is_timed() -> None:
    assert simple_events(pairs_program(TURNS))()() == TURNS - 1


def test_games_in_memory_are_timed_beside_the_same_over_tcp() -> None:
    found = row("tsuro", ("second", "second", "second"), (), 1)
    assert 0 < found.thinking < found.memory < found.tcp
