"""The rules of Tsuro: tiles, movement, legality, going out, rounds and ranking."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machines.values import Peer, Record, freeze
from rules import tsuro
from rules.tsuro_board import (
    BESIDE,
    COLOURS,
    CROSSINGS,
    KINDS,
    OFF,
    PORTS,
    ROTATIONS,
    TILES,
    Board,
    BoardError,
    Tile,
    canonical,
    facing,
    port_of,
    read_board,
    spot_of,
    tile_text,
    turned,
    walk,
)


@dataclass(frozen=True)
class Someone:
    name: str
    token: str


ANN, BOB, CYD = Someone("ann", "white"), Someone("bob", "black"), Someone("cyd", "red")


def tile(pairs: str) -> Tile:
    return tuple((pair[0], pair[1]) for pair in pairs.split())


# Four paths that each cross straight to the other side, and four that turn back on their own side.
STRAIGHT = tile("AF BE CH DG")
TURN_BACK = tile("AB CD EF GH")


def holding(table: tsuro.Table, *hand: Tile) -> tsuro.Table:
    return tsuro.Table(table.board, table.seats, hand, table.dealt, table.round, table.moved)


def begun(*starts: tuple[Someone, str, int, int], tile: Tile = STRAIGHT) -> tsuro.Table:
    """A table after first placements with straight tiles."""
    table = tsuro.start([player for player, *_ in starts])
    for player, port, x, y in starts:
        table = tsuro.begin(table, player, tile, port, x, y)
    return table


# Tiles and ports -----------------------------------------------------------------------------------------------------


def test_the_35_kinds_cover_each_of_the_105_ways_to_join_eight_ports_once() -> None:
    assert len(TILES) == 35
    assert len(KINDS) == 105
    assert sorted(set(KINDS.values())) == list(range(35))
    assert {len(rotations) for rotations in ROTATIONS.values()} == {1, 2, 4}


def test_a_quarter_turn_moves_every_port_two_letters_on() -> None:
    assert turned(tile("AE BC DH FG")) == tile("AH BF CG DE")


@pytest.mark.parametrize("kind", range(35))
def test_four_quarter_turns_are_none(kind: int) -> None:
    assert turned(turned(TILES[kind], 3)) == TILES[kind]
    assert turned(TILES[kind], 4) == TILES[kind]


@given(st.sampled_from(sorted(KINDS)), st.randoms(use_true_random=False))
def test_a_tile_is_the_same_in_whatever_order_it_is_written(laid: Tile, chance: Random) -> None:
    pairs = [list(pair) if chance.random() < 0.5 else [pair[1], pair[0]] for pair in laid]
    chance.shuffle(pairs)

    assert canonical(pairs) == laid
    assert canonical(tuple(map(tuple, pairs))) == laid


@pytest.mark.parametrize("pairs", ["AA BB CC DD", "AB AB CD EF", "AB CD EF", "AB CD EF GH GH", "AB CD EF GI"])
def test_pairs_that_do_not_join_each_port_once_are_no_tile(pairs: str) -> None:
    assert canonical(tile(pairs)) is None


def test_ports_across_an_edge_lead_back_to_each_other() -> None:
    for spot, over in enumerate(BESIDE):
        assert over == OFF or BESIDE[over] == spot
    assert BESIDE.count(OFF) == 4 * 10 * 2


@pytest.mark.parametrize(
    ("port", "there"), [("A", "F 4,3"), ("B", "E 4,3"), ("C", "H 5,4"), ("D", "G 5,4"), ("E", "B 4,5"), ("G", "D 3,4")]
)
def test_a_path_goes_on_at_the_port_across_the_edge(port: str, there: str) -> None:
    assert "{} {},{}".format(*port_of(BESIDE[spot_of(port, 4, 4)])) == there


# Setting up ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("taken", "free"), [("", "white"), ("white", "black"), ("white red", "black"), ("white black red green", "blue")]
)
def test_the_first_colour_that_nobody_has_is_free(taken: str, free: str) -> None:
    assert tsuro.free_token([Someone("x", token) for token in taken.split()]) == free


def test_a_sixth_player_gets_no_token() -> None:
    with pytest.raises(ValueError, match="five players at most"):
        tsuro.free_token([Someone("x", token) for token in COLOURS])


@pytest.mark.parametrize("tokens", [("white", "white"), ("white", "pink")])
def test_a_table_needs_tokens_that_exist_and_differ(tokens: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="a token of its own"):
        tsuro.start([Someone("x", token) for token in tokens])


def test_dealing_runs_over_the_tiles_in_order_and_begins_again() -> None:
    table = tsuro.start([ANN])
    dealt: list[Tile] = []
    for count in (3, 3, *[2] * 15):
        table = tsuro.deal(table, count)
        dealt += tsuro.hand(table)

    assert dealt == [*TILES, TILES[0]]
    with pytest.raises(ValueError, match="a hand has"):
        tsuro.deal(table, -1)


def test_the_first_index_of_the_board_is_x() -> None:
    table = begun((ANN, "A", 3, 0))

    columns, starts = tsuro.board(table)
    assert columns[3][0] == STRAIGHT
    assert columns[0][3] is None
    assert starts == (("white", "A", 3, 0),)


def test_starts_stand_in_the_order_of_the_colours_whoever_began_first() -> None:
    table = begun((CYD, "A", 3, 0), (ANN, "A", 5, 0), (BOB, "A", 7, 0))

    assert [start[0] for start in tsuro.board(table)[1]] == ["white", "black", "red"]


def test_asking_for_the_board_again_gives_the_very_same_one() -> None:
    table = begun((ANN, "A", 3, 0))

    assert tsuro.board(table) is tsuro.board(tsuro.deal(table, 2))
    assert freeze(tsuro.board(table)) is tsuro.board(table)
    assert freeze(table) is table


# First placements ----------------------------------------------------------------------------------------------------

HAND = (STRAIGHT, tile("AE BF CH DG"), TURN_BACK)


@pytest.mark.parametrize(
    ("pairs", "port", "x", "y", "legal", "why"),
    [
        ("AF BE CH DG", "A", 5, 0, True, "an outer port of an edge square"),
        ("BE AF GD HC", "A", 5, 0, True, "pairs in another order"),
        ("AF BE CG DH", "A", 5, 0, True, "the second tile, turned"),
        ("AF BE CH DG", "D", 9, 9, True, "a corner has outer ports on two sides"),
        ("AF BE CH DG", "E", 9, 9, True, "the other side of that corner"),
        ("AF BE CH DG", "C", 5, 0, False, "a port that faces the next square"),
        ("AF BE CH DG", "A", 5, 1, False, "an inner square"),
        ("AF BE CH DG", "A", 2, 0, False, "an occupied square"),
        ("AF BE CH DG", "A", 3, 0, False, "a neighbour to the left"),
        ("AF BE CH DG", "G", 0, 7, False, "a neighbour below"),
        ("AF BE CH DG", "A", 10, 0, False, "off the board"),
        ("AF BE CH DG", "A", 5, -1, False, "off the board above"),
        ("AC BH DE FG", "A", 5, 0, False, "a foreign tile"),
        ("AA BE CH DG", "A", 5, 0, False, "no tile"),
        ("AB CD EF GH", "A", 5, 0, False, "out at once, and other tiles are not"),
    ],
)
def test_a_first_placement_is_legal_or_not(pairs: str, port: str, x: int, y: int, legal: bool, why: str) -> None:
    table = begun((BOB, "A", 2, 0), (CYD, "H", 0, 8))
    table = holding(tsuro.Table(table.board, (*table.seats, tsuro.Seat(ANN, "white"))), *HAND)

    assert tsuro.may_start(table, ANN, tile(pairs), port, x, y) is legal, why


def test_a_square_touching_another_by_its_corner_is_free_for_a_first_placement() -> None:
    board = Board().put(STRAIGHT, 1, 1)

    assert tsuro.may_start_on(board, HAND, STRAIGHT, "A", 2, 0)
    assert not tsuro.may_start_on(board, HAND, STRAIGHT, "A", 1, 0)


def test_a_first_placement_off_the_board_is_legal_when_no_tile_avoids_it() -> None:
    table = holding(tsuro.start([ANN, BOB, CYD]), TURN_BACK, TURN_BACK, TURN_BACK)

    assert tsuro.may_start(table, ANN, TURN_BACK, "A", 5, 0)
    after = tsuro.begin(table, ANN, TURN_BACK, "A", 5, 0)
    assert not tsuro.playing(after, ANN)
    assert after.seats[0].fate == "exited"


def test_nobody_begins_twice_or_after_being_ejected_or_without_a_seat() -> None:
    table = holding(begun((ANN, "A", 2, 0), (BOB, "A", 4, 0)), *HAND)

    assert not tsuro.may_start(table, ANN, STRAIGHT, "A", 7, 0)
    assert not tsuro.may_start(tsuro.eject(holding(tsuro.start([ANN]), *HAND), ANN), ANN, STRAIGHT, "A", 7, 0)
    assert not tsuro.may_start(table, CYD, STRAIGHT, "A", 7, 0)
    assert not tsuro.playing(table, CYD)


# Later placements ----------------------------------------------------------------------------------------------------


def test_a_tile_goes_before_the_own_token_and_nowhere_else() -> None:
    table = holding(begun((ANN, "A", 2, 0), (BOB, "A", 4, 0)), STRAIGHT, TURN_BACK)

    assert tsuro.may_place(table, ANN, STRAIGHT, 2, 1)
    assert not tsuro.may_place(table, ANN, STRAIGHT, 4, 1)
    assert not tsuro.may_place(table, ANN, STRAIGHT, 1, 2)
    assert not tsuro.may_place(table, ANN, STRAIGHT, 2, 0)
    assert not tsuro.may_place(table, CYD, STRAIGHT, 2, 1)
    assert not tsuro.may_place(table, ANN, tile("AC BH DE FG"), 2, 1)


def test_nobody_places_before_beginning() -> None:
    table = holding(tsuro.start([ANN]), STRAIGHT)

    assert not any(tsuro.may_place(table, ANN, STRAIGHT, x, y) for x in range(10) for y in range(10))


def test_going_out_is_illegal_while_another_choice_stays_in() -> None:
    table = begun((ANN, "A", 2, 0))

    assert not tsuro.may_place(holding(table, STRAIGHT, TURN_BACK), ANN, TURN_BACK, 2, 1)
    assert tsuro.may_place(holding(table, TURN_BACK, TURN_BACK), ANN, TURN_BACK, 2, 1)


def test_a_path_may_come_back_through_the_tile_that_is_being_laid() -> None:
    # Down from 5,0 onto 5,1, where the new tile leads right; the tile there turns the path back, and then it goes down.
    start = ("white", "B", 5, 0)
    board = Board().put(STRAIGHT, 5, 0).put(TURN_BACK, 6, 1).enter(*start)
    laid = tile("AH BC DE FG")
    entry = BESIDE[board.stand(start)[0]]

    assert tsuro.stays(board.crossings, entry, CROSSINGS[laid])
    assert port_of(board.put(laid, 5, 1).stand(start)[0]) == ("E", 5, 1)


@given(
    st.integers() | st.sampled_from([2, 0, 1, 9, 10, -1, 2**63]),
    st.integers() | st.sampled_from([0, 1, 9, 10, -1, -(2**63)]),
    st.lists(st.tuples(st.sampled_from(PORTS), st.sampled_from(PORTS)), min_size=4, max_size=4).map(tuple),
    st.sampled_from(PORTS),
)
def test_whatever_a_peer_writes_gets_a_plain_yes_or_no(x: int, y: int, pairs: Any, port: str) -> None:
    table = holding(tsuro.start([ANN, BOB]), *HAND)
    later = holding(begun((ANN, "A", 2, 0), (BOB, "A", 4, 0)), *HAND[:2])

    assert tsuro.may_start(table, ANN, pairs, port, x, y) in (True, False)
    assert tsuro.may_place(later, ANN, pairs, x, y) in (True, False)


# Going out -----------------------------------------------------------------------------------------------------------


def test_a_tile_moves_every_token_that_faces_it() -> None:
    table = begun((ANN, "A", 2, 0), (BOB, "H", 0, 1), tile=STRAIGHT)
    table = tsuro.place(table, BOB, STRAIGHT, 1, 1)

    after = tsuro.place(table, BOB, STRAIGHT, 2, 1)

    assert [port_of(seat.spot or 0) for seat in after.seats] == [("F", 2, 1), ("C", 2, 1)]


def test_two_tokens_that_meet_head_on_are_both_out() -> None:
    table = begun((ANN, "A", 2, 0), (BOB, "A", 4, 0), (CYD, "A", 8, 0))
    table = tsuro.place(table, ANN, tile("AC BD EH FG"), 2, 1)  # F leads to G, and A to C: white now faces 3,1.
    table = tsuro.place(table, BOB, tile("AH BG CF DE"), 4, 1)
    assert [facing(seat.spot or 0) for seat in table.seats[:2]] == [(3, 1), (3, 1)]

    after = tsuro.place(table, ANN, STRAIGHT, 3, 1)

    assert [seat.fate for seat in after.seats] == ["collided", "collided", "in"]
    assert [seat.until for seat in after.seats] == [2, 2, None]
    assert not tsuro.playing(after, BOB)


def test_the_token_of_an_ejected_player_stays_and_can_be_met() -> None:
    table = begun((ANN, "A", 2, 0), (BOB, "A", 4, 0), (CYD, "A", 8, 0))
    table = tsuro.place(table, ANN, tile("AC BD EH FG"), 2, 1)
    table = tsuro.place(table, BOB, tile("AH BG CF DE"), 4, 1)
    table = tsuro.eject(table, BOB)

    after = tsuro.place(table, ANN, STRAIGHT, 3, 1)

    assert [seat.fate for seat in after.seats] == ["collided", "ejected", "in"]
    assert BESIDE[after.seats[1].spot or 0] == OFF
    assert tsuro.cheaters(after) == ("bob",)
    assert [start[0] for start in tsuro.board(after)[1]] == ["white", "black", "red"]


def test_an_ejected_player_who_never_began_leaves_no_token() -> None:
    table = tsuro.eject(tsuro.start([ANN, BOB, CYD]), ANN)

    assert tsuro.board(table)[1] == ()
    assert tsuro.cheaters(table) == ("ann",)


# Rounds, ranking and the end -----------------------------------------------------------------------------------------


def out(table: tsuro.Table, player: Someone) -> tsuro.Table:
    """Lay the tile that turns the player's token back the way it came, off the board."""
    (seat,) = [seat for seat in table.seats if seat.player == player]
    assert seat.spot is not None
    square = facing(seat.spot)
    assert square is not None
    return tsuro.place(table, player, TURN_BACK, *square)


