"""When things happen in a tournament of Trains, to the millisecond, and what comes of those who fail or die.

Everything is in memory, under virtual time, in both dialects.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import anyio
import pytest

from machines.effects import Ended, MatchOutcome
from tests.runtime.trains_table import (
    A_MAP,
    DIALECTS,
    OFFICIAL,
    Guest,
    TrainsTable,
    memory_table,
    play_all,
    sign_up,
)
from tests.runtime.tsuro_table import END

pytestmark = pytest.mark.anyio

NO_MAP: Final = "error: not enough destinations"
SHORT: Final[dict[str, Any]] = {"deck": "rgbw" * 8, "offers": "sorted"}  # a short game
SMALL_MAP: Final = {
    "width": 100,
    "height": 100,
    "cities": [["Ab", [1, 1]], ["Cd", [9, 9]]],
    "connections": {"Ab": {"Cd": {"red": 3}}},
}


@pytest.fixture
def anyio_backend(virtual_backend: Any) -> Any:
    return virtual_backend


def about(seconds: float) -> Any:
    """Compare a time; on asyncio anyio's tests may let a fraction of a second pass for nothing."""
    return pytest.approx(seconds, abs=0.2)


async def come(table: TrainsTable, names: Sequence[str], **guest: Any) -> list[Guest]:
    """Let guests sign up in order."""
    return [await sign_up(table, name, **guest) for name in names]


def result_of(table: TrainsTable) -> Any:
    """Return what the tournament returned, as JSON; it must not have failed."""
    assert table.ended is not None
    assert table.ended.failed is None
    return json.loads(json.dumps(table.ended.value))


# -- the sign-up periods -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moments", "starts"),
    [
        ([0] * 5, 20),
        ([0] * 4 + [19.9], 20),
        ([0, 0, 0, 0, 0, 5, 10], 20),
        ([0] * 4, 40),  # too few for the first period, enough for the second
        ([0] * 4 + [21], 40),  # which is waited for to its end
        ([0, 0], 40),
        ([0, 39.9], 40),
        ([0] * 50, 0),  # fifty end either period
        ([0] * 4 + [30] * 46, 30),
    ],
)
async def test_a_tournament_starts_at_the_end_of_a_period_or_with_fifty(moments: list[float], starts: float) -> None:
    async with memory_table("trains") as table:
        began = anyio.current_time()
        guests = []
        for moment in moments:
            await anyio.sleep(began + moment - anyio.current_time())
            guests += await come(table, ["Ann"])  # names need not differ
        assert await guests[0].hear() == ("start", True)
        at = anyio.current_time() - began
        for guest in guests:
            await guest.stream.aclose()

    assert at == about(starts)
    assert result_of(table) == NO_MAP  # nobody was left to hand one in


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("names", [[], ["Solo"]])
async def test_fewer_than_two_after_both_periods_are_no_tournament(names: list[str], dialect: str) -> None:
    async with memory_table(dialect) as table:
        began = anyio.current_time()
        guests = await come(table, names)
        await play_all(guests)

    assert result_of(table) == [[], []]
    assert table.ended_at - began == about(40)
    assert all(guest.told == [] and guest.closed for guest in guests)


async def test_who_comes_later_is_closed_at_once() -> None:
    async with memory_table(OFFICIAL, **SHORT) as table:
        guests = await come(table, ["Ann", "Bob"])
        await table.until_sent("start", 1)
        late = Guest("Cyd", await table.connect())
        assert await late.hear() is END
        await late.stream.aclose()
        await play_all(guests)

    assert table.dropped()[2] == "the door is shut"


async def test_who_leaves_before_the_start_has_no_seat() -> None:
    async with memory_table("trains", **SHORT) as table:
        ann, bob, cyd = await come(table, ["Ann", "Bob", "Cyd"])
        await bob.stream.aclose()
        await play_all([ann, cyd])

    winners, cheaters = result_of(table)
    assert {"Ann", "Cyd"} >= set(winners) > set()
    assert cheaters == []


@pytest.mark.parametrize(("seconds", "seated"), [(2.999, True), (3.001, False)])
async def test_a_name_must_come_within_3_seconds(seconds: float, seated: bool) -> None:
    async with memory_table("trains", **SHORT) as table:
        slow = Guest("Cyd", await table.connect(), "trains")
        began = anyio.current_time()
        guests = await come(table, ["Ann", "Bob"])
        await anyio.sleep(began + seconds - anyio.current_time())
        await slow.say("Cyd")
        if not seated:
            assert await slow.hear() is END
            assert anyio.current_time() - began == pytest.approx(seconds, abs=1e-6)
            await slow.stream.aclose()
        await play_all([*guests, *[slow] * seated])

    assert len(table.moments("start")) == 2 + seated
    assert result_of(table)[1] == []


