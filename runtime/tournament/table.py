"""An event as text: the table of standings, results in a line, what each player is to be told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rules.schedules.standings import encounters
from runtime.tournament.progress import OUT, UNPLAYED, EventProgress
from runtime.tournament.store import Match, Placed

CROSS_MAX = 24  # players, beyond which a crosstable fits on no screen
FAULTS_SHOWN = 3  # of a player


def placed_text(places: Sequence[Placed], *, whole: bool = False) -> str:
    """Return a result in a line: ``ann 1  cyd 2  bob -   bob: illegal in intermediate_placement``.

    Reasons are cut to what a line of a terminal has room for, unless they are wanted ``whole``.
    """
    ordered = sorted(places, key=lambda one: one.place)
    line = "  ".join(f"{one.player} {'-' if one.at_fault else one.place}" for one in ordered)
    whys = "; ".join(f"{one.player}: {one.fault if whole else short(one.fault)}" for one in ordered if one.at_fault)
    if gone := [one.player for one in ordered if one.fault.startswith(OUT)]:
        not_played = ", not played" if any(one.fault == UNPLAYED for one in ordered) else ""
        whys = "; ".join([*filter(None, [whys]), f"{', '.join(gone)} out{not_played}"])
    return f"{line}   {whys}" if whys else line


def short(fault: str, characters: int = 100) -> str:
    """Return a fault as short as a line of a result should be; the table of faults has it whole."""
    return fault if len(fault) <= characters else f"{fault[: characters - 3]}..."


def standings_rows(progress: EventProgress, *, rated: bool) -> Iterator[tuple[str, ...]]:
    """Yield the head and the lines of the table of standings."""
    ties = progress.event.ties
    yield ("", "player", "points", *ties, "played", *(("rating",) if rated else ()), "faults")
    names = [player.name for player in progress.event.players]
    found = progress.ratings() if rated else []
    out = progress.out()
    for row in progress.standings():
        name = names[row.player]
        elo = (f"{round(found[row.player].elo) or 0:+d} ±{found[row.player].margin:.0f}",) if rated else ()
        shown = (f"{value:g}" for value in row.ties)
        yield (
            str(row.rank),
            f"{name} (out)" if name in out else name,
            f"{row.points:g}",
            *shown,
            str(row.played),
            *elo,
            str(row.faults),
        )


def crosstable_rows(progress: EventProgress) -> Iterator[tuple[str, ...]]:
    """Yield the crosstable: what each scored against each other, in the order of the standings."""
    names = [player.name for player in progress.event.players]
    order = [row.player for row in progress.standings()]
    scores: dict[tuple[int, int], float] = {}
    for match in progress.matches:
        if match.number in progress.results:
            for one, other, score in encounters(progress.played(match)):
                scores[one, other] = scores.get((one, other), 0.0) + score
                scores[other, one] = scores.get((other, one), 0.0) + 1 - score
    yield ("", "player", *(str(place + 1) for place in range(len(order))))
    for place, player in enumerate(order, 1):
        cells = ("*" if other == player else _score(scores.get((player, other))) for other in order)
        yield (str(place), names[player], *cells)


def _score(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def fault_lines(progress: EventProgress, shown_max: int = FAULTS_SHOWN) -> Iterator[str]:
    """Yield what each player who was at fault is to be told: how often, and the first reasons with their matches."""
    for player in progress.event.players:
        found: list[tuple[Match, Placed]] = [
            (match, placed)
            for match in progress.matches
            for placed in progress.results.get(match.number, ())
            if placed.player == player.name and placed.at_fault
        ]
        if found:
            yield f"{player.name}: {len(found)} {'fault' if len(found) == 1 else 'faults'}"
            for match, placed in found[:shown_max]:
                yield f"  {match.id}: {placed.fault}"
                yield from (f"    {line}" for line in placed.words.splitlines())
            if len(found) > shown_max:
                yield f"  and {len(found) - shown_max} more"


def result_text(progress: EventProgress, match: Match, *, whole: bool = False) -> str:
    """Return how a match ended in one line: its places, or why it was given up, or that it is still to be played."""
    places = progress.results.get(match.number)
    if places is not None:
        return placed_text(places, whole=whole)
    return f"given up: {progress.whys[match.number]}" if progress.is_void(match) else "to be played"


def summary_lines(progress: EventProgress, *, rated: bool = True, rounds: bool = False) -> Iterator[str]:
    """Yield an event for people: how far it is, the table, the crosstable, and what went wrong."""
    void = [match for match in progress.matches if progress.is_void(match)]
    yield f"{progress.event.name}: {_how_far(progress)}"
    if rounds:
        yield from (
            f"{match.id}  {result_text(progress, match)}" for match in progress.matches if progress.is_settled(match)
        )
    yield from aligned(standings_rows(progress, rated=rated))
    if len(progress.event.players) <= CROSS_MAX:
        yield ""
        yield from aligned(crosstable_rows(progress))
    faults = list(fault_lines(progress))
    if faults:
        yield ""
        yield from faults
    if void:
        yield ""
        yield "given up, as the arena failed: nobody has a point of them, so decide"
        yield from (f"  {match.id}: {progress.whys[match.number]}" for match in void)
        yield "`accord tournament again EVENT MATCH --why …` and `run` play one once more, best on an idle host"


def _how_far(progress: EventProgress) -> str:
    if not progress.matches:
        return "nothing is played yet, accord tournament run begins"
    return f"{len(progress.results)} of {len(progress.matches)} matches, round {progress.round_now()}"


def aligned(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield rows as lines with their columns under one another."""
    listed = [tuple(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*listed, strict=True)]
    for row in listed:
        yield "  ".join(map(str.ljust, row, widths)).rstrip()
