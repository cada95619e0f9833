"""The short ways that most messages take give what the long ways do: parsing at once, packing, a glance at a chunk."""

from __future__ import annotations

import json
import tracemalloc
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from machines import model
from machines.effects import Violation
from machines.engine.compiler import Program
from machines.engine.session import Session
from machines.messages import known_json
from machines.messages.bodies import MessageCodec
from machines.messages.shapes import Mismatch
from machines.messages.types import compile_message
from machines.model import Message, Wire
from machines.wire.codec import Codec, Malformed
from machines.wire.framing import FrameError, make_framer
from tests.machines.type_values import NOWHERE, TYPES, json_values, message_of, same, types, values_of
from tests.support.session_harness import Run, spec_of

CODEC = Codec(Wire())

MOVE = "[place, $id string, $turn int, {tile: $tile Digit, at: [$x int, $y int]}, {k: $word Word}]"
KNOWN = "{Digit: {int: 0..9}, Word: {string: '[a-z]+'}}"
GOOD = ["place", "a", 3, {"tile": 4, "at": [-1, 2]}, {"k": "w"}]


def long_way(shape: MessageCodec, raw: bytes) -> Any:
    try:
        return shape.read(CODEC.decode(raw))
    except Malformed:
        return None


@pytest.mark.parametrize(
    "raw",
    [
        json.dumps(GOOD).encode(),
        b' [ "place" ,"a",3,{"at":[-1,2],"tile":4},{"k":"w"}]\r\n',
        b'["place","a\\u00e9",3,{"tile":4,"at":[-1,2]},{"k":"w"}]',
        b'["place","a:b",3,{"tile":4,"at":[-1,2]},{"k":"w"}]',  # a colon in a text
        b'["place","a",3,{"tile":4,"tile":4,"at":[-1,2]},{"k":"w"}]',  # a key twice
        b'["place","a",3,{"tile":4,"\\u0074ile":5,"at":[-1,2]},{"k":"w"}]',
        b'["place","a",3.0,{"tile":4,"at":[-1,2]},{"k":"w"}]',
        b'["place","a",3,{"tile":10,"at":[-1,2]},{"k":"w"}]',
        b'["place","a",3,{"tile":4,"at":[-1,2]},{"k":"W"}]',
        b'["place","a",9223372036854775807,{"tile":4,"at":[-1,2]},{"k":"w"}]',
        b'["place","a",9223372036854775808,{"tile":4,"at":[-1,2]},{"k":"w"}]',
        b'["place","a",3,{"tile":4,"at":[-1,2]},{"k":"w"}] []',
        b'["place","a",3,{"tile":4,"at":[-1,2]},{"k":"w"},1]',
        b'["place","\\ud800",3,{"tile":4,"at":[-1,2]},{"k":"w"}]',
        b'["place","\xff",3,{"tile":4,"at":[-1,2]},{"k":"w"}]',
        b'["place","a",3,{"tile":4,"at":[-1,2]},{"k":"w"',
        b"",
    ],
)
def test_what_is_parsed_at_once_is_what_decoding_and_reading_give(raw: bytes) -> None:
    shape = message_of(MOVE, KNOWN)
    assert shape.parse is not None

    found = shape.parse(raw)

    assert found is None or same(found, long_way(shape, raw))


def test_a_move_is_parsed_at_once() -> None:
    shape = message_of(MOVE, KNOWN)
    assert shape.parse is not None

    assert shape.parse(json.dumps(GOOD).encode() + b"\n") == ("a", 3, 4, -1, 2, "w")


@pytest.mark.parametrize("body", ["$a int", "[a, b]", "[$a number]", "[$a any]", "{k: $a int = 3}", "{'a:b': $a int}"])
def test_a_body_that_leaves_something_to_be_looked_for_is_not_parsed_at_once(body: str) -> None:
    assert message_of(body).parse is None


def test_a_message_with_other_bodies_is_not_parsed_at_once() -> None:
    assert message_of("[$a int]", also=("{a: $a int}",)).parse is None


