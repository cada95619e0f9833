"""What a document says of the framings of a wire, of early messages and of the limits, in words."""

from __future__ import annotations

from typing import Final

from machines.model import Wire

FRAMINGS: Final = {
    "json": "JSON values, back to back or with blanks between them, each written with a line feed behind it, in UTF-8",
    "lines": "one JSON value a line, in UTF-8",
    "text": "lines of plain text, in UTF-8",
    "length": "a JSON value in UTF-8 behind four bytes, big-endian, that say how many bytes it has",
}
TEXT_OF_BYTES: Final = "lines of plain text, a character for each byte (Latin-1)"
EARLY: Final = {
    "keep": "A message that comes before anybody waits for it is kept and heard when it is waited for.",
    "fault": "A message that nobody asked for counts as wrong of who sent it.",
    "ignore": "A message that nobody asked for is passed over.",
}
# Every limit of `machines.model.Wire`: what it bounds, and what happens past it (specs/README.md, wire).
LIMITS: Final = {
    "message_bytes_max": ("bytes of one message", "malformed, and nothing further of that peer is heard"),
    "depth_max": ("lists and mappings within each other", "malformed"),
    "digits_max": ("digits of the whole part of a number", "malformed"),
    "inbox_messages_max": ("messages of one peer that wait to be heard", "that peer is not read until some were heard"),
    "inbox_bytes_max": ("bytes of those", "that peer is not read until some were heard"),
    "connections_max": ("connections open at once, seated or not", "a further one waits until there is room"),
    "started_max": ("machines started and not ended, in one session", "one more never begins, and `ended` says limit"),
    "parts_max": ("parts of a message that is made of parts", "malformed"),
    "kept_bytes_max": ("bytes of the values that one session keeps", "whoever made it grow is refused: `limit`"),
    "work_max": ("elements of lists and texts that one event goes through", "the machine fails"),
}  # fmt: skip


def framing_words(wire: Wire) -> str:
    """Return in words how messages stand on a wire."""
    return TEXT_OF_BYTES if wire.charset == "latin-1" else FRAMINGS[wire.framing]
