"""The players of Tsuro: legal or not as they should be, repeatable, and the strong one strong."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.tsuro_players import Someone, play
from rules import tsuro
from rules.players.tsuro import DEFAULT, PLAYERS, choices
from rules.players.tsuro_search import Strong, ways_on
from rules.tsuro_board import TILES, Board, Tile, turned


def tile(pairs: str) -> Tile:
    return tuple((pair[0], pair[1]) for pair in pairs.split())


STRAIGHT, TURN_BACK = tile("AF BE CH DG"), tile("AB CD EF GH")
ANN, BOB = Someone("ann", "white"), Someone("bob", "black")


def fields(kind: str, question: str, *arguments: Any, seed: int = 0) -> dict[str, Any]:
    message, answered = getattr(PLAYERS[kind]("ann", seed), question)(*arguments)
    assert message == {"initial": "INIT_PLACE", "intermediate": "INTER_PLACE"}[question]
    return dict(answered)


# By kind -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["second", "random", "strong"])
def test_a_player_by_the_rules_is_never_ejected(kind: str) -> None:
    for seed in range(1 if kind == "strong" else 20):
        table, _ = play([kind, "second", "random", "random", kind], seed)

        assert tsuro.cheaters(table) == ()


@pytest.mark.parametrize("seed", range(12))
def test_the_illegal_kinds_are_ejected_at_their_first_and_their_second_move(seed: int) -> None:
    table, moves = play(["illegal", "illegal-later", "second"], seed)

    assert tsuro.cheaters(table) == ("illegal 0", "illegal-later 1")
    assert [seat.until for seat in table.seats] == [0, 1, None]
    assert [sum(move.player.name.startswith(kind) for move in moves) for kind in ("illegal 0", "illegal-later")] == [
        1,
        2,
    ]
    assert tsuro.ranking(table) == (("second 2",),)


def test_the_first_kind_goes_on_with_the_first_tile_whatever_it_does() -> None:
    table = tsuro.begin(tsuro.start([ANN]), ANN, STRAIGHT, "A", 2, 0)

    assert fields("first", "intermediate", tsuro.board(table), (TURN_BACK, STRAIGHT), "white") == {
        "tile": TURN_BACK, "x": 2, "y": 1
    }  # fmt: skip
    assert fields("second", "intermediate", tsuro.board(table), (TURN_BACK, STRAIGHT), "white")["tile"] == STRAIGHT


def test_the_simple_kinds_begin_at_opposite_ends_of_the_edge() -> None:
    empty = Board().wire
    taken = Board().put(STRAIGHT, 0, 0).enter("black", "A", 0, 0).wire

    assert list(fields("first", "initial", empty, TILES[:3], "white").values()) == ["white", TILES[2], "A", 0, 0]
    assert list(fields("first", "initial", taken, TILES[:3], "white").values()) == ["white", TILES[2], "A", 2, 0]
    assert list(fields("second", "initial", empty, TILES[:3], "white").values()) == ["white", TILES[2], "H", 0, 0]
    assert list(fields("second", "initial", taken, TILES[:3], "white").values()) == ["white", TILES[2], "H", 0, 2]


def test_the_second_kind_finds_a_placement_where_its_own_tile_fits_nowhere() -> None:
    answer = fields("second", "initial", Board().wire, (STRAIGHT, STRAIGHT, TURN_BACK), "white")

    assert answer["tile"] == STRAIGHT


@pytest.mark.parametrize("kind", ["random", "strong"])
def test_one_seed_gives_one_game_and_another_seed_another(kind: str) -> None:
    def moves(seed: int) -> list[dict[str, Any]]:
        # 35 apart: the same dealing, so that only the player's own chance differs.
        return [move.fields for move in play([kind, "first", "first"], seed)[1] if move.player.name == f"{kind} 0"]

    assert moves(3) == moves(3)
    assert moves(3) != moves(38)


def test_the_strong_kind_beats_two_of_each_simple_kind() -> None:
    """How often is measured by benchmarks/tsuro_players.py; here one game of each, seeds not chosen to please."""
    for kind in ("second", "random", "first"):
        assert tsuro.ranking(play([kind, "strong", kind], 0)[0])[0] == ("strong 1",), kind


def test_the_strong_kind_does_not_need_the_dealing_to_be_in_order() -> None:
    table = tsuro.begin(tsuro.start([ANN, BOB]), ANN, STRAIGHT, "A", 2, 0)
    table = tsuro.begin(table, BOB, STRAIGHT, "A", 6, 0)
    shuffled = tsuro.Table(table.board, table.seats, (TILES[20], TILES[3]))

    _, answer = Strong("ann", 1).intermediate(tsuro.board(table), shuffled.hand, "white")

    assert tsuro.may_place(shuffled, ANN, **answer)


def test_the_strong_kind_puts_the_last_other_player_out_when_it_can() -> None:
    table = tsuro.begin(tsuro.start([ANN, BOB]), ANN, STRAIGHT, "A", 2, 0)
    table = tsuro.place(tsuro.begin(table, BOB, STRAIGHT, "H", 0, 1), BOB, STRAIGHT, 1, 1)
    # Both face 2,1: white at A, black at H; port B leads off the board through 2,0.
    hand = (tile("AE BH CD FG"), tile("AE BC DF GH"))

    _, answer = Strong("ann", 1).intermediate(tsuro.board(table), hand, "white")

    after = tsuro.place(table, ANN, **answer)
    assert [seat.fate for seat in after.seats] == ["in", "exited"]


def test_ways_on_count_the_ports_that_stay_on_the_board() -> None:
    middle, corner = 80 * 5 + 8 * 5, 80 * 9 + 8 * 9

    assert ways_on(Board().crossings, middle) == 1.0
    assert ways_on(Board().crossings, corner) < 0.5


@pytest.mark.parametrize("kind", [kind for kind in PLAYERS if kind != "first"])
def test_a_player_asked_for_a_token_that_cannot_move_says_so(kind: str) -> None:
    out = tsuro.begin(tsuro.start([ANN]), ANN, TURN_BACK, "A", 2, 0)

    with pytest.raises(ValueError, match="white has exited"):
        fields(kind, "intermediate", tsuro.board(out), TILES[:2], "white")
    with pytest.raises(ValueError, match="red is not on the board"):
        fields(kind, "intermediate", tsuro.board(out), TILES[:2], "red")


def test_every_kind_tells_in_one_line_what_it_does() -> None:
    assert DEFAULT in PLAYERS
    for kind in PLAYERS.values():
        assert kind.__doc__
        assert len(kind.__doc__.partition("\n")[0]) < 115


# For a person --------------------------------------------------------------------------------------------------------


def test_a_person_is_offered_every_legal_placement_once() -> None:
    players = [ANN, BOB]
    table = tsuro.deal(tsuro.start(players), 3)
    offered = choices("initial", {"board": tsuro.board(table), "hand": tsuro.hand(table), "token": "white"})
    every = [
        (laid, port, x, y)
        for x in range(10)
        for y in range(10)
        for port in "ABCDEFGH"
        for laid in dict.fromkeys(turned(dealt, quarters) for dealt in table.hand for quarters in range(4))
        if tsuro.may_start(table, ANN, laid, port, x, y)
    ]

    assert sorted(tuple(answer.values())[1:] for _, (_, answer) in offered) == sorted(every)
    assert len({text for text, _ in offered}) == len(offered)
    assert offered[0][0] == "0,0 from port A: tile 1 as dealt (AE BF CH DG), you stand at E of 0,0 and face 0,1"

    table = tsuro.begin(table, ANN, *every[0])
    table = tsuro.deal(tsuro.begin(table, BOB, STRAIGHT, "A", 6, 0), 2)
    asked = (("board", tsuro.board(table)), ("tiles", tsuro.hand(table)), ("token", "white"))
    offered = choices("intermediate", asked)

    assert all(tsuro.may_place(table, ANN, **answer) for _, (_, answer) in offered)
    assert len({text for text, _ in offered}) == len(offered)


def test_a_person_is_told_who_goes_out() -> None:
    table = tsuro.start([ANN, BOB])
    table = tsuro.begin(tsuro.begin(table, ANN, STRAIGHT, "A", 2, 0), BOB, STRAIGHT, "A", 4, 0)
    table = tsuro.place(table, BOB, tile("AH BG CF DE"), 4, 1)
    table = tsuro.place(table, ANN, tile("AC BD EH FG"), 2, 1)
    asked = {"board": tsuro.board(table), "tiles": (STRAIGHT, STRAIGHT), "token": "white"}

    texts = [text for text, _ in choices("intermediate", asked)]

    assert texts == [
        "3,1: tile 1 as dealt (AF BE CH DG), you go out: head on into another token at A of 4,0; black goes out"
    ]


def test_an_unknown_question_is_refused() -> None:
    with pytest.raises(ValueError, match="no question 'final'"):
        choices("final", {"board": Board().wire, "token": "white"})
