"""All checks together: no false alarms, no blow-up, and a table of codes that is complete."""

from __future__ import annotations

import inspect
import re
import time
from pathlib import Path

import pytest

from machines.checks import (
    agreement,
    ambiguity,
    bindings,
    check,
    checker,
    definite_assignment,
    durations,
    fault_handling,
    guards,
    partial_values,
    reachability,
    receivers,
    rules,
    scoping,
    sizes,
    step_order,
    suppressions,
    used_up,
    value_kinds,
)
from machines.parser.loader import load
from machines.problems import SpecError
from tests.support.quiz import (
    FAULT,
    OVER,
    QUIZ,
    RESIGN,
    TURN,
    changed,
    found,
    spec_of,
)
from tests.support.seeds import RULES as SEED_RULES
from tests.support.shared import SHARED, needs_shared

ROOT = Path(__file__).resolve().parents[2]
SPECS = sorted(path for folder in ("specs", "tests/specs") for path in (ROOT / folder).glob("*.yaml"))
SKETCHES = sorted((SHARED / "sketches").glob("*.yaml"))

# -- no false alarms -------------------------------------------------------------------------------------------------


def problems_of(path: Path) -> list[str]:
    try:
        spec = load(str(path), rules=SEED_RULES)
    except SpecError as error:
        return [str(problem) for problem in error.problems]
    return [str(problem) for problem in check(spec)]


def test_the_quiz_has_no_problem() -> None:
    assert found(QUIZ) == []


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_a_shipped_spec_has_no_problem(path: Path) -> None:
    assert problems_of(path) == []


@needs_shared
@pytest.mark.parametrize("path", SKETCHES, ids=lambda path: path.stem)
def test_a_sketch_has_no_problem(path: Path) -> None:
    assert problems_of(path) == []


SILENT = {
    "a loop of rounds that a rule decides": (
        ("        then: over\n", "        then: judged\n"),
        (OVER, "      judged: [{if: score == 9, then: over}, rounds]\n" + OVER),
    ),
    "a lost peer that a new one takes the place of": (
        (FAULT, "        closed: {let: {player: score}, then: asked}\n" + FAULT),
    ),
    "a warning before the limit": (
        (FAULT, "        after: {2 s: {send: NEWS('hurry'), then: stay}}\n" + FAULT),
    ),
    "a pause that hears nobody": (
        ("        then: over\n", "        then: pause\n"),
        (OVER, "      pause: {within: 1 s, timeout: over}\n" + OVER),
    ),
    "a guard behind a limit": (
        (RESIGN, "RESIGN: [{limit: 3, send: NEWS('no'), then: stay}, {return: score}]"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SILENT)
def test_what_is_right_is_not_told(name: str) -> None:
    assert found(changed(*SILENT[name])) == []


def test_a_door_without_seats_stays_open_and_needs_no_end() -> None:
    text = """\
protocol: chat
connects: {client: server}
messages:
  client: {SAY: [say, $text string 0..60]}
  server: {SAID: [said, $text string]}
roles:
  server:
    main:
      open:
        accept: join(peer)
        as: present
        await: present
        receive: {SAY: {send: {present: SAID}, then: stay}}
        fault: {drop: peer, then: again}
    join(peer):
      at_once: {return: {}}
  client:
    main:
      talk: {send: SAY('hello'), then: listening}
      listening: {within: never, receive: {SAID: stay}}
"""
    assert found(text) == []


def test_a_role_with_a_main_for_each_connection_may_rely_on_the_built_in_end() -> None:
    text = """\
protocol: echo
connects: {client: server}
messages:
  client: {PING: [ping, $n int]}
  server: {PONG: [pong, $n int]}
roles:
  server:
    main(client):
      ready: {within: 5 s, receive: {PING: {send: PONG, return: null}}}
  client:
    main:
      asking: {send: PING(1), then: waiting}
      waiting: {within: 5 s, receive: {PONG: {return: n}}}
"""
    assert found(text) == []


# -- limits ----------------------------------------------------------------------------------------------------------


def test_a_long_chain_of_calls_is_checked_without_recursion() -> None:
    calls = "".join(f"    m{n}:\n      one: {{run: m{n + 1}, as: x, return: x}}\n" for n in range(800))
    text = changed(
        ("then: playing}\n", "then: chain}\n      chain: {run: m0, then: playing}\n"),
        (
            "          OVER: {return: null}\n",
            f"          OVER: {{return: null}}\n{calls}    m800:\n      one: {{return: 1}}\n",
        ),
    )

    assert [problem.code for problem in found(text)] == ["A328"]


@pytest.mark.xdist_group("time")
def test_calls_that_branch_and_meet_again_take_no_longer() -> None:
    calls = "".join(
        f"    m{n}:\n      one: {{run: m{n + 1}, then: two}}\n      two: {{run: m{n + 1}, return: 0}}\n"
        for n in range(40)
    )
    wait = "    m40:\n      one: {within: 5 s, receive: {OVER: {return: null}}}\n"
    text = changed(
        ("then: playing}\n", "then: chain}\n      chain: {run: m0, then: playing}\n"),
        ("          OVER: {return: null}\n", f"          OVER: {{return: null}}\n{calls}{wait}"),
    )

    started = time.thread_time()
    assert found(text) == []
    assert time.thread_time() - started < 5  # 2 to the 40th ways through would take for ever


@pytest.mark.xdist_group("time")
@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_a_shipped_spec_is_checked_at_once(path: Path) -> None:
    spec = load(str(path), rules=SEED_RULES)
    check(spec)

    times = []
    for _ in range(5):
        started = time.thread_time()
        check(spec)
        times.append(time.thread_time() - started)

    # Words of texts in capitals or not are compared letter by letter, each in two cases.
    assert min(times) < (1 if spec.frames else 0.05)


# -- the table of codes ----------------------------------------------------------------------------------------------

MODULES = (
    suppressions,
    definite_assignment,
    scoping,
    step_order,
    fault_handling,
    reachability,
    guards,
    value_kinds,
    partial_values,
    agreement,
    durations,
    sizes,
    used_up,
    bindings,
    ambiguity,
    receivers,
    rules,
)


def codes(text: str) -> set[str]:
    return set(re.findall(r"\bA[34]\d\d\b", text))


def test_the_table_has_the_codes_that_are_told_and_no_other() -> None:
    told = {code for module in MODULES for code in re.findall(r'"(A\d+)"', inspect.getsource(module))}

    assert codes((checker.__doc__ or "").split("Each check is")[0]) == told
    for module in MODULES:
        own = set(re.findall(r'"(A\d+)"', inspect.getsource(module)))
        assert codes(module.__doc__ or "") >= own


def test_problems_stand_in_file_order() -> None:
    text = changed((TURN, "MOVE: {return: nobody}"), ("  reply: 5 s\n", "  reply: 5 s\n  think: 4 s\n"), (FAULT, ""))
    problems = found(text)

    assert [problem.code for problem in problems] == ["A333", "A326", "A301"]
    assert spec_of(text).settings["think"].place == problems[0].place
