"""Servers and clients over real loopback sockets, by every way that bytes may take."""

from __future__ import annotations

import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from math import inf
from ssl import SSLContext
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import SocketAttribute, SocketStream

from machines.effects import Ended
from runtime.network.transport import (
    CannotConnectError,
    CannotListenError,
    Connection,
    NobodyListensError,
    PortInUseError,
)
from runtime.sessions.client import connect_all, join
from runtime.sessions.server import serve
from tests.runtime.fakes import LineSession, LineSessions, MemoryJournal, ScriptedPlayer, line_program

pytestmark = pytest.mark.anyio


class Served:
    """A server in the background."""

    def __init__(self) -> None:
        self.port = 0
        self.sessions = LineSessions()
        self.journal = MemoryJournal()
        self.ended: Ended | None = None
        self.endings: list[tuple[int, Ended]] = []
        self.over = anyio.Event()
        self.scope = anyio.CancelScope()

    @property
    def session(self) -> LineSession:
        return self.sessions.made[0]

    async def connect(self) -> SocketStream:
        return await anyio.connect_tcp("127.0.0.1", self.port)


@asynccontextmanager
async def serving(
    stock: bool, address_max: float = inf, tls: SSLContext | None = None, **program: Any
) -> AsyncIterator[Served]:
    served = Served()
    listening = anyio.Event()

    def on_listening(port: int) -> None:
        served.port = port
        listening.set()

    async def run() -> None:
        with served.scope:
            served.ended = await serve(
                line_program(**program),
                journal=served.journal,
                on_listening=on_listening,
                on_ended=lambda number, ended: served.endings.append((number, ended)),
                address_max=address_max,
                stock=stock,
                tls=tls,
                make_session=served.sessions,
            )
        served.over.set()

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await listening.wait()
            yield served
            tasks.cancel_scope.cancel()


async def read(stream: SocketStream, until: bytes) -> bytes:
    """Return what comes until it ends with ``until``, or ends."""
    got = bytearray()
    while not got.endswith(until):
        try:
            got += await stream.receive()
        except anyio.EndOfStream:
            break
    return bytes(got)


async def until(true: Callable[[], bool]) -> None:
    """Wait for something that happens in a task nobody can await; `serving` limits the time."""
    while not true():
        await anyio.lowlevel.checkpoint()


async def test_bytes_go_both_ways_and_a_session_ends_in_good_order(stock: bool) -> None:
    async with serving(stock) as served, await served.connect() as one, await served.connect() as two:
        assert await read(one, b"\n") == b"hello\n"
        assert await read(two, b"\n") == b"hello\n"
        await one.send(b"all a\nec")
        assert await read(two, b"\n") == b"a\n"
        await one.send(b"ho b\n")
        assert await read(one, b"b\n") == b"a\nb\n"
        await two.send(b"end well\n")

        assert await read(one, b"!") == b"over\n"
        assert await read(two, b"!") == b"over\n"
        await one.aclose()
        await two.aclose()
        await served.over.wait()
        assert served.ended == Ended("well", None)
        assert served.endings == [(0, served.ended)]


async def test_half_a_message_and_a_close_are_bytes_and_a_loss(stock: bool) -> None:
    async with serving(stock) as served, await served.connect() as other:
        async with await served.connect() as one:
            await one.send(b"echo a\nhalf a mess")
            await read(one, b"a\n")
        await until(lambda: any(what[0] == "lost" for what in served.session.inputs))

        assert [what for what in served.session.inputs if what[0] == "lost"] == [("lost", 1, b"half a mess")]
        await other.send(b"echo on\n")
        assert await read(other, b"on\n") == b"hello\non\n"


async def test_a_peer_that_closes_its_half_still_gets_what_was_sent_to_it(stock: bool) -> None:
    async with serving(stock) as served, await served.connect() as one:
        await one.send(b"flood 300000\n")
        await one.send_eof()

        assert await read(one, b"!") == b"hello\n" + b"x" * 300_000


async def test_a_peer_that_resets_its_connection_is_lost(stock: bool) -> None:
    async with serving(stock) as served, await served.connect() as one:
        await read(one, b"\n")
        raw = one.extra(SocketAttribute.raw_socket)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        await one.aclose()
        await until(lambda: any(what[0] == "lost" for what in served.session.inputs))

        assert served.journal.lines[-1][0] == "lost"
        assert served.journal.lines[-1][3]["why"] == "connection reset by peer"


async def test_a_dropped_peer_gets_its_last_bytes_although_it_goes_on_sending(stock: bool) -> None:
    """Closing with unread bytes would reset the connection, and the reset would overtake the farewell."""
    async with serving(stock) as served, await served.connect() as one:
        await one.send(b"bye\n" + b"x" * 300_000)

        assert await read(one, b"!") == b"hello\nbye\n"


async def test_ten_megabytes_of_garbage_harm_nobody_else(stock: bool) -> None:
    async with serving(stock) as served, await served.connect() as one, await served.connect() as two:
        await one.send(b"\xff\0{[" * (10 << 18) + b"\necho done\n")
        await two.send(b"echo on\n")

        assert await read(two, b"on\n") == b"hello\non\n"
        assert await read(one, b"done\n") == b"hello\ndone\n"


