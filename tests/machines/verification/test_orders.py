"""Clients that are alike count as one: no two states of a search differ only in who is who, and none is left out."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from machines.parser.loader import load_text, rules_modules
from machines.verification.abstract.contracts import contracts_for
from machines.verification.search.moves import GlobalState, Transition
from machines.verification.search.state_space import StateSpace
from machines.verification.search.system import System
from machines.verification.temporal import PropertyDetector
from tests.machines.verification.bench import text_of

MOST = 30_000


class OnlyAlike(StateSpace):
    """A search that leaves out nothing but states that differ only in which client is which."""

    def _ample_reads(self, config: GlobalState) -> list[Transition] | None:
        return None

    def _not_too_early(self, config: GlobalState, moves: list[Transition]) -> list[Transition]:
        return moves

    def _isolated_moves(self, config: GlobalState) -> list[Transition]:
        return []

    def _drop_isolated(self, config: GlobalState) -> GlobalState:
        return config


class Whole(OnlyAlike):
    """A search in which each client is itself."""

    def sorted(self, config: GlobalState) -> tuple[GlobalState, tuple[int, ...]]:
        return config, self.no_moves


def _cast(name: str, clients: int) -> System:
    spec = load_text(text_of(name))
    return System(spec, clients, contracts_for(spec, rules_modules(spec)))


def _searched(kind: type[StateSpace], cast: System, most: int = MOST) -> StateSpace:
    graph = kind(cast, 2, most)
    graph.build(PropertyDetector(cast.clients, ()))
    return graph


def _in_any_order(graph: StateSpace, config: GlobalState) -> Any:
    """Return the least of a state in all orders of its clients."""
    locals_, queues, faulty = config
    found = []
    for members in permutations(graph.orders.members):
        order = graph.orders.order(members)
        placed = [locals_[at] for at in order.actors]
        for at, part, seats in order.shared:
            placed[at] = part.rename(locals_[order.actors[at]], seats)
        waiting = [queues[at] for at in order.queues]
        found.append((placed, [repr(one.tokens) if one is not None else "" for one in waiting], faulty))
    return repr(min(found))


@pytest.mark.parametrize(
    ("name", "clients"),
    [
        ("lobby", 2),
        ("sticks", 2),
        ("tsuro", 2),
        ("two-phase-commit", 2),
        ("rock-paper-scissors", 3),
    ],
)
def test_each_order_of_clients_is_looked_at_once_and_as_good_as_all(name: str, clients: int) -> None:
    cast = _cast(name, clients)
    reduced, whole = _searched(OnlyAlike, cast), _searched(Whole, cast)
    assert len(whole.configs) < MOST

    kinds = [_in_any_order(reduced, config) for config in reduced.configs]

    assert len(set(kinds)) == len(kinds) < len(whole.configs)
    assert set(kinds) == {_in_any_order(whole, config) for config in whole.configs}


def test_of_very_many_orders_only_those_are_made_that_come_up() -> None:
    graph = _searched(StateSpace, _cast("tsuro", 9), 400)

    assert len(graph.configs) > 400
    assert len(graph.orders.known) < 1_000  # of 362,880
