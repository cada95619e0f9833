"""A person at the terminal: lines in, text out; a question can be overtaken, and no line is lost by that."""

from __future__ import annotations

import io
import os
import queue
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from machines.effects import Ended
from machines.model import Spec
from machines.parser.loader import load
from rules.tsuro_board import TILES, Board, turned
from rules.views.tsuro_steps import tile_lines
from runtime.commands.results import news_lines, result_lines
from runtime.players import person_answers, terminal
from runtime.players.base import DecisionError, UnknownPlayerError
from runtime.players.terminal import PAGE, Terminal, TerminalPlayer
from tests.support.session_harness import spec_of

pytestmark = pytest.mark.anyio
TSURO = load("tsuro")
SPEC = spec_of("""
protocol: stall
title: a market stall
connects: {guest: stall}
types:
  Colour: {enum: [red, green]}
  Word: {string: "[a-z]+"}
  Pair: [int, int]
  Thing: Colour | Pair
  Things: [Thing, ...]
messages:
  guest:
    BUY: {buy: $what Colour, pieces: $pieces int = 1, note: $note Word = none}
    SAY: "say ${text string}."
    LIST: {list: $things Things}
roles:
  stall:
    main:
      open: {return: null}
  guest:
    main:
      come: {return: null}
""")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    backend: str = request.param
    return backend


class Desk:
    """A terminal whose keyboard is a list and whose screen is a text."""

    def __init__(self, *lines: str, interactive: bool = False, more: bool = False) -> None:
        self.keys: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.screen = io.StringIO()
        self.reads = 0
        self.terminal = Terminal(self.read, self.screen.write, interactive=interactive)
        for line in lines:
            self.type(line)
        if not more:
            self.keys.put("")

    def read(self) -> str:
        self.reads += 1
        return self.keys.get()

    def type(self, line: str) -> None:
        self.keys.put(line + "\n")

    @property
    def shown(self) -> str:
        return self.screen.getvalue()


def person(desk: Desk, spec: Spec = SPEC) -> TerminalPlayer:
    return TerminalPlayer(spec, "ann", desk.terminal)


async def asked(desk: Desk, *messages: str, **arguments: Any) -> Any:
    return await person(desk).decide("what_now", tuple(arguments.items()), messages, 30.0)


async def test_the_fields_of_a_message_are_filled_in_one_by_one() -> None:
    desk = Desk("red", "3", "fresh")

    assert await asked(desk, "BUY") == ("BUY", {"what": "red", "pieces": 3, "note": "fresh"})
    assert "ann, what_now (30 s)" in desk.shown
    assert "what, one of red, green: " in desk.shown


async def test_what_does_not_fit_is_asked_for_again() -> None:
    desk = Desk("blue", "red", "x", "2.5", "7", "UPPER", "")

    assert await asked(desk, "BUY") == ("BUY", {"what": "red", "pieces": 7, "note": "none"})
    assert desk.shown.count("that is not it: ") == 4


async def test_enter_takes_what_the_question_said_of_the_same_name() -> None:
    desk = Desk("", "", "")

    assert await asked(desk, "BUY", what="green") == ("BUY", {"what": "green", "pieces": 1, "note": "none"})
    assert "[Enter: green]" in desk.shown


async def test_a_line_is_a_text_where_a_text_is_wanted_and_json_elsewhere() -> None:
    assert await asked(Desk("42"), "SAY") == ("SAY", {"text": "42"})
    assert await asked(Desk('["red", [1, 2]]'), "LIST") == ("LIST", {"things": ("red", (1, 2))})


async def test_a_message_is_chosen_among_several() -> None:
    desk = Desk("9", "2", "hello")

    assert await asked(desk, "BUY", "SAY") == ("SAY", {"text": "hello"})
    assert "there are 1 to 2" in desk.shown


async def test_a_text_that_its_message_cannot_hold_is_asked_for_again() -> None:
    desk = Desk("a.b", "ab")

    assert await asked(desk, "SAY") == ("SAY", {"text": "ab"})
    assert "SAY cannot be written so" in desk.shown


async def test_a_terminal_that_has_ended_is_no_answer() -> None:
    desk = Desk("red")
    with pytest.raises(DecisionError, match=r"^ann left the game \(the terminal's input has ended\)$"):
        await asked(desk, "BUY")

    assert desk.shown.endswith(": \n"), "what is told of it begins a line"


