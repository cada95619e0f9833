"""The type behind the name of a field, where it is a list or mapping: ``$names [Name, ...]``, ``$at {x: int, y: int}``.

It stands within the text of the field, so it is read as YAML by itself, and its nodes get the places that they have.
"""

from __future__ import annotations

import re
from dataclasses import replace

from machines.problems import Place, Problems
from machines.yaml.nodes import ListNode, MapNode, Node, ScalarNode, parse_yaml

_SIGN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')


def split_default(text: str) -> tuple[str, bool, str]:
    """Return the type, whether a default follows it, and the default: ``[A, ...] = []``, ``{a: int = 1}``."""
    behind = 0
    if text.lstrip()[:1] in ("[", "{"):
        depth = 0
        for found in _SIGN.finditer(text):
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
            if depth == 0:
                behind = found.end()
                break
    further, equals, default = text[behind:].partition("=")
    return text[:behind] + further, bool(equals), default


def bracketed(text: str, place: Place, problems: Problems) -> Node | None:
    """Return the node of a list or mapping that begins at a place; None, with the fault told, if it is none."""
    node = parse_yaml(text, place.file, faults := Problems())
    if faults or node is None or isinstance(node, ScalarNode):
        hint = "like [Name, ...] or {x: int}; between `|` stand names only: declare it under 'types'"
        problems.add(place, "A200", f"{text!r} is no type", hint)
        return None
    return _placed(node, place)


def _placed(node: Node, place: Place) -> Node:
    """Return a node that was read of a text by itself, as it stands at a place."""
    at = Place(place.file, place.line, place.column + node.place.column - 1)
    match node:
        case ScalarNode():
            return replace(node, place=at)
        case ListNode(items):
            return ListNode(tuple(_placed(item, place) for item in items), at)
        case MapNode(pairs):
            keys = ((replace(key, place=place.right(key.place.column - 1)), value) for key, value in pairs)
            return MapNode(tuple((key, _placed(value, place)) for key, value in keys), at)
