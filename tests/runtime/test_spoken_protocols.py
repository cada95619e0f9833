"""Programs that others wrote speak to the servers of ``docs/protocols``, each a spec alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread
from pymemcache.client.base import Client  # type: ignore[import-untyped]
from pymemcache.exceptions import MemcacheUnknownCommandError  # type: ignore[import-untyped]

from machines.checks.checker import check
from machines.effects import Ended, Send
from machines.engine.session import Program
from machines.loader import load
from machines.verification.verdict import PROVED
from machines.verification.verify import verify
from runtime.sessions.server import serve
from tests.support.session_harness import Run

pytestmark = pytest.mark.anyio
FOLDER = Path(__file__).resolve().parents[2] / "docs" / "protocols"


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
        program = Program(load(str(FOLDER / f"{name}.yaml"), settings=settings), "server", {})
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
    run = Run((FOLDER / "memcached.yaml").read_text(), "server")
    peer = run.join()
    for line in (b"set k 0 2 1\r\na\r\n", b"get k\r\n"):
        run.write(peer, line)
    run.wait(2.5)
    run.write(peer, b"get k\r\n")
    sent = [effect.data for effect in run.effects if isinstance(effect, Send)]

    assert sent == [b"STORED\r\n", b"VALUE k 0 1\r\na\r\n", b"END\r\n", b"END\r\n"]


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.yaml")))
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_each_has_no_problem_and_is_proved_whatever_its_clients_send(name: str) -> None:
    spec = load(str(FOLDER / f"{name}.yaml"))

    assert [str(problem) for problem in check(spec, {})] == []
    verdict = verify(spec)
    assert verdict.state == PROVED, verdict.lines()
