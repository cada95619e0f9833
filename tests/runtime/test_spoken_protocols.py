"""Programs that others wrote speak to the servers of caches, documents and editors that ship, each a spec alone."""

from __future__ import annotations

import asyncio
import http.client
import random
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread
from lsprotocol import types
from pygls.exceptions import JsonRpcMethodNotFound
from pygls.lsp.client import LanguageClient
from pymemcache.client.base import Client  # type: ignore[import-untyped]
from pymemcache.exceptions import MemcacheUnknownCommandError  # type: ignore[import-untyped]

from machines.effects import Drop, Ended, Send
from machines.engine.session import Program
from machines.parser.loader import find, load
from runtime.sessions.server import serve
from tests.support.session_harness import Run

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def serving(name: str, **settings: str) -> AsyncIterator[tuple[int, list[Ended]]]:
    """Run a server; yield its port, and how its sessions ended so far."""
    endings: list[Ended] = []
    ports: list[int] = []
    listening = anyio.Event()

    def on_listening(port: int) -> None:
        ports.append(port)
        listening.set()

    async def run() -> None:
        program = Program(load(name, settings=settings), "server", {})
        await serve(program, on_listening=on_listening, on_ended=lambda number, ended: endings.append(ended))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        with anyio.fail_after(20):
            await listening.wait()
            yield ports[0], endings
        tasks.cancel_scope.cancel()


async def in_thread(talk: Callable[[], Any]) -> Any:
    with anyio.fail_after(20):
        return await to_thread.run_sync(talk)


# -- memcached -------------------------------------------------------------------------------------------------------

VALUES = {"é": "é".encode(), "lines": b"a\nb\r\nc", "all": bytes(range(256)), "empty": b"", "end": b"END\r\n"}


class Flagged:
    """Shows the flags of a value."""

    def serialize(self, key: str, value: str) -> tuple[str, int]:
        return value, 0

    def deserialize(self, key: str, value: bytes, flags: int) -> tuple[bytes, int]:
        return value, flags


async def test_pymemcache_has_back_what_it_set_byte_for_byte() -> None:
    def talk(port: int) -> dict[str, Any]:
        client = Client(("127.0.0.1", port), timeout=10, allow_unicode_keys=True)
        said = [client.set(key, value, noreply=False) for key, value in VALUES.items()]
        large = b"x" * 1_000_000
        client.set("large", large, noreply=True)
        found = {**client.get_many([*VALUES, "none"]), "said": said, "large": client.get("large") == large}
        client.quit()
        return found

    async with serving("memcached") as (port, endings):
        found = await in_thread(lambda: talk(port))

    assert found == {**VALUES, "said": [True] * len(VALUES), "large": True}
    assert not endings


async def test_pymemcache_adds_replaces_counts_and_deletes() -> None:
    def talk(port: int) -> list[Any]:
        client = Client(("127.0.0.1", port), timeout=10, default_noreply=False)
        said: list[Any] = [
            client.replace("k", "a"),
            client.add("k", "a"),
            client.add("k", "b"),
            client.append("k", "c"),
        ]
        said += [client.prepend("k", "<"), client.get("k"), client.prepend("none", "<")]
        value, unique = client.gets("k")
        said += [client.cas("k", "new", unique), client.cas("k", "newer", unique), client.cas("none", "x", b"1"), value]
        said += [
            client.set("n", "10"),
            client.incr("n", 5),
            client.decr("n", 20),
            client.incr("none", 1),
            client.get("n"),
        ]
        said += [client.delete("n"), client.delete("n"), client.touch("k", 10), client.touch("none", 10)]
        client.incr("k", 1, noreply=True)
        client.delete("k", noreply=True)  # neither is answered, so the answer of the next is its own
        said += [client.get("k"), client.version(), client.set("k", "a", expire=-1), client.get("k")]
        client.serde = Flagged()
        said += [client.set("k", "abc", flags=7), client.get("k"), client.flush_all(), client.get("k")]
        with pytest.raises(MemcacheUnknownCommandError):
            client.raw_command("nonsense")
        return said

    async with serving("memcached") as (port, _):
        said = await in_thread(lambda: talk(port))

    assert said == [
        *(False, True, False, True),
        *(True, b"<ac", False),
        *(True, False, None, b"<ac"),
        *(True, 15, 0, None, b"0"),
        *(True, False, True, False),
        *(None, b"1.6.0", True, None),
        *(True, (b"abc", 7), True, None),
    ]  # fmt: skip


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_key_of_memcached_ends_with_its_time() -> None:
    run = Run(find("memcached").read_text(), "server")
    peer = run.join()
    for line in (b"set k 0 2 1\r\na\r\n", b"get k\r\n"):
        run.write(peer, line)
    run.wait(2.5)
    run.write(peer, b"get k\r\n")
    sent = [effect.data for effect in run.effects if isinstance(effect, Send)]

    assert sent == [b"STORED\r\n", b"VALUE k 0 1\r\na\r\n", b"END\r\n", b"END\r\n"]


# -- HTTP ------------------------------------------------------------------------------------------------------------


