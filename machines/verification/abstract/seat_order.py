"""In which order a local state speaks of peers: so that states that differ only in who is who are told to be alike."""

from __future__ import annotations

from typing import Any

from machines.verification.abstract.domain import UNSET, moved, note_seats

_OTHER = -1  # within a sign-up: its own peer, or one that only sign-ups speak of


def meet(call: Any, met: dict[int, None]) -> bool:
    """Note the peers that a call and its callees speak of, in order; return False if it has sign-ups under way."""
    _, _, env, hears, _, _, _, loop, child, sign_ups, parked, _, beside, _ = call
    note_seats(env, met)
    for one in hears:
        met[one] = None
    if loop is not None:
        note_seats(loop[1:2], met)
    ordered = not (sign_ups or parked)
    if child is not None and not meet(child, met):
        return False
    if beside is not None:
        met.update(dict.fromkeys(beside[0] or ()))
        ordered = all(meet(one, met) for one in beside[1]) and ordered
    return ordered


def spoken_of(call: Any, met: dict[int, None]) -> None:
    """Note the peers that a call and all below it speak of, in order, those of sign-ups too."""
    _, _, env, hears, _, _, _, loop, child, sign_ups, parked, _, beside, seat = call
    note_seats(env, met)
    for one in hears:
        met[one] = None
    if loop is not None:
        note_seats(loop[1:2], met)
    if seat >= 0:
        met[seat] = None
    lent, started, _ = beside or ((), (), ())
    met.update(dict.fromkeys(lent or ()))
    for below in (*((child,) if child is not None else ()), *(sign_ups or ()), *(parked or ()), *started):
        spoken_of(below, met)


def without_strangers(root: Any, at: int, fixed: int) -> tuple[Any, dict[int, None]]:
    """Return the calls without what is known of peers that none of them speaks of, and the peers that they do.

    Nobody can hear or ask for those any more. What is known of the others stands in the order in which they are spoken
    of, so that it makes no difference who was heard of first. It is the name ``at`` of main, -1 if nothing ever is
    known; ``fixed`` seats are always heard.
    """
    met: dict[int, None] = dict.fromkeys(range(fixed))
    env = root[2]
    known: Any = env[at] if at >= 0 else UNSET
    if known is UNSET:
        spoken_of(root, met)
        return root, met
    without = (*root[:2], (*env[:at], UNSET, *env[at + 1 :]), *root[3:])
    spoken_of(without, met)
    of = {peer.seat: (peer, fields) for peer, fields in known}
    left = tuple([of[seat] for seat in met if seat in of])
    if not left:
        return without, met
    return (*root[:2], (*env[:at], left, *env[at + 1 :]), *root[3:]), met


def ranks(local: Any, fixed: int) -> tuple[int, ...]:
    """Return a rank for each seat of a local state: its place in the order in which the state speaks of peers.

    Whoever it does not speak of comes behind, by what the seat is and by the sign-up that is under way there. If peers
    are renamed, their ranks go with them; so who has the same rank may be exchanged, and the state is the same. (But
    for sign-ups that know of each other: then it may be another one.) ``fixed`` seats are of those whom it connects
    to.
    """
    root, statuses, *_ = local
    met: dict[int, None] = dict.fromkeys(range(fixed))
    sign_ups: dict[int, str] = {}
    if root[0] != ".over":
        meet(root, met)
        place = {seat: at for at, seat in enumerate(met)}
        sign_ups = {call[-1]: repr((way, _anonymous(call, call[-1], place))) for way, call in _sign_ups(root, ())}
    others = {seat: (status, sign_ups.get(seat, "")) for seat, status in enumerate(statuses) if seat not in met}
    classes = {kind: len(met) + at for at, kind in enumerate(sorted(set(others.values())))}
    found = {**{seat: at for at, seat in enumerate(met)}, **{seat: classes[kind] for seat, kind in others.items()}}
    return tuple([found[seat] for seat in range(len(statuses))])


def _sign_ups(call: Any, way: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
    """Return the sign-ups under way in a call and its callees, each with where it is."""
    _, _, _, _, _, _, _, _, child, sign_ups, parked, _, beside, _ = call
    found = [((*way, at), one) for at, some in (("open", sign_ups), ("parked", parked)) for one in some or ()]
    for number, started in enumerate(beside[1] if beside is not None else ()):
        found += _sign_ups(started, (*way, f"started {number}"))
    return found + (_sign_ups(child, (*way, "child")) if child is not None else [])


def _anonymous(call: Any, own: int, place: dict[int, int]) -> tuple[Any, ...]:
    """Return a sign-up with each peer by its place in the order, and its own peer without a name."""

    def of(seat: int) -> int:
        return _OTHER if seat == own else place.get(seat, _OTHER)

    machine, state, env, hears, asked, told_empty, fired, loop, child, _, _, _, beside, _ = call
    values = [moved(value, of) for value in env]
    inner = _anonymous(child, own, place) if child is not None else ()
    items = moved(loop[1], of) if loop is not None else ()
    started = [(*one[-2][::2], _anonymous(one, own, place)) for one in (beside[1] if beside is not None else ())]
    return machine, state, values, [of(seat) for seat in hears], asked, told_empty, fired, items, inner, started


__all__ = ["meet", "ranks", "without_strangers"]
