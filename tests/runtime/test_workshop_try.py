"""``accord try``: what a person chooses is what the protocol does, may be taken back, and can be run again."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from machines.model import Spec
from machines.parser.loader import load, load_text
from runtime.cli import main
from runtime.commands.new import template
from runtime.journal.replay import replay
from runtime.playground.message_input import ChoiceError
from runtime.playground.repl import Repl
from runtime.playground.status import choices, state_lines

ROOT = Path(__file__).resolve().parents[2]
GAME = load_text(template("game"), "game.yaml")
RULED = """\
protocol: ruled
title: A protocol whose rules nobody has written
rules: [missing]
connects: {client: server}
settings: {reply: 5 s}
messages:
  client: {BID: $amount int}
  server: {ASK: $best int, OVER: $best int}
roles:
  server:
    main:
      door: {accept: hello(peer), as: peers, seats: 1, within: 1 min, timeout: {return: null}, then: begin}
      begin: {let: {table: missing.start(peers)}, then: asked}
      asked:
        send: {peers: "ASK(missing.best(table))"}
        await: peers
        within: reply
        receive:
          BID:
            - {if: "missing.over(table, amount)", send: OVER(amount), return: amount}
            - {then: stay}
        fault: {return: null}
    hello(peer):
      first: {await: peer, within: reply, receive: {BID: {return: {amount: amount}}}}
  client:
    main:
      always: {within: never, receive: {OVER: {return: best}}}
      begin: {let: {amount: 1}, send: BID(amount), then: waiting}
      waiting: {receive: {ASK: thinking}}
      thinking:
        ask: bid(best)
        receive: {BID: {send: BID, then: thinking}}
"""


class Paper:
    """A screen that keeps what is shown."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, str]] = []

    def show(self, kind: str, line: str) -> None:
        self.shown.append((kind, line))

    def ask(self, prompt: str) -> None:
        self.shown.append(("prompt", prompt))

    def lines(self, *kinds: str) -> list[str]:
        return [line for kind, line in self.shown if kind in kinds]


def tried(spec: Spec, *lines: str, strict: bool = True, **how: Any) -> tuple[Repl, Paper]:
    paper = Paper()
    desk = Repl(spec, lines, paper, strict=strict, **how)
    desk.run()
    return desk, paper


TWO = ("connect player ann", "connect player bob", "wait")


def test_a_whole_game_is_told_line_by_line() -> None:
    spec = load_text(template("game"), "game.yaml", settings={"sticks": "3"})
    desk, paper = tried(spec, *TWO, "answer ann TAKE count=2", "answer bob TAKE")

    told = paper.lines("sent", "heard", "asked")
    for line in (
        'ann -> host  JOIN  {"join":"ann"}',
        'host hears JOIN of ann: name "ann"',
        'host -> ann  TURN  {"left":3}',
        "ann is asked move: left 3",
        'host -> bob  OVER  {"winner":"bob"}',
    ):
        assert line in told
    assert paper.lines("ended") == [f'{name} is over, result: "bob"' for name in ("host", "ann", "bob")]
    assert state_lines(desk.trial) == [f'{name:<4}  over, result: "bob"' for name in ("host", "ann", "bob")]


def test_states_say_where_everybody_stands_and_what_each_waits_for() -> None:
    desk, _ = tried(GAME, *TWO, "hand player cyd", "wait 1500 ms")

    assert state_lines(desk.trial) == [
        "host  main.turn[0] in asked: waits for TAKE of ann; 8.5 s left",
        "ann   main in thinking: its player decides move: TAKE; 6.5 s left",
        "bob   main in waiting: waits for TURN of host; 568.5 s left",
        "cyd   gone",
    ]
    assert choices(desk.trial)[0] == "answer ann TAKE count=1"