async def test_who_left_is_not_asked_again() -> None:
    desk = Desk("quit", "red", more=True)
    ann = person(desk)
    for _ in range(2):
        with pytest.raises(DecisionError, match=r"^ann left the game \(quit\)$"):
            await ann.decide("what_now", (), ("BUY",), None)

    assert desk.shown.count("what_now") == 1
    desk.keys.put("")


async def test_words_to_the_terminal_are_texts_where_a_text_is_wanted() -> None:
    assert await asked(Desk("quit"), "SAY") == ("SAY", {"text": "quit"})
    assert await asked(Desk("red", "", "help"), "BUY") == ("BUY", {"what": "red", "pieces": 1, "note": "help"})


async def test_a_question_that_is_overtaken_loses_no_line() -> None:
    desk = Desk(more=True)
    with anyio.move_on_after(0.01) as scope:
        await asked(desk, "SAY")
    assert scope.cancelled_caught
    desk.type("for the next one")

    assert await asked(desk, "SAY") == ("SAY", {"text": "for the next one"})
    desk.keys.put("")


async def test_that_it_was_too_late_is_told_once_and_only_when_the_game_goes_on() -> None:
    desk = Desk(more=True)
    ann = person(desk)
    with anyio.move_on_after(0.01):
        await ann.decide("move", (), ("SAY",), None)
    assert "too late" not in desk.shown, "it may have been Ctrl-C"
    ann.heard("NEWS", {})
    ann.heard("NEWS", {})

    assert desk.shown.endswith("\n(too late: the question move is closed)\nann is told NEWS\nann is told NEWS\n")
    desk.keys.put("")


async def test_what_was_typed_before_a_question_is_not_its_answer_at_a_real_terminal() -> None:
    desk = Desk(interactive=True, more=True)
    assert await asked_once_typed(desk, "first") == ("SAY", {"text": "first"})
    desk.type("stray")
    with anyio.fail_after(5):
        while desk.reads < 3:  # the third read begins when the stray line has been taken in
            await anyio.sleep(0.001)

    assert await asked_once_typed(desk, "second") == ("SAY", {"text": "second"})
    desk.keys.put("")


async def asked_once_typed(desk: Desk, line: str) -> Any:
    """Type a line once the question is shown."""
    answer: Any = None

    async def ask() -> None:
        nonlocal answer
        answer = await asked(desk, "SAY")

    before = desk.shown.count("text, ")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        with anyio.fail_after(5):
            while desk.shown.count("text, ") == before:
                await anyio.sleep(0.001)
        desk.type(line)
    return answer


async def test_two_people_at_one_terminal_are_asked_one_after_the_other() -> None:
    desk = Desk("one", "two")
    answers: list[Any] = []

    async def ask(name: str) -> None:
        answers.append(await TerminalPlayer(SPEC, name, desk.terminal).decide("say", (), ("SAY",), None))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, "ann")
        tasks.start_soon(ask, "bob")

    assert sorted(text["text"] for _, text in answers) == ["one", "two"]
    assert desk.shown.count("text, ") == 2


def with_game(monkeypatch: pytest.MonkeyPatch, choices: list[tuple[str, Any]], **more: str) -> None:
    players = SimpleNamespace(choices=lambda question, arguments: choices)
    views = SimpleNamespace(shown=lambda message, fields: f"<{message}>" if message != "HELLO" else None, **more)
    modules = {"players": [players], "views": [views]}
    for module in (terminal, person_answers):
        monkeypatch.setattr(module, "companions", lambda spec, folder: modules[folder])


async def test_legal_choices_are_picked_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    with_game(monkeypatch, [("go left", ("GO", {"x": -1})), ("go right", ("GO", {"x": 1}))])
    desk = Desk("2")

    assert await asked(desk, "SAY") == ("GO", {"x": 1})
    assert "    2  go right" in desk.shown


async def test_many_choices_come_in_pages_and_are_found_by_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    with_game(
        monkeypatch, [(f"square {number} {'edge' if number % 30 == 0 else ''}", number) for number in range(1, 91)]
    )
    desk = Desk("", "no such word", "edge", "1000", "60")

    assert await asked(desk, "SAY") == 60
    assert f"square {PAGE} " in desk.shown.partition("Enter for page 2 of 5")[0]
    assert "square 40 " in desk.shown
    assert "none has 'no such word'" in desk.shown
    assert "there is no 1000: there are 1 to 90" in desk.shown


