"""What goes wrong inside: a rule that raises undoes its transition, ``failed`` branches answer, or the session ends."""

from __future__ import annotations

import pytest

from machines.effects import Ask, Cancel, Drop, Ended
from tests.support.sketch import client, failure, move, name, said, seated, serve, value

# -- a transition is a transaction -----------------------------------------------------------------------------------


def test_a_branch_that_raises_undoes_names_sends_drops_and_state() -> None:
    run, ann, bob = seated(
        """
        start: {let: {n: 1}, then: play}
        play:
          await: ann
          within: reply
          receive:
            MOVE:
              do:
                - {let: {n: 2}}
                - {send: {guests: BYE}}
                - {drop: bob}
                - {let: {m: acts.boom(n)}}
              then: other
          fault: {return: reason}
          failed: {send: {guests: SAID(n)}, then: after}
        other: {return: "'other'"}
        after: {await: bob, within: reply, receive: {MOVE: {return: n}}, fault: {return: reason}}
        """,
        guests=2,
    )

    run.say(ann, move(1))

    assert run.heard(ann) == [said(1)]
    assert run.heard(bob) == [said(1)]
    assert run.dropped == {}
    run.say(bob, move(1))
    assert value(run) == 1


def test_the_steps_of_a_state_that_raise_undo_only_themselves_and_what_led_there_stands() -> None:
    run, ann = seated("""
        start: {let: {n: 1}, then: play}
        play:
          await: ann
          within: reply
          receive: {MOVE: {let: {n: 2}, send: SAID(n), then: broken}}
          fault: {return: reason}
        broken:
          do: [{let: {n: 3}}, {send: {ann: BYE}}, {let: {m: acts.boom()}}]
          failed: {return: n}
          within: never
    """)

    run.say(ann, move(1))

    assert run.heard(ann) == [said(2)]
    assert value(run) == 2


@pytest.mark.parametrize(
    "wrong",
    ["acts.boom()", "n + 'a'", "guests[7]", "n.field", "1 < 'a'", "not n", "acts.mutable()", "9223372036854775807 + n"],
)
def test_whatever_an_expression_raises_is_a_failure_of_its_machine(wrong: str) -> None:
    run, _ = seated(f"""
        start: {{let: {{n: 1}}, then: broken}}
        broken:
          let:
            n: {wrong}
          within: never
          failed: {{return: n}}
    """)

    assert value(run) == 1
    assert any("failed:" in note for note in run.notes)


def test_a_guard_that_raises_or_gives_no_boolean_fails_the_machine() -> None:
    for guard in ("acts.boom()", "move", "acts.list(move)"):
        run, ann = seated(f"""
            play:
              await: ann
              within: reply
              receive: {{MOVE: {{if: {guard}, then: stay}}}}
              fault: {{return: reason}}
              failed: {{return: "'failed'"}}
        """)

        run.say(ann, move(1))

        assert value(run) == "failed"


def test_a_value_that_does_not_fit_its_field_is_a_failure_and_nothing_is_sent() -> None:
    run, ann = seated("play: {send: {ann: [PONG, SAID(guests)]}, return: null}")

    assert run.heard(ann) == []
    assert "at said, got" in failure(run)


def test_a_count_of_a_limit_is_undone_with_its_branch() -> None:
    run, ann = seated(
        "play: {run: dialogue(ann), failed: play, within: never, then: over}\nover: {return: null}",
        always="invalid: {return: reason}\nclosed: {return: reason}",
        machines="""
        dialogue(who):
          always: {failed: asked}
          asked:
            await: who
            within: never
            receive:
              MOVE:
                - {if: move == 0, limit: pace, let: {n: acts.boom()}, then: stay}
                - {limit: pace, send: SAID(move), then: stay}
        """,
    )

    run.say(ann, move(0), move(0), move(0), move(1), move(2))

    assert run.heard(ann) == [said(1), said(2)]


# -- who answers a failure -------------------------------------------------------------------------------------------

INNER = """
inner(who):
  asked:
    await: who
    within: never
    receive: {MOVE: {let: {n: acts.boom()}, return: n}, QUIT: {return: "'quit'"}}
"""


@pytest.mark.parametrize(
    ("at", "result"),
    [
        ("state", "state"),
        ("always", "always"),
        ("caller", "caller"),
        ("caller's always", "caller's always"),
    ],
)
def test_the_nearest_failed_branch_answers(at: str, result: str) -> None:
    places = ["state", "always", "caller", "caller's always"]
    answers = {
        place: f"failed: {{return: \"'{place.replace(chr(39), '')}'\"}}"
        if places.index(place) >= places.index(at)
        else ""
        for place in places
    }
    run, ann = seated(
        f"""
        play:
          run: middle(ann)
          within: never
          as: got
          {answers["caller"]}
          then: over
        over: {{return: got}}
        """,
        always=f"closed: {{return: reason}}\ninvalid: {{return: reason}}\n{answers[places[3]]}",
        machines=f"""
        middle(who):
          always:
            within: never
            {answers["always"]}
          asked:
            await: who
            {answers["state"]}
            receive:
              MOVE:
                let: {{n: acts.boom()}}
                return: n
        """,
    )

    run.say(ann, move(1))

    assert value(run) == result.replace("'", "")


