"""Sequence diagrams: everything a machine says is told, in order, in boxes that mean what the machine does."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from diagrams.render import render
from diagrams.sequences.builder import scenario
from diagrams.sequences.control_structure import EXIT, Structure
from diagrams.sequences.dot import scenario_dot
from diagrams.sequences.mermaid import scenario_mermaid
from diagrams.sequences.model import Fragment, Frame, Message, Remark, Scenario, Tone, walk
from diagrams.sequences.plantuml import scenario_plantuml
from diagrams.sequences.text import scenario_chart
from machines.model import Branch, Choice, Handlers, Machine, SendMessages, Spec
from machines.parser.loader import load, load_text, shipped
from tests.diagrams.examples import games, hostile
from tests.diagrams.test_pictures import HOSTILE, SVG

SPECS = [*shipped()]


KEYS = Path(__file__).resolve().parents[1] / "specs" / "correct" / "keys.yaml"


def all_machines() -> Iterator[tuple[Spec, str, str]]:
    for spec in (*map(load, SPECS), games()):
        for role in spec.roles.values():
            for machine in role.machines:
                yield spec, role.name, machine


MACHINES = [pytest.param(*found, id=f"{found[0].protocol}-{found[1]}-{found[2]}") for found in all_machines()]


def told(drawing: Scenario) -> list[Message | Remark | Fragment]:
    return [*walk(drawing.elements), *(element for case in drawing.cases for element in walk(case.elements))]


def sent(machine: Machine) -> set[str]:
    """The messages that a machine's steps and branches send."""

    def of_choice(choice: Choice | None) -> Iterator[Branch]:
        for branch in choice.branches if choice is not None else ():
            yield branch
            if isinstance(branch.next, Choice):
                yield from of_choice(branch.next)

    def of_answers(answers: Handlers) -> Iterator[Branch]:
        for _, choice in answers.choices():
            yield from of_choice(choice)

    steps = [step for state in machine.states.values() for step in state.steps]
    for state in machine.states.values():
        for branch in (*of_answers(state.answers), *of_choice(state.then)):
            steps += branch.steps
    if machine.always is not None:
        for branch in of_answers(machine.always.answers):
            steps += branch.steps
    return {call.path for step in steps if isinstance(step, SendMessages) for call in step.messages}


def small(states: str, settings: str = "{}") -> Scenario:
    """The server's main of a spec with the messages a, b, c of the client and x, y, z of the server."""
    text = f"""\
protocol: small
title: Small
connects: {{client: server}}
settings: {settings}
messages:
  client: {{a: a, b: b, c: c}}
  server: {{x: x, y: y, z: z}}
roles:
  server:
    main(client):
{states}
  client:
    main:
      idle: {{receive: {{x: stay, y: stay, z: stay}}}}
"""
    return scenario(load_text(text, "small.yaml"), "server", "main")


def outline(elements: tuple[Message | Remark | Fragment, ...]) -> list[object]:
    """Messages by name, boxes as [frame, heading or guard, inner …]; remarks left out but ends."""
    lines: list[object] = []
    for element in elements:
        match element:
            case Message():
                lines.append(element.text)
            case Remark(tone=Tone.END):
                lines.append("end")
            case Fragment():
                inner = [[operand.guard, *outline(operand.elements)] for operand in element.operands]
                lines.append([str(element.frame), element.heading, *inner])
            case _:
                pass
    return lines


@pytest.mark.parametrize(("spec", "role", "machine"), MACHINES)
def test_every_message_and_every_state_of_a_machine_is_told(spec: Spec, role: str, machine: str) -> None:
    drawing = scenario(spec, role, machine)
    elements = told(drawing)
    found = spec.roles[role].machines[machine]

    assert sent(found) <= {
        element.text for element in elements if isinstance(element, Message) and element.source == role
    }
    names = {element.text for element in elements if isinstance(element, Remark) and element.tone is Tone.STATE}
    loops = {element.place.line for element in elements if isinstance(element, Fragment) and element.place is not None}
    untold = {
        state.name for state in found.states.values() if state.name not in names and state.place.line not in loops
    }
    assert not untold
    answered = {message for state in found.states.values() for message in state.answers.receive}
    heard = {
        word
        for element in elements
        if not isinstance(element, Fragment)
        for word in re.findall(r"[\w-]+", element.text)
    }
    assert answered <= heard


