"""The language, shown key by key: frames, machines that nobody waits for, live values, and functions."""

from __future__ import annotations

from typing import Any

import pytest

from machines.checks import check
from machines.effects import Send
from machines.parser.loader import load_text
from machines.problems import SpecError
from tests.support.tiny import returned, shows, start, tiny

VALUES: list[tuple[str, Any]] = [
    ("any([false, 1 < 2]) and not any([])", True),
    ("all([true, 1 < 2]) and all([])", True),
    ("min([3, 1, 2]) + max(1..4)", 5),
    ("min([]) == null and max([]) == null", True),
    ("sum([1, 2, 3]) + sum([])", 6),
    ("sorted([3, 1, 2])", (1, 2, 3)),
    ("sorted(['b', 'a'])", ("a", "b")),
    ("keys(put(record, 'b', 2))", ("a", "b")),
    ("values(put(record, 'a', 7))", (7,)),
    ("put(list, 1, 9)", (4, 9, 6)),
    ("without(record, 'a') == without(record, 'x')", False),
    ("without([1, 2, 1, true], 1)", (2, True)),
    ("get(record, 'a', 0) + get(record, 'x', 10) + get(list, 7, 100)", 115),
    ("column([record, record], 'a')", (5, 5)),
    ("len(where([record, put(record, 'a', 6)], 'a', 6))", 1),
    ("head(list, 2) + tail(list, 2)", (4, 5, 6)),
    ("[round(1.4), round(2.5), round(0 - 2.5), round(0.49999999999999994), round(7)]", (1, 3, -2, 0, 7)),
    ("str(12) + str(true) + str('a')", "12truea"),
    ("[int('12'), int('-3'), int('x'), int('1.0'), int('007')]", (12, -3, None, None, None)),
    ("split('a b c', ' ')", ("a", "b", "c")),
    ("join(['a', 'b'], ', ')", "a, b"),
    ("lower('Ab') + upper('Ab')", "abAB"),
    ("base64('ÿ>ab') + unbase64('/z5hYg==') + base64('')", "/z5hYg==ÿ>ab"),
    (
        "[base64('€'), unbase64('/wBhYg'), unbase64('é'), unbase64('YR=='), unbase64('YQ==')]",
        (None, None, None, None, "a"),
    ),
    ("[1, 2, 3, 2] except 2", (1, 3)),
    ("[1, 2, 3, 2] except [2, 3] + [9]", (1, 9)),
    ("len(record except 'a') + len(put(record, 'b', 1) except ['a', 'b'])", 0),
]


@shows("built-in.any", "built-in.all", "built-in.min", "built-in.max", "built-in.sum", "built-in.sorted")
@shows("built-in.keys", "built-in.values", "built-in.put", "built-in.without", "built-in.get", "built-in.column")
@shows("built-in.where", "built-in.head", "built-in.tail", "built-in.str", "built-in.int", "built-in.split")
@shows("built-in.join", "built-in.lower", "built-in.upper", "built-in.base64", "built-in.unbase64", "operator.except")
@shows("built-in.round")
@pytest.mark.parametrize(("text", "value"), VALUES, ids=[text for text, _ in VALUES])
def test_what_a_function_gives(text: str, value: Any) -> None:
    # any all min max sum sorted keys values put without get column where head tail str int split join lower upper
    # except round
    run = start(
        f"""
        messages: {{}}
        roles:
          client:
            main:
              first:
                let:
                  record: {{a: 5}}
                  list: [4, 5, 6]
                then: last
              last:
                let:
                  used: [record, list]
                  got: ({text})
                then: end
              end: {{return: got}}
        """,
        "client",
    )

    assert returned(run) == value


@pytest.mark.parametrize(
    "text",
    [
        "any([1])", "min([1, 'a'])", "sum(['a'])", "sorted([null])", "keys(list)", "put(list, 7, 1)",
        "put(list[0], 'a', 2)",
        "column(list, 'a')", "head(list, 0 - 1)", "str(list)", "int(list[0])", "split('a', '')",
        "join([1], ',')", "lower(list[0])",
        "1 except 1", "get(list, 'a', 1)", "sum([9223372036854775807, 1])", "where(list, 'a', 1)",
    ],
)  # fmt: skip
def test_what_has_no_meaning_makes_the_machine_fail(text: str) -> None:
    run = start(
        f"""
        messages: {{}}
        roles:
          client:
            main:
              first:
                let:
                  list: [4, 5, 6]
                then: last
              last: {{run: asked(list), as: got, failed: {{return: "('failed')"}}, return: got}}
            asked(list):
              first:
                let:
                  got: ({text})
                then: end
              end: {{return: got}}
        """,
        "client",
    )

    assert returned(run) == "failed"