async def test_a_name_never_sent_costs_nobody_else_anything() -> None:
    async with memory_table("trains", **SHORT) as table:
        began = anyio.current_time()
        mute = Guest("Cyd", await table.connect(), "trains")
        guests = await come(table, ["Ann", "Bob"])
        assert await mute.hear() is END
        assert anyio.current_time() - began == about(3)
        await mute.stream.aclose()
        await play_all(guests)

    assert table.moments("start")[0] - began == about(40)
    assert result_of(table)[1] == []


@pytest.mark.parametrize("name", ["", "x" * 51, "a1", "Ann Lee", "Zoë", 5, ["Ann"], None, {"name": "Ann"}])
async def test_a_bad_name_is_dropped_at_once(name: Any) -> None:
    async with memory_table("trains") as table:
        began = anyio.current_time()
        guest = Guest(name, await table.connect())
        await guest.say(name)
        assert await guest.hear() is END
        assert anyio.current_time() - began == about(0)
        await guest.stream.aclose()

    assert result_of(table) == [[], []]


# -- the limit of each call --------------------------------------------------------------------------------------------

ANSWERED: Final = {
    "trains": ("start", "pick", "play"),
    OFFICIAL: ("start", "setup", "pick", "play", "more", "win", "end"),
}
LIMITS: Final = [(dialect, call) for dialect in DIALECTS for call in ANSWERED[dialect]]


@pytest.mark.parametrize("late", [False, True], ids=["1 ms before", "1 ms after"])
@pytest.mark.parametrize(("dialect", "call"), LIMITS)
async def test_an_answer_is_in_time_1_ms_before_its_limit_and_late_1_ms_after(
    dialect: str, call: str, late: bool
) -> None:
    async with memory_table(dialect, **SHORT) as table:
        ann = await sign_up(table, "Ann")
        bob = await sign_up(table, "Bob", lags={call: 2.001 if late else 1.999})
        await play_all([ann, bob])

    winners, cheaters = result_of(table)
    assert cheaters == (["Bob"] if late else [])
    assert ("Bob" not in winners) if late else set(winners) <= {"Ann", "Bob"}
    if late:
        assert bob.heard[-1] == call, "who is kicked hears nothing more"
        assert bob.heard.count(call) == 1
        assert bob.closed
        [moment] = [moment for name, moment in table.calls(1) if name == call]
        told_next = [at for at, _ in table.effects if at > moment]
        assert told_next[0] - moment == pytest.approx(2.0, abs=1e-6), "the game goes on when the limit has passed"
    else:
        assert bob.won is not None
    assert ann.won is not None


# -- who dies or cheats ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("call", ["start", "setup", "pick", "play", "more"])
async def test_who_is_gone_after_a_call_is_kicked_and_the_others_play_on(call: str, dialect: str) -> None:
    async with memory_table(dialect, **SHORT) as table, anyio.create_task_group() as others:
        guests = await come(table, ["Ann", "Bob", "Cyd"])
        bob = guests[1]
        others.start_soon(play_all, [guests[0], guests[2]])
        while (heard := await bob.hear()) is not END and heard[0] != call:
            await bob.react(*heard)
        await bob.stream.aclose()

    winners, cheaters = result_of(table)
    assert cheaters == ["Bob"]
    assert {"Ann", "Cyd"} >= set(winners) > set()
    assert [guest.won for guest in (guests[0], guests[2])] == ["Ann" in winners, "Cyd" in winners]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_who_died_while_nobody_awaited_it_is_kicked_at_its_next_call(dialect: str) -> None:
    """It is gone before its setup, while another one takes its time to pick; nobody is held up by it."""
    async with memory_table(dialect, **SHORT) as table, anyio.create_task_group() as others:
        ann = await sign_up(table, "Ann", lags={"pick": 1.5})
        guests = await come(table, ["Bob", "Cyd"])
        others.start_soon(play_all, [ann, guests[1]])
        assert await guests[0].hear() == ("start", True)
        await guests[0].say(A_MAP)
        await table.until_sent("pick", 1)
        await guests[0].stream.aclose()

    assert result_of(table)[1] == ["Bob"]
    assert table.moments("setup", 1) == []
    assert table.moments("setup", 2)[0] - table.moments("setup", 0)[0] == about(1.5)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_who_died_after_its_last_turn_does_not_win(dialect: str) -> None:
    """Eight cards are for the hands; then nobody can do anything, and the game is over when each has said so."""
    async with memory_table(dialect, deck="r" * 8) as table, anyio.create_task_group() as others:
        ann = await sign_up(table, "Ann", "hold-10")
        bob = await sign_up(table, "Bob", "hold-10", lags={"play": 1.0})
        others.start_soon(bob.play)
        while (heard := await ann.hear())[0] != "play":
            await ann.react(*heard)
        await ann.react(*heard)
        await table.until(lambda: bool(table.moments("play", 1)))
        await ann.stream.aclose()

    assert result_of(table) == [["Bob"], ["Ann"]]
    assert bob.won is True


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_map_that_fits_nobody_ends_it_without_an_end(dialect: str) -> None:
    async with memory_table(dialect) as table, anyio.create_task_group() as others:
        guests = await come(table, ["Ann", "Bob"])
        for guest in guests:
            others.start_soon(hand_in, guest, SMALL_MAP)

    assert result_of(table) == NO_MAP
    assert [guest.heard for guest in guests] == [["start"], ["start"]]


