"""Round robins: who plays whom, how a series is decided, and what offenders do to the rows of everybody."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules import tournament
from rules.tournament import Cup, Series


@dataclass(frozen=True)
class Player:
    name: str


@dataclass(frozen=True)
class Outcome:
    winner: Player | None
    offenders: tuple[Player, ...] = ()


ANN, BOB, CYD, DAN = map(Player, ("ann", "bob", "cyd", "dan"))


def play(series: Series, story: str) -> Series:
    """Play a series by a word: a letter a game, won by the first (1), the second (2) or nobody (-).

    A and B stand for an offence of the first and of the second, X for one of both.
    """
    first, second = series.pair
    outcomes = {
        "1": Outcome(first),
        "2": Outcome(second),
        "-": Outcome(None),
        "A": Outcome(second, (first,)),
        "B": Outcome(first, (second,)),
        "X": Outcome(None, (first, second)),
    }
    for letter in story:
        assert tournament.undecided(series), f"{letter} of {story} is not to be played"
        series = tournament.played(series, outcomes[letter])
    return series


def best_of(games: int, story: str = "", *, stop: bool = False, alternate: bool = False) -> Series:
    return play(tournament.series((ANN, BOB), games, stop, alternate), story)


def cup_of(players: Iterable[Player], **stories: str) -> Cup:
    """Play a round robin; a story by the names of its pair, ``ann_bob``, or three wins of the first."""
    cup = tournament.start(tuple(players))
    for pair in tournament.pairs(cup.players):
        if tournament.both_in(cup, pair):
            story = stories.get("_".join(tournament.names(pair)), "111")
            cup = tournament.add(cup, play(tournament.series(pair, 3, False, False), story))
    return cup


# -- names and the schedule --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("taken", "given_name", "fresh"),
    [
        ([], "ann", "ann"),
        (["bob"], "ann", "ann"),
        (["matthias"], "matthias", "matthiasa"),
        (["ann", "benjamin"], "ann", "annaaaaaa"),  # longer than the longest
        (["ann", "anna"], "ann", "annaa"),
        (["ann", "anna", "annaa"], "anna", "annaaa"),
    ],
)
def test_a_name_that_is_taken_is_padded_beyond_the_longest(taken: list[str], given_name: str, fresh: str) -> None:
    assert tournament.fresh_name([Player(name) for name in taken], given_name) == fresh


@given(st.lists(st.text("ab", min_size=1, max_size=4), max_size=20))
def test_no_two_names_are_the_same_whatever_was_asked_for(asked: list[str]) -> None:
    players: list[Player] = []
    for name in asked:
        players.append(Player(tournament.fresh_name(players, name)))

    assert len(set(tournament.names(players))) == len(asked)
    assert all(fresh.startswith(name) for fresh, name in zip(tournament.names(players), asked, strict=True))


def test_each_plays_every_later_one_in_order_of_sign_up() -> None:
    assert tournament.pairs((CYD, ANN, DAN, BOB)) == (
        (CYD, ANN),
        (CYD, DAN),
        (CYD, BOB),
        (ANN, DAN),
        (ANN, BOB),
        (DAN, BOB),
    )


def test_a_match_is_numbered_by_each_players_own_schedule() -> None:
    players = (ANN, BOB, CYD, DAN)

    numbers = {
        pair: tuple(tournament.match_number(players, pair, player) for player in pair)
        for pair in tournament.pairs(players)
    }

    assert numbers == {
        (ANN, BOB): (1, 1),
        (ANN, CYD): (2, 1),
        (ANN, DAN): (3, 1),
        (BOB, CYD): (2, 2),
        (BOB, DAN): (3, 2),
        (CYD, DAN): (3, 3),
    }


def test_only_one_of_the_pair_has_a_number_for_it() -> None:
    with pytest.raises(ValueError, match="cyd is none of ann and bob"):
        tournament.match_number((ANN, BOB, CYD), (ANN, BOB), CYD)


# -- a series ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("games", "odd"), [(1, 1), (2, 3), (3, 3), (4, 5), (10, 11)])
def test_an_even_number_of_games_becomes_one_more_where_a_document_says_so(games: int, odd: int) -> None:
    assert tournament.odd(games) == odd
    assert tournament.length(best_of(games)) == games, "and nowhere else"


@pytest.mark.parametrize(
    ("games", "story", "stop", "undecided"),
    [
        (3, "", False, True),
        (3, "11", False, True),  # all are played
        (3, "11", True, False),
        (3, "12", True, True),
        (3, "2", True, True),
        (3, "22", True, False),
        (5, "11", True, True),
        (5, "111", True, False),
        (4, "11", True, True),  # it may still be a draw
        (4, "111", True, False),
        (3, "1-", True, True),
        (1, "", True, True),
        (1, "1", True, False),
        (3, "A", False, False),  # an offence ends it, whatever the score
        (3, "1B", False, False),
        (5, "11A", False, False),
    ],
)
def test_a_series_goes_on_until_it_is_decided(games: int, story: str, stop: bool, undecided: bool) -> None:
    assert tournament.undecided(best_of(games, story, stop=stop)) is undecided


@pytest.mark.parametrize(
    ("story", "leader"),
    [
        ("", None),
        ("1", ANN),
        ("2", BOB),
        ("12", None),
        ("122", BOB),
        ("1-", ANN),
        ("-", None),
        ("11A", BOB),  # who offends loses whatever the score
        ("22B", ANN),
        ("B", ANN),
        ("1X", None),
    ],
)
def test_who_has_more_games_leads_unless_it_has_offended(story: str, leader: Player | None) -> None:
    assert tournament.leader(best_of(5, story)) == leader


def test_the_first_of_a_pair_begins_every_game_or_every_second_one() -> None:
    same, alternate = best_of(4), best_of(4, alternate=True)

    assert [tournament.seating(same, n) for n in range(1, 5)] == [(ANN, BOB)] * 4
    assert [tournament.seating(alternate, n) for n in range(1, 5)] == [(ANN, BOB), (BOB, ANN)] * 2


def test_a_series_of_no_games_is_refused() -> None:
    with pytest.raises(ValueError, match="one game or more, not 0"):
        tournament.series((ANN, BOB), 0, False, False)


@pytest.mark.parametrize("outcome", [Outcome(CYD), Outcome(ANN, (CYD,))])
def test_a_stranger_neither_wins_nor_offends(outcome: Outcome) -> None:
    with pytest.raises(ValueError, match="cyd is none of ann and bob"):
        tournament.played(best_of(3), outcome)


@given(st.integers(1, 9), st.text("12-", max_size=9), st.booleans())
def test_stopping_early_never_changes_who_wins(games: int, story: str, alternate: bool) -> None:
    story = story[:games].ljust(games, "1")
    whole = best_of(games, story, alternate=alternate)
    short = best_of(games, stop=True, alternate=alternate)
    for letter in story:
        if tournament.undecided(short):
            short = play(short, letter)

    assert tournament.leader(short) == tournament.leader(whole)
    assert len(short.played) <= len(whole.played) == games


# -- the whole ---------------------------------------------------------------------------------------------------------


def rows(cup: Cup) -> list[str]:
    return [" ".join(row) for row in tournament.result_rows(cup)]


@pytest.mark.parametrize(
    ("stories", "expected", "bad"),
    [
        ({}, ["ann bob", "ann cyd", "bob cyd"], ()),
        ({"ann_cyd": "122"}, ["ann bob", "cyd ann", "bob cyd"], ()),
        # In its first game: its later series are not played.
        ({"ann_bob": "A"}, ["bob ann irregular", "bob cyd"], ("ann",)),
        ({"ann_bob": "11A"}, ["bob ann irregular", "bob cyd"], ("ann",)),
        # What it had won is its opponent's; what it had lost stays as it was.
        ({"ann_cyd": "A"}, ["bob ann", "cyd ann irregular", "bob cyd"], ("ann",)),
        ({"ann_bob": "22", "ann_cyd": "A"}, ["bob ann", "cyd ann irregular", "bob cyd"], ("ann",)),
        ({"bob_cyd": "1B"}, ["ann bob", "ann cyd", "bob cyd irregular"], ("cyd",)),
        # Two bad ones: no row between them, whoever won and whoever failed first.
        ({"ann_cyd": "A", "bob_cyd": "A"}, ["cyd ann irregular", "cyd bob irregular"], ("ann", "bob")),
        (
            {"ann_bob": "222", "ann_cyd": "A", "bob_cyd": "A"},
            ["cyd ann irregular", "cyd bob irregular"],
            ("ann", "bob"),
        ),
        ({"ann_bob": "B", "ann_cyd": "A"}, ["cyd ann irregular"], ("bob", "ann")),
        ({"ann_bob": "X"}, [], ("ann", "bob")),
    ],
)
def test_offenders_lose_what_they_won_and_play_no_more(
    stories: dict[str, str], expected: list[str], bad: tuple[str, ...]
) -> None:
    cup = cup_of((ANN, BOB, CYD), **stories)

    assert rows(cup) == expected
    assert tournament.expelled(cup) == bad
    assert tournament.series_rows(cup) == tuple(tuple(row.split()[:2]) for row in expected)


@pytest.mark.parametrize(
    ("stories", "history"),
    [
        ({}, "ann bob, ann bob, ann bob, ann cyd, ann cyd, ann cyd, bob cyd, bob cyd, bob cyd"),
        ({"ann_bob": "12A"}, "bob ann, bob ann, bob ann, bob cyd, bob cyd, bob cyd"),
        ({"ann_bob": "121", "ann_cyd": "2A"}, "bob ann, bob ann, bob ann, cyd ann, cyd ann, bob cyd, bob cyd, bob cyd"),
        ({"ann_bob": "212", "ann_cyd": "1A", "bob_cyd": "12A"}, "cyd ann, cyd ann, cyd bob, cyd bob, cyd bob"),
    ],
)
def test_the_history_has_a_row_a_game(stories: dict[str, str], history: str) -> None:
    cup = cup_of((ANN, BOB, CYD), **stories)

    assert ", ".join(" ".join(row) for row in tournament.history(cup)) == history


@pytest.mark.parametrize(
    ("stories", "winners"),
    [
        ({}, ["ann"]),
        ({"ann_cyd": "222"}, ["ann", "bob", "cyd"]),  # each has one
        ({"ann_bob": "A"}, ["bob"]),
        ({"ann_bob": "X"}, ["cyd"]),  # without a series
        ({"ann_cyd": "A", "bob_cyd": "A"}, ["cyd"]),
    ],
)
def test_the_tournament_is_won_by_who_has_most_series(stories: dict[str, str], winners: list[str]) -> None:
    cup = cup_of((ANN, BOB, CYD), **stories)

    assert [player.name for player in cup.players if tournament.won(cup, player)] == winners
    assert list(tournament.result(cup)["winners"]) == winners


def test_the_result_is_a_table_of_all() -> None:
    cup = cup_of((ANN, BOB, CYD), ann_bob="122", bob_cyd="1B")

    assert tournament.result(cup) == {
        "winners": ("bob",),
        "expelled": ("cyd",),
        "players": (
            {"name": "ann", "series": 1, "games": 4, "expelled": False},
            {"name": "bob", "series": 2, "games": 4, "expelled": False},
            {"name": "cyd", "series": 0, "games": 0, "expelled": True},
        ),
        "rows": (("bob", "ann"), ("ann", "cyd"), ("bob", "cyd")),
    }


def test_a_tournament_can_be_read_in_a_debugger() -> None:
    cup = cup_of((ANN, BOB, CYD), ann_cyd="1B")

    assert str(cup) == "ann 3:0 bob, best of 3\nann 2:0 cyd, best of 3\nexpelled: cyd"


@st.composite
def cups(draw: st.DrawFn) -> tuple[Cup, list[tuple[Any, str]]]:
    """A tournament in which anything may happen, and what was played in it."""
    players = tuple(Player(name) for name in "abcdef"[: draw(st.integers(2, 6))])
    cup = tournament.start(players)
    story = []
    for pair in tournament.pairs(players):
        if tournament.both_in(cup, pair):
            games = draw(st.sampled_from(["111", "121", "122", "222", "A", "B", "1A", "21B", "22A", "X"]))
            cup = tournament.add(cup, play(tournament.series(pair, 3, False, False), games))
            story.append((pair, games))
    return cup, story


@given(cups())
def test_rows_hold_what_everybody_can_rely_on(drawn: tuple[Cup, list[tuple[Any, str]]]) -> None:
    cup, story = drawn
    bad = tournament.expelled(cup)
    found = tournament.result_rows(cup)
    pairs_in_rows = [frozenset(row[:2]) for row in found]

    assert len(set(bad)) == len(bad)
    assert all(winner not in bad for winner, *_ in found), "an offender wins nothing"
    ended_early = [pair for pair, games in story if games[-1] in "AB"]
    assert [set(row[:2]) for row in found if row[2:] == ("irregular",)] == [
        set(tournament.names(pair)) for pair in ended_early if not all(player.name in bad for player in pair)
    ]
    scheduled = [frozenset(pair) for pair in combinations(tournament.names(cup.players), 2)]
    assert pairs_in_rows == [pair for pair in scheduled if pair in pairs_in_rows], "in the order of the schedule"
    survivors = tournament.names(tournament.survivors(cup))
    assert [pair for pair in scheduled if pair <= set(survivors)] == [
        pair for pair in pairs_in_rows if pair <= set(survivors)
    ], "who behaves well plays everybody who does"
    assert len(found) + sum(set(tournament.names(pair)) <= set(bad) for pair, _ in story) == len(story)


@given(cups())
def test_a_survivor_has_a_row_unless_all_the_others_offended_together(
    drawn: tuple[Cup, list[tuple[Any, str]]],
) -> None:
    """So a list of results for survivors is never empty, where a game has one offender at most."""
    cup, story = drawn
    if any("X" in games for _, games in story):
        return

    for survivor in tournament.survivors(cup):
        assert any(survivor.name in row for row in tournament.series_rows(cup))


@given(cups())
def test_each_form_of_the_result_agrees_with_the_others(drawn: tuple[Cup, list[tuple[Any, str]]]) -> None:
    cup, _ = drawn
    table = tournament.result(cup)

    assert tuple(row[:2] for row in tournament.result_rows(cup)) == tournament.series_rows(cup) == table["rows"]
    for player in table["players"]:
        assert player["series"] == sum(winner == player["name"] for winner, _ in table["rows"])
        assert player["games"] == sum(winner == player["name"] for winner, _ in tournament.history(cup))
        assert player["expelled"] is (player["name"] in table["expelled"])
    most = max((player["series"] for player in table["players"] if not player["expelled"]), default=None)
    assert set(table["winners"]) == {
        player["name"] for player in table["players"] if not player["expelled"] and player["series"] == most
    }