TALK = """
wire: {framing: text, line_end: crlf, parts_max: 6}
messages:
  client:
    WORDS: $words Words
    DATA:  data
    MAIL:  $mail string
  server:
    SAID:  $text string
    GO:    go
    NO:    no ${why string}
types: {Words: [string, ...]}
frames:
  WORDS:
    - line: "*${count}"
    - repeat: count
      of: [line]
  MAIL: [{until: "."}]
  SAID:
    - line: "$$${size}"
    - bytes: size
roles:
  server:
    main(client):
      talking:
        within: never
        receive:
          WORDS: {send: "SAID(join(words, '+'))", then: stay}
          DATA: {send: GO, then: writing}
        invalid: {send: NO(reason), then: stay}
        closed: {return: null}
      writing:
        within: never
        receive:
          MAIL: {send: SAID(mail), then: talking}
        fault: {return: null}
"""


@shows("frames", "wire.line_end", "wire.parts_max")
def test_the_state_chooses_how_bytes_are_cut() -> None:
    # frames line_end parts_max
    run = start(TALK, "server")

    run.write(0, b"*2\r\na\r\nb\r\nda")
    run.write(0, b"ta\r\n*1\r\n..x\r\n.\r\n*0\n")

    sent = b"".join(effect.data for effect in run.effects if isinstance(effect, Send))
    assert sent == b"$3\r\na+bgo\r\n$5\r\n*1\n.x$0\r\n"
    run.write(0, b"*7\r\na\r\na\r\na\r\na\r\na\r\na\r\na\r\n")
    assert any("more than 6 parts" in note for note in run.notes)


@shows("wire.charset")
def test_under_latin_1_every_byte_is_a_character() -> None:
    # charset
    run = start(TALK.replace("line_end: crlf", "line_end: crlf, charset: latin-1"), "server")
    every = bytes(range(256)).replace(b"\r\n", b"")

    run.write(0, b"data\r\n" + every + b"\xff\r\n.\r\n")

    sent = b"".join(effect.data for effect in run.effects if isinstance(effect, Send))
    assert sent == b"go\r\n$257\r\n" + every + b"\xff"


def test_what_fits_no_frame_is_unknown_and_a_message_of_that_frame_that_nobody_awaits_is_unexpected() -> None:
    text = TALK.replace("          WORDS: {send: \"SAID(join(words, '+'))\", then: stay}\n", "")
    for bytes_, reason in ((b"-WRONG x\r\n", "unknown"), (b"*1\r\n", "unknown"), (b"*1\r\na\r\n", "unknown")):
        run = start(text, "server")
        run.write(0, bytes_)
        first = next(effect.data for effect in run.effects if isinstance(effect, Send))
        assert first == f"no {reason}\r\n".encode()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("framing: text", "framing: lines", "beside 'framing: text' only"),
        ("bytes: size", "bytes: length", "nothing counts 'length'"),
        ("    - bytes: size\n", "    - line\n", "a frame with 2 values"),
        ("    - bytes: size\n", "    - line: '${text}'\n", "a frame with 2 values"),
        ('[{until: "."}]', '[{until: ".", bytes: 3}]', "is one of"),
        ('[{until: "."}]', '[{line: "$"}]', "a dollar alone"),
        ('[{until: "."}]', '[{line: "${a}${b}"}, {bytes: a}, {bytes: b}]', "nothing between"),
        ('[{until: "."}]', '[{line: "x"}]', "nothing in it"),
        ("types:", "urgent: [MAIL]\ntypes:", "can not be urgent"),
    ],
)
def test_a_frame_that_could_not_be_cut_or_written_is_a_problem(old: str, new: str, says: str) -> None:
    head, tail = "protocol: tiny\nconnects: {client: server}\n", "  client: {main: {a: {within: never}}}\n"
    text = TALK.replace(old, new)
    assert text != TALK

    with pytest.raises(SpecError) as raised:
        load_text(head + text + tail, "tiny.yaml")

    assert any(problem.code == "A137" and says in problem.text for problem in raised.value.problems)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('until: "."', "until: →", "A137"),
        ('"$$${size}"', '"→${size}"', "A137"),
        ("of: [line]", "of: [line, {line: →}]", "A137"),
        ("GO:    go", "GO:    go →", "A130"),
        ("no ${why string}", "no → ${why string}", "A130"),
        ("framing: text", "framing: lines", "A130"),
    ],
)
def test_what_the_spec_writes_has_characters_of_its_charset(old: str, new: str, code: str) -> None:
    def problems(text: str) -> set[str]:
        head, tail = "protocol: tiny\nconnects: {client: server}\n", "  client: {main: {a: {within: never}}}\n"
        try:
            load_text(head + text + tail, "tiny.yaml")
        except SpecError as error:
            return {problem.code for problem in error.problems}
        return set()

    assert TALK.count(old) == 1
    latin = TALK.replace("line_end: crlf", "line_end: crlf, charset: latin-1")
    assert problems(latin) == set()
    assert code in problems(latin.replace(old, new))


