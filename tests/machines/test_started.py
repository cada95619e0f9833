"""Machines that nobody waits for, and live values: a lobby with tables, a service with requests in flight, a chat."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from machines.checks import check
from machines.engine.call_stack import RELEASED_PEERS
from machines.engine.transaction import SWEEP_MIN
from machines.model import Spec
from machines.parser.loader import load
from tests.support.session_harness import Run
from tests.support.sketch import move, name, said, seated, serve, value

FOLDER = Path(__file__).resolve().parents[1] / "specs"


def spec(name: str, **settings: str) -> Spec:
    return load(str(FOLDER / f"{name}.yaml"), settings=settings)


@pytest.mark.parametrize("which", ["tables", "requests", "rooms"])
def test_nothing_is_wrong_with_it(which: str) -> None:
    assert check(spec(which)) == []


# -- tables ----------------------------------------------------------------------------------------------------------


def sit(run: Run, *names: str) -> list[int]:
    peers = []
    for word in names:
        peer = run.join()
        run.say(peer, {"sit": word})
        peers.append(peer)
    return peers


def test_two_who_sit_down_play_while_others_come_and_play_too() -> None:
    run = Run(spec("tables"), "lobby")

    ann, bob, cal, dan = sit(run, "ann", "bob", "cal", "dan")

    assert run.heard(ann) == ["seated", {"highest": 0}]
    assert run.heard(bob) == ["seated"]
    assert run.heard(cal) == ["seated", {"highest": 0}]
    run.say(ann, 7)
    run.say(cal, 3)
    assert run.heard(bob) == [{"highest": 7}]
    assert run.heard(dan) == ["seated", {"highest": 3}]
    run.say(dan, 4)
    assert run.heard(cal) == run.heard(dan) == [{"number": 4}]
    assert set(run.dropped) == {cal, dan}
    assert run.ended is None


def test_a_name_is_unique_among_those_signing_up_at_once_and_those_inside() -> None:
    run = Run(spec("tables"), "lobby")
    first, second = run.join(), run.join()

    run.say(second, {"sit": "ann"})
    run.say(first, {"sit": "ann"})
    run.say(first, {"sit": "bob"})

    assert run.heard(second) == ["seated", {"highest": 0}] or run.heard(second)[0] == "seated"
    assert run.heard(first)[:2] == ["taken", "seated"]


def test_the_tables_are_as_many_as_the_setting_says_and_one_that_ends_makes_room() -> None:
    run = Run(spec("tables", tables="1"), "lobby")
    ann, bob, cal, dan = sit(run, "ann", "bob", "cal", "dan")

    assert run.heard(dan) == ["full"]
    for peer in (ann, bob):
        run.say(peer, 1)
    (eve,) = sit(run, "eve")

    assert run.heard(eve) == ["seated"]
    assert run.heard(cal) == ["seated", {"highest": 0}]


def test_what_is_legal_everywhere_is_heard_at_a_table_too() -> None:
    run = Run(spec("tables"), "lobby")
    ann, bob = sit(run, "ann", "bob")
    run.heard(ann), run.heard(bob)

    run.say(bob, "who")
    run.say(ann, "who")

    assert run.heard(ann) == [["ann", "bob"]]
    assert run.heard(bob) == [], "nobody awaits it yet"
    run.say(ann, 1)
    assert run.heard(bob) == [{"highest": 1}, ["ann", "bob"]]


@pytest.mark.parametrize("how", ["lost", "nonsense", "late"])
def test_who_spoils_a_table_spoils_no_other(how: str) -> None:
    run = Run(spec("tables"), "lobby")
    ann, bob, cal, dan = sit(run, "ann", "bob", "cal", "dan")
    run.say(cal, 5)
    for peer in (ann, bob, cal, dan):
        run.heard(peer)

    if how == "lost":
        run.lose(ann)
    elif how == "nonsense":
        run.say(ann, {"highest": 3})
    else:
        run.wait(4)
        run.say(dan, 6)
        run.wait(1)

    assert run.heard(bob) == [{"highest": 0}]
    if how != "late":
        run.say(dan, 6)
    assert run.heard(dan) == [{"number": 6}]


def test_a_lobby_that_closes_ends_its_tables() -> None:
    run = Run(spec("tables", open="1 min"), "lobby")
    ann, bob = sit(run, "ann", "bob")
    for _ in range(3):
        run.say(ann, 1)
        run.say(bob, 2)
        ann, bob = sit(run, "ann", "bob")

    run.wait(90)

    assert run.ended is not None
    assert run.ended.failed is None


# -- requests --------------------------------------------------------------------------------------------------------


def ask(number: int, wait: float, twice: int = 21) -> dict[str, Any]:
    return {"id": number, "double": twice, "after": wait}


def test_answers_come_when_they_are_ready_each_with_its_id() -> None:
    run = Run(spec("requests"), "service")

    run.say(0, ask(1, 3), ask(2, 1, 5), ask(3, 2))
    run.wait(10)

    assert run.heard(0) == [{"id": 2, "result": 10}, {"id": 3, "result": 42}, {"id": 1, "result": 42}]


def test_one_that_is_cancelled_is_not_answered() -> None:
    run = Run(spec("requests"), "service")

    run.say(0, ask(1, 1), ask(2, 2), {"cancel": 1})
    run.wait(10)

    assert run.heard(0) == [{"id": 2, "result": 42}]


def test_so_many_are_in_flight_and_no_more() -> None:
    run = Run(spec("requests", flight="2"), "service")

    run.say(0, *(ask(number, 1) for number in range(4)))

    assert run.heard(0) == [{"id": 2, "busy": True}, {"id": 3, "busy": True}]
    run.wait(1)
    assert [heard["id"] for heard in run.heard(0)] == [0, 1]
    run.lose(0)
    assert value(run) == 2


# -- rooms -----------------------------------------------------------------------------------------------------------


def enter(run: Run, *names: str) -> list[int]:
    peers = []
    for word in names:
        peer = run.join()
        run.say(peer, {"hello": word})
        assert run.heard(peer) == ["welcome"]
        peers.append(peer)
    return peers


def test_what_is_said_in_a_room_is_heard_there() -> None:
    run = Run(spec("rooms"), "server")
    ann, bob, cal = enter(run, "ann", "bob", "cal")

    run.say(cal, {"enter": "attic"})
    run.say(ann, {"say": "hello"})
    run.say(cal, {"say": "alone"}, "who")

    assert run.heard(bob) == [{"room": "hall", "from": "ann", "said": "hello"}]
    assert run.heard(ann) == []
    assert run.heard(cal) == [{"room": "attic", "here": ["cal"]}, {"room": "attic", "here": ["cal"]}]


def test_one_may_be_told_something_whatever_the_room() -> None:
    run = Run(spec("rooms"), "server")
    ann, bob = enter(run, "ann", "bob")
    run.say(bob, {"enter": "attic"})
    run.heard(bob)

    run.say(ann, {"tell": "bob", "line": "psst"}, {"tell": "eve", "line": "psst"})

    assert run.heard(bob) == [{"from": "ann", "told": "psst"}]
    assert run.heard(ann) == [{"no": "nobody is called eve"}]


def test_who_leaves_is_no_longer_there_and_its_name_is_free() -> None:
    run = Run(spec("rooms"), "server")
    ann, bob = enter(run, "ann", "bob")
    late = run.join()
    run.say(late, {"hello": "bob"})
    assert run.heard(late) == ["taken"]

    run.lose(bob)
    run.say(ann, "who")
    run.say(late, {"hello": "bob"}, "who")

    assert run.heard(ann) == [{"room": "hall", "here": ["ann"]}]
    assert run.heard(late) == ["welcome", {"room": "hall", "here": ["ann", "bob"]}]


# -- the rules of lending --------------------------------------------------------------------------------------------

GAME = "game(p): {asked: {await: p, within: long, receive: {MOVE: {return: move}, QUIT: {drop: p, return: null}}}}"


def test_a_lent_peer_is_heard_by_who_has_it_and_afterwards_again_by_who_lent_it() -> None:
    run, ann, _bob = seated(
        """
        opening: {start: game(ann), then: lobby}
        lobby:
          await: guests
          within: never
          receive: {MOVE: {send: SAID(move), then: stay}}
          ended: {send: {guests: SAID(result)}, then: stay}
          fault: {return: reason}
        """,
        machines=GAME,
        guests=2,
    )

    run.say(ann, move(1), move(2))

    assert run.heard(ann) == [said(1), said(2)]


def test_who_lent_a_peer_is_told_of_its_loss_when_it_comes_back() -> None:
    run, ann, _ = seated(
        """
        opening: {start: game(ann), then: lobby}
        lobby:
          await: guests
          within: never
          receive: {MOVE: stay}
          closed: {return: "[peer.name, reason]"}
          ended: stay
          invalid: stay
        """,
        machines="game(p): {asked: {await: p, within: long, receive: {MOVE: {return: 1}}, closed: {return: 2}}}",
        guests=2,
    )

    run.lose(ann)

    assert value(run) == ("ann", "closed")


def test_who_lends_a_peer_whose_loss_it_was_told_is_not_told_again() -> None:
    run, ann, _ = seated(
        """
        opening: {let: {told: 0}, then: lobby}
        lobby:
          await: guests
          within: never
          receive: {MOVE: {return: told}}
          closed: {let: {told: told + 1}, start: farewell(peer), then: stay}
          ended: stay
          invalid: stay
        """,
        machines="farewell(p): {asked: {await: p, within: long, receive: {MOVE: stay}, closed: {return: 2}}}",
        guests=2,
    )

    run.lose(ann)
    run.say(1, move(1))

    assert value(run) == 1


@pytest.mark.parametrize(
    "talk", ["{await: p, within: brief, receive: {MOVE: stay}, closed: waiting}", "{then: waiting}"]
)
def test_a_peer_is_lent_and_comes_back_though_its_seat_was_given_up(talk: str) -> None:
    """Once before the lending; with ``closed`` it is also told of the loss, and would be given up again meanwhile."""
    run = serve(
        f"""
        main:
          begin: {{let: {{first: null}}, then: door}}
          door:
            accept: enter(peer)
            as: members
            await: members
            within: never
            seated: [{{if: first == null, let: {{first: peer}}}}, {{}}]
            receive: {{PING: {{start: talk(first), then: stay}}}}
            ended: {{send: {{members: SAID(result)}}, then: stay}}
            invalid: {{drop: peer, then: stay}}
        talk(p):
          begin: {talk}
          waiting: {{within: long, timeout: {{return: p.name}}}}
        """
    )

    def leave(count: int) -> None:
        for _ in range(count):
            guest = run.join()
            run.say(guest, name("ann"))
            run.lose(guest)

    released = list(RELEASED_PEERS.values())
    before = [seat.closed_told for seat in released]
    leave(1 + 2 * SWEEP_MIN)
    assert run.session.seats[0] in released
    last = run.join()
    run.say(last, name("bob"), "ping")
    assert list(run.session.extras().loans) == [0]
    leave(2 * SWEEP_MIN)
    run.wait(20)

    assert run.heard(last) == [said("ann")]
    assert run.session.extras().loans == {}
    assert [seat.closed_told for seat in released] == before


@pytest.mark.parametrize(
    ("game", "how"),
    [
        ("game(p): {asked: {await: p, within: brief, receive: {MOVE: {return: acts.boom()}}}}", "boom"),
        ("game(p): {asked: {await: p, within: brief, receive: {MOVE: {return: 1}}}}", "lost"),
        ("game(p): {asked: {await: p, within: brief, receive: {MOVE: {return: 1}}}}", "late"),
        ("game(p): {asked: {await: p, within: brief, receive: {MOVE: {return: 1}}}}", "wrong"),
    ],
)
def test_what_fails_in_a_started_machine_ends_that_one_alone(game: str, how: str) -> None:
    run, ann, bob = seated(
        """
        opening: {start: game(ann), then: lobby}
        lobby:
          await: bob
          within: never
          receive: {MOVE: {return: move}}
          ended: {send: {bob: SAID(reason)}, then: stay}
          fault: {return: reason}
        """,
        machines=game,
        guests=2,
    )

    if how == "lost":
        run.lose(ann)
    elif how == "late":
        run.wait(2)
    else:
        run.say(ann, move(1) if how == "boom" else name("ann"))

    assert run.heard(bob) == [said("failed")]
    run.say(bob, move(3))
    assert value(run) == 3


def test_a_start_is_taken_back_with_its_branch() -> None:
    run, ann = seated(
        """
        lobby:
          await: ann
          within: never
          receive: {MOVE: {start: game(ann), send: SAID(acts.boom()), then: stay}}
          failed: {send: {ann: SAID(running)}, then: after}
          fault: {return: reason}
        after: {await: ann, within: never, receive: {MOVE: {return: move}}, fault: {return: reason}}
        """,
        machines=GAME,
    )

    run.say(ann, move(1))
    assert run.heard(ann) == [said(0)]
    run.say(ann, move(2))
    assert value(run) == 2


def test_over_the_limit_of_the_wire_a_start_ends_at_once() -> None:
    run, ann = seated(
        """
        lobby:
          await: ann
          within: never
          receive: {MOVE: {start: pause(), then: stay}, QUIT: {return: running}}
          ended: {send: {ann: SAID(reason)}, then: stay}
          fault: {return: reason}
        """,
        machines="pause: {rest: {within: long, timeout: {return: null}}}",
        wire="started_max: 2",
    )

    run.say(ann, move(1), move(2), move(3))
    assert run.heard(ann) == [said("limit")]
    run.wait(20)
    assert run.heard(ann) == [said("returned"), said("returned")]
    run.say(ann, "quit")
    assert value(run) == 0


def test_machines_that_end_at_once_and_start_the_next_do_not_keep_the_session_for_ever() -> None:
    run = serve(
        """
        main:
          one: {start: nothing(), then: two}
          two: {within: never, ended: {start: nothing(), then: stay}}
        nothing: {over: {return: 1}}
        """
    )

    assert run.ended is not None
    assert "steps" in (run.ended.failed or "")


def test_a_session_that_ends_abandons_what_it_started() -> None:
    run = serve(
        """
        main:
          one: {start: slow(), then: two}
          two: {within: 1 s, timeout: {return: running}}
        slow: {rest: {within: long, timeout: {return: 1}}}
        """
    )
    run.wait(1)

    assert value(run) == 1
    assert run.session.started == 0


# -- live values -----------------------------------------------------------------------------------------------------


def test_a_live_value_is_the_same_for_all_that_a_machine_runs_side_by_side() -> None:
    run, _ = seated(
        """
        opening: {run: cup(), as: x, return: x}
        """,
        machines="""
        cup:
          live: {order: []}
          all:
            each: n in 1..3
            parallel: 3
            run: one(n)
            then: over
          over: {return: order}
        one(n):
          rest: {within: acts.seconds(n), timeout: {let: {order: "order + [n]"}, return: n}}
        """,
        seconds=lambda n: float(4 - n),
    )

    run.wait(5)

    assert value(run) == (3, 2, 1)


def test_what_a_branch_wrote_to_a_live_value_is_taken_back_with_it() -> None:
    run, ann = seated(
        "opening: {run: cup(ann), as: x, return: x}",
        machines="""
        cup(p):
          live: {count: 0}
          one: {run: inner(p), failed: {return: count}, return: -1}
        inner(p):
          asked:
            await: p
            within: long
            receive: {MOVE: {let: {count: count + 1}, send: SAID(acts.check(move)), then: stay}}
            fault: {return: reason}
        """,
        check=lambda number: number if number < 3 else 1 // 0,
    )

    run.say(ann, move(1), move(2), move(3))

    assert value(run) == 2


def test_each_call_of_a_machine_has_live_values_of_its_own() -> None:
    run = serve(
        """
        main:
          one: {run: counter(1), as: a, then: two}
          two: {run: counter(5), as: b, then: three}
          three: {return: "[a, b]"}
        counter(first):
          live: {count: first + 1}
          one: {run: add(), then: two}
          two: {run: add(), then: three}
          three: {return: count}
        add: {one: {let: {count: count * 2}, return: null}}
        """
    )

    assert value(run) == (8, 24)
