"""What follows from results: rounds without those who are out, seats turned round; and large events in little time."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

pytest.importorskip("sqlalchemy")

from runtime.tournament.event import Event, read_event_text
from runtime.tournament.progress import EventProgress, progress_of
from runtime.tournament.store import _NEW_PLACE, _NEW_RESULT, Decision, Match, Placed, Store, _place

FORMS = ("round-robin", "knockout", "{swiss: 3}", "{groups: 3..4, rounds: 4}", "{gauntlet: [player0, player1]}")
EVENT = "spec: sticks\nseed: 5\nformat: FORM\nplayers:\n"


def event(form: str, count: int, head: str = "") -> Event:
    players = "".join(f"  player{number}: {{kind: random}}\n" for number in range(count))
    return read_event_text(head + EVENT.replace("FORM", form) + players, Path("event.yaml"))


def places(match: Match, random: Random, faults: float = 0.0) -> tuple[Placed, ...]:
    """Return how a match went, by chance; with the chance ``faults`` the last broke the rules."""
    order = random.sample(match.seats, len(match.seats))
    broke = random.random() < faults
    return tuple([Placed(name, order.index(name) + 1, None, broke and name == order[-1]) for name in match.seats])


def played(progress: EventProgress, random: Random, drops: dict[int, str], faults: float) -> EventProgress:
    """Play an event to its end; of ``drops`` each is dropped once so many rounds are planned."""
    while True:
        for number, name in drops.items():
            if len(progress.rounds()) == number:
                progress.decisions = [*progress.decisions, Decision(number, "", "drop", name, "", number)]
                progress = EventProgress(progress.event, progress.matches, progress.results, progress.decisions)
        drops = {number: name for number, name in drops.items() if number > len(progress.rounds())}
        for match, walked, _ in list(progress.walkovers()):
            progress.settle(match, walked)
        for match in list(progress.unsettled()):
            progress.settle(match, places(match, random, faults))
        found = progress.next_round()
        if found is None:
            return progress
        progress.add(found)


@settings(max_examples=40)
@given(
    some.sampled_from(FORMS),
    some.integers(4, 12),
    some.dictionaries(some.integers(1, 4), some.integers(0, 11), max_size=3),
    some.integers(0, 999),
)
def test_who_is_dropped_plays_no_more_and_all_others_to_the_end(
    form: str, count: int, drops: dict[int, int], seed: int
) -> None:
    dropped = {number: f"player{player % count}" for number, player in drops.items()}
    progress = played(EventProgress(event(form, count)), Random(seed), dropped, 0.0)

    last = {decision.about: decision.round for decision in reversed(progress.decisions)}
    assert set(progress.results) == {match.number for match in progress.matches}
    for match in progress.matches:
        seated = {placed.player: placed for placed in progress.results[match.number]}
        assert tuple(seated) == match.seats
        gone = {name for name in match.seats if last.get(name, match.round + 1) <= match.round}
        assert {name for name, placed in seated.items() if placed.fault} == gone
        assert not gone or all(placed.place == 1 for name, placed in seated.items() if name not in gone)
        if form not in ("round-robin", "{gauntlet: [player0, player1]}"):  # who meets whom is known beforehand
            assert not [name for name in gone if last[name] < match.round]
    for matches in progress.rounds():
        seats = Counter(name for match in matches for name in match.seats)
        assert max(seats.values()) == 1
    assert progress.standings()[0].rank == 1


@settings(max_examples=40)
@given(some.sampled_from(FORMS), some.integers(4, 10), some.integers(1, 3), some.integers(0, 999))
def test_who_is_at_fault_so_often_is_out_from_the_next_round_on(form: str, count: int, most: int, seed: int) -> None:
    progress = played(EventProgress(event(form, count, f"out_after: {most}\n")), Random(seed), {}, 0.4)

    faults: Counter[str] = Counter()
    for matches in progress.rounds():
        out = {name for name, found in faults.items() if found >= most}
        for match in matches:
            for placed in progress.results[match.number]:
                assert placed.fault.startswith("out of the event") == (placed.player in out)
                faults[placed.player] += placed.at_fault
    assert progress.out().keys() == {name for name, found in faults.items() if found >= most}


@pytest.mark.parametrize("form", FORMS)
def test_the_games_of_a_pairing_are_seated_in_turns(form: str) -> None:
    progress = EventProgress(event(form, 6, "games: 3\n"))
    found = progress.next_round()

    assert found is not None
    for start in range(0, len(found), 3):
        first, *others = (match.seats for match in found[start : start + 3])
        for turn, seats in enumerate(others, 1):
            assert seats == first[turn % len(first) :] + first[: turn % len(first)]


# -- large events ----------------------------------------------------------------------------------------------------


def test_an_event_of_ten_thousand_matches_goes_on_within_two_seconds_of_processor_time() -> None:
    large = event("round-robin", 142)
    random, progress = Random(3), EventProgress(large)
    while found := progress.next_round():
        progress.add(found)
    store = Store("sqlite://")
    store.plan(progress.matches)
    done = progress.matches[:9990]
    with store._transaction("settle") as connection:  # one for each would take as long as the event's end
        connection.execute(_NEW_RESULT, [{"match": match.number, "run": "run", "value": "1"} for match in done])
        rows = [_place(m.number, seat, one) for m in done for seat, one in enumerate(places(m, random))]
        connection.execute(_NEW_PLACE, rows)

    began = time.thread_time()
    now = progress_of(large, store)
    assert now.next_round() is None
    assert [match.number for match in now.unsettled()] == [*range(9991, 10012)]
    assert time.thread_time() - began < 2
    began = time.thread_time()
    for match in list(now.unsettled()):
        store.start(match.number, 1, "run")
        store.played(match.number, 1, "run", 0.1, None, places(match, random))
    assert (time.thread_time() - began) / 42 < 0.005
    store.close()


def test_the_table_of_three_hundred_players_takes_less_than_a_second_of_processor_time() -> None:
    progress = played(EventProgress(event("{swiss: 9}", 300)), Random(4), {}, 0.0)

    began = time.thread_time()
    rows = progress.standings()

    assert time.thread_time() - began < 1
    assert sum(row.points for row in rows) == len(progress.matches) == 1350
