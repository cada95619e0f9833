"""Santorini against what other programs recorded: boards, verdicts, survivals, decisions and whole games."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rules import santorini
from rules.harnesses.santorini import HARNESSES
from rules.santorini_board import beside, cell_of, read_board, rows_of, step_of
from rules.santorini_play import Play
from tests.support.shared import SHARED, needs_shared

pytestmark = needs_shared

CASES = SHARED / "cases" / "santorini"
FIXTURES = CASES / "fixtures"


@dataclass(frozen=True)
class Someone:
    name: str


def values(path: Path) -> Iterator[Any]:
    """All JSON values of a file, whatever white space is between them."""
    text, decoder, at = path.read_text(), json.JSONDecoder(), 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        value, at = decoder.raw_decode(text, at)
        yield value


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


GAMES = lines(CASES / "games.jsonl")


@pytest.mark.parametrize(("harness", "pairs"), [("xboard", 39), ("xrules", 25), ("xstrategy", 37)])
def test_the_harnesses_answer_as_the_course_expects(harness: str, pairs: int) -> None:
    """All fixtures of the corpus: its manifest names none that contradicts the rules."""
    inputs = sorted((FIXTURES / harness[1:]).glob("*-in.json"))

    for path in inputs:
        expected = path.with_name(path.name.replace("-in", "-out")).read_text().replace('"', "").split()
        assert [str(answer) for answer in HARNESSES[harness](list(values(path)))] == expected, path.name
    assert len(inputs) == pairs


def test_single_judgements_agree() -> None:
    judgements = lines(FIXTURES / "rules-flat.jsonl")

    for one in judgements:
        asked = [one["board"], ["move", one["worker"], one["move"]]]
        if one["build"] is not None:
            asked.append(["+build", one["build"]])
        assert list(HARNESSES["xrules"](asked)) == [one["expect"]], one["id"]
    assert len(judgements) == 140


def begun(board: Any, first: str) -> tuple[Play, Someone]:
    """A game that stands as on the board, with the named player to move."""
    read = read_board(board)
    other = next(worker[:-1] for worker, _ in read.workers if worker[:-1] != first)
    return Play((Someone(first), Someone(other)), read), Someone(first)


def judged(board: Any, action: Any) -> bool:
    """Whether the rules take an action of the official protocol: a bare name, three texts or five."""
    if isinstance(action, str):
        return any(worker[:-1] == action for worker, _ in read_board(board).workers)
    worker, move, build = action[0], action[1:3], action[3:]
    play, player = begun(board, worker[:-1])
    if not build:
        return santorini.wins(play, player, worker, move)
    return santorini.may_turn(play, player, worker, move, build)


def test_recorded_decisions_are_judged_alike() -> None:
    """The bare workers "1" and "2" are one client's habit: illegal as they stand."""
    kinds: Counter[str] = Counter()
    for one in lines(CASES / "turns.jsonl"):
        action = one["action"]
        if action[0] in ("1", "2"):
            play, player = begun(one["board"], read_board(one["board"]).workers[0][0][:-1])
            assert not santorini.may_turn(play, player, action[0], action[1:3], action[3:] or None)
            assert one["legal"] is False
            kinds["bare"] += 1
        else:
            assert judged(one["board"], action) is one["legal"], one
            kinds[one["kind"]] += 1
    assert kinds["bare"] > 100
    assert kinds.total() == 1352


def test_a_bare_worker_is_completed_and_then_some_player_could_have_moved_so() -> None:
    bare = [one for one in lines(CASES / "turns.jsonl") if one["action"][0] in ("1", "2")]

    for one in bare:
        action = one["action"]
        names = {worker[:-1] for worker, _ in read_board(one["board"]).workers}
        legal = []
        for name in names:
            play, player = begun(one["board"], name)
            worker = santorini.full_worker(player, action[0])
            legal.append(santorini.may_turn(play, player, worker, action[1:3], action[3:] or None))
        assert any(legal), one
    assert bare


def placed(game: Any) -> Play:
    """A recorded game after its placements."""
    first = Someone(game["first"])
    second = Someone(next(name for name in game["players"] if name != first.name))
    play = santorini.start((first, second))
    for number in (1, 2):
        for player in (first, second):
            spot = game["workers"][f"{player.name}{number}"]
            assert santorini.may_place(play, player, spot)
            assert santorini.may_place(play, player, number, spot)
            play = santorini.place(play, player, spot)
    return play


