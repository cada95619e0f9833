"""Santorini for people: the board in text and as a picture, messages and results in lines."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.santorini_board import BoardError
from rules.views.santorini import board_svg, board_text, pictured, result_lines, shown, verdict

BOARD = [[0, "1ann1", 4], ["0bob1"], [0, 0, 3, "2bob2"], [0, 0, "0ann2"]]


def test_the_board_in_text() -> None:
    assert board_text(BOARD, newest=(2, 2)).splitlines() == [
        "     0    1    2    3    4    5",
        "  0  .    1A1  4    .    .    .",
        "  1  0B1  .    .    .    .    .",
        "  2  .    .   [3]   2B2  .    .",
        "  3  .    .    0A2  .    .    .",
        "  4  .    .    .    .    .    .",
        "  5  .    .    .    .    .    .",
        "  A ann: 1 at 0,1, 2 at 3,2",
        "  B bob: 1 at 1,0, 2 at 2,3",
    ]


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_the_picture_names_heights_workers_and_who_is_to_move() -> None:
    svg = board_svg(BOARD, title="<a & b>", turn="bob", lines=["ann1 moves East"])
    seen = texts(svg)

    assert {"A1", "A2", "B1", "B2", "ann", "bob", "4", "<a & b>", "ann1 moves East"} <= set(seen)
    assert "1 at 1,0, 2 at 2,3; to move" in seen
    assert "1 at 0,1, 2 at 3,2" in seen
    assert svg == board_svg(BOARD, title="<a & b>", turn="bob", lines=["ann1 moves East"])


@pytest.mark.parametrize("height", range(5))
def test_a_storey_more_is_a_shape_more_so_that_print_tells_heights_apart(height: int) -> None:
    assert board_svg([[height]]).count('class="storey"') - board_svg([]).count('class="storey"') == height


@pytest.mark.parametrize("draw", [board_text, board_svg])
def test_what_is_no_board_is_not_drawn(draw: Any) -> None:
    with pytest.raises(BoardError):
        draw([[9]])


@pytest.mark.parametrize(
    ("message", "fields", "line"),
    [
        ("placement_request", {"last": None}, "nothing has happened yet"),
        ("placement_request", {"last": (1, (2, 3))}, "worker 1 is placed at 2,3"),
        ("placement_request", {"placed": (("ann1", 2, 3),)}, "placed so far: ann1 at 2,3"),
        ("move_build_request", {"action": (2, "north-east", None)}, "worker 2 moves NorthEast and wins"),
        (
            "turn_request",
            {"worker": "ann1", "move": ("EAST", "PUT"), "build": ("WEST", "SOUTH")},
            "worker ann1 moves East and builds SouthWest",
        ),
        ("winning_request", {"worker": "ann1", "move": ("EAST", "PUT")}, "worker ann1 moves East and wins"),
        (
            "turn",
            {"worker": "ann1", "ew": "PUT", "ns": "NORTH", "build_ew": "PUT", "build_ns": "SOUTH"},
            "worker ann1 moves North and builds South",
        ),
        ("check_turn", {"turn": ("ann1", ("PUT", "PUT"))}, "legal? worker ann1 moves nowhere and wins"),
        ("move_request", {"x1": 1, "y1": 2, "x2": 2, "y2": 3, "check": True}, "legal? the worker at 2,1 moves to 3,2"),
        ("game_result", {"verdict": "CHEATER"}, "you are out for breaking the rules"),
        ("turn_request", {"board": [[9]]}, "(this board cannot be drawn: the cell at 0,0 is no height 0..4, nor a"),
        ("e_msg", {"text": "\x1b[2J"}, r"an error: '\x1b[2J'"),
    ],
)
def test_messages_are_told_in_a_line(message: str, fields: dict[str, Any], line: str) -> None:
    told = shown(message, fields)

    assert told is not None
    assert told.startswith(line)


def test_a_message_with_a_board_shows_it_and_what_is_asked() -> None:
    assert shown("prompt_build", {"board": BOARD, "worker": "ann1"}) == f"{board_text(BOARD)}\n  build with ann1"
    assert shown("board_and_placement_request", {"board": BOARD, "wid": 2}) == f"{board_text(BOARD)}\n  place 2"
    assert shown("tournament_starting", {}) is None


def test_the_result_is_a_table() -> None:
    result = {
        "winners": ("bob",),
        "expelled": ("eve",),
        "players": (
            {"name": "ann", "series": 1, "games": 3, "expelled": False},
            {"name": "bob", "series": 2, "games": 5, "expelled": False},
            {"name": "eve", "series": 0, "games": 0, "expelled": True},
        ),
        "rows": (("bob", "ann"), ("bob", "eve")),
    }

    assert result_lines(result) == [
        "won by bob",
        "player  series won  games won",
        "bob              2          5",
        "ann              1          3",
        "eve              0          0  expelled",
        "bob beat ann",
        "bob beat eve",
        "expelled: eve",
    ]


@pytest.mark.parametrize(
    ("result", "lines"),
    [
        (None, ["no tournament"]),
        ("late", ["out: late"]),
        ({"rows": ()}, ["no game was played"]),
        ({"rows": (("ann", "bob", "irregular"),)}, ["ann beat bob (irregular)"]),
        ({"cheaters": ("eve",), "rows": (("ann", "bob"),)}, ["ann beat bob", "expelled: eve"]),
        ({"won": True, "game_history": (("ann", "bob"),)}, ["you have won the tournament", "ann beat bob"]),
    ],
)
def test_what_a_client_hears_of_the_end(result: Any, lines: list[str]) -> None:
    assert result_lines(result) == lines


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_text_breaks_the_picture(title: str, line: str) -> None:
    ElementTree.fromstring(board_svg(BOARD, title=title, lines=[line]))


def seen_after(*messages: tuple[str, str, dict[str, Any]]) -> list[str]:
    """The texts of the last picture that is drawn when these messages come, each with the client of it."""
    state, last = None, None
    for who, message, fields in messages:
        state, draw = pictured(state, who, message, fields)
        last = draw or last
    assert last is not None
    return texts(last())


PLACED = [
    (who, "wid_posn", {"wid": wid, "posn": posn})
    for who, wid, posn in (("ann", 1, (0, 0)), ("bob", 1, (3, 3)), ("ann", 2, (5, 5)), ("bob", 2, (0, 5)))
]
ANN_TURN = ("ann", "wid_move_build_dir", {"wid": 1, "move_dir": "South", "build_dir": "East"})


def test_after_a_turn_the_other_is_to_move_and_after_the_winning_one_nobody() -> None:
    seen = seen_after(*PLACED, ANN_TURN)
    assert "1 at 3,3, 2 at 0,5; to move" in seen
    assert "1 at 1,0, 2 at 5,5" in seen

    at_first = ("bob", "board_and_move_build_request", {"board": BOARD})
    for direction, wins in (("West", True), ("South", False)):  # a step that ends lower has not won, whatever it claims
        turn = ("bob", "wid_move_build_dir", {"wid": 2, "move_dir": direction, "build_dir": None})
        seen = seen_after(at_first, turn)
        assert ("bob has won the game" in seen) == wins
        assert not any("to move" in text for text in seen)


@pytest.mark.parametrize(
    "end",
    [
        ("ann", "game_over", {"won": False}),
        ("bob", "game_over", {"won": True}),
        ("ann", "game_result", {"verdict": "LOSER"}),
        ("ann", "game_winner", {"winner": "bob"}),
    ],
)
def test_the_board_stays_when_the_game_is_over_and_says_who_has_won(end: Any) -> None:
    """Also where the board came in a message, and the player's own turn was the last that its client was told."""
    asked = ("ann", "board_and_move_build_request", {"board": BOARD})
    turn = ("ann", "wid_move_build_dir", {"wid": 1, "move_dir": "South", "build_dir": "East"})
    for seen in (seen_after(*PLACED, ANN_TURN, end), seen_after(asked, turn, end)):
        assert "bob has won the game" in seen
        assert {"A1", "A2", "B1", "B2"} <= set(seen)
        assert not any("to move" in text for text in seen)


@pytest.mark.parametrize(
    ("message", "fields", "told"),
    [
        ("game_over", {"won": False}, "you have lost the game"),
        ("game_winner", {"winner": "ann"}, "you have won the game"),
        ("game_winner", {"winner": "bob"}, "you have lost the game"),
        ("tournament_over", {"won": False, "game_history": []}, "you have not won the tournament"),
        ("move_build_request", {"action": None}, None),
    ],
)
def test_a_player_is_told_how_it_ended_for_it(message: str, fields: dict[str, Any], told: str | None) -> None:
    assert verdict("ann", message, fields) == told
