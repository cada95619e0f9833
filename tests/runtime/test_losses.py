"""Every loss has its reason: who, asked what, said what, which condition refused it, where, after how long."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from machines.effects import Violation
from machines.engine import violations
from machines.engine.session import Program, Session
from machines.expressions.compiler import compile as compile_expression
from machines.parser.loader import load
from runtime.cli import main
from runtime.journal.losses import LOSSES_MAX, Loss, Losses, loss_facts, violation_text

SPEC = """\
protocol: pot
connects: {guest: bank}
settings: {reply: 2 s, think: 1 s}
messages:
  guest:
    HELLO: {hello: $name string}
    TAKE: {take: $count int}
  bank:
    POT: {pot: $pot int}
roles:
  bank:
    main:
      door: {accept: sign_up(peer), as: players, seats: 1..1, within: never, then: game}
      game:
        each: player in players
        run: turn(player)
        then: over
      over: {return: null}
    sign_up(peer):
      named:
        await: peer
        within: reply
        receive: {HELLO: {return: {name: name}}}
    turn(player):
      asked:
        send: POT(5)
        await: player
        within: reply
        receive:
          TAKE: {if: count > 0 and count < 5, return: null}
        fault: {return: null}
  guest:
    main:
      begin: {send: HELLO(my.name), then: waiting}
      waiting: {within: reply, receive: {POT: thinking}, fault: {return: null}}
      thinking:
        ask: take(pot)
        within: think
        receive: {TAKE: {send: TAKE, return: null}}
        fault: {return: null}
