"""The language, shown key by key: being woken when a condition comes to hold, ``when``."""

from __future__ import annotations

import pytest

from diagrams.catalogue import album
from machines.checks import check
from machines.engine.watching import SWEEP_MIN
from machines.parser.loader import load_text
from tests.support.session_harness import Run
from tests.support.tiny import returned, shows, start

CLIENT = """
        messages:
          server: {GO: [go, $n int], STOP: stop}
          client: {SAID: [said, $t int]}
        roles:
          client:
            main:
"""


def client(states: str) -> Run:
    """Start a client whose ``main`` has these states; peer 0 is its server, which says GO(n) and STOP."""
    return start(CLIENT.lstrip("\n") + states.strip("\n") + "\n", "client")


def test_a_condition_that_holds_and_whose_branches_all_refuse_leaves_a_note() -> None:
    run = client(
        """
              begin: {let: {sum: 0}, then: adding}
              adding:
                within: never
                receive: {GO: {let: {sum: sum + n}, then: stay}}
                when: {sum > 4: {if: sum > 9, return: sum}}
        """
    )

    run.say(0, ["go", 5])

    assert run.ended is None
    assert [note for note in run.notes if "may be taken" in note] == ["main: no branch of when0 may be taken"]


@shows("state.when")
def test_a_wait_is_left_as_soon_as_a_condition_holds() -> None:
    run = client(
        """
              begin: {let: {sum: 0}, then: adding}
              adding:
                within: never
                receive: {GO: {let: {sum: sum + n}, then: stay}}
                when: {sum > 4: {return: sum}}
        """
    )

    run.say(0, ["go", 2])
    assert run.ended is None
    run.say(0, ["go", 3])

    assert returned(run) == 5


def test_a_clock_is_stopped_from_outside_and_goes_on() -> None:
    run = client(
        """
              live: {stopped: false}
              begin: {let: {left: 10.0}, then: running_on}
              running_on:
                within: left
                receive: {GO: {let: {stopped: true}, then: stay}}
                when: {stopped: {let: {left: left - elapsed}, then: halted}}
                timeout: {return: left}
              halted:
                within: never
                receive: {STOP: {let: {stopped: false}, then: stay}}
                when: {not stopped: running_on}
        """
    )

    run.wait(4)
    run.say(0, ["go", 1])
    run.wait(100)
    run.say(0, "stop")
    run.wait(5.9)
    assert run.ended is None
    run.wait(0.1)

    assert returned(run) == 6
    assert run.now == pytest.approx(110)


def test_what_holds_on_entry_is_taken_before_anything_is_read() -> None:
    run = client(
        """
              begin: {let: {sum: 9}, then: adding}
              adding: {within: never, receive: {GO: {return: n}}, when: {sum > 4: {return: sum}}}
        """
    )

    assert returned(run) == 9


def test_a_branch_that_stays_is_taken_again_only_once_it_has_not_held() -> None:
    run = client(
        """
              begin: {let: {now: 0}, then: heard}
              heard:
                within: never
                receive: {GO: {let: {now: n}, then: again}, STOP: {return: now}}
                when: {now > 4: {send: SAID(now)}}
        """
    )

    for n in (5, 6, 1, 7, 7, 0, 8):
        run.say(0, ["go", n])

    assert run.heard(0) == [["said", 5], ["said", 7], ["said", 8]]


def test_the_first_written_is_taken_first_and_each_sees_what_the_other_did() -> None:
    run = client(
        """
              begin: {let: {now: 0}, then: heard}
              heard:
                within: never
                receive: {GO: {let: {now: n}, then: stay}, STOP: {return: now}}
                when:
                  now == 1: {let: {now: 2}, send: SAID(1)}
                  now == 2: {send: SAID(2)}
                  now in [1, 2]: {send: SAID(3)}
        """
    )

    run.say(0, ["go", 1])

    assert run.heard(0) == [["said", 1], ["said", 2], ["said", 3]]


def test_conditions_that_wake_each_other_without_end_fail_the_machine() -> None:
    run = client(
        """
              begin: {let: {now: 0}, then: heard}
              heard:
                within: never
                receive: {GO: {let: {now: n}, then: stay}, STOP: {return: now}}
                when: {now == 1: {let: {now: 2}}, now == 2: {let: {now: 1}}}
        """
    )

    run.say(0, ["go", 1])

    assert run.ended is not None
    assert "10000 steps without waiting" in str(run.ended.failed)


def test_a_condition_without_a_value_fails_the_machine() -> None:
    run = client(
        """
              begin: {let: {all: []}, then: heard}
              heard:
                within: never
                receive: {GO: {let: {all: [n]}, then: stay}, STOP: {return: 0}}
                when: {len(all) > 0 and all[0] + 1 > 3: {return: all[0]}}
                failed: {return: 99}
        """
    )

    run.say(0, ["go", 9223372036854775807])

    assert returned(run) == 99


