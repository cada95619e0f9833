"""What a session asks of whoever runs it. A session never does anything itself: it returns these, in order.

A peer is named by its seat number here. See `machines.engine.session` for the inputs. They are msgspec structs, which
are made in a third of the time of a dataclass.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Send(msgspec.Struct, gc=False):
    """Write ``data`` to the peer; one message, framed. ``message`` is its name."""

    peer: int
    data: bytes
    message: str


class Drop(msgspec.Struct):
    """Close the peer's connection once all that was sent to it before is out. ``why`` is for the log."""

    peer: int
    why: str


class SecureLink(msgspec.Struct):
    """Speak TLS with the peer once all that was sent to it before is out; what it says from now on comes through it.

    What has come from the peer and was not handed to the session by now must never be: it was not said in TLS.
    """

    peer: int


class Pause(msgspec.Struct):
    """Stop reading from the peer: its inbox is full."""

    peer: int


class Resume(msgspec.Struct):
    """Read from the peer again."""

    peer: int


class Ask(msgspec.Struct):
    """Put a question to the player; hand what it answers to ``Session.answer`` with ``number``.

    ``arguments`` are (name, value) pairs; a value's name is the name written in the spec, or its position as text.
    ``messages`` are the messages that may answer. ``seconds`` is how long it may take, None for no limit.
    """

    number: int
    question: str
    arguments: tuple[tuple[str, Any], ...]
    messages: tuple[str, ...]
    seconds: float | None


class Cancel(msgspec.Struct):
    """The question is moot; an answer to it will be ignored with a note."""

    number: int


class Received(msgspec.Struct):
    """A message was taken from a peer: news for the player and for whoever watches. ``fields`` by name."""

    peer: int
    message: str
    fields: dict[str, Any]


class Violation(msgspec.Struct):
    """A peer, or with ``peer`` None this role's own player, broke its protocol; a note of it follows.

    ``name`` is what the peer is called, empty if it has no name yet; ``role`` its role. ``kind`` is illegal, limit,
    wrong type, unknown, unexpected, malformed, too long, early, late, half a message or closed; of the own player also
    what the runtime says of it: crash, exit, and so on. ``asked`` is the last message that the peer was sent, or the
    question, ``awaited`` what may answer it, ``came`` the first EVIDENCE_BYTES of what did come, of ``size`` bytes.
    ``state`` is the path of the call and the state, ``place`` its file and line, ``rule`` the conditions that refused
    it, ``why`` the reason in words. ``seconds`` had passed since the state was entered, of ``limit``.
    """

    peer: int | None
    name: str
    role: str
    kind: str
    asked: str
    awaited: tuple[str, ...]
    came: bytes
    size: int
    state: str
    place: str
    rule: str
    why: str
    seconds: float
    limit: float | None


class Note(msgspec.Struct):
    """A line for the log. ``level`` is debug, info, warning or error."""

    level: str
    text: str
    peer: int | None = None


class MatchOutcome(msgspec.Struct, frozen=True):
    """How a match went. ``ranking`` are groups of peers, best first; who is in none shares the place behind.

    ``faults`` are the peers who broke the rules: they are last, whatever the ranking. ``points`` are (peer, number).
    """

    ranking: tuple[tuple[int, ...], ...]
    faults: tuple[int, ...] = ()
    points: tuple[tuple[int, float], ...] = ()


class Ended(msgspec.Struct):
    """The session is over. ``failed`` is None when ``main`` returned ``value``; else why the arena failed.

    ``outcome`` is how the match went, None where the spec says nothing of it: then none was played.
    """

    value: Any
    failed: str | None
    outcome: MatchOutcome | None = None


Effect = Send | Drop | SecureLink | Pause | Resume | Ask | Cancel | Received | Violation | Note | Ended
