"""The messages of a spec for other tools: JSON Schema, and AsyncAPI 3 of each role that listens.

Sources: JSON Schema 2020-12; AsyncAPI 3.0.0, whose schema objects are those of JSON Schema draft 07 (the list form of
``items`` for arrays of exactly these, references from the document's root).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from diagrams.documents.wire_words import framing_words
from diagrams.rendering.labels import distinct, stem
from machines.messages.bodies import compile_message
from machines.model import Message, Spec, TypeDeclaration
from machines.values import plain

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
ASYNCAPI: Final = "3.0.0"
VERSION: Final = "1.0.0"  # AsyncAPI demands one; a spec has none


def json_schema(spec: Spec) -> dict[str, Any]:
    """Return one JSON Schema with every message under ``$defs``, by its name, and the types that they share.

    As a whole it takes what any of the messages takes. A type called like a message has ``-type`` behind its name.
    """
    definitions: dict[str, Any] = {}
    types: dict[str, str] = {}
    for name in spec.types:
        types[name] = name
        while types[name] in spec.messages or types[name] in {v for k, v in types.items() if k != name}:
            types[name] += "-type"
    renamed = {f"#/$defs/{name}": f"#/$defs/{_pointed(types[name])}" for name in spec.types}
    for message in spec.messages.values():
        shape = compile_message(message, spec.types)
        schema = shape.json_schema()
        for name, definition in schema.pop("$defs", {}).items():
            definitions[types[name]] = _referring(definition, renamed)
        definitions[message.name] = {
            "title": message.name,
            "description": f"sent by {', '.join(message.senders)}" + (f". {message.doc}" if message.doc else ""),
            **_referring(schema, renamed),
            "examples": [plain(one) for one in message.examples or (shape.example(),)],
        }
    for name, declared in spec.types.items():
        if types[name] in definitions:
            definitions[types[name]] |= _said_of(declared)
    return {
        "$schema": DIALECT,
        "title": spec.title,
        "anyOf": [{"$ref": f"#/$defs/{_pointed(name)}"} for name in spec.messages],
        "$defs": definitions,
    }


def _pointed(name: str) -> str:
    """A name as part of a JSON Pointer in a URI fragment (RFC 6901, 3 and 6)."""
    return quote(name.replace("~", "~0").replace("/", "~1"), safe="", errors="surrogatepass")


def _referring(schema: Any, renamed: Mapping[str, str]) -> Any:
    if isinstance(schema, dict):
        return {
            key: renamed.get(value, value) if key == "$ref" and isinstance(value, str) else _referring(value, renamed)
            for key, value in schema.items()
        }
    if isinstance(schema, list | tuple):
        return [_referring(item, renamed) for item in schema]
    return schema


# -- AsyncAPI --------------------------------------------------------------------------------------------------------


def asyncapi(spec: Spec, role: str) -> dict[str, Any]:
    """Return the AsyncAPI document of a role that listens: a channel for each role that connects to it.

    Raises:
        KeyError: the spec has no such role.
    """
    names = dict(zip(spec.messages, distinct([stem(name) for name in spec.messages]), strict=True))
    types = dict(zip(spec.types, distinct([stem(name) for name in spec.types]), strict=True))
    peers = [peer for peer, targets in spec.connects.items() if role in targets]
    channels = dict(zip(peers, distinct([stem(peer) for peer in peers]), strict=True))
    said = {peer: _said(spec, role, peer) for peer in peers}
    definitions: dict[str, Any] = {}
    messages = {
        names[name]: _message(spec, spec.messages[name], types, definitions)
        for name in spec.messages
        if any(name in listed for way in said.values() for listed in way.values())
    }
    operations: dict[str, Any] = {}
    for peer in peers:
        operations |= _operations(said[peer], channels[peer], names)
    return {
        "asyncapi": ASYNCAPI,
        "info": {
            "title": spec.title,
            "version": VERSION,
            "description": f"{spec.protocol}, as {role} has it. On the wire: {framing_words(spec.wire)}."
            + (f"\n\n{spec.doc}" if spec.doc else ""),
        },
        "defaultContentType": "text/plain" if spec.wire.framing == "text" else "application/json",
        "servers": {stem(role): {"host": "localhost", "protocol": "tcp"}},
        "channels": {channels[peer]: _channel(spec, role, peer, _names_in(said[peer], names)) for peer in peers},
        "operations": operations,
        "components": {"messages": messages, "schemas": definitions},
    }


def _channel(spec: Spec, role: str, peer: str, messages: Sequence[str]) -> dict[str, Any]:
    """Return the channel for a role that connects to this one, with the names of all messages between the two."""
    return {
        "address": None,
        "title": f"a connection that {peer} opens to {role}",
        "servers": [{"$ref": f"#/servers/{stem(role)}"}],
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
    }


def _operations(said: Mapping[str, Sequence[str]], channel: str, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the operations on a channel by name; ``said`` has the messages of each action."""
    return {
        f"{action}-{names[name]}-{channel}": {
            "action": action,
            "channel": {"$ref": f"#/channels/{channel}"},
            "messages": [{"$ref": f"#/channels/{channel}/messages/{names[name]}"}],
        }
        for action, listed in said.items()
        for name in listed
    }


def _names_in(said: Mapping[str, Sequence[str]], names: Mapping[str, str]) -> list[str]:
    """Return the names of the messages that are said, in the spec's order."""
    return [called for name, called in names.items() if any(name in listed for listed in said.values())]


def _said(spec: Spec, role: str, peer: str) -> dict[str, list[str]]:
    """What a role sends to a peer and what it receives of it, by AsyncAPI's names for the two."""
    return {
        "receive": [message.name for message in spec.messages.values() if peer in message.senders],
        "send": [message.name for message in spec.messages.values() if role in message.senders],
    }


def _message(spec: Spec, message: Message, types: Mapping[str, str], definitions: dict[str, Any]) -> dict[str, Any]:
    shape = compile_message(message, spec.types)
    schema = shape.json_schema()
    for name, definition in schema.pop("$defs", {}).items():
        definitions[types[name]] = _draft_07(definition, types)
    about = {"description": message.doc} if message.doc else {}
    for name, declared in spec.types.items():
        if types[name] in definitions:
            definitions[types[name]] |= _said_of(declared)
    examples = [plain(one) for one in message.examples or (shape.example(),)]
    return {
        "name": message.name,
        "title": message.name,
        **about,
        # All of a reference's neighbours are passed over in draft 07, so it stands in a list of its own.
        "payload": {"allOf": [_draft_07(schema, types)], "examples": examples},
    }


def _said_of(declared: TypeDeclaration) -> dict[str, Any]:
    """Return what a spec says of a type in words and examples."""
    about: dict[str, Any] = {"description": declared.doc} if declared.doc else {}
    return about | ({"examples": [plain(one) for one in declared.examples]} if declared.examples else {})


def _draft_07(schema: Any, types: Mapping[str, str]) -> Any:
    """Return a schema of draft 2020-12 in the words of draft 07."""
    if isinstance(schema, list | tuple):
        return [_draft_07(item, types) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("const", "enum"):
            found[key] = plain(value)
        elif key == "$ref":
            found[key] = f"#/components/schemas/{types[value.removeprefix('#/$defs/')]}"
        elif key == "prefixItems":
            found["items"] = _draft_07(value, types)
        elif key == "items" and value is False:
            found["maxItems"] = len(schema.get("prefixItems", ()))  # what `additionalItems: false` would say too
        elif key == "properties":
            found[key] = {name: _draft_07(inner, types) for name, inner in value.items()}
        else:
            found[key] = _draft_07(value, types)
    return found