TABLES = """
protocol: tables
wire: {framing: lines}
connects: {guest: host}
messages:
  guest: {HELLO: hello, SAY: [say, $n int], BYE: bye}
  host: {HIGH: [high, $best int], OVER: over}
roles:
  host:
    main:
      live: {best: 0, closing: false}
      room:
        accept: sign_up(peer)
        as: guests
        within: never
        seated: {start: table(peer)}
        ended: stay
        when: {closing: {send: {guests: OVER}, return: best}}
    sign_up(peer): {named: {within: 5 s, receive: {HELLO: {return: null}}}}
    table(guest):
      always: {when: {best > 99: {return: best}}}
      sitting:
        within: never
        receive:
          SAY: [{if: n > best, let: {best: n}, then: sitting}, stay]
          BYE: {let: {closing: true}, then: stay}
        closed: {return: null}
        when: {best > 9: {send: HIGH(best)}}
  guest:
    main:
      always: {within: never}
      begin: {send: HELLO, then: waiting}
      waiting: {receive: {HIGH: waiting, OVER: {return: null}}}
"""


def tables(guests: int) -> Run:
    server = Run(TABLES, "host")
    for number in range(guests):
        server.join()
        server.say(number, "hello")
    return server


@shows("always.when")
def test_machines_side_by_side_are_woken_by_a_live_value_in_the_order_in_which_they_began_to_wait() -> None:
    """A `when` of a state and one of an `always`."""
    server = tables(3)

    server.say(1, ["say", 12])

    assert [server.heard(number) for number in range(3)] == [[["high", 12]]] * 3
    server.say(0, ["say", 120])  # the others end by their `always`, and so does the one that said it
    assert server.session.root is not None
    assert server.session.root.running() == 0
    server.say(2, ["say", 5])
    assert server.ended is None


def test_a_machine_that_waits_is_woken_by_what_another_binds() -> None:
    server = tables(2)

    server.say(1, "bye")

    assert returned(server) == 0
    assert [server.heard(number) for number in range(2)] == [["over"]] * 2


def test_who_waits_for_a_live_value_costs_nothing_while_it_is_not_written() -> None:
    server = tables(3)
    watching = server.session.extras().watching
    assert watching is not None
    assert (len(watching.quiet), len(watching.restless), len(watching.begun)) == (4, 0, 0)
    asked: list[int] = []
    for frame in watching.quiet:
        for watch in frame.extras().watches:
            holds = watch.condition.holds
            watch.condition = watch.condition._replace(
                holds=lambda slots, holds=holds: bool(asked.append(1) or holds(slots))  # type: ignore[misc, func-returns-value]
            )

    server.say(0, ["say", 0])
    assert asked == []
    server.say(0, ["say", 1])
    assert len(asked) >= 7


def test_those_that_have_ended_are_forgotten() -> None:
    server = tables(1)
    for number in range(1, 5 * SWEEP_MIN):
        server.join()
        server.say(number, "hello")
        server.lose(number)

    watching = server.session.extras().watching
    assert watching is not None
    assert len(watching.quiet) <= SWEEP_MIN + 1


def test_all_are_woken_in_one_pass() -> None:
    server = tables(60)
    asked: list[int] = []
    watching = server.session.extras().watching
    assert watching is not None
    for frame in watching.quiet:
        for watch in frame.extras().watches:
            holds = watch.condition.holds
            watch.condition = watch.condition._replace(
                holds=lambda slots, holds=holds: bool(asked.append(1) or holds(slots))  # type: ignore[misc, func-returns-value]
            )

    server.say(7, ["say", 12])

    assert all(server.heard(number) == [["high", 12]] for number in range(60))
    assert len(asked) < 60 * 2 * 4


@pytest.mark.parametrize(
    ("when", "code", "says"),
    [
        ("{1: {send: HIGH(best)}}", "A340", "'when' takes true or false"),
        ("{elapsed > 3: {send: HIGH(best)}}", "A310", "elapsed"),
        ("{bset > 3: {send: HIGH(best)}}", "A301", "did you mean 'best'"),
        ("{best > : {send: HIGH(best)}}", "A252", "a value is missing"),
        ("best > 3", "A112", "conditions and branches: {when: {best > 9: over}}"),
    ],
)
def test_what_may_not_be_waited_for_is_told(when: str, code: str, says: str) -> None:
    text = TABLES.replace("when: {best > 9: {send: HIGH(best)}}", f"when: {when}")
    try:
        found = check(load_text(text))
    except Exception as error:
        found = list(error.problems)  # type: ignore[attr-defined]

    assert any(problem.code == code and says in f"{problem.text} ({problem.hint})" for problem in found), found


def test_pictures_say_what_is_waited_for() -> None:
    drawn = {drawing.stem: drawing.text("mmd") or "" for drawing in album(load_text(TABLES))}

    assert "when closing" in drawn["tables-host-main"]
    assert "when best" in drawn["tables-host-table"]
    assert "when closing" in drawn["tables-host-main-sequence"]
