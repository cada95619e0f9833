"""When things happen at a table of Tsuro, to the second; and how our client takes a server that is not what it should.

Everything is in memory, under virtual time. On asyncio a fraction of a second may pass for nothing: that is what
``about`` allows.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from machines.effects import Ended
from machines.values import freeze
from rules.players.tsuro import PLAYERS
from runtime.network.anyio_transport import TaskConnection
from runtime.network.clock import make_clock
from runtime.network.memory_transport import MemoryStream, memory_streams
from runtime.sessions.driver import SessionDriver
from runtime.sessions.opening import open_host
from tests.runtime.sums import next_line
from tests.runtime.tsuro_table import (
    END,
    VIRTUAL_SECONDS_MAX,
    Guest,
    Table,
    is_request,
    line,
    memory_table,
    names_in,
    placement,
    play_all,
    rehearsed,
    seat,
    tsuro,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend(virtual_backend: Any) -> Any:
    return virtual_backend


def about(seconds: float) -> Any:
    return pytest.approx(seconds, abs=0.2)


# -- the sign-up window ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("come", "starts"),
    [
        ([0, 0, 0], 30),
        ([0, 100, 200], 230),
        ([0, 0, 0, 10], 30),
        ([0, 0, 0, 29], 30),
        ([0, 0, 0, 10, 20], 20),
        ([0, 0, 0, 0, 0], 0),
    ],
)
async def test_the_window_runs_from_the_third_sign_up_and_ends_early_only_with_the_fifth(
    come: list[float], starts: float
) -> None:
    guests: list[Guest] = []
    async with memory_table() as table:
        began = anyio.current_time()
        for number, moment in enumerate(come):
            await anyio.sleep(began + moment - anyio.current_time())
            guests += await seat(table, [f"p{number}"])
        await play_all(guests)

    assert [moment - began for moment in table.moments("STARTED")] == [about(starts)] * len(come)
    assert [moment - began for moment in table.moments("TOKEN")] == [about(moment) for moment in come]
    assert [guest.token for guest in guests] == ["white", "black", "red", "green", "blue"][: len(come)]
    assert table.ended is not None
    assert names_in(table.ended.value["ranking"]) == [guest.name for guest in guests]


@pytest.mark.parametrize(
    ("leaves", "comes", "starts"),
    [
        (10, 20, 50),  # three, then two: the window is stopped; three again: it runs anew
        (10, 200, 230),
        (29, 29, 59),
    ],
)
async def test_a_window_with_fewer_than_three_seated_is_stopped_and_a_seat_left_is_free(
    leaves: float, comes: float, starts: float
) -> None:
    async with memory_table() as table:
        began = anyio.current_time()
        ann, bob, cyd = await seat(table, ["ann", "bob", "cyd"])
        await anyio.sleep(leaves)
        await bob.stream.aclose()
        await anyio.sleep(began + comes - anyio.current_time())
        [dee] = await seat(table, ["dee"])
        await play_all([ann, cyd, dee])

    assert dee.token == bob.token == "black"
    assert [moment - began for moment in table.moments("STARTED")] == [about(starts)] * 3
    assert table.ended is not None
    assert names_in(table.ended.value["ranking"]) == ["ann", "cyd", "dee"]
    assert table.ended.value["cheaters"] == ()


async def test_a_window_with_three_left_of_four_goes_on() -> None:
    async with memory_table() as table:
        began = anyio.current_time()
        ann, bob, cyd = await seat(table, ["ann", "bob", "cyd"])
        await anyio.sleep(10)
        [dee] = await seat(table, ["dee"])
        await bob.stream.aclose()
        await play_all([ann, cyd, dee])

    assert [moment - began for moment in table.moments("STARTED")] == [about(30)] * 3


async def test_two_wait_for_a_third_as_long_as_it_takes_or_as_it_is_set() -> None:
    async with memory_table(sign_up="20 min") as table:
        began = anyio.current_time()
        two = await seat(table, ["ann", "bob"])
        await play_all(two)

    assert table.ended == Ended(None, None)
    assert table.ended_at - began == about(1200)
    assert [guest.told for guest in two] == [["white"], ["black"]]


async def test_who_comes_when_the_table_is_full_or_playing_is_closed_at_once() -> None:
    async with memory_table() as table:
        guests = await seat(table, ["ann", "bob", "cyd"])
        await table.until_sent("INIT_REQ", 1)
        late = Guest("dee", await table.connect())
        moment = anyio.current_time()
        assert await late.hear() is END
        assert anyio.current_time() - moment == about(0)
        await late.stream.aclose()
        await play_all(guests)

    assert table.ended is not None
    assert names_in(table.ended.value["ranking"]) == ["ann", "bob", "cyd"]


class Blind(Guest):
    """Answers as it should without ever reading: it is told by the test what it was asked."""

    async def play_blindly(self, table: Table, number: int) -> None:
        """Answer each request until the server has closed."""
        while True:
            await table.until(lambda: len(table.asked(number)) > len(self.answered) or table.ended is not None)
            if table.ended is not None:
                return
            requests = [value for peer, data in table.sent if peer == number and is_request(value := json.loads(data))]
            try:
                await self.reply(requests[-1])
            except anyio.BrokenResourceError:
                return


async def test_a_client_that_answers_and_never_reads_is_cut_off_once_too_much_waits_for_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="accord")
    # What is sent waits in the sender until it is read.
    monkeypatch.setattr("runtime.network.memory_transport.PIECES_MAX", 0)
    monkeypatch.setattr("runtime.network.anyio_transport.UNSENT_BYTES_MAX", 10_000)  # two boards, or three

    async with memory_table(seats="3..3") as table:
        [ann] = await seat(table, ["ann"])
        blind = Blind("blind", await table.connect())
        assert await blind.sit()
        [bob] = await seat(table, ["bob"])
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(blind.play_blindly, table, 1)
            await play_all([ann, bob])
        await blind.stream.aclose()

    assert table.ended is not None
    assert table.ended.value["cheaters"] == ("blind",)
    assert names_in(table.ended.value["ranking"]) == ["ann", "bob"]
    assert len(blind.answered) > 1
    assert "peer 1: its connection ended: it does not read: " in caplog.text
    assert table.noted("ENDED is not sent: the peer is gone", 1)


# -- a client and its server -------------------------------------------------------------------------------------------

TOLD = [value for peer, value in rehearsed(("second",) * 3)[0] if peer == 0]
TOKEN, STARTED, INIT_REQ, INTER_REQ, *_, ENDED = TOLD
THOUGHT_SECONDS = 5.0

# What the client was told when it waits, whether its player thinks then, and what it waits for once it is through.
WAITS: dict[str, tuple[list[Any], bool, str]] = {
    "joined": ([], False, "joined"),
    "ready": ([TOKEN], False, "ready"),
    "started": ([TOKEN, STARTED], False, "started"),
    "initial": ([TOKEN, STARTED, INIT_REQ], True, "playing"),
    "playing": ([TOKEN, STARTED, INIT_REQ], False, "playing"),
    "intermediate": ([TOKEN, STARTED, INIT_REQ, INTER_REQ], True, "playing"),
}
SOMETHING_ELSE = {"joined": STARTED, "ready": TOKEN, "started": INTER_REQ, "playing": INIT_REQ}


class Thinker:
    """Plays by rote after some thought, without a thread: virtual time would jump while one runs.

    ``stuck`` is a question that it never answers.
    """

    def __init__(self, stuck: str) -> None:
        self.stuck = stuck
        self.strategy = PLAYERS["second"]("", 0)

    async def decide(
        self, question: str, arguments: tuple[tuple[str, Any], ...], messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        await anyio.sleep(VIRTUAL_SECONDS_MAX if question == self.stuck else THOUGHT_SECONDS)
        (_, board), (_, hand), (_, token) = arguments
        return placement(self.strategy, [board, hand], token)

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        pass


class Visit:
    """Our client at a server that is played by hand: ``stream`` is the server's end."""

    def __init__(self, host: SessionDriver, stream: MemoryStream) -> None:
        self.host = host
        self.stream = stream
        self.waiting = bytearray()
        self.began = 0.0  # when it began to wait for what the test is about

    async def hear(self) -> bytes:
        """Return what the client says next, or nothing once it has closed."""
        return await next_line(self.stream, self.waiting)

    async def lead_to(self, wait: str) -> None:
        """Play the server's part until the client is where the test begins."""
        told, thinking, _ = WAITS[wait]
        assert await self.hear() == b'"ann"'
        for value in told:
            await self.stream.send(line(value))
            if value in (INIT_REQ, INTER_REQ) and not (thinking and value is told[-1]):
                await self.hear()
        self.began = anyio.current_time()

    async def flood(self, data: bytes) -> None:
        """Send until all is out or the client has had enough."""
        try:
            for at in range(0, len(data), 65536):
                await self.stream.send(data[at : at + 65536])
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return


