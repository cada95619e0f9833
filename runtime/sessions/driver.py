"""A host owns one session: it hands it what comes, at what time, and carries out what it asks for, in order.

    connections ── bytes, loss ──▶ ┌──────┐ ── inputs ──▶ ┌─────────┐
    clock ──────── it is time ───▶ │ Host │               │ Session │
    player ─────── answers ──────▶ └──────┘ ◀── effects ─ └─────────┘
                                      │
                                      ├──▶ journal: every input, what it took and led to
                                      └──▶ log: notes

Inputs are handled where they arise, in no task of their own; only the player's decisions run as tasks. Nothing that
goes wrong in a session gets out of its host: the session then ends as failed by the arena, with a journal line, its
connections are closed, and other sessions go on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf
from ssl import SSLContext
from time import monotonic
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from machines.effects import Ask, Cancel, Drop, Effect, Ended, Note, Pause, Received, Resume, Send, Violation
from machines.effects import SecureLink as SecureEffect
from machines.engine.session import Session
from runtime.journal.losses import violation_text
from runtime.journal.writing import Kind, fault_text
from runtime.network.clock import Clock
from runtime.network.silenced import Silenced
from runtime.network.transport import Connection
from runtime.players.base import Player, silent_from
from runtime.process.watchdog import HELD_SECONDS, WATCHDOG
from runtime.sessions.properties import PropertyMonitor
from runtime.sessions.questions import NO_ANSWER, Questions, said
from runtime.sessions.session_journal import JournalWriter, SessionJournal

log = logging.getLogger("accord.session")
property_log = logging.getLogger("accord.property")  # told even where the end of a session says all that failed

# How long the end of a session waits for its last bytes to get out and its peers to close: each connection limits
# itself (FLUSH_SECONDS, LINGER_SECONDS), this is the end of all patience.
DRAIN_SECONDS: Final = 5.0
CANCEL_DRAIN_SECONDS: Final = 1.5  # the same when somebody wants it to stop now; longer than LINGER_SECONDS
_LEVELS: Final = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


class SessionDriver:
    """Runs one session. ``number`` tells sessions of one process apart, in the journal and the log.

    ``player`` answers questions; without one they count as failed. ``observe`` sees every effect, after it was
    carried out, and the loss of a connection as a note that begins with ``closed:``. ``seed`` and ``my`` are those
    that the session was made with, for the journal. ``names`` gives what a peer is called in the log, by seat; left
    out, or where it gives nothing, that is the name which its sign-up returned.

    Once a session that takes in no connections has lost all it had, no decision can reach anybody: a question that is
    open, or comes, counts as failed at once, so that a person does not sit at a prompt of a game that is over.
    """

    __slots__ = (
        "_alarm", "_armed", "_clock", "_connections", "_heard", "_journal", "_monitor", "_my", "_names", "_observe",
        "_over", "_player", "_questions", "_released", "_seed", "_starttls", "_unreleased", "broken", "ended", "name",
        "session", "turned_away",
    )  # fmt: skip

    def __init__(
        self,
        session: Session,
        clock: Clock,
        tasks: TaskGroup,
        *,
        name: str = "session",
        number: int = 0,
        player: Player | None = None,
        journal: JournalWriter | None = None,
        observe: Callable[[Effect], None] | None = None,
        seed: int = 0,
        my: Mapping[str, Any] | None = None,
        monitor: PropertyMonitor | None = None,
        names: Callable[[int], str] | None = None,
        starttls: SSLContext | None = None,
    ) -> None:
        self.session = session
        self._names, self._starttls = names, starttls
        self.broken: list[str] = []  # what properties of the spec did not hold, in the order in which that was seen
        # With a player: which of those we connected to, by seat, ended the connection before any message was heard, and
        # why, if the network says so. None as long as nobody has.
        self.turned_away: tuple[int, str] | None = None
        self._heard = False  # a message of anybody
        self._monitor = monitor
        self.name = name
        self.ended: Ended | None = None
        self._clock = clock
        self._player = player
        self._journal = SessionJournal(journal, number, self._journal_failed)
        self._observe = observe
        self._seed = seed
        self._my = my
        self._alarm = clock.alarm(self._wake)
        self._armed = inf  # when the alarm will ring; it may be too early, never too late
        self._connections: dict[int, Connection] = {}  # those the session may still write to, by seat
        self._unreleased: set[Connection] = set()
        self._questions = Questions(self, player, tasks)
        self._over = anyio.Event()
        self._released = anyio.Event()

    # -- what comes in -----------------------------------------------------------------------------------------------

    def start(self, connections: Sequence[Connection] = ()) -> None:
        """Start the session; ``connections`` are its first seats, in order."""
        for seat, connection in enumerate(connections):
            self._attach(seat, connection)
        now = self._clock.now()
        self._input("start", now, partial(self.session.start, now), {"seed": self._seed, "my": self._my})

    def connect(self, connection: Connection, on_closed: Callable[[], None] | None = None) -> None:
        """Take in a connection; ``on_closed`` is called once it is released."""
        now = self._clock.now()

        def call() -> list[Effect]:
            seat, effects = self.session.connect(now)
            self._attach(seat, connection, on_closed)
            what["peer"] = seat
            return effects

        what: dict[str, Any] = {}
        self._input("connect", now, call, what)
        if "peer" not in what:  # the session broke before it had a seat
            connection.start(_ignore, _ignore, on_closed or _ignore)
            self._cut_off(connection)

    def give_up(self, connections: Sequence[Connection], why: str) -> None:
        """End the session as failed before it has started, and close these connections."""
        for seat, connection in enumerate(connections):
            self._attach(seat, connection)
        log.error("%s: %s", self.name, why)
        self._end(Ended(None, why))

    def _attach(self, seat: int, connection: Connection, on_closed: Callable[[], None] | None = None) -> None:
        self._connections[seat] = connection
        self._unreleased.add(connection)
        log.debug("%s: peer %d is %s", self.name, seat, connection.name)

        def released() -> None:
            self._unreleased.discard(connection)
            if not self._unreleased and self.ended is not None:
                self._released.set()
            if on_closed is not None:
                on_closed()

        connection.start(partial(self._receive, seat), partial(self._lose, seat), released)

    def _receive(self, seat: int, chunk: bytes) -> None:
        # As `_input`, spelt out: this is where nearly all the time of a run is spent.
        if self.ended is not None:
            return
        now = self._clock.stamp()
        session = self.session
        if session.seats[seat].silent:
            return  # it is heard no more: what it sends costs neither work nor journal
        begun = monotonic()
        WATCHDOG.turn = self, seat
        try:
            effects = session.receive(seat, chunk, now)
        except Exception as error:
            WATCHDOG.turn = None
            self._broke("bytes", now, error, {"peer": seat, "data": chunk})
            return
        WATCHDOG.turn = None
        if monotonic() - begun > HELD_SECONDS or WATCHDOG.fired:
            self._held(monotonic() - begun, seat)
        if self._journal.writer is not None:
            # The transitions as they are: the paths of their frames are found out when the line is made.
            self._journal.write_bytes(now, session.transitions, effects, seat, chunk, self._clock.now() - now)
        if self._monitor is not None:
            self._ask_properties(now, effects)
        self._carry_out(effects)
        self._set_alarm()

    def _lose(self, seat: int, why: str) -> None:
        if self.ended is not None:
            return
        now = self._clock.stamp()
        log.info("%s: %s: its connection ended%s", self.name, self._who(seat), f": {why}" if why else "")
        if self._turns_away(seat):
            self.turned_away = (seat, why)
        self._input("lost", now, partial(self.session.lose, seat, now), {"peer": seat, "why": why or None})
        if self._observe is not None:
            self._show(Note("info", f"closed: {why or 'it hung up'}", seat))
        connection = self._connections.pop(seat, None)
        if connection is not None:
            connection.close_after_flush()
        if self.is_alone():
            self._questions.fail_all()

    def _turns_away(self, seat: int) -> bool:
        """Whether the loss of a peer is that of one who would not have us, as far as can be told from here.

        Not where its end is what the spec waits for: a client that says good-bye, and nothing else is to come.
        """
        if self._player is None or self._heard or self._questions.misdeed:
            return False
        return seat < len(self.session.program.connects) and not self.session.may_close_now(seat)

    # -- what its questions ask and want -------------------------------------------------------------------------------

    def is_alone(self) -> bool:
        """Whether nothing that the session says can reach anybody any more."""
        return not self._connections and not self.session.program.accepts

    def first_connection(self) -> Connection | None:
        """Return the connection to the first peer, as long as there is one."""
        return self._connections.get(0)

    def answer(self, number: int, value: Any) -> None:
        """Take the player's answer to a question."""
        now = self._clock.now()
        self._input("answer", now, partial(self.session.answer, number, value, now), {"number": number, "value": value})

    def answer_failed(self, number: int, why: str, kind: str) -> None:
        """Take note that the player has no answer to a question."""
        now = self._clock.now()
        call = partial(self.session.answer_failed, number, why, now, kind)
        self._input("failed", now, call, {"number": number, "why": why, "fault": kind if kind != NO_ANSWER else ""})

    def hang_up(self) -> None:
        """Close the first connection in good order, as the player wants it."""
        self._connections.pop(0).close_after_flush()
        self._lose(0, "the player hung up")

    # -- inputs --------------------------------------------------------------------------------------------------------

    def _wake(self) -> None:
        if self.ended is not None:
            return
        self._armed = inf
        now = self._clock.now()
        if now >= self._journal.flush_at:
            self._journal.flush()
        deadline = self.session.deadline
        if deadline is not None and deadline <= now:
            self._input("tick", now, partial(self.session.tick, now), {"lag": now - deadline})
        else:
            self._set_alarm()

    def _input(self, kind: Kind, now: float, call: Callable[[], list[Effect]], what: Mapping[str, Any] = {}) -> None:
        if self.ended is not None:
            return
        begun = monotonic()
        WATCHDOG.turn = self, what.get("peer")
        try:
            effects = call()
        except Exception as error:
            WATCHDOG.turn = None
            self._broke(kind, now, error, what)
            return
        WATCHDOG.turn = None
        if monotonic() - begun > HELD_SECONDS or WATCHDOG.fired:
            self._held(monotonic() - begun, what.get("peer"))
        if self._journal.writer is not None:
            self._journal.write(kind, now, self.session.took, effects, **what)
        if self._monitor is not None:
            self._ask_properties(now, effects)
        self._carry_out(effects)
        self._set_alarm()

    def held_by(self, peer: int | None) -> str:
        """Say whose input is being handled, for people."""
        return f"{self.name}: an input{f' of {self._who(peer)}' if peer is not None else ''} in {self.session.where()}"

    def _held(self, seconds: float, peer: int | None) -> None:
        """Say who has held the loop, and where its session stood when that began."""
        if WATCHDOG.fired:
            WATCHDOG.settle()
        if seconds > HELD_SECONDS:
            took = self.session.took
            path, state = took[0][:2] if took else (self.session.where(), "")
            who = f"{self._who(peer)} " if peer is not None else "a clock or an answer "
            where = f"{path} in {state}" if state else path
            log.warning("%s: %sheld the loop for %.0f ms, in %s", self.name, who, seconds * 1000, where)

    def _ask_properties(self, now: float, effects: Sequence[Effect]) -> None:
        """Say which properties of the spec an input has broken; the session goes on, for it kept to its spec."""
        assert self._monitor is not None, "there are properties"
        for text in self._monitor.fed(self.session.took, effects):
            self.broken.append(text)
            property_log.error("%s: %s", self.name, text)
            self._journal.write("property", now, (), (), why=text)

    def _journal_failed(self, error: Exception) -> None:
        log.error("%s: the journal failed and is not kept any more: %s", self.name, said(error))

    def _set_alarm(self) -> None:
        if self.ended is not None:
            return
        due = self.session.deadline
        if due is None or self._journal.flush_at < due:
            due = self._journal.flush_at
        if due < self._armed:
            self._armed = due
            self._alarm.set(due)

    # -- what goes out -----------------------------------------------------------------------------------------------

    def _carry_out(self, effects: Sequence[Effect]) -> None:
        try:
            for effect in effects:
                if type(effect) is Send:  # by far the most frequent, so first and by hand
                    connection = self._connections.get(effect.peer)
                    if connection is not None:
                        connection.send(effect.data)
                else:
                    self._do(effect)
                if self._observe is not None:
                    self._show(effect)
        except Exception as error:
            if self.session.ended is None:
                # The session knows nothing of it; without this line the journal would just stop.
                failed = fault_text(error)
                self._journal.write("fault", self._clock.now(), (), [Ended(None, failed)], why=failed)
            self._fail(error)
        ended = self.session.ended
        if ended is not None:
            self._end(ended)

    def _do(self, effect: Effect) -> None:
        match effect:
            case Violation():
                log.info("%s: %s", self.name, violation_text(effect, self._who(effect.peer)))
            case Note(level, text, peer):
                who = "" if peer is None else f"{self._who(peer)}: "
                log.log(_LEVELS[level], "%s: %s%s", self.name, who, text)
            case Drop(peer, why):
                log.info("%s: %s is dropped: %s", self.name, self._who(peer), why)
                connection = self._connections.pop(peer, None)
                if connection is not None:
                    connection.close_after_flush()
            case SecureEffect(peer) if peer in self._connections:
                self._connections[peer].secure(self._starttls, accepted=self.session.seats[peer].accepted)
            case Pause(peer) if peer in self._connections:
                self._connections[peer].pause()
            case Resume(peer) if peer in self._connections:
                self._connections[peer].resume()
            case Ask():
                self._questions.put(effect)
            case Cancel(number):
                self._questions.cancel(number)
            case Received(_, message, fields):
                self._heard, self.turned_away = True, None
                if self._player is not None:
                    try:
                        self._player.heard(message, fields)
                    except Exception as error:
                        log.warning("%s: the player failed to take note of %s: %s", self.name, message, said(error))
                    if message and message == silent_from(self._player):
                        log.info("%s: the player is stuck in %s: nothing is sent any more", self.name, message)
                        for seat, connection in self._connections.items():
                            self._connections[seat] = Silenced(connection)
        # All others were sent above; an end is seen on the session, once all its effects are carried out.

    def _who(self, peer: int | None) -> str:
        """Return what a peer is called, for people; None is the own player."""
        if peer is None:
            name = self.session.my.get("name")
            return f"the player {name}" if isinstance(name, str) else "the player"
        named: object = self._names(peer) if self._names is not None else ""
        if not named and peer < len(self.session.seats):
            named = self.session.seats[peer].peer.fields.get("name")
        here = f"{named}, peer {peer}" if named and isinstance(named, str) else f"peer {peer}"
        return dict(enumerate(self.session.program.connects)).get(peer, here)

    def _show(self, effect: Effect) -> None:
        assert self._observe is not None, "somebody looks on"
        try:
            self._observe(effect)
        except Exception as error:
            log.warning("%s: who looked on failed, and looks on no more: %s", self.name, said(error))
            self._observe = None

    # -- the end -----------------------------------------------------------------------------------------------------

    async def over(self) -> Ended:
        """Wait until the session has ended, and return how."""
        await self._over.wait()
        assert self.ended is not None, "what is over has ended"
        return self.ended

    async def release(self) -> None:
        """Close what is left, once its last bytes are out, and wait for that, but not for long.

        A session that has not ended is given up: its connections are closed all the same.
        """
        seconds = DRAIN_SECONDS
        if self.ended is None:
            seconds = CANCEL_DRAIN_SECONDS
            log.info("%s: stopped; it waited for: %s", self.name, self.session.where())
            self._end(Ended(None, "it was stopped"))
        if self._unreleased:
            with anyio.move_on_after(seconds, shield=True):
                await self._released.wait()
        for connection in tuple(self._unreleased):
            log.info("%s: %s is still open after %g s and is cut off", self.name, connection.name, seconds)
            self._cut_off(connection)

    def _end(self, ended: Ended) -> None:
        if self.ended is not None:
            return
        self.ended = ended
        self._alarm.close()
        self._questions.cancel_all()
        for connection in self._connections.values():
            self._close(connection)
        self._connections.clear()
        self._journal.flush()
        if not self._unreleased:
            self._released.set()
        self._over.set()

    def _close(self, connection: Connection) -> None:
        """Close a connection; that one cannot be closed in good order keeps no other from it."""
        try:
            connection.close_after_flush()
        except Exception as error:
            log.error("%s: %s could not be closed and is cut off: %s", self.name, connection.name, said(error))
            self._cut_off(connection)

    def _cut_off(self, connection: Connection) -> None:
        try:
            connection.abort()
        except Exception as error:
            log.error("%s: %s could not be cut off: %s", self.name, connection.name, said(error))

    def _broke(self, kind: Kind, now: float, error: Exception, what: Mapping[str, Any]) -> None:
        """The session raised: nothing of the input was done."""
        self._journal.write(kind, now, self.session.took, [Ended(None, fault_text(error))], **what)
        self._fail(error)

    def _fail(self, error: Exception) -> None:
        failed = fault_text(error)
        log.error("%s: %s", self.name, failed)
        log.debug("%s: where that came from", self.name, exc_info=error)
        self._end(Ended(None, failed))


def _ignore(*_: object) -> None:
    """Nothing is done with what comes."""
