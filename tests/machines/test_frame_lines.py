"""Names in the lines of a frame: counts, values of the body's types, pieces that may be missing, words in any case."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.checks.checker import every_problem
from machines.engine.session import Program
from machines.messages.shapes import Mismatch
from machines.model import FrameLine, Spec
from machines.parser.loader import load_text
from machines.problems import Place, SpecError
from machines.wire.codec import Codec
from machines.wire.composite_framing import Cut, PartsFramer
from machines.wire.line_patterns import line_pattern

HEAD = """protocol: lines
wire: {framing: text, line_end: crlf, message_bytes_max: 4000}
connects: {client: server}
"""
ROLES = """
roles:
  client: {main: {a: {send: A(1), then: b}, b: {within: 1 min, receive: {OK: {return: null}}}}}
"""
TYPES = """
types:
  Key: {string: "[!-~]{1,20}"}
  How: {enum: [set, add, replace]}
  Quiet: {enum: [noreply]}
"""
STORE = """
  client:
    STORE: [$how How, $key Key, $flags int 0..65535, $quiet Quiet | null, $value string]
"""
STORE_FRAME = """
  STORE:
    - line: "${how} ${key} ${flags} ${size}$[ ${quiet}]"
    - bytes: size
    - line: ""
"""


def spec(messages: str, frames: str, receive: str = "", types: str = TYPES) -> Spec:
    """Return a spec whose server hears these messages of the client, in this order."""
    names = [line.split(":")[0].strip() for line in messages.splitlines() if line.startswith("    ")]
    listed = receive or ", ".join(f"{name}: again" for name in names)
    sends = "".join(
        f"      s{name}: {{ask: what, within: 1 min, receive: {{{name}: {{send: {name}, then: s{name}}}}}}}\n"
        for name in names
    )
    return load_text(
        f"{HEAD}{types}messages:{messages}  server: {{OK: ok}}\nframes:{frames}"
        f"roles:\n  server:\n    main(client):\n      hearing: {{within: never, receive: {{{listed}}}, "
        "fault: {return: null}, closed: {return: null}}\n      last: {send: OK, return: null}\n"
        f"  client:\n    main:\n{sends}",
        "lines.yaml",
    )


def cut(spec_: Spec, stream: bytes, step: int = 0) -> list[tuple[str, Any]]:
    """Return the messages in a stream that comes in pieces of a size, with their fields; what is none has no name."""
    program = Program(spec_, "server", {})
    codec, framer = Codec(spec_.wire, spec_.frames), PartsFramer(spec_.wire)
    frames = list(dict.fromkeys(spec_.frames.values()))
    found: list[tuple[str, Any]] = []
    for at in range(0, len(stream), step or len(stream)):
        framer.feed(stream[at : at + (step or len(stream))])
        while (raw := framer.next(frames)) is not None:
            value = codec.decode(raw)
            framed = raw.frame if isinstance(raw, Cut) else None
            like = [name for name, shape in program.shapes.items() if spec_.frames.get(name) == framed]
            read = [(name, program.shapes[name].read(value)) for name in like]
            found.append(next(((name, fields) for name, fields in read if fields is not None), ("", value)))
    assert not framer.partial
    return found


def written(spec_: Spec, name: str, *fields: Any) -> bytes:
    program = Program(spec_, "server", {})
    return program.codec.packs[name](program.shapes[name].build(fields))


def test_names_that_count_nothing_are_values_of_the_types_of_their_fields() -> None:
    store = spec(STORE, STORE_FRAME)
    stream = b"set k 7 3\r\n\xc3\xa9\n\r\nadd \xe2\x82\xac 0 0\r\nreplace kk 0 2 noreply\r\n\r\n\r\n"

    for step in (0, 1, 2, 7):
        assert cut(store, stream, step) == [
            ("STORE", ("set", "k", 7, None, "é\n")),
            ("", "add € 0 0"),  # no key, so a line by itself, as the next would be
            ("STORE", ("replace", "kk", 0, "noreply", "\r\n")),
        ]


@pytest.mark.parametrize("line", ["get k 0 3", "set k x 3", "set k 70000 3", "set k 0 -1", "set k 0 03", "set k 0 3 x"])
def test_a_line_in_which_a_name_has_not_its_type_is_not_the_frame(line: str) -> None:
    assert cut(spec(STORE, STORE_FRAME), line.encode() + b"\r\n") == [("", line)]


keys = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=8)
values = st.text(st.characters(blacklist_categories=["Cs"]), max_size=30)
STORED = spec(STORE, STORE_FRAME)


@given(st.sampled_from(["set", "add"]), keys, st.integers(0, 65535), st.sampled_from([None, "noreply"]), values,
       st.integers(1, 9))  # fmt: skip
def test_what_is_written_is_read_wherever_the_bytes_are_cut(
    how: str, key: str, flags: int, quiet: str | None, value: str, step: int
) -> None:
    fields = (how, key, flags, quiet, value)

    assert cut(STORED, written(STORED, "STORE", *fields) * 2, step) == [("STORE", fields)] * 2


PUB = "\n  client:\n    PUB: [$subject string, $reply string | null, $data string]\n"
PUB_FRAME = '\n  PUB: [{line: "PUB ${subject}$[ ${reply}] ${size}"}, {bytes: size}, {line: ""}]\n'


def test_a_piece_in_the_middle_may_be_missing() -> None:
    pub = spec(PUB, PUB_FRAME)

    assert cut(pub, b"PUB a b 1\r\nx\r\nPUB a 1\r\nx\r\nPUB a  1\r\nx\r\n") == [
        ("PUB", ("a", "b", "x")),
        ("PUB", ("a", None, "x")),
        ("PUB", ("a", "", "x")),
    ]
    assert written(pub, "PUB", "a", None, "é") == b"PUB a 2\r\n\xc3\xa9\r\n"
    for subject, reply in (("a b", None), ("a", "b c"), ("a\r\nb", None)):
        with pytest.raises(Mismatch):
            written(pub, "PUB", subject, reply, "x")


def test_a_line_alone_may_have_a_rest_that_is_missing() -> None:
    part = spec(
        "\n  client:\n    PART: [$channel string, $why string | null]\n",
        '\n  PART: [{line: "PART ${channel}$[ :${why}]"}]\n',
    )

    assert cut(part, b"PART #a\r\nPART #a :so long\nPART #a :\r\n") == [
        ("PART", ("#a", None)),
        ("PART", ("#a", "so long")),
        ("PART", ("#a", "")),
    ]
    assert [written(part, "PART", "#a", why) for why in (None, "")] == [b"PART #a\r\n", b"PART #a :\r\n"]
    with pytest.raises(Mismatch, match="as it is meant"):
        written(part, "PART", "#a :b", None)


def test_a_count_may_be_hexadecimal_and_words_may_be_in_any_case() -> None:
    chunk = spec(
        "\n  client:\n    CHUNK: $data string\n",
        '\n  CHUNK: [{line: "Chunk-Size: ${size hex}", case: any}, {bytes: size}]\n',
    )

    assert cut(chunk, b"chunk-size: A\r\n0123456789CHUNK-SIZE: 00\r\nChunk-Size: 0x\r\n") == [
        ("CHUNK", ("0123456789",)),
        ("CHUNK", ("",)),
        ("", "Chunk-Size: 0x"),
    ]
    assert written(chunk, "CHUNK", "0" * 31) == b"Chunk-Size: 1f\r\n" + b"0" * 31


@pytest.mark.parametrize(
    ("messages", "frames", "says"),
    [
        (PUB, PUB_FRAME.replace("${subject}$[ ${reply}", "${reply}$[ ${subject}"), "stands in another place"),
        (PUB.replace(" | null", ""), PUB_FRAME, "of a type with null"),
        (PUB.replace("$subject string", "$subject Keys"), PUB_FRAME, "is a text, a number or a boolean"),
        (PUB, PUB_FRAME.replace("$[ ${reply}]", ""), "is no list of so many"),
        (PUB, PUB_FRAME.replace("$[ ${reply}]", "$[ ${reply}"), "has no end"),
        (PUB, PUB_FRAME.replace("$[ ${reply}]", "$[ $[ ${reply}]]"), "within another"),
        (PUB, PUB_FRAME.replace("$[ ${reply}]", "$[ x]"), "without a name in it"),
        (PUB, PUB_FRAME.replace("$[ ${reply}]", "$[${reply}]"), "nothing between"),
        (PUB, PUB_FRAME.replace(" ${size}", "$[ ${size}]"), "can not be missing"),
        (PUB, PUB_FRAME.replace("${reply}", "${reply hex}"), "only a count is hexadecimal"),
        (PUB, PUB_FRAME.replace("${reply}", "${reply octal}"), "is no name in a line"),
        (PUB, PUB_FRAME.replace("${reply}", "${subject}"), "is no new name"),
        (PUB, PUB_FRAME.replace('${size}"', '${size}", case: some'), "'case' is any"),
        (PUB, PUB_FRAME.replace('{line: ""}', '{bytes: 1, case: any}'), "is one of"),
        (PUB, PUB_FRAME.replace("$[ ${reply}]", "$[ ${a}]" * 5), "more than 4"),
    ],
)  # fmt: skip
def test_a_line_that_could_not_be_read_or_written_is_a_problem(messages: str, frames: str, says: str) -> None:
    with pytest.raises(SpecError) as raised:
        spec(messages, frames, types=TYPES + "  Keys: [Key, ...]\n")

    assert any(problem.code == "A137" and says in problem.text for problem in raised.value.problems), raised.value


TALK = """protocol: talk
wire: {framing: text}
connects: {client: server}
types:
  Verb: {enum: [get, set]}
