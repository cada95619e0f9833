"""`before` and `around`: states and machines of a variant that are put between those of the spec below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from machines.parser.context import shown
from machines.parser.node_edits import GONE, at_most, each_changed, pairs_of, value_of
from machines.parser.rewriting import machine_name, ways_to_machine, ways_to_state
from machines.problems import Problems
from machines.yaml.nodes import MapNode, Node, ScalarNode

BEFORE, AROUND = "before", "around"  # a key of a new state, and of a new machine
INSERTIONS_MAX = 40  # in one file; each writes a machine, or all of a role, anew
NO_STATES = ("always", "early", "live")


def inserted(base: MapNode, child: MapNode, problems: Problems) -> tuple[MapNode, MapNode]:
    """Return both without ``before`` and ``around``: the ways of the base lead to the child's new states already."""
    roles = child.get("roles")
    if not isinstance(roles, MapNode):
        return base, child
    found = [
        node.get(word)
        for _, listed in roles.pairs
        for _, body in pairs_of(listed)
        for node, word in ((body, AROUND), *((state, BEFORE) for _, state in pairs_of(body)))
        if isinstance(node, MapNode)
    ]
    places = [node for node in found if node is not None]
    if len(at_most(places, INSERTIONS_MAX, "states and machines put before or around others", problems)) < len(places):
        return base, without_places(child)
    for role, listed in roles.pairs:
        for key, body in pairs_of(listed):
            around = value_of(body, AROUND)
            if isinstance(around, ScalarNode):  # else a state that is called so
                base = _wrapped(base, role.text, key, around, problems)
            below = _machine(base, role.text, machine_name(key.text))
            for state, keys in pairs_of(body):
                before = keys.get(BEFORE) if isinstance(keys, MapNode) else None
                if before is not None:
                    base = _before(base, below, role.text, machine_name(key.text), state, before, problems)
                    below = _machine(base, role.text, machine_name(key.text))
    return base, without_places(child)


def _machine(base: MapNode, role: str, name: str) -> MapNode | None:
    machines = next((listed for key, listed in pairs_of(base.get("roles")) if key.text == role), None)
    return next(
        (body for key, body in pairs_of(machines) if machine_name(key.text) == name and isinstance(body, MapNode)), None
    )


def _wrapped(base: MapNode, role: str, key: ScalarNode, around: Node, problems: Problems) -> MapNode:
    name = around.text.strip() if isinstance(around, ScalarNode) else ""
    machines = {machine_name(other.text) for other in _keys_of(base, role)} - {"early"}
    text = ""
    if not name:
        text, hint = "'around' names the machine that this one is put around", "like around: turn"
    elif name not in machines:
        text = f"{role} has no machine {shown(name)} to be around"
        hint = problems.near("A140", name, machines) or f"there are: {', '.join(sorted(machines))}"
    elif name == "main":
        text, hint = "nobody calls main, so nothing can be around it", "give it another first state, with 'before'"
    elif machine_name(key.text) in machines:
        text = f"{machine_name(key.text)} is in the spec below already"
        hint = "'around' is for a new machine: take another name"
    if text:
        problems.add(around.place, "A140", text, hint)
        return base
    return _in_role(base, role, lambda body: ways_to_machine(body, name, machine_name(key.text)))


def _keys_of(base: MapNode, role: str) -> Iterator[ScalarNode]:
    for key, listed in pairs_of(base.get("roles")):
        if key.text == role:
            yield from (machine for machine, _ in pairs_of(listed))


def _before(
    base: MapNode,
    below: MapNode | None,
    role: str,
    machine: str,
    state: ScalarNode,
    before: Node,
    problems: Problems,
) -> MapNode:
    name = before.text.strip() if isinstance(before, ScalarNode) else ""
    states = {key.text: value for key, value in pairs_of(below) if key.text not in NO_STATES}
    known = [key for key, value in states.items() if value is not GONE]
    text = ""
    if not name:
        text, hint = "'before' names the state that this one comes before", "like before: judged"
    elif below is None:
        text, hint = f"{machine} is a new machine: no state is below it", "leave 'before' out"
    elif name not in known:
        text = f"{machine} of {role} has no state {shown(name)} to come before"
        hint = problems.near("A140", name, known) or f"there are: {', '.join(known)}"
    elif state.text in states:
        text = f"{state.text} is in the spec below already, or stands before another state"
        hint = "'before' is for a new state: take another name"
    elif any(value is GONE for value in _before_it(below, name)):
        text = f"two states come before {name}"
        hint = "write 'before' in one, and lead from it to the other with 'then'"
    if text:
        problems.add(before.place, "A140", text, hint)
        return base

    def inserted(body: MapNode) -> MapNode:
        pairs: list[tuple[ScalarNode, Node]] = []
        for key, value in ways_to_state(body, name, state.text).pairs:
            if key.text == name:
                pairs.append((state, GONE))
            pairs.append((key, value))
        return MapNode(tuple(pairs), body.place)

    return _in_role(base, role, inserted, machine)


def _before_it(below: MapNode, name: str) -> Iterator[Node]:
    """Yield what stands right before a state: gone, if another new state is to come there."""
    for (_, value), (key, _) in zip(below.pairs, below.pairs[1:], strict=False):
        if key.text == name:
            yield value


def _in_role(base: MapNode, role: str, change: Callable[[MapNode], MapNode], machine: str | None = None) -> MapNode:
    """Return the base with one machine of a role changed, or all of them."""

    def machines(listed: Node) -> Node:
        return each_changed(
            listed,
            lambda key, body: (
                change(body) if isinstance(body, MapNode) and machine in (None, machine_name(key.text)) else body
            ),
        )

    def roles(listed: Node) -> Node:
        return each_changed(listed, lambda key, body: machines(body) if key.text == role else body)

    changed = each_changed(base, lambda key, value: roles(value) if key.text == "roles" else value)
    assert isinstance(changed, MapNode), "it was one"
    return changed


def without_places(child: MapNode) -> MapNode:
    """Return the child without the two keys that say where its new states and machines belong."""

    def without(node: Node, key: str) -> Node:
        return (
            MapNode(tuple(p for p in node.pairs if p[0].text != key), node.place) if isinstance(node, MapNode) else node
        )

    def machine(key: ScalarNode, body: Node) -> Node:
        put_around = isinstance(value_of(body, AROUND), ScalarNode)  # else a state that is called so
        return each_changed(
            without(body, AROUND) if put_around else body,
            lambda name, state: state if name.text in NO_STATES else without(state, BEFORE),
        )

    def spec(key: ScalarNode, value: Node) -> Node:
        return each_changed(value, lambda _, listed: each_changed(listed, machine)) if key.text == "roles" else value

    changed = each_changed(child, spec)
    assert isinstance(changed, MapNode), "it was one"
    return changed
