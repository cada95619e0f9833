"""The reader's part for ``frames``: messages that are not lines.

frames:
  client:                      a role: all it sends; or the name of a message
    - line: "*${count}"
    - repeat: count
      of: [{line: "$$${size}"}, {bytes: size}, {line: ""}]

How a line is written is in `machines.parser.frame_lines`, which field its names are in `machines.parser.frame_values`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from machines.frame_parts import Count, FrameBits, FrameContent, FrameHeaders, FrameJson, FrameNumber, Rest
from machines.model import (
    CompositeFrame,
    FrameBytes,
    FrameLine,
    FramePart,
    FrameRepeat,
    FrameSize,
    FrameUntil,
    Message,
    TypeDeclaration,
    Wire,
)
from machines.parser.byte_parts import number_kind, read_bits, read_byte, read_number
from machines.parser.charset import beyond
from machines.parser.context import NAME, ParseContext, inside, shown
from machines.parser.frame_lines import read_line
from machines.parser.frame_values import with_types
from machines.parser.header_parts import read_content, read_counted_headers, with_content
from machines.problems import Place
from machines.yaml.nodes import MapNode, Node, ScalarNode

PARTS = (
    "line",
    "case",
    "bytes",
    "until",
    "repeat",
    "of",
    "byte",
    "number",
    "as",
    "bits",
    "size",
    "json",
    "headers",
    "content",
)
BESIDE = {"of": ("repeat", "size"), "case": ("line",), "as": ("number",)}  # what goes with another key only
NESTED_MAX = 8  # repetitions and sizes within each other
_ALONE: dict[str, Callable[[Place], FramePart]] = {  # parts that are one word
    "line": lambda place: FrameLine(None, place),
    "headers": lambda place: FrameHeaders(None, place),
    "content": lambda place: FrameContent(False, place),
}
REST_HINT = "it goes within the 'of' of a size: {size: u16, of: [{bytes: rest}]}"


def read_frames(
    reading: ParseContext,
    node: Node | None,
    messages: Mapping[str, Message],
    types: Mapping[str, TypeDeclaration],
    wire: Wire,
) -> dict[str, CompositeFrame]:
    """Return the frames by message. ``wire`` says how what has none is cut, and in which characters."""
    if node is None:
        return {}
    found: dict[str, CompositeFrame] = {}
    body = reading.mapping(node, "'frames'", "like frames: {CONTENT: [{until: '.'}]}")
    if wire.framing != "text":
        hint = "write wire: {framing: text}"
        reading.fault(node.place, "A137", f"'frames' stands beside 'framing: text' only, not {wire.framing}", hint)
    by_role: dict[str, CompositeFrame] = {}
    for key, value in body.pairs:
        frame = _parts(reading, value, 0)
        for part in frame if wire.charset != "utf-8" else ():
            _check_charset(reading, part, wire)
        names = [key.text] if key.text in reading.messages else []
        if key.text in reading.machines:
            names = [name for name, message in messages.items() if key.text in message.senders]
        elif not names:
            known = (*reading.messages, *reading.machines)
            reading.unknown(inside(key), "A105", "message or role", key.text, known)
        for name in names:
            if name in messages and messages[name].urgent:
                text = f"{name} has a frame, so it can not be urgent: it is cut only when somebody hears its sender"
                reading.fault(key.place, "A137", text, "leave it out of 'urgent'")
            if frame:
                typed = with_types(reading, frame, messages[name], types) if name in messages else frame
                (by_role if key.text in reading.machines else found)[name] = typed
    return {**by_role, **found}  # a message's own comes before that of its sender


def _check_charset(reading: ParseContext, part: FramePart, wire: Wire) -> None:
    match part:
        case FrameLine(pattern) if pattern is not None:
            missing = beyond("".join(pattern[::2]), wire)
        case FrameUntil(mark):
            missing = beyond(mark, wire)
        case FrameRepeat(_, parts) | FrameSize(_, parts):
            missing = ""
            for inner in parts:
                _check_charset(reading, inner, wire)
        case _:
            missing = ""
    if missing:
        text = f"{wire.charset} has no {shown(missing)}, so the frame can not be written"
        reading.fault(part.place, "A137", text, "write wire: {charset: utf-8}")


def _parts(
    reading: ParseContext, node: Node, depth: int, outer: dict[str, bool] | None = None, *, sized: bool = False
) -> CompositeFrame:
    """Return the parts of a frame; ``outer`` are counts before a size around them, ``sized`` says that there is one."""
    parts: list[FramePart] = []
    counts = dict.fromkeys(outer or (), False)  # of this level: whether something has used it
    if depth > NESTED_MAX:
        text = f"repetitions and sizes nested deeper than {NESTED_MAX}"
        reading.fault(node.place, "A137", text, "make a flatter frame")
        return ()
    items = reading.items(node, "a frame", "like [{line: '$${size}'}, {bytes: size}]")
    for item in items:
        part = _part(reading, item, counts, depth, sized=sized)
        if part is not None:
            parts.append(part)
    parts = with_content(reading, parts, counts)
    for part in parts[:-1]:
        if isinstance(part, FrameBytes | FrameJson | FrameRepeat) and isinstance(_size(part), Rest):
            reading.fault(part.place, "A137", "what stands behind the rest never comes", "the rest is the last part")
    told = tuple(_telling(reading, part, counts) for part in parts)
    empty = all(isinstance(part, FrameLine) and part.pattern is not None and not part.values for part in told)
    if items and len(parts) == len(items) and empty:
        reading.fault(node.place, "A137", "a frame with nothing in it: only lines that count", "add a part")
    if outer is not None:
        outer.update({name: True for name in outer if counts[name]})
    return told


def _size(part: FrameBytes | FrameJson | FrameRepeat) -> Count:
    return part.count if isinstance(part, FrameRepeat) else part.size


def _telling(reading: ParseContext, part: FramePart, counts: Mapping[str, bool]) -> FramePart:
    """Return a part with its names that count nothing as values."""
    if isinstance(part, FrameNumber) and part.name:
        if counts[part.name] and part.kind.signed:
            reading.fault(part.place, "A137", f"{part.name!r} counts, and may be below zero", "like number: u16")
        return part if counts[part.name] else replace(part, name="")
    if isinstance(part, FrameBits):
        return replace(part, values=tuple(bit.name for bit in part.bits if bit.name and not counts[bit.name]))
    if not isinstance(part, FrameLine):
        return part
    names = (part.pattern or ())[1::2]
    for name in names:
        if counts[name] and any(name not in way[1::2] for way in part.shorter):
            text = f"{name!r} counts what stands behind the line, so it can not be missing"
            reading.fault(part.place, "A137", text, "write it outside the brackets")
        if not counts[name] and name in part.hexadecimal:
            text = f"nothing behind the line counts {name!r}, and only a count is hexadecimal"
            reading.fault(part.place, "A137", text, f"add 'bytes: {name}' or 'repeat: {name}', or write ${{{name}}}")
    return replace(part, values=tuple((name, None) for name in names if not counts[name]))


def _part(reading: ParseContext, node: Node, counts: dict[str, bool], depth: int, *, sized: bool) -> FramePart | None:
    if isinstance(node, ScalarNode) and node.text in ("line", "headers", "content"):
        return _ALONE[node.text](node.place)
    body = reading.mapping(node, "a part of a frame", "line, or like {bytes: size}")
    keys = reading.known_keys(body, PARTS, "a part of a frame")
    if not isinstance(node, MapNode):
        return None
    kinds = [key for key in keys if key not in BESIDE and key != ""]
    astray = [key for key in BESIDE if key in keys and not set(BESIDE[key]) & set(keys)]
    if len(kinds) != 1 or astray or (set(BESIDE["of"]) & set(keys) and "of" not in keys):
        if "" not in keys:
            text = "a part of a frame is one of: line, bytes, until, json, headers, content, byte, number, bits, "
            text += "repeat or size with of"
            reading.fault(node.place, "A137", text, "begin a new part with '- '")
        return None
    kind = kinds[0]
    written = body.get(kind)
    assert written is not None, "the key is there"
    if kind == "line":
        return read_line(reading, written, counts, body.get("case"))
    if kind == "byte":
        return read_byte(reading, written)
    if kind == "number":
        return read_number(reading, written, body.get("as"), counts)
    if kind == "bits":
        return read_bits(reading, written, counts)
    if kind == "headers":
        return read_counted_headers(reading, written, counts)
    if kind == "content":
        return read_content(reading, written)
    value = reading.text(written, f"the value of '{kind}'")
    if value is None:
        return None
    if kind == "until":
        return FrameUntil(value, node.place)
    count = _count(reading, written, value, counts)
    if count is None:
        return None
    if isinstance(count, Rest) and (kind == "size" or not sized):
        reading.fault(inside(written), "A137", f"nothing says where the rest ends in '{kind}'", REST_HINT)
        return None
    if kind in ("bytes", "json"):
        return (FrameBytes if kind == "bytes" else FrameJson)(count, node.place)
    inner = body.get("of")
    assert inner is not None, "it stands beside 'repeat' and 'size'"
    if kind == "size":
        parts = _parts(reading, inner, depth + 1, counts, sized=True)
        return FrameSize(count, parts, node.place) if parts else None
    parts = _parts(reading, inner, depth + 1)
    return FrameRepeat(count, parts, node.place) if parts else None


def _count(reading: ParseContext, node: Node, text: str, counts: dict[str, bool]) -> Count | None:
    if text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    if text in counts:
        counts[text] = True
        return text
    kind = number_kind(text)
    if text == "rest" or (kind is not None and not kind.signed):
        return kind or Rest.REST
    hint = f"a line before it, like line: '${{{text}}}'" if NAME.fullmatch(text) else "a number, or a name"
    reading.fault(inside(node), "A137", f"nothing counts {shown(text)} before this", hint)
    return None