messages:
  client:
    FIRST:  $data string
    SECOND: SAID
  server:
    OK: ok
frames:
  FIRST: [{line: "OPENING"}, {bytes: size}]
MORE
roles:
  server:
    main(client):
      hearing:
        within: never
        receive: {ORDER}
        fault: {return: null}
        closed: {return: null}
      answered: {send: OK, then: hearing}
  client:
    main:
      saying:
        ask: what
        within: 1 min
        receive: {FIRST: {send: FIRST, then: heard}, SECOND: {send: SECOND, then: heard}}
      heard: {within: 1 min, receive: {OK: saying}, closed: {return: null}}
"""


@pytest.mark.parametrize(
    ("opening", "said", "more", "order", "alike"),
    [
        ("get ${size}", "get ${number int}", "", "FIRST, SECOND", False),  # the frame is narrower: it has no -1
        ("get ${size}", "get ${number int}", "", "SECOND, FIRST", False),  # and comes first wherever it is listed
        ("get ${size}", "get 5", "", "SECOND, FIRST", True),  # this line could never be said
        ("get ${size}", "set 5", "", "SECOND, FIRST", False),
        ("get ${size}", "$other string", '  SECOND: [{line: "get 1"}, {until: "."}]', "FIRST, SECOND", True),
        ("get ${size}", "$other string", '  SECOND: [{line: "get 1"}, {until: "."}]', "SECOND, FIRST", False),
        ("get ${size}", "$other string", '  SECOND: [{line: "got 1"}, {until: "."}]', "FIRST, SECOND", False),
        ("get $[${why} ]${size}", "get ${number int}", "", "FIRST, SECOND", True),
        ("get ${size hex}", "get af", "", "FIRST, SECOND", True),
        ("get ${size hex}", "get ag", "", "FIRST, SECOND", False),
        ('get ${size} x", case: "any', "gEt 5 X", "", "FIRST, SECOND", True),
        ('get ${size} x", case: "any', "gEt 5 Y", "", "FIRST, SECOND", False),
    ],
)  # fmt: skip
def test_what_a_line_opens_is_told_apart_or_is_the_narrower_that_is_taken(
    opening: str, said: str, more: str, order: str, alike: bool
) -> None:
    text = TALK.replace("SAID", said).replace("OPENING", opening).replace("MORE", more)
    text = text.replace("ORDER", ", ".join(f"{name}: answered" for name in order.split(", ")))
    if "why" in opening:
        text = text.replace("FIRST:  $data string", "FIRST: [$why string | null, $data string]")

    found = [problem for problem in every_problem(load_text(text, "talk.yaml")) if problem.code == "A334"]

    assert bool(found) is alike, found


PATTERNS = [
    ("", "a", " ", "b", ""), ("GET ", "a", " HTTP/1.", "b", ""), ("", "a", "]", "b", "^", "c", "-"),
    ("x", "a", "aab", "b", " "), ("a.b", "a", "\\", "b", ""),
]  # fmt: skip


@given(st.sampled_from(PATTERNS), st.lists(st.sampled_from([*" ab.]^-\\x", "aab", "GET ", " HTTP/1."]), max_size=12))
def test_a_field_ends_where_the_text_behind_it_first_comes(pattern: tuple[str, ...], pieces: list[str]) -> None:
    text = pattern[0] + "".join(pieces)
    values: tuple[tuple[str, Any], ...] = tuple((name, None) for name in pattern[1::2])
    rest, found = text.removeprefix(pattern[0]), {}
    for name, behind in zip(pattern[1::2], pattern[2::2], strict=True):
        found[name], at, rest = rest.partition(behind) if behind else (rest, "", "")
        if at != behind:
            found = {}
            break

    line = FrameLine(pattern, Place("lines.yaml", 1, 1), values)
    assert line_pattern(line, "utf-8").match(text.encode()) == (found if found and not rest else None)
