"""What is bound in vain, or not as it was meant (A314 to A318)."""

from __future__ import annotations

import pytest

from machines.checks import check
from machines.parser.loader import load_text
from tests.support.quiz import AS, LIMIT, OVER, RESIGN, TURN, changed, spec_of


def told(text: str) -> list[str]:
    codes = ("A314", "A315", "A316", "A317", "A318")
    return [f"{problem.code} {problem.text}" for problem in check(spec_of(text)) if problem.code in codes]


START = "start: {let: {score: 0}, then: rounds}"
ASKED = "      asked:\n        send: ASK\n"


def test_the_quiz_binds_nothing_in_vain() -> None:
    assert told(changed()) == []


@pytest.mark.parametrize(
    ("let", "problems"),
    [
        ("{score: 0, most: score_max}", ["A314 'most' is bound and never read"]),
        ("{score: 0, most: 0}", []),  # a literal, for later
        ("{score: 0, table: []}", []),
    ],
)
def test_a_value_made_of_others_is_read_somewhere(let: str, problems: list[str]) -> None:
    text = changed(
        (START, f"start: {{let: {let}, then: rounds}}"), ("  reply: 5 s\n", "  reply: 5 s\n  score_max: 9\n")
    )

    assert told(text) == problems


@pytest.mark.parametrize(
    ("let", "problems"),
    [
        ("{score: 0, more: 0, names: [p.name for p in players]}", []),
        ("{score: 0, names: [p.name for p in players], more: [p.name for p in players]}", []),
        ("{score: 0, more: 0, names: [score.name for score in players]}", ["'score': it is a value of main already"]),
        ("{score: 0, more: 0, names: [reply.name for reply in players]}", ["'reply': it is a setting"]),
        ("{score: 0, more: 0, names: [peer.name for peer in players]}", ["'peer': it is a value of main already"]),
        (
            "{score: 0, more: 0, names: [result.name for result in players]}",
            ["'result': it is a value of main already"],
        ),
        ("{score: 0, more: 0, names: [seed for seed in players]}", ["'seed': it is built in"]),
        (
            "{score: 0, more: 0, names: [[p for p in players] for p in players]}",
            ["'p': it is an item of another list in it"],
        ),
        ("{score: 0, more: 0, names: [[q for q in players] for p in [q for q in players]]}", []),
    ],
)
def test_the_item_of_a_list_has_a_name_of_its_own(let: str, problems: list[str]) -> None:
    text = changed(
        (START, f"start: {{let: {let}, then: rounds}}"),
        ("        return: score\n", "        return: [score, names, more]\n"),
    )

    assert told(text) == [f"A318 'for' can not bind {problem}" for problem in problems]


def test_a_name_that_only_its_own_bindings_read_is_never_read() -> None:
    counted = (TURN, "MOVE: {let: {turns: turns + 1}, return: score + x}")
    begun = (
        ASKED,
        "      begin: {let: {turns: 0}, then: asked}\n" + ASKED,
    )

    assert told(changed(begun, counted)) == ["A314 'turns' is bound and never read"]
    assert told(changed(begun, counted, (RESIGN, "RESIGN: {return: score + turns}"))) == []


def test_a_message_sent_by_its_name_reads_the_names_of_its_fields() -> None:
    sent = (OVER, "      last: {let: {text: my.name + '!'}, send: {players: NEWS}, then: over}\n" + OVER)
    text = changed(sent, ("        then: over\n", "        then: last\n"))

    assert told(text) == []


def test_a_result_that_nobody_takes() -> None:
    (problem,) = told(changed((AS, "")))

    assert problem.startswith("A315 nobody takes what turn returns"), problem
    null = [
        (TURN, "MOVE: {return: null}"),
        (RESIGN, "RESIGN: {return: null}"),
        ("fault: {return: score}", "fault: {return: null}"),
    ]
    assert told(changed((AS, ""), *null)) == []


def test_a_result_by_a_name_that_nothing_reads() -> None:
    assert "A314 'scored' is bound and never read" in told(changed((AS, "        as: scored\n")))


COUNTS = """\
protocol: rounds
connects: {client: server}
messages:
  client: {PONG: {pong: $FIELD int}}
  server: {PING: {ping: $number int}, STOP: stop}
roles:
  server:
    main(client):
      begin: {let: {round: 0}, then: pinging}
      pinging:
        let: {round: COUNTED}
        send: PING(round)
        within: 2 s
        receive: {PONG: ANSWER}
        timeout: {if: round < 3, then: pinging}
        fault: {return: round}
  client:
    main:
      always: {within: 1 min, closed: {return: null}}
      ready: {receive: {PING: {send: PONG(number), then: ready}, STOP: {return: null}}}
"""


@pytest.mark.parametrize(
    ("field", "counted", "answer", "lines"),
    [
        ("round", "round + 1", "pinging", 1),
        ("answered", "round + 1", "pinging", 0),
        ("round", "3", "pinging", 0),  # nothing is counted
        ("round", "3", "{let: {round: round + 1}, then: pinging}", 0),  # of what came with it
    ],
)
def test_a_field_over_what_let_counts(field: str, counted: str, answer: str, lines: int) -> None:
    text = COUNTS.replace("FIELD", field).replace("COUNTED", counted).replace("ANSWER", answer)
    problems = [problem for problem in told(text) if problem.startswith("A316")]

    assert problems == ["A316 the field 'round' of PONG overwrites 'round', which line 11 counts"] * lines