def test_time_passes_to_the_next_clock_or_by_so_much() -> None:
    desk, paper = tried(GAME, *TWO, "wait", "wait 1 min")

    assert desk.trial.now == 30 + 8 + 60
    assert "ann: main in thinking: its time is up" in paper.lines("note")


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (("hand player bob", "say bob JOIN name=bob"), 'host hears JOIN of bob: name "bob"'),
        (("hand player bob", "say bob TAKE"), "host closes bob (its sign-up ended: unexpected)"),
        (("hand player bob", "raw bob {nonsense"), "host closes bob (its sign-up ended: malformed)"),
        (("connect player bob", "lose bob"), "the connection of bob and host is lost"),
        (("connect player ann", "connect bob", "wait", "say ann TAKE count=3"), "host hears TAKE of ann: count 3"),
        (("connect ann", "connect bob", "wait", "fail ann"), "ann: the player failed: it was chosen to fail"),
        (("connect ann", "say host to ann OVER winner=cyd"), 'ann hears OVER of host: winner "cyd"'),
    ],
)
def test_a_person_may_do_what_no_program_would(lines: tuple[str, ...], told: str) -> None:
    _, paper = tried(GAME, *lines)

    assert told in [line for _, line in paper.shown]


HELD = ("hold", *TWO[:2], "deliver ann to host", "deliver bob to host", "wait")


def test_what_is_held_on_the_way_waits_until_it_is_let_through() -> None:
    desk, paper = tried(GAME, *HELD)

    assert paper.lines("sent")[-1].startswith("host -> ann  TURN")
    assert {"deliver host to ann", "ring host"} <= set(choices(desk.trial))
    _, paper = tried(GAME, *HELD, "deliver host to ann")
    assert any(line.startswith("ann hears TURN") for line in paper.lines("heard"))


def test_a_clock_rings_for_one_party_while_its_answer_is_on_the_way() -> None:
    lines = (*HELD, "deliver host to ann", "answer ann TAKE count=1", "ring host", "deliver ann to host")
    desk, paper = tried(GAME, *lines)

    assert any(line.startswith("host: late") for line in paper.lines("note", "warning"))
    assert not any(line.startswith("host hears TAKE") for line in paper.lines("heard"))
    assert desk.trial.parties["host"].ahead > 0
    assert desk.trial.parties["ann"].ahead == 0


def test_a_connection_that_is_lost_is_missed_behind_what_was_said_before() -> None:
    _, paper = tried(GAME, "hold", "connect player ann", "lose ann", "deliver ann to host")
    assert any(line.startswith("host hears JOIN of ann") for line in paper.lines("heard"))

    with pytest.raises(ChoiceError, match="nothing waits on the way from ann to host"):
        tried(GAME, "hold", "connect player ann", "lose ann", *["deliver ann to host"] * 3)


def test_a_role_that_listens_may_be_played_by_hand() -> None:
    desk, paper = tried(
        GAME,
        "connect ann",
        "say host TURN left=4",
        "answer ann TAKE count=2",
        "say host OVER winner=ann",
        by_hand=["host"],
    )

    assert 'ann -> host  TAKE  {"take":2}' in paper.lines("sent")
    assert state_lines(desk.trial) == ["host  played by hand, connected to nobody", 'ann   over, result: "ann"']


WRONG = [
    ("conect ann", "nothing is known to be done with 'conect': did you mean 'connect'?"),
    ("connect host ann", "no role 'host' connects: player"),
    ("connect player 7", "'7' is no name"),
    ("connect player host", "the name 'host' is taken"),
    ("connect a b c", "connect takes a role and a name"),
    ("answer host TAKE", "host is not asked anything now"),
    ("answer nobody TAKE", "there is no 'nobody'"),
    ("answer ann", "not of the form: answer NAME MESSAGE"),
    ("answer ann JOIN", "'JOIN' does not answer move: TAKE may"),
    ("answer ann TAKE count=9", "count of TAKE: expected Count (int 1..3), got 9"),
    ("answer ann TAKE cuont=1", "TAKE has no field 'cuont': did you mean 'count'?"),
    ("answer ann TAKE count=1 count=2", "count is given twice"),
    ("answer ann TAKE 2", "'2' is not of the form name=value"),
    ("answer ann TAKE count=[1", "is no JSON value"),
    ("answer ann TAKE count=" + "[" * 10_000, "is no JSON value"),
    ("answer ann TAKE count=NaN", "count of TAKE: expected"),
    ("answer ann TAKE count=" + "9" * 5000, "count of TAKE: expected"),
    ("say ann TURN left=1", "TURN is sent by host, not by player"),
    ("say ann TAEK", "there is no message 'TAEK': did you mean 'TAKE'?"),
    ("say host TURN", "host is connected to ann, bob: say to whom"),
    ("say host to cyd TURN", "there is no 'cyd'"),
    ("say ann to bob TAKE", "ann has no connection to bob"),
    ("say ann", "not of the form: say NAME MESSAGE"),
    ("lose", "lose takes a name"),
    ("wait soon", "'soon' is no time"),
    ("wait never", "time passes by 0 to"),
    ("wait -1", "'-1' is no time"),
    ("wait 99999999999", "time passes by 0 to"),
    ("rule x = 1", "no rule is asked about now"),
    ("save", "save takes a file"),
]


