"""axe-core finds nothing on any page of the studio, in both schemes, on a desk and on a phone."""

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

from machines.parser.loader import find, load
from machines.values import freeze
from runtime.players.seat import Seat
from runtime.studio.page import pictures, saved
from runtime.studio.steps import run_of

pytest.importorskip("starlette", reason="the extra 'web' is not installed")

from runtime.studio.edit_site import serve_editor
from runtime.studio.folder_site import serve_folder
from runtime.studio.seat_site import SeatService
from runtime.studio.spec_file import SpecFile

SIZES = {"desk": (1300, 800), "phone": (400, 800)}


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


READY = {
    "run_page": ".row.now",
    "seat_page": "#choices button",
    "edit_page": "#problems button",
    "folder_page": "#runs a",
}
COMBINED = [
    ("light", "phone"),
    ("dark", "desk"),
    pytest.param("light", "desk", marks=pytest.mark.release),
    pytest.param("dark", "phone", marks=pytest.mark.release),
]
TILES = [[["A", "E"], ["B", "F"], ["C", "G"], ["D", "H"]]] * 3


@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize(("scheme", "size"), COMBINED)
@pytest.mark.parametrize("which", READY)
def test_axe_finds_nothing(
    which: str, scheme: str, size: str, browser: Any, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the extra 'test-web' is not installed")
    wide, high = SIZES[size]
    page = browser.new_page(viewport={"width": wide, "height": high}, color_scheme=scheme)
    page.goto(request.getfixturevalue(which))
    page.wait_for_selector("body[data-ready]")
    page.wait_for_selector(READY[which])

    found = axe.Axe().run(page).response["violations"]
    page.close()
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
