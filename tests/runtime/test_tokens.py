"""A port behind a token: who says it takes part, nobody else takes a seat, and both sides say why."""

from __future__ import annotations

import json
import logging
import re
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from machines.engine.session import Program
from machines.parser.loader import load_text
from runtime import cli
from runtime.commands.backends import run as run_loop
from runtime.network.tls import server_context
from runtime.sessions import token_gate
from runtime.sessions.server import serve

ECHO = """
protocol: echo
wire: {framing: text}
connects: {client: server}
messages:
  client: {SAY: "say ${words string}"}
  server: {HEARD: "heard ${words string}"}
roles:
  server:
    main(client):
      hearing: {within: 10 s, receive: {SAY: {send: HEARD, return: words}}, fault: {return: null}}
  client:
    main:
      saying: {send: SAY('hi'), within: 10 s, receive: {HEARD: {return: words}}, fault: {return: null}}
"""
TOKEN = "open-sesame"


async def answered(said: list[bytes], *, stock: bool, token: str = TOKEN) -> list[bytes]:
    """Serve the echo behind a token, and return what each of these openings is answered with."""
    ports: list[int] = []
    listening = anyio.Event()

    def on_listening(port: int) -> None:
        ports.append(port)
        listening.set()

    def talk(opening: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", ports[0]), timeout=10) as connection:
            connection.sendall(opening)
            heard = b""
            while chunk := connection.recv(1000):
                heard += chunk
                if heard.endswith(b"begin\n"):
                    connection.sendall(b"say hi\n")
            return heard

    async with anyio.create_task_group() as tasks:
        program = Program(load_text(ECHO), "server", {})
        tasks.start_soon(lambda: serve(program, on_listening=on_listening, stock=stock, token=token))
        with anyio.fail_after(20):
            await listening.wait()
            found = [await to_thread.run_sync(talk, one) for one in said]
        tasks.cancel_scope.cancel()
    return found


@pytest.mark.anyio
async def test_who_says_the_token_takes_part_and_nobody_else(stock: bool, caplog: pytest.LogCaptureFixture) -> None:
    wrong = [b"accord wrong\n", b"say hi\n", b"accord \n", b"\xff" * 300, b"accord open-sesam\xff\n"]

    with caplog.at_level(logging.DEBUG, "accord.network"):
        heard = await answered([b"accord open-sesame\n", *wrong, b"accord open-sesame\r\n"], stock=stock)

    taken = b"accord welcome\naccord begin\nheard hi\n"
    assert heard == [taken, *[b"accord refused: nobody here has that token\n"] * len(wrong), taken]
    told = [record for record in caplog.records if "is turned away" in record.getMessage()]
    assert len(told) == len(wrong)
    assert told[0].levelno == logging.WARNING
    assert TOKEN not in caplog.text


@pytest.mark.anyio
async def test_what_is_said_before_the_token_is_answered_is_refused(stock: bool) -> None:
    heard = await answered([b"accord open-sesame\nsay hi\n"], stock=stock)

    assert heard == [b"accord refused: more than a token came before it was answered\n"]


@pytest.mark.anyio
async def test_who_says_nothing_is_refused_in_time_and_may_keep_nobody_out(
    stock: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_gate, "OPENING_SECONDS", 0.05)

    assert await answered([b""], stock=stock) == [b"accord refused: no token came\n"]


# -- as commands -------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["plain", "tls"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Serve the echo behind a token in a thread; return its address, and what a client says besides to reach it."""
    pem: tuple[Path, Path] | None = request.getfixturevalue("pem") if request.param == "tls" else None
    ports: list[int] = []
    ready = threading.Event()
    stop: list[Callable[[], Any]] = []

    def on_listening(port: int) -> None:
        ports.append(port)
        ready.set()

    async def serving() -> None:
        async with anyio.create_task_group() as tasks:
            token = anyio.lowlevel.current_token()
            stop.append(lambda: anyio.from_thread.run_sync(tasks.cancel_scope.cancel, token=token))
            tls = server_context(*pem) if pem is not None else None
            await serve(Program(load_text(ECHO), "server", {}), on_listening=on_listening, token=TOKEN, tls=tls)

    thread = threading.Thread(target=lambda: run_loop(serving, "asyncio"))
    thread.start()
    assert ready.wait(20)
    (tmp_path / "echo.yaml").write_text(ECHO, encoding="utf-8")
    (tmp_path / "right").write_text(f"{TOKEN}\n", encoding="utf-8")
    (tmp_path / "wrong").write_text("sesame", encoding="utf-8")
    (tmp_path / "none").write_text("two words", encoding="utf-8")
    yield f"127.0.0.1:{ports[0]}", () if pem is None else ("--tls", "--tls-ca", str(pem[0]))
    stop[0]()
    thread.join(20)


def test_a_client_joins_with_the_token_and_a_wrong_one_is_one_clear_line(
    server: tuple[str, tuple[str, ...]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address, trusted = server

    def joined(token: str) -> tuple[int, str, str]:
        said = ["--no-journal", "--json", "--token", str(tmp_path / token), *trusted]
        code = cli.main(["join", str(tmp_path / "echo.yaml"), address, *said])
        captured = capsys.readouterr()
        return code, captured.out, captured.err.strip()

    code, out, err = joined("right")
    assert (code, json.loads(out)["result"]) == (0, "hi")
    code, out, err = joined("wrong")
    assert (code, out) == (1, "")
    of_server, of_client = err.split("\n")
    assert of_server.endswith("is turned away (number 1): nobody here has that token")
    assert of_client == f"accord: {address} does not take this player: nobody here has that token"
    code, out, err = joined("none")
    assert (code, out) == (2, "")
    assert re.search(r"none has no token: one line of 1 to 200 characters without blanks$", err)
