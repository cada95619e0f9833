"""``accord show``: what a spec's types are, and what its players are asked."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from runtime.cli import main

Capsys = pytest.CaptureFixture[str]


def shown(capsys: Capsys, *words: str) -> str:
    code = main(("show", *words))
    out, err = capsys.readouterr()
    assert code == 0, err
    return out


def test_a_spec_is_shown_with_its_types_and_what_players_are_asked(capsys: Capsys) -> None:
    out = shown(capsys, "tsuro")

    assert "  Token   {enum: [white, black, red, green, blue]}\n" in out
    assert "questions to the player of client, and the messages that may answer\n" in out
    assert "  intermediate(board, tiles, token)  INTER_PLACE\n" in out
    assert "questions to the player of server" not in out
    assert "how to write one: docs/players.md" in out
    facts = json.loads(shown(capsys, "tsuro", "--json"))
    assert {role["name"]: role["questions"] for role in facts["roles"]} == {
        "server": [],
        "client": [
            {"question": "initial", "arguments": ["board", "hand", "token"], "messages": ["INIT_PLACE"]},
            {"question": "intermediate", "arguments": ["board", "tiles", "token"], "messages": ["INTER_PLACE"]},
        ],
    }
    square = next(declared for declared in facts["types"] if declared["name"] == "Square")
    assert square["schema"] == {"type": "integer", "minimum": 0, "maximum": 9}


def test_the_code_that_a_machine_is_run_as_is_shown_under_its_states_and_events(capsys: Capsys) -> None:
    out = shown(capsys, "tsuro", "--code")

    assert "# server: main.judged, then\ndef take(s, fields=()):\n    if ((v" in out
    assert out.count("# server: intermediate_placement, s: 1 player, 2 table, 3 tile, ") == 1
    functions = json.loads(shown(capsys, "tsuro", "--code", "--json"))["code"]
    (place,) = [one for one in functions if one["machine"] == "intermediate_placement" and one["for"] == "INTER_PLACE"]
    assert (place["role"], place["state"]) == ("server", "asked")
    lines = [re.sub(r"_\d+\b", "", line) for line in place["text"].splitlines()]
    assert lines[0] == "def take(s, fields=()):"
    assert lines[1] == "    s[3:6] = fields"
    assert lines[2].startswith("    if ((v")
    assert "may_place(s[2], s[1], " in lines[2]
    assert "place(s[2], s[1], " in lines[3]
    assert lines[3].startswith("        s[0].result = ")
    assert lines[4:] == ["        return end", "    return None"]


def test_only_what_the_own_role_sends_may_answer_a_question(capsys: Capsys, tmp_path: Path) -> None:
    spec = tmp_path / "hint.yaml"
    spec.write_text(
        """
protocol: hint
title: a question that a hint may overtake
connects: {player: table}
messages:
  player: {MOVE: move}
  table: {HINT: hint, OVER: over}
roles:
  table: {main: {open: {return: null}}}
  player:
    main:
      think: {ask: move(1 + 1), within: 1 s, receive: {MOVE: {send: MOVE, then: more}, HINT: stay}}
      more:  {ask: move(1 + 1), within: 1 s, receive: {MOVE: {return: null}, OVER: {return: null}}}
""",
        encoding="utf-8",
    )
    facts = json.loads(shown(capsys, str(spec), "--json"))

    player = next(role for role in facts["roles"] if role["name"] == "player")
    assert player["questions"] == [{"question": "move", "arguments": ["0"], "messages": ["MOVE"]}]


def test_a_variant_is_shown_whole_with_the_origin_of_each_line_and_is_a_spec_as_it_stands(
    capsys: Capsys, tmp_path: Path
) -> None:
    variant = tmp_path / "quick.yaml"
    variant.write_text("extends: tsuro\nprotocol: quick\nsettings: {reply: 1 s}\n")
    out = shown(capsys, str(variant), "--resolved")

    assert [line.split("# ")[1] for line in out.splitlines() if line.startswith("  reply: 1 s ")] == [f"{variant}:3"]
    [origin] = [line.split("# ")[1] for line in out.splitlines() if line.startswith("rules:")]
    assert origin.endswith("specs/tsuro.yaml:4")  # the installed spec, where the tests run on the installed package
    again = tmp_path / "again.yaml"
    again.write_text(out)
    plain, once_more = shown(capsys, str(variant)), shown(capsys, str(again))
    assert plain.replace(str(variant), "") == once_more.replace(str(again), "")
    assert json.loads(shown(capsys, str(variant), "--resolved", "--json"))["spec"].rstrip("\n") == out.rstrip("\n")


def test_a_variant_that_has_problems_is_shown_whole_all_the_same(capsys: Capsys, tmp_path: Path) -> None:
    variant = tmp_path / "odd.yaml"
    variant.write_text("extends: tsuro\nprotocol: odd\nremove: [settings.reply]\n")

    assert "  reply:" not in shown(capsys, str(variant), "--resolved")
    assert main(("check", str(variant))) == 2
    variant.write_text("extends: tsuro\nprotocol: odd\nremove: [settings.replay]\n")
    assert main(("show", str(variant), "--resolved")) == 2
    assert "A140 there is no 'replay' in settings to remove (did you mean 'reply'?)" in capsys.readouterr().err


def test_the_table_has_every_waiting_state_with_what_may_come_and_who_answers(capsys: Capsys) -> None:
    lines = shown(capsys, "tsuro", "--table").splitlines()
    found = json.loads(shown(capsys, "tsuro", "--table", "--json"))["pairs"]

    assert lines[0].split() == ["STATE", "EVENT", "ANSWERED", "BY"]
    assert any(line.split(None, 3) == ["client:", "main.joined", "ENDED", "its always"] for line in lines)
    assert len(found) == len(lines) - 2
    open_ = sum(pair["answer"] in ("invalid", "early", "end", "drop") for pair in found)
    assert lines[-1] == f"{len(found)} pairs, {len(found) - open_} answered by the spec, {open_} by what is built in"
