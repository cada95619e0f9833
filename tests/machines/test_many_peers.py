"""What many peers cost: an event beside a thousand others looks at no more of them than one alone."""

from __future__ import annotations

import importlib.metadata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machines.engine import admission, routing
from machines.expressions.builtins import put, without
from machines.flat_records import FlatRecord
from machines.parser import loader
from machines.values import Record, freeze
from tests.support.sketch import failure, move, name, said, seated, serve, value

CHAT = """
main:
  open:
    accept: enter(peer)
    as: guests
    await: guests
    within: never
    receive:
      PING: {send: SAID('pong'), then: stay}
    invalid: {then: stay}
    closed: {then: stay}
"""
TURNS = """
turn(turn):
  a: [{if: turn >= 0, then: b}, b]
  b: [{if: turn >= 0, then: c}, c]
  c: {return: turn}
"""


class Count:
    """Counts the calls of a function that it stands before."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.calls = 0

    def __call__(self, *given: Any, **named: Any) -> Any:
        self.calls += 1
        return self.function(*given, **named)


def looks_at_peers(peers: int, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Return how many seats and frames a message, and then a newcomer, beside so many peers had looked at."""
    run = serve(CHAT)
    seats = [run.join() for _ in range(peers)]
    for seat in seats:
        run.say(seat, name(f"guest{seat}"))
    looked, walked = Count(admission.restore_peer), Count(routing.frames)
    monkeypatch.setattr(admission, "restore_peer", looked)
    monkeypatch.setattr(routing, "frames", walked)
    run.say(seats[0], "ping")
    assert run.heard(seats[0])[-1] == said("pong")
    message = looked.calls + walked.calls
    run.say(run.join(), name("late"))
    return message, looked.calls + walked.calls - message


def test_a_message_and_a_newcomer_look_at_no_peer_but_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert looks_at_peers(40, monkeypatch) == looks_at_peers(4, monkeypatch)
    assert sum(looks_at_peers(40, monkeypatch)) <= 2


def test_a_guest_that_left_is_heard_no_more_and_the_others_are() -> None:
    run = serve(CHAT)
    ann, bob, cal = run.join(), run.join(), run.join()
    for guest in (ann, bob, cal):
        run.say(guest, name(f"g{guest}"))

    run.lose(bob)
    run.say(ann, "ping")
    run.say(cal, "ping")

    assert run.heard(ann)[-1] == run.heard(cal)[-1] == said("pong")
    assert [seat.number for seat in run.session.root.hears] == [ann, cal]  # type: ignore[union-attr]


STEPS = st.lists(st.tuples(st.sampled_from(["join", "join", "lose", "ping", "drop"]), st.integers(0, 7)), max_size=30)


@pytest.mark.parametrize("awaited", ["guests", "others", "[]"])
@given(steps=STEPS)
def test_who_is_heard_when_somebody_left_is_who_would_be_if_all_were_looked_at_again(
    awaited: str, steps: list[tuple[str, int]]
) -> None:
    """The short way, which takes one out of those heard, beside the long one, which asks each of them."""
    assert heard_after(steps, awaited, short=True) == heard_after(steps, awaited, short=False)


def heard_after(steps: list[tuple[str, int]], awaited: str, *, short: bool) -> list[Any]:
    run = serve(CHAT.replace("await: guests", f"await: {awaited}").replace("open:", "open:\n    let: {others: []}", 1))
    found: list[Any] = []
    for kind, number in steps:
        seats = [seat.number for seat in run.session.seats if not seat.gone]
        if kind == "join" or not seats:
            run.say(run.join(), name(f"g{number}"))
        elif kind == "lose":
            root = run.session.root
            if not short and root is not None and root.accepting is not None:
                root.accepting.heard = None, None, ()  # so that it knows nothing of whom it heard
            run.lose(seats[number % len(seats)])
        else:
            run.say(seats[number % len(seats)], "quit" if kind == "drop" else "ping")
        assert run.session.root is not None
        heard = [seat.number for seat in run.session.root.hears]
        holders = [seat.number for seat in run.session.seats if seat.holder is not None]
        found.append((heard, holders, [run.heard(seat.number) for seat in run.session.seats]))
    return found


BUSY = """
main:
  open:
    accept: enter(peer)
    as: guests
    await: guests
    within: never
    receive:
      PING: {let: {who: peer}, then: answering}
      QUIT: {let: {who: peer}, drop: peer, then: counting}
      MOVE:
        - {if: move == 1, let: {who: peer}, then: alone}
        - {if: move == 2, let: {guests: guests except peer}, then: counting}
        - {if: move == 3, let: {who: peer}, then: failing}
        - {if: move == 4, let: {who: peer}, then: another}
        - {let: {who: peer}, then: asking}
    invalid: {drop: peer, then: counting}
    closed: {then: stay}
    failed: {then: counting}
  answering: {send: {who: SAID('pong')}, then: open}
  counting: {let: {count: len(guests)}, then: counted}
  counted: {send: {guests: SAID(count)}, then: open}
  failing: {let: {count: acts.boom()}, then: open}
  alone: {await: who, within: brief, receive: {PING: open}, fault: {then: open}}
  asking: {run: ask(who), then: open}
  another:
    accept: enter(peer)
    as: others
    within: never
    await: who
    receive: {PING: open}
    fault: {then: open}
ask(one):
  asked: {await: one, within: brief, receive: {PING: {return: null}}, fault: {return: null}}
"""
WORDS = st.sampled_from(["ping", "ping", "quit", "1", "2", "3", "4", "5", "junk"])
DEEDS = st.lists(
    st.tuples(st.sampled_from(["join", "join", "say", "say", "say", "lose", "wait"]), st.integers(0, 5), WORDS),
    max_size=25,
)


