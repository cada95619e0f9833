"""A run is shared by a second link: what is seen there is what was known some time ago, and nothing of it later."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runtime.cli import main
from runtime.studio.page import RunFacts, Seen
from runtime.studio.steps import RecordedRun, run_of

pytest.importorskip("starlette", reason="the extra 'web' is not installed")

from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from runtime.commands.page_options import DELAY_MAX
from runtime.studio import site as site_module
from runtime.studio.rooms import Room
from runtime.studio.run_view import RunView
from runtime.studio.site import RunSite

HOST = "http://127.0.0.1:8000"
LIVE = "ws://127.0.0.1:8000/live?row=0&entry=0"
BEHIND = 30.0


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    journal = tmp_path_factory.mktemp("run") / "run.jsonl"
    assert main(["play", "sticks", "--seed", "2", "-q", "--journal", str(journal)]) == 0
    return journal.read_bytes().splitlines(keepends=True)


def test_each_step_is_seen_so_many_seconds_after_it_was_known(lines: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(lines[0])
    now = [0.0]
    facts = RunFacts(RecordedRun(path))
    view = RunView(facts, {}, Room(1), BEHIND, clock=lambda: now[0])
    known: list[Seen] = []
    with path.open("ab", buffering=0) as file:
        for at, line in enumerate(lines[1:]):
            now[0] = float(at)
            file.write(line)
            facts.read()
            known.append(facts.seen)
            view.look()
            wanted = known[at - int(BEHIND)] if at >= BEHIND else Seen()
            assert view.seen.rows == wanted.rows, "nothing is seen before its time, and all of it then"
    assert known[-1].complete
    assert not view.seen.complete
    now[0] += BEHIND
    view.look()
    assert view.seen == facts.seen


@pytest.fixture
def going_on(lines: list[bytes], tmp_path: Path) -> Iterator[tuple[Path, TestClient]]:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(lines[:10]))
    run = RecordedRun(path)
    run.read()
    site = RunSite(run, "secret", 8000, frozenset({"127.0.0.1"}), share="shared", behind=1e6)
    with TestClient(site.app, base_url=HOST, follow_redirects=False) as guest:
        yield path, guest


def enter(guest: TestClient, token: str) -> None:
    guest.cookies.clear()
    assert guest.get(f"/enter?token={token}").status_code == 303


def test_who_has_the_shared_link_sees_nothing_of_what_is_too_new(going_on: tuple[Path, TestClient]) -> None:
    _, guest = going_on
    enter(guest, "secret")
    assert len(guest.get("/run.json").json()["rows"]) == 9
    assert guest.get("/step/3").status_code == 200

    enter(guest, "shared")
    told = guest.get("/run.json").json()
    assert (told["rows"], told["table"], told["parties"], told["boards"], told["behind"]) == ([], [], [], 0, 1e6)
    assert not told["complete"]
    assert guest.get("/step/3").status_code == 404
    assert guest.get("/board/0.svg").status_code == 404
    assert guest.get(f"/picture/{told['pictures'][0]['id']}.svg").status_code == 200
    with guest.websocket_connect(LIVE, headers={"origin": HOST}) as page:
        assert page.receive_json()["rows"] == []
    assert guest.post("/run.json").status_code == 405, "it is to be looked at"


def test_the_token_of_the_shared_link_is_no_other(going_on: tuple[Path, TestClient]) -> None:
    _, guest = going_on
    for guess in ("", "share", "sharedsecret"):
        guest.cookies.clear()
        assert guest.get(f"/enter?token={guess}").status_code == 403
    guest.cookies.set("accord-studio-8000", "")
    assert guest.get("/run.json").status_code == 403


def test_without_share_an_empty_token_opens_nothing(lines: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(lines))
    site = RunSite(run_of(path), "secret", 8000, frozenset({"127.0.0.1"}))
    guest = TestClient(site.app, base_url=HOST, follow_redirects=False)
    assert guest.get("/enter?token=").status_code == 403
    assert guest.get("/run.json").status_code == 403


def test_a_run_that_was_over_when_it_was_opened_is_shared_whole(lines: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(lines))
    site = RunSite(run_of(path), "secret", 8000, frozenset({"127.0.0.1"}), share="shared", behind=BEHIND)
    with TestClient(site.app, base_url=HOST, follow_redirects=False) as guest:
        enter(guest, "shared")
        told = guest.get("/run.json").json()
        assert told["complete"]
        assert len(told["rows"]) == len(lines) - 2
        with guest.websocket_connect(LIVE, headers={"origin": HOST}) as page:
            assert page.receive_json()["complete"]
            with pytest.raises(WebSocketDisconnect):
                page.receive_json()


@pytest.mark.parametrize(("host", "status"), [("192.0.2.7", 200), ("evil.example", 421), ("192.0.2.8", 421)])
def test_a_site_answers_to_the_address_at_which_it_was_reached(
    host: str, status: int, lines: list[bytes], tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(lines))
    site = RunSite(run_of(path), "secret", 8000, frozenset({"0.0.0.0"}))
    guest = TestClient(site.app, base_url="http://192.0.2.7:8000")
    guest.cookies.set("accord-studio-8000", "secret")
    assert guest.get("/run.json", headers={"host": f"{host}:8000"}).status_code == status


def test_the_command_prints_a_link_for_others_and_says_who_reaches_it(
    lines: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(lines))
    asked: list[Any] = []

    def served(run: object, host: str, port: int, opened: Any, behind: float | None) -> None:
        asked.append(behind)
        opened("http://127.0.0.1:1/enter?token=a", *(["http://127.0.0.1:1/enter?token=b"] if behind else []))

    monkeypatch.setattr(site_module, "serve", served)
    assert main(["studio", str(path), "--no-browser", "--share"]) == 0
    told = capsys.readouterr()
    assert "for others: http://127.0.0.1:1/enter?token=b" in told.out
    assert "--host 0.0.0.0" in told.err
    assert main(["studio", str(path), "--no-browser"]) == 0
    assert "for others" not in capsys.readouterr().out
    assert asked == [30.0, None]
    assert main(["studio", str(path), "--share", "--delay", str(DELAY_MAX + 1)]) == 2
    assert main(["studio", "sticks", "--share"]) == 2
