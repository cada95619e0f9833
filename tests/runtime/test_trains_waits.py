"""Every wait of both Trains servers, broken in every way: who breaks it is kicked or gets no seat, the others play on.

One test for each pair of a wait and a misdeed, in both dialects, on asyncio and on trio. Where time matters it runs in
memory under virtual time, where bytes matter over loopback TCP. What must come of it is what the protocol's notes ask
for: whoever is late, malformed, unexpected, illegal or gone at a call is kicked, and at the sign-up gets no seat. What
nobody has asked for is read as the answer to the next call.
"""

from __future__ import annotations

import json
import logging
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Final

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import TaskGroup

from machines.effects import Drop
from tests.runtime.conftest import WAYS
from tests.runtime.misdeeds import (
    GARBAGE_BYTES,
    Misdeed,
    Then,
    flood_without_an_end,
    leave,
    lived,
    reset,
    say_a_wrong_shape,
    say_half,
    say_half_and_leave,
    say_it_byte_by_byte,
    say_no_json,
    say_no_utf8,
    write,
)
from tests.runtime.trains_table import (
    A_MAP,
    OFFICIAL,
    Guest,
    TrainsTable,
    memory_table,
    sign_up,
    tcp_table,
)
from tests.runtime.tsuro_table import END, line
from tests.runtime.virtual import virtual

pytestmark = pytest.mark.anyio

REPLY_SECONDS: Final = 2.0
NAMING_SECONDS: Final = 3.0
STRAY: Final = "what?"  # no message of anybody's


@dataclass(frozen=True)
class Wait:
    """A wait: for an answer to a call, the how-many-eth of its name; for whom, by seat. "" is the sign-up."""

    call: str
    seat: int
    number: int = 0


NAMED: Final = "named"  # it has its seat; the server waits for more to come
WAITS: Final = {
    "sign-up": Wait("", 1),
    "window": Wait(NAMED, 1),
    "start of the first": Wait("start", 0),
    "start of the last": Wait("start", 4),
    "setup": Wait("setup", 1),
    "pick of the first": Wait("pick", 0),
    "pick of the last": Wait("pick", 4),
    "first turn of the first": Wait("play", 0),
    "second turn of the second": Wait("play", 1, 1),
    "first turn of the last": Wait("play", 4),
    "more": Wait("more", 1),
    "win": Wait("win", 2),
    "end": Wait("end", 2),
}
UNANSWERED: Final = ("setup", "more", "win")  # in the document's dialect: setup is followed by pick at once
PAIRS: Final = [
    (dialect, wait)
    for dialect in ("trains", OFFICIAL)
    for wait in WAITS
    if dialect == OFFICIAL or WAITS[wait].call not in UNANSWERED
]


@dataclass(eq=False)
class Culprit(Guest):
    """A guest who saves up cards by rote, but for one misdeed at one wait."""

    table: TrainsTable = field(kw_only=True)
    wait: Wait = field(kw_only=True)
    misdeed: str = field(kw_only=True)
    then: Then = Then.PLAY
    seated: anyio.Event = field(default_factory=anyio.Event)
    done: anyio.Event = field(default_factory=anyio.Event)
    tasks: TaskGroup = field(init=False)

    async def run(self) -> None:
        """Sign up and play, with the misdeed, until the stream ends; an idle one stays until it is cancelled."""
        await lived(self, self._live)

    async def _live(self) -> None:
        if self.wait.call == "":
            self.then = await MISDEEDS[self.misdeed].act(self, self.name)
        else:
            await self.say(self.name)
        if self.wait.call == NAMED:
            await self.seated.wait()
            self.then = await MISDEEDS[self.misdeed].act(self, self.name)
        while self.then in (Then.PLAY, Then.LISTEN) and (heard := await self.hear()) is not END:
            if self.then is not Then.PLAY:
                continue
            if heard[0] == self.wait.call and self.heard.count(heard[0]) == self.wait.number + 1:
                self.then = await MISDEEDS[self.misdeed].act(self, self.answer(*heard) or "void")
            else:
                await self.react(*heard)

    async def until_the_next_call(self) -> None:
        """Wait until somebody is called, from now on; after ``end`` nobody may be."""
        before = self._calls()
        await self.table.until(lambda: self._calls() > before or self.table.ended is not None)

    def _calls(self) -> int:
        return sum(len(self.table.calls(peer)) for peer in range(6))


# -- the misdeeds: each is given what would be right to say, and returns what the culprit does from then on -----------


async def be_late(culprit: Culprit, right: Any) -> Then:
    return Then.PLAY if culprit.wait.call == NAMED else Then.LISTEN


async def say_what_is_right_elsewhere(culprit: Culprit, right: Any) -> Then:
    await culprit.say(A_MAP if culprit.wait.call == "play" else "more cards")
    return Then.LISTEN


