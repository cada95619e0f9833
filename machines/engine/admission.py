"""Sign-ups: what an ``accept`` does with connections, from the first word to a seat, and who leaves in between.

An open sign-up runs its machine for each connection (`admit`). Those it returns for are seated, in that order; those
that fail, or are still at it when the sign-up is shut, are closed. Who is seated, and when it has enough, is decided in
`machines.semantics.sign_ups`.
"""

from __future__ import annotations

from bisect import bisect_left
from math import inf
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from machines.effects import Note
from machines.engine.actions import count_range, duration, peers
from machines.engine.call_stack import RELEASED_PEERS, Admission, CallFrame, PeerState
from machines.engine.compiled_states import CompiledState
from machines.engine.timers import start_clocks
from machines.engine.transaction import SWEEP_MIN, RareState
from machines.messages.shapes import shown
from machines.semantics import sign_ups
from machines.values import Peer, Record

if TYPE_CHECKING:
    from machines.engine.interpreter import Interpreter

_NUMBER = attrgetter("number")


def enter_accept(tree: Interpreter, frame: CallFrame, node: CompiledState) -> None:
    """Open the sign-up; with enough seated already it may shut at once."""
    accept = node.accept
    assert accept is not None, "only an accept is entered here"
    low, high = (0, inf) if accept.seats is None else count_range(accept.seats(frame.slots))
    start_clocks(tree, frame, node)
    accepting = Admission(low, high)
    if not isinstance(frame.slots[accept.slot], tuple):
        frame.slots[accept.slot] = ()
    if frame.parked is not None:  # another accept into the same name goes on with the sign-ups under way
        accepting.heard = frame.parked.heard
        accepting.pending, frame.parked = frame.parked, None
    frame.accepting = accepting
    tree.sign_ups = (*[one for one in tree.sign_ups if one.accepting is not None and one is not frame], frame)
    sign_ups.look_again(tree, frame)
    if tree.unheard:
        tree.hear_more()


def hear_seated(tree: Interpreter, frame: CallFrame, node: CompiledState) -> None:
    """An open sign-up hears those already seated, and whoever it awaits besides."""
    accept = node.accept
    assert accept is not None, "only an accept is looked at here"
    inside = frame.slots[accept.slot]
    besides = node.awaits(frame.slots) if node.awaits is not None else ()
    sign_up = frame.accepting
    if sign_up is not None and (
        _hears_already(tree, frame, sign_up, inside, besides) or _hears_newcomer(tree, frame, sign_up, inside, besides)
    ):
        return
    seated = dict.fromkeys(restore_peer(tree, peer) for peer in inside)
    if besides is not inside:
        seated.update(dict.fromkeys(restore_peer(tree, peer) for peer in peers(besides)))
    tree.hear(frame, tuple(seated))
    if sign_up is not None:
        sign_up.heard = inside, besides, frame.hears


def _hears_already(tree: Interpreter, frame: CallFrame, sign_up: Admission, inside: Any, besides: Any) -> bool:
    """Whether a sign-up heard just these when it looked last, so that each event costs the same however many they are.

    Of one that was then alone in having its say, only the loss may still have to be told: its bytes made no sense.
    """
    before, others, heard = sign_up.heard
    if frame.hears is not heard or inside is not before or besides is not others:
        return False
    speaker = tree.speaker
    if speaker is not None:
        seat = tree.seats[speaker.number]
        if seat.holder is frame and seat.silent and not (seat.inbox or seat.more or seat.closed_told):
            return False
    return True


def _hears_newcomer(tree: Interpreter, frame: CallFrame, sign_up: Admission, inside: Any, besides: Any) -> bool:
    """Hear one more, who has just taken the last seat, beside those heard already; False if all are to be looked at."""
    before, others, heard = sign_up.heard
    if frame.hears is not heard or before is None or not len(inside) == len(before) + 1 == len(heard) + 1:
        return False
    seat = tree.seats[inside[-1].number]
    if not (besides is inside or (besides == () and others == ())) or seat.holder is not None or seat.silent:
        return False
    if inside[:-1] != before or (tree.extra is not None and tree.extra.loans):
        return False
    seat.holder = frame
    frame.hears = (*heard, seat)
    sign_up.heard = inside, besides, frame.hears
    if seat.inbox or seat.more:
        tree.look_at(seat)
    return True


def linger(tree: Interpreter, frame: CallFrame, accepting: Admission, *, enough: bool) -> None:
    """Let the time begin in which more may come, if there are enough and it has not begun; else take it back."""
    accept = frame.node.accept
    assert accept is not None, "only an accept lingers"
    if not enough or accept.linger is None:
        accepting.linger = inf
    elif accepting.linger == inf:
        tree.serial += 1
        accepting.linger_serial = tree.serial
        accepting.linger = tree.now + duration(accept.linger(frame.slots))
        tree.earliest = min(tree.earliest, accepting.linger)


def admit(tree: Interpreter, frame: CallFrame, seat: PeerState) -> None:
    """Run the sign-up machine of an open sign-up for a new connection."""
    accept = frame.node.accept
    assert accept is not None, "only an accept admits"
    assert frame.accepting is not None, "its sign-up is open"
    saved = frame.slots[:]
    try:
        frame.slots[accept.peer_slot] = seat.peer
        child = tree.new_frame(accept.machine, accept.arguments(frame.slots), frame, seat.number)
    except BaseException as error:
        frame.slots[:] = saved
        tree.failed(frame, error, f"admitting peer {seat.number}")
        return
    frame.accepting.pending[seat.number] = child
    tree.work.append(child)