def test_with_no_failed_branch_the_session_ends_as_failed_says_where_and_closes_everybody() -> None:
    run, ann, bob = seated("play: {run: inner(ann), within: never, then: over}\nover: {return: null}", guests=2,
                           machines=INNER, always="closed: {return: 0}\ninvalid: {return: 0}")  # fmt: skip

    run.say(ann, move(1))

    assert "main.inner[0]" in failure(run)
    assert "ZeroDivisionError: boom" in failure(run)
    assert set(run.dropped) == {ann, bob}
    assert isinstance(run.effects[-1], Ended)
    assert run.session.where() == "over"


def test_a_peer_dropped_in_the_event_that_fails_the_session_is_closed_with_the_others_once() -> None:
    run, ann, bob = seated(
        """
        play:
          await: ann
          within: reply
          receive: {MOVE: {send: {guests: BYE}, drop: bob, then: broken}}
          fault: {return: reason}
        broken: {let: {n: acts.boom()}, return: n}
        """,
        guests=2,
    )

    run.say(ann, move(1))

    assert [effect.peer for effect in run.effects if isinstance(effect, Drop)] == [ann, bob]
    assert run.heard(bob) == []
    assert "boom" in failure(run)


def test_side_by_side_a_machine_that_fails_and_answers_for_itself_leaves_its_siblings_alone() -> None:
    run, ann, bob, cal = seated(
        """
        start: {let: {got: []}, then: play}
        play:
          each: guest in guests
          parallel: 3
          run: turn(guest)
          as:
            got: got + [result]
          return: got
        """,
        guests=3,
        machines="""
        turn(who):
          always: {failed: {return: "'failed'"}, fault: {return: reason}}
          asked: {run: inner(who), within: reply, as: got, then: over}
          over: {return: got}
        """
        + INNER.replace("\n", "\n        "),
    )

    run.say(bob, move(1))
    assert run.ended is None
    run.say(ann, "quit")
    run.say(cal, "quit")

    assert value(run) == ("quit", "failed", "quit")


def test_a_failed_branch_of_the_parallel_state_ends_all_its_items_and_keeps_what_they_returned() -> None:
    run, _, bob, cal = seated(
        """
        start: {let: {got: []}, then: play}
        play:
          each: guest in guests
          parallel: 3
          run: inner(guest)
          as:
            got: got + [result]
          failed: {return: got}
          invalid: {return: reason}
          closed: {return: reason}
          then: over
        over: {return: null}
        """,
        guests=3,
        machines=INNER,
    )

    run.say(cal, "quit")
    run.say(bob, move(1))

    assert value(run) == ("quit",)


def test_a_sign_up_that_fails_loses_its_peer_and_the_door_stays_open() -> None:
    run = serve("""
    main:
      door: {accept: enter(peer), as: guests, seats: 1, within: long, timeout: {return: null}, then: over}
      over: {return: len(guests)}
    enter(peer):
      named: {await: peer, within: brief, receive: {NAME: {return: {name: name}}, MOVE: {return: acts.boom()}}}
    """)
    ann, bob = run.join(), run.join()

    run.say(ann, move(1))
    assert ann in run.dropped
    assert any("its sign-up failed" in note for note in run.notes)
    run.say(bob, name("bob"))

    assert value(run) == 1


def test_a_seated_branch_that_raises_leaves_nobody_half_seated() -> None:
    run = serve("""
    main:
      door:
        accept: enter(peer)
        as: guests
        seats: 2
        within: long
        seated:
          if: peer.name != 'ann' or acts.boom()
          send: SAID(len(guests))
          then: stay
        failed: stay
        timeout: {return: len(guests)}
        then: over
      over: {return: len(guests)}
    """)
    ann, bob = run.join(), run.join()

    run.say(ann, name("ann"))
    assert ann in run.dropped
    run.say(bob, name("bob"))
    assert run.heard(bob) == [said(0)]
    run.wait(20.0)

    assert value(run) == 1


