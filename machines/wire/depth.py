"""How deep JSON brackets are nested, in time linear in the bytes: nothing here goes over them once for each level.

Texts are taken out between their quotes, brackets become +1 and -1, and their running sum is the depth.
"""

from __future__ import annotations

import re
from array import array
from itertools import accumulate
from typing import Final

_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_CLOSERS: Final = {b"["[0]: b"]"[0], b"{"[0]: b"}"[0]}
_BRACKETS: Final = frozenset(b"[]{}")
_QUOTE: Final = b'"'[0]
FLAT_BYTES_MAX: Final = 256
_STEPS: Final = bytes(1 if byte in b"[{" else 255 if byte in b"]}" else 0 for byte in range(256))

_PLAIN: Final = rb"""[^][{}"\\]++|"[^"\\]*+\""""


def _nested(levels: int) -> bytes:
    """Return the pattern of a list or object in which others are nested so deep, itself included."""
    inner = _PLAIN if levels == 1 else _PLAIN + b"|" + _nested(levels - 1)
    return rb"\[(?:%b)*+]|\{(?:%b)*+}" % (inner, inner)


SMALL_DEPTH: Final = 3
# A number ends where something else begins.
_small = re.compile(
    rb"""[ \t\r\n]*+(%b|"[^"\\]*+"|true|false|null|[-0-9][-+.eE0-9]*+(?=[][ \t\r\n{"tfn]))""" % _nested(SMALL_DEPTH)
).match


def take_small(buffer: bytearray, bytes_max: int, depth_max: int) -> bytes:
    """Take the list, object, text, number or word that a buffer begins with, and blanks before it, if it is small.

    It may be SMALL_DEPTH deep, and nothing in it escaped; and so much of the buffer is looked at, at most, because it
    is done wherever a value begins. Of many small values it finds the ends in a quarter of the time.
    """
    found = _small(buffer, 0, min(FLAT_BYTES_MAX, bytes_max)) if depth_max >= SMALL_DEPTH else None
    if found is None:
        return b""
    value: bytes = found[1]  # before what it is read from changes
    del buffer[: found.end()]
    return value


def outside_texts(raw: bytes) -> bytes:
    """Return what stands outside the texts of JSON."""
    if b"\\" in raw:
        raw = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(raw.split(b'"')[::2]) if b'"' in raw else raw


def is_deeper(raw: bytes, depth_max: int) -> bool:
    """Say whether the brackets of a JSON text, those within its texts left out, are nested deeper than that."""
    raw = outside_texts(raw)
    return max(accumulate(array("b", raw.translate(_STEPS, _NO_BRACKETS))), default=0) > depth_max


def without_escapes(piece: bytes) -> bytes:
    """Return a piece of JSON as long as it was, but nothing in it is escaped: a quote in it begins or ends a text.

    A last backslash whose meaning hangs on the next byte is left out.
    """
    if b"\\" not in piece:
        return piece
    piece = piece.replace(b"\\\\", b"..").replace(b'\\"', b"..")
    return piece.removesuffix(b"\\")


def brackets_of(piece: bytes, in_text: bool) -> tuple[bytes, bool]:
    """Return the brackets of a piece of JSON without escapes, and if a text goes on behind it."""
    between = piece.split(b'"')
    outside = b"".join(between[1 if in_text else 0 :: 2])
    return outside.translate(None, _NO_BRACKETS), in_text == (len(between) % 2 == 1)


def depths(brackets: bytes, depth: int) -> list[int]:
    """Return the depth before brackets and behind each."""
    return list(accumulate(array("b", brackets.translate(_STEPS)), initial=depth))


def still_wanted(brackets: bytes, wanted: bytes, depth: int) -> bytes | None:
    """Follow brackets that leave something open; ``wanted`` are those that close what is open, outermost first.

    Return what is wanted behind them, ``depth`` of them. None if one closes what another opened.
    """
    kinds = bytes(set(brackets + wanted))
    if len(kinds) < 3 and (b"[" in kinds or b"]" in kinds) is not (b"{" in kinds or b"}" in kinds):
        return (wanted[:1] or (b"]" if b"[" in kinds else b"}")) * depth  # of one kind, nothing can be mixed up
    while True:  # what is closed at once is the most of all, mostly
        left = brackets.replace(b"[]", b"").replace(b"{}", b"")
        brackets, before = left, brackets
        if not left or 4 * len(left) > 3 * len(before):
            break
    still = bytearray(wanted)
    push, pop, closer = still.append, still.pop, _CLOSERS.get
    for bracket in brackets:
        closes = closer(bracket)
        if closes is not None:
            push(closes)
        elif pop() != bracket:
            return None
    return bytes(still)


def first_end(piece: bytes, in_text: bool, wanted: bytes) -> tuple[int, int] | None:
    """Return how many bytes, and brackets, of a piece end with the first that closes all, or what another opened."""
    still = list(wanted)
    count = 0
    for at, byte in enumerate(piece):
        if byte == _QUOTE:
            in_text = not in_text
        elif in_text or byte not in _BRACKETS:
            continue
        else:
            count += 1
            if byte in _CLOSERS:
                still.append(_CLOSERS[byte])
            elif still.pop() != byte or not still:
                return at + 1, count
    return None
