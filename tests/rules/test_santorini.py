"""The rules of Santorini: what is allowed, how it ends, and that nothing a peer can say makes a rule raise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules import santorini
from rules.harnesses.santorini import HARNESSES, HarnessError
from rules.santorini_board import (
    EMPTY,
    WORDS,
    Board,
    BoardError,
    cell_of,
    pair_of,
    place_of,
    read_board,
    step_of,
)
from rules.santorini_play import Play
from rules.santorini_strategy import OutOfNodesError, can_stay_alive, turns_that_stay_alive


@dataclass(frozen=True)
class Someone:
    name: str


ANN, BOB = Someone("ann"), Someone("bob")


def at(*rows: list[Any], mover: Someone = ANN) -> Play:
    """A game with four workers placed and the rows as its board."""
    other = BOB if mover is ANN else ANN
    return Play((mover, other), read_board(rows))


def opening() -> Play:
    """Ann at 0,0 and 2,2, Bob at 1,1 and 3,3, Ann to move."""
    play = santorini.start((ANN, BOB))
    for player, place in ((ANN, [0, 0]), (BOB, [1, 1]), (ANN, [2, 2]), (BOB, [3, 3])):
        play = santorini.place(play, player, place)
    return play


# Placing -------------------------------------------------------------------------------------------------------------


def test_players_place_in_turn_and_each_place_is_free() -> None:
    play = santorini.start((ANN, BOB))

    assert santorini.may_place(play, ANN, [5, 0])
    assert not santorini.may_place(play, BOB, [5, 0])
    play = santorini.place(play, ANN, [5, 0])
    assert santorini.board(play)[5][0] == "0ann1"
    assert not santorini.may_place(play, ANN, [0, 0])
    assert not santorini.may_place(play, BOB, [5, 0])
    assert (santorini.newest(play), santorini.last_placed(play)) == ("ann1", (1, (5, 0)))
    assert santorini.next_worker(play, BOB) == "bob1"
    assert santorini.next_worker(play, ANN) == "ann2"
    assert santorini.placements(play) == (("ann1", 5, 0),)


@pytest.mark.parametrize(("wid", "allowed"), [(1, True), (2, False), ("ann1", True), ("ann2", False), (True, False)])
def test_a_named_worker_must_be_the_next(wid: Any, allowed: bool) -> None:
    assert santorini.may_place(santorini.start((ANN, BOB)), ANN, wid, [0, 0]) is allowed


def test_nobody_places_a_third_worker() -> None:
    play = opening()

    assert not santorini.may_place(play, ANN, [5, 5])
    with pytest.raises(ValueError, match="has placed both"):
        santorini.next_worker(play, ANN)


def test_two_players_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="different names"):
        santorini.start((Someone("ann"), Someone("ann")))


# Turns ---------------------------------------------------------------------------------------------------------------

HILLS = (
    [0, 1, 2, 3, 4, 0],
    [0, "1ann1", 3, "2bob1", 0, 0],
    [4, "2ann2", 3, 0, 0, 0],
    [0, 0, 0, 0, 0, "0bob2"],
)


@pytest.mark.parametrize(
    ("worker", "move", "build", "allowed"),
    [
        ("ann1", "North", "West", True),
        ("ann1", ["PUT", "NORTH"], ["WEST", "PUT"], True),
        ("ann1", "NORTH-east", "south_west", True),  # up by one; the cell just left is free
        (1, "west", "East", True),
        ("ann1", "East", "North", False),  # up by two
        ("ann1", "SouthWest", "North", False),  # capped
        ("ann1", "South", "South", False),  # a worker stands there
        ("ann1", "North", "North", False),  # builds off the board
        ("ann1", "North", None, False),  # no build, and no win
        ("ann1", "North", ["PUT", "PUT"], False),  # builds on its own cell
        ("ann1", ["PUT", "PUT"], "North", False),  # staying is no move
        ("ann2", "West", "North", False),  # capped
        ("ann2", "SouthWest", "South", True),  # any drop is fine
        ("ann2", "SouthWest", "North", False),  # builds on the capped cell
        ("ann2", "East", None, True),  # wins
        ("ann2", "East", ["WEST", "WEST"], True),  # wins: the build is not looked at
        ("bob1", "West", "West", False),  # the other's
        ("bob2", "West", "West", False),
        ("ann3", "West", "West", False),
        (3, "West", "West", False),
        (None, None, None, False),
    ],
)
def test_turns_are_judged(worker: Any, move: Any, build: Any, allowed: bool) -> None:
    play = at(*HILLS)

    assert santorini.may_turn(play, ANN, worker, move, build) is allowed
    assert santorini.may_turn_any(play, ANN, [worker, move, build]) is allowed


def test_only_who_is_to_move_may() -> None:
    play = at(*HILLS)

    assert not santorini.may_turn(play, BOB, "bob2", "West", "East")
    play = santorini.turn(play, ANN, "ann1", "North", "West")
    assert santorini.may_turn(play, BOB, "bob2", "West", "East")
    assert not santorini.may_turn(play, ANN, "ann1", "South", "North")
    assert santorini.last_action(play) == (1, "North", "West")


def test_the_worker_steps_and_then_a_floor_is_added() -> None:
    play = santorini.turn(at(*HILLS), ANN, "ann1", ["EAST", "NORTH"], ["WEST", "SOUTH"])

    assert santorini.board(play)[0][2] == "2ann1"
    assert santorini.board(play)[1][1] == 2
    assert santorini.mover(play) == BOB


@pytest.mark.parametrize("build", [None, "West", ["PUT", "PUT"], "nonsense"])
def test_a_step_to_three_wins_and_no_build_follows(build: Any) -> None:
    before = at(*HILLS)
    play = santorini.turn(before, ANN, "ann2", "East", build)

    assert santorini.wins(before, ANN, "ann2", "East")
    assert santorini.may_turn_any(before, ANN, ["ann2", "East"])
    assert not santorini.may_turn_any(before, ANN, ["ann1", "North"])
    assert play.board.heights == before.board.heights
    assert (santorini.over(play), santorini.winner(play)) == (True, ANN)
    assert (santorini.verdict(play, ANN), santorini.verdict(play, BOB)) == ("WINNER", "LOSER")
    assert santorini.last_action(play) == (2, "East", None)


def test_who_has_no_turn_left_loses_though_one_stuck_worker_does_not() -> None:
    walled = at(
        ["0bob1", 1, 0, 0, 0, 0],
        [2, 2, 0, 0, 0, 0],
        ["1ann1", 0, 0, 2, 2, 0],
        [0, 0, 0, 2, "0bob2", 2],
        [0, 0, 0, "1ann2", 2, 2],
    )
    one_stuck = santorini.turn(walled, ANN, 1, "SouthEast", "West")
    assert not santorini.over(one_stuck)

    closed = at(
        ["0bob1", 1, 0, 0, 0, 0],
        [2, 2, 0, 0, 0, 0],
        [0, "1ann1", 0, 2, 2, 2],
        [0, 0, 0, 2, "0bob2", 2],
        [0, 0, 0, 2, "2ann2", 2],
    )
    stuck = santorini.turn(closed, ANN, 1, "NorthEast", "NorthWest")
    outcome = santorini.outcome(stuck)
    assert santorini.board(stuck)[0][1] == 2
    assert (outcome.winner, outcome.loser, outcome.how) == (ANN, BOB, "no turn left")


def test_moves_and_builds_apart() -> None:
    play = at(*HILLS)

    assert santorini.may_move(play, ANN, [1, 1], [0, 1])
    assert not santorini.may_build(play, ANN, [1, 1], [0, 1])
    assert not santorini.may_move(play, ANN, [1, 3], [1, 4])  # Bob's
    assert not santorini.may_move(play, ANN, [1, 1], [1, 1])
    assert not santorini.may_move(play, ANN, [5, 5], [5, 4])
    moved = santorini.move(play, ANN, [1, 1], [0, 1])
    assert santorini.moved(moved) == "ann1"
    assert santorini.mover(moved) == ANN
    assert not santorini.may_move(moved, ANN, [0, 1], [1, 1])
    assert not santorini.may_turn(moved, ANN, "ann1", "South", "North")
    assert not santorini.may_build(moved, ANN, [2, 1], [1, 1])  # not the worker that moved
    assert not santorini.may_build(moved, BOB, [0, 1], [1, 1])
    assert santorini.may_build(moved, ANN, [0, 1], [1, 1])
    built = santorini.build(moved, ANN, [0, 1], [1, 1])
    assert built == santorini.turn(play, ANN, "ann1", "North", "South")
    won = santorini.move(play, ANN, [2, 1], [2, 2])
    assert santorini.over(won)
    assert santorini.moved(won) is None


# How it ends ---------------------------------------------------------------------------------------------------------


def test_giving_up_is_no_offence_and_forfeiting_is() -> None:
    gave_up, forfeited = santorini.resign(opening(), ANN), santorini.forfeit(opening(), BOB)

    assert (santorini.winner(gave_up), santorini.offenders(gave_up)) == (BOB, ())
    assert santorini.verdict(gave_up, ANN) == "LOSER"
    assert (santorini.winner(forfeited), santorini.offenders(forfeited)) == (ANN, (BOB,))
    assert santorini.verdict(forfeited, BOB) == "CHEATER"


def test_a_game_that_is_over_keeps_its_winner_and_still_marks_offenders() -> None:
    play = santorini.forfeit(santorini.forfeit(opening(), BOB), ANN)

    assert santorini.winner(play) == ANN
    assert santorini.offenders(play) == (BOB, ANN)
    assert santorini.forfeit(play, ANN) == play
    assert santorini.resign(play, ANN) == play
    assert not santorini.may_turn(play, ANN, 1, "South", "South")


def test_a_game_that_goes_on_has_no_outcome() -> None:
    assert santorini.winner(opening()) is None
    with pytest.raises(ValueError, match="not over"):
        santorini.outcome(opening())


def test_a_person_can_read_the_game_in_a_debugger() -> None:
    assert str(at(*HILLS)).splitlines()[:3] == [
        "ann against bob, 0 turns, ann has to move",
        "0     1     2     3     4     0",
        "0     1ann1 3     2bob1 0     0",
    ]


# The client that keeps a board ---------------------------------------------------------------------------------------


def test_a_client_follows_what_it_is_told() -> None:
    board = santorini.blank()
    assert santorini.seen(board, None) == board
    assert santorini.next_wid(board) == 1
    board = santorini.own_place(board, 1, [0, 0])
    assert santorini.next_wid(board) == 2
    board = santorini.seen(board, [1, [5, 5]])
    assert (board[0][0], board[5][5]) == ("0me1", "0them1")
    assert santorini.seen(board, [1, [5, 5]]) == board  # told once more
    board = santorini.seen(board, [1, "north-west", "South"])
    assert (board[4][4], board[5][4]) == ("0them1", 1)
    assert santorini.own_turn(board, 1, "East", "West")[0][:2] == (1, "0me1")


@pytest.mark.parametrize(
    "told", [[2, "North", "South"], [1, [0, 0]], [1, "South", "North"], [1, "North", None], [3, [1, 1]], [1], "x", 7]
)
def test_what_cannot_have_happened_is_denied_and_changes_nothing(told: Any) -> None:
    board = santorini.seen(santorini.own_place(santorini.blank(), 1, [0, 0]), [1, [5, 5]])

    assert not santorini.may_see(board, told)
    assert santorini.seen(board, told) == board


# Boards and directions -----------------------------------------------------------------------------------------------


def test_directions_of_all_protocols_mean_the_same() -> None:
    for step, word in WORDS.items():
        assert step_of(word) == step_of(word.upper()) == step_of(list(pair_of(step))) == step
    assert step_of("n o-r_th") == (-1, 0)
    assert [step_of(said) for said in ("", "up", ["NORTH", "PUT"], ["east", "PUT"], ["EAST"], None, "north" * 9)] == [
        None
    ] * 7


@pytest.mark.parametrize("wire", [[], [[]], [[], [0, 0]], [["0", 0], []]])
def test_short_boards_are_flat(wire: Any) -> None:
    assert read_board(wire) == EMPTY


def test_boards_read_leniently() -> None:
    assert read_board([["3", 2], ["1ann2", "0ann1"]]).wire[:2] == ((3, 2, 0, 0, 0, 0), ("1ann2", "0ann1", 0, 0, 0, 0))
    assert read_board([["01"]], loose=True).cell("1") == 0
    assert read_board([["0Al9!1", "0Al9!1"]], loose=True).cell("Al9!1") == 1


@pytest.mark.parametrize(
    "wire",
    [None, {}, "[[]]", [[]] * 7, [[0] * 7], [0], [[5]], [[-1]], [[True]], [[1.0]], [[None]], [["5ann1"]], [["01"]],
     [["0ann3"]], [["0Ann1"]], [["0ann1", "0ann1"]], [["\u0663"]], [["0ann1\n"]]],
)  # fmt: skip
def test_what_is_no_board_is_refused(wire: Any) -> None:
    with pytest.raises(BoardError):
        read_board(wire)


heights = st.lists(st.integers(0, 4), min_size=36, max_size=36).map(tuple)
spots = st.lists(st.integers(0, 35), min_size=4, max_size=4, unique=True)


@given(heights, spots)
def test_boards_come_back_from_the_wire(levels: tuple[int, ...], cells: list[int]) -> None:
    board = Board(levels, tuple(zip(("ann1", "ann2", "bob1", "bob2"), cells, strict=True)))

    assert read_board(board.wire) == board


@given(st.integers(0, 35))
def test_places_and_cells_are_each_other_s_reverse(cell: int) -> None:
    assert cell_of(place_of(cell)) == cell


# Whatever a peer says ------------------------------------------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=8,
)
small = st.integers(-2, 7) | st.integers()
places = st.tuples(small, small) | st.lists(small, max_size=3) | json_values
east_west, north_south = st.sampled_from(["EAST", "PUT", "WEST"]), st.sampled_from(["NORTH", "PUT", "SOUTH"])
directions = st.tuples(east_west, north_south) | st.sampled_from([*WORDS.values(), "PUT", "", None]) | json_values
workers = st.sampled_from(["ann1", "ann2", "bob1", "bob2", "ann3", "1", "2", 1, 2, 0, 3]) | json_values
games = st.builds(
    lambda levels, cells, count, moved: Play(
        (ANN, BOB),
        Board(levels, tuple(zip(("ann1", "bob1", "ann2", "bob2"), cells, strict=True))[:count]),
        to_act=count % 2,
        moved="ann1" if moved and count == 4 else None,
        move_word="North" if moved and count == 4 else None,
    ),
    heights,
    spots,
    st.integers(0, 4),
    st.booleans(),
)
players = st.sampled_from([ANN, BOB, Someone("eve")])


@given(games, players, workers, places)
def test_no_placement_makes_a_rule_raise(play: Play, player: Someone, worker: Any, place: Any) -> None:
    for asked in ((place,), (worker, place)):
        if santorini.may_place(play, player, *asked):
            grown = santorini.place(play, player, *asked)
            assert len(grown.board.workers) == len(play.board.workers) + 1


@given(games, players, workers, directions, directions)
def test_no_turn_makes_a_rule_raise(play: Play, player: Someone, worker: Any, move: Any, build: Any) -> None:
    assert santorini.may_turn_any(play, player, move) in (True, False)
    allowed = santorini.may_turn(play, player, worker, move, build)
    wins = santorini.wins(play, player, worker, move)
    assert santorini.may_turn_any(play, player, [worker, move, build]) is allowed
    assert allowed or not wins
    if allowed:
        after = santorini.turn(play, player, worker, move, build)
        assert sum(after.board.heights) == sum(play.board.heights) + (not wins)
        assert santorini.over(after) or santorini.mover(after) != player
        assert santorini.board(after) != santorini.board(play)


@given(games, players, places, places)
def test_no_half_turn_makes_a_rule_raise(play: Play, player: Someone, source: Any, target: Any) -> None:
    if santorini.may_move(play, player, source, target):
        moved = santorini.move(play, player, source, target)
        assert santorini.over(moved) or santorini.moved(moved) is not None
    if santorini.may_build(play, player, source, target):
        assert santorini.moved(santorini.build(play, player, source, target)) is None


@given(json_values, workers, places, directions, directions)
def test_nothing_a_client_hears_makes_its_rules_raise(board: Any, wid: Any, place: Any, move: Any, build: Any) -> None:
    for kept in (board, santorini.blank(), read_board(HILLS).wire):
        for told in ((wid, place), (wid, move, build), board):
            if not santorini.may_see(kept, told):
                assert santorini.seen(kept, told) == kept or kept != kept  # a NaN is not equal to itself
        santorini.own_place(kept, wid, place)
        santorini.own_turn(kept, wid, move, build)
        assert santorini.next_wid(kept) in (1, 2)


@given(games)
def test_listed_turns_are_exactly_the_legal_ones(play: Play) -> None:
    mover = santorini.mover(play)
    if len(play.board.workers) < 4 or play.moved is not None:
        return
    listed = {(worker, target, raised) for worker, target, raised in play.board.turns(mover.name)}
    found = set()
    for number in (1, 2):
        for move in WORDS.values():
            for build in WORDS.values():
                if santorini.may_turn(play, mover, number, move, build):
                    after = santorini.turn(play, mover, number, move, build)
                    worker = f"{mover.name}{number}"
                    grown = [cell for cell in range(36) if after.board.heights[cell] != play.board.heights[cell]]
                    found.add((worker, after.board.cell(worker), grown[0] if grown else None))
    assert found == listed


# Staying alive -------------------------------------------------------------------------------------------------------


def alive_by_the_book(board: Board, me: str, them: str, rounds: int, half: bool) -> bool:
    """The definition, played out over the boards of the rules without any shortcut."""
    if rounds == 0:
        return True
    for worker, target, raised in board.turns(me):
        if raised is None:
            return True
        mine = board.step(worker, target).raised(raised)
        if half and rounds == 1:
            return True
        answers = list(mine.turns(them))
        if all(
            floor is not None and alive_by_the_book(mine.step(other, cell).raised(floor), me, them, rounds - 1, half)
            for other, cell, floor in answers
        ):
            return True
    return False


# Few cells are open, so that the definition can be played out.
OPEN = (0, 1, 2, 6, 7, 8, 12, 13, 14)
INDEX = tuple(OPEN.index(cell) if cell in OPEN else 0 for cell in range(36))
cramped = st.builds(
    lambda levels, cells: Board(
        tuple(levels[i] if cell in OPEN else 4 for cell, i in zip(range(36), INDEX, strict=True)),
        tuple(zip(("ann1", "ann2", "bob1", "bob2"), cells, strict=True)),
    ),
    st.lists(st.integers(0, 3), min_size=9, max_size=9),
    st.lists(st.sampled_from([0, 1, 2, 6, 7, 8, 12, 13, 14]), min_size=4, max_size=4, unique=True),
)


@settings(deadline=None, max_examples=60)
@given(cramped, st.integers(0, 2), st.booleans())
def test_staying_alive_means_what_its_definition_says(board: Board, rounds: int, half: bool) -> None:
    expected = alive_by_the_book(board, "ann", "bob", rounds, half)

    assert can_stay_alive(board, "ann", rounds, half=half) is expected
    if rounds:
        saving = list(turns_that_stay_alive(board, "ann", rounds, half=half))
        assert bool(saving) is expected
        for turn in board.turns("ann"):
            assert can_stay_alive(board, "ann", rounds, turn, half=half) is (turn in saving)


def test_an_illegal_first_turn_does_not_stay_alive_and_a_search_can_be_limited() -> None:
    board = opening().board

    assert not can_stay_alive(board, "ann", 1, ("ann1", 35, 34))
    assert can_stay_alive(board, "ann", 3)
    with pytest.raises(OutOfNodesError):
        can_stay_alive(board, "ann", 4, nodes=1)


# Harnesses -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("harness", "values"),
    [
        ("xboard", []),
        ("xboard", [[["0ann1"]], ["jump", "ann1", ["EAST", "PUT"]]]),
        ("xboard", [[["0ann1"]], ["height", "bob1", ["EAST", "PUT"]]]),
        ("xboard", [[["0ann1"]], ["height", "ann1", ["WEST", "PUT"]]]),
        ("xrules", [[["0ann1"]]]),
        ("xrules", [[["0ann1"]], ["move", "ann1", "up"]]),
        ("xstrategy", ["ann", [["0ann1"]]]),
        ("xstrategy", [[["0ann1"]], "ann", 1]),
    ],
)
def test_a_harness_says_what_it_cannot_read(harness: str, values: list[object]) -> None:
    with pytest.raises(HarnessError):
        list(HARNESSES[harness](values))
