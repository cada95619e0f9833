"""A tree of YAML nodes to a Spec: every fault in one pass, each with its place, in file order.

Every fault of reading has one of these codes. Types and bodies have A2xx, see `machines.messages.types`; so have
expressions, see `machines.expressions.parser`; rules that are not allowed have A400:

    A100  the text is not YAML                          A119  a message sent by a role that is no sender
    A101  YAML that a spec may not use                  A120  a message awaited that nobody there sends
    A102  a key that its mapping already has            A121  keys that exclude one another
    A103  an unknown state                              A122  a key that has no meaning where it stands
    A104  an unknown machine                            A123  a state that leads nowhere
    A105  an unknown message                            A124  a branch that leads nowhere
    A106  an unknown setting                            A125  stay or again where nothing waits
    A107  an unknown role                               A126  stay under a clock that has run out
    A109  a file that is too large                      A127  branches that may run out where they may not
    A110  an expression that YAML cuts at its comma     A128  a field bound that is not a peer's being seated
    A111  an unknown key                                A129  a setting whose value can not be read
    A112  another form is wanted: mapping, list, word   A130  a value that wire does not take
    A113  something is missing                          A131  a limit that is no number, rate or setting of either
    A114  a name that is badly spelt                    A133  roles whose connections make no sense
    A115  a name given twice                            A134  a role without main, or main with wrong parameters
    A116  a name that has a meaning of its own          A135  an 'each' that is not NAME in LIST
    A117  a machine run with too many or few values     A136  an 'extends' that can not be followed
    A118  a message sent with too many or few values    A137  a frame that can not be cut, or not be written
    A138  a property that says nothing                  A139  a problem accepted that can not be
    A140  a change of what a spec below does not have
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_args, get_type_hints

from machines.model import Message, Role, Setting, Spec, Wire
from machines.parser.charset import check_charset
from machines.parser.composite_frames import read_frames
from machines.parser.context import ParseContext, inside, is_empty, joined, shown
from machines.parser.declarations import check_shapes, read_messages, read_types
from machines.parser.frame_kinds import narrowed
from machines.parser.properties import read_properties
from machines.parser.prose import documented, illustrated, whole_doc
from machines.parser.settings import WRITTEN, mistaken, parse_value
from machines.parser.states import outline_machines, read_role
from machines.parser.suppressions import read_accepted
from machines.problems import Mend, Place, Problems, near
from machines.yaml.nodes import ListNode, MapNode, Node, ScalarNode

TOP_KEYS = (
    *("protocol", "title", "doc", "extends", "part", "rename", "remove", "wire", "rules", "connects", "foreign"),
    *("settings", "types", "messages", "also", "urgent", "frames", "docs", "examples", "roles", "properties"),
    "accepted",
)
NEEDED = ("protocol", "connects", "messages", "roles")
_PROTOCOL = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_RULES = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def read(node: Node, file: str, problems: Problems) -> Spec:
    """Return the spec that a tree of nodes says; every fault goes to ``problems``.

    With problems, the Spec has something harmless in the place of what could not be read, and is not to be run.
    ``file`` is the name of the spec's own file; the nodes of a spec that it extends name theirs.
    """
    reading = ParseContext(problems)
    top = reading.mapping(node, "a spec", "protocol, connects, messages, roles …")
    if isinstance(node, MapNode):
        keys = reading.known_keys(top, TOP_KEYS, "a spec")
        for key in NEEDED:
            if key not in keys:
                reading.fault(Place(file, 1, 1), "A113", f"the key {key!r} is missing", "each spec has it")
    protocol = _protocol(reading, top)
    title = top.get("title")
    roles_node = top.get("roles")
    roles = reading.mapping(roles_node, "'roles'", "machines by role") if roles_node is not None else None
    role_nodes = _outline_roles(reading, roles, top)
    foreign = _foreign(reading, top.get("foreign"), roles)
    connects = _connects(reading, top.get("connects"), roles, foreign)
    settings = _settings(reading, top.get("settings"))
    types = read_types(reading, top.get("types"))
    messages = read_messages(reading, top.get("messages"), top.get("also"), top.get("urgent"))
    sound = check_shapes(reading, types, messages)
    illustrated(reading, top.get("examples"), types, messages, sound)
    documented(reading, top.get("docs"), settings, types, messages)
    read_roles: dict[str, Role] = {key.text: read_role(reading, key, body, connects) for key, body in role_nodes}
    _check_main(reading, read_roles, connects)
    wire = _wire(reading, top.get("wire"), messages)
    frames = read_frames(reading, top.get("frames"), messages, {name: types[name] for name in sound}, wire)
    return Spec(
        protocol=protocol,
        title=(reading.text(title, "the title") if title is not None else None) or protocol,
        wire=wire,
        rules=_rules(reading, top.get("rules")),
        connects=connects,
        settings=settings,
        types=types,
        messages=narrowed(messages, frames),
        roles=read_roles,
        file=file,
        place=Place(file, 1, 1),
        frames=frames,
        accepted=read_accepted(reading, top.get("accepted"), (*messages, *settings, *types), read_roles),
        properties=read_properties(reading, top.get("properties"), read_roles, messages),
        doc=whole_doc(reading, top.get("doc")),
        foreign=foreign,
    )


def _check_main(reading: ParseContext, roles: Mapping[str, Role], connects: Mapping[str, tuple[str, ...]]) -> None:
    listeners = {target for targets in connects.values() for target in targets}
    for role in roles.values():
        main = role.machines.get("main")
        if role.name in reading.peers and role.name not in listeners and main is not None and main.parameters:
            text = f"main takes the connection it is run for, but nobody connects to {role.name}"
            reading.fault(main.place, "A134", text, "write it without brackets")


def _protocol(reading: ParseContext, top: MapNode) -> str:
    node = top.get("protocol")
    text = reading.text(node, "the protocol's name") if node is not None else None
    if node is not None and text is not None and not _PROTOCOL.fullmatch(text):
        slug = "-".join(re.findall(r"[a-z][a-z0-9]*", text.lower()))
        hint = f"lower-case words with hyphens, like {slug or 'santorini-relay'}"
        reading.fault(node.place, "A114", f"{shown(text)} is no name for a protocol", hint)
    return text or ""


# -- wire, rules, settings -------------------------------------------------------------------------------------------


def _wire(reading: ParseContext, node: Node | None, messages: Mapping[str, Message]) -> Wire:
    if node is None:
        return Wire()
    body = reading.mapping(node, "'wire'", "like wire: {framing: lines}")
    limits = {field.name: field.default for field in fields(Wire) if isinstance(field.default, int)}
    hints = get_type_hints(Wire)
    reading.known_keys(body, [field.name for field in fields(Wire)], "'wire'")
    found: dict[str, Any] = {}
    for key, value in body.pairs:
        name = key.text
        if name not in limits and name not in ("framing", "early", "line_end", "charset"):
            continue
        text = reading.text(value, f"the value of '{name}'")
        if text is None:
            continue
        if name in limits:
            most = _WIRE_MOST.get(name, 1 << 31)
            if text.isascii() and text.isdigit() and len(text) < 12 and 1 <= int(text) <= most:
                found[name] = int(text)
            else:
                reading.fault(value.place, "A130", f"'{name}' is a number from 1 to {most}, not {shown(text)}")
        else:
            allowed = get_args(hints[name])
            if text in allowed:
                found[name] = text
            else:
                said = f"'{name}' is {joined(allowed, 'or')}, not {shown(text)}"
                reading.fault(value.place, "A130", said, near(text, allowed))
    charset = body.get("charset")
    if charset is not None and found.get("charset") == "latin-1" and found.get("framing") != "text":
        hint = "leave it out, or write framing: text"
        reading.fault(charset.place, "A130", "JSON is UTF-8: 'charset' goes with 'framing: text' only", hint)
    wire = Wire(**found)
    check_charset(reading, wire, messages)
    return wire


# Deeper values can not be bound to a name, and longer numbers do not fit 64 bits.
_WIRE_MOST = {"depth_max": 64, "digits_max": 19}


def _rules(reading: ParseContext, node: Node | None) -> tuple[tuple[str, Place], ...]:
    found: dict[str, Place] = {}
    for item in reading.items(node, "'rules'", "like rules: [tsuro]") if node is not None else ():
        name = reading.text(item, "a module of rules")
        if name is None:
            continue
        if not _RULES.fullmatch(name):
            reading.fault(item.place, "A114", f"{shown(name)} is no name for a module of rules", "like tsuro")
        elif name in found:
            reading.fault(item.place, "A115", f"the rules {name!r} stand twice")
        else:
            found[name] = item.place
    return tuple(found.items())


def _settings(reading: ParseContext, node: Node | None) -> dict[str, Setting]:
    found: dict[str, Setting] = {}
    for key, value in reading.mapping(node, "'settings'", "like settings: {reply: 5 s}").pairs if node else ():
        reading.name(key, "a setting")
        reading.settings[key.text] = None
        text = reading.text(value, f"the value of {key.text!r}")
        if text is None:
            continue
        assert isinstance(value, ScalarNode), "only a scalar has a text"
        try:
            kind, found_value = parse_value(text, plain=value.plain)
        except ValueError as error:
            reading.fault(value.place, "A129", f"the setting {key.text!r} can not be read: {error}")
            continue
        if kind == "text" and value.plain and text == "null":
            hint = joined(WRITTEN.values(), "or")
            reading.fault(value.place, "A129", f"the setting {key.text!r} can not be null", hint)
            continue
        hint = mistaken(text) if kind == "text" and value.plain else ""
        if hint:
            said = f"the setting {key.text!r} is no duration, range, rate or number: {shown(text)}"
            meant = re.match(r"did you mean '([^']*)'", hint)
            mends = (Mend(value.place, text, meant[1]),) if meant else ()
            reading.fault(value.place, "A129", said, hint, mends)
            continue
        found[key.text] = Setting(key.text, found_value, kind, key.place)
        reading.settings[key.text] = found[key.text]
    return found


# -- roles and their connections -------------------------------------------------------------------------------------


def _outline_roles(reading: ParseContext, roles: MapNode | None, top: MapNode) -> list[tuple[ScalarNode, MapNode]]:
    """Note every role's machines and states before any is read, so that each may refer to all."""
    found: list[tuple[ScalarNode, MapNode]] = []
    for key, value in roles.pairs if roles is not None else ():
        reading.name(key, "a role")
        body = reading.mapping(value, f"the role {key.text!r}", "machines by name, the first of them main")
        reading.machines[key.text] = outline_machines(reading, key.text, body)
        if isinstance(value, MapNode):
            found.append((key, body))
    if roles is not None:
        _tell_misspelt(reading, top, roles)
    if roles is not None and not roles.pairs:
        reading.fault(roles.place, "A113", "there is no role")
    return found


