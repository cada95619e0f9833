"""One game through all four protocols: the same board, told in four ways. And what tells the documents apart."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rules import santorini
from rules.players.santorini_position import Turn
from rules.santorini_board import Board, beside, cell_of, read_board, step_of
from tests.machines.santorini_games import PROTOCOLS, UNDER_WAY, Protocol, Scripted, Table, tournament
from tests.support.shared import SHARED, needs_shared

FOUR = list(PROTOCOLS.values())
GAMES = SHARED / "cases" / "santorini" / "games.jsonl"


def label(protocol: Protocol) -> str:
    return protocol.name


def recorded_games() -> list[dict[str, Any]]:
    """Return the recorded games, each different one once; their players' names are cut to what all protocols allow."""
    games: dict[str, dict[str, Any]] = {}
    for line in GAMES.read_text("utf-8").splitlines():
        game = json.loads(line)
        games.setdefault(json.dumps([game["workers"], game["first"], game["turns"]]), game)
    return list(games.values())


def scripts(game: dict[str, Any]) -> dict[str, Scripted]:
    """Return the two players of a recorded game, the first mover first. Its last turn is left out if it is illegal."""
    first = game["first"]
    names = sorted(game["players"], key=lambda name: name != first)
    cells = {worker: 6 * row + column for worker, (row, column) in game["workers"].items()}
    turns: dict[str, list[Turn | None]] = {name: [] for name in names}
    where = dict(cells)
    said = game["turns"][:-1] if game["end"] == "illegal" else game["turns"]
    for turn in said:
        if isinstance(turn, str):
            turns[turn].append(None)
            continue
        worker, *ways = turn
        to = beside(where[worker], step_of(ways[:2]))  # type: ignore[arg-type]
        assert to is not None
        build = beside(to, step_of(ways[2:])) if ways[2:] else None  # type: ignore[arg-type]
        turns[worker[:-1]].append(Turn(int(worker[-1]), to, build))
        where[worker] = to
    return {name: Scripted([cells[f"{name}{n}"] for n in (1, 2)], turns[name]) for name in names}


def play_through(protocol: Protocol, game: dict[str, Any]) -> tuple[Board, str | None, int]:
    """Play a recorded game; return the board at its end, who won, and how many turns there were."""
    table = Table(protocol, seats="2..2", games="1")
    for name, player in scripts(game).items():
        table.enter(name, player)
    table.hold()
    (play,) = table.plays
    assert play.won is not None
    return play.board, play.pair[play.won].name, play.turns


@needs_shared
@pytest.mark.parametrize("number", range(43))
def test_a_recorded_game_ends_with_the_same_board_in_all_four_protocols(number: int) -> None:
    game = recorded_games()[number]
    heights = [height for row in game["final_heights"] for height in row]
    last = game["turns"][-1]
    if game["end"] == "reached-3" and len(last) == 5:  # it names a build, which does not count
        there = cell_of(game["final_workers"][last[0]])
        assert there is not None
        heights[beside(there, step_of(last[3:])) or 0] -= 1  # type: ignore[arg-type]
    board = Board(
        tuple(heights),
        tuple(sorted((worker, cell_of(place)) for worker, place in game["final_workers"].items())),  # type: ignore[misc]
    )
    turns = sum(not isinstance(turn, str) for turn in game["turns"]) - (game["end"] == "illegal")

    for protocol in FOUR:
        ended, winner, taken = play_through(protocol, game)

        assert (ended.heights, tuple(sorted(ended.workers))) == (board.heights, board.workers), protocol.name
        assert taken == turns
        if game["end"] != "cut-off":
            assert winner == game["winner"]


@needs_shared
def test_43_recorded_games_are_different() -> None:
    assert len(recorded_games()) == 43


@pytest.mark.parametrize("settings", [{}, {"alternate": "true"}, {"stop_when_decided": "true"}], ids=str)
def test_a_tournament_is_the_same_in_all_four_protocols(settings: dict[str, str]) -> None:
    settings = {"stop_when_decided": "false", **settings}
    found = []
    for protocol in FOUR:
        result, table = tournament(protocol, ["ann", "bob", "cyd", "ann"], **settings)
        found.append((result, [play.board.heights for play in table.plays]))

    assert found[1:] == found[:-1]
    assert [player["name"] for player in found[0][0]["players"]] == ["ann", "bob", "cyd", "anna"]


@pytest.mark.parametrize("protocol", FOUR, ids=label)
def test_series_side_by_side_end_as_they_do_one_after_another(protocol: Protocol) -> None:
    names = ["ann", "bob", "cyd", "dan", "eve"]
    one, _ = tournament(protocol, names, side_by_side="1")
    four, table = tournament(protocol, names, side_by_side="4")

    assert four == one
    begun = [client for client, who, value in table.said if who == "S" and is_first_request(protocol, value)]
    assert begun[:2] == [0, 0], "ann plays bob before it plays cyd"


