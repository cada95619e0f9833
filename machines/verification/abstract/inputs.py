"""One step of one role over abstract values: the engine's rules (`machines.engine`), with every answer to every doubt.

`AbstractInterpreter` thaws a frozen local state, does what one input does, until every call rests again, and freezes
what came out. What differs from the engine: values are abstract; what runs side by side runs one item after another, as
with ``parallel: 1``; a limit that may be used up is used up or not as the oracle says; a rule never raises.
"""

from __future__ import annotations

from machines.analysis.call_graph import kind
from machines.model import Choice, FrameUntil
from machines.verification.abstract.dialogue import is_ignored
from machines.verification.abstract.domain import AbstractError, PeerRef, Value
from machines.verification.abstract.state import (
    DROPPED,
    DROPPED_TOLD,
    LOST,
    MARKED,
    NONSENSE,
    OPEN,
    REASON,
    SILENT_SEEN,
    TOLD,
    AbstractCall,
    AbstractTimer,
    Layer,
    Observation,
    Token,
)
from machines.verification.abstract.transitions import StateTransitions
from machines.wire.composite_framing import opens_with_pattern


class AbstractInterpreter(StateTransitions):
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
        self.root = self._call(main.name, arguments, None)
        self.work.append(self.root)
        self._drain()

    def go_on(self) -> None:
        """Go on with a step that was paused."""
        self._drain()

    def connect(self, seat: int) -> None:
        """A connection has come."""
        self.seats[seat] = OPEN
        self.event = "is connected"
        for call in self.calls():
            if call.sign_ups is not None:
                self._admit(call, seat)
                return self._drain()
        for layer in self._outward():
            if layer[1].connected is not None and self._fire(layer, ".connected", layer[1].connected, seat):
                return self._drain()
        self._drop(seat, "door")
        return self._drain()

    def receive(self, seat: int, token: Token | str) -> bool:
        """The first thing in a peer's inbox is looked at; return whether somebody took it."""
        if isinstance(token, str):
            self.lost = token.removeprefix(LOST)
        holder = self._holder(seat)
        door = holder if holder is not None and kind(holder.model) == "accept" else None
        if holder is None or (door is not None and door.model.awaits is None):
            taken = self._unawaited(seat, door, token)
        elif isinstance(token, str):
            taken = True
            self.seats[seat] = TOLD
            self._lost(seat, holder)
        else:
            taken = True
            self._message(seat, holder, token)
        if taken:
            self._drain()
        return taken

    def overtake(self, seat: int, token: Token) -> bool:
        """An urgent message comes while others of its peer wait; return whether it is taken before them."""
        for layer in list(self._hearers(seat)):
            if token[0] in layer[1].receive:
                self.event = self.event or f"reads {token[0]}"
                if self._heard(layer, seat, token, token[0]):
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
        layer: Layer = (call, call.model.answers, call.model.awaits, "")
        token = (message, tuple((field, self._any(values)) for field, values in self.outline.tracked[message].items()))
        if not self._fire(layer, message, call.model.answers.receive[message], None, token=token):
            self._refused("", message)
            self._fault(call, "invalid", None, "illegal")
        self._drain()

    def ring(self, timer: AbstractTimer) -> None:
        """A clock rings."""
        call = list(self.calls())[timer.at]
        state = call.model
        if timer.kind in ("late", "window"):
            self.event = self.event or f"waits in vain in {call.outline.name}.{call.state}"
            if state.accept is not None and state.accept.seats is not None:
                self.event = f"the time of {call.outline.name}.{call.state} is up"
                if len(call.look(state.accept.name)) >= self._seats_of(call)[0]:
                    self._close_door(call)
                    return self._drain()
            seat = call.hears[0] if kind(state) == "wait" and len(call.hears) == 1 else None
            self._fault(call, "timeout", seat, "late")
        elif timer.kind == "linger":
            self.event = self.event or f"has waited long enough in {call.outline.name}.{call.state}"
            self._close_door(call)
        else:
            self.event = (
                f"{timer.kind.removeprefix('always:').rstrip('0123456789')} rings in {call.outline.name}.{call.state}"
            )
            always = timer.kind.startswith("always:")
            answers = call.outline.always.answers if always and call.outline.always else state.answers
            name = timer.kind.removeprefix("always:")
            moments = answers.after if name.startswith("after") else answers.every
            moment = moments[int(name.removeprefix("after").removeprefix("every"))]
            if name.startswith("after"):
                call.fired = (*call.fired, timer.kind)
            awaits = call.outline.always.awaits if always and call.outline.always else state.awaits
            self._fire((call, answers, awaits, "always:" if always else ""), "." + name, moment.choice, None)
        return self._drain()

    # -- messages ------------------------------------------------------------------------------------------------------

    def _message(self, seat: int, holder: AbstractCall, token: Token) -> None:
        self.event = self.event or f"reads {token[0]}"
        if any(sender not in self.outline.spec.foreign for sender in self.outline.senders(seat)):
            self._swallow(holder, token[0])  # who is foreign means by that what it is read as
        inner = True
        for layer in self._layers(holder):
            if layer[1].receive and (inner or self._hears(layer, seat, held=True)):
                name = self._listed(layer, seat, token)
                if name is not None:
                    if not self._heard(layer, seat, token, name):
                        self._refused(f"{holder.outline.name}.{holder.state}", name, seat)
                        self._fault(holder, "invalid", seat, "illegal")
                    return
            inner = False
        here = f"{holder.outline.name}.{holder.state}"
        self.hits.append(Observation("unexpected", f"{token[0]} is not expected in {here}", token[0], here, seat))
        self._fault(holder, "invalid", seat, _why(token, "unexpected"))

    def _swallow(self, holder: AbstractCall, message: str) -> None:
        """Note that a message has come where a frame is read that takes whatever comes."""
        frames = self.outline.spec.frames
        for name in holder.model.answers.receive if frames else ():
            if name in frames and frames.get(message) != frames[name] and not opens_with_pattern(frames[name]):
                how = "up to its mark" if isinstance(frames[name][0], FrameUntil) else "whatever comes"
                here = f"{holder.outline.name}.{holder.state}"
                self.swallowed.add(f"{name} is read {how} in {here}, and takes {message} if that comes first")

    def _refused(self, where: str, message: str, seat: int = -1) -> None:
        if not self.reckoner.guessed and self.used_up:
            text = f"{message} comes once more than its limit in {where} allows"
            self.hits.append(Observation("limit", text, message, where, seat))
        if not self.reckoner.guessed and self.fault != "limit":
            self.hits.append(
                Observation("illegal", f"{message} is refused by every branch in {where}", message, where, seat)
            )
        elif not self.fault:
            self.fault = "illegal"

    def _heard(self, layer: Layer, seat: int, token: Token, name: str) -> bool:
        if self.alike.is_renamed(token[0], name):
            token = (name, token[1])
        elif name != token[0]:
            here = f"{layer[0].outline.name}.{layer[0].state}"
            self.hits.append(
                Observation("misread", f"{token[0]} is taken for {name} in {here}", token[0], here, seat, name)
            )
            token = (name, ())
        self.reckoner.guessed = False
        here = f"{layer[0].outline.name}.{layer[0].state}"
        mistaken = bool(self.outline.questions) and self._answers(seat, token)
        before = len(self.taken)
        taken = self._fire(layer, name, layer[1].receive[name], seat, token=token)
        if taken and mistaken and not is_ignored(self.taken[before]):
            self._tell_mistaken(layer, seat, name, here)
        return taken

    def _lost(self, seat: int, holder: AbstractCall) -> None:
        self.event = self.event or "hears that the connection is lost"
        if holder.model.accept is None:
            self._fault(holder, "closed", seat, "closed")
            return
        accept = holder.model.accept
        index = holder.outline.index[accept.name]
        holder.env[index] = tuple(one for one in holder.env[index] if one != PeerRef(seat))
        closed = holder.model.answers.closed
        if closed is not None:
            self._fire((holder, holder.model.answers, None, ""), ".closed", closed, seat, "closed")
        self._recount(holder)

    def _unawaited(self, seat: int, door: AbstractCall | None, token: Token | str) -> bool:
        hearers = list(self._hearers(seat))
        if isinstance(token, str):
            if door is not None:
                self.seats[seat] = TOLD
                self._lost(seat, door)
                return True
            for layer in hearers:
                if layer[1].closed is not None:
                    self.event = self.event or "hears that the connection is lost"
                    self.seats[seat] = TOLD
                    if not self._fire(layer, ".closed", layer[1].closed, seat, "closed"):
                        self._fault(layer[0], "closed", seat, "closed")
                    return True
            return False
        for layer in hearers:
            name = self._listed(layer, seat, token)
            if name is not None:
                self.event = self.event or f"reads {token[0]}"
                if not self._heard(layer, seat, token, name):
                    self._refused(f"{layer[0].outline.name}.{layer[0].state}", name, seat)
                    self._fault_unawaited(seat, hearers, "illegal")
                return True
        return self._early(seat, hearers, token)

    def _fault_unawaited(self, seat: int, hearers: list[Layer], reason: str) -> None:
        """A fault of a peer that nobody awaits is answered at once, or waits for whoever hears the peer next."""
        for layer in hearers:
            if layer[1].invalid is not None:
                if not self._fire(layer, ".invalid", layer[1].invalid, seat, reason):
                    self._fault(layer[0], "invalid", seat, reason)
                return
        if self.seats[seat] == OPEN:
            self.seats[seat] = MARKED

    def _early(self, seat: int, hearers: list[Layer], token: Token) -> bool:
        policy = self._early_policy(seat)
        if policy == "keep":
            return False
        where = self.where()
        if policy == "ignore":
            self.event = self.event or f"ignores {token[0]}"
            self.hits.append(Observation("ignored", f"{token[0]} is ignored in {where}", token[0], where, seat))
            return True
        self.event = self.event or f"did not ask for {token[0]}"
        if any(layer[1].invalid is not None for layer in hearers):
            self.hits.append(Observation("early", f"nobody asked for {token[0]} in {where}", token[0], where, seat))
        self._fault_unawaited(seat, hearers, _why(token, "early"))
        return True

    # -- faults --------------------------------------------------------------------------------------------------------

    def _fault(self, call: AbstractCall, event: str, seat: int | None, reason: str) -> None:
        boundary = self._sign_up_of(call)
        inner = True
        for layer in self._layers(call):
            choice: Choice | None = getattr(layer[1], event)
            heard = choice is not None and (inner or seat is None or self._hears(layer, seat, held=True))
            if choice is not None and heard and self._fire(layer, "." + event, choice, seat, reason):
                return
            inner = False
            if layer[0] is boundary and (layer[3] or boundary.outline.always is None):
                break
        if boundary is not None:
            self._refuse(boundary)
            return
        here = f"{call.outline.name}.{call.state}"
        self.hits.append(
            Observation(
                "unanswered", f"{here} has no answer to {event} ({reason})", "", here, -1 if seat is None else seat
            )
        )
        self._end(f"{here} has no answer to {event}" + (f": {self.lost}" if event == "closed" else ""))

    def _refuse(self, call: AbstractCall) -> None:
        parent = call.parent
        assert parent is not None, "a sign-up has a caller"
        pending = parent.sign_ups if parent.sign_ups is not None else parent.parked
        assert pending is not None, "a sign-up is pending"
        del pending[call.seat]
        self._abandon(call)
        self._drop(call.seat, "door")

    # -- until all rest ------------------------------------------------------------------------------------------------

    def _drain(self) -> None:
        try:
            while self.over is None and (self.work or self.pending):
                if self.work:
                    branches = self.oracle.answers or self.silent >= SILENT_SEEN
                    if branches and len(self.work) == 1 and not self.pending and self.work[0].alive:
                        # Other ways may have come to the same point, or a long way from elsewhere leads through it.
                        self.paused = self.work.pop()
                        return
                    call = self.work.pop()
                    if call.alive:
                        self._look_round()
                        self._enter(call)
                else:
                    call, event, seat, reason = self.pending.pop(0)
                    self._happen(call, event, seat, reason)
        except AbstractError as error:
            self.fail(str(error))
        if self.outline.questions and self.over is None:
            self._end_of_step()

    def fail(self, why: str) -> None:
        """End as failed: an expression has no value here, whatever the data."""
        self.hits.append(Observation("broken", why, "", self.where()))
        self._end(why)

    def _happen(self, call: AbstractCall, event: str, seat: int | None, reason: str) -> None:
        if not call.alive or (seat is not None and seat not in call.hears):
            return
        self._look_round()
        if seat is not None:
            if event == "closed" and self.seats[seat] == DROPPED:
                self.seats[seat] = DROPPED_TOLD
            if event == "invalid":
                if self.seats[seat] != MARKED:
                    return
                self.seats[seat] = OPEN
                here = f"{call.outline.name}.{call.state}"
                self.hits.append(Observation("early", f"something came before {here} asked for it", "", here, seat))
            if event == "closed" and call.model.accept is not None:
                self._lost(seat, call)
                return
        self._fault(call, event, seat, reason)


def _why(token: Token, otherwise: str) -> str:
    """Return the reason of a fault: what is no message says it itself."""
    return str(dict(token[1]).get(REASON, otherwise)) if token[0] == NONSENSE else otherwise
