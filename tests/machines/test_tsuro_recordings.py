"""The recorded games of the document's own origin, played against our server and read by our client.

The recordings lie beside the checkout; see their README for what each holds.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import rules.tsuro
from machines.parser.loader import load
from machines.values import freeze
from rules.players.tsuro import PLAYERS
from tests.support.session_harness import Run
from tests.support.shared import SHARED, needs_shared

pytestmark = needs_shared

TRANSCRIPTS = SHARED / "cases" / "tsuro" / "transcripts"
GAMES = sorted(path.stem for path in (TRANSCRIPTS / "origin").glob("*.jsonl"))
MISUSES = sorted(path.stem for path in (TRANSCRIPTS / "origin-misuse").glob("*.jsonl"))
RULES = {"tsuro": rules.tsuro}
CULPRIT = 2  # the connection that misbehaves


def recording(kind: str, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (TRANSCRIPTS / kind / f"{name}.jsonl").read_text().splitlines()]


def server() -> Run:
    return Run(load("tsuro"), "server", RULES)


def test_there_are_seven_games_and_29_misuses() -> None:
    assert (len(GAMES), len(MISUSES)) == (7, 29)


@pytest.mark.parametrize("name", GAMES)
def test_our_server_says_what_the_recorded_server_said(name: str) -> None:
    run = server()
    expected: dict[int, list[Any]] = {}
    got: dict[int, list[Any]] = {}
    for line in recording("origin", name):
        run.wait(line["t"] - run.now)
        conn = line["conn"]
        if line.get("event") == "open":
            assert run.join() == conn
        elif line.get("dir") == "s2c" and "msg" in line:
            expected.setdefault(conn, []).append(line["msg"])
        elif line.get("dir") == "c2s" and "msg" in line:
            run.say(conn, line["msg"])
        for peer in range(len(run.session.seats)):
            got.setdefault(peer, []).extend(run.heard(peer))

    assert got == expected
    assert run.ended is not None
    assert run.ended.failed is None


@pytest.mark.parametrize("name", GAMES)
def test_our_client_reads_the_recorded_server_and_says_what_the_recorded_client_said(name: str) -> None:
    """Each recorded client in turn: fed its server's messages, asked its own questions, answering as it did."""
    lines = recording("origin", name)
    for conn in sorted({line["conn"] for line in lines}):
        mine = [line for line in lines if line["conn"] == conn and "msg" in line]
        said = [line["msg"] for line in mine if line["dir"] == "c2s"]
        client = Run(load("tsuro"), "client", RULES, my={"name": said[0]})
        sent = client.heard(0)
        answers = iter(said[1:])
        for line in mine:
            if line["dir"] == "s2c":
                client.say(0, line["msg"])
                if client.questions:
                    client.answer(next(answers))
                sent += client.heard(0)

        assert sent == said
        assert client.ended is not None
        assert client.ended.failed is None
        ended = mine[-1]["msg"]
        assert client.ended.value == freeze({"winners": ended[0], "losers": ended[1]})