def is_first_request(protocol: Protocol, value: Any) -> bool:
    """Tell whether a server's value asks for the first placement of a game."""
    flat = [[0] * 6] * 6
    match protocol.name:
        case "relay":
            return bool(value == {"type": "placement", "content": None})
        case "prompts":
            return bool(value == ["place", flat])
        case "rulecheck":
            return isinstance(value, dict) and value["board"] == flat
        case _:
            return bool(value == [])


@pytest.mark.parametrize("protocol", FOUR, ids=label)
def test_as_many_series_as_wanted_run_at_the_same_time(protocol: Protocol) -> None:
    """A series begins when its two have played those that they would have played before it, one after another."""
    most = {}
    for width, players in ((1, 4), (2, 4), (4, 8) if protocol.name == "relay" else (3, 4)):
        names = [f"player{letter}" for letter in "abcdefgh"[:players]]
        tournament(protocol, names, games="1", side_by_side=str(width))
        most[width] = max(UNDER_WAY)

    assert most == {1: 1, 2: 2, **({4: 4} if protocol.name == "relay" else {3: 2})}


# -- the readings that tell the documents apart ------------------------------------------------------------------------

# Ann places on row 1, column 4 and row 3, column 0; bob on row 5, column 2 and row 0, column 3. Then ann's first
# worker goes south-west, to row 2, column 3, and builds to the north, on row 1, column 3.
PLACES = {"ann1": 10, "bob1": 32, "ann2": 18, "bob2": 3}


def opening(protocol: Protocol, **settings: str) -> list[tuple[int, str, Any]]:
    """Play the four placements and ann's first turn; return all that was said in between, without sign-up."""
    table = Table(protocol, seats="2..2", games="1", **settings)
    table.enter("ann", Scripted([10, 18], [Turn(1, 15, 9)]))
    table.enter("bob", Scripted([32, 3], [None]))
    table.wait(0.5)
    begun = next(i for i, (_, who, value) in enumerate(table.said) if who == "S" and is_first_request(protocol, value))
    return table.said[begun:]


def from_client(said: list[tuple[int, str, Any]], client: int) -> list[Any]:
    return [value for number, who, value in said if number == client and who == "C"]


@pytest.mark.parametrize(
    ("name", "settings", "places", "turn"),
    [
        (
            "relay",
            {},
            [{"type": "placement", "content": [1, [1, 4]]}, {"type": "placement", "content": [2, [3, 0]]}],
            [{"type": "move_build", "content": [1, "SouthWest", "North"]}],
        ),
        ("prompts", {}, [[1, 4], [3, 0]], [["ann1", ["WEST", "SOUTH"], ["PUT", "NORTH"]]]),
        (
            "rulecheck",
            {},
            [
                {"type": "place", "wid": "ann1", "xy": [4, 1], "check": False},
                {"type": "place", "wid": "ann2", "xy": [0, 3], "check": False},
            ],
            [
                {"type": "move", "xy1": [4, 1], "xy2": [3, 2], "check": False},
                {"type": "build", "xy1": [3, 2], "xy2": [3, 1], "check": False},
            ],
        ),
        ("official", {}, [[4, 1], [0, 3]], [["ann1", "WEST", "SOUTH", "PUT", "NORTH"]]),
        ("official", {"column_first": "false"}, [[1, 4], [3, 0]], [["ann1", "WEST", "SOUTH", "PUT", "NORTH"]]),
    ],
)
def test_one_placement_and_one_turn_are_written_as_each_document_has_them(
    name: str, settings: dict[str, str], places: list[Any], turn: list[Any]
) -> None:
    assert from_client(opening(PROTOCOLS[name], **settings), 0) == places + turn


@pytest.mark.parametrize(
    ("told", "crossed"),
    [
        ((), ()),
        ((1, 4), (4, 1)),
        ([6, -1], (-1, 6)),  # off the board is for the rules to say
        ((("ann1", 1, 4),), (("ann1", 4, 1),)),
        ([["ann1", 1, 4], ["bob1", 5, 2]], (("ann1", 4, 1), ("bob1", 2, 5))),
    ],
)
def test_places_are_turned_for_a_program_that_has_the_column_first(told: Any, crossed: Any) -> None:
    assert santorini.crossed(told, True) == crossed
    assert santorini.crossed(told, False) == told


@pytest.mark.parametrize("protocol", FOUR[1:], ids=label)
def test_a_board_has_the_row_outside_and_the_column_inside(protocol: Protocol) -> None:
    said = opening(protocol)
    boards = [board_in(value) for client, who, value in said if client == 1 and who == "S" and board_in(value)]

    before_the_turn = [[0] * 6 for _ in range(6)]
    before_the_turn[1][4], before_the_turn[3][0] = "0ann1", "0ann2"  # type: ignore[call-overload]
    before_the_turn[5][2], before_the_turn[0][3] = "0bob1", "0bob2"  # type: ignore[call-overload]
    after = [list(row) for row in before_the_turn]
    after[1][4], after[2][3], after[1][3] = 0, "0ann1", 1  # type: ignore[call-overload]
    assert boards[-1] == after
    assert read_board(before_the_turn).cell("ann1") == PLACES["ann1"]


