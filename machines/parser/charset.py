"""What a spec writes must be characters of its ``charset``: those of latin-1 are U+0000 to U+00FF, a byte each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from machines.model import Body, BodyList, BodyMap, Field, LiteralBody, Message, Text, Wire
from machines.parser.context import ParseContext, shown


def beyond(text: str, wire: Wire) -> str:
    """Return the first character of a text that the wire's charset has not, empty if it has all.

    >>> beyond("naïve → ok", Wire(framing="text", charset="latin-1"))
    '→'
    """
    return "" if wire.charset == "utf-8" else next((one for one in text if ord(one) > 0xFF), "")


def check_charset(reading: ParseContext, wire: Wire, messages: Mapping[str, Message]) -> None:
    """A130: a message has a fixed text with a character that the charset has not."""
    for message in messages.values() if wire.charset != "utf-8" else ():
        missing = next(filter(None, (beyond(text, wire) for text in _literals(message.body))), "")
        if missing:
            said = f"{message.name} can not be written: {wire.charset} has no {shown(missing)}"
            reading.fault(message.place, "A130", said, "write wire: {charset: utf-8}, or other words")


def _literals(body: Body) -> Iterator[str]:
    match body:
        case LiteralBody(str() as value):
            yield value
        case Text(parts):
            yield from (part for part in parts if isinstance(part, str))
        case BodyList(items):
            for item in items:
                yield from _literals(item)
        case BodyMap(pairs):
            for _, item in pairs:
                yield from _literals(item)
        case Field() | LiteralBody():
            pass
