"""Who misses a limit while the host stands still is not to blame: that match is played again."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")
if sys.platform == "win32":
    pytest.skip("nothing stops a process there", allow_module_level=True)

from runtime.tournament.host_stalls import STALL_SECONDS, TICK_SECONDS, HostStalls
from runtime.tournament.store import Store
from tests.runtime.tournament.test_events import played

EVENT = """
spec: sticks
settings: {reply: 1 s, think: 900 ms}
seed: 3
players: {ann: {kind: random}, bob: {command: sh bot.sh}}
"""
# It stops its arena for some seconds and never answers; the file says that it did so once.
BOT = """
while read -r line; do case "$line" in *'"ask"'*) break;; esac; done
if test ! -e stopped; then
  touch stopped
  kill -STOP $PPID
  sleep SECONDS
  kill -CONT $PPID
fi
sleep 1000
"""


class Host:
    """A host whose time is what the test says."""

    def __init__(self) -> None:
        self.time = 100.0
        self.stalls = HostStalls(lambda: self.time)

    def wakes_after(self, seconds: float) -> None:
        self.time += seconds
        self.stalls.look()


def test_a_look_that_comes_too_late_is_a_stall_from_when_it_was_due() -> None:
    host = Host()
    for _ in range(50):
        host.wakes_after(TICK_SECONDS)
    host.wakes_after(TICK_SECONDS + 0.5)
    host.wakes_after(TICK_SECONDS)
    host.wakes_after(TICK_SECONDS + 0.25)

    assert host.stalls.between(100.0, host.time) == pytest.approx(0.75)
    assert host.stalls.between(100.0, 101.0) == 0
    assert host.stalls.between(101.12, 101.22) == pytest.approx(0.1)  # within the first
    assert host.stalls.between(host.time - 0.1, host.time) == pytest.approx(0.1)


def test_a_look_that_comes_a_little_late_is_none() -> None:
    host = Host()
    for _ in range(50):
        host.wakes_after(TICK_SECONDS + STALL_SECONDS * 0.9)

    assert host.stalls.between(0.0, host.time) == 0


def test_a_stall_counts_before_it_is_looked_at() -> None:
    host = Host()
    host.time += 1.0

    assert host.stalls.between(100.0, host.time) == pytest.approx(1.0 - TICK_SECONDS - STALL_SECONDS)


@pytest.mark.parametrize(("seconds", "states"), [(0.4, ["broken", "played"]), (0.0, ["played"])])
def test_a_limit_missed_while_the_host_stood_still_breaks_the_match_and_it_is_played_again(
    seconds: float, states: list[str], tmp_path: Path
) -> None:
    (tmp_path / "bot.sh").write_text(BOT.replace("SECONDS", str(seconds)))
    path = tmp_path / "two.yaml"
    path.write_text(EVENT)

    facts = played(path)

    store = Store(f"sqlite:///{tmp_path / 'two.db'}")
    attempts = store.attempts()
    store.close()
    assert [attempt.state for attempt in attempts] == states
    if seconds:
        assert re.fullmatch(r"this host stood still for 0\.\d\d of the (1|0\.9) s that bob had", attempts[0].why)
    assert [(one["player"], one["fault"] is not None) for one in facts["matches"][0]["places"]] == [
        ("ann", False),
        ("bob", True),
    ]
