import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from machines.parser import reader
from machines.parser.loader import load_text
from machines.problems import SpecError
from tests.support.seeds import FIVE, seed_file
from tests.support.talk import changed, faults

# A code, a part of the good spec, and what stands there instead; ^ is where the problem is to be told.
FAULTS = [
    ("A103", "timeout: {return: null}\n        then: talk", "timeout: {return: null}\n        then: ^talkk"),
    ("A103", "BYE: out", "BYE: ^serve(guest)"),
    ("A104", "run: serve(guest)", "run: ^server(guest)"),
    ("A104", "accept: greet(peer)", "accept: ^great(peer)"),
    ("A105", "send: {guests: DONE}", "send: {guests: ^DOEN}"),
    ("A105", "          DONE: last", "          ^DUNE: last"),
    ("A105", "BYE: [goodbye]", "^BYEBYE: [goodbye]"),
    ("A105", "urgent: [DONE]", "urgent: [^DUNE]"),
    ("A106", "limit: often", "limit: ^oftn"),
    ("A107", "connects: {client: server}", "connects: {client: ^serber}"),
    ("A107", "  client:\n    HELLO", "  ^cleint:\n    HELLO"),
    ("A110", "let: {sum: x + y}", "let: {sum: ^x + len('a, b: c')}"),
    ("A118", "BYE: {send: BYE, then: last}", "BYE: {send: ^NUMBERS(1, 2, 3), then: last}"),
    ("A111", "title: Two", "^titel: Two"),
    ("A111", "wire: {framing: lines}", "wire: {^framng: lines}"),
    ("A111", "        ask: next", "        ^wait: 3 s\n        ask: next"),
    ("A111", "BYE: {send: BYE, then: last}", "BYE: {^sent: BYE, then: last}"),
    ("A111", "always: {fault: out}", "always: {^fualt: out}"),
    ("A111", "        drop: guest", "        do: [{^dorp: guest}]"),
    ("A112", "always: {fault: out}", "always: ^out"),
    ("A112", "      last: {return: null}", "      last: ^begin"),
    ("A112", "urgent: [DONE]", "urgent: ^DONE"),
    ("A112", "limit: often", "limit: ^[often]"),
    ("A112", "BYE: out", "BYE: [^[out]]"),
    ("A112", "        ask: next", "        early: ^kept\n        ask: next"),
    ("A113", "protocol: talk\n", "^"),
    ("A113", "accept: greet(peer)\n        as: guests\n", "^accept: greet(peer)\n"),
    ("A220", "BYE: bye", "BYE:^"),
    ("A201", "HELLO: $name Name", "HELLO: $name ^Nome"),
    ("A226", "    NUMBERS: [$x int, $y int]", "    NUMBERS: [$x int, ^$x int]"),
    ("A227", "BYE: [goodbye]", "BYE: [^$name Name]"),
    ("A202", "  Name: {", "  ^Loop: [Loop, ...]\n  Name: {"),
    ("A113", "run: serve(guest)", "run:^"),
    ("A113", "let: {sum: x + y}", "let: {sum:^ }"),
    ("A113", "BYE: out", "BYE:^"),
    ("A113", "BYE: out", "BYE: ^[]"),
    ("A113", "      last: {return: null}\n", "      last: {return: null}\n    ^idle: {}\n"),
    ("A114", "protocol: talk", "protocol: ^Talk it"),
    ("A114", "  reply: 5 s", "  reply: 5 s\n  ^re-ply: 6 s"),
    ("A114", "        as: guests", "        as: ^the guests"),
    ("A114", "    serve(guest):", "    ^serve(guest)(x):"),
    ("A115", "    DONE: done", "    DONE: done\n    ^HELLO: hello"),
    ("A115", "    greet(peer):", "    greet(peer, ^peer):"),
    ("A115", "  client:\n    main:", "  client:\n    main: {a: {return: 1}}\n    ^main():"),
    ("A116", "let: {sum: x + y}", "let: {^not: x + y}"),
    ("A116", "      last: {return: null}\n", "      last: {return: null}\n      ^stay: {return: null}\n"),
    ("A209", "  Name: {", "  ^int: [bool]\n  Name: {"),
    ("A117", "run: serve(guest)", "run: ^serve"),
    ("A117", "run: serve(guest)", "run: ^serve(guest, 1)"),
    ("A118", "send: HELLO(my.name)", "send: ^HELLO()"),
    ("A119", "{send: HELLO(my.name), then: asked}", "{send: ^DONE, then: asked}"),
    ("A120", "          BYE: out", "          ^DONE: out"),
    ("A121", "        ask: next\n", "        run: main\n        then: last\n        ^ask: next\n"),
    ("A121", "BYE: {send: BYE, then: last}", "BYE: {return: ^null, then: last}"),
    ("A121", "        drop: guest", "        do: ^[{drop: guest}]\n        let: {a: 1}"),
    ("A121", "        each: guest in guests\n", "        each: guest in guests\n        ^receive: {BYE: over}\n"),
    ("A122", "        ask: next", "        ask: next\n        ^if: x"),
    ("A122", "asked:\n        ask: next\n", "^asked:\n        ask: next\n        then: last\n"),
    ("A122", "        ask: next", "        ask: next\n        ^seats: 2"),
    ("A122", "        ask: next", "        ask: next\n        ^as: x"),
    ("A122", "        run: serve(guest)", "        ^parallel: 2\n        let: {a: 1}"),
    ("A122", "always: {fault: out}", "always: {^fault: out, timeout: out, invalid: out, closed: out}"),
    (
        "A122",
        "door:\n        accept: greet(peer)\n        as: guests\n        seats: 1..3\n",
        "^door:\n        accept: greet(peer)\n        as: guests\n",
    ),
    (
        "A123",
        "talk:\n        each: guest in guests\n        run: serve(guest)\n        then: over\n",
        "^talk:\n        each: guest in guests\n        run: serve(guest)\n",
    ),
    ("A123", "      last: {return: null}", "      ^last: {let: {a: 1}}"),
    ("A124", "BYE: {send: BYE, then: last}", "BYE: ^{send: BYE}"),
    ("A125", "        then: over\n", "        then: ^stay\n"),
    ("A125", "always: {fault: out}", "always: {fault: out, failed: ^stay}"),
    ("A126", "timeout: {return: null}", "timeout: ^stay"),
    ("A126", "always: {fault: out}", "always: {fault: [{if: true, then: ^stay}, out]}"),
    ("A127", "        then: over\n", "        then: [^{if: true, then: over}]\n"),
    ("A127", "      last: {return: null}", "      last: [^{if: true, return: null}]"),
    ("A127", "            then: again\n", "            then: ^{limit: 3, then: again}\n"),
    ("A128", "let: {sum: x + y}", "let: {^guest.sum: x + y}"),
    ("A129", "  word: hello", "  word: ^5..3"),
    ("A129", "  word: hello", "  word: ^null"),
    ("A129", "  word: hello", "  word: ^5 sek"),
    ("A129", "  word: hello", "  word: ^3..many"),
    ("A200", "  Name: {", "  Hand: {^emum: [rock, paper]}\n  Name: {"),
    ("A200", "  Name: {", "  Text: {^strng: '[a-z]+'}\n  Name: {"),
    ("A130", "framing: lines", "framing: json, depth_max: ^many"),
    ("A130", "framing: lines", "framing: ^line"),
    ("A130", "framing: lines", "framing: lines, charset: ^latin-1"),
    ("A131", "limit: often", "limit: ^-2"),
    ("A131", "        seats: 1..3\n", "        seats: ^0\n"),
    ("A131", "        seats: 1..3\n", "        seats: ^-3\n"),
    ("A131", "limit: often", "limit: ^word"),
    ("A133", "connects: {client: server}", "connects: {client: [server, ^client]}"),
    ("A133", "  client:\n    main:", "  ^other: {main: {a: {return: 1}}}\n  client:\n    main:"),
    ("A134", "  client:\n    main:", "  ^client:\n    mian:"),
    ("A134", "    main:\n      begin", "    ^main(server):\n      begin"),
    ("A134", "  server:\n    main:\n", "  server:\n    ^main(a, b):\n"),
    ("A135", "each: guest in guests", "each: ^guests"),
    ("A137", "connects: {client: server}", "connects: {client: server}\nframes: ^{}"),
]


