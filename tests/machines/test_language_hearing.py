"""The language, shown key by key: who hears a peer, layer by layer, and what becomes of what nobody lists."""

from __future__ import annotations

import pytest

from tests.support.session_harness import Run
from tests.support.tiny import returned, shows, start

SPEC = """
        messages:
          client: {HELLO: [hello, $name string], MOVE: [move, $x int], PING: ping, QUIT: quit}
          server: {NOTE: [note, $text any]}
        roles:
          server:
            main:
STATES
            hello(peer):
              a: {await: peer, within: 3 s, receive: {HELLO: {return: {name: name}}}}
"""
DOOR = "              door: {accept: hello(peer), as: players, seats: 2, within: never, then: begin}\n"


def served(states: str, wire: str = "") -> Run:
    """Start a server with ann (0) and bob (1) seated, then in the state ``begin``."""
    always, _, rest = states.strip("\n").rpartition("              begin:")
    head = f"        wire: {{framing: lines, {wire}}}\n" if wire else ""
    text = head + SPEC.lstrip("\n").replace("STATES\n", always + DOOR + "              begin:" + rest + "\n")
    server = start(text)
    for name in ("ann", "bob"):
        server.say(server.join(), ["hello", name])
    return server


TWO = """
        connects: {client: [server, ai]}
        messages:
          server: {GO: [go, $n int], STOP: stop}
          ai: {MOVE: [move, $x int]}
          client: {HELLO: hello}
        roles:
          client:
            main:
              always: {await: server, within: 5 s, receive: {STOP: {return: "'stop'"}}, fault: {return: reason}}
              thinking: {await: ai, receive: {MOVE: {return: x}}}
          ai: {main: {idle: {within: never}}}
"""


@shows("always.await")
def test_an_always_with_an_await_hears_those_and_answers_their_faults_only() -> None:
    # always: {await: server}
    server, ai = 0, 1
    for event in ("STOP", "server lost", "ai lost"):
        client = start(TWO, "client")
        if event == "STOP":
            client.say(server, "stop")
            assert returned(client) == "stop"
        elif event == "server lost":
            client.lose(server)
            assert returned(client) == "closed"
        else:
            client.lose(ai)
            assert client.ended is not None
            assert client.ended.failed is not None
            assert "no answer to closed" in client.ended.failed


@shows("always.receive", "state.early")
def test_a_peer_heard_by_an_always_alone_is_not_held_to_what_that_lists() -> None:
    # early: keep, then early: fault; always: receive
    for early, outcome in (("keep", "move of ann"), ("fault", "early")):
        server = served(
            """
              always: {await: players, receive: {PING: {send: NOTE(null), then: stay}}, invalid: {return: reason}}
              begin:
                early: EARLY
                await: players[0]
                within: 5 s
                receive: {MOVE: {return: ('move of ann')}}
                timeout: {return: reason}
                closed: {return: reason}
            """.replace("EARLY", early)
        )

        server.say(1, "ping", ["move", 1])  # the second is listed nowhere for bob
        assert server.heard(1) == [["note", None]]
        server.say(0, ["move", 2])

        assert returned(server) == outcome


@shows("urgent")
def test_an_urgent_message_that_nobody_lists_waits_in_line() -> None:
    server = start(
        """
        messages:
          client: {HELLO: hello, MOVE: [move, $x int], PING: ping}
        urgent: [PING]
        roles:
          server:
            main:
              door: {accept: hello(peer), as: players, seats: 2, within: never, then: first}
              first: {await: "players[0]", within: 5 s, receive: {MOVE: second}, fault: {return: reason}}
              second: {await: "players[1]", within: 5 s, receive: {MOVE: third}, fault: {return: reason}}
              third: {await: "players[1]", within: 5 s, receive: {PING: {return: x}}, fault: {return: reason}}
            hello(peer):
              a: {await: peer, within: never, receive: {HELLO: {return: null}}}
        """
    )
    for _ in range(2):
        server.say(server.join(), "hello")

    server.say(1, ["move", 2], "ping")
    server.say(0, ["move", 1])

    assert returned(server) == 2


@shows("state.invalid")
def test_a_peer_whose_bytes_make_no_sense_is_heard_no_more_but_can_be_sent_to() -> None:
    server = served(
        """
              begin:
                await: players[0]
                within: 5 s
                receive: {MOVE: {return: x}}
                invalid: {send: NOTE(reason), then: again}
                closed: {return: reason}
                timeout: next
              next: {await: "players[0]", within: 5 s, receive: {MOVE: {return: x}}, fault: {return: reason}}
        """,
        wire="message_bytes_max: 20",
    )

    server.write(0, b"x" * 30 + b'\n["move", 1]\n')
    assert server.heard(0) == [["note", "malformed"]]
    server.wait(5)

    assert returned(server) == "closed"


