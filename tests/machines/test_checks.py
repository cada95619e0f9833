"""The checks of one spec: how states and machines hang together, messages, rules. Each has a bad text and a mended one."""

from __future__ import annotations

import inspect
import re
import time
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machines import (
    checks,
    checks_assignment,
    checks_bindings,
    checks_graph,
    checks_messages,
    checks_rules,
)
from machines.checks import check
from machines.flow import components
from machines.nodes import parse_yaml
from machines.problems import Problems
from machines.reader import read
from tests.machines import test_names
from tests.machines.quiz import QUIZ, Case, changed, found, spec_of
from tests.shared import SHARED, needs_shared

SPECS = sorted((Path(__file__).resolve().parents[2] / "specs").glob("*.yaml"))
SKETCHES = sorted((SHARED / "sketches").glob("*.yaml"))

TURN = "MOVE: {return: score + x}"
RESIGN = "RESIGN: {return: score}"
FAULT = "        fault: {return: score}\n"
LIMIT = "        await: player\n        within: reply\n"
OVER = "      over:\n"
CLIENT = "      playing:\n        within: never\n"
MORE = "    join(peer):\n"

# -- states and machines ---------------------------------------------------------------------------------------------

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
            (TURN, "MOVE: again"),
            (FAULT, FAULT + "      again: {run: more(player), as: score, then: done}\n      done: {return: score}\n"),
            (MORE, "    more(player):\n      one:\n        run: turn(player, 0)\n        return: 0\n" + MORE),
        ),
        good=((TURN, "MOVE: again"), (FAULT, FAULT + "      again: {let: {score: score}, then: asked}\n")),
        at="run: turn(player, 0)",
        says="more -> turn -> more",
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
        good=((OVER, "      a: [{if: score == 3, then: over}, b]\n      b: {let: {score: score + 1}, then: a}\n" + OVER),
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
        good=((LIMIT, "        await: player\n"), ("        as: score\n", "        as: score\n        within: 1 min\n        timeout: over\n")),
        at="asked:",
        says="main -> turn",
    ),
    Case(
        "a sign-up without a limit",
        "A325",
        bad=(("        within: window\n        timeout: {return: null}\n", ""), ("  window: 10 s\n", "")),
        good=(("        within: window\n        timeout: {return: null}\n", "        within: never\n"), ("  window: 10 s\n", "")),
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

# -- messages --------------------------------------------------------------------------------------------------------

MESSAGES = [
    Case(
        "a message that nobody sends",
        "A330",
        bad=(("    NEWS:", "    MORE: more\n    NEWS:"), ("NEWS: stay", "NEWS: stay\n          MORE: stay")),
        good=(("    NEWS:", "    MORE: more\n    NEWS:"), ("NEWS: stay", "NEWS: stay\n          MORE: stay"),
              ("[OVER, NEWS('bye')]", "[MORE, NEWS('bye'), OVER]")),
        at="MORE: more",
        says="no machine of server does",
    ),
    Case(
        "a message that nobody receives",
        "A331",
        bad=(("          NEWS: stay\n", ""),),
        good=(("          NEWS: stay\n", "          NEWS: {let: {last: text}, then: stay}\n"),),
        at="NEWS: [news, $text string]",
        says="no machine of client does",
    ),
    Case(
        "a type that no message uses",
        "A332",
        bad=(("types:\n", "types:\n  Names: [Name, ...]\n"),),
        good=(("types:\n", "types:\n  Names: [Name, ... 3]\n"), ("$text string", "$text Names"),
              ("NEWS('bye')", "NEWS([])")),
        at="Names:",
    ),
    Case(
        "a setting that nothing reads",
        "A333",
        bad=(("  reply: 5 s\n", "  reply: 5 s\n  think: 4 s\n"),),
        good=(("  reply: 5 s\n", "  reply: 5 s\n  think: 4 s\n"), ("        within: never\n", "        within: think\n")),
        at="think:",
    ),
    Case(
        "two messages of one state that one value fits",
        "A334",
        bad=(("$text string]", "$text string]\n    LATE: [news, $why string]"),
             ("          NEWS: stay\n", "          NEWS: stay\n          LATE: stay\n"), ("[OVER, NEWS", "[LATE('no'), OVER, NEWS")),
        good=(("$text string]", "$text string]\n    LATE: [late, $why string]"),
              ("          NEWS: stay\n", "          NEWS: stay\n          LATE: stay\n"), ("[OVER, NEWS", "[LATE('no'), OVER, NEWS")),
        at="LATE: stay",
        says='["news", ',
    ),
    Case(
        "a message that an always takes for another",
        "A334",
        bad=(("RESIGN: [resign]", "RESIGN: [$word string, $n int]"), ("RESIGN: {return: score}", "RESIGN: {return: n}"),
             (TURN + ", ", ""), ("send: RESIGN", "send: RESIGN('no', 1)"),
             ("        as: score\n", "        as: score\n        receive: {MOVE: over}\n")),
        good=(("RESIGN: [resign]", "RESIGN: [$word string, no]"), ("RESIGN: {return: score}", "RESIGN: {return: word}"),
              (TURN + ", ", ""), ("send: RESIGN", "send: RESIGN('no')"),
              ("        as: score\n", "        as: score\n        receive: {MOVE: over}\n")),
        at="RESIGN: {return: n}",
        says="the state 'rounds' of main around it",
    ),
    Case(
        "the exception behind the rule",
        "A334",
        bad=(("RESIGN: [resign]", "RESIGN: [move, 0]"),),
        good=(("RESIGN: [resign]", "RESIGN: [move, 0]"),
              (f"{TURN}, {RESIGN}", f"{RESIGN}, {TURN}")),
        at="RESIGN: {return: score}",
        says='["move", 0] is either',
    ),
    Case(
        "two answers to one question that one value fits",
        "A335",
        bad=(("ASK:  [{if: my.tired, send: RESIGN, then: stay}, {send: MOVE(1), then: stay}]", "ASK: asked"),
             ("      playing:", "      asked:\n        ask: move\n        within: 1 min\n        receive: {MOVE: sent, RESIGN: sent2}\n"
              "      sent: {send: MOVE, then: playing}\n      sent2: {send: RESIGN, then: playing}\n      playing:"),
             ("RESIGN: [resign]", "RESIGN: [move, 0]"), (f"{TURN}, {RESIGN}", f"{RESIGN}, {TURN}")),
        good=(("ASK:  [{if: my.tired, send: RESIGN, then: stay}, {send: MOVE(1), then: stay}]", "ASK: asked"),
              ("      playing:", "      asked:\n        ask: move\n        within: 1 min\n        receive: {RESIGN: sent2, MOVE: sent}\n"
               "      sent: {send: MOVE, then: playing}\n      sent2: {send: RESIGN, then: playing}\n      playing:"),
              ("RESIGN: [resign]", "RESIGN: [move, 0]"), (f"{TURN}, {RESIGN}", f"{RESIGN}, {TURN}")),
        at="receive: {MOVE: sent, RESIGN: sent2}",
    ),
    Case(
        "an urgent message like another",
        "A336",
        bad=(("roles:\n", "urgent: [RESIGN]\nroles:\n"), ("RESIGN: [resign]", "RESIGN: [hello, bye]")),
        good=(("roles:\n", "urgent: [RESIGN]\nroles:\n"), ("RESIGN: [resign]", "RESIGN: [bye, bye]")),
        at="RESIGN: [hello, bye]",
        says='["hello", "bye"] is either',
    ),
    Case(
        "a wait that does not say for whom",
        "A337",
        bad=((LIMIT, "        within: reply\n"), ("        send: ASK\n", "        send: {player: ASK}\n")),
        good=(("        send: ASK\n", "        send: {player: ASK}\n"),),
        at="asked:",
        says="server has several peers",
    ),
    Case(
        "a send with nobody at hand",
        "A338",
        bad=(("send: {players: [OVER, NEWS('bye')]}", "send: [OVER, NEWS('bye')]"),),
        good=(("send: {players: [OVER, NEWS('bye')]}", "send: {players: [NEWS('bye'), OVER]}"),),
        at="send: [OVER",
        says="OVER and NEWS",
    ),
    Case(
        "a send where a call failed",
        "A338",
        bad=(("        as: score\n", "        as: score\n        failed: {send: OVER, then: over}\n"),),
        good=(("        as: score\n", "        as: score\n        failed: {send: {players: OVER}, then: over}\n"),),
        at="failed: {send: OVER",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", [*GRAPH, *MESSAGES], ids=lambda case: case.name)
def test_a_fault_is_told_and_a_mended_one_is_not(case: Case) -> None:
    case.judge()


# -- rules -----------------------------------------------------------------------------------------------------------


def scoring() -> ModuleType:
    module = ModuleType("scoring")
    source = (
        "def add(score, x, /, bonus=0): return score + x\ndef best(*scores): return max(scores)\ndef _own(): pass\n"
    )
    exec(compile(source, "scoring", "exec"), vars(module))  # noqa: S102 (a module made for this test)
    return module


WITH_RULES = ("settings:\n", "rules: [scoring]\nsettings:\n")
IN_BLOCK = (
    f"receive: {{{TURN}, {RESIGN}}}",
    "receive:\n          RESIGN: {return: score}\n          MOVE:\n            return: CALL",
)
RULES = [
    Case(
        "a rule that is not there",
        "A401",
        bad=(WITH_RULES, IN_BLOCK, ("CALL", "scoring.ad(score, x)")),
        good=(WITH_RULES, IN_BLOCK, ("CALL", "scoring.add(score, x)")),
        at="scoring.ad(",
        says="did you mean 'add'?",
    ),
    Case(
        "a rule that is its module's own affair",
        "A401",
        bad=(WITH_RULES, IN_BLOCK, ("CALL", "scoring.own()")),
        good=(WITH_RULES, IN_BLOCK, ("CALL", "scoring.best(score, x, 1, 2)")),
        at="scoring.own()",
    ),
    Case(
        "a rule given too few values",
        "A402",
        bad=(WITH_RULES, IN_BLOCK, ("CALL", "scoring.add(score)")),
        good=(WITH_RULES, IN_BLOCK, ("CALL", "scoring.add(score, x, 1)")),
        at="scoring.add(score)",
        says="it is scoring.add(score, x, bonus=0)",
    ),
    Case(
        "a rule given too many values",
        "A402",
        bad=(WITH_RULES, IN_BLOCK, ("CALL", "score + scoring.add(1, 2, 3, 4)")),
        good=(WITH_RULES, IN_BLOCK, ("CALL", "score + scoring.add(1, 2, 3)")),
        at="scoring.add(1, 2, 3, 4)",
        says="can not take 4 values",
    ),
    Case(
        "a rule of a module that is not named",
        "A403",
        bad=(WITH_RULES, IN_BLOCK, ("CALL", "scorin.add(score, x)")),
        good=(WITH_RULES, IN_BLOCK, ("CALL", "scoring.add(score, x)")),
        at="scorin.add",
        says="did you mean 'scoring'?",
    ),
    Case(
        "a function that is not built in",
        "A404",
        bad=(IN_BLOCK, ("CALL", "size([x])")),
        good=(IN_BLOCK, ("CALL", "len([x])")),
        at="size([x])",
    ),
    Case(
        "a built-in function given too many values",
        "A404",
        bad=(IN_BLOCK, ("CALL", "len(score, x)")),
        good=(IN_BLOCK, ("CALL", "len([score, x])")),
        at="len(score, x)",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", RULES, ids=lambda case: case.name)
def test_a_wrong_call_is_told_and_a_mended_one_is_not(case: Case) -> None:
    case.judge({"scoring": scoring()})


def test_rules_are_not_looked_at_without_their_modules() -> None:
    assert found(changed(WITH_RULES, IN_BLOCK, ("CALL", "scoring.nothing()"))) == []


def test_a_module_of_rules_may_not_hide_a_setting_nor_a_role() -> None:
    text = changed(("settings:\n", "rules: [reply, server]\nsettings:\n"))

    assert [(problem.code, problem.place.line) for problem in found(text)] == [("A311", 5), ("A311", 7)]


# -- no false alarms -------------------------------------------------------------------------------------------------


def problems_of(path: Path) -> list[str]:
    problems = Problems()
    node = parse_yaml(path.read_text(encoding="utf-8"), path.name, problems)
    assert node is not None
    spec = read(node, path.name, problems)
    return [str(problem) for problem in [*problems, *check(spec)]]


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
        (FAULT, "        timeout: {return: 0}\n        invalid: {return: 0}\n        closed: {let: {player: score}, then: asked}\n"),
    ),
    "a warning before the limit": (
        (FAULT, "        after: {2 s: {send: NEWS('hurry'), then: stay}}\n" + FAULT),
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
  client: {SAY: [say, $text string]}
  server: {SAID: [said, $text string]}
roles:
  server:
    main:
      open:
        accept: join(peer)
        as: present
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


# -- two roles at the other end ----------------------------------------------------------------------------------------

RELAY = """\
protocol: relay
connects: {client: [server, ai]}
messages:
  client: {QUESTION: [q, $n int]}
  client, ai: {ANSWER: [a, $n int]}
  server: {BEGIN: begin, STOP: ['a', 0]}
roles:
  server:
    main:
      door: {accept: join(peer), as: players, seats: 1, within: 5 s, timeout: {return: null}, then: asking}
      asking: {await: players, within: 5 s, receive: {ANSWER: done}, fault: done}
      done: {send: {players: STOP}, return: null}
    join(peer):
      told: {send: BEGIN, await: peer, within: 5 s, receive: {ANSWER: {return: {}}}}
  client:
    main:
      always: {await: server, within: 5 s, receive: {STOP: {return: null}}}
      begin: {await: server, receive: {BEGIN: thinking}}
      thinking: {send: {ai: QUESTION(1)}, await: ai, receive: {ANSWER: {send: {server: ANSWER}, then: begin}}}
  ai:
    main(client):
      ready: {within: 5 s, receive: {QUESTION: {send: ANSWER, return: null}}}
"""


def test_messages_of_different_senders_may_be_alike() -> None:
    # STOP is the server's and looks like an ANSWER, but the state that expects an ANSWER hears the ai.
    assert found(RELAY) == []


def test_messages_of_one_sender_may_not_be_alike_though_it_shares_one_with_others() -> None:
    text = changed(("BEGIN: begin", "BEGIN: ['a', 0]"), text=RELAY)

    assert [problem.code for problem in found(text)] == ["A334"]


def test_every_sender_of_a_message_has_to_send_it() -> None:
    text = changed(("send: {server: ANSWER}, then: begin", "then: begin"), text=RELAY)

    assert [(problem.code, problem.text) for problem in found(text)] == [
        ("A330", "ANSWER is never sent: no machine of client does")
    ]


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

    assert found(text) == []


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

    started = time.process_time()
    assert found(text) == []
    assert time.process_time() - started < 5  # 2 to the 40th ways through would take for ever


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_a_shipped_spec_is_checked_at_once(path: Path) -> None:
    problems = Problems()
    node = parse_yaml(path.read_text(encoding="utf-8"), path.name, problems)
    assert node is not None
    spec = read(node, path.name, problems)
    check(spec)

    times = []
    for _ in range(5):
        started = time.process_time()
        check(spec)
        times.append(time.process_time() - started)

    assert min(times) < 0.05


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


# -- the table of codes ----------------------------------------------------------------------------------------------

MODULES = (checks_assignment, checks_bindings, checks_graph, checks_messages, checks_rules)


def codes(text: str) -> set[str]:
    return set(re.findall(r"\bA[34]\d\d\b", text))


def test_the_table_has_the_codes_that_are_told_and_no_other() -> None:
    told = {code for module in MODULES for code in re.findall(r'"(A\d+)"', inspect.getsource(module))}

    assert codes((checks.__doc__ or "").split("Each check is")[0]) == told
    for module in MODULES:
        own = set(re.findall(r'"(A\d+)"', inspect.getsource(module)))
        assert codes(module.__doc__ or "") >= own


def test_every_code_has_a_bad_text_and_a_mended_one() -> None:
    tried = {case.code for case in [*GRAPH, *MESSAGES, *RULES, *test_names.CASES]}

    assert tried == codes((checks.__doc__ or "").split("Each check is")[0])


def test_problems_stand_in_file_order() -> None:
    text = changed((TURN, "MOVE: {return: nobody}"), ("  reply: 5 s\n", "  reply: 5 s\n  think: 4 s\n"), (FAULT, ""))
    problems = found(text)

    assert [problem.code for problem in problems] == ["A333", "A326", "A301"]
    assert spec_of(text).settings["think"].place == problems[0].place
