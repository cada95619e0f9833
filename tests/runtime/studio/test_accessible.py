"""axe-core finds nothing on any page of the studio, in both schemes, on a desk and on a phone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from machines.loader import load
from machines.values import freeze
from runtime.players.seat import Seat
from runtime.studio.page import pictures, saved
from runtime.studio.steps import run_of

pytest.importorskip("starlette", reason="the extra 'web' is not installed")

from runtime.studio.seat_site import SeatService

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


TILES = [[["A", "E"], ["B", "F"], ["C", "G"], ["D", "H"]]] * 3


@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("which", ["run_page", "seat_page"])
def test_axe_finds_nothing(
    which: str, scheme: str, size: str, browser: Any, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the extra 'test-web' is not installed")
    wide, high = SIZES[size]
    page = browser.new_page(viewport={"width": wide, "height": high}, color_scheme=scheme)
    page.goto(request.getfixturevalue(which))
    page.wait_for_selector("body[data-ready]")
    page.wait_for_selector("#choices button" if which == "seat_page" else ".row.now")

    found = axe.Axe().run(page).response["violations"]
    page.close()
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
