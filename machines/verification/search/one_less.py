"""A client without a part any more: its global state is left to the search with one client less."""

from __future__ import annotations

from machines.verification.abstract.process import NOT_STARTED
from machines.verification.abstract.state import Closed
from machines.verification.search.moves import GlobalState, Search


def is_covered(graph: Search, fewer: Search, config: GlobalState) -> bool:
    """Whether one of the clients that are alike plays no part any more, and without it this was looked at.

    It plays none if it has come to its end, nothing waits for it or of it, and no shared actor knows of it. It may
    have left its mark all the same, as in a count of those who were here; so what is left without it has to be
    among the global states of the search with one less. Who has not come yet plays none once he is closed at
    once, if no door opens any more. Nobody is left out whose role was found to be left without an end, so that
    their ends can be held side by side.
    """
    locals_, queues, faulty = config
    for at, part in graph.shared:
        if locals_[at] in part.over:
            return False  # how they all come to their ends is asked of so many as there are
    for actors, theirs in graph.bundles.values():
        local = locals_[actors[0]]
        if not faulty and graph.cast.actors[actors[0]].role in fewer.without_end:
            continue  # its own end may be what another is left without
        if local == NOT_STARTED:
            if all(locals_[at] == NOT_STARTED for at in actors) and _is_refused(graph, locals_, actors[0]):
                if graph.refused and _is_left(graph, fewer, config, actors):
                    return True
                graph.refused = True
            continue
        if not graph.is_over(local, actors[0]):
            continue
        if any(queues[queue] for queue in theirs):
            continue
        ended = all(graph.is_over(locals_[at], at) for at in actors)
        if ended and not any(_knows(graph, locals_, at) for at in actors) and _is_left(graph, fewer, config, actors):
            return True
    return False


def _is_left(graph: Search, fewer: Search, config: GlobalState, actors: tuple[int, ...]) -> bool:
    for without in graph.without:
        if without.gone == actors:
            return fewer.has(without.left(config, fewer.empty))
    return False


def _knows(graph: Search, locals_: tuple[int, ...], at: int) -> bool:
    """Whether a shared actor knows of the peer that an actor is to it."""
    for other, theirs in graph.cast.actors[at].peers:
        shared = graph.cast.actors[other]
        if shared.group < 0 and locals_[other] >= 0 and theirs in shared.part.rest(locals_[other]).mentioned:
            return True
    return False


def _is_refused(graph: Search, locals_: tuple[int, ...], at: int) -> bool:
    """Whether a client that connects, now or later, is closed at once, and nothing else happens."""
    for other, theirs in graph.cast.actors[at].peers:
        shared = graph.cast.actors[other]
        if shared.group >= 0 or locals_[other] < 0 or graph.is_over(locals_[other], other):
            continue
        if shared.part.rest(locals_[other]).opens:
            return False
        ways = shared.part.after(locals_[other], ("connect", theirs))
        if any(way.outcome.out != (Closed(theirs, "door"),) or way.outcome.hits for way in ways):
            return False
    return True
