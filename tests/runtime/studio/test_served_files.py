"""Every page of the studio is served with all that it loads; ``.ci/run`` has this done by the installed package."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from machines.parser.loader import load
from runtime.cli import main
from runtime.players.seat import Seat
from runtime.studio.page import text_of
from runtime.studio.steps import run_of

pytest.importorskip("starlette", reason="the extra 'web' is not installed")

from starlette.testclient import TestClient
from starlette.types import ASGIApp

from runtime.studio.bench import Bench
from runtime.studio.edit_site import EditSite
from runtime.studio.folder_site import FolderSite
from runtime.studio.seat_site import SeatSite
from runtime.studio.serving import SitePlace
from runtime.studio.site import RunSite
from runtime.studio.spec_file import SpecFile

PLACE = SitePlace("secret", 8000, frozenset({"127.0.0.1"}), "")
PAGES = sorted(one.name for one in (files("runtime.studio") / "pages").iterdir() if one.name.endswith(".html"))


def site(page: str, folder: Path) -> ASGIApp:
    """Return the site that has a page."""
    match page:
        case "run.html":
            journal = folder / "run.jsonl"
            assert main(["play", "sticks", "--seed", "1", "-q", "--journal", str(journal)]) == 0
            return RunSite(run_of(journal), *PLACE[:3]).app
        case "folder.html":
            return FolderSite(folder, PLACE).app
        case "edit.html":
            return EditSite(SpecFile("sticks"), Bench("sticks"), *PLACE[:3]).app
        case "seat.html":
            return SeatSite(Seat(load("sticks"), "ann"), token=PLACE.token, port=PLACE.port, hosts=PLACE.hosts).app
        case "standings.html":
            pytest.importorskip("sqlalchemy", reason="the extra 'tournament' is not installed")
            from runtime.tournament.event import read_event
            from runtime.tournament.standings_site import StandingsSite

            event = folder / "cup.yaml"
            players = "players: {ann: {kind: random}, bob: {kind: random}}"
            event.write_text(f"event: a\nspec: sticks\nformat: round-robin\n{players}\n")
            return StandingsSite(read_event(event), *PLACE[:3]).app
    raise AssertionError(f"which site has {page}?")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_served_with_all_that_it_loads_and_loads_nothing_else(page: str, tmp_path: Path) -> None:
    text = text_of(page)
    loaded = re.findall(r'<(?:link|script)[^>]* (?:href|src)="([^"]+)"', text)
    assert loaded
    with TestClient(site(page, tmp_path), base_url="http://127.0.0.1:8000") as guest:
        guest.cookies.set("accord-studio-8000", "secret")
        assert guest.get("/").text == text
        for name in loaded:
            assert re.fullmatch(r"/?[a-z]+\.(?:js|css)", name), "a file beside the page"
            answer = guest.get(f"/{name.lstrip('/')}")
            assert (answer.status_code, answer.text) == (200, text_of(name.lstrip("/")))
            assert "url(" not in answer.text, "nor does a style"


def test_every_file_of_the_pages_is_loaded_by_one() -> None:
    named = set(PAGES).union(*(re.findall(r'(?:href|src)="/?([a-z]+\.(?:js|css))"', text_of(page)) for page in PAGES))
    assert {one.name for one in (files("runtime.studio") / "pages").iterdir()} == named
