"""The reader's part for ``frames``: messages that are not lines.

frames:
  client:                      a role: all it sends; or the name of a message
    - line: "*${count}"
    - repeat: count
      of: [{line: "$$${size}"}, {bytes: size}, {line: ""}]
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from machines.model import (
    CompositeFrame,
    FrameBytes,
    FrameLine,
    FramePart,
    FrameRepeat,
    FrameUntil,
    Message,
    Wire,
)
from machines.parser.charset import beyond
from machines.parser.context import NAME, ParseContext, inside, shown
from machines.parser.yaml_nodes import MapNode, Node, ScalarNode

PARTS = ("line", "bytes", "until", "repeat", "of")
NESTED_MAX = 8  # repetitions within each other
_PIECE = re.compile(r"\$\$|\$\{\s*([^${}]*?)\s*\}|[^$]+|\$")


def read_frames(
    reading: ParseContext, node: Node | None, messages: Mapping[str, Message], wire: Wire
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
                (by_role if key.text in reading.machines else found)[name] = frame
    return {**by_role, **found}  # a message's own comes before that of its sender


def _check_charset(reading: ParseContext, part: FramePart, wire: Wire) -> None:
    match part:
        case FrameLine(pattern) if pattern is not None:
            missing = beyond("".join(pattern[::2]), wire)
        case FrameUntil(mark):
            missing = beyond(mark, wire)
        case FrameRepeat(_, parts):
            missing = ""
            for inner in parts:
                _check_charset(reading, inner, wire)
        case _:
            missing = ""
    if missing:
        text = f"{wire.charset} has no {shown(missing)}, so the frame can not be written"
        reading.fault(part.place, "A137", text, "write wire: {charset: utf-8}")


def _parts(reading: ParseContext, node: Node, depth: int) -> CompositeFrame:
    parts: list[FramePart] = []
    counts: dict[str, bool] = {}  # of this level: whether something has used it
    if depth > NESTED_MAX:
        reading.fault(node.place, "A137", f"repetitions nested deeper than {NESTED_MAX}", "make a flatter frame")
        return ()
    items = reading.items(node, "a frame", "like [{line: '$${size}'}, {bytes: size}]")
    for item in items:
        part = _part(reading, item, counts, depth)
        if part is not None:
            parts.append(part)
    for name, used in counts.items():
        if not used:
            text = f"nothing behind the line counts {name!r}, so it could not be written"
            reading.fault(node.place, "A137", text, f"add 'bytes: {name}' or 'repeat: {name}', or leave it out")
    says = [part for part in parts if not (isinstance(part, FrameLine) and part.pattern is not None)]
    if items and len(parts) == len(items) and not says:
        reading.fault(node.place, "A137", "a frame with nothing in it: only lines that count", "add a part")
    return tuple(parts)


def _part(reading: ParseContext, node: Node, counts: dict[str, bool], depth: int) -> FramePart | None:
    if isinstance(node, ScalarNode) and node.text == "line":
        return FrameLine(None, node.place)
    body = reading.mapping(node, "a part of a frame", "line, or like {bytes: size}")
    keys = reading.known_keys(body, PARTS, "a part of a frame")
    if not isinstance(node, MapNode):
        return None
    kinds = [key for key in keys if key not in ("of", "")]
    if len(kinds) != 1 or ("of" in keys) is not ("repeat" in keys):
        if "" not in keys:
            text = "a part of a frame is one of: line, bytes, until, repeat with of"
            reading.fault(node.place, "A137", text, "begin a new part with '- '")
        return None
    kind = kinds[0]
    written = body.get(kind)
    assert written is not None, "the key is there"
    if kind == "line":
        pattern = _pattern(reading, written, counts)
        return FrameLine(pattern, node.place) if pattern is not None else None
    value = reading.text(written, f"the value of '{kind}'")
    if value is None:
        return None
    if kind == "until":
        return FrameUntil(value, node.place)
    count = _count(reading, written, value, counts)
    if count is None:
        return None
    if kind == "bytes":
        return FrameBytes(count, node.place)
    inner = body.get("of")
    assert inner is not None, "it stands beside 'repeat'"
    parts = _parts(reading, inner, depth + 1)
    return FrameRepeat(count, parts, node.place) if parts else None


def _count(reading: ParseContext, node: Node, text: str, counts: dict[str, bool]) -> int | str | None:
    if text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    if text in counts:
        counts[text] = True
        return text
    hint = f"a line before it, like line: '${{{text}}}'" if NAME.fullmatch(text) else "a number, or a name"
    reading.fault(inside(node), "A137", f"nothing counts {shown(text)} before this", hint)
    return None


def _pattern(reading: ParseContext, node: Node, counts: dict[str, bool]) -> tuple[str, ...] | None:
    """Return literals and names of counts in turn, a literal first and last."""
    if not isinstance(node, ScalarNode):
        reading.text(node, "the line")
        return None
    pieces = [""]
    for found in _PIECE.finditer(node.text):
        place = inside(node).right(found.start())
        piece, name = found[0], found[1]
        if name is not None:
            if not NAME.fullmatch(name) or name in counts:
                reading.fault(place, "A137", f"{shown(name)} is no new name for a count", "like ${size}")
                return None
            if len(pieces) > 1 and not pieces[-1]:
                reading.fault(place, "A137", "two counts with nothing between", "put a text between them")
                return None
            counts[name] = False
            pieces += [name, ""]
        elif piece == "$":
            reading.fault(place, "A137", "a dollar alone", "a count is written ${size}, a dollar $$")
            return None
        else:
            pieces[-1] += "$" if piece == "$$" else piece
    return tuple(pieces)