def introduce(tree: Interpreter, frame: CallFrame, child: CallFrame, seat: PeerState) -> bool:
    """Give a peer the fields that its sign-up returned; False, and it is closed, if those are none."""
    assert frame.node.accept is not None, "only an accept seats"
    result = child.result
    if result is not None and not isinstance(result, Record):
        # Its own affair: what one peer says may not end the sign-up of the others.
        why = f"{child.table.name} returned no mapping of fields but {shown(result)}"
        tree.effects.append(Note("error", f"it takes no seat: {why}", seat.number))
        tree.drop(seat.peer, "it could not be seated")
        return False
    seat.peer = Peer(seat.number, result if result is not None else Record())
    frame.slots[frame.node.accept.peer_slot] = seat.peer
    return True


def welcome(tree: Interpreter, frame: CallFrame, seat: PeerState) -> bool:
    """Take the branch for who is about to be seated; False, and it is closed, if none may be taken or one failed.

    The branch may give the peer further fields; who was seated earlier is what its names show.
    """
    accept, failures, layer = frame.node.accept, tree.failures, frame.node.layer
    assert accept is not None, "only an accept seats"
    why = ""
    if not tree.fire(frame, layer, ".seated", seat.peer):
        why = "it was refused a seat"
    elif tree.failures != failures or tree.ended is not None:
        why = "it could not be seated"
    if not why:
        named = frame.slots[accept.peer_slot]
        if isinstance(named, Peer) and named.number == seat.number:
            seat.peer = named
        return True
    if tree.ended is None:
        seat.peer = Peer(seat.number)
        tree.drop(seat.peer, why)
    return False


def unseat(tree: Interpreter, frame: CallFrame, seat: PeerState) -> None:
    """A seated peer left while the sign-up is open: its seat is free again, and it is heard no more."""
    node = frame.node
    accept, sign_up = node.accept, frame.accepting
    assert accept is not None, "only an accept has seats"
    before = frame.slots[accept.slot]
    at = _place_of(seat.number, before)
    if at is None:
        return
    inside = frame.slots[accept.slot] = before[:at] + before[at + 1 :]
    if sign_up is None or frame.hears is not sign_up.heard[2] or sign_up.heard[0] is not before:
        return
    # Those who were heard stay so, but for this one: they need not be looked at, if they are just those seated.
    heard = frame.hears
    same = sign_up.heard[1] is before
    if len(heard) == len(before) and heard[at] is seat and (same or sign_up.heard[1] == ()):
        seat.holder = None
        frame.hears = heard[:at] + heard[at + 1 :]
        sign_up.heard = inside, inside if same else (), frame.hears


def _place_of(number: int, seated: tuple[Peer, ...]) -> int | None:
    """Return where a peer is in a list of them; nearly always they are in the order in which they connected."""
    at = bisect_left(seated, number, key=_NUMBER)
    if at < len(seated) and seated[at].number == number:
        return at
    return next((index for index, other in enumerate(seated) if other.number == number), None)


def refuse(tree: Interpreter, frame: CallFrame, why: str, level: str = "info") -> None:
    """End a sign-up without a seat; its peer is dropped."""
    parent = frame.parent
    assert parent is not None, "a sign-up has a caller"
    pending = parent.accepting.pending if parent.accepting is not None else parent.parked
    assert pending is not None, "a sign-up is pending"
    del pending[frame.ordinal]
    tree.abandon(frame)
    seat = tree.seats[frame.ordinal]
    tree.effects.append(Note(level, why, seat.number))
    if not seat.gone:
        tree.drop(seat.peer, why)


# -- seats of connections that came and went -------------------------------------------------------------------------


def restore_peer(tree: Interpreter, peer: Peer) -> PeerState:
    """Return a peer's seat, to be awaited; one that was given up is made again."""
    seat = tree.seats[peer.number]
    if seat.number >= 0:
        return seat
    told, dropped = next(how for how, released in RELEASED_PEERS.items() if released is seat)
    seat = PeerState(peer.number, tree.program.callers[0], seat.framer, accepted=True)
    seat.peer = peer
    seat.lost = seat.deaf = True
    seat.dropped, seat.closed_told = dropped, told
    tree.seats[peer.number] = seat
    tree.extras().vacant.append(peer.number)
    return seat


def release_peers(tree: Interpreter, extra: RareState) -> None:
    """Give up the seats of connections that are gone and that nobody hears: a server may run for years.

    Their numbers stay theirs. It is looked for only when twice as many are gone as were still of use last time. Those
    of roles that this one connects to are few, and the names of these roles read them: they are kept.
    """
    left = []
    connected = len(tree.program.connects)
    for number in extra.vacant:
        seat = tree.seats[number]
        unheard = seat.holder is None and not seat.inbox and (seat.dropped or not seat.more)
        if seat.gone and unheard and number >= connected and number not in extra.loans:
            tree.seats[number] = RELEASED_PEERS[seat.closed_told, seat.dropped]
        else:
            left.append(number)
    extra.vacant = left
    extra.sweep_at = max(SWEEP_MIN, 2 * len(left))