async def test_a_client_that_never_reads_is_cut_off(stock: bool) -> None:
    async with serving(stock) as served, await served.connect() as one, await served.connect() as two:
        await one.send(b"flood 6000000\n" * 4)
        await until(lambda: any(what[0] == "lost" for what in served.session.inputs))

        assert "it does not read" in served.journal.lines[-1][3]["why"]
        await two.send(b"echo on\n")
        assert await read(two, b"on\n") == b"hello\non\n"


async def test_a_paused_peer_waits_in_the_kernel(stock: bool) -> None:
    async with serving(stock) as served, await served.connect() as one, await served.connect() as two:
        await one.send(b"echo a\npause\n")
        await read(one, b"a\n")
        await one.send(b"echo b\n")
        await two.send(b"echo c\n")
        await read(two, b"c\n")
        assert not any(b"echo b" in what[2] for what in served.session.inputs if what[0] == "bytes")

        await two.send(b"resume\n")

        assert await read(one, b"b\n") == b"b\n"


async def test_a_hundred_connections_are_served_at_once(stock: bool) -> None:
    async with serving(stock) as served:
        streams = [await served.connect() for _ in range(100)]
        for number, stream in enumerate(streams):
            await stream.send(f"echo {number}\n".encode())
        answers = [await read(stream, f"{number}\n".encode()) for number, stream in enumerate(streams)]
        await streams[0].send(b"end\n")
        farewells = [await read(stream, b"!") for stream in streams]
        for stream in streams:
            await stream.aclose()
        await served.over.wait()

    assert answers == [f"hello\n{number}\n".encode() for number in range(100)]
    assert farewells == [b"over\n"] * 100


async def ends(stream: SocketStream) -> bool:
    """Say whether a stream ends, in good order or not, without a byte."""
    try:
        await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return True
    return False


async def test_connections_over_the_limit_wait_until_there_is_room(
    stock: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(stock, connections_max=2) as served:
        one, two, three, four = [await served.connect() for _ in range(4)]
        assert await read(one, b"\n") == await read(two, b"\n") == b"hello\n"
        await two.send(b"echo a\n")
        assert await read(two, b"\n") == b"a\n"
        assert len(served.session.peers) == 2
        await one.aclose()
        assert await read(three, b"\n") == b"hello\n"
        await two.aclose()
        assert await read(four, b"\n") == b"hello\n"

        assert len(served.session.peers) == 2
        for stream in (three, four):
            await stream.aclose()
    told = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert told == ["2 connections are open, which is the limit: others wait"]


async def test_one_address_has_its_own_limit_and_room_is_made_again(stock: bool) -> None:
    async with serving(stock, address_max=2) as served:
        one, two, three = [await served.connect() for _ in range(3)]
        assert await read(one, b"\n") == await read(two, b"\n") == b"hello\n"
        assert await ends(three)
        await one.aclose()
        await until(lambda: any(what[0] == "lost" for what in served.session.inputs))
        while await ends(four := await served.connect()):
            await four.aclose()  # the first is not released yet

        assert len(served.session.peers) == 2
        for stream in (two, three, four):
            await stream.aclose()


async def test_a_connection_that_comes_after_the_end_is_closed(stock: bool) -> None:
    async with serving(stock) as served, await served.connect() as one:
        await one.send(b"end\n")
        assert await read(one, b"over\n") == b"hello\nover\n"
        try:
            late = await served.connect()
        except OSError:
            return  # the port is given up
        assert await ends(late)
        await late.aclose()


async def test_a_fault_of_ours_is_an_outcome_and_not_an_exception(stock: bool) -> None:
    async with serving(stock) as served, await served.connect() as one:
        await one.send(b"boom\n")

        assert await read(one, b"!") == b"hello\n"
        await one.aclose()
        await served.over.wait()
        assert served.ended == Ended(None, "a fault of this program, not of a peer: ValueError: boom")


async def test_each_connection_has_its_own_session_and_its_own_faults(stock: bool) -> None:
    async with serving(stock, per_connection=True) as served:
        one, two, three = [await served.connect() for _ in range(3)]
        for stream in (one, two, three):
            await stream.send(b"echo hi\n")
            assert await read(stream, b"hi\n") == b"hi\n"
        await one.send(b"boom\n")
        assert await read(one, b"!") == b""
        await two.send(b"end fine\n")
        assert await read(two, b"!") == b"over\n"
        await three.send(b"echo on\n")
        assert await read(three, b"on\n") == b"on\n"
        for stream in (one, two):
            await stream.aclose()
        await until(lambda: len(served.endings) == 2)

        assert sorted(number for number, _ in served.endings) == [0, 1]
        assert dict(served.endings)[1] == Ended("fine", None)
        assert len({session.seed for session in served.sessions.made}) == 3
        assert served.sessions.made[0].seed == 0
        await three.aclose()


async def test_a_server_that_is_cancelled_closes_what_is_open(stock: bool) -> None:
    async with serving(stock) as served, await served.connect() as one:
        await read(one, b"\n")

        served.scope.cancel()

        assert await read(one, b"!") == b""
        assert served.ended is None


# -- clients -----------------------------------------------------------------------------------------------------------


async def test_a_client_plays_against_a_server(stock: bool) -> None:
    async def think(question: str) -> str:
        return question.upper()

    sessions = LineSessions()
    async with serving(stock) as served:

        async def client() -> None:
            with anyio.fail_after(10):
                ended.append(
                    await join(
                        line_program(connects=("server",)),
                        {"server": ("127.0.0.1", served.port)},
                        ScriptedPlayer(think),
                        my={"name": "Ann"},
                        stock=stock,
                        make_session=sessions,
                    )
                )

        ended: list[Ended] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client)
            await until(lambda: bool(served.sessions.made and served.session.peers))
            other = await served.connect()
            await other.send(b"all ask why\n")
            assert await read(other, b"why\n") == b"hello\nask why\n"
            await until(lambda: any(what[:2] == ("bytes", 0) for what in served.session.inputs))
            await other.send(b"all end good\n")
            await read(other, b"good\n")
            await other.aclose()

        assert ended == [Ended("good", None)]
        assert (sessions.made[0].my, sessions.made[0].watch) == ({"name": "Ann"}, True)
        assert ("answer", 1, "WHY") in sessions.made[0].inputs


