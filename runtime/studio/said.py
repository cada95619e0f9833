"""What is said in a step, a line each of the sequence diagram: from a party to another, or to none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from machines.effects import Ask, Drop, Effect, Ended, Note, SecureLink, Violation
from machines.problems import Place
from machines.values import plain
from runtime.journal.losses import circumstances

RAW_CHARACTERS_MAX = 2000  # of a message as it was on the wire, in a step's details
Taken = tuple[str, str, str, str]  # call path, state, event, destination
CLOSED_UNTOLD = "its own client may have given up: see its log"  # no server hears more than the end of a connection
_CLOCKS = (".timeout", ".after", ".every")


class Tone(IntEnum):
    """What a line of the sequence diagram is."""

    MESSAGE = 0
    CLOSED = 1
    VIOLATION = 2
    END = 3
    CLOCK = 4


@dataclass(frozen=True, slots=True)
class Said:
    """A line of the sequence diagram: from a party to another, or to none; ``detail`` is what a reader may open."""

    source: str
    target: str | None
    text: str
    tone: Tone
    detail: str = ""
    fields: Any = None


def line_of(effect: Effect, party: str, peer_of: Callable[[int], str]) -> Said | None:
    """Return the line of what a party does besides sending and hearing messages; None for what has no line."""
    match effect:
        case SecureLink(peer):
            return Said(party, peer_of(peer), "TLS from here on", Tone.CLOCK)
        case Drop(peer, why):
            return Said(party, peer_of(peer), f"closes: {why}", Tone.CLOSED)
        case Violation():
            return _violated(effect, party, peer_of)
        case Note("error", text):
            return Said(party, None, text, Tone.VIOLATION)
        case Ask():
            return Said(party, None, f"asks its player: {effect.question}", Tone.CLOCK)
        case Ended():
            failed = effect.failed is not None
            text = f"failed: {effect.failed}" if failed else "the end"
            detail = "" if failed else str(plain(effect.value))
            return Said(party, None, text, Tone.VIOLATION if failed else Tone.END, detail)
        case _:
            return None


def _violated(found: Violation, party: str, peer_of: Callable[[int], str]) -> Said:
    refused = [f"refused by {found.rule}"] if found.rule else []
    detail = "\n".join(filter(None, (shown_bytes(found.came), *refused, *circumstances(found))))
    own = found.peer is None  # the party's own player
    reason = found.why or (f"refused by {found.rule}" if found.rule else "")
    if own and found.kind == "late" and not reason:
        reason = f"no answer to {found.asked}" if found.asked else "no answer had come"
    if not own and found.kind == "closed":
        reason = f"{reason} ({CLOSED_UNTOLD})" if reason else CLOSED_UNTOLD
    text = f"{found.kind}: {reason}" if reason else found.kind
    return Said(party if found.peer is None else peer_of(found.peer), None, text, Tone.VIOLATION, detail)


def rung(party: str, took: Sequence[Taken]) -> Iterator[Said]:
    """Yield a line for each clock of a party that has rung, where that was all that came."""
    for path, at, event, _ in took:
        clock = event.removeprefix("always:")
        if clock.startswith(_CLOCKS):
            yield Said(party, None, f"{clock.lstrip('.')} in {path}.{at}", Tone.CLOCK)


def place_text(taken: Taken, places: Sequence[Place] = ()) -> str:
    """Return a transition for people: ``main.asked: on INIT_PLACE, then playing``, and where it stands in its file."""
    path, at, event, to = taken
    name = event.lstrip(".")
    how = f"goes on to {to.lstrip('.')}" if name == "then" else f"on {name}, then {to.lstrip('.')}"
    lines = dict.fromkeys(f"{one.file.replace(chr(92), '/').rpartition('/')[2]}:{one.line}" for one in places)
    return f"{path}.{at}: {how}" + (f" ({' or '.join(lines)})" if lines else "")


def shown_bytes(data: bytes) -> str:
    """Return a message as it was on the wire, as text that is not too long."""
    text = data.decode("utf-8", "backslashreplace").strip()
    return text if len(text) <= RAW_CHARACTERS_MAX else f"{text[:RAW_CHARACTERS_MAX]}… ({len(data)} bytes)"
