"""A person's page in a game: one WebSocket that shows what the client was told, and takes what the person answers."""

from __future__ import annotations

import secrets
import sys
import threading
import time
from dataclasses import astuple
from typing import Any, Final

import anyio
import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from runtime.players.person_answers import FieldReader, brief
from runtime.players.seat import Seat, SeatQuestion
from runtime.studio.guard import Guarded, files, listening, svg
from runtime.studio.rooms import Room

VIEWERS_MAX: Final = 8  # pages of one seat that are open at a time
LOOK_SECONDS: Final = 0.05  # between two looks whether there is something new
LAST_SECONDS: Final = 2.0  # that an open page has to show the end
ANSWER_BYTES_MAX: Final = 1 << 20


class Answer(msgspec.Struct):
    """What comes from a page: a choice by its index, or a message with a text for each field; or that one leaves."""

    number: int = 0
    choice: int | None = None
    message: str | None = None
    texts: dict[str, str] = {}
    leave: bool = False


class SeatSite:
    """The application of one seat."""

    def __init__(self, seat: Seat, *, token: str, port: int, hosts: frozenset[str]) -> None:
        self.room = Room(VIEWERS_MAX)
        self._seat = seat
        routes = [
            Route("/board.svg", self._board),
            Route("/offer.svg", self._offer),
            WebSocketRoute("/seat", self._sit),
            *files("seat.html", "seat.js", "seat.css"),
        ]
        self.app = Guarded(Starlette(routes=routes), token=token, port=port, hosts=hosts)

    async def _board(self, request: Request) -> Response:
        boards = self._seat.boards[-1:]
        try:
            return svg(boards[0]() if boards else None)
        except Exception:  # what a peer wrote need not make sense to a view
            return svg(None)

    async def _offer(self, request: Request) -> Response:
        question = self._seat.question
        if question is None or question.offered is None:  # it was closed meanwhile
            return await self._board(request)
        try:
            return svg(question.offered.draw())
        except Exception:  # as above
            return svg(None)

    async def _sit(self, socket: WebSocket) -> None:
        await self.room.hold(socket, self._show, self._hear)

    async def _show(self, socket: WebSocket) -> None:
        """Tell a page all that changes, until the game is over."""
        seat, told, seen = self._seat, 0, -1
        while True:
            over, changes = seat.over, seat.changes
            if changes != seen:
                seen = changes
                news = seat.news[max(0, told - seat.gone) :]
                told = seat.gone + len(seat.news)
                await socket.send_json(_facts(seat, news, over=over))
            if over:
                await anyio.sleep(LAST_SECONDS)  # the page closes the socket as soon as it shows the last board
                await socket.close()
                return
            await anyio.sleep(LOOK_SECONDS)

    async def _hear(self, socket: WebSocket) -> None:
        """Take a page's answers until it is closed; what is no answer closes it."""
        try:
            while True:
                answer = msgspec.json.decode(await socket.receive_text(), type=Answer)
                wrong = _answered(self._seat, answer)
                if wrong:
                    await socket.send_json({"number": answer.number, "wrong": wrong})
        except (msgspec.MsgspecError, KeyError):  # no JSON, or no text
            await socket.close(1008)


def _answered(seat: Seat, answer: Answer) -> dict[str, str]:
    """Hand an answer to the seat, and return what is wrong with it."""
    if answer.leave:
        seat.leave()
        return {}
    if answer.message is not None:
        return seat.fill_in(answer.number, answer.message, answer.texts)
    wrong = seat.choose(answer.number, -1 if answer.choice is None else answer.choice)
    return {"": wrong} if wrong else {}


def _facts(seat: Seat, news: list[str], *, over: bool) -> dict[str, Any]:
    question = seat.question
    return {
        "protocol": seat.spec.protocol,
        "name": seat.name,
        "explained": seat.explained,
        "news": news,
        "board": seat.changes if seat.boards else None,
        "question": None if question is None else _question_facts(seat, question),
        "out": seat.out,
        "ending": seat.ending,
        "over": over,
    }


def _question_facts(seat: Seat, question: SeatQuestion) -> dict[str, Any]:
    offered = question.offered
    return {
        "number": question.number,
        "name": question.name,
        "arguments": [] if question.choices else question.arguments,
        "choices": [text for text, _ in question.choices],
        "spots": [] if offered is None else [[*astuple(spot)] for spot in offered.spots],
        "picks": [] if offered is None else offered.picks,
        "forms": [] if question.choices else [_form(seat, name, question) for name in question.messages],
        "left": None if question.ends is None else max(0.0, question.ends - time.monotonic()),
    }


def _form(seat: Seat, message: str, question: SeatQuestion) -> dict[str, Any]:
    fields = []
    for field in seat.spec.messages[message].fields:
        has = field.name in question.given or field.optional
        offered = brief(question.given.get(field.name, field.default)) if has else None
        told = FieldReader(seat.spec, field).describe()
        fields.append({"name": field.name, "type": told, "offered": offered})
    return {"message": message, "fields": fields}


class SeatService:
    """A seat's site, in a thread of its own: the game may run on any event loop."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self._socket = listening("127.0.0.1", 0)
        port = self._socket.getsockname()[1]
        token = secrets.token_urlsafe(16)
        self._site = SeatSite(seat, token=token, port=port, hosts=frozenset({"127.0.0.1", "localhost"}))
        config = uvicorn.Config(
            self._site.app, log_level="warning", access_log=False, lifespan="off", ws_max_size=ANSWER_BYTES_MAX
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self.link = f"http://127.0.0.1:{port}/enter?token={token}"

    def start(self) -> None:
        """Serve, and say where."""
        self._thread.start()
        print(f"the seat of {self._seat.name}: {self.link}", file=sys.stderr, flush=True)

    def stop(self) -> None:
        """Serve no more, once all pages have shown the end."""
        until = time.monotonic() + LAST_SECONDS
        while self._site.room.open and time.monotonic() < until:
            time.sleep(LOOK_SECONDS)
        self._server.should_exit = True
        self._thread.join(LAST_SECONDS)
        self._socket.close()
