"""Headers and content, as HTTP, mail and language servers have them.

    Content-Type: text/plain      lines of a name, which has no case, and a text, up to an empty line
    Content-Length: 5

    hello                         the content: so many bytes, or chunks under Transfer-Encoding: chunked, or none

What says where the content ends is exact: both headers at once, two lengths that differ, another coding, or a length
that is no number end the stream, so that no two programs cut the same bytes differently.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, Final

from machines.frame_parts import FrameHeaders
from machines.messages.shapes import Mismatch, shown
from machines.wire.charset import encoded
from machines.wire.framing import FrameError

LENGTH: Final = "content-length"
CODING: Final = "transfer-encoding"
HEADERS: Final = ""  # what is kept of them beside the counts, under no name that a count may have
_Step = Generator[None, None, Any]
_name = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+").fullmatch
_control = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]").search
decimal = re.compile("[0-9]{1,10}").fullmatch
_hexadecimal = re.compile(rb"[0-9a-fA-F]{1,8}").fullmatch


def read_headers(
    part: FrameHeaders, take_line: Callable[[], _Step], charset: str, counts: dict[str, Any], found: list[Any]
) -> _Step:
    """Read headers up to an empty line; note their counts, and add the mapping to ``found`` if it is a value.

    ``take_line`` takes a line without its end.

    Raises:
        FrameError: a line is no header, or a length is missing, no number or there twice.
    """
    several: dict[str, list[str]] = {}
    while line := (yield from take_line()):
        _add_header(several, line, charset)
    note_headers(part, _joined(several), counts, found)


def headers_of(lines: Sequence[bytes], charset: str) -> dict[str, str]:
    """Return the headers that stand on lines, by their names in small letters.

    Raises:
        FrameError: a line is no header, or a length is there twice.
    """
    several: dict[str, list[str]] = {}
    for line in lines:
        _add_header(several, line, charset)
    return _joined(several)


def _add_header(several: dict[str, list[str]], line: bytes, charset: str) -> None:
    name, colon, value = line.partition(b":")
    if not colon or not _name(name) or _control(value):
        raise FrameError(f"a header like 'Name: value' is wanted, not {line[:40]!r}")
    try:
        several.setdefault(name.decode().lower(), []).append(value.strip(b" \t").decode(charset))
    except UnicodeDecodeError as error:
        raise FrameError(f"a header is not {charset}: {error.reason}") from None


def _joined(several: Mapping[str, Sequence[str]]) -> dict[str, str]:
    for name in (LENGTH, CODING):
        if len(set(several.get(name, ()))) > 1:
            raise FrameError(f"{name} stands twice among the headers")
    return {name: values[0] if name in (LENGTH, CODING) else ", ".join(values) for name, values in several.items()}


def note_headers(part: FrameHeaders, headers: dict[str, str], counts: dict[str, Any], found: list[Any]) -> None:
    """Note the counts of headers, and add the mapping to ``found`` if it is a value.

    Raises:
        FrameError: a length is missing, or no number.
    """
    for header, count in part.counts or ():
        length = headers.get(header.lower(), "")
        if not decimal(length):
            raise FrameError(f"no number as {header} among the headers")
        counts[count] = int(length)
    counts[HEADERS] = headers
    if part.counts is None:
        hidden = (LENGTH, CODING) if part.content else ()
        found.append({name: value for name, value in headers.items() if name not in hidden})


def read_content(
    take_line: Callable[[], _Step], take_bytes: Callable[[int], _Step], headers: Mapping[str, str]
) -> _Step:
    """Return the content that these headers announce.

    Raises:
        FrameError: they contradict each other, have another coding, or a chunk is none.
    """
    length, coding = headers.get(LENGTH), headers.get(CODING)
    if coding is None:
        if length is None:
            return b""
        if not decimal(length):
            raise FrameError("content-length is no number")
        return (yield from take_bytes(int(length)))
    if length is not None or coding.lower() != "chunked":
        raise FrameError(f"where the content ends is not known: transfer-encoding {coding}, content-length {length}")
    chunks = []
    while True:
        digits = (yield from take_line()).partition(b";")[0].strip(b" \t")
        if not _hexadecimal(digits):
            raise FrameError(f"the size of a chunk is wanted, not {digits[:40]!r}")
        size = int(digits, 16)
        if not size:
            break
        chunks.append((yield from take_bytes(size)))
        if (yield from take_line()):
            raise FrameError("a chunk is longer than its size says")
    while (yield from take_line()):
        pass  # what stands behind the last chunk says nothing of ours
    return b"".join(chunks)


def written_headers(part: FrameHeaders, counts: Mapping[str, Any], charset: str, end: bytes) -> Iterator[bytes]:
    """Yield the headers and the empty line behind them; ``counts`` has those given, the counts, and the length."""
    for header, count in part.counts or ():
        yield f"{header}: {counts[count]}".encode() + end
    for name, value in counts[HEADERS].items() if part.counts is None else ():
        yield name.encode() + b": " + encoded(value, charset) + end
    if part.content:
        yield f"Content-Length: {counts[LENGTH]}".encode() + end
    yield end


def checked_headers(part: FrameHeaders, given: Any, charset: str) -> Mapping[str, str]:
    """Return headers that can be written.

    Raises:
        Mismatch: a name or a text that no header has, a name twice, or a length that the content itself says.
    """
    if not isinstance(given, Mapping):
        raise Mismatch((), "a mapping for headers", shown(given))
    names = {name.lower() for name in given}
    if len(names) < len(given) or (part.content and names & {LENGTH, CODING}):
        raise Mismatch((), "headers once each, without what says where the content ends", shown(given))
    for name, value in given.items():
        raw = encoded(value, charset)
        if not name.isascii() or not _name(name.encode()) or _control(raw) or raw != raw.strip(b" \t"):
            raise Mismatch((name,), "a header in one line without blanks around it", shown(value))
    return given