def on(table: tsuro.Table, player: Someone) -> tsuro.Table:
    """Move the player's token one square straight on."""
    (seat,) = [seat for seat in table.seats if seat.player == player]
    assert seat.spot is not None
    square = facing(seat.spot)
    assert square is not None
    return tsuro.place(table, player, STRAIGHT, *square)


def test_who_goes_out_in_one_round_shares_a_place_and_later_rounds_come_first() -> None:
    dee, eve = Someone("dee", "green"), Someone("eve", "blue")
    table = begun((ANN, "A", 0, 0), (BOB, "A", 2, 0), (CYD, "A", 4, 0), (dee, "A", 6, 0), (eve, "A", 8, 0))
    assert table.round == 0

    table = out(on(on(on(out(table, ANN), BOB), CYD), dee), eve)
    assert (table.round, tsuro.over(table)) == (1, False)
    table = on(out(on(table, BOB), CYD), dee)
    table = out(on(table, BOB), dee)

    assert tsuro.over(table)
    assert tsuro.ranking(table) == (("bob",), ("dee",), ("cyd",), ("ann", "eve"))
    assert tsuro.cheaters(table) == ()
    assert tsuro.result(table)["rounds"] == 3


def test_the_last_ones_out_in_one_round_win_together() -> None:
    table = begun((ANN, "A", 0, 0), (BOB, "A", 2, 0), (CYD, "A", 4, 0))

    table = on(out(on(table, ANN), BOB), CYD)
    table = out(out(table, ANN), CYD)

    assert tsuro.ranking(table) == (("ann", "cyd"), ("bob",))
    assert tsuro.result(table)["winners"] == ("ann", "cyd")


