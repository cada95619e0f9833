"""There always is an answer: the bound of waiting messages deepens by itself, and time and memory are bounded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest

from machines.model import Spec
from machines.parser.loader import load_text
from machines.verification.abstract.budget import MIB, TELL_AFTER, TELL_EVERY, Budget, BudgetSpent
from machines.verification.counterexamples.replay import ATTEMPTS_MAX, NOT_REPLAYED, confirmed
from machines.verification.verdict import POSSIBLE, PROVED, REFUTED, UNDETERMINED
from machines.verification.verify import verify
from tests.machines.verification.bench import SPECS, verdict_of

# The server tells so many notes before it listens to anybody; the client is asked before it reads on.
NOTES = """
protocol: notes
connects: {client: server}
messages:
  client: {HELLO: hello, DONE: done}
  server: {NOTE: note, LAST: last}
roles:
  server:
    main(client):
      begin: {within: 5 s, receive: {HELLO: {send: [MANY], then: telling}}, fault: {return: null}}
      telling: {send: LAST, within: 5 s, receive: {DONE: {return: null}}, fault: {return: null}}
  client:
    main:
      always: {within: 1 min, closed: {return: null}}
      begin: {send: HELLO, then: thinking}
      thinking: {receive: {NOTE: reading}}
      reading: {ask: it, within: 30 s, timeout: {return: null}, receive: {DONE: {then: AFTER}}}
      listening: {receive: {NOTE: listening, LAST: {send: DONE, return: null}}}
"""


def notes(many: int, after: str = "listening") -> str:
    return NOTES.replace("MANY", ", ".join(["NOTE"] * many)).replace("AFTER", after)


@pytest.mark.parametrize(("many", "needed"), [(1, 2), (3, 4), (6, 8)])
def test_more_messages_may_wait_where_so_many_do(many: int, needed: int) -> None:
    spec = load_text(notes(many))

    assert (verify(spec, clients=(1,), deepest=8).state, verify(spec, clients=(1,), deepest=8).queue) == (
        PROVED,
        needed,
    )
    assert verify(spec, clients=(1,), queue=8).states == verify(spec, clients=(1,), deepest=8).states
    if needed > 2:
        assert verify(spec, clients=(1,)).state == UNDETERMINED


def test_a_fault_behind_many_waiting_messages_is_found() -> None:
    text = notes(6).replace("listening: {receive: {NOTE: listening, LAST", "listening: {receive: {LAST")
    text = text.replace("NOTE: reading", "NOTE: reading, LAST: {return: null}")

    assert verify(load_text(text), clients=(1,), deepest=8).state == REFUTED
    assert verify(load_text(text), clients=(1,)).state == UNDETERMINED


def test_what_more_waiting_messages_do_not_decide_is_not_tried_with_more_clients() -> None:
    verdict = verify(load_text((SPECS / "chat.yaml").read_text()), clients=(1, 2), deepest=4)

    assert "more than 4 messages wait for server (with 1)" in verdict.beyond
    assert "more than 2 messages wait for server (with 2)" in verdict.beyond


# -- time and memory -------------------------------------------------------------------------------------------------


def ticking(seconds: float) -> Callable[[], float]:
    """Return a clock that goes on by so much whenever it is looked at."""
    beats = count()
    return lambda: next(beats) * seconds


def test_a_search_ends_when_its_time_is_spent_and_says_what_grew() -> None:
    spec = load_text((SPECS / "chat.yaml").read_text())
    told: list[str] = []
    verdict = verify(spec, clients=(1, 2, 3), budget=Budget(30, clock=ticking(1), tell=told.append))

    assert verdict.state == UNDETERMINED
    (spent,) = [
        text for text in verdict.beyond if text.startswith("the budget of 30 s of computing is spent: the most in ")
    ]
    assert ": the most in " in spent
    assert " of server, in " in spent
    assert told[0].startswith(f"{TELL_AFTER + 1:.0f} s of computing so far: ")
    assert "states with" in told[0]
    assert len(told) == 1 + (30 - TELL_AFTER) // (TELL_EVERY + 1)


def test_a_search_ends_when_its_memory_is_spent() -> None:
    spec = load_text((SPECS / "chat.yaml").read_text())
    sizes = count(100 * MIB, 10 * MIB)
    budget = Budget(bytes_max=64 * MIB, clock=lambda: 0.0, memory=lambda: next(sizes))

    assert any("the budget of 64 MiB of memory is spent" in text for text in verify(spec, budget=budget).beyond)


def test_once_it_is_spent_every_turn_says_so() -> None:
    budget = Budget(1, clock=ticking(1000))

    for _ in range(63):
        budget.look()
    with pytest.raises(BudgetSpent):
        budget.look()
    with pytest.raises(BudgetSpent, match="the budget of 1 s of computing is spent"):
        budget.look()


def test_a_budget_that_is_not_spent_changes_nothing() -> None:
    spec = load_text(notes(3))

    assert verify(spec, queue=4, budget=Budget(1e9, clock=ticking(0.001))) == verify(spec, queue=4)


@pytest.mark.parametrize("name", ["lobby", "correct/login"])
def test_a_spec_without_many_waiting_messages_is_proved_as_before(name: str) -> None:
    text = (SPECS / f"{name}.yaml").read_text()

    assert verify(load_text(text), deepest=8).states == verdict_of(text, (1, 2, 3)).states


def wrong_notes() -> Spec:
    """Return a spec of which the client does not expect the notes that come while it listens."""
    text = notes(6).replace("listening: {receive: {NOTE: listening, LAST", "listening: {receive: {LAST")
    return load_text(text.replace("NOTE: reading", "NOTE: reading, LAST: {return: null}"))


def test_a_finding_for_which_no_time_is_left_is_not_replayed_and_the_verdict_says_so() -> None:
    spec = wrong_notes()
    verdict = verify(spec, clients=(1,), deepest=8)
    assert verdict.findings
    ticks = count(0.0, 100.0)

    told = confirmed(verdict, spec, {}, lambda *_: None, budget=Budget(seconds=10.0, clock=lambda: next(ticks)))

    assert {finding.replay for finding in told.findings} == {"unfinished"}
    assert all("the budget was spent before a replay did so" in finding.sure for finding in told.findings)
    assert told.beyond[-1] == NOT_REPLAYED


def test_a_finding_that_was_replayed_says_what_the_sessions_did_whatever_is_left() -> None:
    """Of two findings whose last step no session does twice there is time for the replays of the first."""
    spec = wrong_notes()
    verdict = verify(spec, clients=(1,), deepest=8)
    (finding,) = verdict.findings
    twice = replace(finding, trace=(*finding.trace, finding.trace[-1]), others=())
    ticks = count(0.0, 1.0)
    budget = Budget(ATTEMPTS_MAX + 3, clock=lambda: next(ticks))

    told = confirmed(replace(verdict, findings=(twice, twice)), spec, {}, lambda *_: None, budget=budget)

    assert [finding.replay for finding in told.findings] == ["other", "unfinished"]
    assert told.state == POSSIBLE
