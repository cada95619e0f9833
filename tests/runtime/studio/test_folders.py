"""A folder in a browser: its runs, events and specs are listed and opened by keys; others see runs later, no spec."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from machines.parser.loader import find
from runtime.cli import main
from runtime.studio.library import LIVE_SECONDS, Library

pytest.importorskip("starlette", reason="the extra 'web' is not installed")

from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from runtime.studio.folder_site import FolderSite
from runtime.studio.serving import SitePlace
from runtime.studio.shelf import Shelf

HOST = "http://127.0.0.1:8000"
PLACE = SitePlace("secret", 8000, frozenset({"127.0.0.1"}), "shared")
EVENT = """\
event: A small cup
spec: tsuro
seed: 5
format: {groups: 3..3, rounds: 1}
players: {ann: {kind: random}, bob: {kind: malformed}, cyd: {kind: random}}
"""


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    journal = tmp_path_factory.mktemp("run") / "run.jsonl"
    assert main(["play", "sticks", "--seed", "2", "-q", "--journal", str(journal)]) == 0
    return journal


@pytest.fixture
def folder(journal: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "class"
    (folder / "monday").mkdir(parents=True)
    shutil.copy(journal, folder / "monday" / "over.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    (folder / "going.jsonl").write_bytes(b"".join(lines[:9]))
    (folder / "left.jsonl").write_bytes(b"".join(lines[:5]))
    os.utime(folder / "left.jsonl", (1e9, 1e9))
    (folder / "other.jsonl").write_text('{"a": 1}\n')
    (folder / "pile.yaml").write_text(find("sticks").read_text())
    (folder / "cup.yaml").write_text(EVENT)
    (folder / "notes.yaml").write_text("a: 1\n")
    (folder / ".hidden.jsonl").write_bytes(b"".join(lines))
    (folder / "link.yaml").symlink_to("/etc/passwd")
    return folder


@pytest.fixture
def guest(folder: Path) -> Iterator[TestClient]:
    site = FolderSite(folder, PLACE, behind=1e6)
    with TestClient(site.app, base_url=HOST, follow_redirects=False) as guest:
        assert guest.get("/enter?token=secret").status_code == 303
        yield guest


def keys(guest: TestClient) -> dict[str, str]:
    return {one["name"]: one["key"] for one in guest.get("/list.json").json()["files"]}


def test_what_is_a_journal_a_spec_or_an_event_is_listed_with_its_state(folder: Path) -> None:
    library = Library(folder)
    found = {one.name: (one.kind, one.title, one.state) for one in library.listed()}
    assert found == {
        "going.jsonl": ("run", "sticks", "going on"),
        "left.jsonl": ("run", "sticks", "without an end"),
        "monday/over.jsonl": ("run", "sticks", "over"),
        "pile.yaml": ("spec", "sticks", ""),
        "cup.yaml": ("event", "A small cup", ""),
    }
    then = (folder / "going.jsonl").stat().st_mtime - 2 * LIVE_SECONDS
    os.utime(folder / "going.jsonl", (then, then))
    states = {one.name: one.state for one in library.listed()}
    assert states["going.jsonl"] == "without an end"


def test_a_run_is_opened_by_its_key_and_followed(guest: TestClient, folder: Path, journal: Path) -> None:
    key = keys(guest)["going.jsonl"]
    assert "<title>accord studio</title>" in guest.get(f"/run/{key}/").text
    assert guest.get(f"/run/{key}/run.js").status_code == 200
    facts = guest.get(f"/run/{key}/run.json").json()
    assert (len(facts["rows"]), facts["complete"], facts["up"]) == (8, False, "all runs")
    live = f"ws://127.0.0.1:8000/run/{key}/live?row=8&entry={len(facts['table'])}"
    with guest.websocket_connect(live, headers={"origin": HOST}) as page:
        lines = journal.read_bytes().splitlines(keepends=True)
        with (folder / "going.jsonl").open("ab") as file:
            file.write(b"".join(lines[9:]))
        told = page.receive_json()
        while not told["complete"]:
            told = page.receive_json()
    assert len(guest.get(f"/run/{key}/run.json").json()["rows"]) == len(lines) - 2


@pytest.mark.parametrize("key", ["0" * 16, "%2e%2e", "monday%2fover.jsonl", "going.jsonl", "x" * 5000])
def test_no_path_comes_from_a_page(key: str, guest: TestClient) -> None:
    for kind in ("run", "spec", "event"):
        assert guest.get(f"/{kind}/{key}/").status_code == 404


def test_who_has_the_shared_link_sees_runs_later_and_no_spec(guest: TestClient) -> None:
    known = keys(guest)
    assert len(guest.get(f"/run/{known['going.jsonl']}/run.json").json()["rows"]) == 8
    assert guest.get(f"/spec/{known['pile.yaml']}/").status_code == 200

    guest.cookies.clear()
    guest.get("/enter?token=shared")
    assert "pile.yaml" not in keys(guest)
    assert guest.get(f"/spec/{known['pile.yaml']}/").status_code == 404
    assert guest.get(f"/run/{known['going.jsonl']}/run.json").json()["rows"] == []
    assert guest.get(f"/run/{known['monday/over.jsonl']}/run.json").json()["complete"]
    guest.cookies.clear()
    assert guest.get("/list.json").status_code == 403


def test_a_spec_of_a_folder_is_tried_and_not_written(guest: TestClient, folder: Path) -> None:
    key = keys(guest)["pile.yaml"]
    before = (folder / "pile.yaml").read_text()
    with guest.websocket_connect(f"ws://127.0.0.1:8000/spec/{key}/edit", headers={"origin": HOST}) as page:
        first = page.receive_json()
        assert (first["text"], first["writable"]) == (before, False)
        page.send_json({"save": "protocol: q\n", "mark": first["mark"]})
        refused = page.receive_json()
        assert not refused["saved"]
        assert "is not written from here" in refused["why"]
    assert (folder / "pile.yaml").read_text() == before


def test_a_run_that_cannot_be_shown_says_why(guest: TestClient, folder: Path) -> None:
    key = keys(guest)["left.jsonl"]
    text = (folder / "left.jsonl").read_bytes()
    head, _, rest = text.partition(b"\n")
    at = head.index(b'"sha256":"') + 10
    (folder / "left.jsonl").write_bytes(head[:at] + b"0" * 64 + head[at + 64 :] + b"\n" + rest)
    answer = guest.get(f"/run/{key}/")
    assert answer.status_code == 422
    assert "changed" in answer.text


class Thing:
    """What may be open, and looked at."""

    def __init__(self, name: str, closed: list[str]) -> None:
        self.name = name
        self.busy = False
        self.closed = closed

    def app(self, *, shared: bool) -> ASGIApp | None:
        return PlainTextResponse(self.name)

    async def read(self) -> None:
        """There is nothing new."""

    def close(self) -> None:
        self.closed.append(self.name)


def test_of_what_nobody_looks_at_the_one_left_longest_ago_is_closed() -> None:
    from starlette.applications import Starlette
    from starlette.routing import Mount

    made: dict[str, Thing] = {}
    closed: list[str] = []

    def opened(key: str) -> Thing:
        made[key] = Thing(key, closed)
        return made[key]

    shelf = Shelf(2, opened)
    guest = TestClient(Starlette(routes=[Mount("/{key}", shelf.app(shared=False))]))
    for key in ("a", "b", "a", "c"):
        assert guest.get(f"/{key}/").text == key
    assert closed == ["b"]
    made["a"].busy = made["c"].busy = True
    refused = guest.get("/d/")
    assert (refused.status_code, closed) == (503, ["b"])
    made["c"].busy = False
    assert guest.get("/d/").text == "d"
    assert closed == ["b", "c"]


def test_an_event_of_a_folder_shows_its_standings_and_the_runs_of_its_matches(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sqlalchemy", reason="the extra 'tournament' is not installed")
    from runtime.tournament.standings_site import open_event

    assert main(["tournament", "run", str(folder / "cup.yaml"), "-q"]) == 0
    capsys.readouterr()
    site = FolderSite(folder, PLACE, behind=1e6, opens_event=open_event)
    with TestClient(site.app, base_url=HOST) as guest:
        guest.cookies.set("accord-studio-8000", "secret")
        at = f"/event/{keys(guest)['cup.yaml']}"
        with guest.websocket_connect(f"ws://127.0.0.1:8000{at}/standings", headers={"origin": HOST}) as page:
            told: dict[str, Any] = page.receive_json()
        assert (told["name"], told["over"], told["up"]) == ("A small cup", True, "all runs")
        (fault,) = told["faults"]
        assert (fault["player"], fault["run"]) == ("bob", True)
        facts = guest.get(f"{at}/run/{fault['match']}/run.json").json()
        assert any(line[3] == facts["tones"]["violation"] for row in facts["rows"] for line in row[7])

        broken = folder / "cup.yaml"
        broken.write_text("event: a\n")
    with TestClient(FolderSite(folder, PLACE, opens_event=open_event).app, base_url=HOST) as guest:
        guest.cookies.set("accord-studio-8000", "secret")
        answer = guest.get(f"{at}/")
        assert answer.status_code == 422
        assert "cup.yaml" in answer.text


@pytest.mark.parametrize("words", [["--save", "x.html"], ["--spec", "tsuro"], ["--force"]])
def test_what_is_for_a_journal_is_refused_for_a_folder(
    words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["studio", str(folder), *words]) == 2
    assert "are for a journal" in capsys.readouterr().err
