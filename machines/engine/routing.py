"""Who hears a peer now: the state that awaits it, and the layers behind that one; and what an unheard message is.

Questions about a `machines.engine.interpreter.Interpreter`; nothing here changes it.
"""

from __future__ import annotations

from collections.abc import Iterator

from machines.engine.actions import peers
from machines.engine.call_stack import CallFrame, PeerState, layers, peers_in
from machines.engine.compiler import ACCEPT, HandlerScope
from machines.engine.interpreter import Interpreter
from machines.model import Early

Hearer = tuple[CallFrame, HandlerScope]
Stand = tuple[tuple[str, str], ...]  # (call path, state) of every call, those called first


def frames(tree: Interpreter) -> Iterator[CallFrame]:
    """Yield every live frame, callees before callers, older calls first."""

    def below(frame: CallFrame) -> Iterator[CallFrame]:
        for child in frame.children():
            yield from below(child)
        yield frame

    if tree.root is not None:
        yield from below(tree.root)


def stands(tree: Interpreter) -> Stand:
    """Return where every call of a session stands; nothing if it has ended."""
    if tree.ended is not None:
        return ()
    return tuple((frame.path, frame.node.name) for frame in frames(tree))


def open_sign_up(tree: Interpreter) -> CallFrame | None:
    """Return the frame that admits who connects now: the innermost, oldest whose accept is open; or None."""
    if len(tree.sign_ups) > 1:
        tree.sign_ups = tuple([sign_up for sign_up in tree.sign_ups if sign_up.alive and sign_up.accepting is not None])
    if len(tree.sign_ups) > 1:
        return next((frame for frame in frames(tree) if frame.accepting is not None), None)
    return next((sign_up for sign_up in tree.sign_ups if sign_up.alive and sign_up.accepting is not None), None)


def leaves(tree: Interpreter) -> Iterator[CallFrame]:
    """Yield the frames that called nobody: those that wait."""
    for frame in frames(tree):
        if next(frame.called(), None) is None:
            yield frame


def outward(tree: Interpreter) -> Iterator[Hearer]:
    """Yield every layer of every live frame once, inner before outer."""
    for frame in frames(tree):
        yield frame, frame.node.layer
        if frame.table.always is not None:
            yield frame, frame.table.always


def hears(tree: Interpreter, frame: CallFrame, layer: HandlerScope, seat: PeerState, *, held: bool) -> bool:
    """Say whether a layer hears a peer; ``held`` if the state inside it awaits that peer."""
    audience = layer.audience
    if audience == "inner":
        return held
    if audience == "partner":
        return True
    if frame.node.layer is layer and frame.node.kind == ACCEPT:
        return seat in frame.hears
    try:
        named = audience(frame.slots)
        return seat.peer in peers(named)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a name not yet bound, or bound to no peer: then it hears nobody yet
        return False


def hearers(tree: Interpreter, seat: PeerState) -> Iterator[Hearer]:
    """Yield the layers that hear a peer now, from the inside out."""
    if seat.holder is not None and not (seat.holder.node.kind == ACCEPT and seat.holder.node.awaits is None):
        inner = True
        for frame, layer in layers(seat.holder):
            if inner or hears(tree, frame, layer, seat, held=True):
                yield frame, layer
            inner = False
        return
    for frame, layer in outward(tree):
        # What is lent is heard by who has it; behind that stand, for messages, the `always` of who lent it.
        lent = tree.lent_to(seat)
        if frame.host is not lent and not (lent is not None and layer is frame.table.always and _around(lent, frame)):
            continue
        if hears(tree, frame, layer, seat, held=False):
            yield frame, layer


def _around(frame: CallFrame, other: CallFrame) -> bool:
    at = frame.parent
    while at is not None and at is not other:
        at = at.parent
    return at is not None


def early_policy(tree: Interpreter, seat: PeerState) -> Early:
    """Look from the innermost call that was given the peer outward: state, machine, …, role, wire."""
    at: CallFrame | None = tree.root
    for leaf in leaves(tree):
        frame: CallFrame | None = leaf
        while frame is not None:
            if seat.number in set(peers_in(tuple(frame.slots[1 : frame.table.parameters + 1]))):
                at = frame
                break
            frame = frame.parent
        else:
            continue
        break
    while at is not None:
        state = at.node.state
        if state is not None and state.early is not None:
            return state.early
        if at.table.early is not None:
            return at.table.early
        at = at.parent
    if tree.program.role.early is not None:
        return tree.program.role.early
    return tree.program.wire.early if seat.accepted else "keep"


def is_open(session: Interpreter) -> bool:
    """Whether somebody takes in the next connection; else it is dropped at once."""
    if session.root is None or session.ended is not None:
        return False
    if any(frame.accepting is not None for frame in frames(session)):
        return True
    return any(".connected" in layer.events for _, layer in outward(session))