@pytest.mark.parametrize(("code", "old", "new"), FAULTS, ids=[f"{row[0]} {row[2].strip()[:50]}" for row in FAULTS])
def test_each_fault_is_one_problem_at_its_place(code: str, old: str, new: str) -> None:
    marked = changed(old, new)
    index = marked.index("^")
    line, column = marked[:index].count("\n") + 1, index - marked.rfind("\n", 0, index)

    found = faults(marked.replace("^", ""))

    assert [(p.code, p.place.line, p.place.column) for p in found] == [(code, line, column)], "\n".join(map(str, found))


def test_every_code_of_the_table_has_a_fault_that_shows_it() -> None:
    listed = set(re.findall(r"\bA1\d\d\b", reader.__doc__ or ""))
    elsewhere = {"A100", "A101", "A102", "A109", "A136", "A140"}  # test_nodes.py, test_library.py, test_wrong_edits.py
    elsewhere |= {"A138", "A139"}  # their pages of the manual, and test_accepted.py

    assert listed == elsewhere | {row[0] for row in FAULTS if row[0].startswith("A1")}


def test_every_code_that_is_used_is_in_the_table() -> None:
    listed = set(re.findall(r"\bA1\d\d\b", reader.__doc__ or ""))
    folder = Path(reader.__file__).parent
    sources = [*folder.glob("*.py"), *(folder.parent / "yaml").glob("*.py")]
    used = {code for source in sources for code in re.findall(r'"(A1\d\d)"', source.read_text())}

    assert used == listed


