"""Sign-ups: how peers come in and are seated, what frees a seat, and what ends a sign-up."""

from __future__ import annotations

import pytest

from tests.support.sketch import move, name, said, seated, serve, value

DOOR = """
main:
  door:
    accept: enter(peer)
    as: guests
    seats: {seats}
    {linger}
    within: long
    timeout: {{return: "'too few'"}}
    then: full
  full: {{return: len(guests)}}
"""


def door(seats: str, linger: str = "") -> str:
    return DOOR.format(seats=seats, linger=linger)


# -- signing up ------------------------------------------------------------------------------------------------------


def test_sign_ups_run_side_by_side_and_seats_are_taken_in_the_order_in_which_they_end() -> None:
    run = serve("""
    main:
      door: {accept: enter(peer), as: guests, seats: 3, within: long, timeout: {return: null}, then: told}
      told: {each: guest in guests, send: {guests: SAID(guest.name)}, then: over}
      over: {return: guests}
    """)
    ann, bob, cal = run.join(), run.join(), run.join()

    run.say(cal, name("cal"))
    run.say(ann, name("ann"))
    run.say(bob, name("bob"))

    assert run.heard(ann) == [said("cal"), said("ann"), said("bob")]
    assert [peer.number for peer in value(run)] == [cal, ann, bob]


@pytest.mark.parametrize("fault", ["unexpected", "malformed", "closed", "late"])
def test_a_sign_up_that_fails_takes_no_seat_and_loses_its_peer_only(fault: str) -> None:
    run = serve(door("2"))
    ann, bob, cal = run.join(), run.join(), run.join()
    run.say(ann, name("ann"))

    if fault == "unexpected":
        run.say(bob, "ping")
    elif fault == "malformed":
        run.write(bob, b"]\n")
    elif fault == "closed":
        run.lose(bob)
    elif fault == "late":
        run.wait(1.0)
        dan = run.join()
        run.wait(1.0)
        run.say(dan, name("dan"))
    if fault != "late":
        run.say(cal, name("cal"))

    assert value(run) == 2
    assert bob in run.dropped or fault == "closed"


def test_a_sign_up_that_drops_its_own_peer_takes_no_seat() -> None:
    run = serve("""
    main:
      door: {accept: enter(peer), as: guests, seats: 1, within: long, timeout: {return: null}, then: full}
      full: {return: len(guests)}
    enter(peer):
      named:
        await: peer
        within: brief
        receive: {NAME: {return: null}, QUIT: {drop: peer, return: null}}
    """)
    ann, bob = run.join(), run.join()

    run.say(ann, "quit")
    assert run.ended is None
    run.say(bob, name("bob"))

    assert value(run) == 1


def test_a_sign_up_under_way_when_the_window_closes_is_closed_and_never_returns() -> None:
    run = serve("""
    main:
      door: {accept: enter(peer), as: guests, seats: 1..5, within: 1 s, timeout: {return: null}, then: play}
      play: {await: guests, within: long, receive: {MOVE: stay}, fault: {return: len(guests)}}
    """)
    ann, bob = run.join(), run.join()
    run.say(ann, name("ann"))

    run.wait(1.0)
    assert bob in run.dropped
    run.say(bob, name("bob"))
    run.wait(30.0)

    assert value(run) == 1


def test_the_last_seat_shuts_the_door_at_once_for_those_still_signing_up_and_those_to_come() -> None:
    run, ann = seated("play: {await: ann, within: reply, receive: {MOVE: stay}, fault: {return: reason}}")

    late = run.join()

    assert run.dropped == {late: "the door is shut"}
    run.lose(ann)
    assert value(run) == "closed"


@pytest.mark.parametrize(("named", "result"), [(2, 2), (1, "too few")])
def test_the_end_of_the_window_goes_on_with_enough_and_is_a_timeout_with_too_few(named: int, result: object) -> None:
    run = serve(door("2..3"))
    for number in range(named):
        run.say(run.join(), name(f"g{number}"))

    run.wait(19.0)
    assert run.ended is None
    run.wait(1.0)

    assert value(run) == result


def test_lingering_begins_with_enough_ends_with_too_few_and_begins_afresh() -> None:
    run = serve(door("2..4", "linger: reply"))
    ann, bob = run.join(), run.join()
    run.say(ann, name("ann"))
    run.say(bob, name("bob"))

    run.wait(4.0)
    run.lose(bob)  # too few again: the lingering is over
    run.wait(4.0)
    assert run.ended is None
    run.say(run.join(), name("cal"))
    run.wait(4.0)
    run.say(run.join(), name("dan"))  # one more than enough does not start it afresh
    assert run.ended is None
    run.wait(1.0)

    assert value(run) == 3


def test_an_accept_into_the_same_name_goes_on_with_those_seated_and_with_sign_ups_under_way() -> None:
    run = serve("""
    main:
      door: {accept: enter(peer), as: guests, seats: 3, within: 1 s, timeout: second, then: over}
      second: {accept: enter(peer), as: guests, seats: 2, within: reply, timeout: {return: null}, then: over}
      over: {return: len(guests)}
    """)
    ann, bob = run.join(), run.join()
    run.say(ann, name("ann"))

    run.wait(1.0)
    assert run.dropped == {}
    run.say(bob, name("bob"))

    assert value(run) == 2