@asynccontextmanager
async def visit(stuck: str = "") -> AsyncIterator[Visit]:
    """Run our client; when the block is left, wait until its session has ended and it has closed."""
    with anyio.fail_after(VIRTUAL_SECONDS_MAX):
        async with anyio.create_task_group() as tasks:
            host = open_host(tsuro("client"), tasks, make_clock(tasks), my={"name": "ann"}, player=Thinker(stuck))
            ours, theirs = memory_streams()
            connection = TaskConnection(ours, "memory")
            tasks.start_soon(connection.run)
            host.start([connection])
            try:
                yield Visit(host, theirs)
                await host.over()
            finally:
                await host.release()
                await theirs.aclose()
            tasks.cancel_scope.cancel()


async def close(visit: Visit, wait: str) -> None:
    await visit.stream.aclose()


async def half_and_close(visit: Visit, wait: str) -> None:
    await visit.stream.send(b'[[["A')
    await visit.stream.aclose()


async def half_and_silence(visit: Visit, wait: str) -> None:
    await visit.stream.send(b'[[["A')


async def silence(visit: Visit, wait: str) -> None:
    pass


def saying(data: bytes) -> Callable[[Visit, str], Awaitable[None]]:
    async def say(visit: Visit, wait: str) -> None:
        await visit.flood(data)

    return say


