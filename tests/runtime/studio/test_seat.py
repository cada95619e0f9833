"""A seat in a browser: the person sees what its client was told, and what it answers is checked as anybody's is."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import msgspec
import pytest

from machines.effects import Violation
from machines.parser.loader import load, load_text, rules_modules
from runtime.cli import main
from runtime.journal.losses import Loss, tell_lost
from runtime.players.base import Player
from runtime.players.registry import open_player
from runtime.players.scripted import GivenAnswers
from runtime.players.seat import NEWS_MAX, Seat, SeatPlayer
from runtime.players.terminal import LeftError
from runtime.players.wrapped import WrappedPlayer
from runtime.sessions.game_result import Participant
from runtime.sessions.match import play as play_match

pytest.importorskip("starlette", reason="the extra 'web' is not installed")

from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from runtime.studio.seat_site import SeatSite

HOST = "http://127.0.0.1:8000"
LIVE = "ws://127.0.0.1:8000/seat"
FORM = load_text(
    """\
protocol: p
connects: {a: b}
types: {Word: {string: "[a-z]{1,5}"}}
messages:
  a: {SAY: [say, $word Word, $size int], BYE: bye}
  b: {GO: [go, $word Word]}
roles:
  b:
    main(peer): {w: {send: GO('now'), within: 5 s, receive: {SAY: {return: null}, BYE: {return: null}}}}
  a:
    main:
      w: {within: 9 s, receive: {GO: {then: s}}}
      s: {ask: say(word), within: 9 s, receive: {SAY: {send: SAY, return: null}, BYE: {send: BYE, return: null}}}
