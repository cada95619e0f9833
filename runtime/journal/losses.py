"""Why a player lost, as it is told to people and to programs: what a `machines.effects.Violation` says, and by whom."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from machines.effects import Violation

LOSSES_MAX: Final = 100  # that are told with the result of a run
WITHIN: Final = " at "  # how a reason says that only a part of a message is wrong
EVIDENCE_SHOWN: Final = 160  # bytes of what came that a line shows, unless told otherwise


@dataclass(frozen=True, slots=True)
class Loss:
    """A violation of a player called ``name``, decided in the session of the role ``by``.

    ``said`` has the last lines that its program wrote to standard error; ``moment`` is the host's time, by
    `time.monotonic`, at which it was decided.
    """

    name: str
    by: str
    violation: Violation
    said: tuple[str, ...] = ()
    moment: float = field(default_factory=time.monotonic, compare=False)

    @property
    def own(self) -> bool:
        """Whether the player's own client decided it."""
        return self.violation.peer is None


class Losses:
    """The losses of a run, in the order in which they were decided: the first LOSSES_MAX, and how many came after.

    A peer may break its protocol as often as the spec lets it: what it makes of that is bounded. The log has all, and
    the journal. ``tell`` hears of each at once.
    """

    tell: Callable[[Loss], None] | None = None

    def __init__(self, found: Iterable[Loss] = (), more: int = 0) -> None:
        self._kept = list(found)
        self.more = more

    def note(self, loss: Loss) -> None:
        """Keep a loss, or count it if there are LOSSES_MAX."""
        if self.tell is not None:
            self.tell(loss)
        if len(self._kept) < LOSSES_MAX:
            self._kept.append(loss)
        else:
            self.more += 1

    def __iter__(self) -> Iterator[Loss]:
        return iter(self._kept)

    def lines(self, shown_max: int = EVIDENCE_SHOWN) -> Iterator[str]:
        """Yield each loss in one line, and how many more there were."""
        yield from (violation_text(loss.violation, loss.name, shown_max) for loss in self)
        if self.more:
            yield f"and {self.more} more violations, which the log and the journal have"

    def facts(self, shown_max: int = EVIDENCE_SHOWN) -> dict[str, Any]:
        """Return them for a program to read: ``losses``, and as ``losses_more`` how many are not among them."""
        return {"losses": [loss_facts(loss, shown_max) for loss in self], "losses_more": self.more}


def evidence(data: bytes, size: int, shown_max: int = EVIDENCE_SHOWN) -> str:
    """Return bytes for people, cut to ``shown_max``; ``size`` is how many came."""
    kept = data[:shown_max]
    try:
        text = kept.rstrip(b"\r\n").decode()
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    except UnicodeDecodeError:
        text = repr(kept)
    return text if size <= len(kept) else f"{text}... ({size} bytes)"


def violation_text(found: Violation, name: str, shown_max: int = EVIDENCE_SHOWN) -> str:
    """Return a violation in one line, as of a player called ``name``."""
    return f"{name} ({found.role}): {found.kind}: {', '.join(_parts(found, shown_max))}"


def own_words(found: Violation) -> str:
    """Return why a player is out, in a few words for itself: what it did, not the bytes and the place of it."""
    if found.kind == "late":
        within = f" within {found.limit:g} s" if found.limit is not None else ""
        return f"too late: {found.why or 'no answer had come'}{within}"
    reason = found.why or (f"refused by {found.rule}" if found.rule else "")
    return f"{found.kind}: {reason}" if reason else found.kind


def tell_lost(player: object, loss: Loss) -> None:
    """Tell a player that it is out, if that is one that wants to know: its ``lost`` is called with the loss."""
    tell = getattr(player, "lost", None)
    if callable(tell):
        tell(loss)


def parting_words(found: Violation, protocol: str) -> str:
    """Return that the other side, whose violation ended the session, seems to have expelled us; else nothing.

    Servers say in words of their own that somebody misbehaved, or just end the connection.
    """
    said = evidence(found.came, found.size)
    # A text, or what has another form already at its top, is like no message.
    alike = found.kind == "wrong type" and not said.startswith('"') and WITHIN in found.why.partition(", got ")[0]
    kind = "unknown" if found.kind == "wrong type" and not alike else found.kind
    did = {
        "closed": "ended the connection, here where the protocol goes on",
        "unknown": f"said {said}, which is no message of {protocol}",
        "malformed": f"said {said}, which cannot be read",
    }.get(kind)
    place = found.place.replace(chr(92), "/").rpartition("/")[2]
    return f"expelled, as it seems: the {found.role} {did}, in {found.state} ({place})" if did else ""


def _parts(found: Violation, shown_max: int) -> Iterator[str]:
    if found.why:
        yield found.why
    if found.rule:
        yield f"refused by `{found.rule}`"
    if found.size:
        yield f"it sent {evidence(found.came, found.size, shown_max)}"
    yield from circumstances(found)


def circumstances(found: Violation) -> Iterator[str]:
    """Yield what was asked, in which state and line, and after how long."""
    if found.asked:
        yield f"asked {found.asked}" + (f" for {' or '.join(found.awaited)}" if found.awaited else "")
    elif found.awaited:
        yield f"awaited {' or '.join(found.awaited)}"
    if found.state:
        yield f"{found.state} ({found.place.replace(chr(92), '/').rpartition('/')[2]})"
    yield f"after {found.seconds:.1f}" + (f" of {found.limit:g} s" if found.limit is not None else " s")


def own_loss(name: str, by: str, violation: Violation, player: object | None) -> Loss:
    """Return a loss that the player's own client decided, with what is known of its program."""
    if player is None:
        return Loss(name, by, violation)
    if violation.kind == "late":
        violation = msgspec.structs.replace(violation, why=why_late(player) or "no answer had come")
    said = last_lines(player) if violation.kind in ("crash", "exit", "malformed") else ()
    return Loss(name, by, violation, said)


def why_late(player: object) -> str:
    """Return what kept a player's program from being heard, though it wrote; empty if there was nothing."""
    told = getattr(player, "why_late", None)
    return told() if callable(told) else ""


def errors_of(player: object) -> str:
    """Return the end of what a player's program wrote to standard error; nothing if it is no program."""
    written = getattr(player, "complaint", b"")
    return written.decode(errors="replace") if isinstance(written, bytes) else ""


def lines_read_by(player: object) -> str:
    """Return the beginning of what was written to a player's program, whole lines; nothing if it is no program."""
    written = getattr(player, "told", b"")
    return bytes(written).decode(errors="replace") if isinstance(written, bytearray) else ""


def last_lines(player: object) -> tuple[str, ...]:
    """Return the last lines that a player's program wrote to standard error; none if it is no program."""
    lines = getattr(player, "last_lines", None)
    return tuple(lines()) if callable(lines) else ()


def loss_facts(loss: Loss, shown_max: int = EVIDENCE_SHOWN) -> dict[str, Any]:
    """Return a loss for a program to read."""
    found = loss.violation
    data = found.came[:shown_max]
    try:
        came: Any = data.decode()
    except UnicodeDecodeError:
        came = {"b64": b64encode(data).decode()}
    return {
        "player": loss.name,
        "role": found.role,
        "decided_by": loss.by,
        "kind": found.kind,
        "why": found.why,
        "rule": found.rule,
        "asked": found.asked or None,
        "awaited": found.awaited,
        "came": came if found.size else None,
        "bytes": found.size,
        "state": found.state,
        "place": found.place,
        "seconds": found.seconds,
        "limit": found.limit,
        "stderr": loss.said,
    }
