"""What one event does, in order: who hears it, how it is read, which branch is taken, what that does."""

from __future__ import annotations

import pytest

from tests.support.session_harness import Run
from tests.support.sketch import ACTS, ENTER, failure, move, name, said, seated, text_of, value
from tests.support.stub_rules import module

ECHO = """
play:
  await: ann
  within: reply
  receive:
    MOVE: {send: SAID(move), then: stay}
    QUIT: {return: "'done'"}
  fault: {return: reason}
"""

# -- 1. who hears ----------------------------------------------------------------------------------------------------


def test_a_state_hears_the_peer_it_awaits_and_answers_it() -> None:
    run, ann = seated(ECHO)

    run.say(ann, move(3), move(4))

    assert run.heard(ann) == [said(3), said(4)]


def test_an_inner_always_is_asked_before_an_outer_one() -> None:
    run, ann = seated(
        "play: {run: inner(ann), as: got, then: over}\nover: {return: got}",
        always="""
        receive: {PING: {send: SAID('outer'), then: stay}, QUIT: {return: "'outer'"}}
        fault: {return: reason}
        """,
        machines="""
        inner(who):
          always: {receive: {PING: {send: SAID('inner'), then: stay}}}
          asked: {await: who, within: reply, receive: {MOVE: {return: move}}}
        """,
    )

    run.say(ann, "ping")
    assert run.heard(ann) == [said("inner")]
    run.say(ann, "quit")

    assert value(run) == "outer"


def test_an_always_with_await_hears_those_peers_while_the_state_awaits_another() -> None:
    run, _, bob = seated(
        "play: {await: ann, within: reply, receive: {MOVE: {return: move}}, fault: {return: reason}}",
        guests=2,
        always="await: guests\nreceive: {PING: {send: PONG, then: stay}}\nclosed: {return: \"'lost'\"}",
    )

    run.say(bob, "ping")
    assert run.heard(bob) == ["pong"]
    run.lose(bob)

    assert value(run) == "lost"


def test_an_always_without_await_does_not_hear_who_is_not_awaited() -> None:
    run, ann, bob = seated(
        "play: {await: ann, within: reply, receive: {MOVE: {return: move}}, fault: {return: reason}}",
        guests=2,
        always="receive: {PING: {send: PONG, then: stay}}",
    )

    run.say(bob, "ping")
    run.say(ann, "ping")

    assert run.heard(bob) == []
    assert run.heard(ann) == ["pong"]


# -- 2. how a message is read ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"{]\n", "malformed"),
        (b'{"move": 1, "move": 1}\n', "malformed"),
        (b"\xff\n", "malformed"),
        (b'{"shove": 1}\n', "unknown"),
        (b'{"move": "far"}\n', "unknown"),
        (b"true\n", "unknown"),
        (b'"pong"\n', "unknown"),  # only a server sends it
        (b'"ping"\n', "unexpected"),
        (b"12\n", "unexpected"),
    ],
)
def test_what_fits_nothing_here_is_invalid_and_the_reason_says_how(raw: bytes, reason: str) -> None:
    run, ann = seated(ECHO)

    run.write(ann, raw)

    assert value(run) == reason


def test_layers_are_asked_inside_first_and_the_innermost_that_lists_the_message_answers() -> None:
    run, ann = seated(
        "play: {await: ann, within: reply, receive: {PING: {return: \"'inside'\"}}, fault: {return: reason}}",
        always="receive: {PING: {return: \"'outside'\"}, QUIT: {return: \"'behind'\"}}",
    )

    run.say(ann, "ping")

    assert value(run) == "inside"


# -- 3. which branch is taken ----------------------------------------------------------------------------------------


def test_the_first_branch_that_if_and_limit_allow_is_taken() -> None:
    run, ann = seated("""
        play:
          await: ann
          within: reply
          receive:
            MOVE:
              - {if: move > 5, send: SAID('large'), then: stay}
              - {if: acts.odd(move), limit: 1, send: SAID('odd'), then: stay}
              - {if: move > 0, send: SAID('other'), then: stay}
          fault: {return: reason}
    """)

    run.say(ann, move(7), move(3), move(3), move(2))

    assert run.heard(ann) == [said("large"), said("odd"), said("other"), said("other")]


@pytest.mark.parametrize(("limit", "numbers", "reason"), [("", [2], "illegal"), ("limit: 1", [1, 3], "limit")])
def test_a_message_whose_branches_all_refuse_is_illegal_or_over_its_limit(
    limit: str, numbers: list[int], reason: str
) -> None:
    run, ann = seated(f"""
        play:
          await: ann
          within: reply
          receive:
            MOVE:
              if: acts.odd(move)
              {limit}
              then: stay
          fault: {{return: reason}}
    """)

    run.say(ann, *map(move, numbers))

    assert value(run) == reason


def test_a_refused_message_does_not_go_further_out_but_its_fault_does() -> None:
    run, ann = seated(
        "play: {await: ann, within: reply, receive: {MOVE: {if: move > 5, then: stay}}}",
        always="receive: {MOVE: {return: \"'outside'\"}}\nfault: {return: reason}",
    )

    run.say(ann, move(1))

    assert value(run) == "illegal"


