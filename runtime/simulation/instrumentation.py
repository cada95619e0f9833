"""A session that tells of each fault it met: whose it was, where it was answered, or that nobody answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from machines.analysis.traversal import all_branches
from machines.engine.call_stack import CallFrame, PeerState
from machines.engine.compiled_states import ACCEPT, HandlerScope
from machines.engine.session import Program, Session
from machines.expressions.compiler import EvaluationError
from machines.model import Branch, Choice, Constant, DropPeers, Handlers, Return
from machines.problems import Place
from machines.values import Peer

FAULTS: Final = (".timeout", ".invalid", ".closed")
_ALIKE: Final = ("timeout", "invalid", "closed")


@dataclass(frozen=True, slots=True)
class SessionFault:
    """A fault that a session met: an event of FAULTS with its reason, and at which seat, if it is a peer's.

    ``own`` says that it waited for its own player, ``sign_up`` that it waited for connections. ``answered`` is False if
    no layer had an answer. ``punished`` says that the answer is the one to a breach too, or drops somebody; so being
    late is held against whoever was waited for.
    """

    event: str
    reason: str
    seat: int | None
    machine: str
    state: str
    place: Place
    own: bool
    sign_up: bool
    answered: bool
    punished: bool


class InstrumentedSession(Session):
    """A session with the faults that it met in ``faults``, and the place where it failed, if it did, in ``broke``."""

    __slots__ = ("broke", "faults", "innermost")

    def __init__(self, program: Program, *, seed: int, my: dict[str, Any]) -> None:
        super().__init__(program, seed=seed, my=my, watch=True)
        self.faults: list[SessionFault] = []
        self.broke: Place | None = None
        self.innermost: CallFrame | None = None  # whose fault is being answered, perhaps further out

    def fire(
        self,
        frame: CallFrame,
        layer: HandlerScope,
        event: str,
        peer: Peer | None,
        reason: str | None = None,
        fields: tuple[Any, ...] = (),
    ) -> bool:
        """Do as every session does, and note a fault that is answered."""
        bare = event.removeprefix(layer.prefix)
        if bare not in FAULTS:
            return super().fire(frame, layer, event, peer, reason, fields)
        answers = self._answers(frame, layer)
        machine, state, own, sign_up = self._about(self.innermost or frame, bare, peer)
        if not super().fire(frame, layer, event, peer, reason, fields):
            return False
        choice: Choice | None = getattr(answers, bare[1:]) if answers is not None else None
        place = choice.place if choice is not None else self.place_of(frame)
        punished = answers is not None and choice is not None and _punishes(answers, bare[1:], choice)
        seat = peer.number if peer is not None else None
        fault = SessionFault(bare, reason or "", seat, machine, state, place, own, sign_up, True, punished)
        self.faults.append(fault)
        return True

    def fault(self, frame: CallFrame, event: str, seat: PeerState | None, reason: str, why: str = "") -> None:
        """Do as every session does, and note a fault that nobody answers."""
        count = len(self.faults)
        peer = seat.peer if seat is not None else None
        machine, state, own, sign_up = self._about(frame, event, peer)
        place = self.place_of(frame)
        self.innermost = frame
        super().fault(frame, event, seat, reason, why)
        self.innermost = None
        if len(self.faults) == count:
            number = seat.number if seat is not None else None
            self.faults.append(SessionFault(event, reason, number, machine, state, place, own, sign_up, False, True))

    def failed(self, frame: CallFrame, error: BaseException, where: str, beyond: HandlerScope | None = None) -> None:
        """Do as every session does, and note where."""
        if beyond is None:
            self.broke = error.place if isinstance(error, EvaluationError) else self.place_of(frame)
        super().failed(frame, error, where, beyond)

    def place_of(self, frame: CallFrame) -> Place:
        """Return where the state of a call stands in its file, or its machine where a choice has no state."""
        state = frame.node.state
        return state.place if state is not None else self.program.role.machines[frame.table.name].place

    def _answers(self, frame: CallFrame, layer: HandlerScope) -> Handlers | None:
        if layer is frame.table.always:
            always = self.program.role.machines[frame.table.name].always
            return always.answers if always is not None else None
        return frame.node.state.answers if frame.node.state is not None else None

    def _about(self, frame: CallFrame, event: str, peer: Peer | None) -> tuple[str, str, bool, bool]:
        """Return machine and state, whether it waited for its own player, and whether for connections."""
        node = frame.node
        own = node.asked is not None and (peer is None or (event == ".timeout" and frame.question is not None))
        return frame.table.name, node.name, own, node.kind == ACCEPT and peer is None


def _punishes(answers: Handlers, event: str, choice: Choice) -> bool:
    if all(_is_plain_end(branch) for branch in all_branches(choice)):
        return False
    if any(other != event and getattr(answers, other) == choice for other in _ALIKE):
        return True
    return any(isinstance(step, DropPeers) for step in _steps(choice))


def _is_plain_end(branch: Branch) -> bool:
    """Whether a branch only ends the machine: then nobody suffers, and it may well be how a session ends."""
    return not branch.steps and isinstance(branch.next, Return) and isinstance(branch.next.value, Constant)


def _steps(choice: Choice) -> Iterator[object]:
    for branch in all_branches(choice):
        yield from branch.steps
