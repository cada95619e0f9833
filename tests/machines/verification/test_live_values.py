"""Live values are explored: what a sign-up or a callee writes, all who are around or below see from then on."""

from __future__ import annotations

import pytest

from machines.checks.checker import check_with_suppressions
from machines.parser.loader import load_text
from machines.verification.verdict import PROVED, REFUTED, UNDETERMINED
from tests.machines.verification.bench import verdict_of

COUNTED = """
protocol: counted
wire: {framing: lines}
connects: {client: server}
messages:
  client: {HELLO: hello}
  server: {FIRST: first, LATER: later, ALL: all, FEW: few}
roles:
  server:
    main:
      live: {came: 0, asked: 0}
      door:
        accept: sit(peer)
        as: players
        seats: 2
        within: 1 min
        closed: stay
        timeout: {return: null}
        then: counted
      counted:
        run: count(2)
        then: told
      told:
        - {if: asked == 1 and came >= 2, then: all}
        - few
      all: {send: {players: ALL}, return: null}
      few: {send: {players: FEW}, return: null}
    sit(peer):
      named:
        await: peer
        within: 5 s
        receive:
          HELLO:
            - {if: came == 0, let: {came: came + 1}, send: FIRST, return: {}}
            - {let: {came: came + 1}, send: LATER, return: {}}
    count(least):
      begin: {run: deeper, as: enough, then: end}
      end: {let: {asked: asked + 1}, return: enough}
    deeper: {begin: {return: came}}
  client:
    main:
      always: {within: 1 min, closed: {return: null}}
      hello: {send: HELLO, then: waiting}
      waiting: {receive: {FIRST: seated, LATER: seated}}
      seated: {receive: {ALL: {return: null}}}
"""


def test_what_sign_ups_and_callees_write_is_seen_by_whoever_is_around_them() -> None:
    spec = load_text(COUNTED)

    # FEW is never received: it never comes. What `count` returns is lost indeed, though a live value tells as much.
    assert [problem.code for problem in check_with_suppressions(spec, {})[0]] == ["A331", "A315"]
    assert verdict_of(spec, (1, 2, 3)).state == PROVED


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("{let: {came: came + 1}, send: LATER", "{send: LATER"),
        ("let: {asked: asked + 1}", "let: {other: asked + 1}"),
        ("      begin: {run: deeper, as: enough", "      begin: {run: deeper, as: asked"),
        ("live: {came: 0, asked: 0}", "live: {came: 0, asked: 1}"),
        ("deeper: {begin: {return: came}}", "deeper: {begin: {let: {came: 0}, return: came}}"),
    ],
)
def test_one_who_writes_something_else_is_found(right: str, wrong: str) -> None:
    assert COUNTED.count(right) == 1
    verdict = verdict_of(COUNTED.replace(right, wrong).replace("return: enough}", "return: null}"), (1, 2))

    assert verdict.state == REFUTED
    assert "FEW is not expected" in verdict.findings[0].text


def test_each_call_of_a_machine_has_its_own() -> None:
    text = COUNTED.replace("    deeper: {begin: {return: came}}", "    deeper:\n      live: {seen: 0}\n"
                           "      begin: {let: {seen: seen + 1}, then: judged}\n"
                           "      judged:\n        - {if: seen == 1, return: came}\n        - odd\n"
                           "      odd: {let: {came: 0}, return: came}")  # fmt: skip
    text = text.replace("begin: {run: deeper, as: enough, then: end}",
                        "begin: {run: deeper, as: enough, then: twice}\n"
                        "      twice: {run: deeper, as: enough, then: end}")  # fmt: skip

    assert verdict_of(text, (1, 2)).state == PROVED


def test_machines_side_by_side_that_see_a_live_value_are_not_said_to_be_explored() -> None:
    alone = "      counted:\n        run: count(2)"
    beside = "      counted:\n        each: player in players\n        parallel: 2\n        run: count(2)"
    text = COUNTED.replace(alone, beside)
    verdict = verdict_of(text, (1, 2))

    assert verdict.state == UNDETERMINED
    assert verdict.beyond == ("server: what 'live' values do to machines side by side is not explored",)
