"""`accord check` of any spec of at most 1 MiB ends soon: work is bounded over all of a spec, and floods are capped."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from machines.checks import check
from machines.checks.ambiguity import AmbiguityTable
from machines.parser.loader import SpecNotFound, load, load_text
from machines.problems import NEAR_LETTERS_MAX, NEAR_WORDS_MAX, TOLD_MAX, Place, Problem, Problems, SpecError, near

SECONDS = 8.0  # of CPU, on a slow machine; before they were bounded most of these took more than a minute
HEAD = "protocol: p\ntitle: t\nconnects: {client: server}\n"


def received(bodies: Iterable[str], types: Iterable[str] = ()) -> str:
    """Return a spec with these messages, all of which a client may hear in one state."""
    listed = list(bodies)
    lines = [HEAD, "types:\n", *(f"  T{number}: {type_}\n" for number, type_ in enumerate(types)), "messages:\n"]
    lines += ["  server:\n", *(f"    M{number}: {body}\n" for number, body in enumerate(listed)), "roles:\n"]
    lines += ["  client:\n    main:\n      a:\n        within: 1 s\n        receive:\n"]
    lines += [f"          M{number}: stay\n" for number in range(len(listed))]
    lines += ["        fault: {return: null}\n  server: {main(c): {a: {return: c}}}\n"]
    return "".join(lines).replace("types:\nmessages", "messages")


def server(states: Iterable[str]) -> str:
    """Return a spec whose server has these states."""
    lines = [HEAD, "messages: {client: {M: m}}\nroles:\n  client: {main: {a: {send: M, return: null}}}\n"]
    return "".join([*lines, "  server:\n    main:\n", *(f"      {state}\n" for state in states)])


PATTERNS = [f"{{string: '(a|b)*{'ab'[number % 2]}(a|b){{{number % 20 + 3}}}[0-9]?'}}" for number in range(60)]

WORDS = f"{{enum: [{', '.join(f'word{number}' for number in range(9000))}]}}"

CRAFTED: list[tuple[str, Callable[[], str], str]] = [
    ("items that never end", lambda: HEAD + f"rules: [{', '.join(f'f(a{n}, b' for n in range(9000))}]\n", "A114"),
    ("items of brackets", lambda: HEAD + f"rules: [{', '.join(['f(' + '(' * 90] * 9000)}]\n", "A114"),
    ("a value cut often", lambda: HEAD + f"rules: {{x: f(a, {', '.join(f'b{n}' for n in range(9000))}}}\n", "A112"),
    ("a call with a wide gap", lambda: HEAD + f"rules: [f(a,{' ' * 900_000}b)]\n", "A114"),
    ("patterns that explode", lambda: received([f"$a T{n}" for n in range(60)], PATTERNS), "A339"),
    ("messages all alike", lambda: received(["[$a string, $b int]"] * 1500), "A334"),
    ("messages all apart", lambda: received([f"[$b int, m{n}]" for n in range(1800)]), "A339"),
    ("many keys", lambda: received([f"{{{', '.join(f'k{n}: $a{n} int' for n in range(4000))}}}"] * 2), "A334"),
    ("words in texts", lambda: received(['"a ${e T0} b"', '"a ${f T1} b"'], [WORDS, WORDS]), "A334"),
    ("unknown states", lambda: server(f"state{n}: {{then: stata{n}}}" for n in range(3000)), "A103"),
    ("unknown names", lambda: server(f"s{n}: {{let: {{n{n}: m{n}}}, then: s{n}}}" for n in range(1500)), "A301"),
]


def peers_values(states: Iterable[str]) -> str:
    """Return a spec that is right, whose server follows what its client sends through these states."""
    lines = [HEAD, "messages: {client: {M: [m, $v int]}, server: {R: r}}\nroles:\n"]
    lines += ["  client: {main: {a: {within: 1 s, receive: {R: {return: null}}, fault: {return: null}}}}\n"]
    return "".join([*lines, "  server:\n    main(peer):\n", *(f"      {state}\n" for state in states)])


def waiting(number: int, branches: str) -> str:
    return f"s{number}: {{within: 1 s, receive: {{M: {branches}}}, fault: {{return: 0}}}}"


def ring(size: int) -> Iterable[str]:
    """Yield states that lead to one another in all orders, each of which changes one of as many names."""
    yield f"b: {{let: {{{', '.join(f'x{n}: 0' for n in range(size))}}}, then: s0}}"
    for n in range(size):
        on = f"{{if: v == {n}, let: {{x{n}: x{(n + 1) % size} + v}}, then: s{(n + 1) % size}}}"
        yield waiting(n, f"[{on}, {{then: s{(n * 7 + 3) % size}}}]")


def nested(depth: int) -> Iterable[str]:
    """Yield states each of which makes a list of lists of what the one before made."""
    yield "b: {let: {x: []}, then: s0}"
    for n in range(depth):
        yield waiting(n, f"{{let: {{x: '[x, x, v]'}}, then: s{(n + 1) % depth}}}")


FOLLOWED: dict[str, Callable[[], Iterable[str]]] = {
    "a ring of names": lambda: ring(400),
    "lists of lists": lambda: nested(200),
    "a chain of names": lambda: [
        "b: {let: {x0: 0}, then: s0}",
        *(waiting(n, f"{{let: {{x{n + 1}: x{n} + v}}, then: s{n + 1}}}") for n in range(700)),
        "s700: {let: {z: x700}, return: z}",
    ],
}


@pytest.mark.xdist_group("time")
@pytest.mark.parametrize("name", FOLLOWED)
def test_values_of_peers_are_followed_in_bounded_time(name: str) -> None:
    text = peers_values(FOLLOWED[name]())

    began = time.thread_time()
    problems = told(text)
    spent = time.thread_time() - began

    assert spent < SECONDS  # without bounds 40 s, for ever, and 11 s
    assert not [problem for problem in problems if problem.code in ("A342", "A343")], "what is not known is not told"


def told(text: str) -> tuple[Problem, ...]:
    try:
        return tuple(check(load_text(text)))
    except SpecError as error:
        return error.problems


@pytest.mark.xdist_group("time")
@pytest.mark.parametrize(("make", "code"), [case[1:] for case in CRAFTED], ids=[case[0] for case in CRAFTED])
def test_a_crafted_spec_is_checked_soon_and_told_of_briefly(make: Callable[[], str], code: str) -> None:
    text = make()
    assert len(text) <= 1 << 20

    began = time.thread_time()
    problems = told(text)
    spent = time.thread_time() - began

    assert spent < SECONDS
    assert code in {problem.code for problem in problems}
    assert (
        max([problem.code for problem in problems].count(code) for code in {p.code for p in problems}) <= TOLD_MAX + 1
    )
    assert sum(len(str(problem)) for problem in problems) < 200_000


def test_of_each_code_so_many_are_told_and_how_many_more_there_are() -> None:
    problems = Problems()
    for line in range(TOLD_MAX + 7, 0, -1):
        problems.add(Place("f", line, 1), "A103", f"fault {line}")
    problems.add(Place("f", 3, 3), "A334", "another kind")

    shown = list(problems)

    assert [problem.place.line for problem in shown if problem.code == "A103"] == [*range(1, TOLD_MAX + 2)]
    more = next(problem for problem in shown if problem.count > 1)
    assert str(more) == f"f:{TOLD_MAX + 1}:1: A103 from here on 7 more of A103 are not told (mend those before first)"
    assert sum(problem.count for problem in shown) == TOLD_MAX + 7 + 1
    assert "another kind" in {problem.text for problem in shown}


def test_a_search_that_a_flood_has_ended_is_said_to_have_ended() -> None:
    problems = told(received(["$a string"] * 40))

    alike = [problem.text for problem in problems if problem.code == "A334"]
    assert len(alike) == TOLD_MAX + 1
    assert alike.count("from here on no more of A334 is looked for") == 1


def test_pairs_that_nobody_compared_are_a_problem() -> None:
    spec = load_text(received(["[a, $x int]", "[b, $x int]", "[$w string, $x int]"]))
    likeness, problems = AmbiguityTable(spec, steps=5), Problems()

    assert likeness.both_fit("M0", "M1") is None  # which is the truth: the words differ
    assert likeness.both_fit("M0", "M2") is None  # which is not: nothing was left to find that out
    likeness.tell(problems)

    (problem,) = problems
    assert (problem.code, problem.text) == (
        "A339",
        "not decided whether 1 pair of messages can be told apart: comparing all of them takes too long",
    )


def test_few_messages_are_all_compared() -> None:
    assert "A339" not in {problem.code for problem in told(received([f"[$b int, m{n}]" for n in range(300)]))}
    assert "A339" not in {problem.code for problem in told(received([f"[m{n}, $b int]" for n in range(1800)]))}


def test_very_many_texts_are_told_apart_by_what_they_begin_or_end_with() -> None:
    first = told(received([f"'m{n} ${{text string}}'" for n in range(600)]))
    last = told(received([f"'${{text string}} m{n}!'" for n in range(600)]))

    assert not {"A334", "A339"} & {problem.code for problem in (*first, *last)}


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("'m1 ${a string}'", "'m1 ${b string} x'", True),  # one begins as the other
        ("'m1 ${a string}'", "'m${b string}'", True),
        ("'m1 ${a string}'", "'m2 ${b string}'", False),
        ("'m1 ${a string}'", "'m11 ${b string}'", False),
        ("'${a string} up'", "'${b string}, up'", True),
        ("'${a string} up'", "'${b string} ups'", False),
        ("'m1 ${a string}'", "'m1 x'", True),
        ("'m1 ${a string}'", "'m2 x'", False),
    ],
)
def test_texts_are_told_apart_by_both_ends(one: str, other: str, alike: bool) -> None:
    likeness = AmbiguityTable(load_text(received([one, other])))

    assert (likeness.both_fit("M0", "M1") is not None) is alike


def test_a_long_word_and_a_word_far_down_the_list_have_no_near_one() -> None:
    word = "a" * (NEAR_LETTERS_MAX + 1)
    assert near(word, [word + "b"]) == ""
    assert near("state", ["stare"]) == "did you mean 'stare'?"
    assert near("state", ["state", "stare"]) == "did you mean 'stare'?", "never what stands there"
    assert near("state", (*(f"{n}" for n in range(NEAR_WORDS_MAX)), "stare")) == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_spec_that_extends_a_pipe_or_a_folder_has_a_problem(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "folder.yaml").mkdir()
    for base in ("pipe", "folder"):
        spec = tmp_path / "spec.yaml"
        spec.write_text(f"extends: {base}\nprotocol: p\ntitle: t\n")

        with pytest.raises(SpecError) as caught:
            load(str(spec))

        assert [problem.code for problem in caught.value.problems] == ["A136"]
        assert "is no file that a spec could stand in" in str(caught.value) or "Is a directory" in str(caught.value)
    with pytest.raises(SpecNotFound, match="is no file that a spec could stand in"):
        load(str(tmp_path / "pipe.yaml"))


def test_a_base_longer_than_a_spec_may_be_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "long.yaml").write_bytes(b"#" * (1 << 21))
    spec = tmp_path / "spec.yaml"
    spec.write_text("extends: long\nprotocol: p\ntitle: t\n")

    with pytest.raises(SpecError, match="A109 the file is longer than"):
        load(str(spec))
