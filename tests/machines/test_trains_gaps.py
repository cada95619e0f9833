"""What the document of Trains leaves open, as it is settled: words, keys and order on the wire, both dialects.

Who is kicked and when is in tests/runtime/test_trains_waits.py and test_trains_in_virtual_time.py; what the recorded
programs say is in test_trains_recordings.py and test_trains_recorded_servers.py.
"""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

import rules.knockout
import rules.trains
from machines.parser.loader import load
from rules.players.trains_maps import made_map
from tests.support.session_harness import Run

RULES: Final = {"trains": rules.trains, "knockout": rules.knockout}
DIALECTS: Final = ("trains", "trains-official")
A_MAP: Final[dict[str, Any]] = json.loads(json.dumps(made_map(1)))


class Two:
    """Our server and two players by hand, up to the first turn."""

    def __init__(self, dialect: str, **settings: str) -> None:
        self.official = dialect == "trains-official"
        self.run = Run(load(dialect, {"offers": "sorted", **settings}), "server", RULES)
        self.heard: dict[int, list[Any]] = {0: [], 1: []}
        for name in ("Ann", "Bob"):
            self.run.say(self.run.join(), name)
        self.run.wait(40)
        for peer in (0, 1):
            self.say(peer, A_MAP)
        for peer in (0, 1):
            if self.official:
                self.say(peer, "void")
            offered = self.hear(peer)[-1]
            self.say(peer, (offered[1][0] if self.official else offered)[:3])

    def say(self, peer: int, value: Any) -> None:
        """Let a player say a value."""
        self.run.say(peer, value)

    def hear(self, peer: int) -> list[Any]:
        """Return all that a player has heard so far."""
        self.heard[peer] += self.run.heard(peer)
        return self.heard[peer]

    def last(self, peer: int) -> Any:
        """Return the argument of the last call."""
        value = self.hear(peer)[-1]
        return value[1][0] if self.official else value


def test_in_the_documents_dialect_calls_are_bare_values_in_the_order_of_its_diagram() -> None:
    two = Two("trains", deck="rgbw" * 3)

    start, setup, pick, play = two.hear(0)
    assert start is True
    assert setup == {"Map": A_MAP, "rails": 45, "Cards": ["red", "green", "blue", "white"]}
    assert list(setup) == ["Map", "rails", "Cards"]
    assert len(pick) == 5
    assert set(play) == {"this", "acquired"}
    assert two.hear(1)[:1] == [True]
    assert [call for _, call in two.run.all_sent] == ["start", "start", "setup", "pick", "setup", "pick", "play"]
    assert [peer for peer, _ in two.run.all_sent] == [0, 1, 0, 0, 1, 1, 0], "the first to sign up is the oldest"


def test_in_the_official_dialect_calls_have_names_and_arguments() -> None:
    two = Two("trains-official", deck="rgbw" * 3)

    start, setup, pick, play = two.hear(0)
    assert start == ["start", [True]]
    assert setup == ["setup", [A_MAP, 45, ["red", "green", "blue", "white"]]]
    assert pick[0] == "pick"
    assert len(pick[1]) == 1
    assert play[0] == "play"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_destinations_that_are_returned_are_those_that_are_not_wanted(dialect: str) -> None:
    two = Two(dialect)
    offered = two.hear(0)[2]
    five = offered[1][0] if two.official else offered

    this = two.last(0)["this"]
    assert [this["destination1"], this["destination2"]] == five[3:]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_play_shows_is_a_setting(dialect: str) -> None:
    every, own = Two(dialect), Two(dialect, show="own")

    assert set(every.last(0)) == {"this", "acquired"}
    assert own.last(0) == every.last(0)["this"]
    assert set(own.last(0)["cards"]) == {"red", "blue", "green", "white"}, "all four are sent, also those with none"


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("words", ["more cards", "more_cards", None])
def test_more_cards_may_be_asked_for_in_the_words_of_the_diagram_and_of_the_list(
    words: str | None, dialect: str
) -> None:
    two = Two(dialect, deck="rgbw" * 2 + "rr")
    two.say(0, words)

    assert two.last(0) == ["red", "red"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_where_there_are_no_cards_no_more_is_sent_and_a_round_without_a_change_ends_the_game(dialect: str) -> None:
    two = Two(dialect, deck="rgbw" * 2 + "r")
    two.say(0, "more cards")
    two.say(1, "more cards")

    calls = [call for _, call in two.run.all_sent]
    assert "more" not in calls
    assert calls[-1] == ("win" if two.official else "end")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_who_is_kicked_is_told_nothing_and_its_connection_is_closed_at_once(dialect: str) -> None:
    two = Two(dialect)
    before = two.hear(0)[:]
    two.say(0, ["Nowhere", "Somewhere", "red", 3])

    assert two.hear(0) == before
    assert 0 in two.run.dropped


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_nobody_asked_for_is_read_as_the_next_answer(dialect: str) -> None:
    two = Two(dialect, deck="rgbw" * 3)
    two.say(1, A_MAP)  # it is not its turn
    assert 1 not in two.run.dropped
    two.say(0, "more cards")
    if two.official:
        two.say(0, "void")

    assert 1 in two.run.dropped
    assert 0 not in two.run.dropped


@pytest.mark.parametrize("keys", [("Map", "rails", "Cards"), ("map", "rails", "cards"), ("Map", "Rails", "Cards")])
def test_our_client_reads_the_keys_of_setup_in_other_letters_too(keys: tuple[str, str, str]) -> None:
    client = Run(load("trains"), "client", RULES, my={"name": "Ann"})
    client.say(0, True)
    client.answer(A_MAP)
    client.say(0, dict(zip(keys, (A_MAP, 45, ["red"] * 4), strict=True)))
    client.say(0, [["A", "B"], ["A", "C"], ["A", "D"], ["A", "E"], ["A", "F"]])

    assert [ask.question for ask in client.questions] == ["pick"]


@pytest.mark.parametrize("shown", ["all", "own"])
def test_our_client_reads_either_state_and_more_without_cards(shown: str) -> None:
    client = Run(load("trains"), "client", RULES, my={"name": "Ann"})
    client.say(0, True)
    client.answer(A_MAP)
    client.say(0, {"Map": A_MAP, "rails": 45, "Cards": ["red"] * 4}, [["A", name] for name in "BCDEF"])
    client.answer([["A", "B"], ["A", "C"], ["A", "D"]])
    own = {"destination1": ["A", "E"], "destination2": ["A", "F"], "rails": 45, "cards": {"red": 4}, "acquired": []}
    client.say(0, own if shown == "own" else {"this": own, "acquired": [[]]})
    assert [ask.question for ask in client.questions] == ["play"]
    client.answer("more cards")
    client.say(0, [])
    client.say(0, False, True)

    assert client.ended is not None
    assert client.ended.failed is None
    assert client.ended.value["won"] is True
