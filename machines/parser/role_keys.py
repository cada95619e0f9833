"""Keys under ``roles``, made plain before anything is read: machines that several roles have, and paths.

host, spare: {turn(player): …}   host: {turn(player): …}, spare: {turn(player): …}
host.turn(player): …             host: {turn(player): …}
host.turn.asked: …               host: {turn: {asked: …}}, as a variant has it
"""

from __future__ import annotations

import re

from machines.parser.answer_keys import names_of
from machines.parser.context import inside
from machines.problems import Problems
from machines.yaml.nodes import MapNode, Node, ScalarNode

_SEGMENT = re.compile(r"[^.(]*(\([^()]*\))?")


def with_plain_roles(spec: Node, problems: Problems) -> Node:
    """Return the tree of one file in which each role has its own machines and those it shares, in the order written.

    What two keys say differently is a problem A102.
    """
    roles = spec.get("roles") if isinstance(spec, MapNode) else None
    if not isinstance(spec, MapNode) or not isinstance(roles, MapNode):
        return spec
    if not any("," in key.text or "." in key.text for key, _ in roles.pairs):
        return spec
    found: dict[str, tuple[ScalarNode, Node]] = {}
    for key, value in roles.pairs:
        first, *others = _segments(key)
        for segment in reversed(others):
            value = MapNode(((segment, value),), segment.place)
        for name in names_of(first):
            before = found.get(name.text)
            found[name.text] = (
                (name, value) if before is None else (before[0], _joined(before[1], value, name, problems))
            )
    whole = MapNode(tuple(found.values()), roles.place)
    return MapNode(tuple((key, whole if key.text == "roles" else value) for key, value in spec.pairs), spec.place)


def _segments(key: ScalarNode) -> list[ScalarNode]:
    """Return the names of a path; what stands in round brackets is one with the name before it."""
    found: list[ScalarNode] = []
    at = 0
    while at <= len(key.text):
        match = _SEGMENT.match(key.text, at)
        assert match is not None, "it may be empty"
        end = match.end() if match.end() == len(key.text) or key.text[match.end()] == "." else len(key.text)
        found.append(ScalarNode(key.text[at:end], True, inside(key).right(at)) if at else _part(key, end))
        at = end + 1
    return found


def _part(key: ScalarNode, end: int) -> ScalarNode:
    return key if end == len(key.text) else ScalarNode(key.text[:end], True, inside(key))


def _joined(before: Node, value: Node, key: ScalarNode, problems: Problems) -> Node:
    """Return what two keys say together: a mapping has the keys of both."""
    if not isinstance(before, MapNode) or not isinstance(value, MapNode):
        text = f"the key {key.text!r} stands twice, and one of them has no keys to add to the other"
        problems.add(key.place, "A102", text, f"it first stands in line {before.place.line}")
        return before
    found = {name.text: (name, node) for name, node in before.pairs}
    for name, node in value.pairs:
        other = found.get(name.text)
        found[name.text] = (name, node) if other is None else (other[0], _joined(other[1], node, name, problems))
    return MapNode(tuple(found.values()), before.place)
