"""``properties`` of a spec: what shall hold of every run, in terms of where the roles are and which messages cross."""

from __future__ import annotations

import re
from collections.abc import Mapping

from machines.model import Message, Property, Role, StatePredicate
from machines.parser.context import ParseContext, inside, shown
from machines.yaml.nodes import MapNode, Node, ScalarNode

KINDS = {"never": None, "always": "while", "eventually": "after"}  # what may stand beside each
ACTS = ("sends", "reads")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def read_properties(
    reading: ParseContext, node: Node | None, roles: Mapping[str, Role], messages: Mapping[str, Message]
) -> tuple[Property, ...]:
    """Return the properties in file order."""
    if node is None:
        return ()
    found: dict[str, Property] = {}
    for key, value in reading.mapping(node, "'properties'", "properties by name").pairs:
        if not _NAME.fullmatch(key.text):
            hint = "lower-case words with hyphens, like one-winner"
            reading.fault(key.place, "A114", f"{shown(key.text)} is no name for a property", hint)
            continue
        one = _property(reading, key, value, roles, messages)
        if one is not None:
            found[key.text] = one
    return tuple(found.values())


def _property(
    reading: ParseContext, key: ScalarNode, node: Node, roles: Mapping[str, Role], messages: Mapping[str, Message]
) -> Property | None:
    body = reading.mapping(node, f"the property {key.text!r}", "like never: {client: main.playing, server: main.over}")
    keys = reading.known_keys(body, [*KINDS, *[beside for beside in KINDS.values() if beside]], "a property")
    said = [kind for kind in KINDS if kind in keys]
    if len(said) != 1:
        if isinstance(node, MapNode):
            reading.fault(key.place, "A138", "a property says one of never, always, eventually", "and only one")
        return None
    kind = said[0]
    beside = KINDS[kind]
    for other in ("while", "after"):
        if other in keys and other != beside:
            belongs = next(one for one, word in KINDS.items() if word == other)
            reading.fault(
                keys[other], "A122", f"{other!r} has no meaning beside {kind!r}", f"it belongs to {belongs!r}"
            )
            return None
    what = _situation(reading, body.get(kind), roles, messages)
    when_node = body.get(beside) if beside is not None else None
    when = _situation(reading, when_node, roles, messages) if when_node is not None else None
    if what is None or (when_node is not None and when is None):
        return None
    return Property(key.text, kind, what, when, key.place)  # type: ignore[arg-type]  # it is one of KINDS


def _situation(
    reading: ParseContext, node: Node | None, roles: Mapping[str, Role], messages: Mapping[str, Message]
) -> StatePredicate | None:
    assert node is not None, "its key is there"
    body = reading.mapping(node, "a situation", "like {client: main.playing}")
    acts: dict[str, str] = {}
    places: list[tuple[str, str | None, str | None]] = []
    whole = isinstance(node, MapNode)
    for key, value in body.pairs:
        text = reading.text(value, f"what {key.text!r} is about")
        if text is None:
            whole = False
        elif key.text in ACTS and key.text not in roles:
            acts[key.text] = text
            if text not in messages:
                reading.unknown(inside(value), "A105", "message", text, messages)
                whole = False
        elif key.text not in roles:
            reading.unknown(inside(key), "A107", "role", key.text, (*roles, *ACTS))
            whole = False
        else:
            where = _where(reading, value, text, roles[key.text])
            whole = whole and where is not None
            places.append((key.text, *(where or (None, None))))
    if whole and not places and not acts:
        reading.fault(node.place, "A138", "a situation with nothing in it", "like {client: main.playing}")
        return None
    return StatePredicate(tuple(places), acts.get("sends"), acts.get("reads"), node.place) if whole else None


def _where(reading: ParseContext, node: Node, text: str, role: Role) -> tuple[str | None, str | None] | None:
    """Return the machine and the state that a text names; None if there is no such."""
    machine, dot, state = text.partition(".")
    if text == "over" and "over" not in role.machines:
        return None, None
    if machine not in role.machines:
        hint = f"written as machine.state, like {next(iter(role.machines), 'main')}.playing, or 'over'"
        reading.unknown(inside(node), "A104", "machine", machine, role.machines, hint)
        return None
    states = role.machines[machine].states
    if dot and state not in states:
        reading.unknown(inside(node), "A103", "state", state, states)
        return None
    return machine, state if dot else None
