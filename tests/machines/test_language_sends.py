"""The language, shown key by key: send in all its forms, drop, and do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.session_harness import Run
from tests.support.tiny import returned, shows, start

MESSAGES = """
        messages:
          server: {GO: [go, $n int], STOP: stop}
          client: {A: a, B: b, N: [n, $n int], PAIR: [pair, $a int, $b int]}
"""


def client(main: str) -> Run:
    """Start a client whose ``main`` has these states; peer 0 is its server, which says GO(n) and STOP."""
    head = MESSAGES + "        roles:\n          client:\n            main:\n"
    return start(head.lstrip("\n") + main.strip("\n"), "client")


SENDS = [
    ("A", ["a"]),
    ("PAIR(1, n)", [["pair", 1, 7]]),
    ("N", [["n", 7]]),  # without arguments each field takes the name that is spelt like it
    ("[A, B]", ["a", "b"]),
    ("[A, N(n + 1)]", ["a", ["n", 8]]),
    ("{server: A}", ["a"]),
    ("{server: [A, B]}", ["a", "b"]),
    ('{"[server, server]": A}', ["a", "a"]),
]


@shows("branch.send", "state.send", "send.M", "send.M(a)", "send.[A, B]", "send.{to: M}", "send.{to: [A, B]}")
@pytest.mark.parametrize(("written", "heard"), SENDS, ids=[written for written, _ in SENDS])
def test_every_form_of_send(written: str, heard: list[Any]) -> None:
    # send: M, M(a), [A, B], {to: M}, {to: [A, B]}
    states = f"""
              begin: {{let: {{n: 7}}, then: first}}
              first:
                send:
                  {written if written[0] not in "[{" else _block(written)}
                then: listening
              listening:
                within: never
                receive:
                  STOP:
                    send:
                      {written if written[0] not in "[{" else _block(written, 22)}
                    return: null
                closed: {{return: null}}
        """
    run = client(states)
    assert run.heard(0) == heard

    run.say(0, "stop")

    assert run.heard(0) == heard


def _block(written: str, indent: int = 18) -> str:
    """Return a list or mapping of one line in block style, for what stands in it may have commas."""
    if written.startswith("{"):
        key, _, value = written[1:-1].partition(": ")
        return f"{key}:\n{' ' * (indent + 2)}" + (_block(value, indent + 2) if value.startswith("[") else value)
    return f"\n{' ' * indent}".join(f"- {item}" for item in written[1:-1].split(", "))


@shows("send.{a: A, b: B}", "send.{players: M}")
def test_one_send_may_have_several_receivers_and_one_receiver_may_be_a_list() -> None:
    # {a: A, b: B} and {players: M}
    server = start(
        """
        messages:
          client: {HELLO: hello}
          server: {A: a, B: b, TO_ALL: to all}
        roles:
          server:
            main:
              door:
                accept: hello(peer)
                as: players
                seats: 3
                within: never
                then: tell
              tell:
                send:
                  players[0]: A
                  players[2]: B
                  players: TO_ALL
                return: null
            hello(peer):
              a: {await: peer, within: never, receive: {HELLO: {return: null}}}
        """
    )
    players = []
    for _ in range(3):
        players.append(server.join())
        server.say(players[-1], "hello")

    assert [server.heard(player) for player in players] == [["a", "to all"], ["to all"], ["b", "to all"]]


# -- drop, do --------------------------------------------------------------------------------------------------------

GUESTS = """
        messages:
          client: {{HELLO: hello, QUIT: quit}}
          server: {{BYE: bye, NEWS: news}}
        roles:
          server:
            main:
              door: {{accept: hello(peer), as: guests, seats: 3, within: never, then: here}}
              here:
                await: guests
                within: 5 s
                receive:
                  QUIT:
                    {steps}
                    then: stay
                invalid: stay
                closed: stay
                timeout: {{return: null}}
            hello(peer):
              a: {{await: peer, within: never, receive: {{HELLO: {{return: null}}}}}}
"""


def guests(steps: str) -> Run:
    server = start(GUESTS.format(steps=steps.replace("\n", "\n                    ")))
    for _ in range(3):
        server.say(server.join(), "hello")
    return server


@shows("branch.drop")
@pytest.mark.parametrize(
    ("who", "dropped"), [("peer", {1}), ("guests", {0, 1, 2}), ('"[guests[0], peer]"', {0, 1}), ("null", set())]
)
def test_drop_closes_a_peer_or_each_of_a_list_after_what_was_sent(who: str, dropped: set[int]) -> None:
    server = guests(f"send: {{guests: BYE}}\ndrop: {who}")

    server.say(1, "quit")

    assert set(server.dropped) == dropped
    assert [server.heard(number) for number in range(3)] == [["bye"]] * 3


@shows("state.drop")
def test_what_is_sent_to_a_dropped_peer_is_skipped_with_a_note() -> None:
    run = client(
        """
              only:
                send: A
                drop: server
                then: more
              more: {send: B, return: null}
        """
    )

    assert run.heard(0) == ["a"]
    assert any("B is not sent" in note for note in run.notes)


@shows("branch.do", "state.do")
def test_do_is_for_another_order_than_let_send_drop() -> None:
    run = client(
        """
              start:
                do:
                  - send: A
                  - let: {n: 3}
                  - send: N(n)
                then: listening
              listening:
                within: never
                receive:
                  STOP:
                    do:
                      - {send: N(n)}
                      - {let: {n: n + 1}}
                      - {send: N(n)}
                    return: n
                closed: {return: null}
        """
    )

    run.say(0, "stop")

    assert run.heard(0) == ["a", ["n", 3], ["n", 3], ["n", 4]]
    assert returned(run) == 4


@shows("step.let", "step.send", "step.drop")
def test_a_peer_dropped_under_do_hears_nothing_of_the_steps_behind_it() -> None:
    server = guests("do:\n- let: {last: peer}\n- send: {last: BYE}\n- drop: last\n- send: {guests: NEWS}")

    server.say(2, "quit")

    assert [server.heard(number) for number in range(3)] == [["news"], ["news"], ["bye"]]
    assert set(server.dropped) == {2}


@shows("state.let", "state.send", "state.then")
def test_the_order_in_which_keys_are_written_means_nothing() -> None:
    run = client(
        """
              start: {then: next, send: N, let: {n: 5}}
              next: {return: n}
        """
    )

    assert run.heard(0) == [["n", 5]]
    assert returned(run) == 5