MANY = """\
protocol: Talk
title: Twenty faults and more
wire: {framing: line}
connects: {client: [server, serber]}
settings:
  reply: 5 s
  seats: 5..3
types:
  Name: {string: "[a-z]+"}
  Pair: [Name, Nome]
messages:
  client:
    HELLO: $name Name
    TWO: [$a int, $a int]
  server:
    WELCOME: {you: $name Name}
    HELLO: hello
roles:
  server:
    main:
      door:
        accept: greet(peer)
        as: guests
        seats: seats
        within: reply
        timeout: stay
        then: tolk
      talk:
        each: guests
        run: serve(guest)
        then: over
      over:
        sent: {guests: WELCOME}
        send: {guests: WELCOM}
        return: null
    greet(peer):
      asked:
        await: peer
        within: reply
        receive:
          HELLO: {return: len('a, b: c')}
          WELCOME: {return: null}
    serve(guest):
      ready:
        await: guest
        receive:
          HELLO: {limit: repl, then: out}
          TWO: {send: HELLO}
      out: {drop: guest}
      gone: [{if: true, then: out}]
  client:
    main:
      begin: {send: HELLO(), then: stay}
      asked: {ask: next, as: x, receive: {WELCOME: {return: null, then: asked}}}
      last: {run: greet(1), return: null}
"""


