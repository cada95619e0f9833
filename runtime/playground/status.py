"""Where the parties of a trial stand, and what may be chosen next: for a person to look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

from machines.engine import routing
from machines.engine.call_stack import CallFrame
from machines.engine.compiled_states import ACCEPT
from machines.semantics.hearing import hearers
from runtime.playground.message_input import written
from runtime.playground.parties import ManualParticipant, deadline
from runtime.playground.scenario_runner import ManualRun

NAMES = ("ann", "bob", "cyd", "dan", "eve", "fay", "gus", "hal")
LISTED_MAX = 30  # choices shown; all others can be typed


def state_lines(trial: ManualRun) -> list[str]:
    """Return a line for each call of a machine that waits, in each party; parties stand in the order they came in."""
    rows = [(party.name, line) for party in trial.parties.values() for line in standing(trial, party)]
    width = max((len(name) for name, _ in rows), default=0)
    return [f"{name:<{width}}  {line}" for name, line in rows]


def standing(trial: ManualRun, party: ManualParticipant) -> Iterator[str]:
    """Yield a line for each call of a party's machines that waits; one line if it is over or played by hand."""
    session = party.session
    if session is None:
        met = ", ".join(other.name for other in party.open.values())
        yield "gone" if party.over else f"played by hand, connected to {met or 'nobody'}"
        return
    if session.ended is not None:
        ended = session.ended
        yield f"over, failed: {ended.failed}" if ended.failed is not None else f"over, result: {written(ended.value)}"
        return
    for frame in routing.leaves(session):
        yield f"{frame.path} in {frame.node.name}: {_waits(party, frame)}{_left(frame, session.now, trial.now)}"


def _waits(party: ManualParticipant, frame: CallFrame) -> str:
    node = frame.node
    parts = []
    if node.kind == ACCEPT and frame.accepting is not None and node.accept is not None:
        seated = len(frame.slots[node.accept.slot])
        most = frame.accepting.high
        wanted = f" of {frame.accepting.low}..{most:.0f}" if most != inf else ""
        parts.append(f"takes in clients, {seated}{wanted} seated")
    ask = party.asked.get(frame.question) if frame.question is not None else None
    if ask is not None:
        parts.append(f"its player decides {ask.question}: {' or '.join(ask.messages)}")
    layer = node.layer
    names = [name for readers in layer.readers.values() for name in (reader[1].name for reader in readers)]
    if names and node.kind != ACCEPT:
        heard = [party.met(seat.number) for seat in frame.hears]
        parts.append(f"waits for {' or '.join(dict.fromkeys(names))}{' of ' + ', '.join(heard) if heard else ''}")
    return "; ".join(parts) or "waits"


def _left(frame: CallFrame, session_now: float, now: float) -> str:
    """Return how long the nearest clock of a call or of one around it still has."""
    due = inf
    at: CallFrame | None = frame
    while at is not None:
        due = min(due, at.deadline, at.accepting.linger if at.accepting is not None else inf)
        for moments in (at.moments, at.standing):
            due = min([due, *(moment.due for moment in moments or ())])
        at = at.parent
    return f"; {max(0.0, due - max(now, session_now)):.10g} s left" if due != inf else ""


@dataclass(frozen=True, slots=True)
class Offer:
    """What may be done now: the words that begin its line, who does it, and a message with its example values."""

    words: str
    who: str
    message: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """The line that does it."""
        told = [f"{name}={written(value)}" for name, value in self.fields.items()]
        return " ".join([self.words, *([self.message] if self.message else []), *told])


def choices(trial: ManualRun) -> list[str]:
    """Return what may be done now, each as the line that does it, with example values; at most LISTED_MAX."""
    return [offer.line for offer in offers(trial)[:LISTED_MAX]]


def offers(trial: ManualRun) -> list[Offer]:
    """Return what may be done now: answers, messages by hand, who may come, that time passes, who may be lost."""
    found: list[Offer] = []
    parties = trial.parties.values()
    for party in parties:
        for ask in list(party.asked.values())[:1]:
            told = dict(ask.arguments)
            for message in ask.messages:
                fields = trial.filler.examples(message, told)
                found.append(Offer(f"answer {party.name}", party.name, message, fields))
    for party in parties:
        if party.session is None:
            found += _by_hand(trial, party)
    for role in trial.callers():
        if _is_open(trial, role):
            name = _free_name(trial)
            found += [Offer(f"connect {role} {name}", name), Offer(f"hand {role} {name}", name)]
    if trial.way is not None:
        found += [Offer(f"deliver {who} to {whom}", whom) for who, whom in trial.way.waiting()]
        found += [Offer(f"ring {party.name}", party.name) for party in parties if deadline(party) is not None]
    if trial.next_clock() is not None:
        found.append(Offer("wait", ""))
    callers = trial.callers()
    return found + [Offer(f"lose {one.name}", one.name) for one in parties if one.links and one.role in callers]


def _by_hand(trial: ManualRun, party: ManualParticipant) -> Iterator[Offer]:
    """Yield what a party played by hand may say: what the other end listens for; to another hand all that it sends."""
    for seat, (other, there) in party.links.items():
        own = [message.name for message in trial.spec.messages.values() if party.role in message.senders]
        if other.session is not None:
            listed = {
                reader[1].name
                for _, layer in hearers(other.session, other.session.seats[there])
                for readers in layer.readers.values()
                for reader in readers
            }
            own = [name for name in own if name in listed]
        to = f" to {party.met(seat)}" if len(party.links) > 1 else ""
        for message in own:
            yield Offer(f"say {party.name}{to}", party.name, message, trial.filler.examples(message))


def _is_open(trial: ManualRun, role: str) -> bool:
    return not any(target in trial.parties and trial.parties[target].over for target in trial.spec.connects[role])


def _free_name(trial: ManualRun) -> str:
    taken = {*trial.parties, *trial.spec.roles}
    numbered = (f"client{number}" for number in range(1, len(taken) + 2))
    return next(name for name in (*NAMES, *numbered) if name not in taken)
