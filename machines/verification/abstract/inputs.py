"""One step of one role over unknown values: the rules of `machines.semantics`, with every answer to every doubt.

`AbstractInterpreter` thaws a frozen local state, does what one input does, until every call rests again, and freezes
what came out. What differs from the engine: values are abstract; what runs side by side runs one item after another, as
with ``parallel: 1``; a limit that may be used up is used up or not as the oracle says; a rule never raises.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from machines.semantics import reception, sign_ups
from machines.semantics.hearing import hearers, only_seats
from machines.verification.abstract.domain import (
    UNSET,
    AbstractError,
    ChoiceSequence,
    Infeasible,
    PeerRef,
    Value,
    every_way,
)
from machines.verification.abstract.spawning import Spawning
from machines.verification.abstract.state import (
    DROPPED,
    LOST,
    OPEN,
    SILENT_SEEN,
    AbstractCall,
    AbstractTimer,
    Observation,
    SilentCycle,
    Token,
    is_marked,
)

ASIDE_WAYS_MAX = 1_000  # through one call that may be passed over; one that has more is not


class AbstractInterpreter(Spawning):
    """One step of a role."""

    # -- inputs --------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Enter ``main``."""
        main = self.outline.machines["main"]
        arguments: tuple[Value, ...] = ()
        if self.outline.per_connection:
            seat = len(self.outline.connects)
            self.seats[seat] = OPEN
            arguments = (PeerRef(seat),)
        self.event = "starts"
        self.root = self.new_call(main.name, arguments, None)
        self.work.append(self.root)
        self._drain()

    def go_through(self, machine: str, arguments: tuple[Value, ...], seats: Sequence[str]) -> None:
        """Do all that a machine does which waits for nobody; ``seats`` is what each is to the session."""
        self.pauses = False
        self.seats = list(seats)
        self.root = self.new_call(machine, arguments, None)
        self.work.append(self.root)
        self._drain()

    def run(self, call: AbstractCall) -> None:
        """Call the machine of a state, or pass it over if nobody notices."""
        super().run(call)
        child = self.work[-1]
        if child.table.name in self.outline.asides.machines and self.pauses and self._is_quiet(child):
            self.work.pop()
            child.result = UNSET
            self._finish(child)

    def _is_quiet(self, call: AbstractCall) -> bool:
        """Whether nobody notices a call that is about to begin: see `machines.verification.abstract.asides`."""
        self.numbers = {}
        given = tuple([self.settled(one) for one in call.env[: len(call.table.machine.parameters)]])
        key = (call.table.name, given)
        found = self.outline.asides.quiet.get(key)
        if found is None:
            found = self.outline.asides.quiet[key] = self._gone_through(call)
        return found

    def _gone_through(self, call: AbstractCall) -> bool:
        arguments = tuple(call.env[: len(call.table.machine.parameters)])
        asides = self.outline.asides
        noticed = False

        def one_way(oracle: ChoiceSequence) -> None:
            nonlocal noticed
            walk = type(self)(self.outline, None, oracle, self.alike, len(self.seats))
            try:
                walk.go_through(call.table.name, arguments, self.seats)
            except AbstractError:
                noticed = True
            except (Infeasible, SilentCycle):
                return
            finally:
                walk.close()
            noticed = noticed or bool(walk.hits or walk.wrong or walk.gone or walk.over)
            asides.taken.update(map(id, walk.taken))
            asides.entered.update(walk.entered)

        return every_way(one_way, ASIDE_WAYS_MAX) and not noticed

    def resume(self) -> None:
        """Go on with a step that was paused."""
        self._drain()

    def connect(self, seat: int) -> None:
        """A connection has come."""
        self.seats[seat] = OPEN
        self.event = "is connected"
        sign_up = next((call for call in self.calls() if call.sign_ups is not None), None)
        if sign_up is not None:
            self._admit(sign_up, seat)
        elif not reception.connection(self, seat):
            self._drop(seat, "door")
        self._drain()

    def receive(self, seat: int, token: Token | str) -> bool:
        """The first thing in a peer's inbox is looked at; return whether somebody took it."""
        holder = self.holder_of(seat)
        self.popped = holder is not None and not only_seats(holder)
        if isinstance(token, str):
            self.lost = token.removeprefix(LOST)
            if holder is not None:
                self.popped = True
                if self.outline.wakes:  # what waits for a peer to be gone is woken before that is told
                    self.seats[seat] = DROPPED
                    self._tell_closed(holder, seat)
                else:
                    reception.loss(self, seat, holder)
            elif not is_marked(self.seats[seat]):  # else a fault of it comes first
                reception.unawaited_loss(self, seat)
        elif holder is not None and not only_seats(holder):
            self._read(seat, holder, token)
        elif not is_marked(self.seats[seat]):
            self.looked_at = token
            reception.unawaited_message(self, seat, token)
        if self.popped:
            self._drain()
        return self.popped

    def _read(self, seat: int, holder: AbstractCall, token: Token) -> None:
        self.event = self.event or f"reads {token[0]}"
        if any(sender not in self.outline.spec.foreign for sender in self.outline.senders(seat)):
            self._tell_swallowed(holder, token[0])  # who is foreign means by that what it is read as
        reception.message(self, seat, holder, token)

    def overtake(self, seat: int, token: Token) -> bool:
        """An urgent message comes while others of its peer wait; return whether it is taken before them."""
        for call, layer in list(hearers(self, seat)):
            if token[0] in layer.answers.receive:
                if self.take(call, layer, seat, (token[0], token)):
                    self._drain()
                    return True
                return False
        return False

    def answer(self, at: int, message: str) -> None:
        """The player answers a question with a message."""
        call = list(self.calls())[at]
        self.event = self.event or f"its player decides: {message}"
        call.asked = False
        if self.outline.questions:
            self._asks_on()
        token = (message, tuple((field, self._any(values)) for field, values in self.outline.tracked[message].items()))
        if not self._fire(call, call.node.layer, message, None, token=token):
            self.fault(call, ".invalid", None, self._tell_refused("", message))
        self._drain()

    def ring(self, timer: AbstractTimer) -> None:
        """A clock rings."""
        call = list(self.calls())[timer.at]
        state = call.node.state
        if timer.kind in ("late", "window"):
            self.event = self.event or f"waits in vain in {call.table.name}.{call.state}"
            if state.accept is not None and state.accept.seats is not None:
                self.event = f"the time of {call.table.name}.{call.state} is up"
            reception.time_is_up(self, call)
        elif timer.kind == "linger":
            self.event = self.event or f"has waited long enough in {call.table.name}.{call.state}"
            sign_ups.close(self, call)
        else:
            self.event = (
                f"{timer.kind.removeprefix('always:').rstrip('0123456789')} rings in {call.table.name}.{call.state}"
            )
            always = call.table.always if timer.kind.startswith("always:") else None
            name = timer.kind.removeprefix("always:")
            if name.startswith("after") or self._beats(call, timer.kind) < inf:
                call.fired = (*call.fired, timer.kind)
            self._fire(call, always or call.node.layer, "." + name, None)
        return self._drain()

    # -- until all rest ------------------------------------------------------------------------------------------------

    def _drain(self) -> None:
        try:
            while self.over is None and self._goes_on():
                self.carry_on()
                if self.work:
                    branches = self.pauses and (self.oracle.answers or self.silent >= SILENT_SEEN)
                    if branches and len(self.work) == 1 and not (self.pending or self.endings) and self.work[0].alive:
                        # Other ways may have come to the same point, or a long way from elsewhere leads through it.
                        self.paused = self.work.pop()
                        return
                    call = self.work.pop()
                    if call.alive:
                        self._look_round()
                        self._enter(call)
                elif self.endings:
                    self.notify_parent()
                elif self.pending and (self.pending[0][2] is None or not self._wakes()):
                    call, event, seat, reason = self.pending.pop(0)
                    self._happen(call, event, seat, reason)
        except AbstractError as error:
            self.fail(str(error))
        if self.outline.questions and self.over is None:
            self._end_of_step()

    def _wakes(self) -> bool:
        """Take the branch of the first condition under `when` that has come to hold; return whether there was one."""
        if not self.outline.wakes:
            return False
        for call in tuple(self.calls()):
            always = call.table.always
            for layer in (call.node.layer, always) if always is not None else (call.node.layer,):
                for index, condition in enumerate(layer.answers.when):
                    name = f"{layer.prefix}when{index}"
                    if not self.reckoner.holds(condition.wait, self._looker(call)):
                        call.fired = tuple(one for one in call.fired if one != name)
                    elif name not in call.fired:
                        self._look_round()
                        call.fired = (*call.fired, name)
                        self.event = self.event or f"is woken in {call.table.name}.{call.state}"
                        self._fire(call, layer, f".when{index}", None)
                        return True
        return False

    def _goes_on(self) -> bool:
        begun = self.work or self.starting or self.rejoining or self.endings or self.pending
        return bool(begun) or self._hears_of_faults() or self._wakes()

    def _hears_of_faults(self) -> bool:
        """Whether layers that have begun to hear peers answer to faults of theirs, which waited for that."""
        if self.hears_more:
            self.hears_more = False
            for seat, status in enumerate(self.seats):
                if is_marked(status) and self.holder_of(seat) is None:
                    self.hears_more |= reception.unawaited_fault(self, seat)
        return self.hears_more or bool(self.work or self.pending)

    def fail(self, why: str) -> None:
        """End as failed: an expression has no value here, whatever the data."""
        self.hits.append(Observation("broken", why, "", self.where()))
        self._end(why)

    def _happen(self, call: AbstractCall, event: str, seat: int | None, reason: str) -> None:
        if not call.alive or (seat not in call.hears if seat is not None else not call.told_empty):
            return
        self._look_round()
        if seat is None:
            self.fault(call, event, None, reason)
        elif event == ".closed":
            reception.loss(self, seat, call)
        elif is_marked(self.seats[seat]):
            self.seats[seat] = OPEN
            if reason == "early":
                here = f"{call.table.name}.{call.state}"
                self.hits.append(Observation("early", f"something came before {here} asked for it", "", here, seat))
            self.fault(call, event, seat, reason)