async def say_what_is_not_allowed(culprit: Culprit, right: Any) -> Then:
    """A name too long; a map with a city twice; one destination three times; a connection that is nowhere."""
    match culprit.wait.call:
        case "start":
            await culprit.say({**A_MAP, "cities": [*A_MAP["cities"], A_MAP["cities"][0]]})
        case "pick":
            await culprit.say([right[0]] * 3)
        case "play":
            await culprit.say(["Nowhere", "Somewhere", "red", 3])
        case _:
            await culprit.say("x" * 51)
    return Then.LISTEN


async def say_it_behind_blanks(culprit: Culprit, right: Any) -> Then:
    data = b" " * 5000 + line(right).rstrip()
    for at in range(0, len(data), 60):
        await write(culprit, data[at : at + 60])
        await anyio.lowlevel.checkpoint()
    return Then.PLAY


async def say_two_things_at_once(culprit: Culprit, right: Any) -> Then:
    await write(culprit, json.dumps(right).encode() + json.dumps(STRAY).encode())
    return Then.PLAY


async def flood_with_values(culprit: Culprit, right: Any) -> Then:
    culprit.tasks.start_soon(write, culprit, b"[1,2,3]\n" * (GARBAGE_BYTES // 8))
    return Then.LISTEN


async def read_no_more(culprit: Culprit, right: Any) -> Then:
    if culprit.wait.call == "":
        await culprit.say(right)
    return Then.IDLE


async def speak_out_of_turn(culprit: Culprit, right: Any) -> Then:
    if culprit.wait.call != NAMED:
        await culprit.say(right)
        await culprit.until_the_next_call()
    await culprit.say(STRAY)
    return Then.PLAY


MISDEEDS: Final[dict[str, Misdeed[Culprit]]] = {
    "late": Misdeed(be_late, "late: ", late=True),
    "no JSON": Misdeed(say_no_json, "its bytes make no sense: no JSON value begins with"),
    "no UTF-8": Misdeed(say_no_utf8, "malformed: "),
    "wrong shape": Misdeed(say_a_wrong_shape, "unknown: "),
    "right elsewhere": Misdeed(say_what_is_right_elsewhere, "unexpected: "),
    "not allowed": Misdeed(say_what_is_not_allowed, "illegal: "),
    "leaves": Misdeed(leave, "its connection ended"),
    "half and leaves": Misdeed(say_half_and_leave, "its connection ended", over_tcp=True),
    "half and silence": Misdeed(say_half, "late: ", late=True),
    "byte by byte": Misdeed(say_it_byte_by_byte, "", over_tcp=True),
    "5,000 blanks": Misdeed(say_it_behind_blanks, "", over_tcp=True),
    "two at once": Misdeed(say_two_things_at_once, "unknown: ", over_tcp=True),
    "10 MB without an end": Misdeed(
        flood_without_an_end, "its bytes make no sense: a message is nested deeper", over_tcp=True
    ),
    "10 MB of values": Misdeed(flood_with_values, "unknown: ", over_tcp=True),
    "never reads": Misdeed(read_no_more, "late: ", late=True),
    "out of turn": Misdeed(speak_out_of_turn, "unknown: "),
    "reset": Misdeed(reset, "its connection ended", over_tcp=True),
}
HARMLESS: Final = ("byte by byte", "5,000 blanks")


class Outcome(Enum):
    """What comes of a misdeed."""

    NOTHING = auto()  # it was none, or came too late to matter
    NO_SEAT = auto()
    SEAT_FREED = auto()
    KICKED = auto()


def expected(dialect: str, call: str, misdeed: str) -> Outcome:
    """Return what the protocol's notes ask for."""
    match call, misdeed:
        case ("named", "late"):
            return Outcome.NOTHING
        case ("named", "leaves" | "half and leaves" | "reset"):
            return Outcome.SEAT_FREED
        case ("" | "start" | "setup" | "pick" | "play" | "more" | "win" | "end", "byte by byte" | "5,000 blanks"):
            return Outcome.NOTHING
        case ("", "two at once" | "out of turn" | "never reads"):
            return Outcome.KICKED  # signed up as one should
        case ("", _):
            return Outcome.NO_SEAT
        case ("end", _) if dialect == "trains":
            return Outcome.NOTHING  # it is not answered
        case ("end", "two at once" | "out of turn"):
            return Outcome.NOTHING  # nothing is asked any more
    return Outcome.KICKED


def expected_log(call: str, name: str) -> str:
    """Return what the server must say of a misdeed that has consequences."""
    if call == NAMED and name in ("leaves", "half and leaves", "reset"):
        return "it left its seat"
    if name == "not allowed" and call not in ("start", "pick", "play"):
        return "unknown: "  # what is too long for a name is no message at all
    if call == NAMED and name in (*HARMLESS, "two at once"):
        return "unexpected: "  # its name once more, read as its answer to start
    return MISDEEDS[name].log


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest, misdeed: str) -> tuple[str, dict[str, Any]]:
    return WAYS[request.param][:2] if MISDEEDS[misdeed].over_tcp else virtual(request.param)


def about(seconds: float) -> Any:
    """Compare a time; on asyncio anyio's tests may let a fraction of a second pass for nothing."""
    return pytest.approx(seconds, abs=0.2)


async def sit_down(table: TrainsTable, wait: Wait, misdeed: str, tasks: TaskGroup) -> tuple[Culprit, list[Guest]]:
    """Let the culprit and the others come, in order, until five have a seat."""
    outcome = expected(table.dialect, wait.call, misdeed)
    names = ["Ann", "Bob", "Cyd", "Dee", "Eve"]
    guests = [await sign_up(table, name) for name in names[: wait.seat]]
    stream = await table.connect()
    strategy = Guest("", stream).strategy
    culprit = Culprit("Mal", stream, table.dialect, strategy, table=table, wait=wait, misdeed=misdeed)
    tasks.start_soon(culprit.run)
    if outcome is Outcome.NO_SEAT:
        guests.append(await sign_up(table, "Bob"))
        assert not culprit.done.is_set() or not MISDEEDS[misdeed].late, "nobody waits for who does not sign up"
        await culprit.done.wait()
    else:
        await table.until(lambda: len(table.signed_up()) == wait.seat + 1)
        culprit.seated.set()
    if outcome is Outcome.SEAT_FREED:
        await table.until(lambda: table.noted(expected_log(wait.call, misdeed), wait.seat))
    wanted = 5 if outcome in (Outcome.NO_SEAT, Outcome.SEAT_FREED) else 4
    for name in names[len(guests) : wanted]:
        guests.append(await sign_up(table, name))
    return culprit, guests


def open_table(dialect: str, misdeed: str) -> AbstractAsyncContextManager[TrainsTable]:
    """Return a table of five whose game is short; the fifth ends the first period."""
    settings: dict[str, Any] = {"most": "5", "deck": "rgbw" * 14, "offers": "sorted"}
    if not MISDEEDS[misdeed].over_tcp:
        return memory_table(dialect, **settings)
    return tcp_table(dialect, **settings, reply="20 s", naming="20 s")


@pytest.mark.matrix("dialect", "wait", "misdeed", "anyio_backend")
@pytest.mark.parametrize("misdeed", MISDEEDS)
@pytest.mark.parametrize(("dialect", "wait"), PAIRS)
async def test_who_breaks_a_wait_harms_nobody_else(
    dialect: str, wait: str, misdeed: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="accord")
    call, number = WAITS[wait].call, WAITS[wait].seat
    over_tcp, late = MISDEEDS[misdeed].over_tcp, MISDEEDS[misdeed].late
    outcome = expected(dialect, call, misdeed)
    if misdeed == "never reads":
        # What is sent waits in the sender until it is read.
        monkeypatch.setattr("runtime.network.memory_transport.PIECES_MAX", 0)

    async with anyio.create_task_group() as tasks:
        async with open_table(dialect, misdeed) as table:
            culprit, guests = await sit_down(table, WAITS[wait], misdeed, tasks)
            async with anyio.create_task_group() as players:
                for guest in guests:
                    players.start_soon(guest.play)
            await culprit.done.wait()
        tasks.cancel_scope.cancel()

    # The tournament went on without whoever broke it, and its result is right.
    assert table.ended is not None
    assert table.ended.failed is None
    winners, cheaters = table.ended.value
    names = [guest.name for guest in guests]
    assert cheaters == (("Mal",) if outcome is Outcome.KICKED else ())
    assert {*names, *(("Mal",) if outcome is Outcome.NOTHING else ())} >= set(winners) > set()
    for guest in guests:
        assert guest.won is (guest.name in winners)

    # Whoever is kicked hears nothing more, and its socket is closed; who has no seat was never called.
    if outcome is Outcome.NO_SEAT:
        assert culprit.told == []
        assert culprit.closed or culprit.then is Then.NOTHING
    elif outcome is Outcome.KICKED:
        assert number in table.dropped()
        if culprit.then in (Then.PLAY, Then.LISTEN):
            assert culprit.closed
            assert culprit.heard == [name for name, _ in table.calls(number)]
    if outcome is not Outcome.NOTHING:
        assert f"peer {number}: {expected_log(call, misdeed)}" in caplog.text

    # Nobody waits longer than the limits say.
    if not over_tcp and outcome is Outcome.KICKED:
        [dropped] = [at for at, effect in table.effects if isinstance(effect, Drop) and effect.peer == number]
        assert dropped - table.calls(number)[-1][1] == about(REPLY_SECONDS if late else 0.0)
    if not over_tcp and outcome is Outcome.NO_SEAT and late:
        [dropped] = [at for at, effect in table.effects if isinstance(effect, Drop) and effect.peer == number]
        assert dropped - table.effects[0][0] == about(NAMING_SECONDS)
