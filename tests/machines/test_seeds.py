"""The five protocols and the official ones of Santorini and Trains, all roles, played in memory under stub rules.

Players behave well, fall silent, answer what the rules refuse or what is no message, write other bytes, or die at any
step. Whatever they do, the server's session returns, in bounded time, with nobody left connected, and every client
whose program lives ends too. A failing case is named by its numbers: run it alone with ``-k``.
"""

from __future__ import annotations

import pytest

from machines.checks.rules import check_rules
from machines.effects import Ask, Cancel, Drop, Effect, Ended, Send
from machines.problems import Problems
from machines.values import Record
from tests.support.seeds import FIVE, load_seed
from tests.support.session_harness import Run
from tests.support.stub_rules import STUBS
from tests.support.unruly import SEEDS, play

RUNS = 40


def orderly(effects: list[Effect]) -> None:
    """Check what any session owes its runtime: one end, nothing after it, nothing to whom it has closed."""
    closed: set[int] = set()
    asked: set[int] = set()
    ended = 0
    for effect in effects:
        match effect:
            case Send(peer):
                assert peer not in closed, f"{effect} after its close"
                assert not ended, f"{effect} after the end"
            case Drop(peer):
                assert peer not in closed, f"{peer} is closed twice"
                closed.add(peer)
            case Ask(number):
                asked.add(number)
            case Cancel(number):
                assert number in asked, f"question {number} was never asked"
            case Ended():
                ended += 1
            case _:
                pass
    assert ended <= 1


def nobody_is_left(run: Run) -> None:
    for seat in run.session.seats:
        assert seat.lost or seat.number in run.dropped, f"peer {seat.number} is left open"


@pytest.mark.matrix("name", "number", strength=1)
@pytest.mark.parametrize("number", range(RUNS))
@pytest.mark.parametrize("name", SEEDS)
def test_a_run_ends_whatever_its_players_do(name: str, number: int) -> None:
    network, guests = play(name, number)

    server = network.server
    assert server.ended is not None, server.state()
    assert server.ended.failed is None
    nobody_is_left(server)
    for run in network.runs:
        orderly(run.effects)
        if id(run) not in network.dead:
            assert run.ended is not None, run.state()
            nobody_is_left(run)
    assert isinstance(server.ended.value, Record)  # at least one was there to the end
    for guest in guests:
        assert guest.client is not None
        if guest.behaviour == "good":
            assert guest.client.ended is not None
            assert guest.client.ended.failed is None, "a player that behaves well is never hurt by the others"


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("name", SEEDS)
def test_everybody_hears_the_end_when_all_play_well(name: str, players: int) -> None:
    network, _ = play(name, 1000 + players, ["good"] * players)

    for run in network.runs:
        assert run.ended is not None, run.state()
        assert run.ended.failed is None
    results = [client.ended.value for client in network.clients if client.ended is not None]
    assert all(result is not None for result in results)


@pytest.mark.parametrize("name", SEEDS)
def test_a_run_is_the_same_again_from_its_seed(name: str) -> None:
    first, _ = play(name, 7)
    second, _ = play(name, 7)

    assert [run.effects for run in first.runs] == [run.effects for run in second.runs]
    assert [run.took for run in first.runs] == [run.took for run in second.runs]


@pytest.mark.parametrize("name", SEEDS)
def test_every_rule_that_a_shipped_spec_names_has_a_stub_with_as_many_values(name: str) -> None:
    problems = Problems()

    check_rules(load_seed(name), STUBS, problems)

    assert list(problems) == []


def test_every_protocol_is_played_here() -> None:
    assert set(SEEDS) == {*FIVE, "santorini-official", "trains-official"}