@pytest.mark.parametrize("number", range(len(GAMES)))
def test_recorded_games_replay_turn_by_turn(number: int) -> None:
    game = GAMES[number]
    play = placed(game)
    final = [list(row) for row in game["final_heights"]]

    for index, turn in enumerate(game["turns"]):
        mover = santorini.mover(play)
        assert not santorini.over(play)
        if isinstance(turn, str):
            play = santorini.resign(play, Someone(turn))
            continue
        worker, move, build = turn[0], turn[1:3], turn[3:] or None
        if not santorini.may_turn(play, mover, worker, move, build):
            assert (game["end"], index) == ("illegal", len(game["turns"]) - 1)
            play = santorini.forfeit(play, mover)
            continue
        before = play
        play = santorini.turn(play, mover, worker, move, build)
        if santorini.wins(before, mover, worker, move) and build is not None:
            # The recording's own replay carried out the build that some clients add to a winning move.
            target, step = play.board.cell(worker), step_of(build)
            assert target is not None
            assert step is not None
            raised = beside(target, step)
            assert raised is not None
            final[raised // 6][raised % 6] -= 1

    assert rows_of(play.board.heights) == tuple(map(tuple, final))
    assert dict(play.board.workers) == {worker: cell_of(spot) for worker, spot in game["final_workers"].items()}
    assert santorini.over(play) is (game["end"] != "cut-off")
    if santorini.over(play):
        outcome = santorini.outcome(play)
        assert outcome.winner.name == game["winner"]
        assert outcome.how == {"reached-3": "reached the top", "give-up": "gave up", "illegal": "forfeit"}[game["end"]]
        assert bool(outcome.offenders) is (game["end"] == "illegal")


def test_all_recorded_games_are_there() -> None:
    assert len(GAMES) == 78


@pytest.mark.parametrize("number", range(0, len(GAMES), 5))
def test_halves_and_a_client_s_own_board_follow_the_same_game(number: int) -> None:
    """Move and build apart end where whole turns do, and a client that hears actions only has the same heights."""
    game = GAMES[number]
    play = halves = placed(game)
    first, second = play.pair
    kept = {first: santorini.blank(), second: santorini.blank()}
    for worker, spot in play.board.workers:
        for player in play.pair:
            told = (int(worker[-1]), (spot // 6, spot % 6))
            own = worker[:-1] == player.name
            assert own or santorini.may_see(kept[player], told)
            kept[player] = santorini.own_place(kept[player], *told) if own else santorini.seen(kept[player], told)

    for turn in game["turns"]:
        mover = santorini.mover(play)
        if isinstance(turn, str) or not santorini.may_turn(play, mover, turn[0], turn[1:3], turn[3:] or None):
            break
        other = second if mover is first else first
        source = play.board.cell(turn[0])
        play = santorini.turn(play, mover, turn[0], turn[1:3], turn[3:] or None)
        target = play.board.cell(turn[0])
        assert source is not None
        assert target is not None
        before = halves
        halves = santorini.move(halves, mover, divmod(source, 6), divmod(target, 6))
        if not santorini.over(halves):
            assert santorini.moved(halves) == turn[0]
            raised = next(cell for cell in range(36) if play.board.heights[cell] != before.board.heights[cell])
            assert santorini.may_build(halves, mover, divmod(target, 6), divmod(raised, 6))
            halves = santorini.build(halves, mover, divmod(target, 6), divmod(raised, 6))
        assert halves == play
        told_turn = santorini.last_action(play)
        assert told_turn is not None
        assert santorini.may_see(kept[other], told_turn)
        kept[other] = santorini.seen(kept[other], told_turn)
        kept[mover] = santorini.own_turn(kept[mover], *told_turn)
        for player in play.pair:
            assert read_board(kept[player]).heights == play.board.heights


CONFIGURATIONS = sorted((FIXTURES / "tournament").glob("*__11__*-in.json"))
PADDED = {"Don1": "Dona", "jack3": "jacka"}  # each of the courses' programs has its own way to make names differ


@pytest.mark.parametrize("path", CONFIGURATIONS, ids=lambda path: path.name)
def test_tournaments_by_kinds_expel_the_same_and_pair_the_same(path: Path) -> None:
    """Between good players another may win, theirs are other programs; of two that are expelled it is one series."""
    answer: Any = next(iter(HARNESSES["xrun"](list(values(path)))))
    told = re.findall(r'"(\w+)"', path.with_name(path.name.replace("-in.", "-out.")).read_text())
    names = [PADDED.get(word, word) for word in told if word not in ("winner", "loser")]
    count = len(answer[0])
    rows = list(dict.fromkeys(zip(names[count::2], names[count + 1 :: 2], strict=True)))

    assert names[:count] == answer[0]
    assert [tuple(sorted(row)) for row in rows] == [tuple(sorted(row)) for row in answer[1]]
    assert [row for row in rows if row[1] in answer[0]] == [tuple(row) for row in answer[1] if row[1] in answer[0]]
