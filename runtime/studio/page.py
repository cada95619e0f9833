"""A run as one page of HTML: the same page that is served, with its data, pictures and boards inside.

    run ▶ facts (who, which pictures, a row for each step) ▶ the page's script draws them

A row is ``[seconds, kind, party, stand, arrows, unsure, board, [[from, to, text, tone], …]]``. ``stand`` is pairs of a
party and of where it stands; where, arrows and the like are indices of ``table``, since most rows repeat them.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

import msgspec

from diagrams.documents.html import inline
from diagrams.rendering.render import render
from diagrams.states.dot import write_spec
from machines.values import plain
from runtime.studio.boards import Boards
from runtime.studio.steps import RecordedRun, Step, Tone

_PAGES: Final = files("runtime.studio") / "pages"
VERSION: Final = 1  # of what the page's script reads


def text_of(name: str) -> str:
    """Return the text of one of the pages' files."""
    return (_PAGES / name).read_text(encoding="utf-8")


def facts(run: RecordedRun, boards: Boards) -> dict[str, Any]:
    """Return what the page needs at first: all but pictures, boards, and the details of steps."""
    table: dict[tuple[str, ...], int] = {}

    def index(ids: tuple[str, ...]) -> int:
        return table.setdefault(ids, len(table))

    rows = [
        [
            step.seconds,
            step.kind,
            step.party,
            [[party, index(ids)] for party, ids in step.stands.items()],
            index(step.arrows),
            sorted(step.unsure),
            boards.at[number],
            [[said.source, said.target, said.text, int(said.tone)] for said in step.said],
        ]
        for number, step in enumerate(run.steps)
    ]
    pictures = [{"id": name, "role": role, "machine": machine} for (role, machine), name in run.marks.pictures.items()]
    return {
        "version": VERSION,
        "protocol": run.head.protocol,
        "role": run.head.role,
        "seed": run.head.seed,
        "started": run.head.started,
        "complete": run.complete,
        "parties": [{"id": one.id, "role": one.role, "name": one.name} for one in run.parties],
        "pictures": pictures,
        "boards": len(boards),
        "table": list(table),
        "rows": rows,
        "tones": {tone.name.lower(): int(tone) for tone in Tone},
    }


def details(step: Step) -> list[dict[str, Any]]:
    """Return what a reader may open of a step: its messages with their fields and bytes, and the branches it took."""
    found: list[dict[str, Any]] = [
        {"from": said.source, "to": said.target, "text": said.text, "raw": said.detail, "fields": plain(said.fields)}
        for said in step.said
    ]
    return [*found, *({"branch": place} for place in step.places)]


def pictures(run: RecordedRun) -> dict[str, str]:
    """Return the SVG of every state diagram by its id, made to stand in a page.

    Raises:
        PictureError: Graphviz is missing, or a picture is too much for it.
    """
    dots = write_spec(run.program.spec)
    names = frozenset(dots)
    return {name: inline(render(dot, "svg"), name, names) for name, dot in dots.items()}


def saved(run: RecordedRun, drawn: Mapping[str, str]) -> str:
    """Return the whole run as one page that needs no server: to mail, or to hand in.

    It runs its own script only, and loads nothing.
    """
    boards = Boards(run.program.spec, run.steps, run.parties)
    embedded = {
        "facts": facts(run, boards),
        "pictures": drawn,
        "boards": [boards.svg(at) for at in range(len(boards))],
        "details": [details(step) for step in run.steps],
    }
    script, style = text_of("run.js"), text_of("run.css")
    policy = f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:"
    return (
        text_of("run.html")
        .replace('<link rel="stylesheet" href="/run.css">', f"<style>{style}</style>")
        .replace('<script src="/run.js" defer></script>', "")
        .replace("<head>", f'<head>\n<meta http-equiv="Content-Security-Policy" content="{policy}">')
        .replace("</body>", f"{_embedded(embedded)}\n<script>{script}</script>\n</body>")
    )


def _embedded(data: Any) -> str:
    """Return data as a script element that is none to a browser; no text in it can end it."""
    text = msgspec.json.encode(data).decode().replace("<", "\\u003c")
    return f'<script type="application/json" id="embedded">{text}</script>'


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