async def test_a_role_that_nobody_serves_cannot_be_joined(stock: bool) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]

        with pytest.raises(CannotConnectError) as caught:
            await join(line_program(connects=("server",)), {"server": ("127.0.0.1", port)}, None, stock=stock)

    assert str(caught.value) == f"cannot connect to server at 127.0.0.1:{port}: connection refused"


@pytest.mark.parametrize(
    ("address", "why"),
    [
        (("no-such-host.invalid", 1), "there is no host of that name"),
        (("x" * 70 + ".invalid", 1), "there is no host of that name"),
        (("127.0.0.1", 0), "a port is a number from 1 to 65535"),
        (None, "no address was given for it"),
    ],
)
async def test_an_address_that_cannot_be_is_told_in_one_sentence(stock: bool, address: Any, why: str) -> None:
    addresses = {} if address is None else {"server": address}

    with pytest.raises(CannotConnectError, match=why) as caught:
        await join(line_program(connects=("server",)), addresses, None, stock=stock)

    assert "\n" not in str(caught.value)


async def test_a_port_in_use_is_told_in_one_sentence(stock: bool) -> None:
    async with serving(stock) as served:
        with pytest.raises(PortInUseError) as caught:
            await serve(line_program(), port=served.port, stock=stock)

    assert str(caught.value) == f"cannot listen on 127.0.0.1:{served.port}: another program uses that port"


@pytest.mark.parametrize(
    ("host", "port", "why"),
    [
        ("no-such-host.invalid", 0, "there is no host of that name"),
        ("192.0.2.1", 0, "cannot assign requested address"),
        ("127.0.0.1", 70000, "a port is a number from 0 to 65535"),
    ],
)
async def test_what_cannot_be_listened_on_is_told_in_one_sentence(stock: bool, host: str, port: int, why: str) -> None:
    with pytest.raises(CannotListenError, match=why) as caught:
        await serve(line_program(), host, port, stock=stock)

    assert not isinstance(caught.value, PortInUseError)
    assert "\n" not in str(caught.value)


async def test_every_address_of_a_name_gets_the_same_port(stock: bool) -> None:
    ports: list[int] = []

    with anyio.move_on_after(10) as scope:

        def listening(port: int) -> None:
            ports.append(port)
            scope.cancel()

        await serve(line_program(), "localhost", 0, on_listening=listening, stock=stock)

    assert scope.cancelled_caught
    assert len(ports) == 1
    assert ports[0] > 0


async def test_where_nobody_listens_yet_it_is_tried_again(stock: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "accord.session")
    reached: list[list[Connection]] = []
    with socket.socket() as later, anyio.fail_after(30):
        later.bind(("127.0.0.1", 0))

        async with anyio.create_task_group() as tasks:

            async def run() -> None:
                where = {"server": later.getsockname()}
                reached.append(await connect_all(("server",), where, tasks, stock=stock, retry=20))

            tasks.start_soon(run)
            while "it is tried again for 20.0 s" not in caplog.text:
                await anyio.sleep(0.001)
            assert reached == []
            later.listen()
            while not reached:
                await anyio.sleep(0.001)
            for connection in reached[0]:
                connection.abort()
            tasks.cancel_scope.cancel()


async def test_nobody_is_tried_for_longer_than_is_said(stock: bool) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        began = anyio.current_time()
        where = {"server": closed.getsockname()}
        with pytest.raises(NobodyListensError):
            await join(line_program(connects=("server",)), where, None, stock=stock, retry=0.3)

    assert 0.3 <= anyio.current_time() - began < 10