"""
)


def asked(seat: Seat) -> int:
    return seat.ask("say", (("word", "now"),), ("SAY", "BYE"), 9.0).number


@pytest.fixture
def guest() -> Iterator[tuple[Seat, TestClient]]:
    seat = Seat(FORM, "ann")
    site = SeatSite(seat, token="secret", port=8000, hosts=frozenset({"127.0.0.1"}))
    with TestClient(site.app, base_url=HOST) as guest:
        guest.cookies.set("accord-studio-8000", "secret")
        yield seat, guest


def sit(guest: TestClient, **headers: str) -> Any:
    return guest.websocket_connect(LIVE, headers={"origin": HOST, **headers})


@pytest.mark.parametrize(
    ("texts", "wrong"),
    [
        ({"word": "hello", "size": "3"}, {}),
        ({"size": "3"}, {}),  # the question says what the word is
        ({"word": "HELLO", "size": "3"}, {"word"}),
        ({"word": "hello", "size": "three"}, {"size"}),
        ({"word": "hello"}, {"size"}),
        ({"word": "x" * 100_000, "size": "1" * 100_000}, {"word", "size"}),
    ],
)
def test_what_is_written_into_a_form_is_checked_field_by_field(texts: dict[str, str], wrong: set[str]) -> None:
    seat = Seat(FORM, "ann")
    number = asked(seat)

    assert set(seat.fill_in(number, "SAY", texts)) == set(wrong)
    again = seat.fill_in(number, "SAY", {"word": "hello", "size": "1"})
    assert again == ({} if wrong else {"": "this question is closed"})


def test_an_answer_to_another_question_or_of_another_message_is_none() -> None:
    seat = Seat(FORM, "ann")
    assert seat.fill_in(1, "SAY", {}) == {"": "this question is closed"}
    number = asked(seat)
    assert seat.fill_in(number + 1, "BYE", {}) == {"": "this question is closed"}
    assert seat.fill_in(number, "GO", {}) == {"": "this message is no answer to the question"}
    assert seat.choose(number, 0) == "there is no such choice"
    assert seat.fill_in(number, "BYE", {}) == {}


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_a_question_waits_for_the_person_and_is_closed_when_its_time_is_up(anyio_backend: str) -> None:
    seat = Seat(FORM, "ann")
    player = SeatPlayer(seat)
    answers: list[Any] = []

    async def decide() -> None:
        answers.append(await player.decide("say", (), ("BYE",), None))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(decide)
        while seat.question is None:
            await anyio.lowlevel.checkpoint()
        assert seat.fill_in(seat.question.number, "BYE", {}) == {}
    assert answers == [("BYE", {})]

    with anyio.move_on_after(0):
        await player.decide("say", (), ("BYE",), 0.0)
    assert seat.question is None

    seat.leave()
    for _ in range(2):
        with pytest.raises(LeftError, match="ann left the game"):
            await player.decide("say", (), ("BYE",), None)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_null_is_an_answer(anyio_backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.players.seat.legal_answers", lambda *_: [("pass", None)])
    seat = Seat(FORM, "ann")
    assert seat.choose(asked(seat), 0) == ""
    with anyio.fail_after(5):
        assert await seat.answer() is None


def test_the_news_are_bounded_and_a_page_that_comes_late_is_told_those_that_are_kept(
    guest: tuple[Seat, TestClient],
) -> None:
    seat, client = guest
    for number in range(NEWS_MAX + 10):
        seat.tell("GO", {"word": f"w{number}"})
    assert (len(seat.news), seat.gone) == (NEWS_MAX, 10)
    with sit(client) as page:
        assert len(page.receive_json()["news"]) == NEWS_MAX
        seat.tell("GO", {"word": "last"})
        assert page.receive_json()["news"] == ["GO, word last"]
        seat.end()
        assert page.receive_json()["over"]
        with pytest.raises(WebSocketDisconnect):
            page.receive_json()


def test_who_was_too_late_is_told_so_and_how_the_game_ended(guest: tuple[Seat, TestClient]) -> None:
    seat, client = guest
    player = SeatPlayer(seat)
    found = Violation(
        None, "", "a", "late", "say", ("SAY",), b"", 0, "main in s", "p.yaml:12", "", "no answer had come", 9.0, 9.0
    )
    with sit(client) as page:
        assert page.receive_json()["out"] == ""
        tell_lost(GivenAnswers(player, {}), Loss("ann", "a", found))
        told = page.receive_json()
        assert told["out"] == "too late: no answer had come within 9 s"
        assert told["news"] == ["you are out: too late: no answer had come within 9 s"]
        closed = msgspec.structs.replace(found, kind="closed", why="it closed the connection", peer=0)
        tell_lost(player, Loss("ann", "b", closed))
        seat.end()
        told = page.receive_json()
        assert told["over"]
        assert told["out"].startswith("too late"), "what the server sees of it is no reason"


def test_the_last_message_that_says_how_it_ended_is_the_ending() -> None:
    seat = Seat(load("santorini-relay"), "ann")
    seat.tell("game_over", {"won": False})
    assert seat.ending == "you have lost the game"
    seat.tell("tournament_over", {"won": True, "game_history": []})
    seat.tell("game_over", {"won": None, "nonsense": 1})
    assert seat.ending == "you have lost the game"


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_in_a_match_a_player_is_told_its_own_loss_and_what_the_server_says_of_it(anyio_backend: str) -> None:
    told: dict[str, list[str]] = {}

    class Told(WrappedPlayer):
        def __init__(self, player: Player, name: str) -> None:
            super().__init__(player)
            self.name = name

        async def decide(self, *asked: Any) -> Any:
            if self.name == "ann":
                raise LeftError("ann left the game")
            return await super().decide(*asked)

        def lost(self, loss: Loss) -> None:
            told.setdefault(self.name, []).append(loss.violation.kind)

    @asynccontextmanager
    async def opened(kind: str, *, name: str, **how: Any) -> AsyncIterator[Player]:
        async with open_player(kind, name=name, **how) as player:
            yield Told(player, name)

    seats = [Participant(name, kind, 1) for name, kind in (("ann", "random"), ("bob", "gone"), ("cyd", "random"))]
    spec = load("tsuro", {"seats": "3..3"})
    await play_match(spec, rules_modules(spec), seats, server="server", client="client", seed=1, make_player=opened)
    assert told["ann"] == ["left", "closed"]
    assert "closed" in told["bob"], "as the server says"
    assert "cyd" not in told


def test_a_page_shows_the_question_takes_the_answer_and_is_told_what_is_wrong(guest: tuple[Seat, TestClient]) -> None:
    seat, client = guest
    with sit(client) as page:
        page.receive_json()
        number = asked(seat)
        question = page.receive_json()["question"]
        assert [form["message"] for form in question["forms"]] == ["SAY", "BYE"]
        assert question["forms"][0]["fields"][0]["offered"] == "now"
        assert 0 < question["left"] <= 9

        page.send_json({"number": number, "message": "SAY", "texts": {"size": "x"}})
        assert set(page.receive_json()["wrong"]) == {"size"}
        page.send_json({"number": number, "message": "BYE"})
        while (told := page.receive_json())["question"] is None:
            pass
        assert told["question"]["number"] == number  # it is open until the game has taken the answer


@pytest.mark.parametrize("sent", ["{", '{"number": "x"}', "[]", '{"texts": {"a": 1}}'])
def test_what_is_no_answer_closes_the_page(sent: str, guest: tuple[Seat, TestClient]) -> None:
    with sit(guest[1]) as page:
        page.receive_json()
        page.send_text(sent)
        with pytest.raises(WebSocketDisconnect):
            page.receive_json()


@pytest.mark.parametrize(
    ("origin", "cookie"), [("http://evil.example", "secret"), ("null", "secret"), (HOST, "guessed"), (HOST, "")]
)
def test_nobody_else_sits_there(origin: str, cookie: str, guest: tuple[Seat, TestClient]) -> None:
    guest[1].cookies.set("accord-studio-8000", cookie)
    page = sit(guest[1], origin=origin)
    with pytest.raises(WebSocketDisconnect):
        page.__enter__()


def test_only_what_its_client_was_told_gets_into_a_seat() -> None:
    """A hidden hand cannot be seen: a seat has no other way to the game than ``ask`` and ``tell`` of its own client."""
    seat = Seat(load("tsuro"), "ann")
    hand = [[["A", "E"], ["B", "F"], ["C", "G"], ["D", "H"]]] * 2
    board = [[None] * 10] * 10
    seat.tell("TOKEN", {"token": "white"})
    seat.tell("INTER_REQ", {"board": [board, []], "tiles": hand})
    assert seat.news == ["TOKEN, token white", "INTER_REQ"]


def test_a_seat_is_no_player_in_memory(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "sticks", "--games", "1", "--player", "web"]) == 2
    assert "cannot play in memory" in capsys.readouterr().err


# -- in a browser ----------------------------------------------------------------------------------------------------


def playwright_errors() -> type[Exception]:
    error: type[Exception] = pytest.importorskip("playwright.sync_api").TimeoutError
    return error


def click(page: Any) -> None:
    page.locator("#choices button").first.click(timeout=300)


def press(page: Any) -> None:
    page.locator("#words").wait_for(timeout=300)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")


def click_the_board(page: Any) -> None:
    """Click what may be clicked on the picture, until the answer is whole; what has none is answered from the list."""
    spots = page.locator("#spots button:not(:disabled)")
    (spots if spots.count() else page.locator("#choices button")).last.click(timeout=300)


def press_the_board(page: Any) -> None:
    """The same by keys alone: the buttons on the picture come before the list, so that one goes back to them."""
    if not page.locator("#spots button:not(:disabled)").count():
        press(page)
        return
    if not page.evaluate("document.getElementById('spots').contains(document.activeElement)"):
        page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")


ALWAYS = {(name, act) for name in ("tsuro", "santorini-official") for act in (click_the_board, press_the_board)}
WAYS = [
    pytest.param(name, act, marks=[] if (name, act) in ALWAYS else pytest.mark.release)
    for name, acts in {
        "tsuro": [click, press, click_the_board, press_the_board],
        "santorini-official": [click, press, click_the_board, press_the_board],
        "sticks": [click_the_board, press_the_board],  # the list is that of the others
        "trains": [click_the_board, press_the_board],
    }.items()
    for act in acts
]


@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize(("name", "act"), WAYS)
def test_a_whole_game_is_played_from_a_seat_by_clicks_and_by_keys(name: str, act: Any, browser: Any) -> None:
    words = [sys.executable, "-m", "runtime", "play", name, "--seed", "1", "--no-journal", "--player", "web"]
    words += ["--players", "5"] if name == "trains" else []
    game = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert game.stderr is not None
    link = None
    while link is None:
        line = game.stderr.readline().decode()
        assert line, "it says where the seat is"
        link = re.search(r"http://\S+", line)
    page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(link[0])
    deadline = time.monotonic() + 60
    acted = 0
    while page.inner_text("#state") != "the game is over":
        assert time.monotonic() < deadline
        if page.locator("#pick").is_visible():
            with suppress(playwright_errors()):  # the question was closed meanwhile
                act(page)
                acted += 1
    page.close()

    out, _ = game.communicate(timeout=30)
    assert game.returncode == 0
    assert acted > 2
    assert b" (web)" in out
    assert said == []