def test_an_accept_into_another_name_closes_the_sign_ups_under_way() -> None:
    run = serve("""
    main:
      door: {accept: enter(peer), as: guests, seats: 2, within: 1 s, timeout: more, then: over}
      more: {accept: enter(peer), as: others, seats: 1, within: reply, timeout: {return: null}, then: over}
      over: {return: [len(guests), len(others)]}
    """)
    ann, bob = run.join(), run.join()
    run.say(ann, name("ann"))

    run.wait(1.0)
    assert bob in run.dropped
    run.say(run.join(), name("cal"))

    assert value(run) == (1, 1)


def test_a_state_between_two_accepts_that_waits_shuts_the_door() -> None:
    run = serve("""
    main:
      door: {accept: enter(peer), as: guests, seats: 2, within: 1 s, timeout: play, then: play}
      play: {await: guests, within: 1 s, receive: {MOVE: stay}, fault: more}
      more: {accept: enter(peer), as: guests, seats: 2, within: reply, timeout: {return: null}, then: over}
      over: {return: len(guests)}
    """)
    ann, bob = run.join(), run.join()
    run.say(ann, name("ann"))

    run.wait(1.0)
    assert bob in run.dropped
    run.wait(1.0)
    run.say(run.join(), name("cal"))

    assert value(run) == 2


# -- seated ----------------------------------------------------------------------------------------------------------


def test_seated_may_give_the_peer_fields_and_sees_those_seated_earlier() -> None:
    run = serve("""
    main:
      door:
        accept: enter(peer)
        as: guests
        seats: 2
        within: long
        seated:
          let: {peer.place: len(guests)}
          send: SAID(peer.place)
        timeout: {return: null}
        then: over
      over:
        return:
          - guests[0].place
          - guests[1].place
    """)
    ann, bob = run.join(), run.join()

    run.say(ann, name("ann"))
    run.say(bob, name("bob"))

    assert run.heard(ann) == [said(0)]
    assert run.heard(bob) == [said(1)]
    assert value(run) == (0, 1)


def test_seated_may_refuse_a_seat() -> None:
    run = serve("""
    main:
      door:
        accept: enter(peer)
        as: guests
        seats: 1
        within: long
        seated: {if: peer.name == 'bob', then: stay}
        timeout: {return: null}
        then: over
      over: {return: len(guests)}
    """)
    ann, bob = run.join(), run.join()

    run.say(ann, name("ann"))
    assert run.dropped == {ann: "it was refused a seat"}
    run.say(bob, name("bob"))

    assert value(run) == 1


@pytest.mark.parametrize("flood", [0, 1, 300])
def test_a_seated_peer_that_leaves_frees_its_seat_whatever_it_had_sent(flood: int) -> None:
    run = serve(door("2"))
    ann, bob, cal = run.join(), run.join(), run.join()
    run.say(ann, name("ann"))
    run.write(ann, b'"ping"\n' * flood)

    run.lose(ann)
    run.say(bob, name("bob"))
    assert run.ended is None
    run.say(cal, name("cal"))

    assert value(run) == 2


def test_closed_may_add_steps_when_a_seated_peer_leaves() -> None:
    run = serve("""
    main:
      door:
        accept: enter(peer)
        as: guests
        seats: 3
        within: long
        closed:
          send: {guests: SAID(peer.name)}
        timeout: {return: len(guests)}
        then: over
      over: {return: null}
    """)
    ann, bob = run.join(), run.join()
    run.say(ann, name("ann"))
    run.say(bob, name("bob"))

    run.lose(bob)
    run.wait(20.0)

    assert run.heard(ann) == [said("bob")]
    assert value(run) == 1


def test_an_open_door_without_seats_stays_open_and_hears_those_seated() -> None:
    run = serve("""
    main:
      door:
        accept: enter(peer)
        as: guests
        await: guests
        within: long
        receive:
          MOVE:
            send: {guests: SAID(peer.name)}
            then: stay
        invalid: {drop: peer, then: stay}
        timeout: {return: len(guests)}
    """)
    ann, bob = run.join(), run.join()
    run.say(ann, name("ann"))
    run.say(bob, name("bob"), move(1), "quit")
    run.wait(20.0)

    assert run.heard(ann) == [said("bob")]
    assert bob in run.dropped
    assert value(run) == 1


def test_connected_answers_a_connection_that_comes_to_a_shut_door() -> None:
    run, ann = seated(
        "play: {await: ann, within: reply, receive: {MOVE: stay}, fault: {return: reason}}",
        always="connected: {send: BYE, drop: peer, then: stay}",
    )

    late = run.join()

    assert run.heard(late) == ["bye"]
    assert late in run.dropped
    run.say(ann, move(1))
    assert run.ended is None


def test_who_is_seated_may_end_the_sign_up_and_has_the_seat_all_the_same() -> None:
    run = serve("""
    main:
      door: {accept: enter(peer), as: guests, seats: 3, within: long, seated: {then: told}, timeout: over, then: over}
      told: {each: guest in guests, send: {guests: SAID(guest.name)}, then: over}
      over: {return: guests}
    """)
    ann, bob = run.join(), run.join()

    run.say(ann, name("ann"))

    assert run.heard(ann) == [said("ann")]
    assert [peer.number for peer in value(run)] == [ann]
    assert run.session.seats[bob].dropped