@st.composite
def moves(draw: st.DrawFn) -> tuple[Message, Any]:
    """A message of two or three fields in a list or a mapping, and a value that fits it or nearly does."""
    drawn = draw(st.lists(types, min_size=2, max_size=3))
    fields = [model.Field(f"h{index}", type_, NOWHERE, False, None) for index, type_ in enumerate(drawn)]
    values = [draw(values_of(type_) | json_values) for type_ in drawn]
    body: model.Body
    value: Any
    if draw(st.booleans()):
        body = model.BodyList((model.LiteralBody("move"), *fields))
        value = ["move", *values]
    else:
        body = model.BodyMap((("type", model.LiteralBody("move")), *((f"k{i}", one) for i, one in enumerate(fields))))
        value = {"type": "move", **{f"k{i}": one for i, one in enumerate(values)}}
    return Message("move", ("client",), body, (), False, NOWHERE), value


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(moves())
def test_any_message_is_parsed_and_packed_as_the_long_way_has_it(drawn: tuple[Message, Any]) -> None:
    message, value = drawn
    shape = compile_message(message, TYPES)
    raw = json.dumps(value).encode()

    read = long_way(shape, raw)

    if shape.parse is not None:
        found = shape.parse(raw)
        assert found is None or same(found, read)
    if read is not None:
        assert CODEC.encode(shape.pack(read)) == CODEC.encode(shape.build(read))


BOARD = (
    "{Cell: {enum: [a, b]}, Tile: [Cell, {int: 0..9}], Row: [Tile | null, ... 16], Board: [[Row, ...], [Tile, ...]]}"
)
tiles = st.tuples(st.sampled_from("ab"), st.integers(0, 9))
nearly = st.sampled_from([("a", 1.0), ("a", True), ("c", 1), ("a", 10), ("a",), ["a", 1], ("\ud800", 1), 1, "a"])
rows = st.lists(st.none() | tiles, min_size=16, max_size=16).map(tuple)
other_rows = st.one_of(
    rows.map(list),
    rows.map(lambda row: row[1:]),
    st.tuples(rows, nearly).map(lambda drawn: (*drawn[0][1:], drawn[1])),
    nearly,
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=40)
@given(st.data())
def test_boards_of_rows_that_were_sent_before_are_packed_as_if_they_were_new(data: st.DataObject) -> None:
    """The same rows again and again, some new, some that only look right: bytes and complaints are those of `build`."""
    shape = message_of("[board, $board Board, $turn int]", BOARD)
    some = data.draw(st.lists(rows, min_size=1, max_size=4))

    for turn in range(data.draw(st.integers(1, 4))):
        several = st.lists(st.sampled_from(some) | rows | other_rows, max_size=4).map(tuple)
        board = data.draw(st.tuples(several, st.lists(tiles, max_size=2).map(tuple)) | several | nearly)
        assert packed(shape, shape.pack, (board, turn)) == packed(shape, shape.build, (board, turn))


def packed(shape: MessageCodec, build: Any, values: tuple[Any, ...]) -> bytes | str:
    try:
        return CODEC.encode(build(values))
    except Mismatch as wrong:
        return str(wrong)


def test_a_row_that_changed_after_it_was_sent_is_sent_as_it_is_now() -> None:
    shape = message_of("[board, $board Board, $turn int]", BOARD)
    row: list[Any] = [("a", 1)] * 16
    board = (row,), ()

    before = CODEC.encode(shape.pack((board, 0)))
    row[0] = None

    assert CODEC.encode(shape.pack((board, 0))) == CODEC.encode(shape.build((board, 0))) != before


CELLS = "{Cells: [[{int: 0..9}, ... 6], ... 6]}"


def test_cells_that_are_sent_again_are_neither_checked_nor_encoded_a_third_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checked: list[Any] = []
    of_type = known_json._checked

    def noting(shape: Any) -> Any:
        write = of_type(shape)

        def noted(value: Any) -> bytes:
            checked.append(value)
            return write(value)

        return noted

    monkeypatch.setattr(known_json, "_checked", noting)
    shape = message_of("{cells: $cells Cells, turn: $turn int}", CELLS)
    cells, others = ((1,) * 6,) * 6, ((2,) * 6,) * 6

    for turn, now in enumerate((cells, cells, cells, cells, others, cells)):
        assert CODEC.encode(shape.pack((now, turn))) == CODEC.encode(shape.build((now, turn)))

    assert checked == [cells]  # when it was met the second time