def board_in(value: Any) -> Any:
    """Return the board of six whole rows that a message holds, or None."""
    candidates = [value.get("board")] if isinstance(value, dict) else [value, *value[-1:]]
    return next((board for board in candidates if isinstance(board, list) and len(board) == 6), None)


def test_a_client_of_the_relay_hears_of_the_others_latest_action_and_of_nothing_else() -> None:
    said = opening(PROTOCOLS["relay"])

    told = {client: [value for number, who, value in said if number == client and who == "S"] for client in (0, 1)}
    assert told[0][:3] == [
        {"type": "placement", "content": None},
        {"type": "placement", "content": [1, [5, 2]]},
        {"type": "move_build", "content": [2, [0, 3]]},  # a placement, though it is for a turn
    ]
    assert told[1][:3] == [
        {"type": "placement", "content": [1, [1, 4]]},
        {"type": "placement", "content": [2, [3, 0]]},
        {"type": "move_build", "content": [1, "SouthWest", "North"]},
    ]


@pytest.mark.parametrize("protocol", FOUR[1:], ids=label)
def test_in_the_others_it_hears_of_it_as_a_board_with_its_own_next_request(protocol: Protocol) -> None:
    said = opening(protocol)
    (turn,) = [
        i for i, (client, who, value) in enumerate(said) if client == 0 and who == "C" and value == said_turn(said)
    ]
    heard = [value for client, who, value in said[turn + 1 :] if client == 1 and who == "S"]

    assert board_in(heard[0])[2][3] == "0ann1"
    assert not any(client == 0 for client, who, _ in said[turn + 1 :][:1] if who == "S"), "the mover is not told"


def said_turn(said: list[tuple[int, str, Any]]) -> Any:
    """Return ann's last message: her turn, or the second half of it."""
    return from_client(said, 0)[-1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("relay", {"type": "placement", "content": [1, [6, 0]]}),
        ("relay", {"type": "placement", "content": [2, [1, 4]]}),  # workers in order of placement
        ("prompts", [1, 6]),
        ("rulecheck", {"type": "place", "wid": "1", "xy": [4, 1]}),  # the full name, as in a board
        ("rulecheck", {"type": "place", "wid": "ann2", "xy": [4, 1]}),
        ("official", [6, 1]),
    ],
)
def test_what_is_written_for_another_document_is_an_offence(name: str, value: Any) -> None:
    protocol = PROTOCOLS[name]
    table = Table(protocol, seats="2..2", games="1", **({"pause": "10 ms"} if name == "official" else {}))
    server = table.server
    for number, guest in enumerate(("ann", "bob")):
        assert server.join() == number
        server.say(number, {"type": "Name", "content": guest} if name == "relay" else guest)
    server.wait(0.5)
    server.say(0, value)

    assert 0 in server.dropped
    assert server.ended is not None
    assert dict(server.ended.value)["expelled"] == ("ann",)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        (
            "relay",
            {"type": "move_build", "content": [1, "south-west", "NORTH"]},
            {"type": "move_build", "content": [1, ["WEST", "SOUTH"], ["PUT", "NORTH"]]},
        ),
        ("prompts", ["ann1", ["WEST", "SOUTH"], ["PUT", "NORTH"]], ["ann1", "SouthWest", "North"]),
        ("prompts", ["ann1", ["WEST", "SOUTH"], ["PUT", "NORTH"]], ["ann1", ["SOUTH", "WEST"], ["NORTH", "PUT"]]),
        ("official", ["1", "WEST", "SOUTH", "PUT", "NORTH"], ["ann1", ["WEST", "SOUTH"], ["PUT", "NORTH"]]),
        ("official", ["ann1", "WEST", "SOUTH", "PUT", "NORTH"], ["ann1", "SOUTH", "WEST", "NORTH", "PUT"]),
        ("rulecheck", {"type": "move", "xy1": [4, 1], "xy2": [3, 2]}, {"type": "move", "xy1": [1, 4], "xy2": [2, 3]}),
    ],
)
def test_a_turn_is_taken_in_the_words_of_its_document_only(name: str, good: Any, bad: Any) -> None:
    """Eight words in one, pairs of east-west and north-south in two, cells with the column first in the last."""
    for value, taken in ((good, True), (bad, False)):
        table = Table(PROTOCOLS[name], seats="2..2", games="1")
        server = table.server
        for number, guest in enumerate(("ann", "bob")):
            server.join()
            server.say(number, {"type": "Name", "content": guest} if name == "relay" else guest)
        server.wait(0.5)
        for count, (worker, cell) in enumerate(PLACES.items()):
            server.say(count % 2, placement_of(name, worker, cell))
        server.say(0, value)

        assert (0 not in server.dropped) is taken
        assert (server.ended is None) is taken


def placement_of(name: str, worker: str, cell: int) -> Any:
    """Return a placement as it stands on the wire."""
    row, column = divmod(cell, 6)
    match name:
        case "relay":
            return {"type": "placement", "content": [int(worker[-1]), [row, column]]}
        case "prompts":
            return [row, column]
        case "rulecheck":
            return {"type": "place", "wid": worker, "xy": [column, row]}
        case _:
            return [column, row]