async def test_http_client_puts_gets_posts_and_deletes_over_one_connection() -> None:
    def talk(port: int) -> list[Any]:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        said: list[Any] = []

        def ask(method: str, target: str, body: Any = None, **headers: str) -> http.client.HTTPResponse:
            client.request(method, target, body, headers, encode_chunked=not isinstance(body, bytes | None))
            answer = client.getresponse()
            said.append((answer.status, answer.read()))
            return answer

        ask("GET", "/a")
        ask("PUT", "/a", bytes(range(256)), **{"Content-Type": "x/y"})
        socket_of_all = client.sock
        shown = ask("GET", "/a?query")
        sized = ask("HEAD", "/a")
        ask("PUT", "/a", iter([b"a", b"\r\n0\r\n\r\n", b"c" * 5000]))
        ask("GET", "/a")
        posted = ask("POST", "/list", b"item")
        ask("GET", str(posted.getheader("location")))
        ask("DELETE", "/a")
        ask("DELETE", "/a")
        ask("BREW", "/pot")
        assert client.sock is socket_of_all
        ask("GET", "/a", Connection="close")
        kinds = [shown.getheader("Content-Type"), sized.getheader("Content-Length"), socket_of_all.recv(1)]
        client.close()
        return [*said, *kinds]

    async with serving("http") as (port, endings):
        said = await in_thread(lambda: talk(port))

    assert said == [
        (404, b"/a"), (201, b"/a"), (200, bytes(range(256))), (200, b""),
        (204, b""), (200, b"a\r\n0\r\n\r\n" + b"c" * 5000),
        (201, b"/list/100"), (200, b"item"), (204, b""), (404, b"/a"), (501, b"BREW"), (404, b"/a"),
        "x/y", "256", b"",
    ]  # fmt: skip
    assert not endings


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
async def test_curl_uploads_and_downloads_a_file_chunked_or_not(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(random.Random(1).randbytes(300_000))

    def curl(*arguments: str) -> bytes:
        command = ["curl", "-sS", "--noproxy", "*", "--max-time", "10", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout

    def talk(port: int) -> list[Any]:
        at = f"http://127.0.0.1:{port}"
        with (tmp_path / "file").open("rb") as file:
            command = ["curl", "-sS", "--noproxy", "*", "--max-time", "10", "-T", "-", f"{at}/chunked"]
            chunked = subprocess.run(command, stdin=file, capture_output=True, check=True).stdout
        return [
            curl("-T", "file", f"{at}/sized"),
            chunked,
            curl(f"{at}/sized") == curl(f"{at}/chunked") == (tmp_path / "file").read_bytes(),
            curl("-o", "a", "-o", "b", "-w", "%{http_code} %{num_connects} ", f"{at}/sized", f"{at}/none"),
            curl("-0", "-w", "%{http_code}", "-o", "c", f"{at}/sized"),
        ]

    async with serving("http") as (port, _):
        said = await in_thread(lambda: talk(port))

    assert said == [b"/sized", b"/chunked", True, b"200 1 404 0 ", b"200"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize(
    "request_",
    [
        b"nonsense\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\n\r\n\r\n",
        b"GET / HTTP/1.1\r\n host: a\r\n\r\n",
    ],
)
async def test_what_could_be_read_in_two_ways_is_no_request_and_the_last(request_: bytes) -> None:
    run = Run(find("http").read_text(), "server")
    peer = run.join()

    run.write(peer, request_ + b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")

    (sent,) = [effect.data for effect in run.effects if isinstance(effect, Send)]
    assert sent.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert any(isinstance(effect, Drop) for effect in run.effects)


# -- a language server -----------------------------------------------------------------------------------------------

NOTES = "file:///notes"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # pygls runs on it alone
async def test_pygls_opens_changes_and_hovers_and_is_sent_diagnostics() -> None:
    client = LanguageClient("tests", "1")
    told: asyncio.Queue[list[tuple[int, int, str]]] = asyncio.Queue()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
    def tell(params: types.PublishDiagnosticsParams) -> None:
        told.put_nowait([(one.range.start.line, one.range.end.character, one.message) for one in params.diagnostics])

    async def talk(port: int) -> list[Any]:
        document = types.TextDocumentIdentifier(NOTES)
        await client.start_tcp("127.0.0.1", port)
        begun = await client.initialize_async(types.InitializeParams(types.ClientCapabilities()))
        client.initialized(types.InitializedParams())
        opened = types.TextDocumentItem(NOTES, "text", 1, "short\n" + "é" * 90 + "\n")
        client.text_document_did_open(types.DidOpenTextDocumentParams(opened))
        said: list[Any] = [begun.capabilities.hover_provider, await told.get()]
        for line in (1, 9):
            params = types.HoverParams(document, types.Position(line, 0))
            hover = await client.text_document_hover_async(params)
            said.append(hover.contents if hover else None)
        change = types.TextDocumentContentChangeWholeDocument("ok")
        version = types.VersionedTextDocumentIdentifier(version=2, uri=NOTES)
        client.text_document_did_change(types.DidChangeTextDocumentParams(version, [change]))
        said.append(await told.get())
        with pytest.raises(JsonRpcMethodNotFound):
            await client.text_document_definition_async(types.DefinitionParams(document, types.Position(0, 0)))
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()  # type: ignore[no-untyped-call]
        return said

    async with serving("lsp") as (port, endings):
        with anyio.fail_after(20):
            said = await talk(port)
            while not endings:
                await anyio.wait_all_tasks_blocked()

    assert said == [True, [(1, 90, "too long")], "90 of 80 characters", None, []]
    assert endings[0].failed is None
