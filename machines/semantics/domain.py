"""What the rules work on, be its values known or not: calls of machines, the layers that answer, whoever holds them.

``Seat`` is how a domain speaks of a peer, ``Reading`` what it has read a message as; the rules only hand them on.

| here | `machines.engine` | `machines.verification.abstract` |
|---|---|---|
| `Domain` | `session_domain.SessionDomain`, an `Interpreter` | `role_domain.RoleDomain`, with `transitions` |
| `CallView` | `call_stack.CallFrame` | `state.AbstractCall` |
| `StateView`, its ``node`` | `compiled_states.CompiledState` | `outlines.StateOutline` |
| `LayerView` | `compiled_states.HandlerScope` | `outlines.LayerOutline` |
| `MachineView`, its ``table`` | `compiler.CompiledMachine` | `role_info.MachineOutline` |
| ``Seat`` | `call_stack.PeerState` | its number |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, Self, TypeVar

from machines.model import Early, State

WAIT, CALL, ACCEPT = "wait", "call", "accept"  # kinds of nodes: it awaits somebody, calls a machine, seats peers


class LayerView(Protocol):
    """What a state, or the ``always`` behind all states of a machine, answers."""

    @property
    def events(self) -> frozenset[str]:
        """What it answers besides messages: ``.timeout``, ``.invalid``, ``.closed``, ``.connected`` and the like."""


class StateView(Protocol):
    """A state that a call is in; ``layer`` is a `LayerView`."""

    @property
    def kind(self) -> str:
        """Whether it waits, calls, loops, seats or passes on."""

    @property
    def layer(self) -> Any:
        """Its own answers."""

    @property
    def state(self) -> State | None:
        """The state as the spec has it; None for one that the compiler made."""

    @property
    def each(self) -> object | None:
        """What it does items of, None if it is no loop."""

    @property
    def awaits(self) -> object | None:
        """Whom it awaits, None if it names nobody."""


class MachineView(Protocol):
    """A machine; ``always`` is a `LayerView`."""

    @property
    def always(self) -> Any | None:
        """What stands behind all its states."""

    @property
    def early(self) -> Early | None:
        """What becomes of messages that nobody awaits, if the machine says so."""


class CallView(Protocol):
    """A call of a machine."""

    @property
    def parent(self) -> Self | None:
        """Who called or started it."""

    @property
    def node(self) -> StateView:
        """The state that it is in."""

    @property
    def table(self) -> MachineView:
        """Its machine."""

    @property
    def hears(self) -> tuple[Any, ...]:
        """The seats of those whom its state awaits."""

    @property
    def detached(self) -> bool:
        """Whether it was started: nobody waits for it."""

    @property
    def is_sign_up(self) -> bool:
        """Whether an accept runs it for one connection."""

    def called(self) -> Iterator[Self]:
        """Yield the calls that it waits for."""

    def children(self) -> Iterator[Self]:
        """Yield those, and the ones that were started from here, oldest first."""


C = TypeVar("C", bound=CallView)
Seat = TypeVar("Seat", contravariant=True)
Reading = TypeVar("Reading")
Hearer = tuple[C, Any]
"""A call, and a layer of it."""


class Hearing(Protocol[C, Seat]):
    """What is asked to find out who hears a peer."""

    __slots__ = ()

    def calls(self) -> Iterator[C]:
        """Yield every live call, callees before callers, older ones first."""

    def holder_of(self, seat: Seat) -> C | None:
        """Return the call whose present state awaits a peer."""

    def hears(self, call: C, layer: Any, seat: Seat, *, held: bool) -> bool:
        """Say whether a layer hears a peer; ``held`` if a state inside it awaits that peer."""

    def was_given(self, call: C, seat: Seat) -> bool:
        """Say whether a call's arguments speak of a peer."""

    def early_of(self, seat: Seat) -> Early:
        """Return what becomes of early messages of a peer where no state and no machine says it."""


