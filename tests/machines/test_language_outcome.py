"""The language, shown key by key: ``outcome``, how a match went."""

from __future__ import annotations

import pytest

from machines.checks import check
from machines.effects import Ended, MatchOutcome
from machines.parser.loader import load_text
from machines.problems import SpecError
from tests.support.session_harness import Run
from tests.support.tiny import shows, start


def server(over: str) -> Run:
    """Start a server whose first speaker leads on to ``over``; three players have joined and one has said GO."""
    run = start(
        f"""
        messages:
          client: {{GO: [go, $n int]}}
        roles:
          server:
            main:
              door:
                accept: join(peer)
                as: players
                seats: 3
                within: 5 s
                timeout: {{return: null}}
                then: play
              play:
                await: players
                within: 5 s
                receive: {{GO: {{let: {{who: peer}}, then: over}}}}
                fault: {{return: null}}
              over: {over}
            join(peer):
              named: {{await: peer, within: 5 s, receive: {{GO: {{return: {{size: n}}}}}}}}
        """,
        "server",
    )
    for number in range(3):
        run.say(run.join(), ["go", number])
    run.say(1, ["go", 7])
    return run


def ended(run: Run) -> Ended:
    (found,) = [effect for effect in run.effects if isinstance(effect, Ended)]
    return found


@shows("state.outcome")
def test_an_outcome_names_the_peers_in_groups_and_who_was_at_fault() -> None:
    run = server(
        "{outcome: {ranking: '[[], [who], [players[0], players[2]]]', faults: 'players[2]'}, return: who.size}"
    )

    assert ended(run) == Ended(1, None, MatchOutcome(((1,), (0, 2)), (2,), ()))


@shows("branch.outcome")
def test_a_branch_that_returns_says_an_outcome_with_points() -> None:
    run = server(
        "[{if: who.size == 0, return: null}, {outcome: {ranking: '[who]', points: '[[who, 2.5]]'}, return: null}]"
    )

    assert ended(run) == Ended(None, None, MatchOutcome(((1,),), (), ((1, 2.5),)))


def test_without_an_outcome_no_match_was_played() -> None:
    assert ended(server("{return: 3}")) == Ended(3, None, None)


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        ("{ranking: who}", "is a list"),
        ("{ranking: '[who.size]'}", "is not a peer"),
        ("{ranking: '[who, [players[0], who]]'}", "peer 1 stands twice in the ranking"),
        ("{ranking: '[]', faults: '[1]'}", "is not a peer"),
        ("{ranking: '[]', points: '[who]'}", "pairs of a peer and a number"),
        ("{ranking: '[]', points: '[[who, 1], [who, 2]]'}", "peer 1 stands twice in the points"),
    ],
)
def test_an_outcome_that_is_none_fails_the_session_and_blames_no_peer(outcome: str, why: str) -> None:
    end = ended(server(f"{{outcome: {outcome}, return: null}}"))

    assert end.failed is not None
    assert why in end.failed
    assert end.outcome is None


SPEC = """
protocol: base
connects: {client: server}
messages: {client: {GO: go}}
roles:
  server:
    main:
      door: {accept: join(peer), as: players, seats: 2, within: 5 s, timeout: {return: null}, then: over}
      over: %s
    join(peer):
      named: {await: peer, within: 5 s, receive: {GO: {return: {}}}}
  client:
    main:
      begin: {send: GO, %sreturn: null}
"""


def problems(over: str, client: str = "") -> list[tuple[str, int]]:
    try:
        found = check(load_text(SPEC % (over, client), "test.yaml"))
    except SpecError as error:
        found = list(error.problems)
    return [(problem.code, problem.place.line) for problem in found]


def test_faults_of_an_outcome_come_in_one_pass_with_their_places() -> None:
    assert problems("{outcome: {ranking: players, faults: []}, return: null}") == []
    assert problems("{outcome: {ranking: players}, then: over}") == [("A122", 9)]
    assert problems("{outcome: {rankings: players}, return: null}") == [("A113", 9), ("A111", 9)]
    assert problems("{outcome: {ranking: winner}, return: null}") == [("A301", 9)]
    assert problems("{return: null}", "outcome: {ranking: []}, ") == [("A141", 14)]