@pytest.mark.parametrize(("spec", "role", "machine"), MACHINES)
def test_a_drawing_is_the_same_each_time_and_as_text_not_too_wide(spec: Spec, role: str, machine: str) -> None:
    dot = scenario_dot(scenario(spec, role, machine), {})

    assert dot == scenario_dot(scenario(spec, role, machine), {})
    chart = scenario_chart(scenario(spec, role, machine))
    assert chart.isascii()
    assert all(len(line) <= 160 and line == line.rstrip() for line in chart.splitlines())


def test_a_wait_and_what_follows_stand_below_each_other() -> None:
    drawing = small("""\
      first: {send: x, receive: {a: second}}
      second: {send: [y, z], receive: {b: {send: x, return: null}}}
""")

    assert outline(drawing.elements) == ["x", "a", "y", "z", "b", "x", "end"]


def test_what_all_ways_begin_with_is_told_once_before_them() -> None:
    drawing = small(
        """\
      first:
        receive:
          a:
            - {if: seats > 2, send: x, return: null}
            - {send: y, return: null}
""",
        "{seats: 3}",
    )

    assert outline(drawing.elements) == ["a", ["alt", "", ["seats > 2", "x", "end"], ["else", "y", "end"]]]


def test_a_guard_says_which_of_several_messages_it_judges() -> None:
    drawing = small(
        """\
      first:
        receive:
          a:
            - {if: seats > 2, return: null}
            - first
          b: {return: null}
""",
        "{seats: 3}",
    )

    (loop,) = outline(drawing.elements)
    assert loop == ["loop", "", ["", ["alt", "", ["a: seats > 2", "a", "end"], ["a: else", "a"], ["", "b", "end"]]]]


def test_what_may_come_at_any_time_leaves_out_the_states_that_answer_it_themselves() -> None:
    drawing = small("""\
      always: {within: 1 s, receive: {a: stay}, fault: {return: null}}
      first:  {receive: {a: second}, invalid: stay}
      second: {receive: {b: {return: null}}}
""")

    assert [case.title for case in drawing.cases] == [
        "invalid in first",
        "a in any state but first",
        "timeout or closed in any state; invalid in any state but first",
    ]


def test_a_send_that_names_nobody_goes_to_the_one_who_spoke_not_to_all_awaited() -> None:
    said = [element for element in told(scenario(load(str(KEYS)), "server", "main")) if isinstance(element, Message)]

    assert {message.to for message in said if message.text == "PONG"} == {"to peer"}


def test_a_loop_is_left_before_what_follows_it() -> None:
    remarks = [element.text for element in told(scenario(load("santorini-rulecheck"), "client", "main"))
               if isinstance(element, Remark)]  # fmt: skip

    assert remarks.index("leaves the loop") == remarks.index("tournament") - 1


def test_ways_that_meet_again_are_alternatives_and_what_follows_stands_behind_them() -> None:
    drawing = small("""\
      first: {receive: {a: left, b: right}}
      left:  {send: x, then: last}
      right: {send: y, then: last}
      last:  {send: z, return: null}
""")

    assert outline(drawing.elements) == [["alt", "", ["", "a", "x"], ["", "b", "y"]], "z", "end"]


def test_a_choice_that_leads_out_of_a_loop_is_the_loop_s_condition() -> None:
    drawing = small(
        """\
      ready:  {let: {n: 0}, then: judged}
      judged: [{if: n == 3, then: last}, asked]
      asked:  {send: x, receive: {a: {let: {n: n + 1}, then: judged}}}
      last:   {send: z, return: null}
"""
    )

    assert outline(drawing.elements) == [["loop", "until n == 3", ["", "x", "a"]], "z", "end"]


def test_a_way_out_of_the_middle_of_a_loop_ends_its_alternative() -> None:
    drawing = small("""\
      first: {send: x, receive: {a: first, b: {send: y, then: last}}}
      last:  {send: z, return: null}
""")

    inner = ["alt", "", ["", "a"], ["", "b", "y"]]
    assert outline(drawing.elements) == [["loop", "", ["", "x", inner]], "z", "end"]
    assert [element.text for element in told(drawing) if isinstance(element, Remark)].count("leaves the loop") == 1