class Table:
    """Five clients at our server: each says what was recorded until the misuse, then plays by a strategy."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines = recording("origin-misuse", name)
        self.run = server()
        self.said: dict[int, list[dict[str, Any]]] = {}
        for line in self.lines:
            if line.get("dir") == "c2s" and ("msg" in line or "raw" in line):
                self.said.setdefault(line["conn"], []).append(line)
        self.tokens: dict[int, str] = {}
        self.ended: dict[int, Any] = {}
        self.asked: dict[int, int] = {}
        self.misused = False
        self.strategies = {conn: PLAYERS["second"](f"p{conn}", 1) for conn in range(6)}

    def bad_answer(self) -> int:
        """Which answer of the culprit's is bad: its first placement, or its second later one."""
        return 1 if self.name.startswith("init") else 3

    def sign_up(self) -> None:
        """Let all come as recorded. Where the recorded server had died by then, the later ones come all the same."""
        for line in self.lines:
            conn = line["conn"]
            if line["t"] > 30:
                return  # the recorded server hung, and its clients gave up in the end
            self.run.wait(max(0.0, line["t"] - self.run.now))
            if line.get("event") == "open":
                self.run.join()
                if conn > CULPRIT and conn not in self.said:
                    self.run.say(conn, f"p{conn}")
            elif line is self.said.get(conn, [None])[0]:
                self.utter(line)
            elif line.get("event") == "eof" and line["dir"] == "c2s" and conn == CULPRIT and conn not in self.said:
                self.run.lose(CULPRIT)
            if self.started():
                return

    def started(self) -> bool:
        return any(message == "STARTED" for _, message in self.run.all_sent)

    def utter(self, line: dict[str, Any]) -> None:
        if "raw" in line:
            self.run.write(line["conn"], line["raw"].encode())
        else:
            self.run.say(line["conn"], line["msg"])

    def play(self) -> None:
        """Answer whoever is asked until the server is done; silence costs time."""
        idle = 0
        while self.run.ended is None and idle < 120:
            moved = False
            for conn in range(len(self.run.session.seats)):
                for message in self.run.heard(conn):
                    moved = True
                    self.hear(conn, message)
            idle = 0 if moved else idle + 1
            if not moved:
                self.run.wait(1.0)
        for conn in range(len(self.run.session.seats)):
            for message in self.run.heard(conn):
                self.hear(conn, message)

    def hear(self, conn: int, message: Any) -> None:
        if isinstance(message, str):
            if message != "started":
                self.tokens[conn] = message
        elif len(message) == 3:
            self.ended[conn] = message
        else:
            self.asked[conn] = self.asked.get(conn, 0) + 1
            self.reply(conn, freeze(message))

    def reply(self, conn: int, request: Any) -> None:
        turn = self.asked[conn]
        recorded = self.said.get(conn, [])
        misuse = conn == CULPRIT and turn == self.bad_answer() and self.name.startswith(("init", "inter"))
        if misuse:
            self.misused = True
            if self.name.endswith("drop"):
                self.run.lose(conn)
                return
            if self.name.endswith("silent"):
                return
            for line in recorded[turn : turn + 2 if self.name.endswith("twice") else turn + 1]:
                self.utter(line)
            return
        if not self.misused and self.name.startswith(("init", "inter")) and turn < len(recorded):
            self.utter(recorded[turn])
            return
        board, hand = request
        strategy: Any = self.strategies[conn]
        asked = strategy.initial if len(hand) == 3 else strategy.intermediate
        name, fields = asked(board, hand, self.tokens[conn])
        keys = ("token", "tile", "port", "x", "y") if name == "INIT_PLACE" else ("tile", "x", "y")
        self.run.say(conn, [fields[key] for key in keys])


EXPELLED = [name for name in MISUSES if name.startswith(("init", "inter"))]


@pytest.mark.parametrize("name", EXPELLED)
def test_a_bad_placement_expels_the_player_and_nobody_else(name: str) -> None:
    table = Table(name)
    table.sign_up()
    table.play()

    assert table.misused
    assert table.run.ended is not None
    assert table.run.ended.failed is None
    assert table.run.ended.value["cheaters"] == ("p2",)
    winners, losers, _ = table.ended[0]
    assert losers == ["p2"]
    assert sorted(name for group in winners for name in group) == ["p0", "p1", "p3", "p4"]
    # Of two replies the first is good and counts; the second, which nobody asked for, meets the next request.
    assert table.asked[CULPRIT] == table.bad_answer() + (1 if name == "inter-twice" else 0)
    still_there = {0, 1, 3, 4} if name.endswith("drop") else {0, 1, 2, 3, 4}
    assert set(table.ended) == still_there, "an expelled player who is still there hears the end"


@pytest.mark.parametrize("name", ["join-array", "join-bare", "join-number", "join-drop"])
def test_a_bad_sign_up_takes_no_seat_and_holds_nobody_up(name: str) -> None:
    table = Table(name)
    table.sign_up()
    table.play()

    assert table.run.ended is not None
    assert table.run.ended.failed is None
    value = table.run.ended.value
    assert value["cheaters"] == ()
    assert [player["name"] for player in value["players"]] == ["p0", "p1", "p3", "p4"]
    assert table.tokens == {0: "white", 1: "black", 3: "red", 4: "green"}
    if name != "join-drop":
        assert CULPRIT in table.run.dropped


def test_a_slow_sign_up_holds_nobody_up_and_takes_the_last_seat() -> None:
    table = Table("join-slow")
    table.sign_up()
    table.play()

    assert table.tokens == {0: "white", 1: "black", 3: "red", 4: "green", 2: "blue"}
    assert table.run.ended is not None
    assert table.run.ended.value["cheaters"] == ()


def test_an_empty_name_is_a_name() -> None:
    table = Table("join-empty")
    table.sign_up()
    table.play()

    assert table.run.ended is not None
    assert [player["name"] for player in table.run.ended.value["players"]] == ["p0", "p1", "", "p3", "p4"]
    assert table.run.ended.value["cheaters"] == ()


def test_a_sixth_client_is_closed_at_once_and_the_game_goes_on() -> None:
    table = Table("sixth-client")
    table.sign_up()
    sixth = table.run.join()

    assert table.run.dropped == {sixth: "the door is shut"}

    table.play()

    assert table.run.ended is not None
    assert table.run.ended.value["cheaters"] == ()
    assert sorted(table.ended) == [0, 1, 2, 3, 4]
