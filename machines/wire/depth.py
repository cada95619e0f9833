"""How deep JSON brackets are nested, in time linear in the bytes: nothing here goes over them once for each level.

Texts are taken out between their quotes, brackets become +1 and -1, and their running sum is the depth.
"""

from __future__ import annotations

from array import array
from itertools import accumulate
from typing import Final

_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_STEPS: Final = bytes(1 if byte in b"[{" else 255 if byte in b"]}" else 0 for byte in range(256))


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


def depths(piece: bytes, depth: int, in_text: bool) -> tuple[list[int], bool]:
    """Return the depth before a piece of JSON without escapes and behind each byte, and if a text goes on behind it."""
    between = piece.split(b'"')
    for index in range(0 if in_text else 1, len(between), 2):
        between[index] = bytes(len(between[index]))
    steps = array("b", b'"'.join(between).translate(_STEPS))
    return list(accumulate(steps, initial=depth)), in_text == (len(between) % 2 == 1)
