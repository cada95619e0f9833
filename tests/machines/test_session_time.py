"""Time: limits of waits and calls, ties, what keeps a clock and what starts it afresh, moments, and counted limits."""

from __future__ import annotations

import pytest

from tests.support.sketch import failure, move, said, seated, value

# -- within ----------------------------------------------------------------------------------------------------------

TIMED = """
play:
  await: ann
  within: reply
  receive:
    MOVE: {if: move == 0, then: stay}
    PING: again
    QUIT: {return: elapsed}
    NUMBER: play
  timeout: {return: "'late'"}
  invalid: {return: reason}
  closed: {return: reason}
"""


@pytest.mark.parametrize(("after", "result"), [(4.9, 4.9), (5.0, 5.0), (5.1, "late")])
def test_a_message_stamped_at_the_deadline_is_in_time_and_one_stamped_later_is_not(
    after: float, result: object
) -> None:
    run, ann = seated(TIMED)

    run.now = after  # the loop itself was late: no clock has rung yet
    run.say(ann, "quit")

    assert value(run) == result


def test_a_message_counts_when_its_last_byte_has_come() -> None:
    run, ann = seated(TIMED)

    run.write(ann, b'"qu')
    run.wait(5.0)
    run.write(ann, b'it"\n')

    assert value(run) == "late"


def test_what_waits_in_an_inbox_comes_before_a_clock_that_rings_at_the_same_moment() -> None:
    run, ann, bob = seated(
        """
        play: {await: ann, within: reply, receive: {MOVE: next}, fault: {return: "'late'"}}
        next: {await: bob, within: 0 s, receive: {MOVE: {return: move}}, fault: {return: reason}}
        """,
        guests=2,
    )
    run.say(bob, move(3))

    run.now = 5.0
    run.say(ann, move(0))

    assert value(run) == 3


def test_a_wait_of_no_time_is_over_as_soon_as_the_clock_is_looked_at() -> None:
    run, _ = seated("play: {await: ann, within: 0 s, receive: {MOVE: {return: move}}, fault: {return: reason}}")
    assert run.ended is None

    run.wait(0.0)

    assert value(run) == "late"


@pytest.mark.parametrize(
    ("word", "late_at"),
    [(move(0), 5.0), ("ping", 7.0), (12, 7.0)],
    ids=["stay keeps the clock", "again starts it afresh", "the state's own name too"],
)
def test_what_is_next_decides_about_the_clock(word: object, late_at: float) -> None:
    run, ann = seated(TIMED)

    run.wait(2.0)
    run.say(ann, word)
    run.wait(late_at - 2.1)
    assert run.ended is None
    run.wait(0.1)

    assert value(run) == "late"


@pytest.mark.parametrize(("word", "seconds"), [(move(0), 3.0), ("ping", 3.0), (12, 1.0)])
def test_elapsed_counts_from_when_the_state_was_entered(word: object, seconds: float) -> None:
    run, ann = seated(TIMED)

    run.wait(2.0)
    run.say(ann, word)
    run.wait(1.0)
    run.say(ann, "quit")

    assert value(run) == seconds


def test_again_does_not_do_the_steps_of_the_state_again_and_its_own_name_does() -> None:
    run, ann = seated("""
        play:
          send: BYE
          await: ann
          within: reply
          receive: {PING: again, MOVE: stay, NUMBER: play}
          fault: {return: reason}
    """)

    run.say(ann, "ping", move(1))
    assert run.heard(ann) == ["bye"]
    run.say(ann, 1)

    assert run.heard(ann) == ["bye"]


def test_a_time_limit_may_be_an_expression_over_names() -> None:
    run, ann = seated("""
        start: {let: {bank: 10}, then: play}
        play:
          await: ann
          within: bank
          receive: {MOVE: {let: {bank: bank - elapsed}, then: play}}
          timeout: {return: bank}
          invalid: {return: reason}
          closed: {return: reason}
    """)

    run.wait(4.0)
    run.say(ann, move(1))
    run.wait(5.9)
    assert run.ended is None
    run.wait(0.1)

    assert value(run) == 6.0


def test_within_on_a_call_limits_the_whole_call() -> None:
    run, ann = seated(
        "play: {run: dialogue(ann), within: reply, timeout: {return: reason}, then: over}\nover: {return: null}",
        machines="""
        dialogue(who):
          asked: {await: who, within: 3 s, receive: {MOVE: asked}, fault: {return: null}}
        """,
    )

    run.wait(2.0)
    run.say(ann, move(1))
    run.wait(2.0)
    run.say(ann, move(1))
    run.wait(1.0)

    assert value(run) == "late"