def test_ejected_players_are_cheaters_and_in_no_group() -> None:
    table = begun((ANN, "A", 0, 0), (BOB, "A", 2, 0), (CYD, "A", 4, 0))

    table = tsuro.eject(tsuro.eject(table, CYD), BOB)

    assert tsuro.over(table)
    assert tsuro.ranking(table) == (("ann",),)
    assert tsuro.cheaters(table) == ("bob", "cyd")
    assert tsuro.ranking(tsuro.eject(table, ANN)) == ()
    assert tsuro.result(tsuro.eject(table, ANN))["winners"] == ()


def test_players_with_one_name_are_told_apart_by_their_seats() -> None:
    first = Peer(0, Record(name="sam", token="white"))
    second = Peer(1, Record(name="sam", token="black"))
    table = tsuro.eject(tsuro.start([first, second]), second)

    assert tsuro.playing(table, first)
    assert not tsuro.playing(table, Peer(1))
    assert (tsuro.ranking(table), tsuro.cheaters(table)) == ((("sam",),), ("sam",))


def test_the_result_is_json() -> None:
    table = tsuro.eject(begun((ANN, "A", 0, 0), (BOB, "A", 2, 0)), BOB)

    assert json.loads(json.dumps(tsuro.result(table))) == {
        "winners": ["ann"],
        "ranking": [["ann"]],
        "cheaters": ["bob"],
        "rounds": 1,
        "players": [
            {"name": "ann", "token": "white", "fate": "in", "round": None},
            {"name": "bob", "token": "black", "fate": "ejected", "round": 1},
        ],
    }


