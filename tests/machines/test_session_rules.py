"""What rules may do to a session: raise anything, hand back anything; and calls that would be too deep."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from machines.analysis.call_graph import CALL_DEPTH_MAX
from tests.support.sketch import failure, move, name, said, seated, serve, value


class _Odd(BaseException):
    """A class that no handler knows."""


def raising(error: BaseException) -> Any:
    def rule(*_: Any) -> Any:
        raise error

    return rule


WHERE = {
    "a branch": "receive: {MOVE: {let: {n: acts.bad(move)}, then: after}}",
    "a condition": "receive: {MOVE: {if: acts.bad(move), then: after}}",
    "a send": "receive: {MOVE: {do: [{send: BYE}, {send: SAID(acts.bad(move))}], then: after}}",
    "what follows": "receive: {MOVE: called}",
}


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize(
    "error", [SystemExit(3), GeneratorExit(), asyncio.CancelledError(), _Odd("odd"), RecursionError(), MemoryError()]
)
def test_whatever_a_rule_raises_is_a_failure_of_its_machine(where: str, error: BaseException) -> None:
    run, ann = seated(
        f"""
        play:
          await: ann
          within: reply
          {WHERE[where]}
          failed: {{send: {{ann: SAID('failed')}}, then: after}}
          fault: {{return: reason}}
        called: {{run: inner(), as: n, failed: {{send: {{ann: SAID('failed')}}, then: after}}, then: after}}
        after: {{within: never, await: ann, receive: {{QUIT: {{return: null}}}}, fault: {{return: reason}}}}
        """,
        machines="inner: {one: {let: {n: acts.bad(1)}, return: n}}",
        bad=raising(error),
    )

    run.say(ann, move(1))

    assert run.heard(ann) == [said("failed")]
    assert run.ended is None


def test_with_no_answer_the_session_ends_and_says_what_was_raised() -> None:
    run = serve("main: {one: {let: {n: acts.bad(1)}, return: n}}", bad=raising(SystemExit(3)))

    assert re.search(r"SystemExit: 3 \(in tests\.machines\.test_session_rules\.rule, line \d+\)$", failure(run))


def test_a_failure_that_is_no_rules_names_none() -> None:
    run = serve(
        "main: {one: {let: {n: acts.given()}, then: two}, two: {let: {m: n.none}, return: null}}", given=lambda: 1
    )

    assert "a number has no field 'none'" in failure(run)
    assert "(in " not in failure(run)


def test_who_stops_the_program_from_the_keyboard_stops_it_also_in_a_rule() -> None:
    with pytest.raises(KeyboardInterrupt):
        serve("main: {one: {let: {n: acts.bad(1)}, return: n}}", bad=raising(KeyboardInterrupt()))


# -- stay is part of its branch --------------------------------------------------------------------------------------


@pytest.mark.parametrize("then", ["stay", "again"])
def test_a_stay_that_cannot_await_anew_undoes_its_branch(then: str) -> None:
    run, ann, bob = seated(
        f"""
        setup: {{let: {{who: [ann], n: 1}}, then: play}}
        play:
          await: acts.group(who)
          within: reply
          receive:
            MOVE: {{let: {{who: [], n: 2}}, send: SAID(n), drop: bob, then: {then}}}
          failed: {{send: {{ann: SAID(n)}}, then: after}}
          fault: {{return: reason}}
        after: {{await: ann, within: never, receive: {{QUIT: {{return: n}}}}, fault: {{return: reason}}}}
        """,
        guests=2,
        group=lambda who: who if who else 1 // 0,
    )
    run.wait(1)

    run.say(ann, move(1))

    assert run.heard(ann) == [said(1)]
    assert bob not in run.dropped
    run.say(ann, "quit")  # it is still heard
    assert value(run) == 1


# -- depth -----------------------------------------------------------------------------------------------------------


def chain(length: int) -> str:
    calls = "".join(f"m{n}: {{one: {{run: m{n + 1}, as: x, return: x}}}}\n" for n in range(length - 1))
    return "main: {one: {run: m0, as: x, return: x}}\n" + calls + f"m{length - 1}: {{one: {{return: 7}}}}\n"


def test_calls_may_be_as_deep_as_the_limit() -> None:
    assert value(serve(chain(CALL_DEPTH_MAX - 1))) == 7


@pytest.mark.parametrize("length", [CALL_DEPTH_MAX, 1500])
def test_deeper_calls_are_refused_at_the_start(length: int) -> None:
    assert f"more than {CALL_DEPTH_MAX} deep" in failure(serve(chain(length)))


def test_a_circle_of_calls_is_refused_at_the_start() -> None:
    assert "main -> inner -> main" in failure(
        serve("main: {one: {run: inner, return: 1}}\ninner: {one: {run: main, return: 1}}")
    )


# -- side by side, every result is folded once -----------------------------------------------------------------------


def test_a_chain_of_items_folds_each_result_once_for_those_behind_it_and_once_at_the_end() -> None:
    folds: list[int] = []

    def fold(total: int, result: int) -> int:
        folds.append(result)
        return total + result

    run, _ann = seated(
        """
        setup: {let: {total: 0}, then: cup}
        cup:
          each: item in acts.items(ann)
          parallel: 4
          run: inner(item, total)
          as: {total: "acts.fold(total, result)"}
          return: total
        """,
        machines="inner(item, seen): {one: {return: 'item[1]'}}",
        items=lambda ann: tuple((ann, n) for n in range(200)),
        fold=fold,
    )

    assert value(run) == sum(range(200))
    assert len(folds) <= 2 * 200


# -- seats of connections that came and went -------------------------------------------------------------------------

OPEN = """
main:
  room: {accept: enter(peer), as: guests, await: guests, within: never,
         receive: {MOVE: {send: {guests: SAID(peer.name)}, then: stay}}, closed: stay, invalid: stay}
"""


def test_seats_of_those_that_left_are_given_up_and_their_numbers_stay_theirs() -> None:
    run = serve(OPEN)
    ann = run.join()
    run.say(ann, name("ann"))
    for number in range(1, 400):
        peer = run.join()
        assert peer == number
        if peer % 3:
            run.say(peer, name(f"guest {peer}"))
        if peer % 2:
            run.lose(peer)
        else:
            run.write(peer, b"}\n" if peer % 3 == 0 else b'"quit"\n')
            run.lose(peer)

    assert len(run.session.seats) == 400
    assert len({id(seat) for seat in run.session.seats}) < 140
    run.say(ann, move(1))
    assert run.heard(ann)[-1] == said("ann")
    run.write(5, b"late\n")  # the network may still say something of one that is over
    run.lose(5)


def test_a_seat_given_up_still_answers_closed_with_the_fields_of_its_peer() -> None:
    run = serve("""
        main:
          door: {accept: enter(peer), as: guests, seats: 2, within: long, timeout: {return: null}, then: keep}
          keep:
            let:
              ann: guests[0]
              bob: guests[1]
            then: wait
          wait:
            await: ann
            within: never
            receive: {MOVE: stay}
            fault: more
          more:
            within: 1 s
            await: bob
            closed: stay
            invalid: stay
            timeout: once_more
          once_more: {await: ann, within: never, receive: {MOVE: stay}, fault: {return: peer.name}}
    """)
    ann = run.join()
    run.say(ann, name("ann"))
    run.say(run.join(), name("bob"))
    run.lose(ann)
    for _ in range(200):
        run.lose(run.join())
    assert run.session.seats[ann].number == -1, "it is given up"

    run.wait(1)

    assert value(run) == "ann"
