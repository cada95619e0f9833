"""Protocols from public documents, written in the language as it is: real clients and the documents' own examples.

POP3 is RFC 1939, fetched by Python's ``poplib``; JSON-RPC 2.0 is the specification at jsonrpc.org, with the examples of
its section 7; Gopher is RFC 1436, read to the end of the connection.
"""

from __future__ import annotations

import json
import poplib
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from machines.checks import check
from machines.engine.session import Program
from machines.parser.loader import load
from runtime.sessions.server import serve

pytestmark = pytest.mark.anyio
FOLDER = Path(__file__).resolve().parents[1] / "specs" / "public"


async def spoken(name: str, talk: Callable[[int], Any]) -> tuple[Any, list[Any]]:
    """Serve a spec while a client of somebody else talks to it; return what that found, and how sessions ended."""
    endings: list[Any] = []
    found: list[Any] = []
    ended = anyio.Event()

    async with anyio.create_task_group() as tasks:

        def on_listening(port: int) -> None:
            tasks.start_soon(client, port)

        async def client(port: int) -> None:
            found.append(await to_thread.run_sync(talk, port))
            with anyio.move_on_after(5):
                await ended.wait()
            tasks.cancel_scope.cancel()

        def on_ended(number: int, how: Any) -> None:
            endings.append(how)
            ended.set()

        with anyio.fail_after(20):
            await serve(
                Program(load(str(FOLDER / f"{name}.yaml")), "server", {}), on_listening=on_listening, on_ended=on_ended
            )
    return found[0], endings


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_it_has_no_problems(path: Path) -> None:
    assert [str(problem) for problem in check(load(str(path)), {})] == []


async def test_poplib_fetches_and_deletes_mail() -> None:
    def fetch(port: int) -> dict[str, Any]:
        box = poplib.POP3("127.0.0.1", port, timeout=10)
        refused = ""
        box.user("mrose")
        try:
            box.pass_("wrong")
        except poplib.error_proto as error:
            refused = str(error)
        box.user("mrose")
        box.pass_("tanstaaf")
        seen: dict[str, Any] = {"stat": box.stat(), "list": box.list()[1], "second": box.retr(2)[1], "refused": refused}
        box.dele(1)
        seen |= {"one less": box.stat()}
        try:
            box.retr(1)
        except poplib.error_proto as error:
            seen["gone"] = str(error)
        box.rset()
        box.dele(2)
        seen |= {"the other": box.list()[1], "bye": box.quit()}
        return seen

    seen, endings = await spoken("pop3", fetch)

    assert seen["second"] == [b"Subject: two", b"", b".dots", b"..and dots"]
    assert seen["list"] == [b"1 20", b"2 30"]
    assert (seen["stat"], seen["one less"]) == ((2, 50), (1, 30))
    assert seen["the other"] == [b"1 20"]
    assert "-ERR invalid password" in seen["refused"]
    assert "-ERR no such message" in seen["gone"]
    assert [ended.value for ended in endings] == [(2,)]


MENU = (
    "0About internet Gopher\tStuff:About us\trawBits.micro.umn.edu\t70\r\n"
    "1Courses, Schedules, Calendars\tCourses\trawBits.micro.umn.edu\t70\r\n.\r\n"
)
EXAMPLES = [
    ('{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}', {"result": 19, "id": 1}),
    ('{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}', {"result": -19, "id": 2}),
    (
        '{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}',
        {"result": 19, "id": 3},
    ),
    ('{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}', None),
    ('{"jsonrpc": "2.0", "method": "foobar"}', None),
    (
        '{"jsonrpc": "2.0", "method": "foobar", "id": "1"}',
        {"error": {"code": -32601, "message": "Method not found"}, "id": "1"},
    ),
    (
        '{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]',
        {"error": {"code": -32700, "message": "Parse error"}, "id": None},
    ),
    (
        '{"jsonrpc": "2.0", "method": 1, "params": "bar"}',
        {"error": {"code": -32600, "message": "Invalid Request"}, "id": None},
    ),
    ("[]", {"error": {"code": -32600, "message": "Invalid Request"}, "id": None}),
    ('{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"}', {"result": 7, "id": "1"}),
    ('{"jsonrpc": "2.0", "method": "get_data", "id": "9"}', {"result": ["hello", 5], "id": "9"}),
]


async def test_json_rpc_answers_the_examples_of_its_specification() -> None:
    def call(port: int) -> list[Any]:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall("".join(f"{request}\n" for request, _ in EXAMPLES).encode())
            connection.shutdown(socket.SHUT_WR)
            return [json.loads(line) for line in connection.makefile()]

    answers, _ = await spoken("jsonrpc", call)

    assert answers == [{"jsonrpc": "2.0", **answer} for _, answer in EXAMPLES if answer is not None]


@pytest.mark.parametrize(
    ("selector", "answer"),
    [
        (
            "",
            MENU,
        ),
        ("Stuff:About us", "Go for it.\r\n.\r\n"),
        ("nothing", "there is nothing of that name\r\n.\r\n"),
    ],
)
async def test_gopher_answers_a_selector_and_closes(selector: str, answer: str) -> None:
    def fetch(port: int) -> str:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(f"{selector}\r\n".encode())
            return b"".join(iter(lambda: connection.recv(4096), b"")).decode()

    text, _ = await spoken("gopher", fetch)

    assert text == answer
