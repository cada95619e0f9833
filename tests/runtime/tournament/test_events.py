"""Whole events by ``accord tournament``: from the file to the table, stopped and gone on with, the same by the seed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")

CUP = """
event: spring cup
spec: sticks
settings: {reply: 2 s, think: 1500 ms, again: 1000}
seed: 7
FORM
players:
  ann: {kind: random}
  bob: {kind: random}
  cyd: {kind: gone}
  dan: {kind: random}
  eve: {kind: random}
"""


def accord(*words: str) -> tuple[int, str, str]:
    """Run a command in a process of its own, as it is for a person: it starts processes in turn."""
    done = subprocess.run([sys.executable, "-m", "runtime", "tournament", *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def event(folder: Path, form: str, name: str = "cup") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.yaml"
    path.write_text(CUP.replace("FORM", form))
    return path


def played(path: Path, *words: str) -> dict[str, Any]:
    code, said, told = accord("run", str(path), "--json", "--quiet", *words)
    assert (code, told) == (0, "")
    facts: dict[str, Any] = json.loads(said)
    return facts


def winners(facts: dict[str, Any]) -> list[tuple[str, list[tuple[str, int]]]]:
    return [(match["match"], [(one["player"], one["place"]) for one in match["places"]]) for match in facts["matches"]]


@pytest.mark.parametrize(
    ("form", "matches"),
    [
        ("games: 2", 20),
        ("format: {gauntlet: [ann]}", 4),
        ("format: knockout", 4),
        ("format: {swiss: 3}", 6),
        ("format: {groups: 2..3, rounds: 2}", 4),
    ],
)
def test_an_event_of_each_form_is_played_to_its_end_the_same_by_the_seed(
    form: str, matches: int, tmp_path: Path
) -> None:
    facts = played(event(tmp_path / "one", form))

    assert (facts["planned"], facts["played"], facts["void"]) == (matches, matches, [])
    assert winners(played(event(tmp_path / "other", f"at_once: 1\n{form}"))) == winners(facts)
    for match in facts["matches"]:
        faults = {one["player"] for one in match["places"] if one["fault"]}
        assert faults == {"cyd"} & set(match["seats"])
        assert all(one["place"] == len(match["seats"]) for one in match["places"] if one["fault"])


def test_an_event_goes_on_where_it_was_and_a_changed_file_is_refused(tmp_path: Path) -> None:
    path = event(tmp_path, "format: {swiss: 3}")
    facts = played(path)

    assert played(path) == facts
    path.write_text(path.read_text().replace("eve:", "fay:"))
    code, _, told = accord("run", str(path))
    assert (code, "the event's file changed" in told) == (1, True)


def test_what_a_person_decides_is_kept_with_its_reason(tmp_path: Path) -> None:
    path = event(tmp_path, "games: 1")
    before = played(path)
    assert accord("drop", str(path), "nobody", "--why", "x")[0] == 2
    assert accord("drop", str(path), "cyd")[0] == 2  # a decision has a reason
    code, _, told = accord("again", str(path), "r1-1", "--why", "the power went")
    assert (code, told) == (0, f"r1-1 is to be played again; accord tournament run {path} goes on\n")
    code, said, _ = accord("show", str(path), "--json")
    assert (code, json.loads(said)["played"]) == (0, 9)

    assert winners(played(path)) == winners(before)  # the match has its own seed
    assert accord("again", str(path), "cyd", "--why", "a new program")[0] == 0
    assert json.loads(accord("show", str(path), "--json")[1])["played"] == 6
    facts = played(path)
    assert winners(facts) == winners(before)
    assert [decision["about"] for decision in facts["decisions"]] == ["r1-1", "cyd"]
    assert "results were: of " in facts["decisions"][1]["why"]
    code, _, told = accord("again", str(path), "r9-9", "--why", "x")
    assert (code, "there is no match 'r9-9', and no player with any" in told) == (1, True)
    assert "did you mean 'cyd'?" in accord("drop", str(path), "cid", "--why", "x")[2]


def test_show_prints_the_table_and_what_each_is_to_be_told(tmp_path: Path) -> None:
    path = event(tmp_path, "games: 1")
    played(path)

    code, said, _ = accord("show", str(path))

    assert code == 0
    lines = said.splitlines()
    assert lines[0] == "spring cup: 10 of 10 matches, round 5"
    assert lines[1].split() == ["player", "points", "head-to-head", "sonneborn-berger", "played", "rating", "faults"]
    assert lines[6].split()[:3] == ["5", "cyd", "0"]
    assert any(line.startswith("cyd: 4 faults") for line in lines)
    assert any("closed: it closed the connection, asked LEFT" in line for line in lines)


def test_show_live_shows_each_change_until_the_event_is_over(tmp_path: Path) -> None:
    path = event(tmp_path, "format: {gauntlet: [ann]}\nat_once: 1")
    words = [sys.executable, "-m", "runtime", "tournament", "show", str(path), "--live", "--no-ratings", "--rounds"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as live:
        assert live.stdout is not None
        first = live.stdout.readline()
        played(path)
        rest = live.stdout.read()

    assert live.returncode == 0
    assert first == "spring cup: nothing is played yet, accord tournament run begins\n"
    tables = [line for line in rest.splitlines() if line.startswith("spring cup")]
    assert tables[-1] == "spring cup: 4 of 4 matches, round 4"
    assert accord("show", str(path), "--live", "--no-ratings")[:2] == (
        0,
        accord("show", str(path), "--no-ratings")[1] + "\n",
    )
    assert accord("run", str(path), "--live")[0] == 2


KILLER = """
import json, os, signal, sys
for line in sys.stdin:
    if "ask" in json.loads(line):
        os.kill(os.getppid(), signal.SIGKILL)
