"""The dialogues of the documents, to test a parser against: each byte is what a role says, and what it may say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from diagrams.documents import wire_text
from machines.conforming.following import GARBAGE, Follower
from machines.conforming.incoming_stream import IncomingStream, MessageReader
from machines.conforming.role_knowledge import RoleKnowledge
from machines.engine.session import Program
from machines.parser.loader import load, rules_modules, shipped
from runtime.cli import main
from runtime.simulation.dialogues import dialogues

GALLERY = Path(__file__).resolve().parents[2] / "diagrams" / "gallery"
ECHO = """\
protocol: echo
wire: {framing: text}
connects: {client: server}
foreign: [client]
messages: {client: {SAY: "${text string}"}, server: {ECHO: "you said ${text string}"}}
roles:
  server:
    main(client): {asked: {within: never, receive: {SAY: {send: ECHO(text), then: stay}}, fault: {return: null}}}
"""


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (GALLERY / f"{name}.wire.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("name", shipped())
def test_who_is_given_all_bytes_of_a_role_at_once_reads_its_messages_one_by_one(name: str) -> None:
    spec = load(name)
    said = lines(name)
    for link, role in {(one["link"], one["from"]): None for one in said}:
        own = [one for one in said if (one["link"], one["from"]) == (link, role)]
        program = Program(spec, spec.listeners()[0], rules_modules(spec))
        stream = IncomingStream(MessageReader(program, role))
        stream.feed(b"".join(bytes.fromhex(one["hex"]) for one in own))
        stream.end()
        at = 0
        for one in own:
            framed = one["message"] if one["message"] in program.frames else ""
            piece = stream.cut(at, framed)
            assert piece is not None, one
            assert one["message"] in {token for token, _ in stream.tokens(at, framed)}
            at = piece.end
        assert stream.is_blank(at)


@pytest.mark.parametrize("name", [name for name in shipped() if not load(name).foreign])
def test_who_connects_says_what_it_may_from_the_beginning_to_the_end(name: str) -> None:
    spec = load(name)
    rules = rules_modules(spec)
    for caller, targets in spec.connects.items():
        if len(targets) > 1:
            continue  # one of its connections alone does not tell
        program = Program(spec, caller, rules)
        follower, reader = Follower(RoleKnowledge(program, rules, 1)), MessageReader(program, targets[0])
        follower.start(0.0)
        for one in lines(name):
            data = bytes.fromhex(one["hex"])
            if one["from"] == caller:
                assert [one["message"] in {kind for kind, _ in tokens} for tokens in follower.said(0, data, 0.0)] == [
                    True
                ]
            else:
                framed = one["message"] if one["message"] in program.frames else ""
                stream = IncomingStream(reader)
                stream.feed(data)
                stream.end()
                follower.told(0, stream.tokens(0, framed) or (GARBAGE,), 0.0)
        assert follower.deviation is None
        assert not follower.lost_track


def test_a_dialogue_stands_in_the_document_as_it_is_in_the_lines_beside_it() -> None:
    page = (GALLERY / "mqtt.md").read_text()
    shown = page.partition("## Dialogue")[2].partition("```text\n")[2].partition("\n```")[0].splitlines()

    before = len("broker  UNSUBSCRIBE  ")
    assert [wire_text.read(line[before:]) for line in shown] == [bytes.fromhex(one["hex"]) for one in lines("mqtt")]


def test_what_a_stranger_says_may_stand_beside_the_spec(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "echo.yaml").write_text(ECHO)
    (tmp_path / "echo.said").write_text("one\\n\ntwo \\x7e\\n")
    found = dialogues(load(str(tmp_path / "echo.yaml")), {})

    assert [(one.role, one.message, one.data) for one in found[0].said if one.data] == [
        ("client", "SAY", b"one\n"),
        ("server", "ECHO", b"you said one\n"),
        ("client", "SAY", b"two ~\n"),
        ("server", "ECHO", b"you said two ~\n"),
    ]
    (tmp_path / "echo.said").write_text("one\\n\ntwo\\q\n")
    assert main(["docs", str(tmp_path / "echo.yaml"), "-o", str(tmp_path), "--format", "wire"]) == 2
    assert "echo.said:2: '\\\\q' stands for nothing" in capsys.readouterr().err


@pytest.mark.parametrize("data", [b"", b"\\n", b"\n", bytes(range(256)), b"\\x41", "é\u202e".encode()])
def test_bytes_as_text_are_those_bytes_again(data: bytes) -> None:
    text = wire_text.written(data)

    assert wire_text.read(text) == data
    assert text.isascii()
    assert text.isprintable()