async def say_something_else(visit: Visit, wait: str) -> None:
    await visit.stream.send(line(SOMETHING_ELSE[WAITS[wait][2]]))


PATIENCE_SECONDS = 600.0
MISDEEDS: dict[str, tuple[Callable[[Visit, str], Awaitable[None]], str, float]] = {
    "no JSON": (saying(b"oops }\n"), "invalid of <peer 0>: malformed", 0.0),
    "no UTF-8": (saying(b'"\xff"\n'), "invalid of <peer 0>: malformed", 0.0),
    "no message": (saying(b'{"error":"no"}\n'), "invalid of <peer 0>: unknown", 0.0),
    "a board too small": (saying(b"[[[[null]],[]],[],[]]\n"), "invalid of <peer 0>: unknown", 0.0),
    "something else": (say_something_else, "invalid of <peer 0>: unexpected", 0.0),
    "10 MB without an end": (saying(b"[0," * (10 << 20)), "invalid of <peer 0>: malformed", 0.0),
    "10 MB of lines": (saying(b"oops\n" * (2 << 20)), "invalid of <peer 0>: malformed", 0.0),
    "closes": (close, "closed of <peer 0>", 0.0),
    "half a message and closes": (half_and_close, "invalid of <peer 0>: malformed", 0.0),
    "half a message and silence": (half_and_silence, "timeout", PATIENCE_SECONDS),
    "silence": (silence, "timeout", PATIENCE_SECONDS),
}


@pytest.mark.matrix("wait", "misdeed", "virtual_backend")
@pytest.mark.parametrize("misdeed", MISDEEDS)
@pytest.mark.parametrize("wait", WAITS)
async def test_a_client_whose_server_misbehaves_ends_with_a_clear_failure(wait: str, misdeed: str) -> None:
    misbehave, why, seconds = MISDEEDS[misdeed]
    _, thinking, state = WAITS[wait]
    async with visit() as at:
        await at.lead_to(wait)
        await misbehave(at, wait)
        ended = await at.host.over()
        took = anyio.current_time() - at.began

    if thinking and misdeed in ("closes", "half a message and closes"):
        # No answer can be sent any more, so the player is not asked to go on thinking.
        state, why, thinking = wait, "the connection is closed", False
    assert ended.value is None
    assert ended.failed is not None
    assert re.search(rf"main in {state} \(\S*specs/tsuro\.yaml:", ended.failed)
    assert why in ended.failed
    assert took == about(seconds + (THOUGHT_SECONDS if thinking else 0.0))


@pytest.mark.parametrize("wait", ["initial", "intermediate"])
async def test_the_end_of_the_game_overtakes_a_decision(wait: str) -> None:
    async with visit(stuck=wait) as at:
        await at.lead_to(wait)
        await at.stream.send(line(ENDED))
        ended = await at.host.over()
        took = anyio.current_time() - at.began

    assert ended.failed is None
    assert took == about(0)


async def test_a_client_closes_when_it_has_failed() -> None:
    async with visit() as at:
        await at.lead_to("ready")
        await at.stream.send(b"oops\n")
        assert await at.hear() == b""


@pytest.mark.parametrize("wait", ["initial", "intermediate"])
async def test_a_player_who_never_answers_ends_its_client_before_the_server_would(wait: str) -> None:
    async with visit(stuck=wait) as at:
        await at.lead_to(wait)
        ended = await at.host.over()
        took = anyio.current_time() - at.began
        assert await at.hear() == b""

    assert ended.failed is not None
    assert re.search(rf"main in {wait} \(\S*specs/tsuro\.yaml:", ended.failed)
    assert took == about(8)


async def test_a_client_that_is_told_the_end_ends_well() -> None:
    async with visit() as at:
        await at.lead_to("playing")
        await at.stream.send(line(ENDED))
        ended = await at.host.over()
        assert await at.hear() == b""

    assert ended == Ended(freeze({"winners": ENDED[0], "losers": ENDED[1]}), None)
