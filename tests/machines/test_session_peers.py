"""Peers: waiting for a group, dropping and losing, and who may await whom."""

from __future__ import annotations

import pytest

from machines.effects import Violation
from machines.engine.transaction import SWEEP_MIN
from tests.support.session_harness import Run
from tests.support.sketch import failure, move, said, seated, serve, value

# -- groups ----------------------------------------------------------------------------------------------------------

GROUP = """
start: {let: {lost: 0}, then: play}
play:
  await: guests
  within: reply
  receive: {MOVE: {send: SAID(move), then: stay}}
  invalid: {drop: peer, then: stay}
  closed: {let: {lost: lost + 1}, then: stay}
  timeout: {return: lost}
"""


def test_the_loss_of_one_of_a_group_is_told_once() -> None:
    run, ann, bob = seated(GROUP, guests=2)

    run.lose(ann)
    run.say(bob, move(1), move(2))
    run.wait(5.0)

    assert run.heard(bob) == [said(1), said(2)]
    assert value(run) == 1


def test_one_of_a_group_that_is_dropped_is_closed_too_and_the_others_go_on() -> None:
    run, ann, bob = seated(GROUP, guests=2)

    run.say(ann, "quit", move(1))
    run.say(bob, move(2))
    run.wait(5.0)

    assert run.heard(ann) == []
    assert run.heard(bob) == [said(2)]
    assert value(run) == 1


def test_an_empty_group_is_told_once_though_another_state_is_entered_before_that_is_told() -> None:
    run, ann = seated(
        """
        start: {let: {nobody: [], told: 0}, then: play}
        play: {await: ann, within: reply, receive: {MOVE: one}, fault: {return: reason}}
        one: {start: brief, await: nobody, within: reply, closed: stay, fault: {return: reason}, ended: two}
        two:
          await: nobody
          within: reply
          closed: {let: {told: told + 1}, then: stay}
          fault: {return: told}
        """,
        machines="brief: {over: {return: null}}",
    )

    run.say(ann, move(1))
    run.wait(5.0)

    assert value(run) == 1


@pytest.mark.parametrize("emptied", ["lost before", "dropped before", "no one"])
def test_a_group_with_nobody_in_it_answers_closed_at_once(emptied: str) -> None:
    run, ann = seated("""
        play: {await: ann, within: reply, receive: {MOVE: {drop: ann, then: group}, QUIT: bare}, fault: group}
        bare: {let: {nobody: []}, then: none}
        none: {await: nobody, within: reply, fault: {return: reason}}
        group: {await: guests, within: reply, fault: {return: reason}}
    """)

    if emptied == "lost before":
        run.lose(ann)
    elif emptied == "dropped before":
        run.say(ann, move(1))
    else:
        run.say(ann, "quit")

    assert run.now == 0.0
    assert value(run) == "closed"


# -- dropping and losing ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["dropped", "lost"])
def test_a_wait_on_a_seat_that_is_gone_answers_closed_at_once(how: str) -> None:
    run, ann, bob = seated(
        """
        play: {await: ann, within: reply, receive: {MOVE: {drop: bob, then: next}, QUIT: next}, fault: {return: reason}}
        next: {await: bob, within: reply, receive: {MOVE: stay}, fault: third}
        third: {await: bob, within: reply, receive: {MOVE: stay}, fault: {return: reason}}
        """,
        guests=2,
    )

    if how == "lost":
        run.lose(bob)
    run.say(ann, move(1) if how == "dropped" else "quit")

    assert value(run) == "closed"
    assert [state for _, state, _, _ in run.took][-3:] == ["play", "next", "third"]


CALLING = """
main:
  begin: {let: {first: null}, then: door}
  door:
    accept: enter(peer)
    as: guests
    await: guests
    within: never
    seated: [{if: first == null, let: {first: peer}}, {}]
    receive: {MOVE: calling, QUIT: {drop: peer, then: stay}}
    invalid: {drop: peer, then: stay}
  calling: {await: first, within: reply, receive: {MOVE: door}, closed: {send: {guests: BYE}, then: door}, fault: door}
enter(peer): {over: {return: null}}
"""


@pytest.mark.parametrize("others", [0, SWEEP_MIN])
@pytest.mark.parametrize("way", ["lost", "dropped"])
def test_what_is_told_of_a_peer_that_is_gone_is_the_same_once_its_seat_was_given_up(way: str, others: int) -> None:
    run = serve(CALLING)
    first = run.join()
    if way == "lost":
        run.lose(first)
    else:
        run.say(first, "quit")
    for _ in range(others):
        run.lose(run.join())
    guest = run.join()
    assert (run.session.seats[first].number == first) == (not others)

    run.say(guest, move(1))

    told = [(effect.peer, effect.kind) for effect in run.effects if isinstance(effect, Violation)]
    assert told == ([(first, "closed")] if way == "lost" else [])
    assert run.heard(guest) == ["bye"]


def test_a_role_that_one_connects_to_stays_itself_however_many_others_come_and_go() -> None:
    run = Run(
        """
        protocol: relayed
        connects: {client: relay, relay: ai}
        messages: {client: {HI: hi}, relay: {OK: ok}, ai: {YES: yes}}
        roles:
          relay:
            main:
              door:
                accept: enter(peer)
                as: guests
                await: guests
                within: never
                receive: {HI: asked}
                invalid: {drop: peer, then: stay}
              asked: {await: ai, within: 5 s, receive: {YES: door}, closed: told, fault: door}
              told: {send: {guests: OK}, then: door}
            enter(peer): {over: {return: null}}
          ai: {main: {over: {return: null}}}
          client: {main: {over: {return: null}}}
        """,
        "relay",
    )
    run.lose(0)
    guest = run.join()
    run.say(guest, "hi")
    for _ in range(SWEEP_MIN):
        run.lose(run.join())

    run.say(guest, "hi")

    told = [(effect.peer, effect.role, effect.kind) for effect in run.effects if isinstance(effect, Violation)]
    assert told == [(0, "ai", "closed")] * 2
    assert run.heard(guest) == ["ok", "ok"]


