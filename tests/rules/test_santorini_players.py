"""The players of Santorini: legal or not as they should be, in the words of each protocol, repeatable."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.santorini import Someone, play
from rules import santorini
from rules.players.santorini import DEFAULT, PLAYERS, choices, illegal_turns
from rules.players.santorini_dialects import read_question
from rules.players.santorini_position import Turn
from rules.santorini_play import Play

ANN, BOB = Someone("ann"), Someone("bob")

Answer = tuple[str, dict[str, Any]]


class Table:
    """A referee for one game in the words of one protocol: asks both players in turn and judges what they say."""

    def __init__(self, kinds: tuple[str, str], seed: int = 0) -> None:
        self.game = santorini.start((ANN, BOB))
        self.minds = {
            player: PLAYERS[kind](player.name, seed + i)
            for i, (player, kind) in enumerate(zip((ANN, BOB), kinds, strict=True))
        }
        self.said: list[Answer] = []
        self.checked: list[bool] = []

    def run(self) -> santorini.Outcome:
        while not santorini.over(self.game):
            player = santorini.mover(self.game)
            if len(santorini.placements(self.game)) < 4:
                self.place(player)
            else:
                self.turn(player)
        return santorini.outcome(self.game)

    def ask(self, player: Someone, question: str, *values: Any) -> Answer:
        answer: Answer = getattr(self.minds[player], question)(*values)
        self.said.append(answer)
        return answer

    def place(self, player: Someone) -> None:
        raise AssertionError

    def turn(self, player: Someone) -> None:
        raise AssertionError

    def put(self, player: Someone, place: Any) -> None:
        fine = santorini.may_place(self.game, player, place)
        self.game = (santorini.place if fine else _forfeit)(self.game, player, place)

    def take(self, player: Someone, worker: Any, move: Any, build: Any) -> None:
        fine = santorini.may_turn(self.game, player, worker, move, build)
        self.game = (santorini.turn if fine else _forfeit)(self.game, player, worker, move, build)


def _forfeit(game: Play, player: Someone, *_: Any) -> Play:
    return santorini.forfeit(game, player)


class RelayTable(Table):
    """Each client keeps a board of its own, with the workers ``me1`` to ``them2``, and asks its AI with that."""

    def __init__(self, kinds: tuple[str, str], seed: int = 0) -> None:
        super().__init__(kinds, seed)
        self.kept: dict[Someone, Any] = {ANN: santorini.blank(), BOB: santorini.blank()}

    def place(self, player: Someone) -> None:
        kept = santorini.seen(self.kept[player], santorini.last_placed(self.game))
        message, fields = self.ask(player, "placement", kept, santorini.next_wid(kept))
        assert message == "wid_posn"
        self.kept[player] = santorini.own_place(kept, fields["wid"], fields["posn"])
        assert fields["wid"] == santorini.next_wid(kept)
        self.put(player, fields["posn"])

    def turn(self, player: Someone) -> None:
        kept = santorini.seen(self.kept[player], santorini.last_action(self.game))
        message, fields = self.ask(player, "move_build", kept)
        assert message == "wid_move_build_dir"
        self.kept[player] = santorini.own_turn(kept, *fields.values())
        self.take(player, *fields.values())


class PromptsTable(Table):
    def place(self, player: Someone) -> None:
        ok = None
        while True:
            message, fields = self.ask(player, "placement", santorini.board(self.game), ok)
            if message == "place_worker_request":
                return self.put(player, fields["place"])
            assert message == "check_placement"
            ok = santorini.may_place(self.game, player, fields["place"])
            self.checked.append(ok)
            if len(self.checked) > 100:
                return self.put(player, None)

    def turn(self, player: Someone) -> None:
        ok = None
        while True:
            message, fields = self.ask(player, "turn", santorini.board(self.game), player.name, ok)
            match message:
                case "turn_request":
                    return self.take(player, fields["worker"], fields["move"], fields["build"])
                case "winning_request":
                    return self.take(player, fields["worker"], fields["move"], None)
                case "give_up":
                    self.game = santorini.resign(self.game, player)
                    return None
            assert message == "check_turn"
            ok = santorini.may_turn_any(self.game, player, fields["turn"])
            self.checked.append(ok)


class RuleCheckTable(Table):
    def place(self, player: Someone) -> None:
        due = santorini.next_worker(self.game, player)
        ok = None
        while True:
            message, fields = self.ask(player, "place", santorini.board(self.game), due, ok)
            assert message == "place_request"
            assert fields["wid"] == due
            place = (fields["y"], fields["x"])
            if not fields["check"]:
                return self.put(player, place)
            ok = santorini.may_place(self.game, player, place)
            self.checked.append(ok)
            if len(self.checked) > 100:
                return self.put(player, None)

    def turn(self, player: Someone) -> None:
        self.half(player, "move", player.name, santorini.may_move, santorini.move)
        if not santorini.over(self.game):
            moved = santorini.moved(self.game)
            self.half(player, "build", moved, santorini.may_build, santorini.build)

    def half(self, player: Someone, question: str, who: Any, may: Any, do: Any) -> None:
        ok = None
        while True:
            message, fields = self.ask(player, question, santorini.board(self.game), who, ok)
            assert message == f"{question}_request"
            source, target = (fields["y1"], fields["x1"]), (fields["y2"], fields["x2"])
            ok = may(self.game, player, source, target)
            if not fields["check"]:
                self.game = (do if ok else _forfeit)(self.game, player, source, target)
                return
            self.checked.append(ok)


TABLES = (RelayTable, PromptsTable, RuleCheckTable)


# By kind, in the words of each protocol ------------------------------------------------------------------------------


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("kind", ["diagonal", "random", "quick", "checker"])
def test_a_player_by_the_rules_is_never_an_offender(table: type[Table], kind: str) -> None:
    for seed in range(1 if kind == "quick" else 8):
        assert table((kind, "random"), seed).run().offenders == ()
        assert table(("diagonal", kind), seed).run().offenders == ()


@pytest.mark.parametrize("kind", ["diagonal", "random", "quick", "checker", "check-flood"])
def test_a_player_by_the_rules_is_never_an_offender_in_the_official_words(kind: str) -> None:
    for seed in range(1 if kind == "quick" else 8):
        assert play([kind, "random"], seed)[0].offenders == ()
        assert play(["random", kind], seed)[0].offenders == ()


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("seed", range(6))
def test_the_illegal_kinds_offend_when_they_say_they_do(table: type[Table], seed: int) -> None:
    found = {kind: table(("random", kind), seed).run() for kind in ("illegal", "illegal-later", "illegal-placement")}

    assert {kind: outcome.offenders for kind, outcome in found.items()} == dict.fromkeys(found, (BOB,))
    # Bob's first turn is the game's second, his fourth the eighth; half of a turn is not counted.
    assert {kind: outcome.turns for kind, outcome in found.items()} == {
        "illegal": 1, "illegal-later": 7, "illegal-placement": 0
    }  # fmt: skip


def test_the_illegal_kinds_offend_in_the_official_words() -> None:
    for seed in range(12):
        for kind, turns in (("illegal", 1), ("illegal-later", 7), ("illegal-placement", 0)):
            outcome, _ = play(["random", kind], seed)
            assert (outcome.loser.name, outcome.how, outcome.turns) == ("second", "forfeit", turns)


@pytest.mark.parametrize("seed", range(6))
def test_illegal_turns_are_illegal_for_the_reason_they_tell(seed: int) -> None:
    table = RelayTable(("diagonal", "random"), seed)
    for _ in range(4):
        table.place(santorini.mover(table.game))
    while not santorini.over(table.game):
        player = santorini.mover(table.game)
        position = read_question("turn", (santorini.board(table.game), player.name)).position
        legal = set(position.turns())
        may_step = {(turn.worker, turn.to) for turn in legal}
        steps, builds, wins = illegal_turns(position)

        assert not legal & {*steps, *builds, *wins}
        assert not any((turn.worker, turn.to) in may_step for turn in steps)
        assert all((turn.worker, turn.to) in may_step for turn in builds + wins)
        assert all((turn.build is None) == (turn in wins) for turn in builds + wins)
        table.turn(player)


def test_the_one_that_gives_up_says_so_where_there_is_a_word_for_it() -> None:
    assert PromptsTable(("random", "gives-up"), 1).run().how == "gave up"
    assert play(["random", "gives-up"], 1)[0].how == "gave up"
    for table in (RelayTable, RuleCheckTable):
        with pytest.raises(ValueError, match="it gives up, and this protocol has no word for that"):
            table(("random", "gives-up"), 1).run()


@pytest.mark.parametrize("table", [PromptsTable, RuleCheckTable])
def test_the_checker_asks_for_an_illegal_and_for_its_own_decision_each_time(table: type[Table]) -> None:
    played = table(("checker", "random"))
    played.run()
    decided = sum(answer[0] in ("place_worker_request", "turn_request", "winning_request") for answer in played.said)
    if table is RuleCheckTable:
        decided = sum(not answer[1]["check"] for answer in played.said)

    assert len(played.checked) > 10
    assert played.checked == [False, True] * (len(played.checked) // 2)
    assert decided > len(played.checked) // 2


def test_the_checker_notices_a_rule_checker_that_is_wrong() -> None:
    mind = PLAYERS["checker"]("ann", 0)
    mind.placement(santorini.blank(), None)

    with pytest.raises(ValueError, match="the rule checker said True, where the rules say False"):
        mind.placement(santorini.blank(), True)


@pytest.mark.parametrize("table", [PromptsTable, RuleCheckTable])
def test_the_flood_of_checks_never_ends(table: type[Table]) -> None:
    played = table(("check-flood", "random"))
    assert played.run().offenders == (ANN,)
    assert len(played.checked) > 100
    assert set(played.checked) == {True}


@pytest.mark.parametrize("kind", ["random", "quick", "illegal", "illegal-placement"])
def test_one_seed_gives_one_game_and_another_seed_another(kind: str) -> None:
    def said(seed: int) -> list[Any]:
        return [move.answer for move in play([kind, "diagonal"], seed)[1]]

    assert said(3) == said(3)
    assert any(said(3) != said(seed) for seed in (4, 5, 6))


def test_a_new_game_is_known_by_its_first_placement() -> None:
    mind = PLAYERS["illegal-placement"]("ann", 0)
    first, own = santorini.blank(), []
    for _ in range(2):
        _, fields = mind.placement(first, None)
        own.append(fields["place"])
        board = santorini.own_place(first, 1, fields["place"])
        board = santorini.own_place(board, 2, (0, 0) if fields["place"] != (0, 0) else (1, 1))
        _, fields = mind.placement(board, None)
        assert not isinstance(board[fields["place"][0]][fields["place"][1]], int)


def test_a_build_after_a_move_that_was_not_its_own_is_legal_all_the_same() -> None:
    board = ((0, 4, 0), ("0ann1", 4, 0), ("1bob1", 4, "0ann2"), (0, 0, 0, "0bob2"))
    mind = PLAYERS["quick"]("ann", 0)

    assert mind.build(board, "ann1", None) == ("build_request", {"x1": 0, "y1": 1, "x2": 0, "y2": 0, "check": False})


def test_rows_and_columns_are_not_confused() -> None:
    board = (("2ann1", 3), (), (), (0, 0, 0, 0, "0ann2", "0bob1"), (0, 0, 0, 0, 0, "0bob2"))
    relayed = (("2me1", 3), (), (), (0, 0, 0, 0, "0me2", "0them1"), (0, 0, 0, 0, 0, "0them2"))
    quick = PLAYERS["quick"]("ann", 0)

    assert quick.move_build(relayed) == ("wid_move_build_dir", {"wid": 1, "move_dir": "East", "build_dir": None})
    assert quick.turn(board, "ann", None) == ("winning_request", {"worker": "ann1", "move": ("EAST", "PUT")})
    assert quick.turn(board, "ann") == ("winning_move", {"worker": "ann1", "ew": "EAST", "ns": "PUT"})
    assert quick.move(board, "ann", None) == ("move_request", {"x1": 0, "y1": 0, "x2": 1, "y2": 0, "check": False})


def test_who_has_no_legal_turn_gives_up() -> None:
    board = (("0ann1", 4, "0bob1"), (4, 4), ("0ann2", 4, "0bob2"), (4, 4))
    for kind in ("diagonal", "random", "quick", "illegal-later"):
        assert PLAYERS[kind]("ann", 0).turn(board, "ann") == ("give_up", {"own": "ann"})


@pytest.mark.parametrize("table", TABLES)
def test_the_class_of_the_document_speaks_every_protocol(
    table: type[Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = (Path(__file__).resolve().parents[2] / "docs" / "players.md").read_text(encoding="utf-8")
    code = next(code for code in re.findall(r"```python\n(.*?)```", document, re.DOTALL) if "Climber" in code)
    (tmp_path / "climbing_bots.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(PLAYERS, "climber", importlib.import_module("climbing_bots").Climber)

    outcomes = [table(("climber", "random"), seed).run() for seed in range(10)]

    assert all(outcome.offenders == () for outcome in outcomes)
    assert sum(outcome.winner == ANN for outcome in outcomes) > 5


@pytest.mark.parametrize(
    ("question", "values", "why"),
    [
        ("turn", (((0,),), "ann"), "ann has 0 workers on the board"),
        ("turn", ((("0ann1",),), "ann"), "ann has 1 workers on the board"),
        ("turn", (((9,),), "ann"), "no height 0..4"),
        ("turn", (((0,),), "ann", "yes"), "no question 'turn' with 3 such values"),
        ("bid", (), "no question 'bid'"),
        ("placement", ((("ann1", 6, 0),), "bob"), "ann1 stands at 6,0, off the board"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(question: str, values: tuple[Any, ...], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_question(question, values)


def test_every_kind_tells_in_one_line_what_it_does() -> None:
    assert DEFAULT in PLAYERS
    lines = [(kind.__doc__ or "").partition("\n")[0] for kind in PLAYERS.values()]
    assert all(0 < len(line) < 120 for line in lines)
    assert len(set(lines)) == len(lines)


# For a person --------------------------------------------------------------------------------------------------------

BOARD = (("2ann1", 3, 2), (1, 1), ("0ann2", 0, "0bob1"), (0, 0, 0, "0bob2"))


def test_a_person_is_offered_every_legal_turn_once() -> None:
    offered = choices("turn", {"board": BOARD, "me": "ann", "ok": None})
    legal = list(read_question("turn", (BOARD, "ann")).position.turns())

    assert len({text for text, _ in offered}) == len(offered) == len(legal) + 1
    assert Turn(1, 1, None) in legal
    assert (
        "worker 1 East to 0,1, height 3: you win",
        ("winning_request", {"worker": "ann1", "move": ("EAST", "PUT")}),
    ) in offered
    assert "worker 1 South to 1,0, height 1, build East on 1,1, then 2" in [text for text, _ in offered]
    assert offered[-1] == ("give up", ("give_up", {}))


def test_a_person_is_offered_steps_and_builds_apart_where_they_are_asked_for_apart() -> None:
    steps = choices("move", (("board", BOARD), ("me", "ann"), ("ok", None)))
    builds = choices("build", {"board": BOARD, "worker": "ann1", "ok": None})

    assert [text for text, _ in steps][:2] == [
        "worker 1 East to 0,1, height 3: you win",
        "worker 1 South to 1,0, height 1",
    ]
    assert [text for text, _ in builds] == [
        "build East on 0,1, then 4",
        "build South on 1,0, then 2",
        "build SouthEast on 1,1, then 2",
    ]
    assert builds[0][1] == ("build_request", {"x1": 0, "y1": 0, "x2": 1, "y2": 0, "check": False})


def test_a_person_is_offered_every_free_cell() -> None:
    for question, arguments in (
        ("placement", {"board": BOARD, "wid": 1}),
        ("placement", {"board": BOARD, "ok": None}),
        ("place", {"board": BOARD, "worker": "ann1", "ok": None}),
        ("placement", {"workers": (("ann1", 0, 0), ("bob1", 2, 2), ("ann2", 2, 0), ("bob2", 3, 3)), "me": "ann"}),
    ):
        texts = [text for text, _ in choices(question, arguments)]
        assert len(texts) == 32
        assert texts[0] == "0,1"
        assert "2,2" not in texts
