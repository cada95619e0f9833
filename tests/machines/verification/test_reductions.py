"""What is left out of a search is found all the same: clients that leave marks, doors that open again, long ways."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.parser.loader import load
from machines.verification.search.channels import Channel
from machines.verification.search.state_space import ONE_LESS
from machines.verification.verdict import PROVED, REFUTED
from tests.machines.verification.bench import SPECS, searched, verdict_of

MARKED = """
protocol: marked
wire: {framing: lines}
connects: {client: server}
messages:
  client: {HELLO: hello, QUIT: quit}
  server: {OK: ok, ODD: odd}
roles:
  server:
    main:
      begin: {let: {left: 0}, then: open}
      open:
        accept: sit(peer)
        as: members
        await: members
        within: 8 h
        seated:
          - {if: left == 1, send: ODD}
          - {send: OK}
        receive:
          QUIT: {drop: peer, let: {left: 1}, then: stay}
        invalid: {drop: peer, then: stay}
        closed: stay
        timeout: {return: null}
    sit(peer):
      named: {await: peer, within: 5 s, receive: {HELLO: {return: {}}}}
  client:
    main:
      always: {within: 1 min, closed: {return: null}}
      hello: {send: HELLO, then: inside}
      inside: {receive: {OK: {send: QUIT, then: out}}}
      out: {within: 1 min, receive: {ODD: {return: null}}}
"""


@pytest.mark.parametrize("clients", [(2,), (1, 2), (1, 2, 3)])
def test_a_client_that_has_left_may_have_left_a_mark_for_the_next(clients: tuple[int, ...]) -> None:
    verdict = verdict_of(MARKED, clients)

    assert verdict.state == REFUTED
    assert [finding.text for finding in verdict.findings] == ["client: ODD is not expected in main.inside"]
    assert verdict.findings[0].clients == 2


def test_a_client_that_leaves_no_mark_is_left_to_the_search_with_one_less() -> None:
    verdict = verdict_of(MARKED.replace("let: {left: 1}, ", ""), (1, 2))

    assert ONE_LESS in verdict.reduced
    assert not any("ODD is not expected" in finding.text for finding in verdict.findings)


AGAIN = """
protocol: again
wire: {framing: lines}
connects: {client: server}
messages:
  client: {HELLO: hello}
  server: {FIRST: first, SECOND: second}
roles:
  server:
    main:
      door: {accept: sit(peer), as: early, seats: 1, within: 1 min, timeout: {return: null}, then: told}
      told: {send: {early: FIRST}, then: rest}
      rest: {await: early, within: 1 min, timeout: more, closed: more, invalid: more}
      more: {accept: sit(peer), as: others, seats: 1, within: 1 min, timeout: {return: null}, then: end}
      end: {send: {others: SECOND}, return: null}
    sit(peer):
      named: {await: peer, within: 5 s, receive: {HELLO: {return: {}}}}
  client:
    main:
      always: {within: 1 h, closed: {return: null}}
      hello: {send: HELLO, then: inside}
      inside: {receive: {FIRST: {return: null}}}
"""


def test_a_client_that_is_turned_away_may_come_when_the_door_opens_again() -> None:
    verdict = verdict_of(AGAIN, (1, 2))

    assert "client: SECOND is not expected in main.inside" in [finding.text for finding in verdict.findings]


LEFT_ALONE = """
protocol: left-alone
wire: {framing: lines}
connects: {client: server}
messages:
  client: {HELLO: hello}
  server: {FIRST: first, SECOND: second}
roles:
  server:
    main:
      door: {accept: sit(peer), as: players, seats: 2, within: 1 min, timeout: {return: null}, then: told}
      told:
        do:
          - send: {"players[0]": FIRST}
          - send: {"players[1]": SECOND}
        then: waiting
      waiting: {await: players, within: 5 s, fault: {return: null}}
    sit(peer):
      named: {await: peer, within: 5 s, receive: {HELLO: {return: {}}}}
  client:
    main:
      always: {within: 1 h, closed: {return: null}}
      hello: {send: HELLO, then: seated}
      seated: {receive: {FIRST: first, SECOND: second}}
      first: {within: 1 h}
      second: {within: 1 h, closed: later}
      later:
        within: 1 h
        closed: stay
        after:
          1 s: {let: {x: "1 < null"}, then: stay}
"""


def test_two_who_are_left_alone_at_once_are_both_looked_at() -> None:
    verdict = verdict_of(LEFT_ALONE, (1, 2))

    assert [finding.code for finding in verdict.findings] == ["A500", "A506"]  # both wait; and one fails on its own
    assert "main.later" in " ".join(verdict.findings[1].lines())


def long_way(states: int) -> str:
    """Return a spec whose server goes through so many calls at once when it has read one message."""
    calls = "\n".join(f"      s{n}: {{run: nothing, then: s{n + 1}}}" for n in range(states))
    return f"""
protocol: way
wire: {{framing: lines}}
connects: {{client: server}}
messages:
  client: {{JOIN: join}}
  server: {{ASK: ask}}
roles:
  server:
    main(p):
      begin: {{send: ASK, within: 5 s, receive: {{JOIN: s0}}, fault: {{return: null}}}}
{calls}
      s{states}: {{return: null}}
    nothing: {{s: {{return: null}}}}
  client:
    main:
      always: {{within: 1 min, closed: {{return: null}}}}
      begin: {{send: JOIN, then: wait}}
      wait: {{receive: {{ASK: {{return: null}}}}}}
"""


def test_a_long_way_within_one_step_is_no_ring() -> None:
    verdict = verdict_of(long_way(900))

    assert verdict.state == PROVED, verdict.lines()
    assert verdict.assumed == ()


def test_a_ring_within_one_step_is_told_as_one() -> None:
    verdict = verdict_of(long_way(40).replace("      s40: {return: null}", "      s40: {then: s0}"), (1,))

    assert any("does not go round for ever" in text for text in verdict.assumed)


def test_a_search_leaves_nothing_that_python_has_to_look_for() -> None:
    spec = load("tsuro")
    searched(spec, (1, 2))
    gc.collect()
    gc.disable()
    try:
        searched(spec, (1, 2))
        left = gc.collect()
    finally:
        gc.enable()

    assert left < 2_000  # reading the spec leaves some; the search made tens of thousands of rings once


TOKENS = st.one_of(st.tuples(st.sampled_from("AB"), st.just(())), st.sampled_from([".lost died", ".lost over"]))


@given(st.lists(st.one_of(st.none(), TOKENS)))
def test_what_waits_is_a_queue_and_ends_with_a_loss(steps: list[Any]) -> None:
    empty = Channel()
    queue, again = empty, empty
    expected: tuple[Any, ...] = ()
    for step in steps:  # None: the first is read
        if step is None:
            queue, again, expected = queue.rest, again.rest, expected[1:]
        else:
            queue, again = queue.then(step), again.then(step)
            if not (expected and isinstance(expected[-1], str)):
                expected = (*expected, step)
        assert queue.tokens == expected
        assert queue.first == (expected[0] if expected else None)
        assert queue.messages == sum(isinstance(one, tuple) for one in expected)
        assert queue is again
        assert bool(queue) == bool(expected)
    fresh = empty
    for token in expected:
        fresh = fresh.then(token)
    assert fresh is queue


def test_of_three_who_share_nothing_each_comes_to_its_end() -> None:
    spec = load(str(SPECS / "public" / "jsonrpc.yaml"))
    verdict = verdict_of(spec, (3,), most=2_000)

    assert [finding.text for finding in verdict.findings] == []
