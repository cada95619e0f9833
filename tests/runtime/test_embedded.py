"""A program with an asyncio loop of its own may run server and clients in it, with nothing of anyio around them."""

from __future__ import annotations

import asyncio

import pytest

from machines.effects import Ended
from machines.engine.session import Program
from machines.parser.loader import load
from runtime.players.registry import open_player
from runtime.sessions.client import join
from runtime.sessions.server import serve


async def played(players: int) -> tuple[Ended, list[Ended]]:
    """Play one game of Sticks, all sides in this loop."""
    spec = load("sticks", settings={"seats": str(players), "window": "10 s"})
    host, client = Program(spec, "host", {}), Program(spec, "player", {})
    listening = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(host, seed=1, on_listening=listening.set_result))
    port = await listening

    async def one(name: str) -> Ended:
        async with open_player("random", spec=spec, name=name, seed=1) as player:
            return await join(client, {"host": ("127.0.0.1", port)}, player, my={"name": name})

    clients = await asyncio.gather(*[one(f"p{number}") for number in range(players)])
    return await serving, clients


@pytest.mark.parametrize("kind", ["asyncio", "uvloop"])
def test_a_game_is_played_in_a_plain_loop(kind: str) -> None:
    loops = pytest.importorskip(kind)
    with asyncio.Runner(loop_factory=loops.new_event_loop) as runner:
        ended, clients = runner.run(asyncio.wait_for(played(3), 30))

    assert ended.failed is None
    assert [client.failed for client in clients] == [None] * 3
    assert {client.value for client in clients} == {ended.value}
