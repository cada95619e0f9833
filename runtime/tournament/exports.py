"""An event written out, from its database alone: CSV, JSON, one page of HTML, and text with a record for each match."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, Final

from runtime.tournament.progress import EventProgress
from runtime.tournament.store import Decision, Match, Placed
from runtime.tournament.table import crosstable_rows, fault_lines, placed_text, standings_rows

JOURNAL: Final = "journal.jsonl"
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_RATING: Final = re.compile(r"[+-]\d+ ±\d+")

_STYLE: Final = """
body { font: 15px/1.45 system-ui, sans-serif; color: #222; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: .5rem 0 1.5rem }
th, td { padding: .2rem .6rem; text-align: left; border-bottom: 1px solid #ddd; vertical-align: top }
th { background: #e3e9f2 } tr.out td { color: #777 } pre { white-space: pre-wrap; margin: 0 }
"""


def write_exports(
    progress: EventProgress, values: Mapping[int, tuple[str, Any]], folder: Path, formats: list[str], files: Path
) -> list[Path]:
    """Write an event in these formats, names in FORMATS, and return the files.

    ``values`` has the run and what was returned of each match, ``files`` is where the journals are.

    Raises:
        OSError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in formats:
        for file, text in FORMATS[name](progress, values, files):
            path = folder / file
            path.write_text(text, encoding="utf-8")
            written.append(path)
    return written


Texts = Iterator[tuple[str, str]]
Values = Mapping[int, tuple[str, Any]]


def _csv(progress: EventProgress, values: Values, files: Path) -> Texts:
    head, *lines = standings_rows(progress, rated=True)
    yield "standings.csv", _rows(iter([("rank", *head[1:]), *lines]))
    yield "matches.csv", _rows(_match_rows(progress, values))


def _rows(rows: Iterator[tuple[Any, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([tuple(map(_tame, row)) for row in rows])
    return text.getvalue()


def _tame(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula, as players and their programs choose what stands there."""
    formula = isinstance(cell, str) and cell[:1] in _FORMULA and not _RATING.fullmatch(cell)
    return f"'{cell}" if formula else cell


def _match_rows(progress: EventProgress, values: Values) -> Iterator[tuple[Any, ...]]:
    yield ("match", "round", "seat", "player", "place", "points", "at fault", "fault", "run")
    for match in progress.matches:
        for seat, one in enumerate(progress.results.get(match.number, ()), 1):
            run = values.get(match.number, ("", None))[0]
            points = "" if one.points is None else one.points
            yield (match.id, match.round, seat, one.player, one.place, points, int(one.at_fault), one.fault, run)


def facts(progress: EventProgress, values: Values, *, rated: bool = True) -> dict[str, Any]:
    """Return an event for a program to read."""
    names = [player.name for player in progress.event.players]
    found = progress.ratings() if rated else []
    out = progress.out()
    return {
        "event": progress.event.name,
        "planned": len(progress.matches),
        "played": len(progress.results),
        "void": [match.id for match in progress.matches if progress.is_void(match)],
        "standings": [
            {
                "rank": row.rank,
                "player": names[row.player],
                "points": row.points,
                "ties": dict(zip(progress.event.ties, row.ties, strict=True)),
                "played": row.played,
                "faults": row.faults,
                "out": names[row.player] in out,
                **({"elo": found[row.player].elo, "margin": found[row.player].margin} if rated else {}),
            }
            for row in progress.standings()
        ],
        "matches": [_match_facts(progress, match, values) for match in progress.matches],
        "decisions": [_decision_facts(decision) for decision in progress.decisions],
    }


def _match_facts(progress: EventProgress, match: Match, values: Values) -> dict[str, Any]:
    run, value = values.get(match.number, ("", None))
    places = [_place_facts(one) for one in progress.results.get(match.number, ())]
    return {
        "match": match.id,
        "round": match.round,
        "seats": match.seats,
        "places": places,
        "result": value,
        "run": run or None,
    }


def _place_facts(one: Placed) -> dict[str, Any]:
    return {
        "player": one.player,
        "place": one.place,
        "points": one.points,
        "fault": one.fault if one.at_fault else None,
        "stderr": one.words.splitlines(),
    }


def _decision_facts(decision: Decision) -> dict[str, Any]:
    return {"at": decision.at, "what": decision.what, "about": decision.about, "why": decision.why}


def _json(progress: EventProgress, values: Values, files: Path) -> Texts:
    yield "event.json", json.dumps(facts(progress, values), indent=1, ensure_ascii=False) + "\n"


def _text(progress: EventProgress, values: Values, files: Path) -> Texts:
    yield "matches.txt", "\n".join(_records(progress, values))


def _records(progress: EventProgress, values: Values) -> Iterator[str]:
    """Yield the lines of a record for each match: tags in brackets as those of PGN, then the result."""
    for match in progress.matches:
        places = progress.results.get(match.number)
        if places is None:
            continue
        tags = [("Event", progress.event.name), ("Game", progress.event.spec), ("Round", str(match.round))]
        tags += [("Match", match.id), *((f"Seat{seat}", name) for seat, name in enumerate(match.seats, 1))]
        tags.append(("Run", values.get(match.number, ("", None))[0]))
        yield from (f'[{tag} "{_quoted(value)}"]' for tag, value in tags if value)
        yield ""
        yield placed_text(places)
        yield ""


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


# -- a page ----------------------------------------------------------------------------------------------------------


def _html(progress: EventProgress, values: Values, files: Path) -> Texts:
    yield "event.html", "\n".join(_page(progress, values, files)) + "\n"


def _page(progress: EventProgress, values: Values, files: Path) -> Iterator[str]:
    name = escape(progress.event.name)
    yield '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
    yield f"<title>{name}</title><style>{_STYLE}</style></head><body><h1>{name}</h1>"
    played, planned = len(progress.results), len(progress.matches)
    yield f"<p>{escape(Path(progress.event.spec).name)}, {played} of {planned} matches.</p>"
    yield "<h2>Standings</h2>"
    yield from _html_table(standings_rows(progress, rated=True))
    yield "<p>Ratings are in Elo, 0 on average; ± is where 95 of 100 such intervals hold the true value.</p>"
    yield "<h2>Who met whom</h2>"
    yield from _html_table(crosstable_rows(progress))
    faults = list(fault_lines(progress, len(progress.matches)))
    if faults:
        yield "<h2>Faults</h2>"
        yield f"<pre>{escape(chr(10).join(faults))}</pre>"
    yield "<h2>Matches</h2><table><tr><th>match</th><th>result</th><th>journal</th></tr>"
    for match in progress.matches:
        places = progress.results.get(match.number)
        told = placed_text(places) if places is not None else "given up" if progress.is_void(match) else "to be played"
        yield f"<tr><td>{match.id}</td><td>{escape(told)}</td><td>{_journal(match, values, files)}</td></tr>"
    yield "</table>"
    if progress.decisions:
        yield "<h2>Decisions</h2>"
        rows = ((one.at, one.what, one.about, one.why) for one in progress.decisions)
        yield from _html_table(iter([("when", "what", "of", "why"), *rows]))
    yield "</body></html>"


def _journal(match: Match, values: Values, files: Path) -> str:
    """Return a link to a match's journal, with the command that shows it."""
    run = values.get(match.number, ("", None))[0]
    if not run:
        return ""
    path = files / match.id / run / JOURNAL
    shown = escape(f"accord studio {path}", quote=True)
    return f'<a href="{escape(path.as_uri(), quote=True)}" title="{shown}">{escape(run)}</a>'


def _html_table(rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield "<table>"
    for place, row in enumerate(rows):
        cell = "td" if place else "th"
        gone = ' class="out"' if len(row) > 1 and row[1].endswith(" (out)") else ""
        yield f"<tr{gone}>" + "".join(f"<{cell}>{escape(text)}</{cell}>" for text in row) + "</tr>"
    yield "</table>"


FORMATS: Final[Mapping[str, Callable[[EventProgress, Values, Path], Texts]]] = {
    "csv": _csv,
    "json": _json,
    "html": _html,
    "text": _text,
}
