"""A choice of many branches: the conditions before each are decided once, and no way is another for it."""

from __future__ import annotations

from typing import Any

import pytest

from machines.model import Expression, Spec
from machines.parser.loader import load_text
from machines.verification.abstract import transitions
from machines.verification.abstract.evaluator import AbstractEvaluator
from machines.verification.search.state_space import StateSpace
from machines.verification.search.system import System
from machines.verification.temporal import PropertyDetector
from machines.verification.verdict import PROVED
from tests.machines.verification.bench import searched, text_of

HEAD = """
protocol: choices
wire: {framing: json}
connects: {client: server}
messages:
  server: {BYE: [bye, $n int], NO: "no"}
  client: {M: [m, $n int, $k int], GO: go}
"""
CLIENT = """
  client:
    main:
      begin:
        ask: pick()
        within: 5 s
        receive: {M: {send: M, then: wait}}
        fault: {return: null}
      wait: {await: server, within: 1 min, receive: {BYE: {return: null}, NO: {return: null}}, fault: {return: null}}
"""


def of_branches(branches: str, rest: str = "") -> Spec:
    """Return a spec whose server takes one of these branches when it has read one message."""
    return load_text(f"""{HEAD}
roles:
  server:
    main(peer):
      w:
        await: peer
        within: 5 s
        receive:
          M:
{branches}
        fault: {{return: null}}
{rest}
{CLIENT}
""")


def _many(count: int) -> Spec:
    lines = [f"            - {{if: n == {at}, send: {{peer: BYE({at})}}, return: {at}}}" for at in range(count)]
    return of_branches("\n".join([*lines, "            - {send: {peer: BYE(0)}, return: null}"]))


def _decided(spec: Spec, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many conditions a search decides."""
    count = 0
    holds = AbstractEvaluator.holds

    def counted(self: AbstractEvaluator, expression: Expression, look: Any) -> bool:
        nonlocal count
        count += 1
        return holds(self, expression, look)

    monkeypatch.setattr(AbstractEvaluator, "holds", counted)
    assert searched(spec, (1,)).state == PROVED
    monkeypatch.setattr(AbstractEvaluator, "holds", holds)
    return count


def test_the_conditions_of_many_branches_are_decided_twice_in_a_search_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    # There are two searches, the second for orphans; and not 300 * 300 / 2 conditions in each.
    assert _decided(_many(300), monkeypatch) <= 2 * 2 * 300


# Each: choices within choices, the same choice twice in a step, doubts behind a branch, what a condition makes known.
NESTED = of_branches(
    """            - {if: n == 1 and k == 2, let: {x: n}, then: looked}
            - {if: n > k, limit: 2, let: {x: n}, then: looked}
            - {if: n == 1 or n == k, let: {x: k}, then: looked}
            - {if: not (n == 3), let: {x: n + k}, send: {peer: BYE(1)}, then: looked}
            - {if: k == 2, send: {peer: BYE(4)}, return: null}
            - {if: not (n == 3), then: unseen}
            - {send: {peer: NO}, return: null}""",
    """
      looked:
        - {if: x == 3, then: more}
        - {if: gone(peer), return: null}
        - {send: {peer: BYE(2)}, return: null}
      more:
        - {if: gone(peer), return: null}
        - {if: x == 3, send: {peer: NO}, return: null}
        - {return: null}
      unseen: {send: {peer: BYE(3)}, within: 5 s, fault: {return: null}}
""",
)


def _steps(spec: Spec, clients: int) -> dict[str, dict[Any, Any]]:
    """Return what each input may lead to, of each role, with the branches that are taken on the way."""
    cast = System(spec, clients, {})
    graph = StateSpace(cast, 2, 3_000)
    graph.build(PropertyDetector(clients, ()))
    return {role: part.steps for role, part in cast.parts.items()}


@pytest.mark.parametrize(
    ("spec", "clients"),
    [
        pytest.param(_many(20), 1, id="many"),
        pytest.param(NESTED, 1, id="nested"),
        *(pytest.param(load_text(text_of(name)), 2, id=name) for name in ("tsuro", "sticks", "keys", "smtp", "lobby")),
        *(pytest.param(load_text(text_of(name)), 2, id=name) for name in ("two-phase-commit", "chat", "rooms")),
    ],
)
def test_to_go_on_where_another_way_stood_leads_nowhere_else(
    spec: Spec, clients: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transitions, "MARKED_FROM", 10**9)
    anew = _steps(spec, clients)
    monkeypatch.setattr(transitions, "MARKED_FROM", 0)

    assert _steps(spec, clients) == anew