@settings(max_examples=150, deadline=None)
@given(deeds=DEEDS)
def test_a_sign_up_that_is_left_and_entered_at_once_hears_whom_it_would_if_it_looked_at_each(
    deeds: list[tuple[str, int, str]],
) -> None:
    assert done(deeds, short=True) == done(deeds, short=False)


def done(deeds: list[tuple[str, int, str]], *, short: bool) -> list[Any]:
    run = serve(BUSY)
    assert run.session.program.starts is False
    run.session.program.starts = not short  # a role that starts machines looks at each
    found: list[Any] = []
    for kind, number, word in deeds:
        if run.session.ended is not None:
            break
        seats = [seat.number for seat in run.session.seats if not seat.gone]
        if kind == "join" or not seats:
            run.say(run.join(), name(f"g{number}"))
        elif kind == "lose":
            run.lose(seats[number % len(seats)])
        elif kind == "wait":
            run.wait(3)
        else:
            said_by = seats[number % len(seats)]
            run.say(said_by, move(int(word)) if word.isdigit() else word)
        found.append((run.session.where(), [run.heard(seat.number) for seat in run.session.seats]))
        found.append([(seat.number, seat.holder.node.name) for seat in run.session.seats if seat.holder is not None])
    return found


def test_a_message_that_leaves_a_sign_up_and_comes_back_looks_at_no_peer_but_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = []
    for peers in (4, 40):
        run = serve(BUSY)
        seats = [run.join() for _ in range(peers)]
        for seat in seats:
            run.say(seat, name(f"guest{seat}"))
        with monkeypatch.context() as patch:
            looked = Count(admission.restore_peer)
            patch.setattr(admission, "restore_peer", looked)
            run.say(seats[0], "ping")
        assert run.heard(seats[0])[-1] == said("pong")
        counts.append(looked.calls)

    assert counts[0] == counts[1] <= 2


def test_a_sign_up_that_is_entered_again_and_again_is_known_once() -> None:
    run = serve(BUSY)
    guest = run.join()
    run.say(guest, name("ann"))
    for _ in range(5):
        run.say(guest, "ping")  # leaves the sign-up, and comes back at once

    assert run.heard(guest).count(said("pong")) == 5
    assert len(run.session.sign_ups) == 1


def test_a_guest_whose_bytes_make_no_sense_leaves_although_its_fault_keeps_the_state() -> None:
    run = serve(CHAT)
    ann, bob = run.join(), run.join()
    run.say(ann, name("ann"))
    run.say(bob, name("bob"))

    run.write(bob, b"x" * ((1 << 20) + 2))  # longer than any message may be
    run.say(ann, "ping")

    assert run.heard(ann)[-1] == said("pong")
    assert [seat.number for seat in run.session.root.hears] == [ann]  # type: ignore[union-attr]


def test_one_session_starts_four_thousand_games_side_by_side_and_each_has_its_steps() -> None:
    run, _ = seated("""
        play:
          each: turn in 1..4000
          parallel: 4000
          run: turn(turn)
          then: over
        over: {return: "'all have begun'"}
        """, machines=TURNS)  # fmt: skip

    assert value(run) == "all have begun"


def test_items_side_by_side_that_never_wait_are_stopped_all_the_same() -> None:
    run, _ = seated("""
        play:
          each: turn in 1..50
          parallel: 50
          run: turn(turn)
          then: play
        """, machines=TURNS)  # fmt: skip

    assert "steps without waiting" in failure(run)


# -- stores ----------------------------------------------------------------------------------------------------------

KEYS = st.sampled_from(["a", "b", "c", "é"])
ITEMS = st.one_of(st.integers(-3, 3), st.sampled_from(["x", "ü"]), st.just((1, "y")), st.just(Record(k=1)))


@given(st.lists(st.tuples(KEYS, ITEMS), max_size=12))
def test_put_makes_what_a_dict_would_and_leaves_what_was(steps: list[tuple[str, Any]]) -> None:
    store: Any = Record()
    model: dict[str, Any] = {}
    for key, item in steps:
        before, was = store, dict(store)
        store = put(store, key, item)
        model[key] = item
        assert list(store.items()) == list(model.items())
        assert before == was
        assert freeze(store) == store
        assert hash(store) == hash(Record(model))
    assert without(store, "a") == {key: item for key, item in model.items() if key != "a"}


def test_a_store_of_texts_is_known_to_be_frozen_however_large_it_grows() -> None:
    store: Any = Record()
    for number in range(1000):
        store = put(store, f"key{number}", str(number))

    assert type(store) is FlatRecord
    assert freeze(store) is store


def test_a_record_that_is_flat_cannot_change() -> None:
    with pytest.raises(TypeError, match="immutable"):
        put(Record(), "a", 1)["a"] = 2


@pytest.mark.parametrize("inside", [(1,), Record(a=1), "ü", [1], 1 << 70])
def test_what_holds_more_than_scalars_is_not_taken_for_flat(inside: Any) -> None:
    assert type(put(Record(), "a", inside)) is Record
    assert type(put(Record(a=inside), "b", 1)) is Record


# -- what is installed -----------------------------------------------------------------------------------------------


def test_what_is_installed_is_read_once_however_many_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    loader.allowed_rules()
    scans = Count(importlib.metadata.entry_points)
    monkeypatch.setattr(importlib.metadata, "entry_points", scans)

    loader.allowed_rules()
    loader.allowed_rules(["my.own.chess"])

    assert scans.calls == 0
    assert "chess" not in loader.allowed_rules()
