"""An event written out, from its database alone: CSV, JSON, one page of HTML, and text with a record for each match."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from rules.schedules.standings import points
from runtime.sessions.player_folders import BOARD, CONVERSATION, ERRORS, INPUT, REASONS, file_name
from runtime.tournament.match_process import PLAYERS_FOLDER
from runtime.tournament.progress import EventProgress
from runtime.tournament.store import Decision, Match, Placed
from runtime.tournament.table import crosstable_rows, fault_lines, placed_text, result_text, standings_rows

JOURNAL: Final = "journal.jsonl"
HANDED_OUT: Final = (BOARD, CONVERSATION, INPUT, REASONS, ERRORS)  # of a player's folder of a match
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

    ``values`` has the run and what was returned of each match, ``files`` is where the journals are. What an earlier
    export handed out to players and is so no more, as a match was played again, is taken away.

    Raises:
        OSError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in formats:
        for file, text in FORMATS[name](progress, values, files, folder):
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            written.append(path)
        if name == "folders":
            _take_away_stale(progress, folder, written)
    return written


def _relative(files: Path, folder: Path) -> Path:
    """Return the folder of all matches as seen from that of the export, so that both can be moved together."""
    try:
        return Path(os.path.relpath(files.resolve(), folder.resolve()))
    except ValueError:  # another drive
        return files.resolve()


def _take_away_stale(progress: EventProgress, folder: Path, written: list[Path]) -> None:
    """Remove what an earlier export wrote of this event's players and this one did not; other files stay."""
    kept = set(written)
    for name in _folder_names(progress).values():
        for match in (folder / PLAYERS_FOLDER / name).glob("r*-*"):
            stale = [match / file for file in HANDED_OUT if match / file not in kept]
            for path in stale:
                path.unlink(missing_ok=True)
            if stale and match.is_dir() and not any(match.iterdir()):
                match.rmdir()


Texts = Iterator[tuple[str, str]]
Values = Mapping[int, tuple[str, Any]]


def _csv(progress: EventProgress, values: Values, files: Path, folder: Path) -> Texts:
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
    yield ("match", "round", "seat", "player", "place", "points", "game points", "at fault", "fault", "run", "folder")
    for match in progress.matches:
        worth = _points(progress, match)
        for seat, one in enumerate(progress.results.get(match.number, ()), 1):
            run = values.get(match.number, ("", None))[0]
            own = "" if one.points is None else one.points
            told = (one.player, one.place, f"{worth[one.player]:g}", own, int(one.at_fault), one.fault)
            yield (match.id, match.round, seat, *told, run, _folder(match, run, one.player))


def _points(progress: EventProgress, match: Match) -> dict[str, float]:
    """Return what the table counts for each player of a match; nothing of one that was not played."""
    if match.number not in progress.results:
        return {}
    found = points(progress.played(match), progress.event.points)
    return {name: found[progress.numbers[name]] for name in match.seats}


def _folder(match: Match, run: str, player: str) -> str:
    """Return where a player's folder of a match is, seen from that of all matches; empty if it was not played.

    Where two at a match would have the same, it is the folder of both.
    """
    if not run:
        return ""
    alike = sum(file_name(one) == file_name(player) for one in match.seats) > 1
    above = f"{match.id}/{run}/{PLAYERS_FOLDER}"
    return above if alike else f"{above}/{file_name(player)}"


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
    worth = _points(progress, match)
    places = [
        _place_facts(one, worth[one.player], _folder(match, run, one.player))
        for one in progress.results.get(match.number, ())
    ]
    return {
        "match": match.id,
        "round": match.round,
        "seats": match.seats,
        "places": places,
        "result": value,
        "run": run or None,
    }


def _place_facts(one: Placed, worth: float, folder: str) -> dict[str, Any]:
    return {
        "player": one.player,
        "place": one.place,
        "points": worth,
        "game points": one.points,
        "fault": one.fault if one.at_fault else None,
        "stderr": one.words.splitlines(),
        "folder": folder or None,
    }


def _decision_facts(decision: Decision) -> dict[str, Any]:
    return {"at": decision.at, "what": decision.what, "about": decision.about, "why": decision.why}


def _json(progress: EventProgress, values: Values, files: Path, folder: Path) -> Texts:
    yield "event.json", json.dumps(facts(progress, values), indent=1, ensure_ascii=False) + "\n"


def _text(progress: EventProgress, values: Values, files: Path, folder: Path) -> Texts:
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
        yield placed_text(places, whole=True)
        yield ""


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


# -- a page ----------------------------------------------------------------------------------------------------------


def _html(progress: EventProgress, values: Values, files: Path, folder: Path) -> Texts:
    yield "event.html", "\n".join(_page(progress, values, _relative(files, folder))) + "\n"


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
    yield "<h2>Matches</h2><table><tr><th>match</th><th>result</th><th>journal</th><th>players</th></tr>"
    for match in progress.matches:
        told = result_text(progress, match, whole=True)
        links = f"<td>{_journal(match, values, files)}</td><td>{_folders(match, values, files)}</td>"
        yield f"<tr><td>{match.id}</td><td>{escape(told)}</td>{links}</tr>"
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
    return f'<a href="{_link(path)}" title="{shown}">{escape(run)}</a>'


def _folders(match: Match, values: Values, files: Path) -> str:
    """Return a link to the folder of each player of a match."""
    run = values.get(match.number, ("", None))[0]
    links = [(name, _link(files / _folder(match, run, name))) for name in match.seats] if run else []
    return " ".join(f'<a href="{link}">{escape(name)}</a>' for name, link in links)


def _link(path: Path) -> str:
    """Return a link to a file, relative if its path is."""
    return escape(path.as_uri() if path.is_absolute() else quote(path.as_posix()), quote=True)


def _html_table(rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield "<table>"
    for place, row in enumerate(rows):
        cell = "td" if place else "th"
        gone = ' class="out"' if len(row) > 1 and row[1].endswith(" (out)") else ""
        yield f"<tr{gone}>" + "".join(f"<{cell}>{escape(text)}</{cell}>" for text in row) + "</tr>"
    yield "</table>"


def _folder_names(progress: EventProgress) -> dict[str, str]:
    """Return the name of each player's folder in an export, by the player's."""
    names: dict[str, str] = {}
    for player in progress.event.players:
        name, number = file_name(player.name), 1
        while name in names.values():
            number += 1
            name = f"{file_name(player.name)}-{number}"
        names[player.name] = name
    return names


def _handed_out(progress: EventProgress, values: Values, files: Path, folder: Path) -> Texts:
    """Yield the players' folders, each player's together: ``players/ann/r1-1/conversation.txt``."""
    names = _folder_names(progress)
    for match in progress.matches:
        run = values.get(match.number, ("", None))[0]
        for seat in match.seats if run else ():
            own = files / _folder(match, run, seat)
            for path in (own / name for name in HANDED_OUT if (own / name).is_file()):
                text = path.read_text("utf-8", errors="replace")
                yield f"{PLAYERS_FOLDER}/{names[seat]}/{match.id}/{path.name}", text


FORMATS: Final[Mapping[str, Callable[[EventProgress, Values, Path, Path], Texts]]] = {
    "csv": _csv,
    "json": _json,
    "html": _html,
    "text": _text,
    "folders": _handed_out,
}
