"""A run as one page of HTML: the same page that is served, with its data, pictures and boards inside.

    run ▶ RunFacts (who, which pictures, a row for each step) ▶ the page's script draws them

A row is ``[seconds, kind, party, stand, arrows, unsure, board, [[from, to, text, tone], …]]``. ``stand`` is pairs of a
party and of where it stands; where, arrows and the like are indices of ``table``, since most rows repeat them.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final, NamedTuple

import msgspec

from diagrams.documents.html import inline
from diagrams.render import render
from diagrams.states.dot import write_spec
from diagrams.states.marks import Marks
from machines.model import Spec
from machines.values import plain
from runtime.journal.replay import ReplayError
from runtime.journal.writing import JournalError
from runtime.process.terminal_text import escape_control_characters
from runtime.studio.boards import Boards
from runtime.studio.said import Tone
from runtime.studio.steps import Party, RecordedRun, Step

_PAGES: Final = files("runtime.studio") / "pages"
SCRIPTS: Final = ("drawing.js", "run.js")
STYLES: Final = ("common.css", "run.css")
NAME_CHARACTERS_MAX: Final = 48  # of a peer's name that a page shows
PICTURES_KEPT: Final = 256  # that were drawn
VERSION: Final = 3  # of what the page's script reads


def text_of(name: str) -> str:
    """Return the text of one of the pages' files."""
    return (_PAGES / name).read_text(encoding="utf-8")


def party_facts(parties: Sequence[Party]) -> list[dict[str, Any]]:
    """Return who takes part, for a page; a name is what a peer chose: it is cut, and turns no text round."""
    return [{"id": one.id, "role": one.role, "name": _shown(one.name), "root": one.root} for one in parties]


def _shown(name: str) -> str:
    text = escape_control_characters(name[:NAME_CHARACTERS_MAX]).replace("\n", "\\n")
    return text if len(name) <= NAME_CHARACTERS_MAX else f"{text}…"


def picture_facts(marks: Marks) -> list[dict[str, Any]]:
    """Return which pictures there are, for a page."""
    return [{"id": name, "role": role, "machine": machine} for (role, machine), name in marks.pictures.items()]


TONES: Final = {tone.name.lower(): int(tone) for tone in Tone}


