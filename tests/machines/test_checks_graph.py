"""How states follow one another and machines call one another: a bad text and a mended one for each check."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machines.analysis.call_graph import components
from tests.support.quiz import (
    AS,
    CLIENT,
    FAULT,
    LIMIT,
    MORE,
    OVER,
    RESIGN,
    TURN,
    WINDOW,
    Case,
)

DEEPER = "      deeper: {run: d0, then: asked}\n"


def deep(length: int) -> str:
    """Return so many machines of which each runs the next."""
    calls = "".join(f"    d{n}:\n      one: {{run: d{n + 1}, return: 0}}\n" for n in range(length - 1))
    return f"{calls}    d{length - 1}:\n      one: {{return: 0}}\n"


GRAPH = [
    Case(
        "a state that is never entered",
        "A320",
        bad=((OVER, "      aside: {then: over}\n" + OVER),),
        good=((OVER, "      aside: {then: over}\n" + OVER), ("        then: over\n", "        then: aside\n")),
        at="aside:",
        says="no branch of main leads to it",
    ),
    Case(
        "two states that only lead to each other",
        "A320",
        bad=((OVER, "      aside: {send: {players: OVER}, then: aside}\n" + OVER),),
        good=(
            (OVER, "      aside: {send: {players: OVER}, then: over}\n" + OVER),
            ("        then: over\n", "        then: aside\n"),
        ),
        at="aside:",
    ),
    Case(
        "a machine that is never called",
        "A321",
        bad=((MORE, "    idle:\n      one: {return: null}\n" + MORE),),
        good=(
            (MORE, "    idle:\n      one: {return: null}\n" + MORE),
            (OVER, "      aside: {run: idle, then: over}\n" + OVER),
            ("        then: over\n", "        then: aside\n"),
        ),
        at="idle:",
    ),
    Case(
        "a machine that calls itself through another",
        "A322",
        bad=(
            (TURN, "MOVE: once_more"),
            (FAULT, FAULT + "      once_more: {run: more(player), as: score, return: score}\n"),
            (MORE, "    more(player):\n      one:\n        run: turn(player, 0)\n        return: 0\n" + MORE),
        ),
        good=((TURN, "MOVE: once_more"), (FAULT, FAULT + "      once_more: {let: {score: 1}, then: asked}\n")),
        at="run: more(player)",
        says="turn -> more -> turn",
    ),
    Case(
        "calls that are too deep",
        "A328",
        bad=((TURN, "MOVE: deeper"), (FAULT, FAULT + DEEPER), (MORE, deep(80) + MORE)),
        good=((TURN, "MOVE: deeper"), (FAULT, FAULT + DEEPER), (MORE, deep(10) + MORE)),
        at="d62",
        says="82 deep, at most 64",
    ),
    Case(
        "a state that nothing leads away from",
        "A323",
        bad=((CLIENT, "      playing:\n        within: 5 s\n"), ("OVER: {return: null}", "OVER: stay")),
        good=((CLIENT, "      playing:\n        within: never\n"), ("OVER: {return: null}", "OVER: stay")),
        at="playing:",
        says="no way leads from the state 'playing' to a 'return'",
    ),
    Case(
        "a called machine that never returns",
        "A323",
        bad=(
            ("then: playing}\n", "then: begin}\n      begin: {run: game, return: null}\n    game:\n"),
            ("OVER: {return: null}", "OVER: stay"),
            ("within: never", "within: 1 min"),
        ),
        good=(
            ("then: playing}\n", "then: begin}\n      begin: {run: game, closed: {return: 1}, return: 0}\n    game:\n"),
            ("OVER: {return: null}", "OVER: stay"),
            ("within: never", "within: 1 min"),
        ),
        at="playing:",
    ),
    Case(
        "a ring of states that nothing leaves",
        "A324",
        bad=((OVER, "      a: {then: b}\n      b: {let: {score: 1}, then: a}\n" + OVER),
             ("        timeout: {return: null}\n", "        timeout: a\n"),
             ),
        good=((OVER, "      a: {then: b}\n      b: {let: {score: 1}, then: over}\n" + OVER),
              ("        timeout: {return: null}\n", "        timeout: a\n")),
        at="a: {then: b}",
        says="a -> b -> a spins for ever",
    ),
    Case(
        "a ring whose condition nothing changes",
        "A324",
        bad=((OVER, "      a: [{if: score == 3, then: over}, b]\n      b: {send: {players: OVER}, then: a}\n" + OVER),
             ("        then: over\n", "        then: a\n")),
        good=((OVER, "      a: [{if: score == 3, then: over}, b]\n      b: {let: {score: 3}, then: a}\n" + OVER),
              ("        then: over\n", "        then: a\n")),
        at="a: [{if",
        says="nothing in it changes what its conditions read",
    ),
    Case(
        "a lost peer awaited again and again",
        "A324",
        bad=((FAULT, "        timeout: {return: score}\n        invalid: {return: score}\n        closed: asked\n"),),
        good=((FAULT, "        timeout: {return: score}\n        invalid: asked\n        closed: {return: score}\n"),),
        at="asked:",
        says="a lost peer answers 'closed' at once",
    ),
    Case(
        "a wait without a limit",
        "A325",
        bad=(("        within: never\n", ""),),
        good=(("        within: never\n", ""), ("      hello:", "      always: {within: 10 min}\n      hello:")),
        at="playing:",
    ),
    Case(
        "a wait in a called machine that no caller limits",
        "A325",
        bad=((LIMIT, "        await: player\n"),),
        good=((LIMIT, "        await: player\n"), (AS, AS + "        within: 1 min\n        timeout: over\n")),
        at="asked:",
        says="main -> turn",
    ),
    Case(
        "a sign-up without a limit",
        "A325",
        bad=((WINDOW, ""), ("  window: 10 s\n", "")),
        good=((WINDOW, "        within: never\n"), ("  window: 10 s\n", "")),
        at="door:",
    ),
    Case(
        "a stranger who could end the session",
        "A326",
        bad=((FAULT, ""),),
        good=((FAULT, ""), ("        as: score\n", "        as: score\n        fault: over\n")),
        at="asked:",
        says="'timeout', 'invalid' or 'closed', called on the way main -> turn: it would end the session of all",
    ),
    Case(
        "a wait for ever, whose peer may be lost",
        "A326",
        bad=((LIMIT + "        receive", "        await: player\n        within: never\n        receive"),
             (FAULT, "        invalid: {return: score}\n")),
        good=((LIMIT + "        receive", "        await: player\n        within: never\n        receive"),
              (FAULT, "        invalid: {return: score}\n        closed: {return: score}\n")),
        at="asked:",
        says="no answer to 'closed'",
    ),
    Case(
        "a fault that is answered only sometimes",
        "A326",
        bad=((FAULT, "        fault: [{if: score == 0, return: 1}]\n"),),
        good=((FAULT, "        fault: [{if: score == 0, return: 1}, {return: score}]\n"),),
        at="asked:",
    ),
    Case(
        "a window that may end with too few",
        "A326",
        bad=(("        timeout: {return: null}\n", ""),),
        good=(("        timeout: {return: null}\n", ""), ("seats: 2\n", "seats: 0..2\n")),
        at="door:",
        says="'timeout'",
    ),
    Case(
        "a window that awaits those it seated, one of whom may say what it should not",
        "A326",
        bad=(("        seats: 2\n", "        seats: 2\n        await: players\n"),),
        good=(("        seats: 2\n", "        seats: 2\n        await: players\n        invalid: stay\n"),),
        at="door:",
        says="'invalid'",
    ),
    Case(
        "a limit on a whole call that nobody answers",
        "A326",
        bad=(("        as: score\n", "        as: score\n        within: 1 min\n"),),
        good=(("        as: score\n", "        as: score\n        within: 1 min\n        timeout: over\n"),),
        at="rounds:",
    ),
    Case(
        "a branch behind a sure one",
        "A327",
        bad=((RESIGN, "RESIGN: [{return: score}, {if: score == 0, return: 1}]"),),
        good=((RESIGN, "RESIGN: [{if: score == 0, return: 1}, {return: score}]"),),
        at="{if: score == 0, return: 1}",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", GRAPH, ids=lambda case: case.name)
def test_a_fault_is_told_and_a_mended_one_is_not(case: Case) -> None:
    case.judge()


graphs = st.integers(1, 7).flatmap(
    lambda count: st.lists(st.lists(st.integers(0, count), max_size=4), min_size=count, max_size=count)
)


@settings(max_examples=100, deadline=None)
@given(graphs)
def test_components_are_what_reaches_each_other(targets: list[list[int]]) -> None:
    graph = {str(state): [str(target) for target in leads] for state, leads in enumerate(targets)}

    def reach(start: str) -> set[str]:
        seen: set[str] = set()
        todo = [start]
        while todo:
            at = todo.pop()
            if at in graph and at not in seen:
                seen.add(at)
                todo.extend(graph[at])
        return seen

    expected = {frozenset(other for other in graph if other in reach(one) and one in reach(other)) for one in graph}
    parts = components(graph)

    assert {frozenset(part) for part in parts} == expected
    assert sorted(state for part in parts for state in part) == sorted(graph)
