"""Headers, content and JSON as parts of a frame: cut wherever the bytes are cut, and exact in where they end."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.frame_parts import FrameContent, FrameHeaders, FrameJson
from machines.messages.shapes import Mismatch
from machines.model import CompositeFrame, FrameLine, Wire
from machines.problems import Place, SpecError
from machines.wire.codec import Codec, Malformed
from machines.wire.composite_framing import PartsFramer
from machines.wire.frame_writing import packer
from machines.wire.framing import FrameError
from tests.machines.test_frame_lines import spec

HERE = Place("test.yaml", 1, 1)
WIRE = Wire(framing="text", line_end="crlf", message_bytes_max=4000, parts_max=60)
PAGE: CompositeFrame = (
    FrameLine(("", "path", ""), HERE, (("path", None),)),
    FrameHeaders(None, HERE, content=True),
    FrameContent(False, HERE),
)
CALL: CompositeFrame = (FrameHeaders((("Content-Length", "size"),), HERE), FrameJson("size", HERE))
DATA: CompositeFrame = (FrameHeaders(None, HERE, content=True), FrameContent(True, HERE))

CHUNKS = "2\r\nh\xc3\r\n6;last=1\r\n\xa9llo\r\n\r\n0\r\nTrailer: x\r\n\r\n"
HELLO = "/", {"host": "me", "x-many": "a, b"}, "héllo\r\n"


def cut(stream: bytes, frame: CompositeFrame, step: int = 0) -> list[Any]:
    """Return the values in a stream that comes in pieces of a size."""
    framer, found = PartsFramer(WIRE), []
    for at in range(0, len(stream), step or len(stream)):
        framer.feed(stream[at : at + (step or len(stream))])
        while (raw := framer.next([frame])) is not None:
            found.append(Codec(WIRE, {"A": frame}).decode(raw))
    assert not framer.partial
    return found


@pytest.mark.parametrize(
    "stream",
    [
        "/\r\nHost: me\r\nX-Many:a\r\nx-many: \tb \r\nContent-Length: 8\r\n\r\nhéllo\r\n",
        "/\r\nHOST:me\r\nx-many: a, b\r\ntransfer-encoding: Chunked\r\n\r\n" + CHUNKS,
    ],
)
def test_headers_have_no_case_and_say_where_the_content_ends(stream: str) -> None:
    raw = stream.encode("latin-1" if "chunked" in stream.lower() else "utf-8")

    for step in (0, 1, 2, 5):
        assert cut(raw * 2 + b"/bare\r\n\r\n", PAGE, step) == [[*HELLO], [*HELLO], ["/bare", {}, ""]]


names = st.sampled_from(["host", "x-a", "accept"])
header_texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=8).map(
    lambda text: text.strip(" \t")
)


@given(st.dictionaries(names, header_texts), st.text(max_size=30), st.integers(1, 9))
def test_what_is_written_is_read_wherever_the_bytes_are_cut(headers: dict[str, str], text: str, step: int) -> None:
    try:
        stream = packer(PAGE, WIRE)(["/a", headers, text])
    except Mismatch:
        assert any("\ud800" <= character <= "\udfff" for character in text)
        return

    assert cut(stream * 2, PAGE, step) == [["/a", headers, text]] * 2


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("Content-Length: 3\r\nContent-Length: 4", "content-length stands twice"),
        ("Content-Length: 3\r\nTransfer-Encoding: chunked", "where the content ends is not known"),
        ("Transfer-Encoding: gzip", "where the content ends is not known"),
        ("Content-Length: +3", "no number"),
        ("Content-Length: 3, 3", "no number"),
        ("Content-Length : 3", "a header like"),
        (" folded: 3", "a header like"),
        ("none", "a header like"),
        ("a: b\nContent-Length: 3", "a header like"),
        ("a: b\rc", "a header like"),
        ("a: \x00", "a header like"),
        ("Content-Length: 5000", "longer than 4000"),
        ("a: b\r\n" * 70, "more than 60 parts"),
        ("Transfer-Encoding: chunked\r\n\r\n0x1", "the size of a chunk"),
        ("Transfer-Encoding: chunked\r\n\r\n-1", "the size of a chunk"),
        ("Transfer-Encoding: chunked\r\n\r\n1\r\nabc", "longer than its size"),
        ("Transfer-Encoding: chunked\r\n\r\n" + "1\r\na\r\n" * 40, "more than 60 parts"),
    ],
)
def test_where_a_content_ends_is_exact_or_ends_the_stream(lines: str, why: str) -> None:
    stream = f"/\r\n{lines}\r\n\r\nabc".encode()

    for step in (1, len(stream)):
        with pytest.raises(FrameError, match=why):
            cut(stream, PAGE, step)


def test_a_header_may_count_the_bytes_of_a_json_value() -> None:
    value = {"id": 1, "text": "é", "list": [1, None]}
    raw = json.dumps(value, ensure_ascii=False).encode()
    stream = b"content-type: x\r\nCONTENT-LENGTH: %d\r\n\r\n%s" % (len(raw), raw)

    for step in (0, 1, 3):
        assert cut(stream * 2, CALL, step) == [value] * 2
    assert packer(CALL, WIRE)({"a": "é"}) == b'Content-Length: 10\r\n\r\n{"a":"\xc3\xa9"}'
    framer = PartsFramer(WIRE)
    framer.feed(b"Content-Length: 3\r\n\r\n[1,Content-Length: 3\r\n\r\n[1]")
    codec = Codec(WIRE, {"A": CALL})
    first, second = framer.next([CALL]), framer.next([CALL])
    assert first is not None
    assert second is not None
    with pytest.raises(Malformed, match="truncated"):
        codec.decode(first)
    assert codec.decode(second) == [1]
    framer.feed(b"Length: 3\r\n\r\n")
    with pytest.raises(FrameError, match="no number as Content-Length"):
        framer.next([CALL])


def test_no_content_is_null_where_it_is_json() -> None:
    assert cut(b"\r\nContent-Length: 2\r\n\r\n[]", DATA) == [[{}, None], [{}, []]]
    assert packer(DATA, WIRE)([{}, None]) == b"Content-Length: 0\r\n\r\n"
    assert packer(DATA, WIRE)([{"A": "b"}, {"x": 1}]) == b'A: b\r\nContent-Length: 7\r\n\r\n{"x":1}'


@pytest.mark.parametrize(
    "headers",
    [{"a b": "c"}, {"a": "b\r\nc: d"}, {"a": " b"}, {"a:": "b"}, {"é": "b"}, {"a": "b", "A": "c"},
     {"Content-Length": "3"}, {"transfer-encoding": "chunked"}, ["a"], {"a": 1}],
)  # fmt: skip
def test_headers_that_would_be_read_otherwise_are_not_written(headers: Any) -> None:
    with pytest.raises(Mismatch):
        packer(PAGE, WIRE)(["/", headers, ""])


ONE = "\n  client:\n    ONE: [$headers Headers, $content string]\n"
HEADERS = "\ntypes:\n  Headers: {map: [string, string]}\n"


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        ("[headers, line, content, content]", "nothing before a content says"),
        ("[line, content]", "nothing before a content says"),
        ("[{headers: {Content-Length: size}}, line, content]", "could not be written"),
        ("[{headers: {Content-Length: size, content-length: more}}, {bytes: size}, {bytes: more}]", "is no new header"),
        ("[{headers: {a b: size}}, {bytes: size}]", "is no new header"),
        ("[{line: '${size}'}, {headers: {A: size}}, {bytes: size}]", "is no new name"),
        ("[headers, {content: xml}]", "no kind of content"),
        ("[headers, {json: size}]", "nothing counts 'size'"),
        ("[headers, line, content]", "a frame with 3 values"),
    ],
)
def test_headers_that_could_not_be_read_or_written_are_a_problem(frame: str, says: str) -> None:
    with pytest.raises(SpecError) as raised:
        spec(ONE, f"\n  ONE: {frame}\n", types=HEADERS)

    assert any(problem.code == "A137" and says in problem.text for problem in raised.value.problems), raised.value