@pytest.mark.parametrize(("line", "text"), WRONG, ids=lambda value: value[:30])
def test_a_line_that_cannot_be_done_changes_nothing_and_says_why(line: str, text: str) -> None:
    desk, paper = tried(GAME, *TWO, line, strict=False)
    before, _ = tried(GAME, *TWO)

    assert text in "\n".join(paper.lines("wrong"))
    assert state_lines(desk.trial) == state_lines(before.trial)
    with pytest.raises(ChoiceError, match=re.escape(text)):
        tried(GAME, *TWO, line)


def test_choosing_by_number_asks_for_each_value_with_an_example() -> None:
    desk, paper = tried(GAME, *TWO, "1", "7", "3", "1 count=2", "99", "2x", strict=False)

    assert [choice.line for choice in desk.done[3:]] == ["answer ann TAKE count=3", "answer bob TAKE count=2"]
    assert "  count, int 1..3 [Enter: 1]: " in paper.lines("prompt")
    assert [line.partition(":")[0] for line in paper.lines("wrong")] == [
        "count of TAKE",
        "there is no 99",
        "nothing is known to be done with '2x'",
    ]


def test_while_a_value_is_asked_for_one_may_go_back_or_leave() -> None:
    desk, paper = tried(GAME, *TWO, "1", "undo", "1", "quit", "answer ann TAKE", strict=False)

    assert len(desk.done) == 3
    assert "taken back" in paper.lines("note")


def test_help_and_states_are_shown_and_quit_ends() -> None:
    desk, paper = tried(GAME, "help", "states", "# nothing", "", "quit", "connect ann", strict=False)

    assert desk.done == []
    assert any(line.startswith("undo ") for line in paper.lines("note"))
    assert paper.lines("state").count("at 0 s") == 2


# -- undo, scripts, journals -------------------------------------------------------------------------------------------

STEPS = st.lists(st.sampled_from(["1", "2", "3", "4", "5", "wait", "wait 3", "undo"]), max_size=12)
QUICK = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def answered(steps: list[str]) -> list[str]:
    """Return steps with enough lines behind each for the values that it may ask for: Enter takes the example."""
    return [line for step in steps for line in (step, "", "", "")]


@pytest.mark.parametrize("kind", ["game", "service", "chat"])
@QUICK
@given(steps=STEPS)
def test_the_script_of_a_run_leads_to_the_same_states(kind: Any, steps: list[str]) -> None:
    spec = load_text(template(kind), f"{kind}.yaml")
    desk, _ = tried(spec, *answered(steps), strict=False)

    again, _ = tried(spec, *desk.script())

    assert state_lines(again.trial) == state_lines(desk.trial)
    assert again.trial.now == desk.trial.now


@QUICK
@given(steps=STEPS.filter(lambda steps: "undo" not in steps))
def test_taking_a_choice_back_leaves_what_was_before_it(steps: list[str]) -> None:
    desk, _ = tried(GAME, *answered(steps), strict=False)
    script = desk.script()

    back, _ = tried(GAME, *script, "wait 1", "undo")

    assert state_lines(back.trial) == state_lines(desk.trial)
    assert back.script() == script


@QUICK
@given(
    lines=st.lists(
        st.one_of(
            st.text(max_size=40),
            st.builds(
                "{} {}".format,
                st.sampled_from(
                    ["connect", "hand", "answer ann", "say bob", "raw bob", "lose", "wait", "save", "1", "rule"]
                ),
                st.one_of(st.text(max_size=30), st.sampled_from(["ann", "bob", "TAKE count=1", 'JOIN name="\\ud800"'])),
            ),
        ),
        max_size=15,
    )
)
def test_whatever_is_typed_is_data(lines: list[str]) -> None:
    desk, _ = tried(GAME, *[line for line in lines if line.split()[:1] != ["quit"]], "connect zoe", strict=False)

    assert desk.trial.spec is GAME


