"""The studio's pages: the one that is saved, and those that are served to who has the link."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pytest

from runtime.cli import main
from runtime.studio.page import RunFacts, details, pictures, saved
from runtime.studio.steps import RecordedRun, run_of

pytest.importorskip("starlette", reason="the extra 'web' is not installed")

from starlette.testclient import TestClient

from runtime.studio.guard import POLICY
from runtime.studio.site import RunSite, serve

HOST = "http://127.0.0.1:8000"
HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "\u202eevil", "n" * 10_000]

NAMED = """\
protocol: p
connects: {a: b}
messages: {a: {HI: {name: $name string}}}
roles:
  b:
    main:
      begin: {accept: named(peer), as: all, seats: 1, within: 5 s, timeout: {return: null}, then: end}
      end: {return: null}
    named(peer):
      w: {await: peer, within: 5 s, receive: {HI: {return: {name: name}}}, fault: {return: {name: "'nobody'"}}}
  a:
    main:
      s: {ask: hi, within: 5 s, receive: {HI: {send: HI, return: null}}}
"""


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    journal = tmp_path_factory.mktemp("run") / "run.jsonl"
    assert main(["play", "tsuro", "--players", "3", "--seed", "2", "-q", "--journal", str(journal)]) == 0
    return journal


@pytest.fixture(scope="module")
def run(journal: Path) -> RecordedRun:
    return run_of(journal)


@pytest.fixture
def run_lines(journal: Path) -> list[bytes]:
    return journal.read_bytes().splitlines(keepends=True)


@pytest.fixture(scope="module")
def site(run: RecordedRun) -> RunSite:
    return RunSite(run, token="secret", port=8000, hosts=frozenset({"127.0.0.1"}))


@pytest.fixture
def guest(site: RunSite) -> TestClient:
    return TestClient(site.app, base_url=HOST, follow_redirects=False)


@pytest.fixture
def client(guest: TestClient) -> TestClient:
    answer = guest.get("/enter?token=secret")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    return guest


def test_the_facts_of_a_run_name_every_step_and_every_element_once(run: RecordedRun) -> None:
    told = RunFacts(run).whole()

    assert len(told["rows"]) == len(run.steps)
    assert len(told["table"]) == len(set(told["table"]))
    drawn = pictures(run)
    known = {one for svg in drawn.values() for one in re.findall(r'\bid="([^"]+)"', svg)}
    assert {one for ids in told["table"] for one in ids} <= known
    assert len(json.dumps(told["rows"])) < 400 * len(run.steps), "a step is a few hundred bytes"


def test_who_has_the_link_gets_all_that_the_page_asks_for(client: TestClient, run: RecordedRun) -> None:
    assert "<title>accord studio</title>" in client.get("/").text
    told = client.get("/run.json").json()
    assert told["protocol"] == "tsuro"
    for path in ("/run.js", "/run.css", "/step/0", "/board/0.svg", f"/picture/{told['pictures'][0]['id']}.svg"):
        assert client.get(path).status_code == 200, path
    assert client.get(f"/step/{len(run.steps) - 1}").json()[-1]["branch"]


@pytest.mark.parametrize("path", ["/step/100000", "/board/100000.svg", "/picture/none.svg", "/run.py", "/../x"])
def test_what_is_not_there_is_said_to_be_none(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("path", ["/", "/run.json", "/run.js", "/step/0", "/board/0.svg"])
def test_without_the_token_nothing_is_shown(guest: TestClient, path: str) -> None:
    assert guest.get(path).status_code == 403
    for guess in ("guessed", "", "secr%C3%A9t", "%FF"):
        assert guest.get(f"/enter?token={guess}").status_code == 403
    guest.cookies.set("accord-studio-8000", "guessed")
    assert guest.get(path).status_code == 403


def test_another_host_and_another_method_are_refused(client: TestClient) -> None:
    assert client.get("/", headers={"host": "evil.example:8000"}).status_code == 421
    assert client.post("/").status_code == 405


def test_every_answer_has_a_policy_that_loads_nothing_from_elsewhere(client: TestClient) -> None:
    for path in ("/", "/run.json", "/none"):
        headers = client.get(path).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
    assert "script-src" not in client.get("/board/0.svg").headers["content-security-policy"]


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_the_saved_page_loads_nothing_and_runs_its_own_script_alone(run: RecordedRun) -> None:
    page = saved(run, pictures(run))
    elements = _Elements()
    elements.feed(page)

    scripts = [attributes for tag, attributes in elements.found if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "embedded"}, {}]
    assert not any("src" in attributes for tag, attributes in elements.found if tag != "img")
    assert not any(tag == "link" for tag, _ in elements.found)
    (policy,) = [a["content"] for tag, a in elements.found if tag == "meta" and "http-equiv" in a]
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")


@pytest.mark.parametrize("name", HOSTILE, ids=["tag", "script", "bidi", "long"])
def test_a_hostile_name_is_data_and_no_markup(name: str, tmp_path: Path) -> None:
    journal = tmp_path / "run.jsonl"
    (tmp_path / "p.yaml").write_text(NAMED)
    answer = json.dumps({"name": name})
    assert main(["play", str(tmp_path / "p.yaml"), "-q", "--journal", str(journal), "--answer", f"hi={answer}"]) == 0

    run = run_of(journal)
    page = saved(run, pictures(run))

    assert any({"name": name} in [said.get("fields") for said in details(step)] for step in run.steps)
    assert "<img src=x" not in page
    assert "<script>alert" not in page


def test_the_command_saves_a_page_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal, page = tmp_path / "run.jsonl", tmp_path / "run.html"
    assert main(["play", "sticks", "--seed", "1", "-q", "--journal", str(journal)]) == 0
    capsys.readouterr()

    assert main(["studio", str(journal), "--save", str(page)]) == 0
    assert capsys.readouterr().out.startswith(f"{page}: ")
    assert main(["studio", str(journal), "--save", str(tmp_path / "no" / "run.html")]) == 2
    assert main(["studio", str(tmp_path / "none.jsonl"), "--save", str(page)]) == 2


# -- in a browser ----------------------------------------------------------------------------------------------------


@pytest.mark.xdist_group("browser")
def test_a_saved_page_opens_from_its_file_and_is_led_by_keys(run: RecordedRun, browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    path.write_text(saved(run, pictures(run)), encoding="utf-8")
    page = browser.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))

    page.goto(f"{path.as_uri()}#step=40")
    page.wait_for_selector("body[data-ready]")
    assert page.inner_text("#where").startswith("step 40 of")
    assert page.locator("#found").is_hidden(), "a run is no finding"
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#where").startswith("step 41 of")
    page.keyboard.press("End")
    assert page.inner_text("#where").startswith(f"step {len(run.steps)} of")
    page.keyboard.press("Home")
    assert page.locator("#pictures rect.here").count() == 1
    page.select_option("#who", "s0p1")
    assert "player=s0p1" in page.url
    rows = page.locator(".row").count()
    assert 0 < rows < 60, "only what is seen is drawn"
    page.locator("#slider").fill("50")
    page.wait_for_selector("#board[src^='data:image/svg']")
    assert "INTER" in page.inner_text("#detail")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    printed = page.evaluate("[...document.querySelectorAll('.row')].map((row) => Number(row.dataset.step))")
    assert printed == sorted(printed), "what is printed is in its order"
    assert len(printed) == page.evaluate("Number(document.querySelector('.row').getAttribute('aria-setsize'))")
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    page.close()


@pytest.mark.xdist_group("browser")
def test_a_hostile_name_does_nothing_to_a_page_and_makes_it_no_wider(browser: Any, tmp_path: Path) -> None:
    journal, path, name = tmp_path / "run.jsonl", tmp_path / "run.html", "".join(HOSTILE)
    (tmp_path / "p.yaml").write_text(NAMED)
    words = ["play", str(tmp_path / "p.yaml"), "-q", "--journal", str(journal)]
    answer = ["--answer", f"hi={json.dumps({'name': name})}"]
    subprocess.run([sys.executable, "-m", "runtime", *words, *answer], check=True, capture_output=True)
    run = run_of(journal)
    path.write_text(saved(run, pictures(run)), encoding="utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 800})
    said: list[str] = []
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("console", lambda message: said.append(message.text))

    page.goto(f"{path.as_uri()}#step=99")
    page.wait_for_selector("body[data-ready]")
    shown = page.locator("#heads span").all_inner_texts()
    assert any(text.startswith("<img src=x") for text in shown)
    assert not any("\u202e" in text for text in page.locator("header, #heads, #who, #detail h2").all_inner_texts())
    assert page.locator("main img:not(#board)").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert said == []
    page.close()


@pytest.mark.xdist_group("browser")
def test_a_page_follows_a_run_that_goes_on_until_one_steps_back(
    run_lines: list[bytes], browser: Any, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(run_lines[:20]))
    links: Queue[str] = Queue()
    run = RecordedRun(path)
    run.read()
    Thread(target=serve, args=(run, "127.0.0.1", 0, links.put), daemon=True).start()
    page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))

    page.goto(links.get(timeout=10))
    page.wait_for_selector("body[data-ready]")
    assert page.inner_text("#where").startswith("step 19 of 19"), "a run that goes on is seen at its end"
    with path.open("ab", buffering=0) as file:
        file.write(b"".join(run_lines[20:40]))
        page.get_by_text("step 39 of 39").wait_for()
        page.keyboard.press("ArrowLeft")
        assert page.inner_text("#more") == "1 new"
        file.write(b"".join(run_lines[40:]))
        steps = len(run_lines) - 2
        page.get_by_text(f"step 38 of {steps}").wait_for()
        page.get_by_text(re.compile(f"{steps} steps; it is over$")).wait_for()
        assert page.locator("#more").is_hidden()
    page.keyboard.press("End")
    assert page.inner_text("#where").startswith(f"step {steps} of {steps}")
    page.wait_for_selector("#board[src^='board/']")
    assert said == []
    page.close()


@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("at", [0, pytest.param(1, marks=pytest.mark.release), 2])
def test_why_a_player_lost_is_read_whole(at: int, browser: Any, tmp_path: Path) -> None:
    journal, path = tmp_path / "run.jsonl", tmp_path / "run.html"
    kinds = [word for seat in range(3) for word in ("--player", "malformed" if seat == at else "random")]
    play = [sys.executable, "-m", "runtime", "play", "tsuro", *kinds, "--seed", "2", "-q", "--journal", str(journal)]
    subprocess.run(play, check=True, capture_output=True)  # here the browser has the loop
    run = run_of(journal)
    path.write_text(saved(run, pictures(run)), encoding="utf-8")
    page = browser.new_page(viewport={"width": 420, "height": 800})

    page.goto(path.as_uri())
    page.wait_for_selector("body[data-ready]")
    page.locator("#violation").click()
    page.select_option("#who", f"s0p{at}")
    assert page.inner_text("#violation") == "next violation (1)"
    page.select_option("#who", f"s0p{(at + 1) % 3}")
    assert page.inner_text("#violation") == "no violation", "of this player"
    page.select_option("#who", "")
    row = page.locator(".row.violation").first
    chart, time, text = (row.locator(which).bounding_box() for which in ("svg", ".time", "text:not(.time)"))
    assert text["x"] >= time["x"] + time["width"]
    assert text["x"] + text["width"] <= chart["x"] + chart["width"]
