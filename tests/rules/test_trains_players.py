"""Players of Trains: what those by rote do, that the strong one is stronger, that the stuck are stuck."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.trains import game, seats
from rules import trains
from rules.players.trains import MORE_CARDS, PLAYERS, BuyNow, choices
from rules.players.trains_maps import made_map
from rules.trains_map import COLOURS

CHART: dict[str, Any] = {
    "width": 100,
    "height": 100,
    "cities": [[name, [10 * i, 10]] for i, name in enumerate("ABCDE")],
    "connections": {
        "A": {"B": {"red": 3, "blue": 3, "green": 3, "white": 4}, "C": {"red": 3}},
        "B": {"C": {"red": 5}},
        "C": {"D": {"red": 5}, "E": {"white": 3}},
    },
}
OFFER = (("A", "B"), ("A", "C"), ("A", "D"), ("B", "C"), ("B", "D"))


def shown(cards: dict[str, int], *, rails: int = 45, mine: Any = (), others: Any = ()) -> dict[str, Any]:
    this = {
        "destination1": ("A", "D"),
        "destination2": ("B", "E"),
        "rails": rails,
        "cards": cards,
        "acquired": mine,
    }
    return {"this": this, "acquired": others}


def player(kind: str, chart: Any = CHART) -> Any:
    made = PLAYERS[kind]("ann", 1)
    made.heard("setup", {"map": chart, "rails": 45, "cards": ("red",) * 4})
    return made


def takes(*wanted: Any) -> Any:
    return "connection", {"connection": wanted}


@pytest.mark.parametrize(("kind", "unwanted"), [("hold-10", OFFER[2:]), ("buy-now", OFFER[:3]), ("cheat", OFFER[2:])])
def test_players_by_rote_keep_the_first_or_the_last_two(kind: str, unwanted: Any) -> None:
    assert player(kind).pick(OFFER[::-1]) == ("returned", {"unwanted": unwanted})


@pytest.mark.parametrize(
    ("kind", "state", "answer"),
    [
        ("hold-10", shown({"red": 10}), MORE_CARDS),
        ("hold-10", shown({"red": 11}), takes("A", "B", "red", 3)),
        ("hold-10", shown({"green": 2, "white": 2, "blue": 2, "red": 2}), MORE_CARDS),
        ("buy-now", shown({"red": 3}), takes("A", "B", "red", 3)),
        ("buy-now", shown({"red": 3, "blue": 3}), takes("A", "B", "blue", 3)),
        ("buy-now", shown({"red": 3}, others=((("A", "B", "red", 3),),)), takes("A", "C", "red", 3)),
        ("buy-now", shown({"red": 3}, mine=(("A", "B", "red", 3),)), takes("A", "C", "red", 3)),
        ("buy-now", shown({"red": 3}, rails=2), MORE_CARDS),
        ("buy-now", shown({"red": 3})["this"], takes("A", "B", "red", 3)),
        ("buy-now", shown({}), MORE_CARDS),
    ],
)
def test_players_by_rote_answer_as_described(kind: str, state: Any, answer: Any) -> None:
    assert player(kind).play(state) == answer


def test_a_cheat_asks_at_once_for_a_connection_that_is_not_there() -> None:
    # A and B are joined in all colours, A and C lack three.
    message, fields = player("cheat").play(shown({}))

    assert message == "connection"
    city, other, colour, length = fields["connection"]
    assert (city, other, length) == ("A", "C", 3)
    assert colour in COLOURS[1:]


def test_the_strong_one_keeps_what_is_near_and_goes_there() -> None:
    strong = player("strong")

    assert strong.pick(OFFER)[1]["unwanted"] == (("A", "D"), ("B", "C"), ("B", "D"))
    state = shown({"red": 5, "blue": 3}, mine=(("A", "B", "green", 3), ("A", "C", "red", 3)))
    assert strong.play(state) == takes("C", "D", "red", 5)


@pytest.mark.parametrize("other", ["hold-10", "buy-now", "random"])
def test_the_strong_one_wins_most_of_twelve_games_and_is_never_kicked(other: str) -> None:
    played = [game(seats(other, number), number, []) for number in range(12)]

    assert sum(won for _, won in played) >= 8
    assert all(trains.kicked(table) == () for table, _ in played)


@pytest.mark.parametrize("kind", ["hold-10", "buy-now", "random", "strong"])
def test_honest_players_that_see_everything_are_never_kicked(kind: str) -> None:
    for number in range(4):
        table, _ = game((kind,) * 8, number, [])

        assert trains.kicked(table) == ()
        assert len(trains.by_rank(table)) == 8


@pytest.mark.parametrize(
    ("call", "answered"),
    [
        ("start", []),
        ("setup", ["map"]),
        ("pick", ["map"]),
        ("play", ["map", "returned", "connection", "connection", "connection"]),
        ("more", ["map", "returned", "connection", "connection"]),
    ],
)
def test_the_stuck_answer_up_to_their_call_and_nothing_after(call: str, answered: list[str]) -> None:
    stuck = PLAYERS[f"bad-{call}"]("ann", 1)
    answers = [stuck.map()]
    stuck.heard("setup", {"map": CHART})
    answers.append(stuck.pick(OFFER))
    for turn in range(6):
        answers.append(stuck.play(shown({"red": 3})))
        if turn == 1:
            stuck.heard("more", {"cards": ("red", "red")})

    assert [answer[0] for answer in answers if answer is not ...] == answered
    assert answers[len(answered) :] == [...] * (8 - len(answered))


def test_players_bring_different_maps_along_that_are_good() -> None:
    maps = [PLAYERS[kind]("ann", seed).map()[1]["map"] for kind in ("buy-now", "strong") for seed in range(3)]

    assert all(trains.choose([chart], range(8)) is not None for chart in maps)
    assert maps[0] != maps[1]


def test_a_turn_before_a_game_is_told_in_words() -> None:
    with pytest.raises(ValueError, match="before a game was set up"):
        BuyNow("ann", 1).play(shown({}))


def test_a_person_chooses_among_twelve_maps_and_ten_pairs() -> None:
    maps, pairs = choices("map", {}), choices("pick", {"destinations": OFFER})

    assert len(maps) == 12
    assert all(trains.is_map(answer[1]["map"]) for _, answer in maps)
    assert pairs[0] == ("keep A to B, and A to C", ("returned", {"unwanted": OFFER[2:]}))
    assert len({answer[1]["unwanted"] for _, answer in pairs}) == 10


def test_made_maps_are_not_crowded() -> None:
    for seed in range(10):
        spots = [tuple(spot) for _, spot in made_map(seed)["cities"]]
        assert min(abs(x - a) + abs(y - b) for i, (x, y) in enumerate(spots) for a, b in spots[:i]) >= 40