# Whole games ---------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 5), st.integers(0, 2**32))
def test_in_any_game_the_table_says_what_the_board_says(count: int, seed: int) -> None:
    chance = Random(seed)
    players = [Someone(f"p{i}", COLOURS[i]) for i in range(count)]
    table = tsuro.deal(tsuro.start(players), chance.randrange(35))
    for player in players:
        table = tsuro.deal(table, 3)
        move = chance.choice(list(tsuro.legal_starts(table.board, table.hand)))
        assert tsuro.may_start(table, player, *move)
        table = tsuro.begin(table, player, *move)
    while not tsuro.over(table):
        number = table.round
        for player in players:
            if not tsuro.playing(table, player):
                continue
            if chance.random() < 0.01:
                table = tsuro.eject(table, player)
                continue
            table = tsuro.deal(table, 2)
            (spot,) = [seat.spot for seat in table.seats if seat.player == player]
            square = facing(spot or 0)
            assert square is not None
            laid = chance.choice(tsuro.legal_places(table.board, table.hand, spot or 0))
            assert tsuro.may_place(table, player, laid, *square)
            table = tsuro.place(table, player, laid, *square)
            for start in table.board.starts:
                (seat,) = [seat for seat in table.seats if seat.token == start[0]]
                stand, fate = table.board.stand(start)
                assert seat.spot == stand == walk(table.board.crossings, stand)
                assert seat.fate in (fate, "ejected")
            assert table.round == number + 1
    assert read_board(tsuro.board(table)) == table.board
    assert read_board(tsuro.board(table)).crossings == table.board.crossings
    assert sum(map(len, tsuro.ranking(table))) + len(tsuro.cheaters(table)) == count


