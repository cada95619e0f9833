"""Tsuro for the eye: the board in text and as SVG, messages and results in lines."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import pytest

from rules import tsuro
from rules.players.tsuro import choices
from rules.tsuro_board import KINDS, PORTS, TILES, Board, BoardError, Tile, turned
from rules.views.tsuro import board_svg, board_text, pictured, result_lines, shown, steps, verdict
from rules.views.tsuro_steps import tile_lines
from rules.views.tsuro_svg import INWARDS, PLACES


@dataclass(frozen=True)
class Someone:
    name: str
    token: str


def tile(pairs: str) -> Tile:
    return tuple((pair[0], pair[1]) for pair in pairs.split())


STRAIGHT, TURN_BACK = tile("AF BE CH DG"), tile("AB CD EF GH")
ANN, BOB, CYD = Someone("ann", "white"), Someone("bob", "black"), Someone("cyd", "red")
SVG = "{http://www.w3.org/2000/svg}"


def table() -> tsuro.Table:
    """White faces 2,1; black has gone out at the top; red was ejected."""
    here = tsuro.start([ANN, BOB, CYD])
    here = tsuro.begin(here, ANN, STRAIGHT, "A", 2, 0)
    here = tsuro.begin(here, BOB, STRAIGHT, "A", 4, 0)
    here = tsuro.begin(here, CYD, STRAIGHT, "H", 0, 9)
    here = tsuro.place(here, BOB, TURN_BACK, 4, 1)
    return tsuro.eject(here, CYD)


def test_the_board_in_text_shows_tiles_tokens_and_who_is_out() -> None:
    text = board_text(tsuro.board(table()), names={"white": "Ann"}, ejected=["red"], newest=(4, 1))

    lines = text.splitlines()
    assert lines[:3] == [
        "     0   1   2   3   4   5   6   7   8   9",
        " 0   ·   ·  W↓   ·  k†   ·   ·   ·   ·   ·",
        " 1   ·   ·   ·   · [▒▒▒] ·   ·   ·   ·   ·",
    ]
    assert lines[10:] == [
        " 9  R→   ·   ·   ·   ·   ·   ·   ·   ·   ·",
        "  W white at F of 2,0, faces 2,1  Ann",
        "  K black out: exited at B of 4,0",
        "  R red   ejected; its token is at C of 0,9, faces 1,9",
    ]


def test_tokens_on_one_square_leave_their_letters() -> None:
    board = Board().put(TILES[2], 5, 0)
    for token, port in zip(["white", "black", "red", "green"], "ABCD", strict=True):
        board = board.enter(token, port, 5, 0)

    assert " WK+ " in board_text(board.wire)


def test_a_name_cannot_steer_the_terminal() -> None:
    text = board_text(tsuro.board(table()), names={"white": "\x1b[2J\n"})

    assert "\x1b" not in text
    assert "'\\x1b[2J\\n'" in text


# SVG -----------------------------------------------------------------------------------------------------------------


def test_the_picture_is_xml_with_every_square_tile_path_and_token() -> None:
    board = tsuro.board(table())
    picture = ElementTree.fromstring(board_svg(board, newest=(4, 1)))

    kinds = [element.get("class") for element in picture.iter()]
    assert (kinds.count("empty"), kinds.count("tile"), kinds.count("path")) == (96, 4, 16)
    assert (kinds.count("newest"), kinds.count("walked")) == (1, 3)
    assert board_svg(board) == board_svg(board)


def test_the_picture_tells_all_it_was_told() -> None:
    svg = board_svg(
        tsuro.board(table()),
        title="A <game>",
        round_number=7,
        turn="white",
        hand=TILES[:2],
        chosen=TILES[1],
        names={"white": "a & b", "black": "\x00\ud800'\"", "blue": "eve"},
        ejected=["red", "blue"],
        ranking=[["zoe"], ["bob", "dan"], ["ned"]],
        cheaters=["cyd"],
    )

    texts = [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert [text for text in texts if text and not text.isdecimal()] == [
        "A <game>", "round 7", "a & b", "at F of 2,0, faces 2,1", "��'\"", "exited at B of 4,0",
        "red", "ejected; the token is at C of 0,9", "eve", "ejected",
        "offered to white", "AE BF CH DG", "AE BF CG DH", "laid as", "AE BF CG DH",
        "result", "1. zoe", "2. bob, dan", "4. ned", "ejected: cyd",
    ]  # fmt: skip


def test_a_name_too_long_for_the_panel_is_cut() -> None:
    svg = board_svg(tsuro.board(table()), names={"white": "x" * 100})

    assert "x" * 25 + "…" in svg
    assert "x" * 26 not in svg


def test_a_first_round_has_players_who_have_not_begun() -> None:
    svg = board_svg(Board().wire, round_number=0, turn="green", hand=TILES[:3])

    assert "first placements" in svg
    assert "has not begun" in svg


def test_paths_enter_a_tile_at_right_angles_from_the_port() -> None:
    for port in range(len(PORTS)):
        across, down = PLACES[port]
        inwards = INWARDS[port // 2]
        assert (across + inwards[0], down + inwards[1]) in {(1, 1), (2, 1), (1, 2), (2, 2)}


# Messages and results ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "fields", "text"),
    [
        ("JOIN", {"name": "ann"}, None),
        ("TOKEN", {"token": "red"}, "the token is red"),
        ("STARTED", {}, None),
        (
            "INIT_PLACE",
            {"token": "red", "tile": STRAIGHT, "port": "A", "x": 2, "y": 0},
            "red begins at A of 2,0 with AF BE CH DG",
        ),
        ("INTER_PLACE", {"tile": STRAIGHT, "x": 2, "y": 1}, "AF BE CH DG is laid at 2,1"),
        ("initial", {}, None),
    ],
)
def test_a_watcher_sees_a_line_or_nothing(message: str, fields: dict[str, Any], text: str | None) -> None:
    assert shown(message, fields) == text
    assert shown(message, tuple(fields.items())) == text


@pytest.mark.parametrize(
    ("message", "more", "last"),
    [
        ("INIT_REQ", {"hand": TILES[:3]}, "  tiles 1: AE BF CH DG, 2: AE BF CG DH, 3: AF BE CH DG"),
        ("INTER_REQ", {"tiles": TILES[:2]}, "  tiles 1: AE BF CH DG, 2: AE BF CG DH"),
        (
            "ENDED",
            {"winners": (("ann", "bob"), ("cyd",)), "losers": ("eve",)},
            "  1. ann, bob\n  3. cyd\n  ejected: eve",
        ),
        ("ENDED", {"winners": (), "losers": ()}, "  nobody won"),
    ],
)
def test_a_watcher_sees_the_board_of_a_request_and_of_the_end(message: str, more: dict[str, Any], last: str) -> None:
    board = tsuro.board(table())

    assert shown(message, {"board": board, **more}) == f"{board_text(board)}\n{last}"


def test_a_board_that_cannot_be_does_not_stop_who_watches() -> None:
    impossible = (Board().columns, (("white", "A", 0, 0),))

    text = shown("INTER_REQ", {"board": impossible, "tiles": TILES[:2]})

    assert text is not None
    assert text.startswith("(this board cannot be drawn: white starts at 0,0, where no tile lies)")
    with pytest.raises(BoardError):
        board_svg(impossible)


@pytest.mark.parametrize("read", [lambda value: value, lambda value: json.loads(json.dumps(value))])
def test_the_result_is_told_in_lines_also_after_json(read: Any) -> None:
    assert result_lines(read(tsuro.result(table()))) == [
        "1. ann",
        "2. bob",
        "ejected: cyd",
        "1 round after the first placements",
        "  white ann: in to the end",
        "  black bob: exited in round 1",
        "  red   cyd: ejected in round 1",
    ]


def test_a_clients_result_and_a_game_that_never_was_are_told_too() -> None:
    assert result_lines({"winners": [["ann"], ["bob"]], "losers": []}) == ["1. ann", "2. bob"]
    assert result_lines({"winners": [], "losers": [""]}) == ["nobody won", "ejected: ''"]
    assert result_lines(None) == ["no game: too few players"]


ENDED = {"winners": [["ann"], ["bob"]], "losers": ["cyd", "dan", "eve with a name"], "board": tsuro.board(table())}


def test_at_the_end_who_was_ejected_is_marked_so_and_no_name_of_them_is_cut() -> None:
    colours = {"white": "ann", "black": "bob", "red": "cyd", "green": "dan", "blue": "eve with a name"}
    _, draw = pictured((colours, None), "ann", "ENDED", ENDED)

    assert draw is not None
    seen = [element.text for element in ElementTree.fromstring(draw()).iter(f"{SVG}text")]
    assert "has not begun" not in seen
    assert seen.count("ejected") == 2, "who had not begun yet"
    assert "ejected; the token is at C of 0,9" in seen
    assert seen[-2:] == ["ejected: cyd, dan, eve", "with a name"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("ann", "you have won the game"),
        ("bob", "you have lost the game: place 2"),
        ("cyd", "you are out for breaking the rules"),
        ("zoe", None),
    ],
)
def test_a_player_is_told_how_it_ended_for_it(name: str, told: str | None) -> None:
    assert verdict(name, "ENDED", ENDED) == told
    assert verdict(name, "TOKEN", {"token": "white"}) is None


def test_a_tile_is_drawn_with_its_paths_and_no_two_are_drawn_alike() -> None:
    assert tile_lines(tile("AE BC DH FG")) == (
        "┌────A──B────┐",
        "│    ⡇  ⢸⡀   │",
        "│    ⠹⡀  ⢧⣀⡀ │",
        "H⠉⠉⠓⠢⢤⣳    ⠉⠉C",
        "G⣀⣀    ⢯⠓⠢⢤⣀⣀D",
        "│ ⠈⠉⢳  ⠈⣆    │",
        "│   ⠈⡇  ⢸    │",
        "└────F──E────┘",
    )
    assert len({tile_lines(kind) for kind in KINDS}) == len(KINDS)
    assert {len(line) for kind in KINDS for line in tile_lines(kind)} == {14}


def test_steps_lead_to_each_first_placement_by_one_way() -> None:
    hand = (TILES[0], turned(TILES[0]), TILES[34])  # one kind twice
    arguments = {"board": Board().wire, "hand": hand, "token": "red"}
    listed = choices("initial", arguments)
    paths = steps("initial", arguments, listed)

    assert len(set(paths)) == len(listed)
    for path, (told, (_, fields)) in zip(paths, listed, strict=True):
        dealt, lies, place = path
        assert turned(hand[int(dealt.label) - 1], int(lies.label) // 90) == fields["tile"]
        assert place.label == f"{fields['x']},{fields['y']} {fields['port']}"
        assert place.told.startswith("you ")
        assert told.endswith(place.told)