"""


def violation(tmp_path: Path, *inputs: Any) -> Violation:
    """Return the violation of a guest called ann who is asked, and from whom that comes."""
    path = tmp_path / "pot.yaml"
    path.write_text(SPEC, encoding="utf-8")
    rules: dict[str, ModuleType] = {}
    session = Session(Program(load(str(path)), "bank", rules))
    session.start(0.0)
    number, _ = session.connect(0.0)
    session.receive(number, b'{"hello": "ann"}\n', 0.0)
    effects = []
    for given in inputs:
        effects += session.receive(number, given, 0.5) if isinstance(given, bytes) else session.tick(given)
    if not inputs:
        effects = session.lose(number, 0.5)
    (found,) = [effect for effect in effects if isinstance(effect, Violation)]
    return found


@pytest.mark.parametrize(
    ("inputs", "kind", "why"),
    [
        ((b'{"take": 7}\n',), "illegal", ""),
        ((b'{"take": "two"}\n',), "wrong type", 'TAKE: expected int at take, got "two"'),
        ((b'{"tkae": 2}\n',), "unknown", "no message is like it (did you mean TAKE?)"),
        ((b'{"hello": "bob"}\n',), "unexpected", "it is HELLO"),
        ((b"oops\n",), "malformed", None),
        ((b'{"take"', 9.0), "half a message", "7 bytes without an end had come"),
        ((9.0,), "late", "nothing had come"),
        ((), "closed", "it closed the connection"),
    ],
)
def test_a_violation_says_what_was_wrong(tmp_path: Path, inputs: tuple[Any, ...], kind: str, why: str | None) -> None:
    found = violation(tmp_path, *inputs)

    assert (found.kind, found.name, found.role, found.asked, found.awaited) == (kind, "ann", "guest", "POT", ("TAKE",))
    assert found.why == why or (why is None and found.why)
    assert found.state == "main.turn[0] in asked"
    assert found.place.endswith("pot.yaml:25")
    assert found.limit == 2.0


@pytest.mark.parametrize("value", ["take 9", "TAKE"])
def test_what_begins_as_a_message_is_told_with_one_that_is_right(value: str) -> None:
    spec = load("sticks")
    heard = Program(spec, "host", {}).heard["player"]
    awaited = [shape for shape in heard if shape.name == "TAKE"]

    assert violations.not_like(awaited, heard, value) == (
        "unknown",
        'no message is like it, though TAKE begins so (as in "take 1")',
    )


def test_the_part_of_a_condition_that_refused_is_named_and_what_came_is_kept(tmp_path: Path) -> None:
    found = violation(tmp_path, b'{"take": 7}\n')

    assert found.rule == "count < 5"
    assert found.came.strip() == b'{"take": 7}'
    assert violation_text(found, "ann") == (
        'ann (guest): illegal: refused by `count < 5`, it sent {"take": 7}, asked POT for TAKE, main.turn[0] in asked '
        "(pot.yaml:25), after 0.5 of 2 s"
    )


def test_so_many_bytes_are_shown_as_is_wished(tmp_path: Path) -> None:
    found = violation(tmp_path, b'{"take": 7}\n')

    assert 'it sent {"take... (1' in violation_text(found, "ann", 6)
    assert loss_facts(Loss("ann", "bank", found), 6)["came"] == '{"take'


def test_a_crash_is_told_by_play_in_text_and_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pot.yaml"
    path.write_text(SPEC, encoding="utf-8")
    bot = tmp_path / "bot.py"
    bot.write_text("import sys\nsys.stdin.readline()\nraise ValueError('no pot')\n", encoding="utf-8")
    how = ["play", str(path), "--players", "1", "--player", f"exec:python3 {bot}", "--no-journal", "--quiet"]

    assert main(how) == 0
    assert (
        "player1 (guest): crash: python3 ended with exit code 1; it said: ValueError: no pot" in capsys.readouterr().out
    )

    assert main([*how, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    (loss,) = facts["losses"]
    assert (loss["player"], loss["kind"], loss["asked"]) == ("player1", "crash", "take")
    assert loss["stderr"][-1] == "ValueError: no pot"
    (player,) = facts["players"]
    assert player["failed"] == "python3 ended with exit code 1; it said: ValueError: no pot"
    assert facts["failed"] is None, "the game itself went well"


@pytest.mark.parametrize(
    ("writes", "kind", "why"),
    [
        ("print('{\"message\": \"TA', end='', flush=True)", "late", "15 bytes without a line end had come"),
        ("sys.stdout.write('[1]\\r'); sys.stdout.flush()", "late", "4 bytes without a line end had come"),
        ("pass", "late", "no answer had come"),
        (
            "print('[2]') if begun else None",
            "late",
            "its line was thrown away, for 3 bytes of it came before it was asked",
        ),
        ("print('{'), print(2, file=sys.stderr)", "malformed", "python3 wrote a line that is no JSON: '{'; it said: 2"),
    ],
)
def test_an_answer_without_a_line_end_is_told_with_the_loss(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], writes: str, kind: str, why: str
) -> None:
    (tmp_path / "pot.yaml").write_text(SPEC, encoding="utf-8")
    bot = tmp_path / "bot.py"
    bot.write_text(
        f"import sys\nbegun = {'begun' in writes}\nprint('[1,' if begun else '', end='', flush=True)\n"
        "for line in sys.stdin:\n"
        f"    if '\"ask\"' in line: {writes}; sys.stdout.flush(); sys.stderr.flush()\n",
        encoding="utf-8",
    )
    how = ["play", str(tmp_path / "pot.yaml"), "--players", "1", "--player", f"exec:python3 {bot}", "--no-journal"]

    assert main([*how, "--quiet", "--json", "--set", "think=300 ms"]) == 0

    (loss,) = json.loads(capsys.readouterr().out)["losses"]
    assert (loss["kind"], loss["why"]) == (kind, why)


def test_a_journal_has_the_violation(tmp_path: Path) -> None:
    path = tmp_path / "pot.yaml"
    path.write_text(SPEC, encoding="utf-8")
    journal = tmp_path / "run.jsonl"

    main(["play", str(path), "--players", "1", "--player", "gone", "--journal", str(journal), "--quiet"])

    out = [effect for line in journal.read_text().splitlines() for effect in json.loads(line).get("out", ())]
    (fields,) = [effect[1] for effect in out if effect[0] == "violation"]
    assert fields["kind"] == "closed"
    assert fields["why"] == "it closed the connection"
    assert fields["name"] == "player1"


@pytest.mark.parametrize(
    ("spec", "kind", "count", "why"),
    [
        ("tsuro", "illegal", 3, "the tile is not one of the hand"),
        ("tsuro", "illegal-later", 3, "the token faces 8,8, not 1,3"),
        ("santorini-official", "illegal", 2, ""),
        ("santorini-official", "illegal-placement", 2, ""),
        ("trains", "cheat", 2, ""),
    ],
)
def test_a_rule_of_a_shipped_game_says_why_it_refused(
    capsys: pytest.CaptureFixture[str], spec: str, kind: str, count: int, why: str
) -> None:
    how = ["play", spec, "--players", str(count), "--seed", "1", "--player", kind, "--no-journal", "--quiet", "--json"]

    assert main([*how, "--set", "window=200 ms"] if spec == "trains" else how) == 0

    first = next(loss for loss in json.loads(capsys.readouterr().out)["losses"] if loss["kind"] == "illegal")
    assert first["player"] in ("player1", "playera")
    assert first["rule"]
    assert first["why"] == why or (not why and first["why"])


def test_of_a_flood_of_violations_so_many_are_kept_and_how_many_more_there_were(tmp_path: Path) -> None:
    found = violation(tmp_path, b'{"take": 7}\n')
    losses = Losses()

    for _ in range(LOSSES_MAX + 5):
        losses.note(Loss("ann", "bank", found))

    lines = list(losses.lines())
    assert len(lines) == LOSSES_MAX + 1
    assert lines[-1] == "and 5 more violations, which the log and the journal have"
    assert (len(losses.facts()["losses"]), losses.facts()["losses_more"]) == (LOSSES_MAX, 5)


DEAR = {
    "many keys": json.dumps({f"ek{number}at": 1 for number in range(60_000)}),
    "many texts": json.dumps([f"ek{number}at" for number in range(60_000)]),
    "one long word": json.dumps("take" * 200_000),
    "one long key": json.dumps({"take" * 200_000: 1}),
    "no names at all": json.dumps([1] * 300_000),
}


@pytest.mark.xdist_group("time")
@pytest.mark.parametrize("data", DEAR.values(), ids=DEAR.keys())
def test_saying_what_a_message_is_like_costs_no_more_than_reading_it(tmp_path: Path, data: str) -> None:
    began = time.process_time()
    violation(tmp_path, b'{"take": "two"}\n')
    least = time.process_time() - began  # the spec is read, the session made

    began = time.process_time()
    found = violation(tmp_path, data.encode() + b"\n")
    spent = time.process_time() - began - least

    assert found.kind in ("unknown", "wrong type")
    assert spent < 0.1 * max(1, len(data) / (1 << 20)) + 0.1


def test_the_conditions_of_a_refused_message_are_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pot.yaml").write_text(
        SPEC.replace("fault: {return: null}\n  guest:", "invalid: {then: stay}\n  guest:")
    )
    program = Program(load(str(tmp_path / "pot.yaml")), "bank", {})
    compiled = []

    def counted(*arguments: Any) -> Any:
        compiled.append(arguments)
        return compile_expression(*arguments)

    monkeypatch.setattr(violations, "compile", counted)
    found = []
    for _ in range(2):  # sessions of one program
        session = Session(program, watch=True)
        session.start(0.0)
        session.connect(0.0)
        session.receive(0, b'{"hello":"ann"}', 0.0)
        for count in (b"0", b"7"):
            found += [e for e in session.receive(0, b'{"take":%s}' % count, 0.0) if isinstance(e, Violation)]

    assert [violation.rule for violation in found] == ["count > 0", "count < 5"] * 2
    assert len(compiled) == 2, "one for each of the two conditions"


CALLED = """\
protocol: pot
connects: {guest: bank}
settings: {think: 1 s}
messages: {guest: {TAKE: take}, bank: {POT: pot}}
roles:
  bank:
    main(guest):
      asked: {send: POT, await: guest, within: 5 s, receive: {TAKE: {return: null}}, fault: {return: null}}
  guest:
    main:
      waiting: {within: 5 s, receive: {POT: turning}, fault: {return: null}}
      turning: {run: turn(), within: think, then: done, fault: {return: null}}
      done: {return: null}
    turn():
      deciding: {ask: take, receive: {TAKE: {send: TAKE, return: null}}}
"""


def test_a_player_is_late_too_where_the_limit_is_that_of_a_call_in_which_it_is_asked(tmp_path: Path) -> None:
    (tmp_path / "pot.yaml").write_text(CALLED, encoding="utf-8")
    session = Session(Program(load(str(tmp_path / "pot.yaml")), "guest", {}))
    session.start(0.0)
    session.receive(0, b'"pot"\n', 0.5)

    (found,) = [effect for effect in session.tick(2.0) if isinstance(effect, Violation)]

    assert (found.peer, found.kind, found.asked, found.awaited) == (None, "late", "take", ("TAKE",))
    assert (found.seconds, found.limit) == (1.5, 1.0)
    assert found.state == "main.turn[0] in deciding"