@pytest.mark.parametrize("wrong", [((1,) * 6,) * 5, ((10,) * 6,) * 6, ((1.0,) * 6,) * 6, [[1] * 6] * 6, ([1] * 6,) * 6])
def test_cells_that_are_sent_again_are_taken_or_refused_each_time_as_they_were_the_first(wrong: Any) -> None:
    shape = message_of("{cells: $cells Cells, turn: $turn int}", CELLS)

    for turn in range(3):
        assert packed(shape, shape.pack, (wrong, turn)) == packed(shape, shape.build, (wrong, turn))


def test_cells_that_change_in_place_are_sent_as_they_are_now() -> None:
    shape = message_of("{cells: $cells Cells, turn: $turn int}", CELLS)
    row = [1] * 6
    cells = (row,) * 6

    for turn in range(4):
        row[0] = turn
        assert CODEC.encode(shape.pack((cells, 0))) == CODEC.encode(shape.build((cells, 0)))


def test_rows_that_were_sent_before_take_no_more_than_their_share_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_json, "KNOWN_BYTES_MAX", 1 << 18)
    shape = message_of("[board, $board Board, $turn int]", BOARD)
    row = tuple([("a", index % 10) for index in range(16)])
    tracemalloc.start()

    for _ in range(3_000):  # each is a row of its own: 1.5 MB if all were kept
        shape.pack(((((*row[:-1], None),), ()), 0))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert kept < 1 << 18


def test_what_is_packed_has_the_keys_in_their_order_and_under_their_names() -> None:
    shape = message_of("{'a key': $a int, fixed: [1, $b string], '\"': $c int}")

    assert CODEC.pack(shape.pack((1, "x", 2))) == b'{"a key":1,"fixed":[1,"x"],"\\"":2}\n'


near = st.lists(st.sampled_from([*b'[]{}", \r\n\x00\x01\x0212a']), max_size=12).map(bytes)


@pytest.mark.parametrize("framing", ["json", "lines", "text", "length"])
@pytest.mark.parametrize("waiting", [b"", b"[", b'{"a"', b"\x00\x00"])
@settings(deadline=None)
@given(chunk=st.binary(max_size=12) | near)
def test_what_a_glance_finds_is_just_what_the_framer_would_cut(framing: Any, waiting: bytes, chunk: bytes) -> None:
    wire = Wire(framing=framing, message_bytes_max=10)
    framer, twin = make_framer(wire), make_framer(wire)
    for one in (framer, twin):
        one.feed(waiting)
        with suppress(FrameError):
            while one.next() is not None:
                pass
    codec = Codec(wire)

    payload = framer.try_single_message(chunk)

    assert framer.waiting == twin.waiting, "a glance takes nothing in"
    if payload is None:
        return
    try:
        value = codec.decode(payload)
    except Malformed:
        return
    twin.feed(chunk)
    frame = twin.next()
    assert frame is not None
    assert codec.decode(frame) == value
    assert (twin.next(), twin.waiting) == (None, 0)


TURNS = """
protocol: turns
wire: {framing: json, depth_max: 2}
connects: {player: server}
types: {Deep: [[int, ...], ...]}
messages:
  player:
    GO: [go, $n int, $where Deep]
roles:
  server:
    main:
      start:
        accept: sit(peer)
        as: players
        seats: 1
        within: never
        timeout: {return: null}
        then: turn
      turn:
        await: players[0]
        within: never
        receive:
          GO:
            - {if: n == 9, return: where}
            - {if: n > 0, then: turn}
        fault: {return: reason}
    sit(peer):
      sat: {return: null}
  player:
    main:
      only: {return: null}
"""