async def hand_in(guest: Guest, submitted: Any) -> None:
    """Answer start with a map, and all else as is right."""
    while (heard := await guest.hear()) is not END:
        await (guest.say(submitted) if heard[0] == "start" else guest.react(*heard))
    await guest.stream.aclose()


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_first_map_that_is_good_for_all_is_played_on_and_what_is_no_map_is_cheating(dialect: str) -> None:
    no_map = {**SMALL_MAP, "cities": [["Ab", [1, 1]], ["Ab", [9, 9]]]}
    other = {**A_MAP, "width": 800, "height": 800}
    async with memory_table(dialect, **SHORT) as table, anyio.create_task_group() as others:
        guests = await come(table, ["Ann", "Bob", "Cyd", "Dee"])
        for guest, submitted in zip(guests, [no_map, SMALL_MAP, other, A_MAP], strict=True):
            others.start_soon(hand_in, guest, submitted)

    assert result_of(table)[1] == ["Ann"]
    assert [guest.told[1][1][0] for guest in guests[1:]] == [other] * 3


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_if_all_cheat_nobody_wins_and_it_ends(dialect: str) -> None:
    async with memory_table(dialect) as table:
        guests = await come(table, ["Ann", "Bob", "Cyd"], kind="cheat")
        await play_all(guests)

    assert result_of(table) == [[], ["Ann", "Bob", "Cyd"]]
    assert all(guest.heard == ["start", "setup", "pick", "play"] and guest.closed for guest in guests)


@pytest.mark.parametrize("gone", [False, True], ids=["silent", "gone"])
async def test_the_last_two_failing_in_end_leave_no_winner(gone: bool) -> None:
    async with memory_table(OFFICIAL, **SHORT) as table, anyio.create_task_group() as others:
        guests = await come(table, ["Ann", "Bob"])
        for guest in guests:
            others.start_soon(fail_in_end, guest, gone)

    assert result_of(table) == [[], ["Ann", "Bob"]]
    assert table.ended_at - table.moments("end")[0] == about(0 if gone else 4)


async def test_in_the_documents_dialect_end_is_not_answered_so_nobody_fails_in_it() -> None:
    async with memory_table("trains", **SHORT) as table, anyio.create_task_group() as others:
        guests = await come(table, ["Ann", "Bob"])
        for guest in guests:
            others.start_soon(fail_in_end, guest, True)

    winners, cheaters = result_of(table)
    assert set(winners) <= {"Ann", "Bob"}
    assert winners
    assert cheaters == []


async def fail_in_end(guest: Guest, gone: bool) -> None:
    """Play, but say nothing to ``end``, or close when it comes."""
    while (heard := await guest.hear()) is not END:
        if heard[0] != "end":
            await guest.react(*heard)
        elif gone:
            break
    await guest.stream.aclose()


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_winner_who_is_alone_has_won(dialect: str) -> None:
    """All others have failed before the first round: nobody plays, and the one is told that it has won."""
    async with memory_table(dialect) as table:
        ann = await sign_up(table, "Ann")
        bob = await sign_up(table, "Bob", lags={"start": 2.5})
        await play_all([ann, bob])

    assert result_of(table) == [["Ann"], ["Bob"]]
    assert ann.heard == ["start", "end"]
    assert table.ended == Ended((("Ann",), ("Bob",)), None, MatchOutcome(((0,),), (1,)))
