"""The reader's part for headers, content and JSON within a frame.

headers        a mapping of all; or as {headers: {Content-Length: size}} counts, the others passed over
content        what they announce, as a text; or {content: json}
json: size     so many bytes that are a JSON value
"""

from __future__ import annotations

import re
from dataclasses import replace

from machines.frame_parts import FrameContent, FrameHeaders
from machines.model import FramePart
from machines.parser.context import NAME, ParseContext, inside, shown
from machines.yaml.nodes import Node

_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def read_counted_headers(reading: ParseContext, node: Node, counts: dict[str, bool]) -> FrameHeaders | None:
    """Return headers that count, their counts added to ``counts``; None with the fault told."""
    found: list[tuple[str, str]] = []
    for key, value in reading.mapping(node, "'headers'", "like {Content-Length: size}").pairs:
        name = reading.text(value, f"the count of {key.text}")
        if name is None:
            return None
        if not _HEADER.fullmatch(key.text) or any(key.text.lower() == header.lower() for header, _ in found):
            reading.fault(key.place, "A137", f"{shown(key.text)} is no new header", "like Content-Length")
            return None
        if not NAME.fullmatch(name) or name in counts:
            reading.fault(inside(value), "A137", f"{shown(name)} is no new name for a count", "like size")
            return None
        found.append((key.text, name))
        counts[name] = False
    return FrameHeaders(tuple(found), node.place) if found else None


def read_content(reading: ParseContext, node: Node) -> FrameContent | None:
    """Return content of another kind than a text; None with the fault told."""
    kind = reading.text(node, "the value of 'content'")
    if kind is not None and kind != "json":
        reading.fault(inside(node), "A137", f"{shown(kind)} is no kind of content", "write content, or content: json")
        return None
    return FrameContent(True, node.place) if kind else None


def with_content(reading: ParseContext, parts: list[FramePart], counts: dict[str, bool]) -> list[FramePart]:
    """Return the parts of a list, headers knowing whether a content stands behind them."""
    found = list(parts)
    last: int | None = None  # the headers whose content is still to come
    for index, part in enumerate(parts):
        if isinstance(part, FrameHeaders):
            last = index
            for header, count in part.counts or ():
                if not counts[count]:
                    text = f"nothing behind the headers counts {count!r}, so {header} could not be written"
                    reading.fault(part.place, "A137", text, f"add 'bytes: {count}' or 'json: {count}'")
        if isinstance(part, FrameContent):
            headers = found[last] if last is not None else None
            if not isinstance(headers, FrameHeaders) or headers.counts is not None:
                text = "nothing before a content says where it ends"
                reading.fault(part.place, "A137", text, "write '- headers' before it")
            elif last is not None:
                found[last] = replace(headers, content=True)
            last = None
    return found
