"""A local state of a role, thawed: who hears whom, what may come next, and back to a value. Nothing here changes it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import inf
from typing import Any

from machines.analysis.call_graph import kind
from machines.model import Branch, Early, Expression, Name
from machines.semantics.domain import Domain
from machines.semantics.hearing import below, leaves, outward
from machines.verification.abstract.alike import Alike
from machines.verification.abstract.domain import (
    FALSE,
    SOMETHING,
    TRUE,
    UNSET,
    AbstractError,
    ChoiceSequence,
    Fields,
    PeerRef,
    Range,
    Unknown,
    Value,
)
from machines.verification.abstract.evaluator import AbstractEvaluator
from machines.verification.abstract.limits import beats_within, is_meant
from machines.verification.abstract.outlines import LayerOutline
from machines.verification.abstract.role_info import PEERS, RoleOutline
from machines.verification.abstract.seat_order import without_strangers
from machines.verification.abstract.seated import field_of
from machines.verification.abstract.state import (
    ABSENT,
    OPEN,
    SILENT,
    AbstractCall,
    AbstractTimer,
    Effect,
    Local,
    Observation,
    Reading,
    Token,
)


class StateQueries(Domain[AbstractCall, int, Reading]):
    """A role between two steps."""

    def __init__(
        self, outline: RoleOutline, local: Local | None, oracle: ChoiceSequence, alike: Alike, seats: int
    ) -> None:
        self.outline = outline
        self.alike = alike
        self.oracle = oracle
        self.reckoner = AbstractEvaluator(oracle, outline.contracts, self._gone)
        if outline.asked_of_peers:
            self.reckoner.field_of = self._field_of
        self.out: list[Effect] = []
        self.hits: list[Observation] = []
        self.taken: list[Branch] = []
        self.entered: list[str] = []
        self.wrong = ""  # what went wrong that is no fault of the protocol
        self.gone: tuple[int, ...] = ()  # who has to be lost for this way, though nobody was told
        self.used_up = False  # whether a limit that is counted was
        self.over_limit = False  # whether one kept the branches of the present event from being taken
        self.looked_at: Token = ("", ())  # what has come from a peer
        self.popped = False  # whether that is dealt with
        self.hears_more = False  # whether layers may have begun to hear peers that nobody awaits
        self.event = ""
        self.lost = ""  # why the connection was closed that was lost in this step
        self.over: str | None = None  # "" once it has returned, else why it failed
        self.work: list[AbstractCall] = []
        self.starting: list[tuple[AbstractCall, str, tuple[Value, ...]]] = []
        self.rejoining: list[AbstractCall] = []  # who may hear peers that came back
        self.pauses = True  # whether it may stop where other ways may have come to the same point
        self.endings: list[tuple[AbstractCall, Value, str]] = []  # who is told that what it started has ended, and how
        self.pending: list[tuple[AbstractCall, str, int | None, str]] = []
        self.swallowed: set[str] = set()  # what came where a frame that reads up to a mark takes all that comes
        self.fresh = 0
        self.silent = 0
        self.choices = 0  # so many were gone into
        self.seen: set[Any] = set()
        self.root: AbstractCall | None = None
        self.paused: AbstractCall | None = None  # the call that is about to enter its state, if the step is not over
        if local is None:
            self.seats = [OPEN if seat < len(outline.connects) else ABSENT for seat in range(seats)]
        else:
            root, seated, *going = local
            self.seats = list(seated)
            if root[0] == ".over":
                self.over = root[1]
            else:
                self.root = self._thaw(root, None)
                if going:
                    at, facts = going
                    self.reckoner.facts.update(facts)
                    self.work.append(list(self.calls())[at])

    # -- frozen and thawed ---------------------------------------------------------------------------------------------

    def _thaw(self, frozen: Any, parent: AbstractCall | None) -> AbstractCall:
        machine, state, env, hears, asked, told_empty, fired, loop, child, *more, beside, seat = frozen
        sign_ups, parked, parked_for = more
        found = AbstractCall(
            self.outline.machines[machine], state, list(env), parent, hears, asked, told_empty, fired, loop
        )
        found.parked_for = parked_for
        found.seat = seat
        found.child = self._thaw(child, found) if child is not None else None
        found.sign_ups = {one[-1]: self._thaw(one, found) for one in sign_ups} if sign_ups is not None else None
        found.parked = {one[-1]: self._thaw(one, found) for one in parked} if parked is not None else None
        if beside is not None:
            found.lent, started, found.told = beside
            found.started = [self._thaw(one, found) for one in started]
        return found

    def freeze(self) -> Local:
        """Return the local state as a value; terms are numbered in the order in which they are met."""
        seats = tuple(self.seats)
        if self.over is not None or self.root is None:
            return ((".over", self.over or ""), seats)
        self.numbers: dict[Any, int] = {}
        root, met = without_strangers(self._frozen(self.root), self.outline.peers_at, self.outline.fixed)
        if self.paused is None:
            return (root, seats)
        asking = self.outline.asking
        asked: set[str] = set()
        paused_at = 0
        for at, call in enumerate(self.calls()):
            if call is self.paused:
                paused_at = at
                asked |= asking.entering[call.table.name, call.state]
            else:
                asked |= asking.inside[call.table.name, call.state]
        return (root, seats, paused_at, self.reckoner.kept(self.numbers, asked, self.outline.parting, met))

    def _frozen(self, call: AbstractCall) -> Any:
        kept = (call.table.entered if call is self.paused else call.table.kept)[call.state]
        env = tuple([self.settled(value) if keep else UNSET for value, keep in zip(call.env, kept, strict=True)])
        loop = call.loop
        if loop is not None:  # of a list only what is left of it: nobody looks back at the items that are done
            loop = (
                ("list", self.settled(loop[1][loop[2] + 1 :]), -1)
                if loop[0] == "list"
                else ("some", self.settled(loop[1]))
            )
        return (
            call.table.name, call.state, env, call.hears, call.asked, call.told_empty, call.fired, loop,
            self._frozen(call.child) if call.child is not None else None,
            self._frozen_sign_ups(call.sign_ups),
            self._frozen_sign_ups(call.parked),
            call.parked_for, self._frozen_beside(call), call.seat,
        )  # fmt: skip

    def _frozen_beside(self, call: AbstractCall) -> Any:
        """Return what it was lent, what it started, and whose loss was told before; None if it has neither."""
        if call.lent is None and not call.started:
            return None
        return call.lent, tuple([self._frozen(one) for one in call.started]), call.told

    def _frozen_sign_ups(self, sign_ups: dict[int, AbstractCall] | None) -> Any:
        return tuple([self._frozen(sign_ups[seat]) for seat in sorted(sign_ups)]) if sign_ups is not None else None

    def settled(self, value: Value) -> Value:
        """Return a value with what is not known in it numbered in the order in which it is met."""
        value = self.reckoner.known(value)
        which = type(value)
        if which is Unknown:
            number = self.numbers.setdefault(value.term, len(self.numbers))
            return Unknown(number, value.peers, value.marks)
        if which is tuple:
            return tuple([self.settled(item) for item in value])
        if which is Fields:
            return Fields(tuple((key, self.settled(item)) for key, item in value.items))
        return value

    # -- what may come -------------------------------------------------------------------------------------------------

    def calls(self) -> Iterator[AbstractCall]:
        """Yield every call, callees before callers, older ones first."""
        if self.root is not None and self.over is None:
            return below(self.root)
        return iter(())

    def close(self) -> None:
        """Let go of all of it: what holds each other in a ring would stay until Python looks for garbage."""
        if self.root is not None:
            for call in list(below(self.root)):
                call.parent = None
        self.reckoner.gone = _nobody
        self.reckoner.field_of = None

    def questions(self) -> Iterator[tuple[int, str]]:
        """Yield each answer that the player may give: (call, message)."""
        for at, call in enumerate(self.calls()):
            if call.asked:
                for message in call.node.state.answers.receive:
                    if self.outline.name in self.outline.spec.messages[message].senders:
                        yield at, message

    def timers(self) -> Iterator[AbstractTimer]:
        """Yield each clock that may ring."""
        for at, call in enumerate(self.calls()):
            state = call.node.state
            here = f"{call.table.name}.{call.state}"
            if self._limit(call) != inf:
                meant = state.accept is not None or is_meant(state.answers)
                yield AbstractTimer(at, "window" if state.accept is not None else "late", meant, here)
            accept = state.accept
            lingers = accept is not None and accept.linger is not None and call.sign_ups is not None
            if accept is not None and lingers and len(call.look(accept.name)) >= self.seats_wanted(call)[0]:
                yield AbstractTimer(at, "linger", True, here)
            for layer in (call.node.layer, call.table.always):
                if layer is None:
                    continue
                for name, moments in (("after", layer.answers.after), ("every", layer.answers.every)):
                    for index in range(len(moments)):
                        timer = f"{layer.prefix}{name}{index}"
                        if call.fired.count(timer) < (self._beats(call, timer) if name == "every" else 1):
                            yield AbstractTimer(at, timer, True, here)

    def _beats(self, call: AbstractCall, timer: str) -> float:
        """Return how often a clock rings in its state, see `beats_within`; inf if that is not counted."""
        if not timer.startswith("every"):
            return inf
        moment = call.node.state.answers.every[int(timer.removeprefix("every"))]
        return beats_within(self._limit(call), self._value(moment.wait, call))

    def seconds(self, timer: AbstractTimer) -> float | None:
        """Return after how long a clock rings, from when it was started; None if only data can tell."""
        call = list(self.calls())[timer.at]
        accept = call.node.accept
        if timer.kind in ("late", "window"):
            value = self._limit(call)
        elif timer.kind == "linger":
            assert accept is not None, "only an accept lingers"
            assert accept.linger is not None, "it has a limit"
            value = self._value(accept.linger, call)
        else:
            always = call.table.always if timer.kind.startswith("always:") else None
            answers = always.answers if always is not None else call.node.state.answers
            name = timer.kind.removeprefix("always:")
            moments = answers.after if name.startswith("after") else answers.every
            value = self._value(moments[int(name.lstrip("aftervy"))].wait, call)
        return float(value) if type(value) in (int, float) else None

    def _limit(self, call: AbstractCall) -> Value:
        state = call.node.state
        if state.within is not None:
            return self._value(state.within, call)
        if kind(state) != "wait":
            return inf
        at: AbstractCall | None = call
        while at is not None:
            always = at.table.machine.always
            if always is not None and always.within is not None:
                return self._value(always.within, at)
            at = at.parent
        return inf

    def seats_wanted(self, call: AbstractCall) -> tuple[int, float]:
        """Return how many an open sign-up wants at least, and how many at most."""
        accept = call.node.accept
        assert accept is not None, "only an accept has seats"
        if accept.seats is None:
            return 0, inf
        value = self._value(accept.seats, call)
        if type(value) is Range:
            return value.low, value.high
        if type(value) is int:
            return value, value
        raise AbstractError("the number of seats is not known before it runs")

    def awaited(self) -> frozenset[int]:
        """Return the seats from which somebody would take something now."""
        found: set[int] = set()
        for call in self.calls():
            found.update(call.hears)
        for call, layer in outward(self.calls()):
            if layer.answers.receive or not layer.events.isdisjoint((".closed", ".invalid")):
                found.update(seat for seat in range(len(self.seats)) if self.hears(call, layer, seat, held=False))
        return frozenset(found)

    def heeds_connections(self) -> bool:
        """Whether it does something when somebody connects."""
        return any(".connected" in layer.events for _, layer in outward(self.calls()))

    def where(self) -> str:
        """Return where the role is: each call that rests, and its state."""
        if self.over is not None:
            return "over" if not self.over else "failed"
        return ", ".join(f"{call.table.name}.{call.state}" for call in leaves(self.calls()))

    # -- who hears -----------------------------------------------------------------------------------------------------

    def holder_of(self, seat: int) -> AbstractCall | None:
        """Return the call whose present state awaits a peer."""
        return next((call for call in self.calls() if seat in call.hears), None)

    def hears(self, call: AbstractCall, layer: LayerOutline, seat: int, *, held: bool) -> bool:
        """Say whether a layer hears a peer; ``held`` if a state inside it awaits that peer.

        What is lent is heard by who has it; behind that stand, for messages, the `always` of who lent it.
        """
        if not held and self.outline.starts:
            lent = self.lent_to(seat)
            if call.host is not lent and not (
                lent is not None and layer is call.table.always and is_within(lent, call)
            ):
                return False
        if layer.awaits is None:
            return held or self.outline.one_partner
        if not layer.prefix and call.node.accept is not None:
            return seat in call.hears
        try:
            return seat in self.reckoner.group(self._value(layer.awaits, call))[0]
        except AbstractError:
            return False

    def lent_to(self, seat: int) -> AbstractCall | None:
        """Return the started machine that has a seat, None if it is not lent."""
        return next((call for call in self.calls() if call.lent is not None and seat in call.lent), None)

    def was_given(self, call: AbstractCall, seat: int) -> bool:
        """Say whether a call's arguments speak of a peer."""
        return any(_holds(one, seat) for one in call.env[: len(call.table.machine.parameters)])

    def early_of(self, seat: int) -> Early:
        """Return what becomes of early messages of a peer where no state and no machine says it."""
        if self.outline.role.early is not None:
            return self.outline.role.early
        return self.outline.spec.wire.early if seat >= len(self.outline.connects) else "keep"

    def _listed(self, layer: LayerOutline, seat: int, token: Token) -> str | None:
        """Return the message of a layer as which something from a seat is read, if there is one."""
        receive = layer.answers.receive
        senders = self.outline.senders(seat)
        messages = self.outline.spec.messages
        listed = [name for name in receive if any(sender in messages[name].senders for sender in senders)]
        if token[0] in listed and self.alike.may_be(token[0], token[0]):
            return token[0]
        for name in listed:
            if self.alike.is_renamed(token[0], name):
                return name
        for name in listed:
            if name != token[0] and self.alike.may_be(token[0], name) and self.oracle.choose(2) == 0:
                return name
        return None

    # -- values --------------------------------------------------------------------------------------------------------

    def _any(self, values: tuple[Value, ...]) -> Value:
        return values[self.oracle.choose(len(values))]

    def _some(self, *, null: bool = True) -> Unknown:
        """Return some value; one that may not be ``null`` is known not to be, until the step is over."""
        self.fresh += 1
        return Unknown(("new" if null else SOMETHING, self.fresh))

    def _field_of(self, seat: int, name: str) -> Value:
        return UNSET if self.root is None else field_of(self.root.env[self.root.table.index[PEERS]], seat, name)

    def _value(self, expression: Expression, call: AbstractCall) -> Value:
        if type(expression) is Name:  # most are
            return self.reckoner.known(self._look(call, expression.name))
        return self.reckoner.value(expression, self._looker(call))

    def _looker(self, call: AbstractCall) -> Any:
        return partial(self._look, call)

    def _look(self, call: AbstractCall, name: str) -> Value:
        at = call.table.index.get(name)
        if at is not None:
            value = call.env[at]
            if value is not UNSET:
                return value
            if name not in self.outline.settings:
                return self._some()  # nobody reads it before it is set: the checks see to that
        if name in call.table.around:
            home = self._home(call, name)
            return home.env[home.table.index[name]]
        if name == "running":
            return len(call.started)
        outline = self.outline
        if name in outline.settings:
            return outline.settings[name]
        if name in outline.connects:
            return PeerRef(outline.connects.index(name))
        return Unknown((name,))

    def _home(self, call: AbstractCall, name: str) -> AbstractCall:
        """Return the call that has a live value: the nearest around one that sees it."""
        at = call.parent
        while at is not None:
            if name in at.table.live:
                return at
            at = at.parent
        raise AssertionError(f"no call around {call.table.name} has {name!r}: the checks see to that")

    def _bind(self, call: AbstractCall, name: str, value: Value) -> None:
        """Give a name of a call a value: its own, or a live one of a call around it."""
        if name in call.table.around:
            call = self._home(call, name)
        call.env[call.table.index[name]] = value

    def _gone(self, seat: int) -> Value:
        if self.seats[seat] in SILENT:
            return TRUE
        known = self.reckoner.facts.get(("gone", PeerRef(seat)))
        if known is None:
            known = TRUE if self.oracle.choose(2) else FALSE
            self.reckoner.facts["gone", PeerRef(seat)] = known
            if known is TRUE:
                self.gone = tuple(sorted({*self.gone, seat}))
        return known


def _nobody(seat: int) -> Value:
    raise AssertionError(f"the step is over: nobody is asked whether {seat} is gone")


def is_within(call: AbstractCall, outer: AbstractCall) -> bool:
    """Whether one call was made or started from another, by however many between."""
    at = call.parent
    while at is not None and at is not outer:
        at = at.parent
    return at is not None


def _holds(value: Value, seat: int) -> bool:
    if type(value) is tuple:
        return any(_holds(item, seat) for item in value)
    if type(value) is Unknown:
        return seat in value.peers
    return type(value) is PeerRef and value.seat == seat
