"""What a spec's author can make long is no depth of Python: messages that wait, states and roles in a row."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.checks import check
from machines.parser.loader import load_text
from machines.verification.abstract.state import LOST
from machines.verification.search.channels import Channel
from machines.verification.search.system import System
from machines.verification.verdict import PROVED, REFUTED
from machines.verification.verify import verify

PAIR = """
protocol: row
connects: {client: server}
messages:
  client: {HI: hi}
  server: {NEWS: [news, $number int], END: end}
roles:
  server:
    main(client):
      met: {await: client, within: 9 s, receive: {HI: s0}, fault: {return: null}}
{states}
  client:
    main:
      always: {within: 1 min, fault: {return: null}}
      begin: {send: HI, then: listening}
      listening: {receive: {NEWS: stay, END: {return: null}}}
"""
IN_A_ROW = "".join(f"      s{at}: {{send: NEWS({at}), then: s{at + 1}}}\n" for at in range(1_500))
AT_ONCE = f"      s0: {{send: [{', '.join(f'NEWS({at})' for at in range(5_000))}, END], return: null}}"


@pytest.mark.parametrize(
    ("states", "steps"),
    [
        pytest.param(f"{IN_A_ROW}      s1500: {{send: END, return: null}}", 1_501, id="1,500 states in a row"),
        pytest.param(AT_ONCE, 5_001, id="5,000 messages of one state"),
    ],
)
def test_many_messages_of_one_step_are_explored(states: str, steps: int) -> None:
    spec = load_text(PAIR.replace("{states}", states), "row.yaml")
    assert check(spec, {}) == []

    verdict = verify(spec, clients=(1,))

    assert verdict.state == PROVED, "\n".join(verdict.lines())
    assert verdict.states[0] > steps


def test_who_does_not_read_the_last_of_many_is_told_of() -> None:
    spec = load_text(PAIR.replace("{states}", AT_ONCE).replace(", END: {return: null}}", "}"), "row.yaml")

    verdict = verify(spec, clients=(1,))

    assert verdict.state == REFUTED
    assert "END is not expected in main.listening" in verdict.findings[0].text


def test_roles_may_connect_to_roles_many_in_a_row() -> None:
    many = 1_100
    connects = ", ".join(f"r{at}: r{at + 1}" for at in range(many))
    listening = "".join(f"  r{at + 1}:\n    main(one):\n      a: {{return: null}}\n" for at in range(many))
    text = f"protocol: row\nconnects: {{{connects}}}\nmessages: {{r0: {{HI: hi}}}}\nroles:\n"
    spec = load_text(f"{text}  r0:\n    main:\n      a: {{send: HI, return: null}}\n{listening}", "row.yaml")

    cast = System(spec, 1, {})

    assert [actor.role for actor in cast.actors] == [f"r{at}" for at in range(many + 1)]
    assert cast.actors[2].name == "r2 of r1 of r0"
    for at, actor in enumerate(cast.actors):
        assert {other for other, _ in actor.peers} == {at - 1, at + 1} & set(range(many + 1))


Tokens = st.one_of(st.tuples(st.sampled_from("abc"), st.just(())), st.just(f"{LOST}died"))


@given(st.lists(st.one_of(Tokens, st.none()), max_size=40))
def test_one_object_stands_for_all_queues_of_one_content(done: list[Any]) -> None:
    empty = Channel()
    queue, content = empty, list[Any]()
    known: dict[tuple[Any, ...], Channel] = {(): empty}
    for token in done:  # None: the first is read
        if token is None:
            queue, content = queue.rest, content[1:]
        elif not content or type(content[-1]) is tuple:
            queue, content = queue.then(token), [*content, token]
        else:
            assert queue.then(token) is queue  # nothing comes behind a loss
        assert queue.tokens == tuple(content)
        assert queue.first == (content[0] if content else None)
        assert queue.messages == sum(type(one) is tuple for one in content)
        assert known.setdefault(tuple(content), queue) is queue