@pytest.mark.parametrize(
    "raw",
    [
        b'["go", 9, []]\n',
        b'["go", 1, []]\n["go", 9, []]',
        b'["go", 0, []]\n',
        b'["go", 9, [[1]]]\n',  # too deep for this wire
        b'["go", 9]\n',
        b'{"go": 9, "go": 9}\n',
        b"[",
    ],
)
def test_a_chunk_taken_at_once_leads_to_what_the_same_bytes_one_by_one_do(raw: bytes) -> None:
    program = Program(spec_of(TURNS), "server", {})
    ends = []
    for pieces in ([raw], [raw[at : at + 1] for at in range(len(raw))]):
        session = Session(program)
        session.start(0.0)
        session.connect(0.0)
        for piece in pieces:
            session.receive(0, piece, 0.0)
        ends.append((session.ended, session.where()))

    assert ends[0] == ends[1]


BESIDE = """
protocol: beside
wire: {{work_max: 1000}}
connects: {{client: server}}
messages: {{client: {{GO: go}}, server: {{DONE: done}}}}
roles:
  server:
    main(client):
{states}
    short: {{over: {{return: 3}}}}
  client:
    main: {{only: {{send: GO, within: 1 min, receive: {{DONE: {{return: 1}}}}, fault: {{return: 0}}}}}}
"""
WORDS = "split('" + "a" * 100 + "', 'a')"  # to sort so many takes 808 of the elements that an event may go through


@pytest.mark.parametrize(
    ("states", "sent"),
    [
        (
            """
      ready: {let: {n: 1}, within: never, receive: {GO: next}, fault: {return: 0}}
      next: {within: 3 s, when: {n == 1: {send: DONE, return: n}}, fault: {return: 0}}
            """,
            ["done"],
        ),
        (
            """
      ready: {within: never, receive: {GO: next}, fault: {return: 0}}
      next: {start: short, within: 3 s, ended: {send: DONE, return: result}, fault: {return: 0}}
            """,
            ["done"],
        ),
        (
            f"""
      begin: {{let: {{words: "{WORDS}"}}, then: ready}}
      ready:
        within: never
        after: {{1 s: {{let: {{n: len(sorted(words))}}, then: stay}}}}
        receive: {{GO: {{let: {{n: len(sorted(words))}}, return: n}}}}
        fault: {{return: 0}}
            """,
            [],
        ),
    ],
    ids=["when", "ended", "clock"],
)
def test_what_a_message_sets_going_is_done_at_once_however_it_is_cut(states: str, sent: list[str]) -> None:
    """The first condition of a session, its first started machine; and a clock that rings before the message."""
    program = Program(spec_of(BESIDE.format(states=states.strip("\n"))), "server", {})
    ends = []
    for pieces in ([b'"go"\n'], [b'"g', b'o"\n']):
        run = Run(program.spec, program=program)
        run.now = 2.0
        for piece in pieces:
            run.write(0, piece)
        assert run.heard(0) == sent
        ends.append((run.ended, run.state()))

    assert ends[0] == ends[1]
    assert ends[0][0] is not None
    assert ends[0][0].failed is None


def test_a_violation_has_the_message_as_it_is_cut_and_not_the_blanks_after_it() -> None:
    program = Program(spec_of(TURNS), "server", {})
    came = []
    for pieces in ([b'["go", 0, []]\n'], [b'["go"', b", 0, []]\n"]):
        run = Run(program.spec, program=program)
        run.join()
        for piece in pieces:
            run.write(0, piece)
        came += [(effect.came, effect.size) for effect in run.effects if isinstance(effect, Violation)]

    assert came == [(b'["go", 0, []]', 13)] * 2


def test_a_call_that_has_returned_is_freed_at_once_and_not_by_the_collector() -> None:
    program = Program(spec_of(TURNS), "server", {})
    session = Session(program)
    session.start(0.0)
    session.connect(0.0)
    main = session.root
    assert main is not None

    session.receive(0, b'["go", 9, []]\n', 0.0)

    assert session.ended is not None
    assert all(slot is not main for slot in main.slots)
