"""What is asked of a session from outside: its calls, where they stand, who would take in a connection.

Nothing here changes it.
"""

from __future__ import annotations

from collections.abc import Iterator

from machines.engine.call_stack import CallFrame
from machines.engine.interpreter import Interpreter
from machines.semantics import hearing
from machines.semantics.hearing import below, outward

Stand = tuple[tuple[str, str], ...]  # (call path, state) of every call, those called first


def frames(tree: Interpreter) -> Iterator[CallFrame]:
    """Yield every live frame, callees before callers, older calls first."""
    return below(tree.root) if tree.root is not None else iter(())


def stands(tree: Interpreter) -> Stand:
    """Return where every call of a session stands; nothing if it has ended."""
    if tree.ended is not None:
        return ()
    return tuple((frame.path, frame.node.name) for frame in frames(tree))


def open_sign_up(tree: Interpreter) -> CallFrame | None:
    """Return the frame that admits who connects now: the innermost, oldest whose accept is open; or None."""
    opened = tree.sign_ups = tuple([frame for frame in tree.sign_ups if frame.alive and frame.accepting is not None])
    if len(opened) > 1:
        return next((frame for frame in frames(tree) if frame.accepting is not None), None)
    return opened[0] if opened else None


def leaves(tree: Interpreter) -> Iterator[CallFrame]:
    """Yield the frames that wait for no other."""
    return hearing.leaves(frames(tree))


def is_open(session: Interpreter) -> bool:
    """Whether somebody takes in the next connection; else it is dropped at once."""
    if session.root is None or session.ended is not None:
        return False
    if any(frame.accepting is not None for frame in frames(session)):
        return True
    return any(".connected" in layer.events for _, layer in outward(frames(session)))


def where(session: Interpreter) -> str:
    """Say what a session waits for, for people."""
    if session.ended is not None:
        return "over"
    waits = []
    for frame in leaves(session):
        heard = ", ".join(str(seat.peer) for seat in frame.hears)
        waits.append(f"{frame.path} in {frame.node.name}" + (f", hears {heard}" if heard else ""))
    return "; ".join(waits) or "nothing"