def test_within_on_each_in_turn_limits_each_item() -> None:
    run, ann, _ = seated(
        """
        play:
          each: guest in guests
          run: dialogue(guest)
          within: reply
          timeout: {return: guest.name}
          then: over
        over: {return: null}
        """,
        guests=2,
        machines="dialogue(who):\n  asked: {await: who, within: never, receive: {MOVE: {return: null}}}",
    )

    run.wait(4.0)
    run.say(ann, move(1))
    run.wait(4.9)
    assert run.ended is None
    run.wait(0.1)

    assert value(run) == "bob"


def test_within_in_always_limits_each_wait_behind_it_that_has_none_of_its_own() -> None:
    run, ann = seated(
        "play: {run: dialogue(ann), as: got, then: over}\nover: {return: got}",
        always="within: 2 s\nfault: {return: reason}",
        machines="""
        dialogue(who):
          first: {await: who, receive: {MOVE: second}}
          second: {await: who, within: reply, receive: {MOVE: {return: move}}, timeout: third}
          third: {await: who, receive: {MOVE: {return: move}}}
        """,
    )

    run.wait(1.9)
    run.say(ann, move(1))
    run.wait(5.0)  # second has its own limit
    run.wait(1.9)
    assert run.ended is None
    run.wait(0.1)

    assert value(run) == "late"


def test_peer_of_a_late_wait_is_the_one_awaited() -> None:
    run, _ = seated(
        "play: {await: ann, within: reply, receive: {MOVE: stay}}\nover: {return: peer.name}",
        always="timeout: over",
    )

    run.wait(5.0)

    assert value(run) == "ann"


def test_two_clocks_that_ring_at_one_moment_ring_in_the_order_of_their_age() -> None:
    run, _ = seated(
        """
        play:
          run: dialogue(ann)
          within: 5 s
          timeout: {return: "'outer'"}
          then: over
        over: {return: "'inner'"}
        """,
        machines="dialogue(who):\n  asked: {await: who, within: 5 s, receive: {MOVE: stay}, fault: {return: null}}",
    )

    run.wait(5.0)

    assert value(run) == "outer"


def test_clocks_that_a_late_loop_missed_ring_by_their_deadlines() -> None:
    run, ann = seated("""
        play:
          await: ann
          within: 5 s
          after:
            3 s: {send: {ann: SAID('warned')}, then: stay}
          receive: {MOVE: stay}
          fault: {send: {ann: SAID('late')}, return: null}
    """)

    run.wait(60.0)
    assert run.heard(ann) == [said("warned"), said("late")]

    slow, bob = seated("""
        play:
          await: ann
          within: 5 s
          after:
            3 s: {send: {ann: SAID('warned')}, then: stay}
          receive: {MOVE: stay}
          fault: {send: {ann: SAID('late')}, return: null}
    """)
    slow.now = 60.0
    slow.write(bob, b"")

    assert slow.heard(bob) == [said("warned"), said("late")]


# -- after and every -------------------------------------------------------------------------------------------------

MOMENTS = """
play:
  await: ann
  within: 10 s
  after:
    brief: {send: {ann: SAID('soon')}, then: stay}
    4 s: {if: warned, send: {ann: SAID('sooner')}, then: stay}
  every:
    3 s: {send: {ann: SAID(elapsed)}, then: stay}
  receive: {MOVE: stay, PING: again, NUMBER: play}
  fault: {return: reason}
"""


def test_after_rings_once_and_every_again_and_again() -> None:
    run, ann = seated("start: {let: {warned: true}, then: play}\n" + MOMENTS)

    run.wait(10.0)

    assert run.heard(ann) == [said("soon"), said(3.0), said("sooner"), said(6.0), said(9.0)]
    assert value(run) == "late"


def test_a_moment_whose_branches_refuse_leaves_a_note_and_nothing_else() -> None:
    run, ann = seated("start: {let: {warned: false}, then: play}\n" + MOMENTS)

    run.wait(5.0)

    assert run.heard(ann) == [said("soon"), said(3.0)]
    assert any("no branch of after1" in note for note in run.notes)


