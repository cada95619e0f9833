"""Names: which there are, who may bind them, and whether they are bound where they are used."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machines.analysis.scopes import frame_names, global_names
from machines.checks import check
from tests.support.quiz import AS, FAULT, QUIZ, TURN, Case, changed, found, spec_of

# -- which names there are -------------------------------------------------------------------------------------------


def test_a_frame_begins_with_the_parameters() -> None:
    spec = spec_of(QUIZ)

    assert frame_names(spec.roles["server"].machines["turn"], spec) == ("player", "score", "x")


def test_a_machine_that_seats_has_peer_in_its_frame() -> None:
    spec = spec_of(QUIZ)

    assert set(frame_names(spec.roles["server"].machines["main"], spec)) == {"players", "score", "player", "peer"}


def test_reason_is_in_a_frame_that_reads_it_only() -> None:
    spec = spec_of(changed(("fault: {return: score}", "fault: {return: [score, reason]}")))

    assert "reason" in frame_names(spec.roles["server"].machines["turn"], spec)
    assert "reason" not in frame_names(spec.roles["server"].machines["main"], spec)


def test_names_of_shadowed_branches_have_their_slot_too() -> None:
    shadowed = "fault: [{return: score}, {let: {lost: 1}, then: asked}]"
    spec = spec_of(changed(("fault: {return: score}", shadowed)))

    assert "lost" in frame_names(spec.roles["server"].machines["turn"], spec)


def test_a_role_sees_those_it_connects_to_and_no_other() -> None:
    spec = spec_of(QUIZ)

    assert "server" in global_names(spec, "client")
    assert "client" not in global_names(spec, "server")


# -- faults ----------------------------------------------------------------------------------------------------------

CASES = [
    Case(
        "an unknown name",
        "A301",
        bad=((TURN, "MOVE: {return: scroe + x}"),),
        good=((TURN, "MOVE: {return: score + x + x}"),),
        at="scroe",
        says="did you mean 'score'?",
    ),
    Case(
        "result outside of as",
        "A301",
        bad=(("        return: score\n", "        return: result\n"),),
        good=(("        as: score\n", "        as: {score: score + result}\n"),),
        at="return: result",
        says="in the 'as' of that call only",
    ),
    Case(
        "a function without brackets",
        "A301",
        bad=((TURN, "MOVE: {return: len}"),),
        good=((TURN, 'MOVE: {return: "len([score])"}'),),
        at="return: len",
        says="call it: len(x)",
    ),
    Case(
        "a message that takes a name nobody bound",
        "A301",
        bad=(("        send: ASK\n", "        send: [ASK, NEWS]\n"),),
        good=(("        send: ASK\n", "        let: {text: my.news}\n        send: [ASK, NEWS]\n"),),
        at="NEWS",
        says="'text'",
    ),
    Case(
        "a name bound on one of two ways",
        "A302",
        bad=(
            ("then: start\n", "then: [{if: len(players) > 2, then: start}, rounds]\n"),
            ("        return: score\n", "        return: null\n"),
        ),
        good=(
            ("then: start\n", "then: [{if: len(players) > 2, then: start}, {let: {score: 1}, then: rounds}]\n"),
            ("        return: score\n", "        return: null\n"),
        ),
        at="run: turn(player, score)",
        says="nothing binds it on the way door -> rounds",
    ),
    Case(
        "the item of a loop that may be empty",
        "A302",
        bad=(("        return: score\n", "        return: player\n"),),
        good=(("        return: score\n", "        return: players\n"),),
        at="return: player",
        says="a loop may have no item",
    ),
    Case(
        "a field of another message",
        "A302",
        bad=(("RESIGN: {return: score}", "RESIGN: {return: x}"),),
        good=(("RESIGN: {return: score}", "RESIGN: {return: 0}"),),
        at="RESIGN: {return: x}",
        says="'x' may be unset here: nothing has bound it yet",
    ),
    Case(
        "an always that sees a name only some of its states have bound",
        "A302",
        bad=(
            ("    main:\n      door:", "    main:\n      always: {failed: {return: score}}\n      door:"),
        ),
        good=(
            ("    main:\n      door:", "    main:\n      always: {failed: {return: null}}\n      door:"),
        ),
        at="always: {failed: {return: score}}",
        says="door -> always",
    ),
    Case(
        "a let whose right side reads what it binds",
        "A302",
        bad=(("let: {score: 0}", "let: {score: 0, twice: score}"),),
        good=(("let: {score: 0}", "do: [{let: {score: 0}}, {let: {twice: score}}]"),),
        at="twice: score",
    ),
    Case(
        "a setting bound",
        "A303",
        bad=(("let: {score: 0}", "let: {score: 0, reply: 1}"),),
        good=(("let: {score: 0}", "let: {score: 0, answer: 1}"),),
        at="reply: 1",
        says="it is a setting",
    ),
    Case(
        "a field that is spelt like a setting",
        "A303",
        bad=(("[news, $text string]", "[news, $server string]"),),
        good=(("[news, $text string]", "[news, $word string]"),),
        at="NEWS: stay",
        says="a role it connects to",
    ),
    Case(
        "a parameter that is spelt like a setting",
        "A303",
        bad=(("turn(player, score):", "turn(player, window):"), (TURN + ", RESIGN: {return: score}",
             "MOVE: {return: x}, RESIGN: {return: 0}"), (FAULT, "        fault: {return: 0}\n")),
        good=(("turn(player, score):", "turn(player, start):"), (TURN + ", RESIGN: {return: score}",
              "MOVE: {return: x}, RESIGN: {return: 0}"), (FAULT, "        fault: {return: 0}\n")),
        at="turn(player, window):",
    ),
    Case(
        "peer bound by hand",
        "A303",
        bad=(("let: {score: 0}", "let: {score: 0, peer: players}"),),
        good=(("let: {score: 0}", "let: {score: 0, first: players}"),),
        at="peer: players",
        says="bound by events",
    ),
    Case(
        "a field over a parameter",
        "A304",
        bad=(("$x int", "$score int"), (TURN, "MOVE: {return: score}")),
        good=(("$x int", "$points int"), (TURN, "MOVE: {return: score + points}")),
        at="MOVE: {return: score}",
        says="parameter 'score'",
    ),
    Case(
        "two fields of one name and two types",
        "A305",
        bad=(("RESIGN: [resign]", "RESIGN: [resign, $x string]"), ("send: RESIGN", "send: RESIGN('no')")),
        good=(("RESIGN: [resign]", "RESIGN: [resign, $x int | null]"), ("send: RESIGN", "send: RESIGN(null)")),
        at="RESIGN: {return: score}",
        says="another type than the field 'x' of MOVE",
    ),
    Case(
        "a field over a literal of another kind",
        "A305",
        bad=(("        send: ASK\n", "        let: {x: true}\n        send: ASK\n"),),
        good=(("        send: ASK\n", "        let: {x: null}\n        send: ASK\n"),),
        at="MOVE",
        says="the value bound in line",
    ),
    Case(
        "peer where no event was",
        "A306",
        bad=(("send: {players: [OVER, NEWS('bye')]}", "send: {peer: [OVER, NEWS('bye')]}"),),
        good=(("send: {players: [OVER, NEWS('bye')]}", "send: {players: [OVER, NEWS('see you')]}"),),
        at="send: {peer:",
        says="no event has bound 'peer'",
    ),
    Case(
        "peer after the limit of a whole call",
        "A306",
        bad=((AS, AS + "        within: 1 min\n        timeout: {return: peer.name}\n"),),
        good=((AS, AS + "        within: 1 min\n        timeout: {return: reason}\n"),),
        at="return: peer.name",
    ),
    Case(
        "peer where a call failed",
        "A306",
        bad=(("        as: score\n", "        as: score\n        failed: {drop: peer, return: null}\n"),),
        good=(("        as: score\n", "        as: score\n        closed: {drop: peer, return: null}\n"),),
        at="drop: peer",
    ),
    Case(
        "an update that the running call will lose",
        "A307",
        bad=(("        as: score\n", "        as: score\n        closed: {let: {score: 0}, then: stay}\n"),),
        good=(("        as: score\n", "        as: score\n        closed: {let: {lost: peer}, then: stay}\n"),),
        at="closed: {let: {score: 0}",
        says="in the state 'rounds'",
    ),
    Case(
        "an update by an always that the running call will lose",
        "A307",
        bad=(("      door:", "      always: {receive: {RESIGN: {let: {score: 0}, then: stay}}}\n      door:"),
             (", RESIGN: {return: score}", "")),
        good=(("      door:", "      always: {receive: {RESIGN: {let: {score: 0}, then: over}}}\n      door:"),
              (", RESIGN: {return: score}", "")),
        at="always: {receive:",
    ),
    Case(
        "the item of a running loop overwritten",
        "A307",
        bad=(("        as: score\n", "        as: score\n        closed: {let: {player: null}, then: stay}\n"),),
        good=(("        as: score\n", "        as: score\n        closed: {let: {lost: player}, then: stay}\n"),),
        at="let: {player: null}",
        says="the loop binds",
    ),
    Case(
        "a fold side by side",
        "A308",
        bad=(("        as: score\n", "        parallel: 2\n        as: score\n"),),
        good=(
            ("turn(player, score)\n        as: score\n",
             "turn(player, 0)\n        parallel: 2\n        as: {score: score + result}\n"),
        ),
        at="as: score",
        says="binds 'score', which 'run' reads",
    ),
    Case(
        "a let side by side",
        "A309",
        bad=(
            ("        run: turn(player, score)\n        as: score\n",
             "        parallel: 2\n        let: {base: 1}\n        run: turn(player, base)\n        as: end\n"),
        ),
        good=(
            ("        run: turn(player, score)\n        as: score\n",
             "        parallel: 2\n        run: turn(player, 1)\n        as: {score: result}\n"),
        ),
        at="let: {base: 1}",
    ),
    Case(
        "a branch side by side that binds what later items read",
        "A309",
        bad=(
            ("        as: score\n",
             "        parallel: 2\n        as: {total: result}\n        closed: {let: {score: 9}, then: stay}\n"),
        ),
        good=(
            ("        as: score\n",
             "        parallel: 2\n        as: {total: result}\n        closed: {let: {lost: 9}, then: stay}\n"),
        ),
        at="closed: {let: {score: 9}",
        says="items that start later",
    ),
    Case(
        "elapsed on entry",
        "A310",
        bad=(("let: {score: 0}", "let: {score: elapsed}"),),
        good=((TURN, "MOVE: {return: score + elapsed}"),),
        at="score: elapsed",
    ),
    Case(
        "a setting named like a role that is connected to",
        "A311",
        bad=(("window", "server"), ("window", "server")),
        good=(("window", "sign_up"), ("window", "sign_up")),
        at="server: 10 s",
    ),
    Case(
        "a setting named like a built-in",
        "A311",
        bad=(("window", "elapsed"), ("window", "elapsed")),
        good=(("window", "open"), ("window", "open")),
        at="elapsed: 10 s",
    ),
    Case(
        "a sign-up whose field is one that every peer has",
        "A312",
        bad=(("HELLO: {return: {name: name}}", "HELLO: {return: {number: name}}"),),
        good=(("HELLO: {return: {name: name}}", "HELLO: {return: {shirt: name}}"),),
        at="HELLO: {return: {number",
    ),
    Case(
        "a seat's further field likewise",
        "A312",
        bad=(("        within: window\n", "        within: window\n        seated: {let: {peer.fields: 1}}\n"),),
        good=(("        within: window\n", "        within: window\n        seated: {let: {peer.token: 1}}\n"),),
        at="seated: {let: {peer.fields",
    ),
    Case(
        "a field named like a live value around it",
        "A313",
        bad=(("    main:\n      door:\n", "    main:\n      live: {x: 0}\n      door:\n"),),
        good=(("    main:\n      door:\n", "    main:\n      live: {y: 0}\n      door:\n"),),
        at="receive: {MOVE: {return: score + x}",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_bad_name_is_told_and_a_mended_one_is_not(case: Case) -> None:
    case.judge()


def test_each_name_is_told_once_a_state() -> None:
    text = changed(("        return: score\n", "        return: [player, player, player]\n"))

    assert [problem.code for problem in found(text)] == ["A302"]


def test_a_branch_of_always_sees_what_all_waiting_states_have_in_common() -> None:
    # `start` binds the score and never waits, so an event of always can only come after it.
    text = changed(
        (
            "      asked:\n",
            "      always: {failed: {return: n}}\n      begin: {let: {n: 1}, then: asked}\n      asked:\n",
        )
    )

    assert found(text) == []


def test_a_state_behind_an_always_knows_the_peer_of_its_event() -> None:
    text = changed(
        ("        as: score\n", "        as: score\n        closed: lost\n"),
        ("      over:\n", "      lost: {drop: peer, then: over}\n      over:\n"),
    )

    assert found(text) == []


def test_a_frame_forgets_the_peer_at_an_event_without_one() -> None:
    text = changed(
        ("        as: score\n", "        as: score\n        closed: lost\n        failed: lost\n"),
        ("      over:\n", "      lost: {drop: peer, then: over}\n      over:\n"),
    )

    assert [problem.code for problem in found(text)] == ["A306"]


# -- definite assignment against a search over all runs ---------------------------------------------------------------

NAMES = ("p", "q")
Step = tuple[str, str]  # ("bind" or "use", name)
States = list[tuple[list[Step], list[int]]]


@st.composite
def machines(draw: st.DrawFn) -> States:
    count = draw(st.integers(1, 5))
    step = st.tuples(st.sampled_from(["bind", "use"]), st.sampled_from(NAMES))
    target = st.integers(0, count - 1)
    return [(draw(st.lists(step, max_size=3)), draw(st.lists(target, max_size=2))) for _ in range(count)]


def written(states: States) -> str:
    lines = []
    for index, (steps, targets) in enumerate(states):
        lets = [f"{{let: {{{name}: 1}}}}" if what == "bind" else f"{{let: {{u: {name}}}}}" for what, name in steps]
        ways = [f"{{if: my.{way}, then: s{target}}}" for way, target in zip("ab", targets, strict=False)]
        lines.append(f"      s{index}:\n        do: [{', '.join(lets)}]\n        then: [{', '.join([*ways, 'end'])}]")
    return (
        "protocol: p\nconnects: {c: s}\nmessages:\n  c: {M: m}\n  s: {N: n}\n"
        "roles:\n  s:\n    main:\n      end: {return: 0}\n"
        "  c:\n    main:\n" + "\n".join(lines) + "\n      end: {let: {p: 0, q: 0}, return: null}\n"
    )


def unset_somewhere(states: States) -> set[tuple[int, str]]:
    """Search all runs: (state, name) where a use may find the name unset."""
    found: set[tuple[int, str]] = set()
    seen: set[tuple[int, frozenset[str]]] = set()
    todo: list[tuple[int, frozenset[str]]] = [(0, frozenset())]
    while todo:
        at = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        index, bound = at
        steps, targets = states[index]
        for what, name in steps:
            if what == "bind":
                bound |= {name}
            elif name not in bound:
                found.add((index, name))
        todo.extend((target, bound) for target in targets)
    return found


@settings(max_examples=80, deadline=None)
@given(machines())
def test_a_use_is_told_exactly_where_some_run_finds_the_name_unset(states: States) -> None:
    text = written(states)
    spec = spec_of(text)
    lines = text.splitlines()
    expected = unset_somewhere(states)

    told = set()
    for problem in check(spec):
        if problem.code == "A302":
            state = next(line for line in reversed(lines[: problem.place.line]) if line.startswith("      s"))
            told.add((int(state.strip(" s:")), problem.text[1]))

    assert told == expected
