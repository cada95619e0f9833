"""What a person decides about an event: to drop a player, or to have played again what need not stand."""

from __future__ import annotations

from runtime.tournament.event import Event
from runtime.tournament.progress import OUT, EventProgress, progress_of
from runtime.tournament.store import Match, Store, StoreError


def decide(event: Event, store: Store, what: str, about: str, why: str) -> list[str]:
    """Keep a decision; return the matches that it might have meant and that stand, as `standing` has them.

    Raises:
        StoreError: nothing that it is about may be played again, or there is no such thing.
    """
    stand: list[Match] = []
    if what == "again":
        progress = progress_of(event, store)
        stand = standing(progress, about)
        meant = [match for match in progress.matches if about in (match.id, *match.seats)]
        gone = [name for name in progress.numbers if name in progress.dropped() and any(name in m.seats for m in stand)]
        if about in progress.dropped() or (stand and len(stand) == len(meant)):
            who = [about] if about in progress.dropped() else gone
            raise StoreError(
                f"{about} is not played again, and what was played stands: {', '.join(who)} "
                f"{'is' if len(who) == 1 else 'are'} dropped"
            )
    store.decide(what, about, why, {match.number for match in stand})
    return [match.id for match in stand]


def standing(progress: EventProgress, about: str) -> list[Match]:
    """Return the matches, of those that a name or an id is about, with a result in which somebody played who has been
    dropped since: played once more it would be without them, so it stands.
    """
    dropped = progress.dropped()
    return [
        match
        for match in progress.matches
        if about in (match.id, *match.seats)
        and any(
            one.player in dropped and not one.fault.startswith(OUT) for one in progress.results.get(match.number, ())
        )
    ]
