"""Whether a transport conforms: bytes come in order, ends are told once, and nobody is called back in the middle."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Final

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from runtime.network.transport import TURN_BYTES, UNSENT_BYTES_MAX, Connection
from runtime.testing import expect

SECONDS: Final = 20.0  # that one check may take
ENDLESS_MIB: Final = (UNSENT_BYTES_MAX >> 20) + 120  # more than any way of ours keeps for who does not read
TURNS: Final = 100  # of the loop, in which something would have happened that is not to happen

Begin = Callable[[Connection], None]
OpenPair = Callable[[TaskGroup, Begin], Awaitable[None]]
"""Makes a new connection and calls ``begin``, which starts it, with each of its ends: one that a listener hands over in
the function that takes it. Its tasks, if it has any, live in the task group."""


async def check_transport(open_pair: OpenPair) -> None:
    """Hold a transport to `runtime.network.transport.Connection`, on the event loop that runs: all of CHECKS.

    Raises:
        NonconformanceError: it does not conform.
    """
    for check in CHECKS:
        await run_check(check, open_pair)


async def run_check(check: Callable[[WatchedEnd, WatchedEnd], Awaitable[None]], open_pair: OpenPair) -> None:
    """Run one of CHECKS with a new connection.

    Raises:
        NonconformanceError: the transport does not conform, or what is waited for did not come within SECONDS.
    """
    fault: AssertionError | None = None
    async with anyio.create_task_group() as tasks:
        ends: list[WatchedEnd] = []
        try:
            with anyio.move_on_after(SECONDS) as limit:
                await open_pair(tasks, lambda connection: ends.append(WatchedEnd(connection)))
                expect(len(ends) == 2, f"{len(ends)} ends of a connection were begun, not 2")
                await check(*ends)
            expect(not limit.cancelled_caught, f"{check.__name__}: what it waits for did not come in {SECONDS:g} s")
            for end in ends:
                expect(not end.faults, f"{check.__name__}: {'; '.join(end.faults)}")
        except AssertionError as error:
            fault = error  # Raised again outside the task group, which would wrap it in a group of one.
        for end in ends:
            end.connection.abort()
        for end in ends:
            with anyio.move_on_after(SECONDS):
                await end.until(lambda end=end: end.closed > 0)  # type: ignore[misc]
        tasks.cancel_scope.cancel()
    if fault is not None:
        raise fault


class WatchedEnd:
    """One end of a connection, and what it was told. ``faults`` are calls that may not be, whatever is checked."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.data = bytearray()
        self.ends: list[str] = []
        self.closed = 0
        self.faults: list[str] = []
        self._calls = 0  # of the connection's methods that have not returned
        self._silent = False
        self._changed = anyio.Event()
        with self._called():
            connection.start(self._on_bytes, self._on_end, self._on_closed)

    def send(self, data: bytes) -> None:
        """Send."""
        with self._called():
            self.connection.send(data)

    def close(self) -> None:
        """Close in good order."""
        self._silent = True
        with self._called():
            self.connection.close_after_flush()

    def abort(self) -> None:
        """Close at once."""
        self._silent = True
        with self._called():
            self.connection.abort()

    def pause(self) -> None:
        """Read no more."""
        with self._called():
            self.connection.pause()

    def resume(self) -> None:
        """Read again."""
        with self._called():
            self.connection.resume()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds of what was told."""
        while not holds():
            await self._changed.wait()
            self._changed = anyio.Event()

    @contextmanager
    def _called(self) -> Iterator[None]:
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1

    def _on_bytes(self, chunk: bytes) -> None:
        if self._silent or self.ends or self.closed:
            self.faults.append("bytes are handed over after the end")
        if not 0 < len(chunk) <= TURN_BYTES:
            self.faults.append(f"{len(chunk)} bytes are handed over at a time, not 1 to {TURN_BYTES}")
        self.data += chunk
        self._told("on_bytes")

    def _on_end(self, why: str) -> None:
        if self._silent or self.ends or self.closed:
            self.faults.append("on_end is called after the end")
        self.ends.append(why)
        self._told("on_end")

    def _on_closed(self) -> None:
        if self.closed:
            self.faults.append("on_closed is called twice")
        self.closed += 1
        self._told("on_closed")

    def _told(self, what: str) -> None:
        if self._calls:
            self.faults.append(f"{what} is called from within a call of the connection")
        self._changed.set()


async def _turns() -> None:
    for _ in range(TURNS):
        await anyio.lowlevel.checkpoint()


# -- what is checked ---------------------------------------------------------------------------------------------------


async def bytes_come_in_order_both_ways(one: WatchedEnd, other: WatchedEnd) -> None:
    """All that is sent comes, in order, however large the pieces are."""
    expect(all(isinstance(end.connection.name, str) and end.connection.name for end in (one, other)), "it has no name")
    pieces = [bytes(at % 251 for at in range(size)) for size in (1, 2, 1000, TURN_BYTES, TURN_BYTES + 1, 70_000, 3)]
    sent = b"".join(pieces)
    for piece in pieces:
        one.send(piece)
        other.send(piece[::-1])
    back = b"".join(piece[::-1] for piece in pieces)
    await other.until(lambda: len(other.data) >= len(sent))
    await one.until(lambda: len(one.data) >= len(back))
    expect((bytes(other.data), bytes(one.data)) == (sent, back), "what came is not what was sent")


async def a_close_in_good_order_loses_nothing(one: WatchedEnd, other: WatchedEnd) -> None:
    """All that was sent comes before the end, which gives no reason; both ends are released."""
    one.send(b"x" * 200_000)
    one.close()
    await other.until(lambda: bool(other.ends))
    expect(len(other.data) == 200_000, f"{len(other.data)} of 200000 bytes came before the end")
    expect(other.ends == [""], f"a close in good order is told of as {other.ends}")
    other.close()
    for end in (one, other):
        await end.until(lambda end=end: end.closed > 0)  # type: ignore[misc]
    await _turns()


async def nothing_is_told_after_a_close(one: WatchedEnd, other: WatchedEnd) -> None:
    """Who has closed, in good order or at once, hears of nothing but the release; calls on it do nothing."""
    one.close()
    other.send(b"late")
    await other.until(lambda: bool(other.ends))
    one.send(b"nobody gets this")
    one.pause()
    one.resume()
    one.close()
    one.abort()
    other.abort()
    for end in (one, other):
        await end.until(lambda end=end: end.closed > 0)  # type: ignore[misc]
    expect(not other.data, f"{bytes(other.data)!r} was sent after the close, and came")
    await _turns()


async def an_abort_ends_both(one: WatchedEnd, other: WatchedEnd) -> None:
    """Who is cut off is told once; who cut it off, only that it is released."""
    one.send(b"x")
    await other.until(lambda: bool(other.data))
    one.abort()
    await other.until(lambda: bool(other.ends))
    other.abort()
    for end in (one, other):
        await end.until(lambda end=end: end.closed > 0)  # type: ignore[misc]
    await _turns()


async def who_pauses_gets_nothing_until_it_resumes(one: WatchedEnd, other: WatchedEnd) -> None:
    """While it is paused nothing is handed over, and nothing is lost."""
    other.pause()
    one.send(b"x" * 10_000)
    await _turns()
    expect(not other.data, f"{len(other.data)} bytes were handed over while it was paused")
    other.resume()
    await other.until(lambda: len(other.data) == 10_000)


async def who_does_not_read_is_cut_off(one: WatchedEnd, other: WatchedEnd) -> None:
    """More than UNSENT_BYTES_MAX that wait for a peer are a loss, with a reason, whatever else is kept on the way."""
    other.pause()
    for _ in range(ENDLESS_MIB):
        if one.ends:
            break
        one.send(b"x" * (1 << 20))
        await anyio.lowlevel.checkpoint()
    await one.until(lambda: bool(one.ends))
    expect(one.ends != [""], "who does not read is cut off without a reason")
    await one.until(lambda: one.closed > 0)


CHECKS: Final = (
    bytes_come_in_order_both_ways,
    a_close_in_good_order_loses_nothing,
    nothing_is_told_after_a_close,
    an_abort_ends_both,
    who_pauses_gets_nothing_until_it_resumes,
    who_does_not_read_is_cut_off,
)
