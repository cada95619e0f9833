"""What `gone(peer)` answers: true only if the connection is lost, or closed, and either until that is told."""

from __future__ import annotations

import pytest

from machines.parser.loader import load_text
from machines.verification import verify as exploring
from machines.verification.abstract.contracts import contracts_for
from machines.verification.verdict import POSSIBLE, PROVED, REFUTED, Verdict
from machines.verification.verify import verify
from tests.machines.verification.bench import verdict_of
from tests.machines.verification.test_without_reductions import Whole

# Each in turn is asked for a word, unless it is gone; then all hear how many words there are.
ROUND = """
protocol: words
connects: {writer: desk}
messages:
  writer: {HERE: here, WORD: {word: $word string}}
  desk: {ASK: ask, COUNT: {count: $count int}}
roles:
  desk:
    main:
      door: {accept: sign_up(peer), as: writers, seats: 2, within: 1 min, timeout: {return: null}, then: round}
      round:
        each: writer in writers
        if: not gone(writer)
        run: asked(writer)
        then: told
      told: {send: {writers: COUNT(2)}, return: null}
    sign_up(peer):
      named: {within: 5 s, receive: {HERE: {return: {}}}}
    asked(writer):
      word: {send: ASK, within: 5 s, receive: {WORD: {return: null}}, fault: {drop: writer, return: null}}
  writer:
    main:
      always: {within: 1 min, closed: {return: null}}
      begin: {send: HERE, then: waiting}
      waiting: {receive: {ASK: {send: WORD('x'), then: written}}}
      written: {receive: {COUNT: {return: count}}}
"""
# Who is left hears of it that the other one is gone, and does not expect to.
ALONE = """told: [{if: gone(writers[0]), then: alone}, {then: all}]
      alone: {send: {writers[1]: ASK}, return: null}
      all: {send: {writers: COUNT(2)}, return: null}"""
TOLD_ON = (("told: {send: {writers: COUNT(2)}, return: null}", ALONE),)
# A writer that has said its word goes: nothing is wrong by that, and the desk sees it.
LEAVES = (
    ("ASK: {send: WORD('x'), then: written}", "ASK: {send: WORD('x'), return: null}, COUNT: {return: null}"),
    ("      written: {receive: {COUNT: {return: count}}}\n", ""),
)


def text(*changes: tuple[str, str]) -> str:
    found = ROUND
    for old, new in changes:
        assert old in found
        found = found.replace(old, new)
    return found


def test_who_is_there_is_not_passed_over_as_gone() -> None:
    verdict = verdict_of(text())

    assert verdict.state == PROVED, [finding.text for finding in verdict.findings]


def test_a_message_that_only_a_lost_connection_leads_to_is_found() -> None:
    verdict = verdict_of(text(*TOLD_ON))

    (finding,) = verdict.findings
    assert verdict.state in (REFUTED, POSSIBLE)
    assert finding.text.startswith("writer: ASK is not expected in main.written")
    assert any(step.kind == "dies" for step in finding.trace)


@pytest.mark.parametrize(
    "changes", [(), TOLD_ON, LEAVES, (*TOLD_ON, *LEAVES)], ids=["as it is", "told on", "leaves", "both"]
)
def test_nothing_is_missed_by_what_a_search_leaves_out(
    changes: tuple[tuple[str, str], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = load_text(text(*changes))

    def found() -> Verdict:
        return verify(spec, contracts_for(spec, {}), clients=(1, 2), queue=2, most=60_000)

    least = found()
    monkeypatch.setattr(exploring, "StateSpace", Whole)
    whole = found()

    assert least.state == whole.state
    assert {(one.code, one.text) for one in least.findings} == {(one.code, one.text) for one in whole.findings}
