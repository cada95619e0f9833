"""Tsuro against what other programs recorded: tiles, boards, verdicts and whole games."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rules import tsuro
from rules.harnesses.tsuro import HARNESSES
from rules.players.tsuro import First, Second
from rules.tsuro_board import BESIDE, COLOURS, KINDS, OFF, TILES, Board, port_of, read_board, turned
from tests.support.shared import SHARED, needs_shared

pytestmark = needs_shared

CASES = SHARED / "cases" / "tsuro"
EDGE = CASES / "edge-start"
GAMES = sorted((CASES / "transcripts" / "origin").glob("*.jsonl"))


@dataclass(frozen=True)
class Someone:
    name: str
    token: str


def values(path: Path) -> Iterator[Any]:
    """All JSON values of a file, whatever is between them."""
    text, decoder, at = path.read_text(), json.JSONDecoder(), 0
    while at < len(text):
        if text[at] in " \t\r\n,":
            at += 1
            continue
        value, at = decoder.raw_decode(text, at)
        yield value


def frozen(value: Any) -> Any:
    return tuple(frozen(item) for item in value) if isinstance(value, list) else value


def spelt(pairs: str) -> tuple[tuple[str, str], ...]:
    return tuple((pair[0], pair[1]) for pair in pairs.split())


def test_tiles_and_rotations_are_those_of_the_course() -> None:
    entries = json.loads((CASES / "tiles.json").read_text())

    for entry in entries:
        tile = TILES[entry["id"]]
        assert tile == frozen(entry["pairs"])
        assert {degrees: turned(tile, int(degrees) // 90) for degrees in entry["rotations"]} == {
            degrees: spelt(pairs) for degrees, pairs in entry["rotations"].items()
        }
        assert list(KINDS.values()).count(entry["id"]) == entry["distinct"]
    assert len(entries) == len(TILES)


def answers(harness: str, path: Path) -> list[Any]:
    return list(HARNESSES[harness](list(values(path))))


def test_every_recorded_crossing_of_a_tile_agrees() -> None:
    seen = 0
    for asked in sorted((CASES / "interior-start" / "tile-tests").rglob("*-in.json")):
        expected = list(values(asked.with_name(asked.name.replace("-in", "-out"))))
        assert answers("xtile", asked) == expected, asked
        seen += len(expected)

    assert seen >= 54


# Boards of two teams: placements in, what became of each token out ---------------------------------------------------


@pytest.mark.parametrize("number", range(1, 6))
def test_the_seeds_own_boards_agree(number: int) -> None:
    folder = EDGE / "shaw" / "board-tests"
    expected = json.loads((folder / f"{number}-out.json").read_text())
    if number == 1:
        # The recording leaves green on its first tile, as if it had not crossed it; by the rule it has exited.
        expected = [["green", " exited"] if entry[0] == "green" else entry for entry in expected]

    (found,) = answers("xboard", folder / f"{number}-in.json")
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("number", range(1, 6))
def test_another_teams_boards_agree_after_every_placement(number: int) -> None:
    folder = EDGE / "softwaredev-gang" / "board-tests"

    assert answers("xboard-each", folder / f"{number}-in.json") == list(values(folder / f"{number}-out.json"))


# Verdicts ------------------------------------------------------------------------------------------------------------


def seated(board: Board, hand: Any, extra: str = "") -> tsuro.Table:
    """A table with that board, a player for each token on it (and ``extra``), and that hand."""
    tokens = [start[0] for start in board.starts] + ([extra] if extra else [])
    seats = []
    for token in sorted(tokens, key=COLOURS.index):
        starts = [start for start in board.starts if start[0] == token]
        spot, fate = board.stand(starts[0]) if starts else (None, "in")
        seats.append(tsuro.Seat(Someone(token, token), token, spot, fate, None if fate == "in" else 0))
    return tsuro.Table(board, tuple(seats), frozen(hand))


@pytest.mark.parametrize("number", range(1, 6))
def test_the_seeds_own_verdicts_agree(number: int) -> None:
    folder = EDGE / "shaw" / "rule-tests"
    verdicts = json.loads((folder / "verdicts.json").read_text())

    assert answers("xrules", folder / f"{number}-in.json") == [verdicts[f"{number}-in.json"]]


@pytest.mark.parametrize("number", range(1, 6))
def test_another_teams_verdicts_agree(number: int) -> None:
    folder = EDGE / "softwaredev-gang" / "rule-tests"

    assert answers("xrules", folder / f"{number}-in.json") == list(values(folder / f"{number}-out.json"))


def test_every_placement_that_the_seeds_program_judged_is_judged_and_moves_the_tokens_alike() -> None:
    wrong: list[tuple[int, Any]] = []
    judged = 0
    for line in (EDGE / "origin-oracle.jsonl").read_text().splitlines():
        case = json.loads(line)
        board = read_board(case["board"])
        me = Someone(case["token"], case["token"])
        first = case["kind"] == "initial"
        table = seated(board, case["hand"], case["token"] if first else "")
        move = frozen(case["move"])
        legal = tsuro.may_start(table, me, *move[1:]) if first else tsuro.may_place(table, me, *move)
        judged += 1
        if legal != case["legal"]:
            wrong.append((case["id"], legal))
        elif legal:
            after = tsuro.begin(table, me, *move[1:]) if first else tsuro.place(table, me, *move)
            found = [
                [seat.token, {"in": "on-board"}.get(seat.fate, seat.fate), *port_of(seat.spot)]
                for seat in after.seats
                if seat.spot is not None
            ]
            if sorted(found) != sorted(case["after"]):
                wrong.append((case["id"], found))

    assert (wrong, judged) == ([], 886)


# Whole games ---------------------------------------------------------------------------------------------------------


@dataclass
class Recorded:
    """A recorded game: who joined, and each request with its reply, in the order of the requests."""

    players: list[Someone]
    asked: list[tuple[Someone, Any, Any]]
    ended: list[Any]


def recorded(path: Path) -> Recorded:
    names: dict[int, str] = {}
    players: dict[int, Someone] = {}
    asked: list[tuple[Someone, Any, Any]] = []
    waiting: dict[int, Any] = {}
    ended = []
    for line in path.read_text().splitlines():
        event = json.loads(line)
        if "msg" not in event:
            continue
        conn, message = event["conn"], event["msg"]
        if event["dir"] == "c2s":
            if conn not in names:
                names[conn] = message
            else:
                asked.append((players[conn], waiting.pop(conn), frozen(message)))
        elif conn not in players:
            players[conn] = Someone(names[conn], message)
        elif message != "started":
            if len(message) == 3:
                ended.append(frozen(message))
            else:
                waiting[conn] = frozen(message)
    seats = sorted(players.values(), key=lambda player: COLOURS.index(player.token))
    return Recorded(seats, asked, ended)


@pytest.mark.parametrize("path", GAMES, ids=lambda path: path.stem)
def test_a_recorded_game_comes_out_the_same(path: Path) -> None:
    game = recorded(path)
    table = tsuro.start(game.players)
    requests = iter(game.asked)

    for player in game.players:
        table = tsuro.deal(table, 3)
        asked, request, reply = next(requests)
        assert (asked, request) == (player, (tsuro.board(table), tsuro.hand(table)))
        token, *placement = reply
        fine = token == player.token and tsuro.may_start(table, player, *placement)
        table = tsuro.begin(table, player, *placement) if fine else tsuro.eject(table, player)
    while not tsuro.over(table):
        for player in game.players:
            if tsuro.playing(table, player):
                table = tsuro.deal(table, 2)
                asked, request, reply = next(requests)
                assert (asked, request) == (player, (tsuro.board(table), tsuro.hand(table)))
                fine = tsuro.may_place(table, player, *reply)
                table = tsuro.place(table, player, *reply) if fine else tsuro.eject(table, player)

    assert next(requests, None) is None
    assert game.ended == [(tsuro.ranking(table), tsuro.cheaters(table), tsuro.board(table))] * len(game.players)
    assert all(BESIDE[seat.spot] == OFF for seat in table.seats if seat.fate in ("exited", "collided") and seat.spot)


@pytest.mark.parametrize(
    "path", [path for path in GAMES if path.stem != "5-scripted-legal"], ids=lambda path: path.stem
)
def test_the_two_simple_players_move_as_the_recorded_ones(path: Path) -> None:
    """A recorded player is one of the two in all its moves; which, its first placement tells."""
    game = recorded(path)
    kinds = {}

    for player, (board, hand), reply in game.asked:
        if len(reply) == 5:
            answers = {kind: kind("x", 0).initial(board, hand, player.token)[1] for kind in (First, Second)}
            agreeing = [kind for kind, fields in answers.items() if tuple(fields.values()) == reply]
            assert agreeing, (player, reply)
            kinds[player] = agreeing
        else:
            kinds[player] = [
                kind
                for kind in kinds[player]
                if tuple(kind("x", 0).intermediate(board, hand, player.token)[1].values()) == reply
            ]
            assert kinds[player], (player, reply)