async def test_nonsense_is_answered_at_the_prompt_and_the_choices_are_not_shown_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_game(monkeypatch, [(f"square {number}", number) for number in range(1, 91)])
    desk = Desk("xyzzy", "0", "help", "7")

    assert await asked(desk, "SAY") == 7
    assert desk.shown.count("square 1\n") == 1
    prompt = "number, Enter for page 2 of 5, words to look for, help: "
    assert f"{prompt}none has 'xyzzy'\n{prompt}there is no 0: there are 1 to 90\n{prompt}" in desk.shown
    assert "quit      say this again, leave the game" in desk.shown


async def test_words_are_looked_for_together_and_enter_takes_the_only_one_left(monkeypatch: pytest.MonkeyPatch) -> None:
    squares = [(f"{x},{y} {how} turned", (x, y, how)) for x in range(9) for y in range(9) for how in ("left", "Right")]
    with_game(monkeypatch, squares)
    desk = Desk("right 3,4", "")

    assert await asked(desk, "SAY") == (3, 4, "Right")
    assert desk.shown.endswith("   64  3,4 Right turned\nnumber, Enter for this one, words to look for, all, help: ")


async def test_enter_takes_nothing_that_was_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with_game(monkeypatch, [("the only way", 1)])
    desk = Desk("", "only", "all", "", "way", "")

    assert await asked(desk, "SAY") == 1
    assert desk.shown.count("    1  the only way\n") == 6


async def test_a_choice_called_quit_can_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with_game(monkeypatch, [("SAY", "say"), ("QUIT", "quit")])

    assert await asked(Desk("quit", ""), "SAY") == "quit"


async def test_a_game_is_explained_before_the_first_question_and_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    with_game(monkeypatch, [("go left", 1), ("go right", 2)], EXPLANATION="left is west\n")
    desk = Desk("1", "2", "help", "2")
    ann = person(desk)
    for _ in range(2):
        await ann.decide("move", (), ("SAY",), None)
    assert desk.shown.count("left is west") == 1
    await ann.decide("move", (), ("SAY",), None)

    assert desk.shown.count("left is west") == 2


async def test_news_are_shown_as_the_game_shows_them_or_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    with_game(monkeypatch, [])
    desk = Desk()
    person(desk).heard("BOARD", {"x": 1})
    person(desk).heard("HELLO", {"name": "bob"})

    assert desk.shown == "<BOARD>\nann is told HELLO: name bob\n"


def test_a_file_is_read_line_by_line_without_the_buffer_of_python() -> None:
    reading, writing = os.pipe()
    os.write(writing, "one\r\nzwö".encode()[:-1])
    with os.fdopen(reading) as stream:
        read = terminal._line_reader(stream)
        assert read() == "one\r\n"
        os.write(writing, "zwö".encode()[-1:] + b"\nthe end")
        assert read() == "zwö\n"
        os.close(writing)
        assert read() == "the end"
        assert read() == ""


