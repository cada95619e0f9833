"""What real sessions do in played games, the exploration has seen: it may see more, never less."""

from __future__ import annotations

from typing import Any

import pytest

from machines.engine import routing
from machines.engine.session import Session
from machines.parser.loader import load, rules_modules
from machines.verification.abstract.contracts import contracts_for
from machines.verification.search.state_space import StateSpace
from machines.verification.search.system import System
from machines.verification.temporal import PropertyDetector
from runtime.players.companions import companions
from tests.machines.verification.test_contracts import QUICK
from tests.parts import by_default
from tests.support.session_harness import Network

NAMES = ["tsuro", "santorini-prompts", "santorini-relay", "santorini-rulecheck", "santorini-official", "trains"]


def where(session: Session) -> str:
    """Return where a session is, as the exploration says it, in the order of the alphabet."""
    if session.ended is not None:
        return "over" if session.ended.failed is None else "failed"
    return ", ".join(sorted(f"{frame.table.name}.{frame.node.name}" for frame in routing.leaves(session)))


@pytest.mark.parametrize("name", by_default(NAMES, ["tsuro", "santorini-relay"]))
def test_wherever_a_session_comes_the_exploration_has_been(name: str) -> None:
    spec = load(name)
    modules = rules_modules(spec)
    cast = System(spec, 3, contracts_for(spec, modules))
    graph = StateSpace(cast, 2, 60_000)
    graph.build(PropertyDetector(3, ()))
    seen = {
        role: {", ".join(sorted(part.rest(number).where.split(", "))) for number in range(len(part.locals))
               if len(part.locals[number]) == 2}
        for role, part in cast.parts.items()
    }  # fmt: skip
    assert not graph.beyond

    server, *_ = spec.listeners()
    client = next(role for role in spec.roles if spec.connects.get(role))
    kinds = [one for found in companions(spec, "players") for kind, one in found.PLAYERS.items() if kind in QUICK]
    missed = set()
    for seed in range(3):
        network = Network(spec, server, modules, seed=seed)

        def decide(question: str, arguments: dict[str, Any], seed: int = seed, kinds: Any = kinds) -> Any:
            for at in range(len(kinds)):
                strategy = kinds[(seed + at) % len(kinds)]("ann", seed)
                if hasattr(strategy, question):
                    try:
                        answer = getattr(strategy, question)(*arguments.values())
                    except Exception:
                        return None  # it is silent, and so late
                    return None if answer is ... else answer
            return None

        clients = [network.join(client, decide, {"name": text}, seed) for text in ("ann", "bob", "eve")]
        for step in range(120):
            for run in network.runs:
                role = run.program.role.name
                if where(run.session) not in seen[role]:
                    missed.add((role, where(run.session)))
            if network.server.session.ended is not None:
                break
            if seed % 2 and step == 5 + 3 * seed:
                network.cut(clients[seed % 3])
            network.wait(1)

    assert not missed
