"""A protocol tried by hand: every role of a spec in one process, without a socket, and a clock that a person moves.

A *party* is one program: the role that listens, or one client. It runs a session of its role as the spec has it, or is
played by hand: then a person sends its messages. Bytes cross at once, or wait on the way until they are let through.
Time passes on demand, for all or for one party alone.

The same choices lead to the same run, so going back is doing all but the last of them again.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, Final

from machines.effects import Ask, Cancel, Drop, Effect, Ended, Note, Received, Send
from machines.engine.routing import stands
from machines.engine.session import Program, Session
from machines.messages.shapes import Mismatch
from machines.model import Spec
from machines.problems import near
from runtime.journal.writing import Kind
from runtime.players.seeds import derived_seed
from runtime.playground.held_messages import Way
from runtime.playground.message_input import ChoiceError, Filler, written
from runtime.playground.parties import Input, ManualParticipant, deadline, listed, short
from runtime.playground.stubs import RuleStubs
from runtime.process.terminal_text import escape_control_characters

PARTIES_MAX: Final = 100
CROSSINGS_MAX: Final = 10_000  # messages that follow on one choice, without anybody waiting for the person
RINGS_MAX: Final = 10_000  # clocks that ring in one choice
SECONDS_MAX: Final = 1e9

_RUNG: Final = {".timeout": "its time is up", ".after": "an 'after' is due", ".every": "an 'every' is due"}
_RINGING: Final = re.compile("|".join(map(re.escape, _RUNG)))

Tell = Callable[[str, str], None]
"""``(kind, line)``: what has happened, for a person. The kinds: sent, heard, asked, note, warning, closed, ended."""


class ManualRun:
    """All parties of a spec, and what they do to one another.

    ``by_hand`` are roles that a person plays. ``tell`` hears what happens. ``rules`` has the spec's modules. Trials of
    one spec may share their ``programs``, the roles compiled so far.
    """

    def __init__(
        self,
        spec: Spec,
        rules: RuleStubs,
        tell: Tell,
        *,
        seed: int = 0,
        by_hand: Sequence[str] = (),
        programs: dict[str, Program] | None = None,
    ) -> None:
        self.spec = spec
        self.seed = seed
        self.now = 0.0
        self.parties: dict[str, ManualParticipant] = {}
        self.programs: dict[str, Program] = programs if programs is not None else {}
        self.filler = Filler(spec)
        self._rules = rules
        self._tell = tell
        self._by_hand = frozenset(by_hand)
        self._waiting: deque[tuple[ManualParticipant, Effect]] = deque()
        self._counts: dict[str, int] = {}
        self._inputs = 0
        self.way: Way | None = None  # what waits on the way, once it is held there
        for role in spec.listeners():
            if not self.program(role).per_connection:
                self._open(role, role, by_hand=role in by_hand)
        self._exchange()

    def program(self, role: str) -> Program:
        """Return a role compiled; each is compiled once."""
        if role not in self.programs:
            self.programs[role] = Program(self.spec, role, self._rules.modules)
        return self.programs[role]

    # -- choices -----------------------------------------------------------------------------------------------------

    def callers(self) -> tuple[str, ...]:
        """Return the roles that a person can start: they connect, and nobody connects to them."""
        listeners = self.spec.listeners()
        return tuple(role for role in self.spec.connects if role not in listeners)

    def connect(self, role: str, name: str, *, by_hand: bool) -> None:
        """Start a client under a name.

        Raises:
            ChoiceError: there is no such role, the name is taken, or nobody listens any more.
        """
        callers = self.callers()
        if role not in callers:
            raise ChoiceError(f"no role {role!r} connects: {near(role, callers) or ', '.join(callers) or 'none does'}")
        if name in self.parties or name in self.spec.roles:
            raise ChoiceError(f"the name {name!r} is taken")
        if len(self.parties) >= PARTIES_MAX:
            raise ChoiceError(f"{PARTIES_MAX} parties are the most")
        for target in self.spec.connects[role]:
            if target in self.parties and self.parties[target].over:
                raise ChoiceError(f"{target} is over, so nobody listens any more")
        self._open(role, name, by_hand=by_hand or role in self._by_hand)
        self._exchange()

    def lose(self, name: str) -> None:
        """Cut all connections of a party; both ends notice.

        Raises:
            ChoiceError: there is no such party, or it has no connection.
        """
        party = self.party(name)
        if not party.links:
            raise ChoiceError(f"{name} has no connection")
        for seat, other in list(party.open.items()):
            self._say("closed", f"the connection of {name} and {other.name} is lost")
            self._cut(party, seat)
            self._feed(party, "lost", peer=seat)
        if party.session is None:
            party.over = True
        self._exchange()

    def answer(self, name: str, message: str, given: Mapping[str, Any]) -> None:
        """Answer the open question of a party's player.

        Raises:
            ChoiceError: it is not asked anything, or the message may not answer or does not fit.
        """
        party, ask = self._question(name)
        if message not in ask.messages:
            raise ChoiceError(f"{message!r} does not answer {ask.question}: {', '.join(ask.messages)} may")
        fields = self.filler.fill(message, given, dict(ask.arguments))
        del party.asked[ask.number]
        self._feed(party, "answer", number=ask.number, value=(message, fields))
        self._exchange()

    def fail(self, name: str) -> None:
        """Let the player of a party fail to answer.

        Raises:
            ChoiceError: it is not asked anything.
        """
        party, ask = self._question(name)
        del party.asked[ask.number]
        self._feed(party, "failed", number=ask.number, why="it was chosen to fail")
        self._exchange()

    def say(self, name: str, to: str | None, message: str, given: Mapping[str, Any]) -> None:
        """Put a message on a party's connection, whatever its session does.

        Raises:
            ChoiceError: there is no such party, connection or message, or its role never sends it.
        """
        party, seat = self._connection(name, to)
        declared = self.filler.message(message)
        if party.role not in declared.senders:
            raise ChoiceError(f"{message} is sent by {', '.join(declared.senders)}, not by {party.role}")
        fields = self.filler.fill(message, given)
        shape, codec = self.filler.shape(message), self.program(party.role).codec
        values = tuple(fields[field] for field in shape.fields)
        try:
            if message in self.spec.frames:
                data = codec.packs[message](shape.build(values))
            else:
                data = codec.pack(shape.pack(values))
        except (Mismatch, TypeError, ValueError, LookupError) as error:
            raise ChoiceError(f"{message} cannot be written so: {error}") from None
        self._carry(party, [Send(seat, data, message)])
        self._exchange()

    def raw(self, name: str, to: str | None, text: str) -> None:
        """Put a text on a party's connection as it stands, framed as one message.

        Raises:
            ChoiceError: there is no such party or connection.
        """
        party, seat = self._connection(name, to)
        data = self.program(party.role).make_framer().wrap(text.encode(self.spec.wire.charset, "replace"))
        self._carry(party, [Send(seat, data, "raw")])
        self._exchange()

    def hold(self) -> None:
        """Let what is sent from now on, and the closing of connections, wait on the way until it is let through."""
        if self.way is None:
            self.way = Way()

    def deliver(self, name: str, to: str) -> None:
        """Let the first thing through that waits on the way from one party to another.

        Raises:
            ChoiceError: nothing does.
        """
        sent = self.way.first(name, to) if self.way is not None else None
        if sent is None:
            raise ChoiceError(f"nothing waits on the way from {name} to {to}")
        party, (seat, data) = self.party(to), sent
        if seat in party.links:  # else it has closed the connection, and reads it no more
            if data is None:
                del party.links[seat]
                self._feed(party, "lost", peer=seat)
            else:
                self._feed(party, "bytes", peer=seat, data=data)
        self._exchange()

    def ring(self, name: str) -> None:
        """Let time pass for one party alone, until a clock of its has rung.

        Raises:
            ChoiceError: none of its clocks runs, or they ring without end.
        """
        party = self.party(name)
        for _ in range(RINGS_MAX):
            due = deadline(party)
            if due is None:
                raise ChoiceError(f"no clock of {name} runs")
            party.ahead = max(party.ahead, party.ahead + due - self.now)
            if self._feed(party, "tick"):
                self._exchange()
                return
        raise ChoiceError(f"more than {RINGS_MAX} clocks ring there")

    def next_clock(self) -> float | None:
        """Return when the next clock may ring, None if none runs."""
        return min((due for party in self.parties.values() if (due := deadline(party)) is not None), default=None)

    def wait(self, seconds: float | None) -> None:
        """Let time pass: so many seconds, or until a clock has rung.

        Raises:
            ChoiceError: no clock runs, it is no such time, or clocks ring without end.
        """
        if seconds is not None and not 0 <= seconds <= SECONDS_MAX:
            raise ChoiceError(f"time passes by 0 to {SECONDS_MAX:.0f} seconds")
        end = inf if seconds is None else self.now + seconds
        if seconds is None and self.next_clock() is None:
            raise ChoiceError("no clock runs: say how many seconds are to pass, as in: wait 5")
        for _ in range(RINGS_MAX):
            due = self.next_clock()
            if due is None or due > end:
                if end != inf:
                    self.now = end
                return
            self.now = max(self.now, due)
            rang = False
            for party in list(self.parties.values()):
                own = deadline(party)
                if own is not None and own <= self.now:
                    rang = self._feed(party, "tick") or rang
            self._exchange()
            if rang and seconds is None:
                return
        raise ChoiceError(f"more than {RINGS_MAX} clocks ring in that time: let less of it pass")

    def party(self, name: str) -> ManualParticipant:
        """Return the party of a name.

        Raises:
            ChoiceError: there is none.
        """
        if name not in self.parties:
            there = near(name, self.parties) or f"there is {', '.join(self.parties) or 'nobody'}"
            raise ChoiceError(f"there is no {name!r}: {there}")
        return self.parties[name]

    # -- what happens ------------------------------------------------------------------------------------------------

    def _open(
        self, role: str, name: str, *, by_hand: bool, caller: tuple[ManualParticipant, int] | None = None
    ) -> ManualParticipant:
        """Start a party and connect it; what it meets first is on its way."""
        program = self.program(role)
        number = self._counts.get(role, 0)
        self._counts[role] = number + 1
        # What `accord serve` and `accord join` would give it.
        seed = self.seed if program.accepts and not number else derived_seed(self.seed, name)
        my = {} if program.accepts else {"name": name}
        session = None if by_hand else Session(program, seed=seed, my=my, watch=True)
        party = ManualParticipant(name, role, session, number)
        self.parties[name] = party
        for seat, target in enumerate(program.connects):
            self._meet(party, seat, target)
        if caller is not None:
            other, there = caller
            party.link(len(program.connects), other, there)
        self._say("note", f"{name} is here" + (", played by hand" if by_hand else ""))
        if session is not None:
            self._feed(party, "start", seed=seed, my=my)
        return party

    def _meet(self, party: ManualParticipant, seat: int, target: str) -> None:
        if self.program(target).per_connection:
            name = f"{target}{self._counts.get(target, 0) + 1}"
            self._open(target, name, by_hand=target in self._by_hand, caller=(party, seat))
            return
        other = self.parties[target]
        there = len(other.session.seats) if other.session is not None else len(other.names)
        party.link(seat, other, there)
        self._feed(other, "connect", peer=there)

    def _feed(self, party: ManualParticipant, kind: Kind, **more: Any) -> bool:
        """Give a session an input, and queue what it wants done; return whether it took any notice."""
        session = party.session
        if session is None or party.over:
            return False
        now = self.now + party.ahead
        match kind:
            case "start":
                out = session.start(now)
            case "connect":
                _, out = session.connect(now)
            case "bytes":
                out = session.receive(more["peer"], more["data"], now)
            case "lost":
                out = session.lose(more["peer"], now)
            case "answer":
                out = session.answer(more["number"], more["value"], now)
            case "failed":
                out = session.answer_failed(more["number"], more["why"], now)
            case _:
                out = session.tick(now)
        took = session.took
        self._inputs += 1
        party.inputs.append(Input(self._inputs, kind, now, took, out, more, stands(session)))
        if kind == "tick":
            for path, state, event, _ in took:
                rung = _RINGING.search(event)
                if rung is not None:
                    self._say("note", f"{party.name}: {path} in {state}: {_RUNG[rung[0]]}")
        self._carry(party, out)
        return bool(took or out)

    def _carry(self, party: ManualParticipant, effects: Sequence[Effect]) -> None:
        for effect in effects:
            match effect:
                case Send() | Drop():
                    self._waiting.append((party, effect))
                case Ended():
                    party.over = True
                    party.asked.clear()
                    self._waiting.append((party, effect))
                case Ask():
                    party.asked[effect.number] = effect
                    told = ", ".join(f"{name} {written(value)}" for name, value in effect.arguments)
                    self._say("asked", f"{party.name} is asked {effect.question}{': ' + short(told) if told else ''}")
                case Cancel(number):
                    if party.asked.pop(number, None) is not None:
                        self._say("note", f"{party.name} need not answer any more")
                case Received(peer, message, fields):
                    self._say("heard", f"{party.name} hears {message} of {party.met(peer)}{listed(fields)}")
                case Note(level, text, peer):
                    of = f" ({party.met(peer)})" if peer is not None else ""
                    self._say("note" if level in ("debug", "info") else "warning", f"{party.name}: {text}{of}")
                case _:  # the stopping of reading: here nothing is read before its time
                    pass

    def _exchange(self) -> None:
        """Carry what is on its way until nothing moves.

        Raises:
            ChoiceError: it would never end.
        """
        for _ in range(CROSSINGS_MAX):
            if not self._waiting:
                return
            party, effect = self._waiting.popleft()
            match effect:
                case Send(seat, data, message):
                    self._cross(party, seat, data, message)
                case Drop(seat, why):
                    if seat in party.links:
                        self._say("closed", f"{party.name} closes {party.met(seat)} ({why})")
                        self._cut(party, seat)
                        self._feed(party, "lost", peer=seat)
                case Ended(value, failed):
                    told = f"failed: {failed}" if failed is not None else f"result: {written(value)}"
                    self._say("ended" if failed is None else "warning", f"{party.name} is over, {told}")
                    for seat in list(party.links):
                        self._cut(party, seat)
                case _:
                    raise AssertionError("only these are queued")
        self._waiting.clear()
        raise ChoiceError(f"more than {CROSSINGS_MAX} messages follow on this without end")

    def _cross(self, party: ManualParticipant, seat: int, data: bytes, message: str) -> None:
        text = short(data.decode("utf-8", "replace").strip())
        if seat not in party.links:
            self._say("warning", f"{party.name} sends {message} to nobody: the connection is closed")
            return
        other, there = party.links[seat]
        self._say("sent", f"{party.name} -> {other.name}  {message}  {text}")
        if self.way is not None:
            self.way.put(party.name, other.name, there, data)
        else:
            self._feed(other, "bytes", peer=there, data=data)

    def _cut(self, party: ManualParticipant, seat: int) -> None:
        """Close a connection of a party; the other end notices behind all that is on its way to it."""
        if self.way is not None:
            other, there = party.links.pop(seat)
            self.way.put(party.name, other.name, there, None)
        else:
            other, there = self._unlink(party, seat)
            self._feed(other, "lost", peer=there)

    def _unlink(self, party: ManualParticipant, seat: int) -> tuple[ManualParticipant, int]:
        other, there = party.links.pop(seat)
        other.links.pop(there, None)
        if other.session is None and not other.links and other.role not in self.spec.listeners():
            other.over = True
        return other, there

    def _say(self, kind: str, text: str) -> None:
        self._tell(kind, escape_control_characters(text).replace("\n", " "))

    def _question(self, name: str) -> tuple[ManualParticipant, Ask]:
        party = self.party(name)
        if not party.asked:
            raise ChoiceError(f"{name} is not asked anything now")
        return party, next(iter(party.asked.values()))

    def _connection(self, name: str, to: str | None) -> tuple[ManualParticipant, int]:
        party = self.party(name)
        seats = [seat for seat, other in party.open.items() if to in (None, other.name)]
        if to is not None:
            self.party(to)
        if not seats:
            raise ChoiceError(f"{name} has no connection{' to ' + to if to else ''}")
        if len(seats) > 1:
            others = ", ".join(other.name for other in party.open.values())
            raise ChoiceError(
                f"{name} is connected to {others}: say to whom, as in: say {name} to {others.split(',')[0]} …"
            )
        return party, seats[0]
