"""The tree of frames and how it moves: entering and leaving states, calls, loops, sign-ups, failures.

A transition is a transaction. While one runs, its frame's slots are written in place and its effects appended; if an
expression raises, slots, state, effects and drops go back to where they were, and the frame has *failed*: the nearest
``failed`` branch answers, or the session ends with nothing of the event done.

`machines.engine.session` adds what comes from outside: bytes, clocks, answers. It calls `Interpreter.fire`;
everything that follows silently from that is done here, by `Interpreter.run_to_completion`; `iteration` has what an
``each`` does, `admission` an ``accept``.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from machines.effects import Ask, Cancel, Effect, Ended, Note, Violation
from machines.effects import Drop as DropEffect
from machines.engine import admission, iteration, keeping, spawning
from machines.engine.actions import peers
from machines.engine.call_stack import (
    LOST,
    NOBODY_HEARD,
    TOO_SILENT,
    CallFrame,
    FailedError,
    ParallelLoop,
    PeerState,
    SuspendedAdmission,
    Transition,
    is_within,
)
from machines.engine.compiled_states import (
    ACCEPT,
    AGAIN,
    CHOICE,
    FINAL,
    PASS,
    WAIT,
    CompiledState,
    HandlerScope,
    Reading,
)
from machines.engine.compiler import Program
from machines.engine.rule_errors import raised_in
from machines.engine.timers import start_clocks, start_standing
from machines.engine.transaction import NO_QUESTIONS, PLAIN, Forgotten, PendingSpawn, Transaction
from machines.semantics import calls
from machines.semantics.domain import Domain
from machines.semantics.hearing import last_layer, layers
from machines.values import Peer, Record
from machines.work import SILENT_STEPS_MAX, WorkError

FAILURES_MAX = 100  # `failed` branches taken in one event; each undoes its own step, so only a cycle of them gets here.
_NO_SLOTS: list[Any] = []  # what a frame that is over has; nobody writes to it


class Interpreter(Transaction, Domain[CallFrame, PeerState, Reading]):
    """The tree of frames: fired, entered, left and undone. Its answers to the rules are in `session_domain`."""

    __slots__ = ("earliest", "ended", "event_mark", "failures", "granted", "lonely", "my",
                 "over_limit", "reading", "room", "root", "seed", "serial", "sign_ups", "speaker", "steps",
                 "transitions", "unheard", "work")  # fmt: skip

    def __init__(self, program: Program, seed: int, my: Mapping[str, Any]) -> None:
        self.program = program
        self.seed = seed
        self.my = Record({**PLAIN, **my}) if my else PLAIN
        self.now = 0.0
        self.seats: list[PeerState] = []
        self.extra = None
        self.root: CallFrame | None = None
        self.ended: Ended | None = None
        self.effects: list[Effect] = []
        self.speaker: Peer | None = None
        self.reading = b""  # the message, or where none could be cut the bytes, that is looked at
        self.over_limit = False
        self.room = program.wire.kept_bytes_max // keeping.GROWTH  # bytes that may come until what is kept is measured
        self.earliest = inf  # no clock is due before; may be too early, never too late
        self.questions = NO_QUESTIONS
        self.asked = 0
        self.work: list[CallFrame] = []
        self.ready = self.undoable = ()
        self.unheard: tuple[int, ...] = ()  # seats with something in their inbox that nobody would read so far
        self.lonely: tuple[CallFrame, ...] = ()  # frames that await a group in which nobody is left
        self.steps = 0
        self.sign_ups: tuple[CallFrame, ...] = ()  # frames whose accept was entered; not all are open any more
        self.granted = 0  # silent steps allowed besides SILENT_STEPS_MAX, for items that began side by side
        self.failures = 0
        self.serial = 0
        self.event_mark = 0
        self.transitions: list[Transition] = []

    # -- transitions -------------------------------------------------------------------------------------------------

    def fire(
        self,
        frame: CallFrame,
        layer: HandlerScope,
        event: str,
        peer: Peer | None,
        reason: str | None = None,
        fields: tuple[Any, ...] = (),
    ) -> bool:
        """Take the first branch of an event that may be taken; return False if none may.

        ``event`` has its layer's prefix. What follows from the branch is queued for `run_to_completion`.
        """
        if self.room < 0 and keeping.refuses(self, event, peer):
            self.over_limit = True
            return False
        slots, node, table = frame.slots, frame.node, frame.table
        saved = slots.copy()
        mark = len(self.effects)
        self.undoable = ()
        self.speaker = peer
        self.over_limit = False
        folded: list[Any] | None = None
        try:
            loop = frame.loop
            if loop is not None and isinstance(loop, ParallelLoop) and loop.results:
                folded = self._fold(frame, loop, saved, fails=not event.endswith(".failed"))
            if table.peer_slot and (peer is not None or reason not in (None, "failed")):
                slots[table.peer_slot] = peer  # a fault without a peer, such as an empty group's, says so
            if reason is not None and table.reason_slot:
                slots[table.reason_slot] = reason
            taken = node.takes[event](slots, fields)
            if taken is None:
                slots[:] = saved
                return False
            if taken.kind == CHOICE:
                taken = _chosen(node, taken, slots)
            if taken.keeps:
                _unfold(slots, folded, saved)
                self._stay(frame, again=taken.kind == AGAIN)
        except BaseException as error:
            self.rollback(frame, saved, mark)
            self.failed(frame, error, f"{event} in {node.name}", layer if event == layer.prefix + ".failed" else None)
            return True
        to = node.name if taken.keeps else taken.name
        self.transitions.append((frame.parent, table.name, frame.ordinal, node.name, event, to))
        if not taken.keeps:
            self._move(frame, node, taken)
        return True

    def _fold(self, frame: CallFrame, loop: ParallelLoop, saved: list[Any], *, fails: bool) -> list[Any] | None:
        """Whoever leaves a parallel loop half way keeps what its items have returned so far; return names with that."""
        try:
            iteration.fold(self, frame, loop, sorted(loop.results))
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) or fails:
                raise
            frame.slots[:] = saved  # it is that fold which failed: the branch that answers goes without
            return None
        return frame.slots[:]

    def _move(self, frame: CallFrame, node: CompiledState, taken: CompiledState) -> None:
        """Leave a state for another."""
        if node.plain and frame.extra is None:  # `leave`, for a plain wait
            for seat in frame.hears:
                if seat.holder is frame:
                    seat.holder = None
            frame.hears = ()
            frame.deadline = inf
        else:
            self.leave(frame)
        frame.node = taken
        if taken.kind == FINAL and frame.parked is None:
            self._finish(frame)  # `run_to_completion` would do just that next
        else:
            self.work.append(frame)

    def rollback(self, frame: CallFrame, saved: list[Any], mark: int) -> None:
        """Undo what a transition of a frame did so far: names, effects, drops, counts of limits."""
        frame.slots[:] = saved
        del self.effects[mark:]
        for done in reversed(self.undoable):
            match done:
                case PeerState():
                    done.dropped = False
                case Forgotten():
                    done.restore()
                case PendingSpawn():
                    extra = self.extras()
                    extra.starting = tuple(other for other in extra.starting if other is not done)
                case CallFrame() as counter, str() as key, bool() as rate:
                    counter.uncount(key, rate=rate)
                case list() as slots, int() as slot, value:
                    slots[slot] = value
        self.undoable = ()

    def _stay(self, frame: CallFrame, *, again: bool) -> None:
        """The state is kept: whom it awaits is looked at again, and with ``again`` its clocks start afresh.

        Raises what an expression raises; then nothing of it has happened.
        """
        node = frame.node
        clocks = frame.deadline, frame.moments, frame.serial if frame.deadline != inf else 0
        asks = node.asked is not None and frame.question is None
        try:
            if again:
                start_clocks(self, frame, node)
            if asks:
                self.ask(frame, node)
            if node.kind == WAIT:
                if node.awaits is not None:
                    self.register(frame, node, afresh=False)
            elif node.kind == ACCEPT:
                if frame.accepting is None:
                    raise FailedError("the sign-up is not open, so it cannot be kept: 'failed' has to lead elsewhere")
                admission.hear_seated(self, frame, node)
        except BaseException:
            frame.deadline, frame.moments, frame.serial = clocks
            if asks and frame.question is not None:  # the question itself goes with the effects that are taken back
                self.questions.pop(frame.question)
                frame.question = None
            raise
        if self.unheard:
            self.hear_more()

    def go_on(self, frame: CallFrame) -> None:
        """What a state does is done: take the first branch of ``then`` that may be taken, and so on where it passes."""
        slots = frame.slots
        while True:
            node = frame.node
            saved = slots[:] if node.binds_then else slots
            mark = len(self.effects)
            self.undoable = ()
            self.speaker = None
            try:
                taken = node.then(slots) if node.then is not None else None
                if taken is None or taken.kind == CHOICE:
                    taken = _chosen(node, taken, slots)
            except BaseException as error:
                self.rollback(frame, saved, mark)
                self.failed(frame, error, f"after {node.name}")
                return
            self.transitions.append((frame.parent, frame.table.name, frame.ordinal, node.name, ".then", taken.name))
            if node.kind != PASS or frame.extra is not None:  # else nothing was begun that could be left
                self.leave(frame)
            frame.node = taken
            if taken.kind != PASS or taken.entry is not None or self.extra is not None:
                self.work.append(frame)
                return
            # `run_to_completion` would do just this next.
            self.steps += 1
            if self.steps > SILENT_STEPS_MAX + self.granted:
                self.failed(frame, FailedError(TOO_SILENT), "passing on")
                return
            frame.entered = self.now

    def failed(self, frame: CallFrame, error: BaseException, where: str, beyond: HandlerScope | None = None) -> None:
        """A frame cannot go on. The nearest ``failed`` branch answers; with none, the session ends as failed.

        Nothing in here waits, so nothing is cancelled in here: a SystemExit, a GeneratorExit, even a cancellation comes
        of a rule that raised it, and is a failure like any other. A KeyboardInterrupt is not told from the person's at
        the keyboard, which the interpreter raises wherever it is; so it stops the program, whoever raised it.
        ``beyond`` is the frame's layer whose own ``failed`` branch is what failed: only those outside it are asked.
        """
        if isinstance(error, KeyboardInterrupt):
            raise error
        if isinstance(error, WorkError):
            most = self.program.work_max
            error = FailedError(f"this event goes through more than {most} elements of lists and texts (work_max)")
        place = f"{frame.path} ({frame.node.place}, {where})"
        kind = "" if isinstance(error, FailedError) else f"{type(error).__name__}: "
        text = f"{kind}{error}".rstrip(": ")
        if rule := raised_in(error):
            text += f" (in {rule})"
        self.failures += 1
        if self.failures <= FAILURES_MAX:
            self.steps = 0
            note: Note | None = Note("error", f"{place} failed: {text}")
            for holder, layer in layers(frame):
                if beyond is not None:
                    beyond = None if layer is beyond else beyond
                elif ".failed" in layer.events:
                    if note is not None:
                        self.effects.append(note)
                        note = None
                    if self.fire(holder, layer, layer.prefix + ".failed", None, "failed"):
                        return
                if holder.is_sign_up and layer is last_layer(holder):
                    admission.refuse(self, holder, f"its sign-up failed: {text}", "error")
                    return
                if holder.detached and layer is last_layer(holder):
                    spawning.fail(self, holder, f"{place}: {text}")
                    return
        self.end_failed(f"{place}: {text}")

    def end_failed(self, why: str) -> None:
        """End the session as failed; of the running event nothing but this goes out."""
        if self.ended is not None:
            return
        undone = self.effects[self.event_mark :]
        unasked = {effect.number for effect in undone if isinstance(effect, Ask)}
        self.effects[self.event_mark :] = [
            effect
            for effect in undone
            if isinstance(effect, Note | Violation) or (isinstance(effect, Cancel) and effect.number not in unasked)
        ]
        for number in unasked & self.questions.keys():
            self.questions.pop(number).question = None
        for effect in undone:
            if isinstance(effect, DropEffect):
                self.seats[effect.peer].dropped = False  # it is closed with all the others instead
        self.end(Ended(None, why))

    def end(self, ended: Ended) -> None:
        """End the session: every call is abandoned, every peer that is left is closed."""
        self.ended = ended
        self.work.clear()
        self.ready = ()
        self.lonely = ()
        if self.extra is not None:
            self.extra.starting = self.extra.rejoining = self.extra.endings = ()
        if self.root is not None:
            self.abandon(self.root)
        if ended.failed is not None:
            self.effects.append(Note("error", f"the session failed: {ended.failed}"))
        for seat in self.seats:
            if seat.inbox:
                unread = sum(1 for kind, _, _ in seat.inbox if kind != LOST)
                if unread:
                    self.effects.append(Note("info", f"{unread} unread of it at the end", seat.number))
                seat.inbox = ()
            if not seat.gone:
                seat.dropped = True
                self.effects.append(DropEffect(seat.number, "the session is over"))
        self.effects.append(ended)

    # -- leaving -----------------------------------------------------------------------------------------------------

    def leave(self, frame: CallFrame) -> None:
        """Undo what being in a state means: clocks, question, whom it hears, what it called."""
        accepting = frame.accepting
        # An accept into the same name may follow at once: then those it heard need not be looked at again, one by one.
        heard = accepting.heard if accepting is not None and not self.program.starts else NOBODY_HEARD
        if frame.hears is not heard[2] and frame.parked is None:
            self._hear_nobody(frame)
        frame.deadline = inf
        frame.moments = None
        if frame.extra is not None:
            frame.extra.left()
        if frame.question is not None:
            self._cancel(frame)
        if frame.child is not None:
            child, frame.child = frame.child, None
            self.abandon(child)
        if frame.loop is not None:
            loop, frame.loop = frame.loop, None
            if isinstance(loop, ParallelLoop):
                for child in list(loop.running.values()):
                    self.abandon(child)
        if accepting is not None:
            frame.accepting = None
            accept = frame.node.accept
            assert accept is not None, "only an accept has a sign-up"
            frame.parked = SuspendedAdmission({**(frame.parked or {}), **accepting.pending})
            frame.parked.slot = accept.slot
            frame.parked.heard = heard

    def _hear_nobody(self, frame: CallFrame) -> None:
        for seat in frame.hears:
            if seat.holder is frame:
                seat.holder = None
        frame.hears = ()

    def _cancel(self, frame: CallFrame) -> None:
        if frame.question is not None:
            self.questions.pop(frame.question, None)
            self.effects.append(Cancel(frame.question))
            frame.question = None

    def abandon(self, frame: CallFrame) -> None:
        """End a frame and all it called, innermost first; no step of theirs runs, what was sent stands."""
        for child in list(frame.children()):
            self.abandon(child)
        frame.child = None
        frame.loop = None
        if frame.accepting is not None or frame.parked is not None:
            self.close_pending({**(frame.parked or {}), **(frame.accepting.pending if frame.accepting else {})})
            frame.accepting = frame.parked = None
        frame.alive = False
        self.leave(frame)
        if frame.detached:
            spawning.give_back(self, frame)

    def close_pending(self, pending: Mapping[int, CallFrame]) -> None:
        """The sign-up is shut: whoever was still signing up is closed."""
        for number, child in pending.items():
            if child.alive:
                self.abandon(child)
            if not self.seats[number].gone:
                self.drop(self.seats[number].peer, "the door was shut while it was signing up")

    # -- entering ----------------------------------------------------------------------------------------------------

    def run_to_completion(self) -> None:
        """Run until every frame waits."""
        work = self.work
        while self.ended is None:
            if self.extra is not None:
                spawning.carry_on(self, self.extra)
            if not work:
                return
            frame = work.pop()
            if not frame.alive:
                continue
            self.steps += 1
            if self.steps > SILENT_STEPS_MAX + self.granted:
                self.failed(frame, FailedError(TOO_SILENT), "passing on")
                continue
            if frame.parked is not None:
                self._unpark(frame, frame.parked)
            if frame.node.kind == FINAL:
                self._finish(frame)
            else:
                self._enter(frame)

    def _unpark(self, frame: CallFrame, parked: SuspendedAdmission) -> None:
        """Close the sign-ups under way, unless this state is an accept that goes on with them or may lead to one."""
        node = frame.node
        if node.kind != PASS and (node.accept is None or node.accept.slot != parked.slot):
            frame.parked = None
            self._hear_nobody(frame)
            self.close_pending(parked)

    def _enter(self, frame: CallFrame) -> None:
        node = frame.node
        kind = node.kind
        frame.entered = self.now
        if kind == PASS and node.entry is None:
            self.go_on(frame)
            return
        slots = frame.slots
        saved = slots[:] if node.binds else slots
        mark = len(self.effects)
        self.undoable = ()
        self.speaker = None
        try:
            if node.plain:
                if node.entry is not None:
                    node.entry(slots)
                # What `start_clocks` and `register` do, in half the time: most that wait are plain.
                self.serial = frame.serial = self.serial + 1
                frame.deadline = deadline = self.now + node.seconds  # type: ignore[operator]
                if deadline < self.earliest:
                    self.earliest = deadline
                frame.empty_told = False
                peer = node.awaits(slots)  # type: ignore[misc]
                plain = type(peer) is Peer and self.extra is None and not frame.hears
                seat = self.seats[peer.number] if plain else None
                if seat is None or seat.holder or seat.inbox or seat.more or seat.lost or seat.dropped or seat.deaf:
                    self.register(frame, node, afresh=True)
                else:
                    seat.holder = frame
                    frame.hears = (seat,)
                if self.unheard:
                    self.hear_more()
                return
            if node.in_turn:
                iteration.call_first(self, frame, node)
            else:
                calls.enter(self, frame)
        except BaseException as error:
            self.rollback(frame, saved, mark)
            self.failed(frame, error, f"entering {node.name}")

    def hear_more(self) -> None:
        """Layers may have begun to hear peers that nobody awaits: look at every inbox that nobody would read before."""
        for number in sorted(self.unheard):
            seat = self.seats[number]
            if seat.inbox and seat.holder is None:
                self.look_at(seat)
        self.unheard = tuple(number for number in self.unheard if self.seats[number].inbox)

    def register(self, frame: CallFrame, node: CompiledState, *, afresh: bool) -> None:
        """Make the awaited peers' seats heard by this frame."""
        value = node.awaits(frame.slots)  # type: ignore[misc]
        if type(value) is Peer:
            seat = self.seats[value.number]
            if seat.lost:
                seat = admission.restore_peer(self, value)
            if self.extra is not None and frame.host is not self.lent_to(seat):
                self.hear(frame, (seat,))
                return
            if seat.holder is None and not frame.hears:
                seat.holder = frame
                frame.hears = (seat,)
            elif seat.holder is not frame or len(frame.hears) != 1:
                self.hear(frame, (seat,))
            if seat.inbox or seat.more or seat.lost or seat.dropped or seat.deaf:
                if (afresh or not seat.closed_told) and seat.silent and not seat.inbox and not seat.more:
                    seat.put(LOST, None, self.now)
                if seat.inbox or seat.more:
                    self.look_at(seat)
            return
        group = tuple([admission.restore_peer(self, peer) for peer in peers(value)])
        self.hear(frame, group)
        if not frame.empty_told and all(
            seat.silent and not seat.inbox and not seat.more and frame.host is self.lent_to(seat) for seat in group
        ):
            frame.empty_told = True
            if frame not in self.lonely:  # it may be from a state that it has left
                self.lonely += (frame,)

    def hear(self, frame: CallFrame, group: tuple[PeerState, ...]) -> None:
        """Let a frame hear these seats and no others; a loss that nobody was told is told it.

        Raises FailedError if a call side by side with it hears one of them; all that is done then is `spawning.want`.
        """
        away = [seat for seat in group if frame.host is not self.lent_to(seat)]
        if away:
            for seat in away:
                spawning.want(self, seat, frame)
            group = tuple([seat for seat in group if frame.host is self.lent_to(seat)])
        for seat in group:
            holder = seat.holder
            if holder is not None and holder is not frame and holder.alive and not is_within(frame, holder):
                raise FailedError(f"{holder.path} awaits peer {seat.number} already: side by side only one may")
        for seat in frame.hears:
            if seat.holder is frame:
                seat.holder = None
        frame.hears = group
        for seat in group:
            seat.holder = frame
            if seat.silent and not seat.inbox and not seat.more and not seat.closed_told:
                seat.put(LOST, None, self.now)
            if seat.inbox or seat.more:
                self.look_at(seat)

    # -- calls and loops ---------------------------------------------------------------------------------------------

    def new_frame(self, name: str, arguments: tuple[Any, ...], parent: CallFrame | None, ordinal: int) -> CallFrame:
        """Make a frame and let its standing clocks run; the caller queues it.

        One is made for each turn of a game. Setting its attributes here takes 0.2 us less than an ``__init__`` would.
        """
        table = self.program.tables[name]
        frame = CallFrame()
        frame.tree = self
        frame.table = table
        frame.parent = parent
        frame.ordinal = ordinal
        frame.slots = slots = table.blank.copy()
        slots[0] = frame
        if arguments:
            slots[table.arguments] = arguments
        frame.node = table.entrance
        frame.hears = ()
        frame.deadline = inf
        frame.alive = True
        frame.child = frame.loop = frame.accepting = frame.parked = frame.moments = None
        frame.question = frame.calls = frame.path_text = frame.extra = None
        frame.host = parent.host if parent is not None else None
        if table.first_live is not None:
            table.first_live(slots)
        if table.stands:
            start_standing(self, frame)
        return frame

    def _finish(self, frame: CallFrame) -> None:
        """A machine has returned: hand its value to whoever called it."""
        frame.alive = False
        if frame.extra is not None:
            for child in list(frame.started.values()):
                self.abandon(child)
        frame.slots = _NO_SLOTS  # its first is the frame itself: so it goes at once, not when the collector comes
        if frame.extra is not None and frame.detached:
            spawning.finish(self, frame)
            return
        parent = frame.parent
        if parent is not None and parent.node.in_turn:
            iteration.call_next(self, parent, frame)
        else:
            calls.returned(self, frame)


def _unfold(slots: list[Any], folded: list[Any] | None, saved: list[Any]) -> None:
    """The loop goes on, and folds its results itself when all are there: bind names again as they were."""
    for index, value in enumerate(folded or ()):
        if slots[index] is value:
            slots[index] = saved[index]


def _chosen(node: CompiledState, taken: CompiledState | None, slots: list[Any]) -> CompiledState:
    """Return the state to which the choices lead that a state leads to; where no branch may be taken it fails."""
    while taken is not None and taken.kind == CHOICE:
        assert taken.then is not None, "a choice leads on"
        node, taken = taken, taken.then(slots)
    if taken is None:
        raise FailedError(f"no branch of the choice at {node.place} may be taken")
    return taken
