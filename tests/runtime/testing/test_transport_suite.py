"""Every transport of ours conforms, over loopback by every way and in memory, and each way not to conform is seen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import pytest
from anyio.abc import TaskGroup

from runtime.network.memory_transport import memory_connections
from runtime.network.transport import Connection, connect, listen
from runtime.testing import NonconformanceError
from runtime.testing.transport import CHECKS, Begin, OpenPair, WatchedEnd, check_transport, run_check

pytestmark = pytest.mark.anyio

Check = Callable[[WatchedEnd, WatchedEnd], Awaitable[None]]


async def in_memory(tasks: TaskGroup, begin: Begin) -> None:
    for connection in memory_connections(tasks):
        begin(connection)


def over_loopback(stock: bool) -> OpenPair:
    async def open_pair(tasks: TaskGroup, begin: Begin) -> None:
        came = anyio.Event()

        def on_connection(connection: Connection) -> None:
            begin(connection)
            came.set()

        listener = await listen("127.0.0.1", 0, tasks, stock=stock)
        await listener.serve(on_connection)
        begin(await connect("other", "127.0.0.1", listener.port, tasks, stock=stock))
        await came.wait()
        await listener.close()

    return open_pair


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_loopback_conforms(stock: bool, check: Check) -> None:
    await run_check(check, over_loopback(stock))


async def test_memory_conforms(anyio_backend: object) -> None:
    await check_transport(in_memory)


class Around:
    """A connection around one of ours, for others to break."""

    def __init__(self, inner: Connection) -> None:
        self.inner = inner
        self.name = inner.name

    def start(
        self, on_bytes: Callable[[bytes], None], on_end: Callable[[str], None], on_closed: Callable[[], None]
    ) -> None:
        self.on_bytes, self.on_end, self.on_closed = on_bytes, on_end, on_closed
        self.inner.start(on_bytes, on_end, on_closed)

    def send(self, data: bytes) -> None:
        self.inner.send(data)

    def close_after_flush(self) -> None:
        self.inner.close_after_flush()

    def abort(self) -> None:
        self.inner.abort()

    def pause(self) -> None:
        self.inner.pause()

    def resume(self) -> None:
        self.inner.resume()


class Nameless(Around):
    def __init__(self, inner: Connection) -> None:
        super().__init__(inner)
        self.name = ""


class Swapping(Around):
    def send(self, data: bytes) -> None:
        self.inner.send(data[::-1])


class Reentrant(Around):
    """Tells of the release while it is asked to cut off."""

    def abort(self) -> None:
        self.on_closed()
        self.inner.abort()


class Hasty(Around):
    """Closes at once whatever is still to go out."""

    def close_after_flush(self) -> None:
        self.inner.abort()


class Restless(Around):
    def pause(self) -> None:
        pass


class Telling(Around):
    """Tells of its own close as of an end."""

    def close_after_flush(self) -> None:
        self.inner.close_after_flush()
        self.on_end("it was closed")


class Chatty(Around):
    """Tells of nothing, too."""

    def start(
        self, on_bytes: Callable[[bytes], None], on_end: Callable[[str], None], on_closed: Callable[[], None]
    ) -> None:
        def tell(chunk: bytes) -> None:
            on_bytes(chunk)
            on_bytes(b"")

        super().start(tell, on_end, on_closed)


@pytest.mark.parametrize(
    ("broken", "text"),
    [
        (Nameless, "it has no name"),
        (Swapping, "what came is not what was sent"),
        (Reentrant, "on_closed is called from within a call"),
        (Hasty, "of 200000 bytes came before the end"),
        (Restless, "were handed over while it was paused"),
        (Telling, "on_end is called"),
        (Chatty, "0 bytes are handed over at a time"),
    ],
)
async def test_what_does_not_conform_is_seen(
    anyio_backend: object, broken: Callable[[Connection], Connection], text: str
) -> None:
    async def open_pair(tasks: TaskGroup, begin: Begin) -> None:
        for connection in memory_connections(tasks):
            begin(broken(connection))

    with pytest.raises(NonconformanceError, match=text):
        await check_transport(open_pair)
