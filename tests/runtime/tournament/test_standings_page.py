"""A class sees the table of an event grow in a browser: what is shown is what the database has."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runtime.cli import main
from tests.support.browser import browser as browser

pytest.importorskip("sqlalchemy", reason="the extra 'tournament' is not installed")
pytest.importorskip("starlette", reason="the extra 'web' is not installed")

from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from runtime.tournament.event import read_event
from runtime.tournament.progress import progress_of
from runtime.tournament.standings_site import StandingsSite, look, standings_facts
from runtime.tournament.store import Store, url_of
from runtime.tournament.table import standings_rows

EVENT = """\
event: A small cup
spec: sticks
seed: 5
format: round-robin
games: 2
players:
  ann: {kind: random}
  bob: {kind: random}
  cyd: {kind: random}
"""


@pytest.fixture
def event(tmp_path: Path) -> Path:
    path = tmp_path / "cup.yaml"
    path.write_text(EVENT)
    return path


def test_what_is_shown_of_an_event_is_what_its_database_has(event: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = read_event(event)
    store = Store(url_of(found.database, found.file.parent))
    before = look(found, store)
    assert (before["played"], before["over"], before["results"]) == (0, False, [])
    store.close()

    assert main(["tournament", "run", str(event), "-q"]) == 0
    store = Store(url_of(found.database, found.file.parent))
    after = look(found, store)
    progress = progress_of(found, store)
    store.close()
    assert after["table"] == [list(row) for row in standings_rows(progress, rated=True)]
    assert after["played"] == after["planned"] == len(progress.matches) > 2
    assert after["over"]
    without = standings_facts(progress)
    for one, other in zip(
        [*after["results"], *after["faults"]], [*without["results"], *without["faults"]], strict=True
    ):
        assert (one.pop("run"), other.pop("run")) == (True, False), "an attempt has a journal"
    assert after == without
    assert after["next"] == []

    last = progress.matches[-1]
    del progress.results[last.number]
    assert standings_facts(progress)["next"] == [{"id": last.id, "seats": last.seats}]
    capsys.readouterr()


def test_a_page_is_told_what_changes_and_only_to_who_has_the_link(event: Path) -> None:
    site = StandingsSite(read_event(event), "secret", 8000, frozenset({"127.0.0.1"}))
    with TestClient(site.app, base_url="http://127.0.0.1:8000") as guest:
        place = "ws://127.0.0.1:8000/standings"
        with pytest.raises(WebSocketDisconnect):
            guest.websocket_connect(place, headers={"origin": "http://127.0.0.1:8000"}).__enter__()
        guest.cookies.set("accord-studio-8000", "secret")
        with pytest.raises(WebSocketDisconnect):
            guest.websocket_connect(place, headers={"origin": "http://evil.example"}).__enter__()
        with guest.websocket_connect(place, headers={"origin": "http://127.0.0.1:8000"}) as page:
            assert page.receive_json()["played"] == 0
            assert main(["tournament", "run", str(event), "-q"]) == 0
            told = page.receive_json()
            while not told["over"]:
                told = page.receive_json()
            assert told["played"] == told["planned"]
        for result in told["results"]:
            assert result["run"]
            facts = guest.get(f"/run/{result['id']}/run.json").json()
            assert (facts["protocol"], facts["complete"], facts["up"]) == ("sticks", True, "standings")
        for none in ("r9-9", "..", "%2e%2e", "r1-1%2f.."):
            assert guest.get(f"/run/{none}/run.json").status_code == 404


@pytest.mark.parametrize("action", ["check", "export"])
def test_only_what_goes_on_or_is_shown_has_a_page(action: str, event: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tournament", action, str(event), "--studio"]) == 2
    assert "--studio is for accord tournament run and show" in capsys.readouterr().err


@pytest.mark.xdist_group("browser")
def test_a_class_sees_the_table_grow_to_the_end(event: Path, browser: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the extra 'test-web' is not installed")
    words = [sys.executable, "-m", "runtime", "tournament", "run", str(event), "--studio", "-q"]
    run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert run.stderr is not None
    link = None
    while link is None:
        line = run.stderr.readline().decode()
        assert line, "it says where the page is"
        link = re.search(r"studio: (http://\S+)", line)
    said: list[str] = []
    for scheme, wide in (("light", 1300), ("dark", 400)):
        page = browser.new_page(color_scheme=scheme, viewport={"width": wide, "height": 800})
        page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(link[1])
        page.get_by_text("the event is over").wait_for()
        assert page.locator("#table tbody tr").count() == 3
        assert page.locator("#results li").count() > 2
        assert axe.Axe().run(page).response["violations"] == []
        page.close()
    run.terminate()
    run.communicate()
    assert said == []