# -- 4. what a branch does -------------------------------------------------------------------------------------------


def test_fields_stay_bound_in_later_states_and_a_branch_not_taken_binds_nothing() -> None:
    run, ann = seated("""
        play:
          await: ann
          within: reply
          receive: {MOVE: {if: move < 5, then: more}}
          fault: {return: reason}
        more:
          await: ann
          within: reply
          receive: {MOVE: {if: move < 5, then: stay}, QUIT: {return: move}}
          invalid: stay
          timeout: {return: "'late'"}
          closed: {return: "'gone'"}
    """)

    run.say(ann, move(3), move(9), "quit")

    assert value(run) == 3


def test_the_keys_of_a_branch_are_done_in_one_order_whatever_the_order_written() -> None:
    run, ann = seated("""
        play:
          within: reply
          await: ann
          receive:
            MOVE:
              return: [n, m]
              drop: ann
              send: SAID([n, m])
              let: {n: move + 1, m: n}
          fault: {return: reason}
          let: {n: 10, m: 0}
    """)

    run.say(ann, move(1))

    assert run.heard(ann) == [said([2, 10])]  # every right side saw the old values, what follows the new ones
    assert ann in run.dropped
    assert value(run) == (2, 10)


def test_do_is_done_in_the_order_written() -> None:
    run, ann = seated("""
        play:
          do:
            - {let: {n: 1}}
            - {send: {ann: SAID(n)}}
            - {let: {n: n + 1}}
            - {send: {ann: SAID(n)}}
            - {drop: ann}
            - {send: {ann: BYE}}
          return: n
    """)

    assert run.heard(ann) == [said(1), said(2)]
    assert any("BYE is not sent" in note for note in run.notes)
    assert value(run) == 2


def test_peer_is_who_spoke_and_a_bare_send_goes_there() -> None:
    run, ann, bob = seated(
        """
        play:
          await: guests
          within: reply
          receive: {MOVE: {send: SAID(peer.name), then: stay}}
          fault: {return: [reason, peer.name]}
        """,
        guests=2,
    )

    run.say(bob, move(1))
    run.say(ann, move(1), "quit")

    assert run.heard(bob) == [said("bob")]
    assert run.heard(ann) == [said("ann")]
    assert value(run) == ("unexpected", "ann")


# -- 5. what follows -------------------------------------------------------------------------------------------------


def test_a_return_goes_back_to_the_caller_whose_keys_after_run_are_then_done() -> None:
    run, ann = seated(
        """
        play: {run: inner(ann), as: {got: result + 1, twice: result + result}, then: told}
        told: {send: {ann: SAID(got)}, return: twice}
        """,
        machines="""
        inner(who):
          asked: {await: who, within: reply, receive: {MOVE: passed}, fault: {return: 0}}
          passed: [{if: move > 5, return: move}, asked]
        """,
    )

    run.say(ann, move(1), move(6))

    assert run.heard(ann) == [said(7)]
    assert value(run) == 12


def test_a_callee_sees_its_own_names_only_and_cannot_change_its_callers() -> None:
    run, _ = seated(
        "play: {let: {n: 1}, run: inner(n), as: got, then: over}\nover: {return: [n, got]}",
        machines="inner(n):\n  one: {let: {n: n + 41}, return: n}",
    )

    assert value(run) == (1, 42)


def test_two_messages_in_one_write_and_one_message_in_many_are_the_same() -> None:
    whole, ann = seated(ECHO)
    parts, bob = seated(ECHO)
    data = b'{"move": 1}\r\n{"move": 2}\n\n{"move": 3}\n"quit"\n'

    whole.write(ann, data)
    for position in range(len(data)):
        parts.write(bob, data[position : position + 1])

    assert whole.effects == parts.effects
    assert whole.took == parts.took


@pytest.mark.parametrize("framing", ["lines", "json", "length"])
def test_a_talk_is_the_same_over_every_framing(framing: str) -> None:
    text = text_of("main:\n  door: {accept: enter(peer), as: guests, seats: 1, within: never, then: begin}\n"
                   "  begin:\n    let:\n      ann: guests[0]\n    then: play\n"
                   + ECHO.replace("\n", "\n  ") + ENTER)  # fmt: skip
    run = Run(text.replace("framing: lines", f"framing: {framing}"), "server", {"acts": module("acts", ACTS)})
    ann = run.join()

    run.say(ann, name("ann"), move(1), move(2), "quit")

    assert run.heard(ann) == [said(1), said(2)]
    assert value(run) == "done"


# -- 6. a rule that raises ---------------------------------------------------------------------------------------------


def test_if_a_rule_raises_nothing_of_the_event_has_happened_but_what_came_before_is_out() -> None:
    run, ann, bob = seated(
        """
        play:
          await: ann
          within: reply
          receive:
            MOVE: {send: {bob: SAID(move)}, then: stay}
            QUIT: {send: {bob: BYE}, then: worse}
          fault: {return: reason}
        worse: {send: {bob: PONG}, let: {n: acts.boom()}, return: n}
        """,
        guests=2,
    )

    run.say(ann, move(1), "quit")

    assert run.heard(bob) == [said(1)]
    assert "ZeroDivisionError: boom" in failure(run)
    assert set(run.dropped) == {ann, bob}