@shows(
    "state.start", "state.ended", "always.ended", "branch.start", "step.start", "built-in.running", "wire.started_max"
)
def test_a_machine_that_nobody_waits_for_tells_when_it_has_ended() -> None:
    # start ended running started_max
    run = start(
        """
        wire: {framing: lines, started_max: 3}
        messages:
          client: {GO: [go, $n int]}
          server: {NEWS: [news, $of any]}
        roles:
          server:
            main(client):
              always:
                ended: {send: "NEWS([result, reason, running])", then: stay}
              first: {start: nap(1), then: waiting}
              waiting:
                within: never
                receive:
                  GO: {do: [{start: nap(n)}, {start: nap(n + 1)}], then: quiet}
                closed: {return: running}
              quiet:
                within: never
                ended: {send: "NEWS([reason])", then: waiting}
                receive: {GO: stay}
                closed: {return: running}
            nap(n):
              asleep: {within: n, timeout: {return: n}}
        """
    )

    run.wait(1)
    run.say(0, ["go", 2])
    run.wait(2)
    run.wait(5)

    assert run.heard(0) == [["news", [1, "returned", 0]], ["news", ["returned"]], ["news", [3, "returned", 0]]]


@shows("machine.live")
def test_a_live_value_is_shared_with_what_a_machine_runs() -> None:
    # live
    run = start(
        """
        messages: {}
        roles:
          client:
            main:
              live: {names: []}
              one: {run: add('a'), then: two}
              two: {run: add('b'), then: three}
              three: {return: names}
            add(name):
              once: {let: {names: "names + [name]"}, return: null}
        """,
        "client",
    )

    assert returned(run) == ("a", "b")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("add(name):", "add(names):"),
        ("live: {names: []}", "live: {seed_: []}"),
        ("one: {run: add('a'), then: two}", "one: {each: names in 1..2, run: add('a'), then: two}"),
        ("add(name):\n", "add(name):\n              live: {names: 1}\n"),
        (
            "one: {run: add('a'), then: two}",
            "one: {each: n in 1..2, parallel: 2, run: add('a'), as: names, then: two}",
        ),
    ],
)
def test_a_live_value_bound_otherwise_is_a_problem(old: str, new: str) -> None:
    text = """
protocol: tiny
connects: {client: server}
messages: {}
roles:
  server: {main: {idle: {within: never}}}
  client:
            main:
              live: {names: []}
              one: {run: add('a'), then: two}
              two: {return: names}
            add(name):
              once: {let: {names: "[name]"}, return: null}
"""
    assert check(load_text(text, "tiny.yaml")) == []

    found = check(load_text(text.replace(old, new), "tiny.yaml"))

    assert {problem.code for problem in found} & {"A313", "A301", "A302"}, old


def test_a_spec_with_frames_reads() -> None:
    assert tiny(TALK).frames.keys() == {"WORDS", "MAIL", "SAID"}