"""
HONEST = """
import json, sys
for line in sys.stdin:
    said = json.loads(line)
    if "ask" in said:
        print("a word to my author", file=sys.stderr, flush=True)
        print(json.dumps("take 1"), flush=True)
"""
PROGRAMS = """
spec: sticks
settings: {sticks: 9}
seed: 7
limits: {folder: 1 MiB}
players:
  ann: {command: PYTHON honest.py}
  bob: {command: PYTHON killer.py}
  cyd: {command: PYTHON honest.py}
"""


def programs(folder: Path) -> Path:
    (folder / "killer.py").write_text(KILLER)
    (folder / "honest.py").write_text(HONEST)
    path = folder / "cup.yaml"
    path.write_text(PROGRAMS.replace("PYTHON", sys.executable))
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="a program's parent is looked for")
def test_who_kills_the_process_of_its_match_is_last_in_it_and_nobody_else_is_harmed(tmp_path: Path) -> None:
    path = programs(tmp_path)
    facts = played(path)

    assert (facts["played"], facts["void"]) == (3, [])
    places = {match["match"]: {one["player"]: one for one in match["places"]} for match in facts["matches"]}
    for seats in places.values():
        faults = {name for name, one in seats.items() if one["fault"]}
        assert faults == {"bob"} & set(seats)
        if "bob" in seats:
            assert "the process of its match was lost 3 times with its program alone" in seats["bob"]["fault"]
            assert [one["place"] for name, one in seats.items() if name != "bob"] == [1]
    assert winners(played(path)) == winners(facts)  # nothing is played again


@pytest.mark.skipif(sys.platform != "linux", reason="a program's parent is looked for")
def test_each_player_has_a_folder_of_each_match_with_what_was_said_and_they_are_handed_out(tmp_path: Path) -> None:
    path = programs(tmp_path)
    facts = played(path)
    match = next(one for one in facts["matches"] if set(one["seats"]) == {"ann", "cyd"})
    folders = {one["player"]: tmp_path / "cup-matches" / one["folder"] for one in match["places"]}

    for name, folder in folders.items():
        said = (folder / "conversation.txt").read_text()
        assert re.search(r"^ +\d+\.\d{3} s  it said +take 1$", said, re.MULTILINE)
        assert "it was sent" in said
        assert "a word to my author" in (folder / "stderr.txt").read_text(), name
    assert {one["folder"] for other in facts["matches"] if "bob" in other["seats"] for one in other["places"]} == {None}
    assert accord("export", str(path), "-o", str(tmp_path / "out"), "--format", "folders")[0] == 0
    handed = tmp_path / "out" / "players" / "ann" / match["match"] / "conversation.txt"
    assert handed.read_text() == (folders["ann"] / "conversation.txt").read_text()
