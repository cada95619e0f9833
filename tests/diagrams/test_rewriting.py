"""Sequences with what is called told inside of the calls, and with a lifeline for each of a pair."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagrams.rendering.style import BOX_CALL
from diagrams.sequences.builder import scenario
from diagrams.sequences.dot import scenario_dot
from diagrams.sequences.mermaid import scenario_mermaid
from diagrams.sequences.model import Fragment, Frame, Message, Scenario, walk
from diagrams.sequences.plantuml import scenario_plantuml
from diagrams.sequences.text import scenario_chart
from machines.parser.loader import load, load_text
from runtime.cli import main

AGAIN = """
protocol: again
connects: {client: server}
messages: {client: {a: a}, server: {x: x}}
roles:
  server:
    main(client):
      first: {run: inner(client), then: last}
      last: {return: null}
    inner(client):
      asked: {send: x, within: 1 s, receive: {a: {then: once_more}}, fault: {return: null}}
      once_more: {run: inner(client), return: null}
  client:
    main:
      idle: {receive: {x: {send: a, then: stay}}}
"""


def messages(drawing: Scenario) -> list[Message]:
    return [element for element in walk(drawing.elements) if isinstance(element, Message)]


def calls(drawing: Scenario) -> list[Fragment]:
    found = [element for element in walk(drawing.elements) if isinstance(element, Fragment)]
    return [element for element in found if element.frame is Frame.REF]


def test_unfolded_the_first_machine_tells_what_those_that_it_calls_say() -> None:
    spec = load("tsuro")
    folded, unfolded = scenario(spec, "server", "main"), scenario(spec, "server", "main", unfold=True)

    assert {"INIT_REQ", "INTER_PLACE"}.isdisjoint(message.text for message in messages(folded))
    assert {"JOIN", "INIT_REQ", "INIT_PLACE", "INTER_REQ", "INTER_PLACE"} < {one.text for one in messages(unfolded)}
    assert not any(call.operands for call in calls(folded))
    assert all(call.operands for call in calls(unfolded))
    for write in (scenario_chart, scenario_mermaid, scenario_plantuml):
        assert "JOIN" in write(unfolded)
        assert "JOIN" not in write(folded)
    assert BOX_CALL in scenario_dot(folded, {})
    assert BOX_CALL not in scenario_dot(unfolded, {}), "a ground would hide the arrows"


def test_a_machine_within_itself_stays_folded() -> None:
    spec = load_text(AGAIN, "again.yaml")
    told = [bool(call.operands) for call in calls(scenario(spec, "server", "main", unfold=True))]
    assert told == [True, False]


@pytest.mark.parametrize(
    ("spec", "role", "machine", "lifelines"),
    [
        ("santorini-official", "server", "series", ("server", "client pair[0]", "client pair[1]")),
        # the result goes to each player of the pair in turn: that one has no place
        ("santorini-prompts", "manager", "game", ("manager", "player", "player pair[0]", "player pair[1]")),
        ("santorini-official", "server", "main", ("server", "client")),
    ],
)
def test_each_of_a_pair_has_a_lifeline(spec: str, role: str, machine: str, lifelines: tuple[str, ...]) -> None:
    drawing = scenario(load(spec), role, machine)

    assert drawing.lifelines == lifelines
    heads = next(line for line in scenario_chart(drawing).splitlines() if line.split()[:1] == [role])
    assert heads.split("  ")[0] == ""
    assert "  ".join(lifelines).split() == heads.split()
    for lifeline in lifelines[1:]:
        assert f" {lifeline} " in f"{heads} ", "no head runs into another"


def test_an_unfolded_drawing_has_a_file_of_its_own_and_is_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["draw", "sticks", "-o", str(tmp_path), "--kind", "sequences", "--format", "txt", "--unfold"]
    assert main([*words, "--role", "host", "--machine", "main"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "sticks-host-main-sequence-unfolded.dot",
        "sticks-host-main-sequence-unfolded.txt",
    ]
    capsys.readouterr()
    assert main([*words, "--check"]) == 2
    assert "--unfold" in capsys.readouterr().err
