"""A tree of nodes as YAML again, each line with the place it comes from; read again, it is the same spec.

What stands in one line of its file, and is a list or mapping of words, stays in one line; all else is in block style.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from machines.problems import Place
from machines.yaml.nodes import ListNode, MapNode, Node, ScalarNode

WIDTH_MAX = 96  # of what stays in one line, without its indent and its place
COMMENT_COLUMN_MAX = 100  # places stand in one column, unless a line is longer

# A plain scalar means the same within braces only without these; between block lines it means what it meant before.
_FLOW = re.compile(r"[,\[\]{}?#]|^[-&*!|>%@`\"']|: |:$|^$")
# An expression may be more than YAML has for a plain scalar; in quotes it is the same expression.
_NO_SCALAR = re.compile(r"^[\[\]{},'\"]|: |:$| #")
# A field with a mapping for its type: it may not stand in quotes, so it is written as it is.
_TYPED = re.compile(r"\$\w+\s*\{")
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def written(node: Node) -> str:
    """Return the YAML of a spec's tree, with ``# FILE:LINE`` behind every line."""
    lines = list(_lines(node, 0))
    column = min(max((len(text) for text, _ in lines), default=0), COMMENT_COLUMN_MAX)
    return "".join(f"{text.ljust(column)}  # {_origin(place)}\n" for text, place in lines)


def _origin(place: Place) -> str:
    return _BREAKS.sub("?", f"{place.file}:{place.line}")


def _lines(node: Node, indent: int, first: str | None = None) -> Iterator[tuple[str, Place]]:
    """Yield the lines of a node; ``first`` begins the first of them, the indent's blanks the others."""
    margin = " " * indent if first is None else first
    short = _in_one_line(node)
    if short is not None:
        yield f"{margin}{short}".rstrip(), node.place
        return
    match node:
        case MapNode(pairs):
            for key, value in pairs:
                yield from _pair(margin, indent, key, value)
                margin = " " * indent
        case ListNode(items):
            for item in items:
                yield from _lines(item, indent + 2, f"{margin}- ")
                margin = " " * indent


def _pair(margin: str, indent: int, key: ScalarNode, value: Node) -> Iterator[tuple[str, Place]]:
    short = _in_one_line(value)
    if short is not None:
        # The line is from where the value is: what a variant changes is the value, the key may stand below too.
        yield f"{margin}{_scalar(key)}: {short}".rstrip(), value.place
        return
    yield f"{margin}{_scalar(key)}:", key.place
    yield from _lines(value, indent + 2)


def _in_one_line(node: Node) -> str | None:
    """Return a node as one line, None if it has to be in block style."""
    if isinstance(node, ScalarNode):
        return _scalar(node)
    if not (node.pairs if isinstance(node, MapNode) else node.items):
        return "{}" if isinstance(node, MapNode) else "[]"
    if not all((place.file, place.line) == (node.place.file, node.place.line) for place in _places(node)):
        return None
    text = _flow(node)
    return text if text is not None and len(text) <= WIDTH_MAX else None


def _places(node: Node) -> Iterator[Place]:
    yield node.place
    match node:
        case MapNode(pairs):
            for key, value in pairs:
                yield key.place
                yield from _places(value)
        case ListNode(items):
            for item in items:
                yield from _places(item)


def _flow(node: Node) -> str | None:
    match node:
        case ScalarNode():
            return None if node.plain and _FLOW.search(node.text) else _scalar(node)
        case ListNode(items):
            parts = [_flow(item) for item in items]
            return None if None in parts else f"[{', '.join(part for part in parts if part is not None)}]"
        case MapNode(pairs):
            keys = [_flow(key) for key, _ in pairs]
            values = [_flow(value) for _, value in pairs]
            if None in keys or None in values:
                return None
            return f"{{{', '.join(f'{key}: {value}' for key, value in zip(keys, values, strict=True))}}}"


def _scalar(node: ScalarNode) -> str:
    if node.plain and not _BREAKS.search(node.text) and (_TYPED.match(node.text) or not _NO_SCALAR.search(node.text)):
        return node.text
    if "'" not in node.text and not _BREAKS.search(node.text):
        return f"'{node.text}'"
    escaped = node.text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + _BREAKS.sub(lambda found: "\\u%04x" % ord(found[0]), escaped) + '"'  # noqa: UP031 (a backslash)
