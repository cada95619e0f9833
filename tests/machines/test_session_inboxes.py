"""Inboxes: what a peer sends before anyone hears it, how much of it is kept, and what an early message is."""

from __future__ import annotations

import pytest

from machines.effects import Pause, Resume
from tests.support.sketch import move, name, said, seated, serve, value

ECHO = """
play:
  await: ann
  within: reply
  receive:
    MOVE: {send: SAID(move), then: stay}
    QUIT: {return: "'done'"}
  fault: {return: reason}
"""

# -- waiting ---------------------------------------------------------------------------------------------------------


def test_a_message_of_a_peer_that_nobody_hears_waits_for_the_next_who_does() -> None:
    run, ann, bob = seated(
        """
        play: {await: ann, within: reply, receive: {MOVE: next}, fault: {return: reason}}
        next: {await: bob, within: reply, receive: {MOVE: {return: move}}, fault: {return: reason}}
        """,
        guests=2,
    )

    run.say(bob, move(7), move(8))
    assert run.ended is None
    run.say(ann, move(1))

    assert value(run) == 7


@pytest.mark.parametrize("then", ["stay", "again", "play"])
def test_a_branch_that_has_an_always_hear_more_wakes_what_waited_for_that(then: str) -> None:
    run, ann, bob = seated(
        f"""
        start: {{let: {{heard: []}}, then: play}}
        play: {{await: ann, within: reply, receive: {{MOVE: {{let: {{heard: guests}}, then: {then}}}}}, fault: over}}
        over: {{return: 0}}
        """,
        guests=2,
        always="await: heard\nreceive: {PING: {send: PONG, then: stay}}",
    )

    run.say(bob, "ping")
    assert run.heard(bob) == []
    run.say(ann, move(1))

    assert run.heard(bob) == ["pong"]


def test_what_waited_is_met_in_the_order_in_which_it_was_sent() -> None:
    run, ann, bob = seated(
        """
        play: {await: ann, within: reply, receive: {MOVE: next}, fault: {return: reason}}
        next:
          await: bob
          within: reply
          receive:
            MOVE: {send: SAID(move), then: stay}
            QUIT: {return: "'quit'"}
          fault: {return: reason}
        """,
        guests=2,
    )
    run.say(bob, move(1), move(2))
    run.lose(bob)

    run.say(ann, move(0))

    assert run.taken[-3:] == ["MOVE", "MOVE", "MOVE"]
    assert value(run) == "closed"


def test_a_loss_comes_after_all_that_the_peer_had_sent() -> None:
    run, ann = seated(ECHO)

    run.write(ann, b'{"move": 1}\n{"move": 2}\n"quit"')  # the last line is ended by the loss itself
    run.lose(ann)

    assert run.taken[-3:] == ["MOVE", "MOVE", "QUIT"]
    assert value(run) == "done"


# -- bounded inboxes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", ["inbox_messages_max: 3", "inbox_bytes_max: 30"])
def test_a_full_inbox_stops_the_reading_of_that_peer_and_an_emptied_one_resumes_it(bound: str) -> None:
    run, ann, bob = seated(
        """
        play: {await: ann, within: reply, receive: {MOVE: next}, fault: {return: reason}}
        next:
          await: bob
          within: reply
          receive: {MOVE: {send: SAID(move), then: stay}}
          fault: {return: reason}
        """,
        guests=2,
        wire=bound,
    )

    for number in range(5):
        run.say(bob, move(number))
    assert [effect for effect in run.effects if isinstance(effect, Pause)] == [Pause(bob)]
    assert not any(isinstance(effect, Resume) for effect in run.effects)
    run.say(ann, move(0))

    assert [effect for effect in run.effects if isinstance(effect, Resume)] == [Resume(bob)]
    assert run.heard(bob) == [said(number) for number in range(5)]


def test_what_comes_after_a_full_inbox_stays_bytes_and_is_not_lost_when_the_peer_leaves() -> None:
    run, ann, bob = seated(
        """
        play: {await: ann, within: reply, receive: {MOVE: next}, fault: {return: reason}}
        next:
          await: bob
          within: reply
          receive: {MOVE: stay}
          fault: {return: reason}
        """,
        guests=2,
        wire="inbox_messages_max: 2",
    )
    run.write(bob, b'{"move": 1}\n' * 9)
    run.lose(bob)

    run.say(ann, move(0))

    assert run.taken.count("MOVE") == 10
    assert value(run) == "closed"


# -- urgent messages ---------------------------------------------------------------------------------------------------


def test_an_urgent_message_overtakes_what_waits_and_the_others_keep_their_order() -> None:
    run, ann, bob = seated(
        """
        play: {await: ann, within: reply, receive: {MOVE: next}, fault: {return: reason}}
        next: {await: bob, within: reply, receive: {MOVE: {send: SAID(move), then: stay}}, fault: {return: reason}}
        """,
        guests=2,
        always="await: guests\nreceive: {PING: {send: PONG, then: stay}}",
        top="urgent: [PING]",
    )

    run.say(bob, move(1), move(2), "ping")
    assert run.heard(bob) == ["pong"]
    run.say(ann, move(0))

    assert run.heard(bob) == [said(1), said(2)]