def test_every_role_of_a_run_has_a_journal_that_replays(tmp_path: Path) -> None:
    spec = tmp_path / "game.yaml"
    spec.write_text(template("game"))
    script = tmp_path / "script.txt"
    saves = [f"save {tmp_path / role}.jsonl {role}" for role in ("host", "player")]
    lines = [*TWO, "answer ann TAKE count=3", "fail bob", "wait 5", *saves, f"save {tmp_path / 'again.txt'}"]
    script.write_text("\n".join(lines))

    assert main(["try", str(spec), "--script", str(script), "--seed", "5"]) == 0
    for role in ("host", "player"):
        result = replay(tmp_path / f"{role}.jsonl")
        assert result.difference is None
        assert result.sessions == {"host": 1, "player": 2}[role]
        assert result.head.seed == 5
    assert (tmp_path / "again.txt").read_text().splitlines() == [f"# accord try {spec} --seed 5", *lines[:6]]


def test_a_session_that_failed_is_the_exit_code_of_a_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec, script = tmp_path / "chat.yaml", tmp_path / "script.txt"
    spec.write_text(template("chat"))
    script.write_text("\n".join([*TWO[:2], "wait", "fail ann"]).replace("player", "guest"))

    assert main(["try", str(spec), "--script", str(script)]) == 1
    assert "ann is over, failed: main in talking" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("save {}/game.yaml", "there is a file already"),
        ("save {}/no/where.txt", "No such file"),
        ("save {}/x.txt host", "its name ends in .jsonl"),
        ("save {}/x.jsonl nobody", "there is no role 'nobody'"),
        ("save {}/x.jsonl player", "no session of player ran"),
        ("save {}/a b c", "save takes a file"),
    ],
)
def test_what_cannot_be_saved_is_one_sentence(
    line: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, script = tmp_path / "game.yaml", tmp_path / "script.txt"
    spec.write_text(template("game"))
    script.write_text(f"# first\n{line.format(tmp_path)}\n")

    code = main(["try", str(spec), "--script", str(script)])
    err = capsys.readouterr().err

    assert code == 2
    assert err.startswith(f"accord: {script}:2: ")
    assert text in err
    assert err.count("\n") == 1


# -- rules that are not there ------------------------------------------------------------------------------------------


def ruled() -> Spec:
    return load_text(RULED, "ruled.yaml", rules=["missing"])


def test_a_rule_that_is_not_there_is_asked_about_and_once_for_the_same_values() -> None:
    desk, paper = tried(
        ruled(),
        *("connect ann", 'rule missing.start = {"round": 1}', "rule missing.best = 7"),
        *("answer ann BID amount=3", "rule missing.over = false"),
        "answer ann BID amount=3",
        *("answer ann BID amount=8", "rule missing.over = true"),
    )

    assert paper.lines("asked").count('what does missing.over({"round":1}, 3) say?') == 1
    assert state_lines(desk.trial) == ["server  over, result: 8", "ann     over, result: 8"]
    again, _ = tried(ruled(), *desk.script())
    assert state_lines(again.trial) == state_lines(desk.trial)


def test_at_the_question_what_a_rule_says_one_may_err_go_back_and_leave() -> None:
    desk, paper = tried(
        ruled(),
        *("connect ann", "undo"),
        *("connect ann", "1", "rule missing.over = 1", "2"),
        *("answer ann BID amount=3", "maybe", "false"),
        *("answer ann BID amount=4", "quit"),
        strict=False,
    )

    assert [choice.line for choice in desk.done] == ["connect ann", "answer ann BID amount=3"]
    assert paper.lines("wrong") == [
        "missing.best is asked now, not missing.over",
        "missing.over is a condition: it says true or false",
    ]
    assert "taken back" in paper.lines("note")
    assert any(line.startswith("rules that are not there: missing") for line in paper.lines("note"))


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("wait", "missing.start is not there, so a line must say what it says: rule missing.start = true"),
        ("rule missing.best = 1", "missing.start is asked now, not missing.best"),
    ],
)
def test_a_script_says_what_a_rule_says_right_behind_the_line_that_needs_it(said: str, text: str) -> None:
    with pytest.raises(ChoiceError, match=re.escape(text)):
        tried(ruled(), "connect ann", said)


