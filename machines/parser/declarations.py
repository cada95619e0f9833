"""The reader's part for types and messages: who sends what, and which other bodies are read as the same message.

How a type or a body is written is `machines.messages.syntax`'s; what only all of them together tell is
`machines.messages.well_formed`'s.
"""

from __future__ import annotations

from machines import model
from machines.messages.types import check_message, check_names, check_types, parse_body, parse_type
from machines.model import Body, Message, TypeDeclaration
from machines.parser.context import MessageOutline, ParseContext, inside
from machines.problems import Place
from machines.yaml.nodes import MapNode, Node, ScalarNode


def read_types(reading: ParseContext, node: Node | None) -> dict[str, TypeDeclaration]:
    """Return the declared types by name."""
    if node is None:
        return {}
    found: dict[str, TypeDeclaration] = {}
    for key, value in reading.mapping(node, "'types'", "like types: {Token: {enum: [white, black]}}").pairs:
        reading.types[key.text] = None
        type_ = parse_type(value, reading.problems)
        if type_ is not None:
            found[key.text] = TypeDeclaration(key.text, type_, key.place)
    return found


def check_shapes(
    reading: ParseContext, types: dict[str, TypeDeclaration], messages: dict[str, Message]
) -> frozenset[str]:
    """Tell what is wrong with the types and bodies taken together; return the types without a problem."""
    check_names(types, messages.values(), reading.problems, reading.types)
    sound = check_types(types, reading.problems)
    for message in messages.values():
        check_message(message, types, sound, reading.problems)
    return frozenset(sound)


# -- messages --------------------------------------------------------------------------------------------------------


def read_messages(
    reading: ParseContext, node: Node | None, also: Node | None, urgent: Node | None
) -> dict[str, Message]:
    """Return the messages by name, in file order, with the other bodies of ``also`` and whether they are urgent."""
    by_sender = reading.mapping(node, "'messages'", "messages by sender").pairs if node is not None else ()
    others = _also(reading, also) if also is not None else {}
    hasty = _urgent(reading, urgent) if urgent is not None else {}
    found: dict[str, Message] = {}
    first: dict[str, Place] = {}
    for senders_key, listed in by_sender:
        senders = _senders(reading, senders_key)
        example = "like JOIN: $name Name"
        for key, value in reading.mapping(listed, f"what {senders_key.text} sends", example).pairs:
            name = key.text
            reading.name(key, "a message")
            if name in first:
                hint = f"it first stands in line {first[name].line}; several senders are written as 'client, ai:'"
                reading.fault(key.place, "A115", f"there is a message {name!r} already", hint)
                continue
            first[name] = key.place
            body = parse_body(value, reading.problems)
            reading.messages[name] = MessageOutline(senders, None if body is None else len(list(model.fields_of(body))))
            if body is not None:
                alike = others.get(name, ())
                found[name] = Message(name, senders, body, alike, name in hasty, key.place)
    for key, _ in also.pairs if isinstance(also, MapNode) else ():
        if key.text not in first:
            reading.unknown(inside(key), "A105", "message", key.text, first)
    for name, place in hasty.items():
        if name not in first:
            reading.unknown(place, "A105", "message", name, first)
    return found


def _senders(reading: ParseContext, key: ScalarNode) -> tuple[str, ...]:
    """Return the roles that ``client, ai`` names."""
    senders: list[str] = []
    at = 0
    for written in key.text.split(","):
        sender = written.strip()
        place = inside(key).right(at + len(written) - len(written.lstrip()))
        at += len(written) + 1
        if not sender:
            reading.fault(place, "A113", "a sender is missing", "like 'client, ai:'")
        elif reading.machines and sender not in reading.machines:
            reading.unknown(place, "A107", "role", sender, reading.machines)
        elif sender in senders:
            reading.fault(place, "A115", f"the sender {sender!r} stands twice")
        else:
            senders.append(sender)
    return tuple(senders)


def _also(reading: ParseContext, node: Node) -> dict[str, tuple[Body, ...]]:
    found: dict[str, tuple[Body, ...]] = {}
    for key, value in reading.mapping(node, "'also'", "like also: {JOIN: [$name Name]}").pairs:
        items = reading.items(value, f"what {key.text} is also", "one body is written [BODY]")
        bodies = (parse_body(item, reading.problems) for item in items)
        found[key.text] = tuple(body for body in bodies if body is not None)
    return found


def _urgent(reading: ParseContext, node: Node) -> dict[str, Place]:
    found: dict[str, Place] = {}
    for item in reading.items(node, "'urgent'", "like urgent: [PING]"):
        name = reading.text(item, "an urgent message")
        if name is not None:
            found[name] = inside(item)
    return found