@pytest.mark.parametrize(
    ("word", "heard"),
    [(move(1), [said("soon"), said(3.0)]), ("ping", [said("soon"), said(4.0)]), (1, [said("soon"), said(3.0)])],
)
def test_again_starts_moments_afresh_and_stay_does_not(word: object, heard: list[object]) -> None:
    run, ann = seated("start: {let: {warned: false}, then: play}\n" + MOMENTS)

    run.wait(1.0)
    run.say(ann, word)
    run.wait(2.0 if word == move(1) else 3.0)

    assert run.heard(ann) == heard


def test_moments_of_an_always_run_from_the_start_of_its_machine_through_all_its_states() -> None:
    run, ann = seated(
        "play: {run: dialogue(ann), as: got, then: over}\nover: {return: got}",
        machines="""
        dialogue(who):
          always: {after: {6 s: {send: {who: BYE}, then: stay}}, every: {4 s: {send: {who: PONG}, then: stay}}}
          first: {await: who, within: never, receive: {MOVE: second}, closed: {return: null}, invalid: {return: null}}
          second: {await: who, within: never, receive: {MOVE: {return: 2}}, closed: {return: 0}, invalid: {return: 1}}
        """,
    )

    run.wait(3.0)
    run.say(ann, move(1))
    run.wait(6.0)
    assert run.heard(ann) == ["pong", "bye", "pong"]
    run.say(ann, move(1))

    assert value(run) == 2


# -- limit -----------------------------------------------------------------------------------------------------------

COUNTED = """
play:
  await: ann
  within: never
  receive:
    MOVE: {limit: LIMIT, send: SAID(move), then: NEXT}
    PING: {limit: LIMIT, send: PONG, then: stay}
    QUIT: {return: "'done'"}
  invalid: {send: BYE, then: stay}
  closed: {return: reason}
"""


def test_a_plain_limit_counts_since_the_state_was_entered_and_one_name_is_one_count() -> None:
    run, ann = seated(COUNTED.replace("LIMIT", "two").replace("NEXT", "stay"))

    run.say(ann, move(1), "ping", move(2), "ping")
    run.wait(1000.0)
    run.say(ann, move(3))

    assert run.heard(ann) == [said(1), "pong", "bye", "bye", "bye"]


def test_entering_the_state_afresh_begins_a_plain_count_afresh() -> None:
    run, ann = seated(COUNTED.replace("LIMIT", "two").replace("NEXT", "play"))

    run.say(ann, move(1), move(2), move(3), "ping", "ping", "ping")

    assert run.heard(ann) == [said(1), said(2), said(3), "pong", "pong", "bye"]


def test_a_rate_counts_within_its_seconds_whatever_is_entered_afresh() -> None:
    run, ann = seated(COUNTED.replace("LIMIT", "pace").replace("NEXT", "play"))

    run.say(ann, move(1))
    run.wait(6.0)
    run.say(ann, "ping", move(2))
    run.wait(4.0)
    run.say(ann, move(3), move(4))
    run.wait(6.0)
    run.say(ann, move(5))

    assert run.heard(ann) == [said(1), "pong", "bye", said(3), "bye", said(5)]


def test_a_refused_branch_is_not_counted() -> None:
    run, ann = seated("""
        play:
          await: ann
          within: never
          receive:
            MOVE:
              - {if: acts.odd(move), limit: 1, send: SAID(move), then: stay}
          invalid: {send: SAID(reason), then: stay}
          closed: {return: reason}
    """)

    run.say(ann, move(2), move(4), move(1), move(3))

    assert run.heard(ann) == [said("illegal"), said("illegal"), said(1), said("limit")]


def test_an_always_shares_the_count_of_a_name_with_its_own_states_and_not_with_other_calls() -> None:
    run, ann = seated(
        "play: {each: number in 1..2, run: dialogue(ann), then: over}\nover: {return: null}",
        machines="""
        dialogue(who):
          always: {receive: {PING: {limit: pace, send: PONG, then: stay}}, invalid: {send: BYE, then: stay}}
          first:
            await: who
            within: never
            receive: {MOVE: {limit: pace, send: SAID(move), then: stay}, QUIT: {return: null}}
        """,
    )

    run.say(ann, move(1), "ping", "ping", move(2), "quit", "ping", move(3), move(4))

    assert run.heard(ann) == [said(1), "pong", "bye", "bye", "pong", said(3), "bye"]


def test_a_duration_that_is_no_number_fails_the_machine() -> None:
    run, _ = seated(
        """
        start: {let: {bank: "'soon'"}, then: play}
        play: {await: ann, within: bank, receive: {MOVE: stay}, fault: {return: reason}}
        """
    )

    assert "is not a duration" in failure(run)
