"""The event file: all that is wrong with one is told in one pass, with its place and a way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.players.program_limits import ProgramLimits
from runtime.tournament.event import EventError, read_event_text

GOOD = """event: spring cup
spec: tsuro
settings: {reply: 2 s}
seed: 7
format: {groups: 3..5, rounds: 6}
games: 2
at_once: 2
limits: {match: 5 min, tries: 2, start: 3 s, memory: 2 GiB, processes: 9, output: 1 MiB}
out_after: 3
points: [3, 2, 1]
ties: [head-to-head, buchholz, sonneborn-berger]
database: cup.db
players:
  ann: {command: python3 bot.py, folder: .}
  bob: {kind: strong}
  cyd: {kind: second}
"""
TWO = "spec: tsuro\nplayers: {a: {kind: x}, b: {kind: x}}\n"


def test_every_key_of_an_event_is_read(tmp_path: Path) -> None:
    event = read_event_text(GOOD, tmp_path / "cup.yaml")

    assert (event.name, event.spec, event.seed, event.games, event.at_once) == ("spring cup", "tsuro", 7, 2, 2)
    assert (event.format.kind, event.format.low, event.format.high, event.format.rounds) == ("groups", 3, 5, 6)
    assert (event.match_seconds, event.tries, event.out_after, event.points) == (300.0, 2, 3, (3.0, 2.0, 1.0))
    assert event.programs == ProgramLimits(3.0, 2 << 30, 9, 1 << 20)
    assert [(player.name, player.kind) for player in event.players] == [
        ("ann", "exec:python3 bot.py"), ("bob", "strong"), ("cyd", "second"),
    ]  # fmt: skip
    assert event.players[0].folder == tmp_path


def test_all_problems_come_in_one_pass_in_the_order_of_the_file(tmp_path: Path) -> None:
    bad = GOOD
    for old, new in (
        ("seed: 7", "sede: 7"),
        ("3..5", "5..3"),
        ("games: 2", "games: none"),
        ("5 min", "5 parsecs"),
        ("[3, 2, 1]", "[1, 2]"),
        ("buchholz", "bucholz"),
        ("folder: .", "folder: ./nowhere"),
        ("{kind: strong}", "{kind: strong, command: x}"),
        ("{kind: second}", "{kind: human}"),
    ):
        bad = bad.replace(old, new)

    with pytest.raises(EventError) as caught:
        read_event_text(bad, tmp_path / "cup.yaml")

    told = [str(problem).removeprefix(f"{tmp_path}/cup.yaml:") for problem in caught.value.problems]
    assert [text.partition(":")[0] for text in told] == ["4", "5", "6", "8", "10", "11", "14", "15", "16"]
    assert "did you mean 'seed'?" in told[0]
    assert "did you mean 'buchholz'?" in told[5]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the file is empty"),
        ("[]", "an event file is a mapping"),
        ("event: x\n", "'spec' is missing"),
        ("spec: tsuro\nplayers: {ann: {kind: x}}\n", "2 players or more"),
        ("spec: tsuro\nplayers: {a: {kind: x}, b: {kind: x}}\nformat: {swiss: 4}\n", "have met one another after 1"),
        ("spec: tsuro\nplayers: {a: {kind: x}, b: {kind: x}}\nformat: {gauntlet: [c]}\n", "there is no player 'c'"),
        ("spec: tsuro\nplayers: {a: {kind: x}, a: {kind: x}}\n", "stands twice"),
        ("spec: tsuro\nplayers: {a: {kind: x}, b: {kind: x}}\nformat: swiss\n", "swiss says more than its name"),
        (f"{TWO}limits: {{memory: 512}}\n", "'512' is no memory of a program .like 1024 MiB, 2 GiB"),
        (f"{TWO}limits: {{output: 0 MiB}}\n", "'0 MiB' is no output of a program"),
        (f"{TWO}limits: {{start: soon}}\n", "'soon' is no time for 'start' .like 10 s"),
        ("spec: [\n", "cup.yaml:"),
    ],
)
def test_what_cannot_be_an_event_is_refused_in_a_sentence(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(EventError, match=says):
        read_event_text(text, tmp_path / "cup.yaml")
