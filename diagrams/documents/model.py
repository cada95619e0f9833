"""What the document of a protocol says, not yet in any language: tables of plain text, one phase a machine.

    Document
     ├─ phases      a machine each, with the drawings of it in the album
     ├─ messages    name, way, JSON, fields, examples, when it is sent, who hears it
     ├─ types, settings
     ├─ waits       whom, how long, and what happens when it is late, wrong, or gone
     └─ limits      of the wire, and what happens when they are broken

``facts.document`` makes it of a spec; ``markdown`` and ``page`` write it.
"""

from __future__ import annotations

from dataclasses import dataclass

from diagrams.catalogue import Drawing


@dataclass(frozen=True, slots=True)
class Phase:
    """One machine: who runs it, and its drawings. ``title`` is written as it is called."""

    role: str
    machine: str
    title: str
    run_by: tuple[str, ...]
    states: Drawing
    sequence: Drawing
    doc: str
    states_docs: tuple[tuple[str, str], ...]  # of its states, those that have one


@dataclass(frozen=True, slots=True)
class Party:
    """A role: whom it connects to, its overview and its phases."""

    name: str
    does: str
    overview: Drawing
    phases: tuple[Phase, ...]
    doc: str


@dataclass(frozen=True, slots=True)
class FieldRow:
    """A field of a message: its name, what it takes, and its default if it may be missing."""

    name: str
    takes: str
    default: str | None


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A message. ``also`` are other bodies read as the same; ``sent`` and ``heard`` are places in the machines.

    ``parts`` says how it is cut if it is no single line.
    """

    name: str
    senders: tuple[str, ...]
    receivers: tuple[str, ...]
    body: str
    also: tuple[str, ...]
    parts: str
    fields: tuple[FieldRow, ...]
    examples: tuple[str, ...]
    sent: tuple[str, ...]
    heard: tuple[str, ...]
    urgent: bool
    doc: str


@dataclass(frozen=True, slots=True)
class TypeRow:
    """A declared type, an example of it, and the messages and types that use it."""

    name: str
    takes: str
    examples: tuple[str, ...]
    used: tuple[str, ...]
    doc: str


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A value that a person may override, and the places that use it."""

    name: str
    value: str
    kind: str
    used: tuple[str, ...]
    doc: str


@dataclass(frozen=True, slots=True)
class WaitRow:
    """A state that waits: for whom, how long, and what each of the three faults leads to."""

    where: str
    awaits: str
    within: str
    late: str
    wrong: str
    gone: str


@dataclass(frozen=True, slots=True)
class LimitRow:
    """A limit of the wire."""

    name: str
    value: str
    means: str
    broken: str


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a dialogue: the role that said it, its name, and all its bytes as they cross."""

    role: str
    message: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Dialogue:
    """All that crosses one connection: the role that connects, the one that listens, and what they say, in order."""

    caller: str
    listener: str
    said: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """The whole document of a protocol."""

    protocol: str
    title: str
    file: str
    framing: str
    early: str
    rules: tuple[str, ...]
    parties: tuple[Party, ...]
    messages: tuple[MessageRow, ...]
    types: tuple[TypeRow, ...]
    settings: tuple[SettingRow, ...]
    waits: tuple[WaitRow, ...]
    limits: tuple[LimitRow, ...]
    doc: str
    foreign: tuple[tuple[str, str], ...]  # roles that programs of others play, each with what it does
    dialogues: tuple[Dialogue, ...] = ()