@pytest.mark.parametrize("kept", ["stay", "again"])
@pytest.mark.parametrize(
    ("opens", "leads"),
    [("seats: len(guests) - 1", "then: over"), ("seats: len(guests)", "then: [{if: acts.boom(), then: over}, over]")],
    ids=["it cannot open", "it has shut"],
)
def test_a_sign_up_that_is_not_open_cannot_be_kept_and_fails_further_out(kept: str, opens: str, leads: str) -> None:
    run = serve(f"""
    main:
      always: {{failed: {{return: "'outside'"}}}}
      begin: {{let: {{guests: []}}, then: door}}
      door: {{accept: enter(peer), as: guests, {opens}, within: long, failed: {kept}, timeout: {{return: 1}}, {leads}}}
      over: {{return: null}}
    """)

    assert value(run) == "outside"
    assert sum("cannot be kept" in note for note in run.notes) == 1


def test_a_failure_is_told_of_once_however_many_layers_refuse_it() -> None:
    run, ann = seated(
        """
        play:
          await: ann
          within: reply
          receive: {MOVE: {return: acts.boom()}}
          fault: {return: reason}
          failed: {if: 1 > 2, return: 1}
        """,
        always="failed: {if: 1 > 2, return: 2}",
    )

    run.say(ann, move(1))

    assert "boom" in failure(run)
    assert sum(") failed: " in note for note in run.notes) == 1


def test_a_failed_branch_that_fails_is_answered_further_out() -> None:
    run, ann = seated(
        """
        play:
          await: ann
          within: reply
          receive: {MOVE: {return: acts.boom()}}
          fault: {return: reason}
          failed: {return: acts.boom()}
        """,
        always="failed: {return: \"'outside'\"}",
    )

    run.say(ann, move(1))

    assert value(run) == "outside"


# -- bounds ----------------------------------------------------------------------------------------------------------


def test_ten_thousand_steps_without_waiting_are_a_failure() -> None:
    run, _ = seated(
        "start: {let: {n: 0}, then: one}\none: {let: {n: n + 1}, then: two}\ntwo: [{if: n < 0, then: start}, one]"
    )

    assert "10000 steps without waiting" in failure(run)


def test_a_loop_of_more_silent_items_than_that_is_one_too_and_a_huge_one_costs_nothing() -> None:
    for top, why in ((20_000, "10000 steps without waiting"), (9_000_000_000_000_000_000, "each over more than")):
        run, _ = seated(f"""
            start: {{let: {{n: 0}}, then: play}}
            play:
              each: number in 1..{top}
              let: {{n: n + 1}}
              return: n
        """)

        assert why in failure(run)


def test_failed_branches_in_a_circle_end_the_session() -> None:
    run, _ = seated("""
        one: {let: {n: acts.boom()}, within: never, failed: two}
        two: {let: {n: acts.boom()}, within: never, failed: one}
    """)

    assert "boom" in failure(run)


# -- the built-in answer ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", ["timeout", "invalid", "closed"])
def test_what_nobody_answers_ends_the_session_as_failed_and_says_what_it_waited_for(event: str) -> None:
    run = client("main: {asked: {within: reply, receive: {PONG: {return: 1}}}}")

    if event == "timeout":
        run.wait(5.0)
    elif event == "invalid":
        run.say(0, "bye")
    else:
        run.lose(0)

    assert failure(run).startswith("main in asked (test.yaml:")
    assert event in failure(run)


def test_abandoning_cancels_clocks_and_questions_innermost_first_and_runs_no_step() -> None:
    run = client("""
    main:
      always: {receive: {BYE: {return: "'over'"}}}
      play: {run: thinking, within: never, then: play}
    thinking:
      think: {ask: what, within: reply, receive: {MOVE: {send: MOVE, return: 1}}, timeout: {send: QUIT, return: 0}}
    """)

    run.say(0, "bye")
    run.wait(60.0)

    assert value(run) == "over"
    assert run.cancelled == [1]
    assert run.all_sent == []


def test_a_question_that_the_failing_event_put_or_took_back_is_open_for_nobody() -> None:
    run = client("""
    main:
      play:
        ask: what
        within: reply
        receive: {MOVE: {return: move}, PONG: next}
      next: {run: thinking, then: broken}
      broken: {let: {n: acts.boom()}, return: n}
    thinking: {over: {return: null}}
    """)

    run.say(0, "pong")

    assert "boom" in failure(run)
    asked = [effect.number for effect in run.effects if isinstance(effect, Ask)]
    assert asked == [1]
    assert [effect.number for effect in run.effects if isinstance(effect, Cancel)] == [1]


def test_nothing_happens_after_the_end() -> None:
    run, ann = seated("play: {await: ann, within: reply, receive: {MOVE: {return: 1}}, fault: {return: reason}}")
    run.say(ann, move(1))
    before = list(run.effects)

    run.say(ann, move(2))
    run.lose(ann)
    run.wait(100.0)
    late = run.join()

    assert run.effects[len(before) :] == [Drop(late, "the session is over")]
