"""Texts to bytes, in the characters of a wire."""

from __future__ import annotations

from typing import Any, Final

from machines.messages.shapes import Mismatch, shown

_WANTED: Final = {
    "utf-8": "a text without lone surrogates",
    "latin-1": "a text of characters up to U+00FF (charset: latin-1)",
}


def encoded(value: Any, charset: str) -> bytes:
    r"""Return the bytes of a text. ``charset`` is one of `Wire`.

    Raises:
        Mismatch: it is no text, or has a character that the charset has not.

    >>> encoded("é", "latin-1"), encoded("é", "utf-8")
    (b'\xe9', b'\xc3\xa9')
    """
    if not isinstance(value, str):
        raise Mismatch((), "a text for a frame", shown(value))
    try:
        return value.encode(charset)
    except UnicodeEncodeError:
        raise Mismatch((), _WANTED[charset], shown(value)) from None