@shows("state.timeout")
def test_in_a_wait_on_several_a_timeout_is_nobody_s_and_a_bare_send_goes_to_all_of_them() -> None:
    server = served(
        """
              begin:
                await: players
                within: 5 s
                receive: {MOVE: begin}
                invalid: stay
                closed: stay
                timeout: {send: NOTE(reason), return: null}
        """
    )

    server.wait(5)

    assert returned(server) is None
    assert [server.heard(player) for player in (0, 1)] == [[["note", "late"]]] * 2


@shows("state.accept", "always.receive", "always.invalid")
@pytest.mark.parametrize(("said", "dropped"), [("ping", False), (["move", 1], True)])
def test_a_sign_up_s_messages_may_be_heard_outside_but_its_faults_may_not(said: object, dropped: bool) -> None:
    # always: {receive, invalid}; accept
    states = """
              always: {receive: {PING: {send: NOTE(null), then: stay}}, invalid: {return: ('out')}}
              door: {accept: hello(peer), as: players, seats: 1, within: never, return: null}
"""
    server = start(SPEC.replace("STATES\n", states.lstrip("\n")))
    peer = server.join()

    server.say(peer, said)

    assert (peer in server.dropped) == dropped
    assert server.heard(peer) == ([] if dropped else [["note", None]])
    assert server.ended is None


@shows("state.ask", "state.within")
def test_a_player_is_told_the_time_that_is_left_to_it() -> None:
    client = start(
        """
        messages:
          client: {MOVE: [move, $x int]}
        roles:
          client:
            main:
              begin: {run: think, within: 4 s, as: x, timeout: {return: null}, then: end}
              end: {return: x}
            think:
              asked: {ask: move, within: 10 s, receive: {MOVE: {send: MOVE, return: x}}}
        """,
        "client",
    )

    assert client.questions[0].seconds == 4


@shows("branch.limit")
def test_only_a_use_whose_condition_held_counts_for_a_limit() -> None:
    server = served(
        """
              begin:
                await: players[0]
                within: 5 s
                receive:
                  MOVE:
                    - {if: x > 5, limit: 1, send: NOTE(x), then: stay}
                    - {if: x > 3, then: stay}
                fault: {return: reason}
        """
    )

    server.say(0, ["move", 4], ["move", 4], ["move", 6])
    assert server.heard(0) == [["note", 6]]
    server.say(0, ["move", 1])

    assert returned(server) == "illegal"


@shows("branch.limit")
@pytest.mark.parametrize("within", ["reply", "5 s"])  # known when it is compiled, or not
def test_a_limit_counts_anew_whenever_its_state_is_entered(within: str) -> None:
    """So a branch that leaves its state never uses up its limit, which is a problem of its own: A348."""
    server = start(
        SPEC.lstrip("\n")
        .replace("        roles:", "        accepted: {A348: it shows that}\n        roles:")
        .replace(
            "        roles:",
            "        settings: {reply: 5 s}\n        roles:" if within == "reply" else "        roles:",
        )
        .replace(
            "STATES\n",
            DOOR
            + f"""
              begin:
                await: players[0]
                within: {within}
                receive:
                  MOVE:
                    - {{limit: 1, send: NOTE('moved'), then: begin}}
                    - {{send: NOTE('too often'), then: begin}}
                fault: {{return: reason}}
""",
        )
    )
    for name in ("ann", "bob"):
        server.say(server.join(), ["hello", name])

    server.say(0, ["move", 1], ["move", 2])

    assert server.heard(0) == [["note", "moved"], ["note", "moved"]]


@shows("always.receive", "always.invalid")
def test_what_an_always_refuses_of_a_peer_that_nobody_awaits_is_invalid_for_whoever_hears_it_next() -> None:
    # always: {receive, invalid}
    server = served(
        """
              always: {await: players, receive: {PING: {limit: 1, send: NOTE(null), then: stay}}}
              begin: {await: "players[0]", within: 5 s, receive: {MOVE: next}, fault: {return: null}}
              next: {await: "players[1]", within: 5 s, receive: {MOVE: {return: x}}, fault: {return: reason}}
        """
    )

    server.say(1, "ping", "ping")
    assert server.ended is None
    server.say(0, ["move", 1])

    assert returned(server) == "limit"