@pytest.mark.parametrize(
    ("branch", "problems"),
    [
        ("{send: {peer: NEWS(said)}, let: {said: my.name}, then: stay}", ["A317"]),
        ("{let: {said: my.name}, send: {peer: NEWS(said)}, then: stay}", []),
        ("{send: {peer: NEWS('x')}, let: {said: my.name}, then: stay}", ["A314"]),
        ("{drop: said, let: {said: peer}, return: 1}", ["A317"]),
    ],
)
def test_a_step_written_before_the_let_that_it_reads(branch: str, problems: list[str]) -> None:
    text = changed((TURN, f"MOVE: {branch}"))

    assert [problem.split()[0] for problem in told(text)] == problems


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("{return: score, let: {score: score + x}}", "'return' reads the 'score' that 'let' in line"),
        ("{let: {score: score + x}, return: score}", ""),
        ("{let: {score: score + x}, if: score > 3, return: score}", "'if' reads 'score' before 'let' in line"),
        ("{if: score > 3, let: {score: score + x}, return: score}", ""),
        ("{then: [{if: score > 3, return: 0}, {return: x}], let: {score: 1}}", "'then' reads the 'score'"),
        ("{let: {score: 1}, then: [{if: score > 3, return: 0}, {return: x}]}", ""),
        ("{then: asked, let: {score: 1}}", ""),
        ("{drop: player, send: ASK, return: x}", "'drop' is written before 'send', and done after it"),
        ("{send: ASK, drop: player, return: x}", ""),
        ("{do: [{drop: player}, {send: ASK}, {let: {score: 1}}], return: score}", ""),
    ],
)
def test_a_branch_whose_order_would_mean_something_else(keys: str, says: str) -> None:
    found = [problem for problem in told(changed((TURN, f"MOVE: {keys}"))) if problem.startswith("A317")]

    assert len(found) == bool(says)
    assert all(says in problem for problem in found)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("within: wait\n        let: {wait: 3}\n", "'within' reads the 'wait' that 'let'"),
        ("let: {wait: 3}\n        within: wait\n", ""),
        ("await: one\n        let: {one: player}\n        within: reply\n", "'await' reads the 'one' that 'let'"),
        ("let: {one: player}\n        await: one\n        within: reply\n", ""),
    ],
)
def test_a_state_whose_order_would_mean_something_else(keys: str, says: str) -> None:
    found = [problem for problem in told(changed((LIMIT, f"        {keys}"))) if problem.startswith("A317")]

    assert len(found) == bool(says)
    assert all(says in problem for problem in found)


def test_a_loop_takes_its_list_before_it_does_its_steps() -> None:
    rest = "        let: {all: [1]}\n        each: one in all\n        then: over\n"
    loop = (OVER, f"      begun: {{let: {{all: []}}, then: loop}}\n      loop:\n{rest}{OVER}")
    text = changed(loop, ("        then: over\n", "        then: begun\n"))
    (found,) = (problem for problem in told(text) if problem.startswith("A317"))

    assert "'each' reads 'all' before 'let'" in found
    swapped = text.replace(
        "        let: {all: [1]}\n        each: one in all\n", "        each: one in all\n        let: {all: [1]}\n"
    )
    assert [problem for problem in told(swapped) if problem.startswith("A317")] == []


STARTS = """
protocol: starts
connects: {client: server}
messages: {client: {HELLO: hello}, server: {OVER: over, HI: hi}}
roles:
  server.main:
    door: {accept: sign_up(peer), as: players, within: never, seated: STEPS, ended: stay}
  server.sign_up(peer): {named: {within: 5 s, receive: {HELLO: {return: null}}}}
  server.told(peer): {a: {send: OVER, return: null}}
  client.main:
    always: {within: 9 s, closed: {return: null}}
    hello: {send: HELLO, then: waiting}
    waiting: {receive: {HI: waiting, OVER: {return: null}}}
"""


@pytest.mark.parametrize(
    ("steps", "problems"),
    [
        ("{send: HI, start: told(peer)}", ["A317"]),
        ("{start: told(peer), send: HI}", []),
        ("{do: [{send: HI}, {start: told(peer)}]}", []),
    ],
)
def test_a_send_written_before_the_start_that_is_done_first(steps: str, problems: list[str]) -> None:
    found = check(load_text(STARTS.replace("STEPS", steps)))

    assert [problem.code for problem in found] == problems


@pytest.mark.parametrize(
    ("steps", "problems"),
    [
        ("{start: told(peer), secure: peer, send: HI}", ["A317"]),
        ("{start: told(peer), send: HI, secure: peer}", []),
        ("{do: [{start: told(peer)}, {secure: peer}, {send: HI}]}", []),
        ("{start: told(peer), send: HI, secure: 1}", ["A340"]),
    ],
)
def test_a_send_that_looks_as_if_it_went_out_in_tls(steps: str, problems: list[str]) -> None:
    found = check(load_text(STARTS.replace("STEPS", steps)))

    assert [problem.code for problem in found] == problems
