"""Machines that nobody waits for: begun by a ``start``, lent the peers they are given, told of when they end.

A started machine is a child of the frame that started it, but of none of its states: it lives until it ends or that
frame does. Behind it stand the ``always`` of that frame and of those that called it, for messages; its faults and
failures never get out of it, they end it.

The peers among its values are *lent*: until it ends, nobody but it and what it runs awaits them, and it awaits no
others. Who was awaiting one hears it again afterwards, and is told then if it was lost meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from machines.effects import Note
from machines.engine import admission
from machines.engine.actions import peers_within
from machines.engine.call_stack import CallFrame, LentSeat, PeerState
from machines.engine.compiled_states import ACCEPT, WAIT
from machines.engine.transaction import Delegation, PendingSpawn, RareState

if TYPE_CHECKING:
    from machines.engine.interpreter import Interpreter

RETURNED, FAILED, LIMIT = "returned", "failed", "limit"


def carry_on(tree: Interpreter, extra: RareState) -> None:
    """Let whoever was awaiting a peer that came back hear it again; then begin what was started."""
    while extra.rejoining or extra.starting:
        if extra.rejoining:
            frame, *others = extra.rejoining
            extra.rejoining = tuple(others)
            _rejoin(tree, frame)
        else:
            starting, *rest = extra.starting
            extra.starting = tuple(rest)
            _begin(tree, extra, starting)


def _begin(tree: Interpreter, extra: RareState, starting: PendingSpawn) -> None:
    frame, machine = starting.frame, starting.machine
    if not frame.alive:
        tree.effects.append(Note("info", f"{machine} is not started: who wanted it has ended"))
        return
    if extra.started >= tree.program.wire.started_max:
        tree.effects.append(Note("warning", f"{machine} is not started: {extra.started} run already"))
        extra.endings += ((frame, None, LIMIT),)
        return
    try:
        child = tree.new_frame(machine, starting.arguments, frame, frame.number_calls(machine))
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        tree.effects.append(Note("error", f"{frame.path}: {machine} can not start: {error}"))
        extra.endings += ((frame, None, FAILED),)
        return
    child.host = child
    extra.started += 1
    frame.extras().started[id(child)] = child
    given = {peer.number: peer for peer in peers_within(starting.arguments) if peer.number >= 0}
    child.extras().lent = tuple(
        [_lend(tree, extra, admission.restore_peer(tree, peer), child) for peer in given.values()]
    )
    tree.work.append(child)


def _lend(tree: Interpreter, extra: RareState, seat: PeerState, child: CallFrame) -> LentSeat:
    before = tree.lent_to(seat)
    assert child.parent is not None, "what is started has been started by somebody"
    if child.parent.host is before:  # who has it not cannot lend it: then the machine is given a name, no more
        extra.loans.setdefault(seat.number, Delegation(child)).to = child
        holder = seat.holder
        if holder is not None:
            seat.holder = None
            holder.hears = tuple(other for other in holder.hears if other is not seat)
            want(tree, seat, holder)
    return seat, before, seat.closed_told


def want(tree: Interpreter, seat: PeerState, frame: CallFrame) -> None:
    """Note who awaits a seat that is lent: it hears it when it comes back."""
    loan = tree.extras().loans.get(seat.number)
    if loan is not None:
        loan.wanted = (*(other for other in loan.wanted if other is not frame and other.alive), frame)


def give_back(tree: Interpreter, child: CallFrame) -> None:
    """A started machine is over: it leaves its caller, and the peers it was lent go back."""
    extra = tree.extras()
    extra.started -= 1
    parent = child.parent
    assert parent is not None, "what is started has been started by somebody"
    parent.started.pop(id(child), None)
    for seat, before, told in child.extras().lent or ():
        loan = extra.loans.get(seat.number)
        if loan is None or loan.to is not child:
            continue
        wanted, loan.wanted, loan.to = loan.wanted, (), before
        if before is None:
            del extra.loans[seat.number]
        seat.closed_told = told  # who lent it is told too of a loss meanwhile, and not again of one before
        extra.rejoining += tuple(frame for frame in wanted if frame not in extra.rejoining)
        tree.look_at(seat)
    child.extras().lent = ()


def _rejoin(tree: Interpreter, frame: CallFrame) -> None:
    if not frame.alive:
        return
    try:
        if frame.node.kind == WAIT and frame.node.awaits is not None:
            tree.register(frame, frame.node, afresh=False)
        elif frame.node.kind == ACCEPT and frame.accepting is not None:
            admission.hear_seated(tree, frame, frame.node)
    except BaseException as error:
        tree.failed(frame, error, f"hearing again in {frame.node.name}")


def finish(tree: Interpreter, child: CallFrame) -> None:
    """A started machine has returned."""
    give_back(tree, child)
    assert child.parent is not None, "what is started has been started by somebody"
    tree.extras().endings += ((child.parent, child.result, RETURNED),)


def fail(tree: Interpreter, child: CallFrame, why: str) -> None:
    """A started machine cannot go on: it ends, alone."""
    tree.effects.append(Note("error", f"{child.path} failed: {why}"))
    tree.abandon(child)
    assert child.parent is not None, "what is started has been started by somebody"
    tree.extras().endings += ((child.parent, None, FAILED),)


def notify_parent(tree: Interpreter, extra: RareState) -> None:
    """Tell whoever started a machine that it has ended: its state, or behind it its ``always``."""
    (frame, result, reason), *others = extra.endings
    extra.endings = tuple(others)
    if not frame.alive:
        return
    tree.event_mark = len(tree.effects)  # it was made by the session itself, so the bound on silent steps runs on
    table = frame.table
    fields = (result, reason) if table.reason_slot else (result,)
    for layer in (frame.node.layer, table.always):
        if layer is not None and ".ended" in layer.events:
            tree.steps += 1
            if tree.fire(frame, layer, layer.prefix + ".ended", None, None, fields):
                return
    tree.effects.append(Note("info", f"a machine that {frame.path} started has ended ({reason}): nobody answers"))