class Domain(Hearing[C, Seat], Protocol[C, Seat, Reading]):
    """A role in the middle of an event: what the rules ask of it, and what they tell it to do.

    What is *told* is for people, and changes nothing in the run.
    """

    __slots__ = ()

    def react(self, call: C, layer: Any, event: str, seat: Seat | None, reason: str | None = None) -> bool:
        """Take the first branch of an event of a layer that may be taken; return False if none may."""

    def fault(self, call: C, event: str, seat: Seat | None, reason: str, why: str = "") -> None:
        """Call `machines.semantics.reception.fault`; a method, so that a subclass can note what comes of it."""

    def stop_limit(self, call: C) -> float:
        """Let a state's limit, which is over, ring no more; return when it was due."""

    def lists(self, layer: Any, seat: Seat) -> bool:
        """Say whether a layer lists any message that a peer may send."""

    def decoded(self, seat: Seat, hearers: list[Hearer[C]], payload: Any) -> Any:
        """Return what a peer that nobody awaits has sent, to be read by whoever hears it all the same."""

    def read(self, layer: Any, seat: Seat, value: Any) -> Reading | None:
        """Read a value as a message that a layer lists; None if it is none of them."""

    def take(self, call: C, layer: Any, seat: Seat, reading: Reading) -> bool:
        """Take the first branch of a message that may be taken; return False if none may."""

    def refused(self, call: C, layer: Any, seat: Seat, reading: Reading) -> str:
        """Return the reason why no branch of a message could be taken; it is told."""

    def unlisted(self, holder: C, seat: Seat, value: Any) -> str:
        """Return the reason why a value is no message that somebody awaits; it is told."""

    def pop(self, seat: Seat) -> str:
        """Take the first thing out of a peer's inbox; return the reason of a fault or a loss, "" of a message."""

    def mark(self, seat: Seat, reason: str) -> None:
        """Put a fault of a peer before all that its inbox holds: who hears the peer next is told of it."""

    def concerns(self, call: C, seat: Seat) -> bool:
        """Say whether faults of a peer are a call's affair: those of one that is lent are only its who has it."""

    def loss_known(self, seat: Seat) -> None:
        """Somebody is told now that a peer is gone, and nobody will be again."""

    def is_gone(self, seat: Seat) -> bool:
        """Say whether nothing can be sent to a peer any more."""

    # -- calls and loops

    def begin_loop(self, call: C) -> bool:
        """Read the list of a loop; False if its items run side by side, and have begun."""

    def do_steps(self, call: C) -> None:
        """Do the steps of a state, or of an item of it."""

    def wait(self, call: C) -> None:
        """Let a state's clocks run, hear whom it awaits, and ask what it asks."""

    def run(self, call: C) -> None:
        """Call the machine of a state."""

    def advance(self, call: C) -> bool:
        """Go to the next item of a loop; False if there is none."""

    def is_wanted(self, call: C) -> bool:
        """Say whether an item is done at all, when its turn has come."""

    def is_enough(self, call: C) -> bool:
        """Say whether an item was the last: what ``until`` asks holds."""

    def in_loop(self, call: C) -> bool:
        """Say whether a state does items."""

    def end_loop(self, call: C) -> None:
        """No item is left, or a state had none."""

    def take_result(self, call: C, child: C) -> None:
        """Bind what a called machine returned; then `machines.semantics.calls.after_result`, if none runs beside it."""

    def end_main(self, call: C) -> None:
        """``main`` has returned: all is over."""

    def open_sign_up(self, call: C) -> None:
        """Take in connections; those who were still signing up for the same seats go on."""

    # -- sign-ups

    def wants_seats(self, call: C) -> bool:
        """Say whether a sign-up says how many it wants."""

    def seats_wanted(self, call: C) -> tuple[int, float]:
        """Return how many an open sign-up wants at least, and how many at most."""

    def seated(self, call: C) -> int:
        """Return how many have a seat."""

    def hear_seated(self, call: C) -> None:
        """Let an open sign-up hear those who are seated, and whom it awaits besides."""

    def recount(self, call: C) -> None:
        """Look again at a sign-up, if it is open: `machines.semantics.sign_ups.look_again`."""

    def linger(self, call: C, *, enough: bool) -> None:
        """Wait for more, as long as it may, if there are enough; else for as long as it takes."""

    def shut(self, call: C) -> None:
        """A sign-up is open no longer: whoever was still signing up is closed."""

    def go_on(self, call: C) -> None:
        """What a state does is done: take the first branch of ``then`` that may be taken."""

    def signed_up(self, call: C, sign_up: C) -> Any:
        """A sign-up is over; return whose it was."""

    def introduce(self, call: C, sign_up: C, seat: Seat) -> bool:
        """Give a peer the fields that its sign-up returned; False, and it is closed, if those are none."""

    def welcome(self, call: C, seat: Seat) -> bool:
        """Take the branch for who is about to be seated; False, and it is closed, if none may be taken."""

    def sit(self, call: C, node: Any, seat: Seat) -> None:
        """A peer takes the next seat of the sign-up that ``node`` is; the call may be in another state by now."""

    def unseat(self, call: C, seat: Seat) -> None:
        """A seated peer has left an open sign-up."""

    # -- what is told

    def tell_gone(self, seat: Seat) -> None:
        """Tell of a peer that left before it took its seat."""

    def tell_late(self, call: C, seat: Seat | None, due: float) -> None:
        """Tell of a limit that is over, and of the only peer that was awaited, if it was one."""

    def tell_loss(self, holder: C, seat: Seat) -> None:
        """Tell of a peer that has closed its connection."""

    def tell_kept(self, seat: Seat) -> None:
        """Tell of a message that waits for somebody to await it."""

    def tell_ignored(self, seat: Seat) -> None:
        """Tell of a message that is thrown away."""

    def tell_early(self, seat: Seat, hearers: list[Hearer[C]]) -> None:
        """Tell of a message that nobody had asked for."""

    # -- how it ends

    def end_sign_up(self, sign_up: C, reason: str) -> None:
        """A sign-up that answers to nothing more loses its peer."""

    def end_started(self, started: C, event: str, seat: Seat | None, why: str) -> None:
        """A started machine that answers to nothing more ends, alone."""

    def unanswered(self, call: C, event: str, seat: Seat | None, why: str) -> None:
        """Nobody answers a fault: the run fails."""