# Boards from the wire ------------------------------------------------------------------------------------------------


def test_boards_that_cannot_be_are_refused_with_the_reason() -> None:
    columns, _ = Board().put(STRAIGHT, 4, 4).wire
    around = Board()
    for square, pairs in {(4, 4): "CE", (5, 4): "FH", (5, 5): "AH", (4, 5): "BC"}.items():
        around = around.put(next(laid for laid in KINDS if (pairs[0], pairs[1]) in laid), *square)
    bad = [*columns[:4], (*columns[4][:4], tile("AA BB CC DD"), *columns[4][5:]), *columns[5:]]

    with pytest.raises(BoardError, match="tile at 4,4"):
        read_board((bad, ()))
    with pytest.raises(BoardError, match="white starts at 0,0, where no tile lies"):
        read_board((columns, (("white", "A", 0, 0),)))
    with pytest.raises(BoardError, match="white starts twice"):
        read_board((columns, (("white", "A", 4, 4), ("white", "C", 4, 4))))
    with pytest.raises(BoardError, match="the path of white is a loop"):
        read_board((around.columns, (("white", "E", 4, 4),)))


def test_a_board_can_be_read_in_a_debugger() -> None:
    table = tsuro.eject(begun((ANN, "A", 3, 0)), ANN)

    assert str(table).splitlines()[:2] == ["round 1", " .  .  .  2  .  .  .  .  .  ."]
    assert "white at F 3,0, ejected" in str(table)
    assert str(tsuro.start([ANN])).endswith("white has not begun, in")
    assert tile_text(STRAIGHT) == "AF BE CH DG"