@pytest.mark.parametrize("stream", ["stdin", "stderr"])
def test_without_a_terminal_no_person_plays(stream: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.players.terminal._own", None)
    monkeypatch.setattr(sys, stream, None)

    with pytest.raises(UnknownPlayerError, match="needs standard input and standard error"):
        terminal.own_terminal()


HAND = (TILES[0], TILES[9], TILES[4])
FIRST = {"board": Board().wire, "hand": HAND, "token": "white"}


async def placed(desk: Desk, question: str = "initial", arguments: dict[str, Any] = FIRST) -> Any:
    return await person(desk, TSURO).decide(question, tuple(arguments.items()), ("INIT_PLACE", "INTER_PLACE"), 30.0)


async def test_a_first_placement_is_decided_in_steps_and_each_tile_is_drawn() -> None:
    desk = Desk("2", "90", "3,0 a")

    wanted = {"token": "white", "tile": turned(TILES[9]), "port": "A", "x": 3, "y": 0}
    assert await placed(desk) == ("INIT_PLACE", wanted)
    beside = [tile_lines(tile) for tile in HAND]
    assert all("   ".join(row) in desk.shown for row in zip(*beside, strict=True))
    assert all(line in desk.shown for quarters in range(4) for line in tile_lines(turned(TILES[9], quarters)))
    assert "\ntile, such as 1, words to look for, pages, help: " in desk.shown
    assert "\ndegrees to turn it by, such as 0, words to look for, back, pages, help: " in desk.shown
    assert "where you begin, such as 0,0 B, Enter for page 1 of 4, words to look for, back, pages, help: " in desk.shown
    assert "you stand at" not in desk.shown, "pages come on request only"


async def test_what_fits_nothing_in_a_step_is_told_and_enter_shows_its_pages() -> None:
    desk = Desk("4", "2", "45", "270", "", "", "9,4", "", "9,4d")

    _, fields = await placed(desk)
    assert (fields["port"], fields["x"], fields["y"]) == ("D", 9, 4)
    assert "there is no 4: there are 1 to 3\n" in desk.shown
    assert "there is no 45: there are 0, 90, 180, 270\n" in desk.shown
    assert desk.shown.count("0,0 A  you stand") == 1
    assert "Enter for page 2 of 4" in desk.shown
    assert "Enter for page 3 of 4" in desk.shown
    assert "9,4 C  you stand at" in desk.shown


async def test_a_step_with_one_way_is_not_asked_and_back_begins_again() -> None:
    desk = Desk("1", "back", "3", "0,1 h")

    _, fields = await placed(desk)
    assert (fields["tile"], fields["port"], fields["x"], fields["y"]) == (TILES[4], "H", 0, 1)
    assert desk.shown.count("tile, such as 1") == 2
    assert desk.shown.count("degrees to turn it by") == 1, "the third tile looks the same in each turn"


async def test_the_whole_choices_are_listed_on_request() -> None:
    desk = Desk("pages", "9,0 d: tile 3", "")

    _, fields = await placed(desk)
    assert (fields["tile"], fields["port"], fields["x"], fields["y"]) == (TILES[4], "D", 9, 0)
    assert f"{PAGE:>5}  " in desk.shown


async def test_a_later_placement_is_a_list_with_each_tile_as_it_will_lie() -> None:
    board = Board().put(TILES[0], 3, 0).enter("white", "A", 3, 0)
    desk = Desk("2")

    _, fields = await placed(
        desk, "intermediate", {"board": board.wire, "tiles": (TILES[9], TILES[4]), "token": "white"}
    )
    assert fields == {"tile": turned(TILES[9]), "x": 3, "y": 1}
    assert all(line in desk.shown for quarters in range(2) for line in tile_lines(turned(TILES[9], quarters)))
    assert "    2  3,1: tile 1 turned 90 degrees" in desk.shown
    assert desk.shown.endswith("\nnumber, words to look for, help: ")


ENDED = {"board": ([[None] * 10] * 10, []), "winners": [["bob"], ["ann"]], "losers": []}
TABLE = {"ranking": [["bob"], ["ann"]], "cheaters": [], "rounds": 1, "players": []}


async def test_a_ranking_that_a_person_has_read_is_not_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk()
    monkeypatch.setattr(terminal, "_own", desk.terminal)
    ann = person(desk, TSURO)
    ann.heard("TOKEN", {"token": "white"})
    before = news_lines(TSURO, Ended(TABLE, None), terminal.last_told())
    ann.heard("ENDED", ENDED)

    assert "  1. bob\n  2. ann\n" in desk.shown
    assert (
        before == result_lines(TSURO, Ended(TABLE, None)) == ["1. bob", "2. ann", "1 round after the first placements"]
    )
    assert news_lines(TSURO, Ended(TABLE, None), terminal.last_told()) == ["1 round after the first placements"]
    assert news_lines(TSURO, Ended(TABLE | {"ranking": [["ann"], ["bob"]]}, None), terminal.last_told())[0] == "1. ann"


@pytest.mark.parametrize(
    ("fields", "value", "lines"),
    [
        ({"winner": "bob"}, "bob", []),
        ({"winner": "bob", "by": 3}, {"winner": "bob", "by": 3}, []),
        ({"winner": "bob", "by": 3}, "bob", ['result: "bob"']),
        ({"won": True}, 1, ["result: 1"]),
    ],
)
def test_a_result_without_a_view_is_told_already_if_the_last_message_is_nothing_else(
    fields: dict[str, Any], value: Any, lines: list[str]
) -> None:
    assert news_lines(SPEC, Ended(value, None), [("ann is told so", fields)]) == lines


def test_a_result_is_told_once_where_both_streams_meet_and_whole_where_they_part(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "runtime", "play", "sticks", "--seed", "1", "--player", "human", "--no-journal"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}

    def play(errors: int) -> str:
        done = subprocess.run(
            words, input="1\n" * 30, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment, cwd=tmp_path
        )
        assert done.returncode == 0
        return done.stdout

    together, apart = play(subprocess.STDOUT), play(subprocess.DEVNULL)
    assert together.count("is told WINNER: winner player") == 1
    assert "result:" not in together
    assert apart.splitlines()[1].startswith('result: "player')