def test_many_faults_of_one_file_come_in_one_pass_in_file_order() -> None:
    found = faults(MANY)

    assert [(p.place.line, p.code) for p in found] == [
        (1, "A114"),
        (3, "A130"),
        (4, "A107"),
        (7, "A129"),
        (10, "A201"),
        (14, "A226"),
        (17, "A115"),
        (26, "A126"),
        (27, "A103"),
        (29, "A135"),
        (33, "A111"),
        (34, "A105"),
        (41, "A110"),
        (42, "A120"),
        (47, "A106"),
        (48, "A124"),
        (48, "A119"),
        (49, "A123"),
        (50, "A127"),
        (53, "A118"),
        (53, "A125"),
        (54, "A122"),
        (54, "A121"),
        (55, "A104"),
    ], "\n".join(map(str, found))
    assert found == sorted(found)


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("  reply: 5 s", "  reply: 5 sek", "did you mean '5 s'?"),
        ("  reply: 5 s", "  reply: 5 minutes", "did you mean '5 min'?"),
        ("  reply: 5 s", "  reply: 10 per 1 sec", "did you mean '10 per 1 s'?"),
        ("  Name: {", "  Hand: {emum: [rock, paper]}\n  Name: {", "did you mean 'enum'?"),
        ("  Name: {", "  Text: {strng: '[a-z]+'}\n  Name: {", "did you mean 'string'?"),
    ],
)
def test_what_was_meant_is_suggested(old: str, new: str, hint: str) -> None:
    assert faults(changed(old, new))[0].hint.startswith(hint)


@pytest.mark.parametrize("value", ["'5 sek'", "good morning", "all"])
def test_a_text_on_purpose_is_a_setting(value: str) -> None:
    assert not faults(changed("  word: hello", f"  word: {value}"))


def test_a_key_that_is_nearly_a_form_is_a_key() -> None:
    assert not faults(changed("  Name: {", "  Names: {strings: [Name, ...], maps: Name}\n  Name: {"))


def test_near_names_are_suggested() -> None:
    hints = {(p.code, p.place.line): p.hint for p in faults(MANY)}

    assert hints["A103", 27] == "did you mean 'talk'?"
    assert hints["A105", 34] == "did you mean 'WELCOME'?"
    assert hints["A106", 47] == "did you mean 'reply'?"
    assert hints["A107", 4] == "did you mean 'server'?"
    assert hints["A201", 10] == "did you mean 'Name'?"
    assert hints["A111", 33] == "did you mean 'send'?"


# -- any text --------------------------------------------------------------------------------------------------------

LINES = {name: seed_file(name).read_text().splitlines() for name in FIVE}
WORDS = sorted({word for lines in LINES.values() for line in lines for word in re.findall(r"\S+|\n", line)})


@st.composite
def mutations(draw: st.DrawFn) -> str:
    """A shipped spec with some lines or words left out, doubled, moved or replaced by others."""
    lines = list(LINES[draw(st.sampled_from(FIVE))])
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(["drop", "double", "swap", "word", "word", "word", "cut", "indent"])):
            case "drop":
                del lines[at]
            case "double":
                lines.insert(at, lines[at])
            case "swap":
                other = draw(st.integers(0, len(lines) - 1))
                lines[at], lines[other] = lines[other], lines[at]
            case "word":
                words = re.findall(r"\s+|[^\s:,{}\[\]()]+|.", lines[at])
                if words:
                    words[draw(st.integers(0, len(words) - 1))] = draw(st.sampled_from(WORDS))
                    lines[at] = "".join(words)
            case "cut":
                lines[at] = lines[at][: draw(st.integers(0, len(lines[at])))]
            case "indent":
                lines[at] = " " * draw(st.integers(0, 12)) + lines[at].lstrip()
    return "\n".join(lines)


@given(mutations())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_changed_spec_is_read_or_refused_with_places_inside_it(text: str) -> None:
    found = faults(text)

    lines = len(text.splitlines())
    assert found == sorted(found)
    assert all(p.place.file == "talk.yaml" and 1 <= p.place.line <= lines and p.place.column >= 1 for p in found)
    assert all("\n" not in str(p) for p in found)


@given(st.text(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    with pytest.raises(SpecError):
        load_text(text, "any.yaml")
