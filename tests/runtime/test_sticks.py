"""A game in lines of text: our own clients play it to its end, and so does somebody who types."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.effects import Ended, MatchOutcome
from machines.engine.compiler import Program
from machines.parser.loader import load
from runtime.journal.replay import replay, spec_hash
from runtime.journal.writing import FORMAT, Head, open_journal
from runtime.sessions.game_result import Participant
from runtime.sessions.match import play
from runtime.sessions.server import serve

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    return request.param, {}


async def test_players_take_sticks_until_one_has_the_last() -> None:
    spec = load("sticks", {"seats": "3..3", "again": "1000"})
    seats = [Participant(name, "random", number) for number, name in enumerate(("ann", "bob", "cyd"))]

    result = await play(spec, {}, seats, server="host", client="player", seed=1)

    assert result.ended is not None
    assert result.ended.value in ("ann", "bob", "cyd")
    assert {outcome.value for outcome in result.players} == {result.ended.value}


async def test_who_breaks_off_is_last_and_the_honest_share_the_place_before(tmp_path: Path) -> None:
    settings = {"seats": "3..3", "again": "1000"}
    spec = load("sticks", settings)
    kinds = {"ann": "random", "bob": "gone", "cyd": "random"}
    seats = [Participant(name, kind, 1) for name, kind in kinds.items()]
    head = Head(FORMAT, "1", "sticks", "sticks", spec_hash("sticks"), "host", 1, settings=settings)
    with closing(open_journal(tmp_path / "run.jsonl", head)) as journal:
        result = await play(spec, {}, seats, server="host", client="player", seed=1, journal=journal)

    assert result.ended == Ended("nobody", None, MatchOutcome((), (1,)))
    replayed = replay(tmp_path / "run.jsonl")
    assert (replayed.difference, len(replayed.endings)) == (None, 1)
    changed = (tmp_path / "run.jsonl").read_text().replace('"faults":[1]', '"faults":[2]')
    (tmp_path / "changed.jsonl").write_text(changed)
    assert replay(tmp_path / "changed.jsonl").difference is not None


async def test_who_types_lines_is_told_what_will_not_do_and_wins() -> None:
    spec = load("sticks", {"seats": "1..1", "sticks": "4"})
    ports: list[int] = []
    ended: list[Any] = []

    async def host() -> None:
        ended.append(await serve(Program(spec, "host", {}), "127.0.0.1", 0, on_listening=ports.append))

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(host)
            while not ports:
                await anyio.lowlevel.checkpoint()
            async with await anyio.connect_tcp("127.0.0.1", ports[0]) as stream:
                await stream.send(b"hello ann\r\ntake 3\ntake 9\ntake 1\n")
                said = b""
                while b"winner" not in said:
                    said += await stream.receive()

    assert said.decode().splitlines()[:5] == ["left 4", "taken 3 by ann", "left 1", "no unknown", "taken 1 by ann"]
    assert said.decode().splitlines()[5:] == ["winner ann"]
    assert ended[0].value == "ann"
