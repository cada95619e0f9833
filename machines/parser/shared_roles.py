"""``host, spare:`` under ``roles``: machines that several roles have, put into each of them before anything is read."""

from __future__ import annotations

from machines.parser.context import inside
from machines.parser.yaml_nodes import MapNode, Node, ScalarNode


def with_shared_machines(spec: Node) -> Node:
    """Return the tree of one file in which each role has its own machines and those it shares, in the order written."""
    roles = spec.get("roles") if isinstance(spec, MapNode) else None
    if not isinstance(spec, MapNode) or not isinstance(roles, MapNode):
        return spec
    if not any("," in key.text for key, _ in roles.pairs):
        return spec
    found: dict[str, tuple[ScalarNode, Node]] = {}
    for key, value in roles.pairs:
        for name in _names(key):
            before = found.get(name.text)
            found[name.text] = (name, value) if before is None else (before[0], _joined(before[1], value))
    whole = MapNode(tuple(found.values()), roles.place)
    return MapNode(tuple((key, whole if key.text == "roles" else value) for key, value in spec.pairs), spec.place)


def _names(key: ScalarNode) -> list[ScalarNode]:
    if "," not in key.text:
        return [key]
    names: list[ScalarNode] = []
    at = 0
    for written in key.text.split(","):
        place = inside(key).right(at + len(written) - len(written.lstrip()))
        names.append(ScalarNode(written.strip(), True, place))
        at += len(written) + 1
    return names


def _joined(before: Node, value: Node) -> Node:
    """Return the machines of two mappings; what is no mapping is left for the reader to tell."""
    if not isinstance(before, MapNode) or not isinstance(value, MapNode):
        return value if isinstance(before, MapNode) else before
    return MapNode((*before.pairs, *value.pairs), before.place)