def _foreign(reading: ParseContext, node: Node | None, roles: MapNode | None) -> dict[str, Place]:
    """Return the roles that only programs of others play, each with its place; they have no machines."""
    found: dict[str, Place] = {}
    for item in (node.items if isinstance(node, ListNode) else (node,)) if node is not None else ():
        name = reading.text(item, "a role that programs of others play")
        if name is None or not isinstance(item, ScalarNode) or not reading.name(item, "a role"):
            continue
        ours = next((key for key, _ in roles.pairs if key.text == name), None) if roles is not None else None
        if ours is not None:
            text = f"{name} is foreign, so programs of others play it, and has machines in line {ours.place.line}"
            reading.fault(item.place, "A121", text, "take it out of 'foreign', or its machines out of 'roles'")
        elif name in found:
            reading.fault(item.place, "A115", f"the role {name!r} is foreign already", "name each role once")
        else:
            found[name] = item.place
            reading.machines[name] = {}
    return found


def _connects(
    reading: ParseContext, node: Node | None, roles: MapNode | None, foreign: Mapping[str, Place]
) -> dict[str, tuple[str, ...]]:
    if node is None:
        return {}
    body = reading.mapping(node, "'connects'", "like connects: {client: server}")
    found: dict[str, tuple[str, ...]] = {}
    whole = isinstance(node, MapNode) and roles is not None
    for key, value in body.pairs:
        if not _is_role(reading, key, roles):
            whole = False
        targets: list[str] = []
        for item in value.items if isinstance(value, ListNode) else (value,):
            name = reading.text(item, f"the role that {key.text} connects to")
            if name is None or not isinstance(item, ScalarNode) or not _is_role(reading, item, roles):
                whole = False
            elif name == key.text:
                reading.fault(item.place, "A133", f"{name} can not connect to itself")
            elif name in foreign and key.text in foreign:
                text = f"{key.text} and {name} are foreign both: what they say to each other is not ours"
                reading.fault(item.place, "A133", text, "leave that connection out")
            elif name in targets:
                reading.fault(item.place, "A115", f"{key.text} connects to {name} already", "name each role once")
            else:
                targets.append(name)
        if not targets and isinstance(value, ListNode) and not value.items:
            reading.fault(value.place, "A113", f"the roles that {key.text} connects to are missing")
        found[key.text] = tuple(targets)
    if whole and roles is not None:
        connected = {*found, *(target for targets in found.values() for target in targets)}
        for name, place in {**{key.text: key.place for key, _ in roles.pairs}, **foreign}.items():
            if name not in connected:
                reading.fault(place, "A133", f"the role {name!r} has no connection", "name it under 'connects'")
            callers = tuple(caller for caller, targets in found.items() if name in targets)
            reading.peers[name] = (*found.get(name, ()), *callers)
    return found


