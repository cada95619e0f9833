import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest

from machines.model import (
    Binding,
    Branch,
    Call,
    Choice,
    Constant,
    DropPeers,
    Goto,
    Let,
    Mapped,
    Name,
    Return,
    SendMessages,
    Sequence,
    Spec,
    State,
    Stay,
)
from machines.parser.loader import load, load_text
from machines.problems import Place
from machines.values import Range, Rate
from tests.support.seeds import FIVE, load_seed
from tests.support.talk import GOOD, changed, faults


def state(spec: Spec, role: str, machine: str, name: str) -> State:
    return spec.roles[role].machines[machine].states[name]


def without_places(value: Any) -> Any:
    """The value with its places taken out, for comparison with one written by hand."""
    if isinstance(value, Place):
        return None
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        found = {f.name: without_places(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return type(value)(**found)
    if isinstance(value, tuple):
        return tuple(without_places(item) for item in value)
    if isinstance(value, Mapping):
        return {key: without_places(item) for key, item in value.items()}
    return value


NOWHERE: Any = None  # the place of what is written by hand


def go(name: str) -> Branch:
    return Branch(None, None, (), Goto(name, NOWHERE), NOWHERE)


@pytest.mark.parametrize("name", FIVE)
def test_each_of_the_five_is_read_without_a_problem(name: str) -> None:
    spec = load_seed(name)

    assert spec.protocol == name
    assert all("main" in role.machines for role in spec.roles.values())


def test_the_good_spec_of_these_tests_is_good() -> None:
    assert faults(GOOD) == []


def test_the_head_of_a_spec_is_read() -> None:
    spec = load("tsuro")

    assert spec.wire.framing == "lines"
    assert spec.wire.early == "fault"
    assert [name for name, _ in spec.rules] == ["tsuro"]
    assert spec.connects == {"client": ("server",)}
    assert spec.listeners() == ("server",)
    assert spec.settings["seats"].value == Range(3, 5)
    assert spec.settings["wait"].value == 30.0
    assert spec.settings["sign_up"].value == float("inf")
    assert load_seed("santorini-prompts").settings["checks"].value == Rate(1000, 1.0)
    assert load_seed("trains").settings["no_map"].kind == "text"
    assert load_seed("santorini-relay").connects == {"client": ("server", "ai")}


def test_messages_keep_their_senders_fields_and_other_bodies() -> None:
    relay, talk = load_seed("santorini-relay"), load_text(GOOD)

    assert relay.messages["wid_posn"].senders == ("client", "ai")
    assert [field.name for field in relay.messages["wid_move_build_dir"].fields] == ["wid", "move_dir", "build_dir"]
    assert len(relay.messages["game_start"].also) == 1
    assert talk.messages["DONE"].urgent
    assert not talk.messages["BYE"].urgent


def test_an_accept_state_is_read() -> None:
    door = state(load("tsuro"), "server", "main", "start_up")

    assert door.accept is not None
    assert door.accept.machine.path == "join"
    assert door.accept.name == "players"
    assert without_places(door.accept.linger) == Name("wait", NOWHERE)
    assert without_places(door.then) == Choice((go("started"),), NOWHERE)
    assert door.answers.seated is not None
    seated = door.answers.seated.branches[0]
    assert without_places(seated.next) == Stay(False, NOWHERE)
    let, send = seated.steps
    assert isinstance(let, Let)
    assert (let.bindings[0].target, let.bindings[0].field) == ("peer", "token")
    assert isinstance(send, SendMessages)
    assert send.receivers is None


def test_an_each_state_with_a_call_is_read() -> None:
    rounds = state(load_seed("trains"), "server", "main", "round")

    assert rounds.each is not None
    assert rounds.each.name == "group"
    assert without_places(rounds.each.parallel) == Name("side_by_side", NOWHERE)
    assert rounds.run is not None
    assert rounds.run.path == "game"
    assert [binding.target for binding in rounds.bindings] == ["cup"]
    assert not rounds.waits


def test_a_bare_as_binds_the_result() -> None:
    placing = state(load("tsuro"), "server", "main", "initial_placements")

    assert without_places(placing.bindings) == (Binding("table", None, Name("result", NOWHERE), NOWHERE),)


def test_fault_stands_for_the_events_that_are_not_written() -> None:
    text = changed("always: {fault: out}", "always: {fault: out, closed: {return: 1}}")
    always = load_text(text).roles["server"].machines["serve"].always

    assert always is not None
    assert without_places(always.answers.timeout) == Choice((go("out"),), NOWHERE)
    assert always.answers.invalid == always.answers.timeout
    assert always.answers.closed is not None
    assert isinstance(always.answers.closed.branches[0].next, Return)


def test_a_state_that_is_a_list_is_a_choice() -> None:
    judged = state(load("tsuro"), "server", "main", "judged")

    assert judged.then is not None
    assert [branch.guard is None for branch in judged.then.branches] == [False, True]
    assert judged.steps == ()
    assert not judged.waits


def test_durations_are_read_in_place() -> None:
    text = changed("        within: 4 s\n", "        within: 1500 ms\n        after: {1 min: stay, never: stay}\n")
    asked = state(load_text(text), "client", "main", "asked")

    assert without_places(asked.within) == Constant(1.5, NOWHERE)
    assert [without_places(moment.wait) for moment in asked.answers.after] == [
        Constant(60.0, NOWHERE),
        Constant(float("inf"), NOWHERE),
    ]


def test_limits_are_settings_numbers_or_rates() -> None:
    for written, meant in [
        ("often", Name("often", NOWHERE)),
        ("7", Constant(7, NOWHERE)),
        ("2 per 3 s", Constant(Rate(2, 3.0), NOWHERE)),
    ]:
        ready = state(load_text(changed("limit: often", f"limit: {written}")), "server", "serve", "ready")

        assert without_places(ready.answers.receive["NUMBERS"].branches[0].limit) == meant


def test_steps_are_done_in_the_fixed_order_whatever_the_order_written() -> None:
    turned = changed(
        "        drop: guest\n        return: null\n",
        "        return: null\n        drop: guest\n        send: {guest: DONE}\n        let: {a: 1}\n",
    )

    steps = state(load_text(turned), "server", "serve", "out").steps
    assert [type(step) for step in steps] == [Let, SendMessages, DropPeers]


def test_do_keeps_the_order_written() -> None:
    listed = changed(
        "        drop: guest\n        return: null\n",
        "        do: [{send: {guest: DONE}}, {let: {a: 1}}, {send: {guest: [DONE, DONE]}}, {drop: guest}]\n"
        "        return: null\n",
    )

    steps = state(load_text(listed), "server", "serve", "out").steps
    assert [type(step) for step in steps] == [SendMessages, Let, SendMessages, DropPeers]
    last = steps[2]
    assert isinstance(last, SendMessages)
    assert [call.path for call in last.messages] == ["DONE", "DONE"]


def test_values_are_expressions_lists_or_mappings() -> None:
    text = changed("      last: {return: null}", "      last: {return: {a: [my.name, 'null'], b: {}, c: []}}")
    last = state(load_text(text), "client", "main", "last")

    assert last.then is not None
    value = last.then.branches[0].next
    assert isinstance(value, Return)
    assert isinstance(value.value, Mapped)
    (_, first), (_, second), (_, third) = value.value.items
    assert isinstance(first, Sequence)
    assert without_places(first.items[1]) == Constant(None, NOWHERE)  # YAML's quotes do not matter
    assert without_places(second) == Mapped((), NOWHERE)
    assert without_places(third) == Sequence((), NOWHERE)


def test_a_message_named_without_arguments_keeps_none() -> None:
    asked = state(load_text(GOOD), "client", "main", "asked")
    send = asked.answers.receive["NUMBERS"].branches[0].steps[0]

    assert isinstance(send, SendMessages)
    assert without_places(send.messages) == (Call("NUMBERS", None, NOWHERE),)


def test_again_and_stay_are_words_for_next() -> None:
    ready = state(load_text(GOOD), "server", "serve", "ready")

    assert without_places(ready.answers.receive["NUMBERS"].branches[0].next) == Stay(True, NOWHERE)


def test_early_is_read_for_role_machine_and_state() -> None:
    text = changed("    serve(guest):\n", "    early: fault\n    serve(guest):\n      early: ignore\n")
    text = text.replace("      ready:\n", "      ready:\n        early: keep\n")
    server = load_text(text).roles["server"]

    assert server.early == "fault"
    assert server.machines["serve"].early == "ignore"
    assert server.machines["serve"].states["ready"].early == "keep"
    assert list(server.machines) == ["main", "greet", "serve"]
