r"""Bytes as a line of text and back: what is printable ASCII stands as it is, all else as ``\n``, ``\r``, ``\x00``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from diagrams.documents.model import Dialogue

DIALOGUE: Final = (
    "All that crosses one connection, a message a line, with every byte: what is printable ASCII stands as it is, "
    "all else as in C."
)
_WRITTEN: Final = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_READ: Final = {written: plain for plain, written in _WRITTEN.items()}


def written(data: bytes) -> str:
    r"""Return bytes as a line of text.

    >>> written(b'"ann"\r\n\xff')
    '"ann"\\r\\n\\xff'
    """
    return "".join(
        _WRITTEN.get(one, one if " " <= one <= "~" else f"\\x{ord(one):02x}") for one in data.decode("latin-1")
    )


def _written_out(character: str) -> str:
    plain = character if " " <= character <= "~" else f"\\x{ord(character):02x}"
    return _WRITTEN.get(character, plain)


def read(text: str) -> bytes:
    r"""Return the bytes that a line of text stands for; the reverse of ``written``.

    Raises:
        ValueError: a backslash stands before something else, or a character is neither ASCII nor written out.
    """

    def plain(found: re.Match[str]) -> str:
        if found[0] in _READ:
            return _READ[found[0]]
        if found[1]:
            return chr(int(found[1], 16))
        raise ValueError(f"{found[0]!r} stands for nothing: write \\\\, \\n, \\r, \\t or \\x with two digits")

    if not text.isascii():
        raise ValueError("a character beyond ASCII: write its bytes as \\x with two digits each")
    return re.sub(r"\\(?:x([0-9a-fA-F]{2})|.?)", plain, text).encode("latin-1")


def said_lines(dialogue: Dialogue) -> Iterator[str]:
    """Yield the lines of a dialogue, for people: who speaks, the message, its bytes."""
    roles = max(len(one.role) for one in dialogue.said)
    names = max(len(one.message) for one in dialogue.said)
    for one in dialogue.said:
        yield f"{one.role:<{roles}}  {one.message:<{names}}  {written(one.data)}"