def _tell_misspelt(reading: ParseContext, top: MapNode, roles: MapNode) -> None:
    """Tell of a role that is misspelt where its machines stand, if it connects and sends by another name."""
    connects, messages = top.get("connects"), top.get("messages")
    if not isinstance(connects, MapNode) or not isinstance(messages, MapNode):
        return
    named = {key.text for key, _ in connects.pairs} | {item.text for _, one in connects.pairs for item in _words(one)}
    sending = {name.strip() for key, _ in messages.pairs for name in key.text.split(",")}
    for key, _ in roles.pairs:
        hint = near(key.text, [name for name in named & sending if name not in reading.machines])
        if key.text not in named and hint:
            reading.fault(key.place, "A133", f"the role {key.text!r} has no connection", hint)


def _words(node: Node) -> list[ScalarNode]:
    items = node.items if isinstance(node, ListNode) else (node,)
    return [item for item in items if isinstance(item, ScalarNode)]


def _is_role(reading: ParseContext, node: ScalarNode, roles: MapNode | None) -> bool:
    if is_empty(node):
        return False
    if roles is not None and node.text not in reading.machines:
        hint = reading.problems.near("A107", node.text, tuple(reading.machines))
        hint = hint or f"write its machines under 'roles', or foreign: [{node.text}] if only programs of others play it"
        reading.unknown(inside(node), "A107", "role", node.text, reading.machines, hint)
        return False
    return True