def test_an_urgent_message_that_nobody_lists_now_waits_like_any_other() -> None:
    run, ann, bob = seated(
        """
        play: {await: ann, within: reply, receive: {MOVE: next}, fault: {return: reason}}
        next: {await: bob, within: reply, receive: {MOVE: stay, PING: {return: "'pinged'"}}, fault: {return: reason}}
        """,
        guests=2,
        top="urgent: [PING]",
    )

    run.say(bob, move(1), "ping")
    run.say(ann, move(0))

    assert value(run) == "pinged"
    assert run.taken[-2:] == ["MOVE", "PING"]


def test_an_urgent_message_that_is_refused_waits_its_turn_and_is_told_of_once() -> None:
    run, ann = seated(
        """
        play:
          await: ann
          within: reply
          receive: {MOVE: stay, PING: {if: 1 > 2, then: stay}}
          invalid: {send: SAID(reason), then: stay}
          fault: {return: reason}
        """,
        top="urgent: [PING]",
    )

    run.write(ann, b'{"move": 1}\n"ping"\n{"move": 2}\n')

    assert run.taken[1:] == ["MOVE", "PING", "MOVE"]
    assert run.heard(ann) == [said("illegal")]


def test_urgent_messages_after_the_end_are_nothing() -> None:
    run, ann = seated(
        "play: {await: ann, within: reply, receive: {MOVE: stay}, fault: {return: reason}}",
        always="await: guests\nreceive: {PING: {return: \"'pinged'\"}}\nfailed: {return: \"'failed'\"}",
        top="urgent: [PING]",
    )

    run.write(ann, b'"ping"\n"ping"\n{"move": 1}\n"ping"\n')

    assert value(run) == "pinged"
    assert run.taken == ["NAME", "PING"]
    assert sum("failed" in note for note in run.notes) == 0


# -- early messages --------------------------------------------------------------------------------------------------

WAITING = """
play: {{await: ann, within: reply, {early}receive: {{MOVE: next}}, fault: {{return: reason}}}}
next:
  await: bob
  within: reply
  receive: {{MOVE: {{return: move}}, PING: {{return: "'ping'"}}}}
  fault: {{return: reason}}
"""


@pytest.mark.parametrize(("policy", "result"), [("keep", 5), ("fault", "early"), ("ignore", 6)])
@pytest.mark.parametrize("where", ["wire", "role", "machine", "state"])
def test_what_an_early_message_is_can_be_said_at_wire_role_machine_and_state(
    where: str, policy: str, result: object
) -> None:
    said_at = f"early: {policy}"
    machine = "early: ignore" if where == "state" else said_at if where == "machine" else ""
    states = WAITING.format(early=said_at + ", " if where == "state" else "")
    main = f"""
main:
  {machine}
  door: {{accept: enter(peer), as: guests, seats: 2, within: long, timeout: {{return: null}}, then: begin}}
  begin:
    let:
      ann: guests[0]
      bob: guests[1]
    then: play
"""
    main += "".join(f"  {line}\n" for line in states.strip().splitlines())
    enter = "enter(peer):\n  named: {await: peer, within: brief, receive: {NAME: {return: {name: name}}}}\n"
    role = said_at + "\n" if where == "role" else ""
    run = serve(role + main + enter, wire=said_at if where == "wire" else "early: ignore")
    ann, bob = run.join(), run.join()
    run.say(ann, name("ann"))
    run.say(bob, name("bob"))

    run.say(bob, move(5))
    run.say(ann, move(0))
    if run.ended is None:
        run.say(bob, move(6))

    assert value(run) == result
    assert any("ignored" in note for note in run.notes) == (policy == "ignore")


def test_a_peer_marked_early_answers_for_it_before_anything_new() -> None:
    run, ann, bob = seated(WAITING.format(early=""), guests=2, wire="early: fault")

    run.say(bob, move(5), "ping")
    run.say(ann, move(0))

    assert value(run) == "early"


def test_the_innermost_call_that_was_given_the_peer_says_what_its_early_message_is() -> None:
    run, ann, bob = seated(
        """
        play:
          run: duel([ann, bob])
          as: got
          then: over
        over: {return: got}
        """,
        guests=2,
        wire="early: fault",
        machines="""
        duel(pair):
          early: ignore
          first:
            run: turn(pair[0])
            then: second
          second:
            await: pair[1]
            within: reply
            receive: {MOVE: {return: move}}
            fault: {return: reason}
        turn(who):
          early: fault
          asked: {await: who, within: reply, receive: {MOVE: {return: move}}, fault: {return: reason}}
        """,
    )

    run.say(bob, move(5))  # was given to duel, not to turn
    run.say(ann, move(1))
    run.say(bob, move(6))

    assert value(run) == 6
