"""The proxy over real TCP: bytes pass as they are, and who deviates first is named."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream, TaskGroup

from machines.conforming.overhearing import Accusation, Overhearing
from machines.parser.loader import load, rules_modules
from runtime.cli import main
from runtime.conforming.proxying import Proxy, listen_for
from runtime.journal.replay import replay, spec_hash
from runtime.journal.writing import FORMAT, Head, open_journal

ALONE = {"seats": "1..4"}
Talk = Callable[[SocketStream, SocketStream], Coroutine[Any, Any, None]]


async def proxied(spec: str, talk: Talk, *, block: bool = False, journal: Any = None) -> list[Accusation]:
    """Let a client and a server talk through a proxy; return who is accused."""
    loaded = load(spec, ALONE)
    overhearing = Overhearing(loaded, loaded.listeners()[0], rules_modules(loaded, ()))
    behind = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = behind.extra(SocketAttribute.local_port)
    proxy = Proxy(
        overhearing, ("127.0.0.1", port), grace=1.0, block=block, told=lambda one: None, write=journal and journal.write
    )
    taking, taken = await listen_for("127.0.0.1", 0)
    done = anyio.Event()

    async def play(tasks: TaskGroup) -> None:
        async with await anyio.connect_tcp("127.0.0.1", taken) as client:

            async def answer(server: SocketStream) -> None:
                async with server:
                    await talk(client, server)
                done.set()

            tasks.start_soon(behind.serve, answer)
            await done.wait()

    async with behind, taking, anyio.create_task_group() as tasks:
        tasks.start_soon(proxy.run, taking)
        await play(tasks)
        tasks.cancel_scope.cancel()
    proxy.finish()
    return overhearing.accusations


async def exactly(stream: SocketStream, count: int) -> bytes:
    found = b""
    while len(found) < count:
        found += await stream.receive()
    return found


@pytest.mark.anyio
async def test_bytes_pass_as_they_are_in_any_pieces() -> None:
    chance = Random(1)
    sent = b"".join(b"hello x%d\n" % number for number in range(2000))

    async def talk(client: SocketStream, server: SocketStream) -> None:
        at = 0
        while at < len(sent):
            size = chance.randrange(1, 4000)
            await client.send(sent[at : at + size])
            at += size
        assert await exactly(server, len(sent)) == sent
        await server.send(sent)
        assert await exactly(client, len(sent)) == sent
        await client.send_eof()
        with pytest.raises(anyio.EndOfStream):
            await server.receive()
        await server.send(b"late\n")
        assert await exactly(client, 5) == b"late\n"

    found = await proxied("sticks", talk)

    assert [one.role for one in found] == ["player"]


@pytest.mark.anyio
async def test_the_side_that_deviates_first_is_named_and_what_follows_is_not() -> None:
    async def server_first(client: SocketStream, server: SocketStream) -> None:
        await client.send(b"hello ann\n")
        await exactly(server, 10)
        await server.send(b"nonsense\n")
        await exactly(client, 9)
        await client.send(b"nonsense\n")
        await exactly(server, 9)

    found = await proxied("sticks", server_first)

    assert [(one.role, one.deviation.kind) for one in found] == [("host", "bytes")]


@pytest.mark.anyio
async def test_with_block_bytes_that_deviate_do_not_pass_and_the_link_is_cut() -> None:
    heard = []

    async def talk(client: SocketStream, server: SocketStream) -> None:
        await client.send(b"hello ann\n")
        heard.append(await exactly(server, 10))
        await client.send(b"hello ann\n")
        with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
            heard.append(await server.receive())

    found = await proxied("sticks", talk, block=True)

    assert heard == [b"hello ann\n"]
    assert [(one.role, one.deviation.kind) for one in found] == [("player", "order")]


@pytest.mark.anyio
async def test_the_journal_replays(tmp_path: Path) -> None:
    async def talk(client: SocketStream, server: SocketStream) -> None:
        await client.send(b"hello ann\n")
        await exactly(server, 10)
        await server.send(b"left 3\n")
        await exactly(client, 7)
        await client.send(b"take 3\n")
        await exactly(server, 7)
        await server.send(b"taken 3 by ann\nwinner ann\n")
        await exactly(client, 26)

    head = Head(FORMAT, "", "sticks", "sticks", spec_hash("sticks"), "player", 0, ALONE)
    journal = open_journal(tmp_path / "w.jsonl", head)
    found = await proxied("sticks", talk, journal=journal)
    journal.close()

    played = replay(tmp_path / "w.jsonl")
    assert found == []
    assert played.difference is None
    assert [ending.value for ending in played.endings] == ["ann"]


def test_a_port_in_use_and_an_address_that_is_none_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["proxy", "sticks", "--to", "nowhere"]) == 2
    assert "HOST:PORT" in capsys.readouterr().err