def test_a_second_drop_is_nothing_and_a_send_to_one_dropped_is_skipped_with_a_note() -> None:
    run, ann, bob = seated("play: {do: [{drop: ann}, {drop: guests}, {send: {guests: BYE}}], return: null}", guests=2)

    assert run.heard(ann) == []
    assert run.heard(bob) == []
    assert sorted(run.dropped) == [ann, bob]
    assert sum("BYE is not sent" in note for note in run.notes) == 2


def test_what_a_dropped_peer_had_sent_or_sends_is_never_read() -> None:
    run, ann, bob = seated(
        """
        play: {await: ann, within: reply, receive: {MOVE: {drop: bob, then: next}}, fault: {return: reason}}
        next: {await: bob, within: reply, receive: {QUIT: {return: null}}, fault: {return: reason}}
        """,
        guests=2,
    )
    run.say(bob, "quit", "quit")

    run.say(ann, move(1))

    assert value(run) == "closed"
    assert any("2 unread of it" in note for note in run.notes)


def test_gone_says_what_the_network_has_said_by_then() -> None:
    run, ann, bob = seated(
        """
        play:
          await: ann
          within: reply
          receive:
            MOVE:
              - {if: gone(bob), return: "'gone'"}
              - {send: SAID('there'), then: stay}
          fault: {return: reason}
        """,
        guests=2,
    )

    run.say(ann, move(1))
    run.lose(bob)
    run.say(ann, move(1))

    assert run.heard(ann) == [said("there")]
    assert value(run) == "gone"


def test_peers_that_are_left_at_the_end_are_closed_after_their_last_messages() -> None:
    run, ann, bob = seated("play: {send: {guests: BYE}, return: null}", guests=2)

    assert run.heard(ann) == ["bye"]
    assert run.heard(bob) == ["bye"]
    assert run.dropped == {ann: "the session is over", bob: "the session is over"}


# -- who holds a seat ------------------------------------------------------------------------------------------------


def test_two_that_await_one_peer_side_by_side_fail() -> None:
    run, _ = seated(
        """
        play:
          each: number in 1..2
          parallel: two
          run: turn(ann)
          return: null
        """,
        machines="""
        turn(who):
          asked: {await: who, within: reply, receive: {MOVE: {return: move}}, fault: {return: 0}}
        """,
    )

    assert "awaits peer 0 already" in failure(run)


def test_a_seat_lent_to_a_callee_comes_back_when_the_callee_ends() -> None:
    run, ann = seated(
        """
        play: {await: ann, within: reply, receive: {QUIT: {return: "'back'"}, MOVE: lent}, fault: {return: reason}}
        lent: {run: turn(ann), then: play}
        """,
        machines="turn(who):\n  asked: {await: who, within: reply, receive: {MOVE: {return: move}}}",
    )

    run.say(ann, move(1), move(2), "quit")

    assert value(run) == "back"


def test_a_state_that_stays_looks_again_at_whom_it_awaits() -> None:
    run, ann, bob = seated(
        """
        play:
          let: {some: guests, turn: ann}
          then: asked
        asked:
          await: turn
          within: reply
          receive:
            MOVE:
              let: {turn: bob}
              send: SAID(move)
              then: stay
            QUIT: {return: peer.name}
          fault: {return: reason}
        """,
        guests=2,
    )

    run.say(bob, move(2))
    assert run.heard(bob) == []
    run.say(ann, move(1), move(9))
    run.say(bob, "quit")

    assert run.heard(ann) == [said(1)]
    assert run.heard(bob) == [said(2)]
    assert value(run) == "bob"


def test_a_state_that_awaits_a_group_and_then_one_of_it_lets_the_others_go() -> None:
    run, ann, bob = seated(
        """
        start: {let: {who: guests}, then: play}
        play:
          await: who
          within: reply
          receive:
            MOVE:
              let: {who: peer}
              send: SAID(move)
              then: stay
          invalid: {return: peer.name}
          fault: {return: reason}
        """,
        guests=2,
    )

    run.say(ann, move(1))
    run.say(bob, move(2))
    run.say(ann, move(3))

    assert run.heard(ann) == [said(1), said(3)]
    assert run.heard(bob) == []


@pytest.mark.parametrize("awaited", ["ann", "guests"])
def test_a_peer_whose_bytes_make_no_sense_any_more_is_closed_after_its_fault(awaited: str) -> None:
    run, ann = seated(
        f"""
        play:
          await: {awaited}
          within: reply
          receive: {{MOVE: stay}}
          invalid: {{send: SAID(reason), then: stay}}
          fault: {{return: reason}}
        """,
        wire="message_bytes_max: 50",
    )

    run.write(ann, b"x" * 60)

    assert run.heard(ann) == [said("malformed")]  # it can still be written to
    assert value(run) == "closed"


def test_a_peer_is_equal_to_itself_with_other_fields_and_its_fields_can_be_read() -> None:
    run, _, _ = seated(
        """
        play:
          return:
            - ann == guests[0]
            - ann == bob
            - ann in guests
            - bob.name
        """,
        guests=2,
    )

    assert value(run) == (True, False, True, "bob")
