"""Frames made of parts: cut however the bytes arrive, written as they are read, bounded in bytes and in parts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.messages.shapes import Mismatch
from machines.model import CompositeFrame, FrameBytes, FrameLine, FrameRepeat, FrameUntil, Wire
from machines.problems import Place
from machines.wire.codec import Codec, Malformed
from machines.wire.composite_framing import Cut, PartsFramer
from machines.wire.frame_writing import packer
from machines.wire.framing import FrameError

HERE = Place("test.yaml", 1, 1)
WIRE = Wire(framing="text", line_end="crlf", message_bytes_max=2000, parts_max=60)
BULK: CompositeFrame = (FrameLine(("$", "size", ""), HERE), FrameBytes("size", HERE), FrameLine(("",), HERE))
ARRAY: CompositeFrame = (FrameLine(("*", "count", ""), HERE), FrameRepeat("count", BULK, HERE))
MAIL: CompositeFrame = (FrameUntil(".", HERE),)
PAIR: CompositeFrame = (FrameLine(None, HERE), FrameBytes(3, HERE), FrameLine(("",), HERE))

texts = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)
lines = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\r\n"), max_size=20)
# A frame that ends by a line cannot tell the end of a last empty line from none, so there is no such content.
contents = st.lists(lines, max_size=5).map("\n".join).filter(lambda text: text == "" or not text.startswith("\n"))


def cut(stream: bytes, frame: CompositeFrame, cuts: list[int], wire: Wire = WIRE) -> list[Any]:
    """Return the values of what comes out of a stream in these pieces."""
    framer = PartsFramer(wire)
    found: list[Any] = []
    at = 0
    for end in [*sorted(cuts), len(stream)]:
        framer.feed(stream[at:end])
        at = max(at, end)
        while (raw := framer.next([frame])) is not None:
            found.append(Codec(wire, {"A": frame}).decode(raw))
    assert framer.waiting == 0
    return found


@given(st.lists(texts, max_size=6), st.data())
def test_an_array_of_texts_is_read_as_it_is_written_wherever_it_is_cut(values: list[str], data: st.DataObject) -> None:
    stream = packer(ARRAY, WIRE)(values) * 2 + b"PLAIN\r\n"
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=8))

    assert cut(stream, ARRAY, cuts) == [values, values, "PLAIN"]


@given(contents, st.data())
def test_content_is_stuffed_and_unstuffed(content: str, data: st.DataObject) -> None:
    stream = packer(MAIL, WIRE)(content)
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=8))

    assert stream.endswith(b".\r\n")
    assert stream.split(b"\r\n").count(b".") == 1
    assert cut(stream, MAIL, cuts) == [content.rstrip("\r")] or "\r" in content


def test_content_as_the_rfc_has_it() -> None:
    assert packer(MAIL, WIRE)("a\n.b\n..\n.") == b"a\r\n..b\r\n...\r\n..\r\n.\r\n"
    assert cut(b"a\r\n..b\r\n...\r\n..\r\n.\r\n", MAIL, []) == ["a\n.b\n..\n."]
    assert cut(b".\r\n", MAIL, []) == [""]


@pytest.mark.parametrize(
    ("stream", "frame", "values"),
    [
        (b"*0\r\n", ARRAY, [[]]),
        (b"*1\n$0\r\n\r\n", ARRAY, [[""]]),
        (b"\r\n\r\n$2\r\nab\r\n", BULK, ["ab"]),
        (b"$-1\r\n", BULK, ["$-1"]),
        (b"$x\r\n$01\r\n", BULK, ["$x", "$01"]),
        (b"name\r\nabc\r\n", PAIR, [["name", "abc"]]),
    ],
)
def test_what_is_like_the_first_line_is_a_frame_and_what_is_not_is_a_line(
    stream: bytes, frame: CompositeFrame, values: list[Any]
) -> None:
    assert cut(stream, frame, []) == values
    assert cut(stream, frame, list(range(len(stream)))) == values


@pytest.mark.parametrize(
    ("stream", "frame", "why"),
    [
        (b"$2001\r\n", BULK, "longer than 2000"),
        (b"$2\r\nabc\r\n", BULK, "line like ''"),
        (b"*2\r\n+1\r\n", ARRAY, "wanted"),
        (b"*9999999999\r\n" + b"$0\r\n\r\n" * 30, ARRAY, "more than 60 parts"),
        (b"x" * 2001, BULK, "longer than"),
        (b"x\r\n" * 700, MAIL, "longer than"),
    ],
)
def test_what_is_over_a_limit_or_unlike_its_pattern_ends_the_stream(
    stream: bytes, frame: CompositeFrame, why: str
) -> None:
    framer = PartsFramer(WIRE)
    framer.feed(stream)

    with pytest.raises(FrameError, match=why):
        framer.next([frame])
    framer.feed(b"more")
    with pytest.raises(FrameError, match=why):
        framer.next([frame])
    assert framer.waiting == 0


def test_bytes_that_are_no_text_cost_that_message_only() -> None:
    framer = PartsFramer(WIRE)
    framer.feed(b"$1\r\n\xff\r\n$1\r\na\r\n")
    codec = Codec(WIRE, {"A": BULK})

    first, second = framer.next([BULK]), framer.next([BULK])

    assert isinstance(first, Cut)
    assert second is not None
    with pytest.raises(Malformed, match="UTF-8"):
        codec.decode(first)
    assert codec.decode(second) == "a"


def test_a_frame_is_chosen_when_its_first_byte_is_looked_at_and_keeps_to_its_end() -> None:
    framer = PartsFramer(WIRE)
    framer.feed(b"QUIT\r\n")
    assert framer.next([MAIL]) is None
    framer.feed(b".\r\nQUIT\r\n")

    content = framer.next([])

    assert isinstance(content, Cut)
    assert content.value == "QUIT"
    assert framer.next([]) == b"QUIT"


@pytest.mark.parametrize("value", [1, ["a", 1], [["a"]], {"a": "b"}, ["\ud800"], None])
def test_what_a_frame_cannot_carry_is_not_written(value: Any) -> None:
    with pytest.raises(Mismatch):
        packer(ARRAY, WIRE)(value)
    with pytest.raises(Mismatch):
        packer(PAIR, WIRE)(value)


def test_a_line_holds_no_line_end_and_fixed_bytes_are_so_many() -> None:
    for wrong in (["a\nb", "abc"], ["a", "abcd"], ["a"]):
        with pytest.raises(Mismatch):
            packer(PAIR, WIRE)(wrong)
    assert packer(PAIR, WIRE)(["a", "abc"]) == b"a\r\nabc\r\n"


# -- characters ------------------------------------------------------------------------------------------------------

LATIN = Wire(framing="text", line_end="crlf", charset="latin-1", message_bytes_max=2000, parts_max=60)
every_bytes = st.binary(max_size=20).map(lambda raw: raw.decode("latin-1"))


@given(st.lists(every_bytes, max_size=6), st.data())
def test_under_latin_1_any_bytes_are_read_as_they_are_written_wherever_they_are_cut(
    values: list[str], data: st.DataObject
) -> None:
    stream = packer(ARRAY, LATIN)(values) + b"\xffPLAIN\r\n"
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=8))

    assert cut(stream, ARRAY, cuts, LATIN) == [values, "ÿPLAIN"]


def test_a_character_that_the_charset_has_not_is_not_written() -> None:
    for write in (packer(BULK, LATIN), Codec(LATIN).encode, Codec(LATIN).pack):
        with pytest.raises(Mismatch, match=r"U\+00FF"):
            write("→")
    assert Codec(LATIN).pack("é") == b"\xe9\r\n"


@pytest.mark.parametrize("wire", [WIRE, LATIN])
def test_a_pattern_and_a_mark_beyond_ascii_are_read_as_they_are_written(wire: Wire) -> None:
    frame: CompositeFrame = (FrameLine(("§", "n", "é"), HERE), FrameBytes("n", HERE), FrameUntil("£", HERE))
    stream = packer(frame, wire)(["ab", "£x"])

    assert stream.startswith("§2é".encode(wire.charset))
    assert cut(stream, frame, list(range(len(stream))), wire) == [["ab", "£x"]]


# -- line ends -------------------------------------------------------------------------------------------------------

LINE: CompositeFrame = (FrameLine(None, HERE),)
LF = Wire(framing="text", message_bytes_max=2000, parts_max=60)


@pytest.mark.parametrize("ending", [b"\n.\n", b"\n.\r\n", b"\r\n.\n", b"\r.\r", b"\r\n.\r"])
def test_with_crlf_no_other_line_end_ends_content_wherever_it_is_cut(ending: bytes) -> None:
    stream = b"first" + ending + b"MAIL\r\nsecond\r\n.\r\n"

    for cuts in ([], list(range(len(stream)))):
        values = cut(stream, MAIL, cuts)
        assert len(values) == 1
        assert values[0].startswith("first")
        assert values[0].endswith("MAIL\nsecond")


def test_with_lf_both_line_ends_end_content() -> None:
    for ending in (b"\n.\n", b"\r\n.\r\n", b"\n.\r\n"):
        assert cut(b"..a\nb" + ending, MAIL, [], LF) == [".a\nb"]


@given(st.lists(st.sampled_from([b"\n", b"\r", b".", b"a", b"\r\n"]), max_size=14).map(b"".join), st.data())
def test_content_with_any_line_ends_is_cut_the_same_wherever_the_bytes_are_cut(raw: bytes, data: st.DataObject) -> None:
    stream = raw + b"\r\n.\r\n"
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=6))
    framers = []
    for pieces in ([], sorted(cuts)):
        framer, at, found = PartsFramer(WIRE), 0, []
        for end in [*pieces, len(stream)]:
            framer.feed(stream[at:end])
            at = max(at, end)
            while (message := framer.next([MAIL])) is not None:
                found.append(message.value)  # type: ignore[attr-defined]
        framers.append(found)

    assert framers[0] == framers[1]
    assert len(framers[0]) == stream.split(b"\r\n").count(b".")


def test_a_line_feed_within_a_line_of_a_frame_costs_that_message_only() -> None:
    stream = b"na\nme\r\nabc\r\nname\r\nabc\r\n"
    for step in (1, len(stream)):
        framer = PartsFramer(WIRE)
        found = []
        for at in range(0, len(stream), step):
            framer.feed(stream[at : at + step])
            while (message := framer.next([PAIR])) is not None:
                found.append(message)
        first, second = found
        with pytest.raises(Malformed, match="a line feed within a line"):
            Codec(WIRE, {"A": PAIR}).decode(first)
        assert Codec(WIRE, {"A": PAIR}).decode(second) == ["name", "abc"]


@pytest.mark.parametrize("wire", [WIRE, LF])
def test_of_a_file_of_lines_the_last_is_read_without_its_end_and_none_that_is_empty_is_lost(wire: Wire) -> None:
    framer = PartsFramer(wire)
    framer.feed(b"a\r\n\r\nno end")
    found = []
    while (message := framer.next([LINE])) is not None:
        found.append(message.value)  # type: ignore[attr-defined]

    last = framer.finish()

    assert found == ["a", ""]
    assert isinstance(last, Cut)
    assert last.value == "no end"
    assert not framer.partial
    assert framer.finish() is None


def test_a_frame_of_more_than_a_line_is_not_whole_without_its_end() -> None:
    for frame, stream in ((PAIR, b"name\r\nab"), (PAIR, b"na"), (MAIL, b"a\r\n.")):
        framer = PartsFramer(WIRE)
        framer.feed(stream)
        assert framer.next([frame]) is None
        assert framer.finish() is None
        assert framer.partial
