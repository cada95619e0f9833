"""A run that goes on is followed: what the page is told is what the whole journal says, wherever it was cut."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from runtime.cli import main
from runtime.journal.reading import GrowingJournal, JournalEmptyError
from runtime.journal.writing import JournalError
from runtime.studio.page import RunFacts
from runtime.studio.steps import RecordedRun, run_of

pytest.importorskip("starlette", reason="the extra 'web' is not installed")

import anyio
import httpx2
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from runtime.studio.rooms import Room
from runtime.studio.run_view import GATHER_SECONDS, ROWS_MAX, OpenRun
from runtime.studio.site import VIEWERS_MAX, RunSite

HOST = "http://127.0.0.1:8000"
ORIGIN = {"origin": HOST}
LIVE = "ws://127.0.0.1:8000/live"


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    journal = tmp_path_factory.mktemp("run") / "run.jsonl"
    assert main(["play", "tsuro", "--players", "3", "--seed", "2", "-q", "--journal", str(journal)]) == 0
    return journal.read_bytes().splitlines(keepends=True)


@contextmanager
def visiting(path: Path, begun: bytes, cookie: str = "secret") -> Iterator[TestClient]:
    """Begin a journal, and yield who looks at its run while the site reads on."""
    path.write_bytes(begun)
    site = RunSite(RecordedRun(path), token="secret", port=8000, hosts=frozenset({"127.0.0.1"}))
    with TestClient(site.app, base_url=HOST) as guest:
        guest.cookies.set("accord-studio-8000", cookie)
        yield guest


def test_a_journal_read_as_it_is_written_gives_the_rows_of_the_whole(lines: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(lines))
    whole = RunFacts(run_of(path)).whole()

    growing = tmp_path / "growing.jsonl"
    with growing.open("wb", buffering=0) as file:
        assert file.write(lines[0])
        facts = RunFacts(RecordedRun(growing))
        told: dict[str, Any] = facts.head()
        rows: list[Any] = []
        table: list[Any] = []
        for line in lines[1:]:
            half = len(line) // 2
            file.write(line[:half])  # a line that is not whole yet is none
            assert not facts.read()
            assert len(facts.rows) == len(rows)
            file.write(line[half:])
            assert facts.read()
            news = facts.since(len(rows), len(table))
            rows += news["rows"]
            table += news["table"]
            told |= news

    assert facts.over
    assert {**told, "from": 0, "rows": rows, "table": table} == whole


def test_whoever_goes_on_from_any_row_has_the_rows_of_the_whole(lines: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(lines[0])
    facts = RunFacts(RecordedRun(path))
    told = [facts.seen]
    with path.open("ab", buffering=0) as file:
        for line in lines[1:]:
            file.write(line)
            facts.read()
            told.append(facts.seen)
    whole = facts.whole()
    for seen in told:
        first = facts.since(seen=seen)
        rest = facts.since(seen.rows, seen.entries)
        assert first["rows"] + rest["rows"] == whole["rows"]
        assert first["table"] + rest["table"] == whole["table"]


def test_pages_are_told_what_comes_each_from_where_it_is(lines: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with visiting(path, lines[0]) as guest, path.open("ab", buffering=0) as file:
        file.write(b"".join(lines[1:20]))
        with guest.websocket_connect(f"{LIVE}?row=0&entry=0", headers=ORIGIN) as page:
            first = rows_until(page, 19)
            with guest.websocket_connect(f"{LIVE}?row=7&entry=0", headers=ORIGIN) as second:
                file.write(b"".join(lines[20:]))
                late = rows_until_closed(second)
                rest = rows_until_closed(page)
        whole = guest.get("/run.json").json()

    assert whole["complete"]
    assert first + rest == whole["rows"]
    assert late == whole["rows"][7:]


def rows_until(page: Any, count: int) -> list[Any]:
    rows: list[Any] = []
    while len(rows) < count:
        rows += page.receive_json()["rows"]
    assert len(rows) == count
    return rows


def rows_until_closed(page: Any) -> list[Any]:
    """Return the rows up to the end of the run, which is told, and with which the page is left."""
    rows: list[Any] = []
    complete = False
    while True:
        try:
            told = page.receive_json()
        except WebSocketDisconnect:
            assert complete
            return rows
        assert len(told["rows"]) <= ROWS_MAX
        rows += told["rows"]
        complete = told["complete"]


def test_what_comes_shortly_after_news_is_told_with_what_comes_next(lines: list[bytes], tmp_path: Path) -> None:
    path, now = tmp_path / "run.jsonl", 0.0
    path.write_bytes(lines[0])
    run = OpenRun(RecordedRun(path), Room(1), clock=lambda: now)
    seen = []
    with path.open("ab", buffering=0) as file:
        for line, wait in zip(lines[1:7], (0.01, 0.01, GATHER_SECONDS, 0.01, GATHER_SECONDS, 1), strict=True):
            file.write(line)
            assert not anyio.run(run.read)
            seen.append(run.own.seen.rows)
            now += wait
        assert seen == [1, 1, 1, 4, 4, 6]
        file.write(b"".join(lines[7:]))
        assert anyio.run(run.read), "all is told"
    run.close()


@pytest.mark.parametrize(
    ("query", "headers", "cookie"),
    [
        ("row=0&entry=0", {}, "secret"),
        ("row=0&entry=0", {"origin": "http://evil.example"}, "secret"),
        ("row=0&entry=0", {"origin": "null"}, "secret"),
        ("row=0&entry=0", ORIGIN, "guessed"),
        ("row=0&entry=0", {**ORIGIN, "host": "evil.example:8000"}, "secret"),
        ("row=-1&entry=0", ORIGIN, "secret"),
        ("row=x&entry=0", ORIGIN, "secret"),
        ("row=0", ORIGIN, "secret"),
    ],
)
def test_a_page_of_another_site_is_told_nothing(
    query: str, headers: dict[str, str], cookie: str, lines: list[bytes], tmp_path: Path
) -> None:
    with visiting(tmp_path / "run.jsonl", lines[0], cookie) as guest:
        page = guest.websocket_connect(f"{LIVE}?{query}", headers=headers)
        with pytest.raises(WebSocketDisconnect):
            page.__enter__()


def test_no_more_pages_than_the_limit_are_told(
    lines: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert VIEWERS_MAX >= 60, "a class"
    monkeypatch.setattr("runtime.studio.site.VIEWERS_MAX", 1)
    with visiting(tmp_path / "run.jsonl", lines[0]) as guest:
        with guest.websocket_connect(f"{LIVE}?row=0&entry=0", headers=ORIGIN) as page:
            page.receive_json()
            with pytest.raises(WebSocketDisconnect) as refused:
                guest.websocket_connect(f"{LIVE}?row=0&entry=0", headers=ORIGIN).__enter__()
        assert refused.value.code in (1013, 403)


def test_what_is_damaged_is_told_on_the_page_and_what_was_read_stays(lines: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with visiting(path, b"".join(lines[:5])) as guest:
        with guest.websocket_connect(f"{LIVE}?row=0&entry=0", headers=ORIGIN) as page:
            assert rows_until(page, 4)
            with path.open("ab") as file:
                file.write(b"no line of a journal\n")
            failed = None
            while failed is None:
                failed = page.receive_json()["failed"]
        assert f"{path}:6: this line is damaged" in failed
        assert len(guest.get("/run.json").json()["rows"]) == 4


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def replace(path: Path) -> None:
    other = path.with_name("other.jsonl")
    other.write_bytes(path.read_bytes())
    other.replace(path)


def write_anew(path: Path) -> None:
    """In the same place, and longer than what was read: the lines do not begin where ours ended."""
    content = path.read_bytes()
    path.write_bytes(b"x" * 37 + content + content)


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (cut, "the journal was cut while it was read"),
        (replace, "another file stands in the journal's place"),
        (Path.unlink, "the journal was removed while it was read"),
        (write_anew, "this line is damaged"),
    ],
)
def test_a_journal_replaced_while_it_is_read_is_told_and_what_was_read_stays(
    harm: Callable[[Path], None], told: str, lines: list[bytes], tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    with visiting(path, b"".join(lines[:30])) as guest:
        with guest.websocket_connect(f"{LIVE}?row=0&entry=0", headers=ORIGIN) as page:
            before = rows_until(page, 29)
            harm(path)
            failed = None
            while failed is None:
                failed = page.receive_json()["failed"]
            assert told in failed
            with pytest.raises(WebSocketDisconnect):
                page.receive_json()
        assert guest.get("/run.json").json()["rows"] == before


def test_a_class_of_sixty_is_told_the_same_rows_and_each_place_is_free_again(
    lines: list[bytes], tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    with visiting(path, b"".join(lines[:10])) as guest, ExitStack() as class_:
        pages = [
            class_.enter_context(guest.websocket_connect(f"{LIVE}?row=0&entry=0", headers=ORIGIN)) for _ in range(60)
        ]
        with path.open("ab") as file:
            file.write(b"".join(lines[10:]))
        seen = [rows_until_closed(page) for page in pages]
        assert seen[0] == guest.get("/run.json").json()["rows"]
        assert all(rows == seen[0] for rows in seen)
        for _ in range(VIEWERS_MAX + 1):  # those that have gone count no more
            with guest.websocket_connect(f"{LIVE}?row=0&entry=0", headers=ORIGIN) as page:
                assert page.receive_json()["complete"]


def test_a_journal_that_has_not_begun_is_told_from_one_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b'{"journal":1,"accord":')
    with pytest.raises(JournalEmptyError):
        GrowingJournal(path)
    path.write_bytes(b"{}\n")
    with pytest.raises(JournalError, match="this is no journal"):
        GrowingJournal(path)
    with pytest.raises(JournalError, match="no file that a journal"):
        GrowingJournal(Path("/dev/zero") if Path("/dev/zero").exists() else tmp_path)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["play", "sticks", "--studio", "--no-journal"], "--studio shows what the journal has"),
        (["serve", "sticks", "--studio", "--again", "--port", "0"], "--studio shows one run, and --again makes many"),
    ],
)
def test_a_studio_that_cannot_be_is_refused_in_a_sentence(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert told in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal")
def test_the_studio_beside_a_run_shows_it_and_ends_with_it_however_that_ends(tmp_path: Path) -> None:
    journal = tmp_path / "run.jsonl"
    words = [sys.executable, "-m", "runtime", "serve", "tsuro", "--port", "0", "--journal", str(journal), "--studio"]
    run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert run.stderr is not None
    link = ""
    while not link:
        line = run.stderr.readline().decode()
        assert line, "it says where its studio is"
        found = re.search(r"studio: (http://127\.0\.0\.1:(\d+)/enter\?token=\S+)", line)
        link = found[1] if found else ""
    with httpx2.Client(follow_redirects=True, trust_env=False) as client:
        assert "accord studio" in client.get(link).text
        told = json.loads(client.get(re.sub(r"/enter.*", "/run.json", link)).text)
        assert (told["protocol"], told["complete"]) == ("tsuro", False)

        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        run.stderr.close()
        deadline = time.monotonic() + 10
        while answers(client, link):
            assert time.monotonic() < deadline, "it ends with the run"


def answers(client: httpx2.Client, link: str) -> bool:
    try:
        client.get(link)
    except httpx2.HTTPError:
        return False
    return True