def test_rules_that_are_there_are_used(tmp_path: Path) -> None:
    spec = load("tsuro", {"seats": "3..3"})
    desk, paper = tried(spec, "connect ann", "connect bob", "connect cyd")

    assert desk.rules.missing == {}
    assert not [line for line in paper.lines("asked") if line.startswith("what does")]
    assert [line for line in paper.lines("asked") if line.startswith("ann is asked initial: board [[[null,null")]


# -- many specs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["santorini-relay", "smtp", "trains", *(f"tests/specs/{name}.yaml" for name in ("tables", "rooms", "requests"))],
)
def test_any_spec_can_be_tried_to_some_end(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    desk, _ = tried(
        load(name),
        *["connect ann", "connect bob", "wait", *["1", "", "", "", "", ""] * 6, "wait", "lose ann"],
        strict=False,
    )

    assert len(desk.done) >= 3
    again, _ = tried(load(name), *desk.script())
    assert state_lines(again.trial) == state_lines(desk.trial)


# -- the command -------------------------------------------------------------------------------------------------------


class Output(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "dumb"}, False),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, False),
    ],
)
def test_colours_are_for_terminals_that_have_them(
    environment: dict[str, str], coloured: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TERM", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    spec = tmp_path / "game.yaml"
    spec.write_text(template("game"))
    out = Output()
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr("sys.stdin", io.StringIO("connect ann\n"))

    assert main(["try", str(spec)]) == 0

    colours = re.findall("\x1b\\[[0-9;]*m", out.getvalue())
    assert bool([colour for colour in colours if re.search(r"3[0-9]m", colour)]) == coloured
    assert 'ann -> host  JOIN  {"join":"ann"}' in re.sub("\x1b\\[[0-9;]*m", "", out.getvalue())


def test_json_has_what_was_told_the_states_and_the_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec, script = tmp_path / "game.yaml", tmp_path / "script.txt"
    spec.write_text(template("game"))
    script.write_text("connect player ann\nwait\n")

    code = main(["try", str(spec), "--script", str(script), "--json"])
    told = json.loads(capsys.readouterr().out)

    assert code == 0
    assert told["script"] == ["connect player ann", "wait"]
    assert told["seconds"] == 30
    assert {"kind": "sent", "text": 'ann -> host  JOIN  {"join":"ann"}'} in told["told"]
    assert told["states"] == ["host  over, result: null", 'ann   over, result: ""']
    assert told["failed"] == []


FAULTS: list[tuple[list[str], str]] = [
    (["try"], "requires an argument"),
    (["try", "tsuroo"], "did you mean 'tsuro'?"),
    (["try", "tsuro", "--by-hand", "servr"], "tsuro has no role 'servr': did you mean 'server'?"),
    (["try", "tsuro", "--script", "./none.txt"], "none.txt: there is no such file"),
    (["try", "tsuro", "--script", "/"], "/: this is no file that a script could stand in"),
    (["try", "tsuro", "--set", "x=1"], "tsuro has no setting 'x'"),
    (["try", "tsuro", "--seed", "-1"], "--seed -1 is not within"),
    (["try", "tsuro", "--rules", "nomod"], "there is no Python module of that name here"),
]


@pytest.mark.parametrize(
    ("words", "text"), FAULTS, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_a_fault_is_one_sentence(words: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(words)
    out, err = capsys.readouterr()

    assert (code, out) == (2, "")
    assert text in err
    assert err.count("\n") == 1


def test_clients_that_answer_one_another_without_end_are_stopped() -> None:
    spec = load_text(
        """\
protocol: echo
title: Two that never stop
connects: {client: server}
messages: {client: {PING: ping}, server: {PONG: pong}}
roles:
  server: {main(client): {ready: {within: never, receive: {PING: {send: PONG, then: stay}}, closed: {return: null}}}}
  client: {main: {begin: {send: PING, then: on}, on: {within: never, receive: {PONG: {send: PING, then: stay}}}}}
""",
        "echo.yaml",
    )
    desk, paper = tried(spec, "connect ann", "states", strict=False)

    assert paper.lines("wrong") == ["more than 10000 messages follow on this without end"]
    assert desk.trial.parties == {}