class Rows:
    """Steps as rows; ``table`` has what they speak of by its index."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        self.table: list[tuple[str, ...]] = []
        self._index_of: dict[tuple[str, ...], int] = {}

    def add(self, step: Step, board: int = -1) -> None:
        """Add the row of a step."""
        stands = [[party, self._index(ids)] for party, ids in step.stands.items()]
        said = [[one.source, one.target, one.text, int(one.tone)] for one in step.said]
        arrows, unsure = self._index(step.arrows), sorted(step.unsure)
        self.rows.append([step.seconds, step.kind, step.party, stands, arrows, unsure, board, said])

    def _index(self, ids: tuple[str, ...]) -> int:
        if ids not in self._index_of:
            self._index_of[ids] = len(self.table)
            self.table.append(ids)
        return self._index_of[ids]


class Seen(NamedTuple):
    """How far a run is known: so many rows, entries of the table and boards, who took part, and whether it is over.

    ``failed`` says why the journal could not be read on; None as long as it can.
    """

    rows: int = 0
    entries: int = 0
    boards: int = 0
    parties: tuple[Party, ...] = ()
    complete: bool = False
    failed: str | None = None

    @property
    def over(self) -> bool:
        """Whether nothing will come any more."""
        return self.complete or self.failed is not None


class RunFacts:
    """What the page needs of a run at first, and what has come since: all but pictures, boards, and steps opened.

    ``seen`` says how far it is known; a page may be told less.
    """

    def __init__(self, run: RecordedRun) -> None:
        self.run = run
        self.boards = Boards(run.program.spec)
        self.seen = Seen()
        self._rows = Rows()
        self.rows = self._rows.rows
        self._shown(None)

    def read(self, lines_max: int | None = None) -> bool:
        """Read on in the run's journal, so many lines at most, and return whether there is news for the page.

        Nothing is raised.
        """
        before, failed = self.seen, None
        try:
            self.run.read(lines_max)
        except (JournalError, ReplayError) as error:
            failed = str(error)
        if len(self.run.steps) == before.rows and self.run.complete == before.complete and failed is None:
            return False
        self._shown(failed)
        if self.over:
            self.run.close()
        return self.seen != before

    @property
    def over(self) -> bool:
        """Whether nothing will come any more."""
        return self.seen.over

    def head(self) -> dict[str, Any]:
        """Return what does not change: the protocol, whose journal it is, the pictures."""
        head, marks = self.run.head, self.run.marks
        return {
            "version": VERSION,
            "protocol": head.protocol,
            "role": head.role,
            "seed": str(head.seed),  # the numbers of scripts end before it
            "started": head.started,
            "pictures": picture_facts(marks),
            "tones": TONES,
        }

    def since(
        self, row: int = 0, entry: int = 0, rows_max: int | None = None, seen: Seen | None = None
    ) -> dict[str, Any]:
        """Return the rows from one on, the entries of the table from one on, and what is true of the run.

        That is as far as it is known by now, or was when it was ``seen``.
        """
        seen = seen or self.seen
        end = seen.rows if rows_max is None else min(seen.rows, row + rows_max)
        return {
            "from": row,
            "rows": self.rows[row:end],
            "table": self._rows.table[entry : seen.entries],
            "parties": party_facts(seen.parties),
            "boards": seen.boards,
            "complete": seen.complete,
            "failed": seen.failed,
        }

    def whole(self, seen: Seen | None = None) -> dict[str, Any]:
        """Return all that is known of the run by now, or was when it was ``seen``."""
        return {**self.head(), **self.since(seen=seen)}

    def _shown(self, failed: str | None) -> None:
        """Make the rows of the steps that have none yet."""
        steps, parties = self.run.steps[len(self.rows) :], self.run.parties
        self.boards.show(steps, parties)
        for number, step in enumerate(steps, start=len(self.rows)):
            self._rows.add(step, self.boards.at[number])
        # At one stroke: pages are told while the journal is read on in a thread.
        self.seen = Seen(len(self.rows), len(self._rows.table), len(self.boards), parties, self.run.complete, failed)


def details(step: Step) -> list[dict[str, Any]]:
    """Return what a reader may open of a step: its messages with their fields and bytes, and the branches it took."""
    found: list[dict[str, Any]] = [
        {
            "from": said.source,
            "to": said.target,
            "text": said.text,
            "raw": said.detail,
            "fields": plain(said.fields),
            "wrong": said.tone is Tone.VIOLATION,  # its evidence is open from the start
        }
        for said in step.said
    ]
    return [*found, *({"branch": place} for place in step.places)]


def pictures(run: RecordedRun) -> dict[str, str]:
    """Return `pictures_of` the run's spec. Raises PictureError."""
    return pictures_of(run.program.spec)


def pictures_of(spec: Spec) -> dict[str, str]:
    """Return the SVG of every state diagram by its id, made to stand in a page.

    Raises:
        PictureError: Graphviz is missing, or a picture is too much for it.
    """
    dots = write_spec(spec)
    names = frozenset(dots)
    return {name: _drawn(dot, name, names) for name, dot in dots.items()}


@lru_cache(maxsize=PICTURES_KEPT)
def _drawn(dot: str, name: str, names: frozenset[str]) -> str:
    """Return a picture; the runs of an event have the same."""
    return inline(render(dot, "svg"), name, names)


def saved(run: RecordedRun, drawn: Mapping[str, str]) -> str:
    """Return the whole run as one page that needs no server: to mail, or to hand in.

    It runs its own script only, and loads nothing.
    """
    facts = RunFacts(run)
    boards = facts.boards
    embedded = {
        "facts": facts.whole(),
        "pictures": drawn,
        "boards": [boards.svg(at) for at in range(len(boards))],
        "details": [details(step) for step in run.steps],
    }
    script, style = "".join(map(text_of, SCRIPTS)), "".join(map(text_of, STYLES))
    policy = f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:"
    page = text_of("run.html")
    for name in STYLES:
        page = page.replace(f'<link rel="stylesheet" href="{name}">\n', "")
    for name in SCRIPTS:
        page = page.replace(f'<script src="{name}" defer></script>\n', "")
    return (
        page.replace("</head>", f"<style>{style}</style>\n</head>")
        .replace("<head>", f'<head>\n<meta http-equiv="Content-Security-Policy" content="{policy}">')
        .replace("</body>", f"{_embedded(embedded)}\n<script>{script}</script>\n</body>")
    )


def _embedded(data: Any) -> str:
    """Return data as a script element that is none to a browser; no text in it can end it."""
    text = msgspec.json.encode(data).decode().replace("<", "\\u003c")
    return f'<script type="application/json" id="embedded">{text}</script>'


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
