"""Replays: a journal's inputs lead to what was recorded, and whatever was tampered with is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from machines.effects import Effect
from machines.engine.session import Program, Session
from machines.parser.loader import load, rules_modules
from runtime.cli import main
from runtime.journal.reading import read_journal
from runtime.journal.replay import ReplayError, replay, spec_hash
from runtime.journal.writing import FORMAT, Head, Journal, open_journal

CHAT = Path(__file__).resolve().parent.parent / "specs" / "chat.yaml"
TSURO = Program(load("tsuro"), "server", rules_modules(load("tsuro")))


def head(spec: str = "tsuro", role: str = "server") -> Head:
    return Head(FORMAT, "1", spec, spec, spec_hash(spec), role, 5)


class Recorder:
    """A session driven by hand, with its journal."""

    def __init__(self, program: Program, journal: Journal) -> None:
        self.session = Session(program, seed=5)
        self.journal = journal
        self.now = 100.0
        self.peers = 0
        self.input("start", self.session.start(self.now), seed=5)

    def input(self, kind: Any, effects: list[Effect], **what: Any) -> None:
        self.journal.write(kind, self.now, self.session.took, effects, **what)

    def connect(self) -> None:
        number, effects = self.session.connect(self.now)
        self.peers += 1
        self.input("connect", effects, peer=number)

    def say(self, peer: int, data: bytes) -> None:
        if peer < self.peers:
            self.input("bytes", self.session.receive(peer, data, self.now), peer=peer, data=data)

    def lose(self, peer: int) -> None:
        if peer < self.peers:
            self.input("lost", self.session.lose(peer, self.now), peer=peer)

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.input("tick", self.session.tick(self.now))


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """The journal of a game in which the three players who join are silent."""
    journal = open_journal(tmp_path / "run.jsonl", head())
    run = Recorder(TSURO, journal)
    for peer in range(3):
        run.connect()
        run.say(peer, b'"player%d"\n' % peer)
    while run.session.ended is None:
        run.wait(30)
    assert run.session.ended is not None
    journal.close()
    return journal.path


def rewrite(path: Path, change: Callable[[list[dict[str, Any]]], None]) -> Path:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    change(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_replay_agrees_with_its_run(recorded: Path) -> None:
    result = replay(recorded)

    assert result.difference is None
    assert (result.inputs, result.sessions, result.complete) == (len(read_journal(recorded).lines), 1, True)
    assert [ending.value["cheaters"] for ending in result.endings] == [["player0", "player1", "player2"]]


def test_a_run_whose_settings_would_be_a_problem_of_the_spec_is_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, hurried = str(tmp_path / "run.jsonl"), ["--set", "reply=20s", "--seed", "1"]
    assert main(["check", "sticks", "--set", "reply=20s"]) == 2
    assert "A346" in capsys.readouterr().out
    assert main(["play", "sticks", *hurried, "-q", "--journal", path]) == 0
    assert replay(Path(path)).difference is None


STEPS = st.one_of(
    st.tuples(st.just("connect")),
    st.tuples(st.just("say"), st.integers(0, 5), st.sampled_from([b'"a"\n', b"[1,", b"2]\n", b"\xff", b"\n", b"{}\n"])),
    st.tuples(st.just("say"), st.integers(0, 5), st.binary(max_size=12)),
    st.tuples(st.just("lose"), st.integers(0, 5)),
    st.tuples(st.just("wait"), st.floats(0, 20)),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(steps=st.lists(STEPS, max_size=40))
def test_any_run_is_replayed_value_for_value(steps: list[tuple[Any, ...]], tmp_path: Path) -> None:
    journal = open_journal(tmp_path, head())
    run = Recorder(TSURO, journal)
    for name, *arguments in steps:
        if run.session.ended is None:
            getattr(run, name)(*arguments)
    journal.close()

    assert replay(journal.path).difference is None


def test_changed_bytes_are_found(recorded: Path) -> None:
    def change(lines: list[dict[str, Any]]) -> None:
        assert lines[3]["raw"] == '"player0"\n'
        lines[3]["raw"] = "no JSON\n"

    difference = replay(rewrite(recorded, change)).difference

    assert difference is not None
    assert (difference.line, difference.part) == (4, "took")


def test_a_changed_effect_is_found(recorded: Path) -> None:
    def change(lines: list[dict[str, Any]]) -> None:
        lines[3]["out"][0][3] = '"black"\n'

    difference = replay(rewrite(recorded, change)).difference

    assert difference is not None
    assert str(difference).startswith("line 4: the effects differ: recorded [['send', 0, 'TOKEN', '\"black\"\\n']")


def test_a_changed_stamp_is_found(recorded: Path) -> None:
    def change(lines: list[dict[str, Any]]) -> None:
        lines[8]["t"] = 100.0

    assert replay(rewrite(recorded, change)).difference is not None


def test_a_run_that_died_is_replayed_as_far_as_it_went(recorded: Path) -> None:
    recorded.write_bytes(recorded.read_bytes()[:-100])

    result = replay(recorded)

    assert result.difference is None
    assert not result.complete


def copy_of_chat(tmp_path: Path) -> Path:
    path = tmp_path / "chat.yaml"
    path.write_bytes(CHAT.read_bytes())
    return path


def chat_journal(spec: Path) -> Path:
    loaded = load(str(spec))
    role = loaded.listeners()[0]
    journal = open_journal(spec.parent / "chat.jsonl", head(str(spec), role))
    run = Recorder(Program(loaded, role, {}), journal)
    run.connect()
    journal.close()
    return journal.path


def test_a_spec_that_has_changed_is_refused_unless_forced(tmp_path: Path) -> None:
    spec = copy_of_chat(tmp_path)
    journal = chat_journal(spec)
    assert replay(journal).difference is None
    spec.write_text(spec.read_text() + "# another word\n")

    with pytest.raises(ReplayError, match="is not the spec that ran"):
        replay(journal)
    assert replay(journal, force=True).difference is None


def test_the_same_spec_elsewhere_may_stand_in(tmp_path: Path) -> None:
    spec = copy_of_chat(tmp_path)
    journal = chat_journal(spec)
    spec.unlink()

    assert replay(journal, str(CHAT)).difference is None


def test_the_hash_covers_the_specs_that_are_extended(tmp_path: Path) -> None:
    copy_of_chat(tmp_path)
    child = tmp_path / "child.yaml"
    child.write_text("extends: chat\nprotocol: child\n")
    before = spec_hash(str(child))
    (tmp_path / "chat.yaml").write_text(CHAT.read_text() + "# another word\n")

    assert spec_hash(str(child)) != before


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda lines: lines.pop(1), "line 2: this session has not started: a line before it is missing"),
        (lambda lines: lines[3].update(peer=9), "line 4: this input cannot follow on those before it"),
        (lambda lines: lines[0].update(role="client7"), "the journal is of the role 'client7'"),
    ],
)
def test_a_journal_that_does_not_hang_together_is_refused(
    change: Callable[[list[dict[str, Any]]], None], text: str, recorded: Path
) -> None:
    with pytest.raises(ReplayError, match=text):
        replay(rewrite(recorded, change))


def test_settings_of_the_run_are_those_of_the_replay(tmp_path: Path) -> None:
    narrowed = {"seats": "3..3"}
    spec = load("tsuro", narrowed)
    first = head()
    first.settings = narrowed
    journal = open_journal(tmp_path / "run.jsonl", first)
    run = Recorder(Program(spec, "server", rules_modules(spec)), journal)
    for peer in range(3):
        run.connect()
        run.say(peer, b'"a"\n')
    journal.close()
    assert any("STARTED" in str(line.out) for line in read_journal(journal.path).lines)

    assert replay(journal.path).difference is None
