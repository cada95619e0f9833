"""axe-core finds nothing on any page of the studio, in both schemes, on a desk, on a phone and on paper."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest

from machines.parser.loader import find, load, load_text
from machines.problems import Place
from machines.values import freeze
from runtime.cli import main
from runtime.commands.verification import Bounds, explored
from runtime.players.seat import Seat
from runtime.studio.page import pictures, saved
from runtime.studio.steps import run_of
from tests.runtime.studio.test_traces import PAIR

pytest.importorskip("starlette", reason="the extra 'web' is not installed")

from runtime.studio.edit_site import serve_editor
from runtime.studio.folder_site import serve_folder
from runtime.studio.seat_site import SeatService
from runtime.studio.spec_file import SpecFile
from runtime.studio.trace_site import ShownTrace, serve_traces

CUP = """\
event: A small cup
spec: tsuro
seed: 5
format: {groups: 3..3, rounds: 1}
players: {ann: {kind: random}, bob: {kind: malformed}, cyd: {kind: first}}
"""


@pytest.fixture(scope="module")
def run_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    journal, page = folder / "run.jsonl", folder / "run.html"
    words = ["play", "tsuro", "--players", "3", "--seed", "2", "-q", "--player", "malformed", "--journal", str(journal)]
    subprocess.run([sys.executable, "-m", "runtime", *words], check=True, capture_output=True)
    run = run_of(journal)
    page.write_text(saved(run, pictures(run)), encoding="utf-8")
    return f"{page.as_uri()}#step=20"


@pytest.fixture(scope="module")
def seat_page() -> Iterator[str]:
    seat = Seat(load("tsuro"), "ann")
    service = SeatService(seat)
    service.start()
    seat.tell("TOKEN", {"token": "white"})
    given = {"board": [[[None] * 10] * 10, []], "hand": TILES, "token": "white"}
    seat.ask("initial", tuple((name, freeze(value)) for name, value in given.items()), ("INIT_PLACE",), 9e3)
    yield service.link
    seat.end()
    service.stop()


@pytest.fixture(scope="module")
def edit_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("spec") / "p.yaml"
    path.write_text(find("sticks").read_text().replace("TAKE:", "TAKEN:", 1))
    links: Queue[str] = Queue()
    Thread(target=serve_editor, args=(SpecFile(str(path)), (), "127.0.0.1", 0, links.put), daemon=True).start()
    return links.get(timeout=20)


@pytest.fixture(scope="module")
def folder_page(run_page: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("folder")
    (folder / "pile.yaml").write_text(find("sticks").read_text())
    (folder / "cup.yaml").write_text("event: A cup\n")
    journal = Path(urlsplit(run_page).path).with_name("run.jsonl")
    (folder / "run.jsonl").write_bytes(journal.read_bytes())
    links: Queue[str] = Queue()
    served = {"opens_event": lambda *_: None}
    Thread(target=serve_folder, args=(folder, "127.0.0.1", 0, links.put), kwargs=served, daemon=True).start()
    return links.get(timeout=20)


@pytest.fixture(scope="module")
def trace_page() -> str:
    spec = load_text(PAIR)
    found = next(one for one in explored(spec, [], Bounds(clients=1), "pair").findings if one.trace)
    shown = ShownTrace(
        spec, found.problem(Place("pair.yaml", 11, 7)), "a long sentence about how sure one may be of it", found.trace
    )
    links: Queue[str] = Queue()
    Thread(target=serve_traces, args=([shown, shown], links.put), daemon=True).start()
    return f"{links.get(timeout=20)}#step=99"


@pytest.fixture(scope="module")
def standings_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("sqlalchemy", reason="the extra 'tournament' is not installed")
    from runtime.tournament.event import read_event
    from runtime.tournament.standings_site import serve_standings

    path = tmp_path_factory.mktemp("event") / "cup.yaml"
    path.write_text(CUP)
    assert main(["tournament", "run", str(path), "-q"]) == 0
    links: Queue[str] = Queue()
    Thread(target=serve_standings, args=(read_event(path), links.put), daemon=True).start()
    return links.get(timeout=20)


READY = {
    "run_page": ".row.now",
    "seat_page": "#choices button",
    "edit_page": "#problems button",
    "folder_page": "#runs a",
    "trace_page": ".row.now.violation",
    "standings_page": "#faults a",
}
SEEN = {  # scheme, width, medium
    "phone": ("light", 390, "screen"),
    "dark": ("dark", 1300, "screen"),
    "print": ("light", 1000, "print"),
    "desk": ("light", 1300, "screen"),
    "dark phone": ("dark", 320, "screen"),
}
TILES = [[["A", "E"], ["B", "F"], ["C", "G"], ["D", "H"]]] * 3


@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize(
    "ways", [["phone", "dark", "print"], pytest.param(["desk", "dark phone"], marks=pytest.mark.release)]
)
@pytest.mark.parametrize("which", READY)
def test_axe_finds_nothing_and_nothing_is_wider_than_the_page(
    which: str, ways: list[str], browser: Any, request: pytest.FixtureRequest
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the extra 'test-web' is not installed")
    page = browser.new_page()
    page.goto(request.getfixturevalue(which))
    page.wait_for_selector("body[data-ready]")
    page.wait_for_selector(READY[which])

    for way in ways:
        scheme, wide, medium = SEEN[way]
        page.set_viewport_size({"width": wide, "height": 800})
        page.emulate_media(color_scheme=scheme, media=medium)
        found = axe.Axe().run(page).response["violations"]
        assert [(way, one["id"], one["nodes"][0]["html"]) for one in found] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= wide, way
    page.close(run_before_unload=False)