def test_ways_that_cross_are_told_once_and_named_after_that() -> None:
    drawing = small("""\
      first:  {receive: {a: left, b: right}}
      left:   {receive: {a: third, b: fourth}}
      right:  {receive: {a: third, b: fourth}}
      third:  {send: x, return: 1}
      fourth: {send: y, return: 2}
""")

    texts = [element.text for element in told(drawing) if not isinstance(element, Fragment)]
    assert texts.count("x") == 1
    assert texts.count("→ third") == 1


def test_a_time_limit_is_a_case_of_its_own_that_says_where_it_joins_the_course() -> None:
    drawing = small(
        """\
      first:  {send: x, within: limit, receive: {a: last}, timeout: late}
      late:   {send: y, then: last}
      last:   {send: z, return: null}
""",
        "{limit: 5 s}",
    )

    assert outline(drawing.elements) == ["x", "a", "z", "end"]
    assert [case.title for case in drawing.cases] == ["timeout after limit (5 s) in first"]
    assert outline(drawing.cases[0].elements) == ["x", "y"]
    last = drawing.cases[0].elements[-1]
    assert isinstance(last, Remark)
    assert last.text == "→ last"


def test_what_the_asked_side_does_meanwhile_is_told_between_question_and_answer() -> None:
    drawing = scenario(load("santorini-relay"), "server", "placement_phase")

    ends = [(e.source, e.target, e.text) for e in drawing.elements if isinstance(e, Message)]
    assert ends == [
        ("server", "client", "placement_request"),
        ("client", "ai", "board_and_placement_request"),
        ("ai", "client", "wid_posn"),
        ("client", "server", "wid_posn"),
    ]


def test_calls_and_loops_over_items_are_boxes() -> None:
    frames = {element.frame for spec, role, machine in all_machines() for element in told(scenario(spec, role, machine))
              if isinstance(element, Fragment)}  # fmt: skip
    assert frames == set(Frame)


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name[:20]))
def test_a_hostile_name_is_drawn_as_text_and_injects_nothing(name: str) -> None:
    spec = hostile(name)
    for role in spec.roles.values():
        for machine in role.machines:
            drawing = scenario(spec, role.name, machine)
            tree = ElementTree.fromstring(render(scenario_dot(drawing, {}), "svg"))
            tags = {node.tag.removeprefix(SVG) for node in tree.iter()}
            assert tags <= {"svg", "g", "title", "text", "a", "path", "polygon", "polyline", "ellipse"}
            assert scenario_chart(drawing).replace("\n", "").replace("\N{ZERO WIDTH JOINER}", "").isprintable()
            for text in (scenario_mermaid(drawing), scenario_plantuml(drawing)):
                assert text.isascii()
                for line in text.splitlines():
                    assert not re.search(
                        r"[<>&\"`$%{}\\|](?![U+]|>|x|-)",
                        re.sub(r"<U\+[0-9A-F]+>|-+>>?|participant \".*\" as \w+", "", line),
                    ), line


def test_the_meeting_point_of_two_ways_is_where_every_way_to_the_end_leads() -> None:
    structure = Structure("a", {"a": ["b", "c"], "b": ["d"], "c": ["d", "e"], "d": ["f"], "e": ["f"], "f": [EXIT]})

    assert structure.meets == {"a": "f", "b": "d", "c": "f", "d": "f", "e": "f", "f": EXIT}


def test_a_loop_is_entered_at_its_header_and_holds_what_leads_back_to_it() -> None:
    structure = Structure("a", {"a": ["b"], "b": ["c", "e"], "c": ["d", "e"], "d": ["b"], "e": [EXIT]})

    assert structure.loops == {"b": {"b", "c", "d"}}


@pytest.mark.xdist_group("time")
def test_a_thousand_states_are_told_within_a_second() -> None:
    states = "\n".join(f"      s{n}: {{send: x, receive: {{a: s{n + 1}, b: s{max(n - 7, 0)}}}}}" for n in range(1000))
    drawing = f"{states}\n      s1000: {{return: null}}\n"
    began = time.thread_time()

    scenario_dot(small(drawing), {})

    assert time.thread_time() - began < 8, "loading included"
