"""Every wait of the Tsuro server, broken in every way: who breaks it is expelled or gets no seat, the others play on.

One test for each pair of a wait and a misdeed, on asyncio and on trio. Where time matters it runs in memory under
virtual time, where bytes matter over loopback TCP. What must come of it is what the protocol's notes ask for: whoever
is late, malformed, unexpected, illegal or gone at a placement is expelled, and at the sign-up gets no seat.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from enum import Enum, auto
from math import inf
from typing import Any, Final

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import TaskGroup

from machines.parser.loader import load
from rules.tsuro_board import TILES
from runtime.network.transport import FLUSH_SECONDS, LINGER_SECONDS
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
from tests.runtime.tsuro_table import (
    END,
    Guest,
    Table,
    is_request,
    line,
    memory_table,
    names_in,
    play_all,
    rehearsed,
    seat,
    tcp_table,
)
from tests.runtime.virtual import virtual

pytestmark = pytest.mark.anyio

REPLY_SECONDS: Final = 10.0
JOIN_SECONDS: Final = 10.0
GUESS: Final = ["black", TILES[0], "A", 0, 0]  # has the shape of a first placement
REQUESTS_TO_THE_FIRST_OUT: Final = sum(is_request(value) for peer, value in rehearsed(("second",) * 3)[0] if peer == 0)


class At(Enum):
    """What the server waits for."""

    SIGN_UP = auto()
    WINDOW = auto()  # it has its seat; the server waits for more to come
    PLACEMENT = auto()
    OUT = auto()  # it has been put out, and others play on: nothing more is expected of it
    END = auto()  # it has heard who won; the server closes


@dataclass(frozen=True)
class Wait:
    """A wait: of what kind, for the player in which seat, and at which of its requests, from 0."""

    at: At
    seat: int
    request: float = inf


WAITS: Final = {
    "sign-up": Wait(At.SIGN_UP, 1),
    "window": Wait(At.WINDOW, 1),
    "first placement of the first": Wait(At.PLACEMENT, 0, 0),
    "first placement of the second": Wait(At.PLACEMENT, 1, 0),
    "first placement of the last": Wait(At.PLACEMENT, 2, 0),
    "later placement of the first": Wait(At.PLACEMENT, 0, 3),
    "later placement of the second": Wait(At.PLACEMENT, 1, 3),
    "later placement of the last": Wait(At.PLACEMENT, 2, 3),
    "out of the game": Wait(At.OUT, 0, REQUESTS_TO_THE_FIRST_OUT - 1),
    "end": Wait(At.END, 2),
}


@dataclass(eq=False)
class Culprit(Guest):
    """A guest who plays by rote, but for one misdeed at one wait."""

    table: Table = field(kw_only=True)
    wait: Wait = field(kw_only=True)
    misdeed: str = field(kw_only=True)
    then: Then = Then.PLAY
    done: anyio.Event = field(default_factory=anyio.Event)
    tasks: TaskGroup = field(init=False)

    async def say(self, value: Any) -> None:
        """Say a value, as one line in one write."""
        await write(self, line(value))

    async def run(self) -> None:
        """Sign up and play, with the misdeed, until the stream ends; an idle one stays until it is cancelled."""
        await lived(self, self._live)

    async def _live(self) -> None:
        if self.wait.at is At.SIGN_UP:
            self.then = await MISDEEDS[self.misdeed].act(self, self.name)
        else:
            await self.say(self.name)
        while self.then in (Then.PLAY, Then.LISTEN) and (value := await self.hear()) is not END:
            if self.then is Then.PLAY:
                await self._react(value)

    async def _react(self, value: Any) -> None:
        at = self.wait.at
        if is_request(value):
            mine = len(self.answered) == self.wait.request
            if mine and at is At.PLACEMENT:
                answer = self.answer(value)
                self.answered.append(answer)
                self.then = await MISDEEDS[self.misdeed].act(self, answer)
            else:
                await self.reply(value)
                if mine and at is At.OUT:
                    self.then = await MISDEEDS[self.misdeed].act(self, self.answered[-1])
        elif at is At.WINDOW and value == self.token:
            if not MISDEEDS[self.misdeed].over_tcp:
                await self.table.until_sent("TOKEN", 3)
            self.then = await MISDEEDS[self.misdeed].act(self, GUESS)
        elif at is At.END and isinstance(value, list):
            self.then = await MISDEEDS[self.misdeed].act(self, self.answered[-1])

    async def until_others_turn(self) -> None:
        """Wait until somebody else is asked for a placement, from now on."""
        before = self._requests_to_others()
        await self.table.until(lambda: self._requests_to_others() > before)

    def _requests_to_others(self) -> int:
        return sum(len(self.table.asked(peer)) for peer in range(4) if peer != self.wait.seat)


# -- the misdeeds: each is given what would be right to say, and returns what the culprit does from then on -----------


async def be_late(culprit: Culprit, right: Any) -> Then:
    return Then.PLAY if culprit.wait.at is At.WINDOW else Then.LISTEN


async def say_what_is_right_elsewhere(culprit: Culprit, right: Any) -> Then:
    """At a first placement a later one, at a later one a first; at the sign-up a placement, and else a name."""
    if culprit.wait.at is At.PLACEMENT:
        await culprit.say([TILES[0], 0, 0] if culprit.wait.request == 0 else GUESS)
    else:
        await culprit.say(GUESS if culprit.wait.at is At.SIGN_UP else culprit.name)
    return Then.LISTEN


async def say_what_is_not_allowed(culprit: Culprit, right: Any) -> Then:
    """A name that is too long; somebody else's token; a square that the token does not face."""
    if culprit.wait.at is At.SIGN_UP:
        await culprit.say("x" * 101)
    elif culprit.wait.request == 0:
        await culprit.say(["blue", *right[1:]])
    else:
        await culprit.say([*right[:-1], (right[-1] + 1) % 10])
    return Then.LISTEN


