"""Roles that only programs of others play: our side is looked at against anything that they may do."""

from __future__ import annotations

import pytest

from machines.parser.loader import load_text
from machines.verification.error_states import ErrorDetector
from machines.verification.foreign import ForeignStateSpace, with_anything
from machines.verification.search.state_space import StateSpace
from machines.verification.search.system import System
from machines.verification.verdict import PROVED, REFUTED, UNDETERMINED, Verdict
from machines.verification.verify import verify

DOOR = """
protocol: door
wire: {framing: text}
connects: {visitor: porter}
foreign: [visitor]
messages:
  visitor: {KNOCK: knock, NAME: "name ${name string}", BYE: bye}
  porter: {WHO: who, WELCOME: welcome, NO: no}
roles:
  porter:
    main(visitor):
      always: {within: 1 min, invalid: {send: NO, then: stay}, fault: {return: null}}
      outside: {receive: {KNOCK: {send: WHO, then: asked}, BYE: {return: null}}}
      asked: {receive: {NAME: {send: WELCOME, then: inside}}}
      inside: {receive: {BYE: {return: null}}}
"""
SHARED = """
protocol: counter
wire: {framing: text}
connects: {visitor: desk}
foreign: [visitor]
messages:
  visitor: {ADD: add, READ: read}
  desk: {TOTAL: "total ${total int}"}
roles:
  desk:
    main:
      begin: {let: {total: 0}, then: open}
      open:
        accept: admit(peer)
        as: visitors
        await: visitors
        within: never
        receive:
          ADD: {let: {total: total + 1}, then: stay}
          READ: {send: TOTAL(total), then: stay}
        invalid: {drop: peer, then: stay}
    admit(peer):
      at_once: {return: null}
"""
CALLER = """
protocol: caller
wire: {framing: text}
connects: {caller: exchange}
foreign: exchange
messages:
  caller: {RING: ring, HANG_UP: hang up}
  exchange: {BUSY: busy, TALK: "talk ${words string}"}
roles:
  caller:
    main:
      calling: {send: RING, within: 5 s, receive: {TALK: {return: words}}, fault: {return: null}}
"""


def changed(text: str, *changes: tuple[str, str]) -> Verdict:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return verify(load_text(text))


@pytest.mark.parametrize("text", [DOOR, SHARED, CALLER])
def test_a_side_that_answers_everything_is_proved_against_anything_and_the_verdict_names_whose(text: str) -> None:
    verdict = verify(load_text(text))

    assert (verdict.state, verdict.findings, verdict.dead, verdict.beyond) == (PROVED, (), (), ())
    foreign = "exchange" if text is CALLER else "visitor"
    assert verdict.summary()[0].startswith(f"proved against anything {foreign} may send, ")
    assert any(line.startswith(f"{foreign} is foreign") for line in verdict.rests_on)


def test_any_order_is_tried_also_one_that_no_good_client_would_choose() -> None:
    broken = changed(
        DOOR,
        ("      inside:", "      gone: {return: null}\n      inside:"),
        ("asked: {receive: {", "asked: {receive: {KNOCK: gone, "),
        ("roles:", "properties:\n  never-so: {never: {porter: main.gone, reads: KNOCK}}\nroles:"),
    )

    assert broken.state == REFUTED
    assert [finding.code for finding in broken.findings] == ["A508"]
    assert [step.message for step in broken.findings[0].trace if step.kind == "reads"] == ["KNOCK", "KNOCK"]


def test_what_no_message_leads_to_is_a_dead_branch() -> None:
    dead = changed(
        SHARED,
        ("{total: 0}", "{total: 0, on: false}"),
        (
            "ADD: {let: {total: total + 1}, then: stay}",
            "ADD: [{if: on, then: stay}, {let: {total: total + 1}, then: stay}]",
        ),
    )

    assert [finding.code for finding in dead.dead] == ["A510"]


def test_what_is_no_message_comes_too_for_each_reason() -> None:
    broken = changed(
        DOOR,
        ("      inside:", "      odd: {return: null}\n      inside:"),
        ("asked: {", "asked: {invalid: [{if: reason == 'malformed', then: odd}, {send: NO, then: stay}], "),
        ("roles:", "properties:\n  never-so: {never: {porter: main.odd}}\nroles:"),
    )

    assert [finding.code for finding in broken.findings] == ["A508"]
    assert "misbehaves" in {step.kind for step in broken.findings[0].trace}


def test_a_session_that_fails_whatever_is_sent_is_found() -> None:
    broken = changed(SHARED, ("total: total + 1", "total: [1][1 + 1]"))

    assert broken.state == REFUTED
    assert [finding.code for finding in broken.findings] == ["A506"]


def test_who_waits_for_one_who_is_gone_and_hears_nothing_of_it_is_found() -> None:
    stuck = changed(
        DOOR, ("within: 1 min", "within: never"), ("fault: {return: null}", "closed: {then: deaf}"),
        ("      inside:", "      deaf: {receive: {BYE: {return: null}}, closed: {then: stay}}\n      inside:"),
    )  # fmt: skip

    assert [finding.code for finding in stuck.findings] == ["A500"]


def test_it_is_not_asked_whether_a_foreign_role_sends_what_is_waited_for() -> None:
    assert changed(DOOR, ("within: 1 min", "within: never")).state == PROVED


def test_a_foreign_role_with_two_connections_is_not_explored_and_that_is_said() -> None:
    text = DOOR.replace("{visitor: porter}", "{visitor: [porter, guard]}").replace(
        "  porter: {WHO", "  guard: {WAIT: wait}\n  porter: {WHO"
    )
    text += "  guard:\n    main(visitor):\n      first: {send: WAIT, within: 1 s, fault: {return: null}}\n"

    verdict = verify(load_text(text))

    assert verdict.state == UNDETERMINED
    assert verdict.beyond == ("visitor is foreign, and connected to porter and guard: only to one is explored",)


@pytest.mark.parametrize("text", [DOOR, SHARED, CALLER])
def test_saying_a_message_only_where_it_is_read_misses_nothing_that_messages_sent_ahead_would_lead_to(
    text: str,
) -> None:
    """Beside it a search in which what is said waits in the queue, as many as three, and is read when it will be."""
    spec = with_anything(load_text(text))
    seen = []
    for space in (ForeignStateSpace, StateSpace):
        cast = System(spec, 2 if text is SHARED else 1, {})
        graph = space(cast, 3, 20_000)
        graph.build(ErrorDetector(2))
        ours = [part for role, part in cast.parts.items() if role not in spec.foreign]
        seen.append((set().union(*(part.entered for part in ours)), set().union(*(part.taken for part in ours))))

    (states, branches), (of_queues, taken_of_queues) = seen
    assert states == of_queues
    assert branches >= taken_of_queues


def test_a_stub_in_its_place_is_told_and_nothing_is_proved_with_it() -> None:
    stub = DOOR.replace("foreign: [visitor]\n", "") + "  visitor: {main: {over: {return: null}}}\n"

    verdict = verify(load_text(stub))

    assert verdict.state == UNDETERMINED
    (text,) = verdict.beyond
    assert text.startswith("visitor is a stub: it sends no KNOCK, NAME or BYE, so what comes of that is not known")
    assert text.endswith("foreign: [visitor])")