async def say_two_things_at_once(culprit: Culprit, right: Any) -> Then:
    await write(culprit, line(right) + line(GUESS if culprit.wait.at is At.SIGN_UP else right))
    return Then.PLAY


async def flood_with_lines(culprit: Culprit, right: Any) -> Then:
    culprit.tasks.start_soon(write, culprit, b"garbage\n" * (GARBAGE_BYTES // 8))
    return Then.LISTEN


async def read_no_more(culprit: Culprit, right: Any) -> Then:
    if culprit.wait.at is At.SIGN_UP:
        await culprit.say(right)
    return Then.IDLE


async def speak_in_others_turn(culprit: Culprit, right: Any) -> Then:
    if culprit.wait.at in (At.SIGN_UP, At.PLACEMENT):
        await culprit.say(right)
    if culprit.wait.at in (At.SIGN_UP, At.PLACEMENT, At.OUT):
        await culprit.until_others_turn()
    await culprit.say(right)
    return Then.PLAY


LONGEST: Final = load("tsuro").wire.message_bytes_max

MISDEEDS: Final[dict[str, Misdeed[Culprit]]] = {
    "late": Misdeed(be_late, "late: ", late=True),
    "no JSON": Misdeed(say_no_json, "malformed: "),
    "no UTF-8": Misdeed(say_no_utf8, "malformed: not UTF-8"),
    "wrong shape": Misdeed(say_a_wrong_shape, "unknown: "),
    "right elsewhere": Misdeed(say_what_is_right_elsewhere, "unexpected: "),
    "not allowed": Misdeed(say_what_is_not_allowed, "illegal: "),
    "leaves": Misdeed(leave, "its connection ended"),
    "half and leaves": Misdeed(say_half_and_leave, "malformed: ", over_tcp=True),
    "half and silence": Misdeed(say_half, "late: ", late=True),
    "byte by byte": Misdeed(say_it_byte_by_byte, "", over_tcp=True),
    "two at once": Misdeed(say_two_things_at_once, "early: ", over_tcp=True),
    "10 MB without an end": Misdeed(
        flood_without_an_end, f"its bytes make no sense: a message is longer than {LONGEST} bytes", over_tcp=True
    ),
    "10 MB of lines": Misdeed(flood_with_lines, "malformed: ", over_tcp=True),
    "never reads": Misdeed(read_no_more, "late: ", late=True),
    "in others' turn": Misdeed(speak_in_others_turn, "early: "),
    "reset": Misdeed(reset, "its connection ended: connection reset by peer", over_tcp=True),
}


class Outcome(Enum):
    """What comes of a misdeed."""

    NOTHING = auto()  # it was none, or came too late to matter
    NO_SEAT = auto()
    SEAT_FREED = auto()
    EXPELLED = auto()


def expected(at: At, misdeed: str) -> Outcome:
    """Return what the protocol's notes ask for."""
    match at, misdeed:
        case (At.OUT | At.END, _):
            return Outcome.NOTHING
        case (At.SIGN_UP | At.PLACEMENT, "byte by byte") | (At.WINDOW, "late"):
            return Outcome.NOTHING
        case (At.SIGN_UP, "two at once" | "in others' turn" | "never reads"):
            return Outcome.EXPELLED  # signed up as one should
        case (At.SIGN_UP, _):
            return Outcome.NO_SEAT
        case (At.WINDOW, "leaves" | "half and leaves" | "reset"):
            return Outcome.SEAT_FREED
    return Outcome.EXPELLED


def expected_log(at: At, name: str) -> str:
    """Return what the server must say of a misdeed that has consequences."""
    misdeed = MISDEEDS[name]
    if at is At.WINDOW:
        if expected(at, name) is Outcome.SEAT_FREED:
            return "it left its seat"
        return misdeed.log if misdeed.late or "make no sense" in misdeed.log else "early: "
    return "unknown: " if at is At.SIGN_UP and name == "not allowed" else misdeed.log


def expected_requests(wait: Wait, misdeed: str) -> int:
    """Return how often an expelled player is asked: an early message is met at the request that follows it."""
    if wait.at is At.PLACEMENT:
        return int(wait.request) + (2 if misdeed in ("two at once", "in others' turn") else 1)
    return 1


# -- the tests ---------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest, misdeed: str) -> tuple[str, dict[str, Any]]:
    if misdeed in MISDEEDS and MISDEEDS[misdeed].over_tcp:
        return WAYS[request.param][:2]
    return virtual(request.param)


def about(seconds: float) -> Any:
    """Compare a time; on asyncio anyio's tests may let a fraction of a second pass for nothing."""
    return pytest.approx(seconds, abs=0.2)


async def sit_down(table: Table, wait: Wait, misdeed: str, tasks: TaskGroup) -> tuple[Culprit, list[Guest]]:
    """Let the culprit and the others come, in order, until the table is full or its window runs."""
    over_tcp = MISDEEDS[misdeed].over_tcp
    outcome = expected(wait.at, misdeed)
    names = ["ann", "bob", "cyd"]
    thinks = 0.0 if over_tcp else 1.0
    guests = await seat(table, names[: wait.seat], thinks=thinks)
    culprit = Culprit("mal", await table.connect(), table=table, wait=wait, misdeed=misdeed)
    tasks.start_soon(culprit.run)
    if outcome is Outcome.NO_SEAT:
        guests += await seat(table, ["bob"], thinks=thinks)
        assert not culprit.done.is_set() or not MISDEEDS[misdeed].late, "nobody waits for who does not sign up"
        await culprit.done.wait()
        return culprit, guests + await seat(table, ["cyd"], thinks=thinks)
    await table.until_sent("TOKEN", wait.seat + 1)
    if wait.at is At.WINDOW and over_tcp:
        await table.until(lambda: table.noted(expected_log(wait.at, misdeed), wait.seat))
    guests += await seat(table, names[wait.seat : 2], thinks=thinks)
    if outcome is Outcome.SEAT_FREED:
        await table.until(lambda: table.noted(expected_log(wait.at, misdeed), wait.seat))
        guests += await seat(table, ["cyd"], thinks=thinks)
    return culprit, guests


@pytest.mark.matrix("wait", "misdeed", "anyio_backend")
@pytest.mark.parametrize("misdeed", MISDEEDS)
@pytest.mark.parametrize("wait", WAITS)
async def test_who_breaks_a_wait_harms_nobody_else(
    wait: str, misdeed: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="accord")
    at, number = WAITS[wait].at, WAITS[wait].seat
    over_tcp, late = MISDEEDS[misdeed].over_tcp, MISDEEDS[misdeed].late
    outcome = expected(at, misdeed)
    if misdeed == "never reads":
        # What is sent waits in the sender until it is read.
        monkeypatch.setattr("runtime.network.memory_transport.PIECES_MAX", 0)
    if misdeed == "byte by byte":
        # It reads the end only when it has said all, which a busy machine may let take more than a second.
        for transport in ("asyncio_transport", "anyio_transport"):
            monkeypatch.setattr(f"runtime.network.{transport}.LINGER_SECONDS", 4.0)
    seats = "3..5" if at is At.WINDOW and not over_tcp else "3..3"
    open_table = tcp_table if over_tcp else memory_table

    async with anyio.create_task_group() as tasks:
        async with open_table(seats=seats, reply=f"{REPLY_SECONDS} s", join=f"{JOIN_SECONDS} s") as table:
            culprit, guests = await sit_down(table, WAITS[wait], misdeed, tasks)
            await play_all(guests)
            await culprit.done.wait()
        tasks.cancel_scope.cancel()

    # The game went on without whoever broke it, and its result is right.
    assert table.ended is not None
    assert table.ended.failed is None
    names = [guest.name for guest in guests]
    ranked = [*names, "mal"] if outcome is Outcome.NOTHING else names
    cheaters = ("mal",) if outcome is Outcome.EXPELLED else ()
    result = table.ended.value
    assert names_in(result["ranking"]) == sorted(ranked)
    assert result["cheaters"] == cheaters
    told = [[list(group) for group in result["ranking"]], list(cheaters)]
    for guest in guests:
        assert guest.ending == told
        assert len(guest.answered) == sum(is_request(value) for value in guest.told)

    # The culprit hears the end, if it has a seat and is there to hear it.
    if outcome is Outcome.NO_SEAT:
        assert culprit.told == []
        assert culprit.closed or culprit.then is Then.NOTHING
    elif culprit.then in (Then.PLAY, Then.LISTEN):
        assert culprit.ending == told
    if outcome is Outcome.EXPELLED:
        assert len(table.asked(number)) == expected_requests(WAITS[wait], misdeed)
    if outcome is not Outcome.NOTHING:
        assert f"peer {number}: {expected_log(at, misdeed)}" in caplog.text

    if misdeed == "10 MB of lines" and outcome is Outcome.EXPELLED:
        assert table.noted("its inbox is full: reading stops", number)

    # Nobody waits longer than the limits say.
    if not over_tcp:
        if outcome is Outcome.EXPELLED:
            assert table.waited_for(number) == about(REPLY_SECONDS if late else 0.0)
        closes = FLUSH_SECONDS if at is not At.END else LINGER_SECONDS
        assert table.released_at - table.ended_at == about(closes if misdeed == "never reads" else 0.0)
