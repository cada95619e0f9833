"""Byte streams on asyncio and uvloop: a BufferedProtocol that calls the session straight from the arriving bytes.

All connections of a thread share one buffer of 64 KiB and copy out of it at once; of what is more than a turn's worth,
the rest waits with its connection, which reads no more until it is through. asyncio's plain Protocol (and so a
stock stream) reads with ``recv(256 KiB)``, which glibc may serve by mmap each time: 46 against 20 us a move. A task
for each peer in between would cost another 5 us.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import threading
from collections import deque
from collections.abc import Callable, Sequence
from socket import socket
from typing import Any, cast

import anyio
from anyio.abc import SocketAttribute
from anyio.lowlevel import RunVar

from runtime.network.accepting import Accepting
from runtime.network.transport import (
    FLUSH_SECONDS,
    LINGER_SECONDS,
    READ_BYTES,
    TURN_BYTES,
    UNSENT_BYTES_MAX,
    Connection,
    address_name,
    reason,
    send_at_once,
)

log = logging.getLogger("accord.network")


class _ReadBuffer(threading.local):
    """The buffer of a thread. A loop fills it and has it emptied before it reads from the next connection."""

    def __init__(self) -> None:
        self.view = memoryview(bytearray(READ_BYTES))


_shared = _ReadBuffer()


class _Turns:
    """Those connections of a loop that have more to hand over than a turn's worth: one is heard in each turn."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._queue: deque[LoopConnection] = deque()
        self._taken = False  # somebody has had this turn

    def join(self, connection: LoopConnection) -> None:
        """Hear a connection in a later turn; it is in the queue once."""
        self._queue.append(connection)
        if not self._taken:
            self._taken = True
            self._loop.call_soon(self._next)

    def take(self) -> bool:
        """Have this turn, if nobody has had it and nobody waits for one."""
        if self._taken:
            return False
        self._taken = True
        self._loop.call_soon(self._next)
        return True

    def _next(self) -> None:
        if not self._queue:
            self._taken = False
            return
        try:
            self._queue.popleft().heard_next()
        finally:
            self._loop.call_soon(self._next)  # in the next turn, which first looks what all the others have sent


_turns_of: RunVar[_Turns] = RunVar("connections that wait for their turn")


def _turns() -> _Turns:
    """Return the queue of the running loop."""
    turns = _turns_of.get(None)
    if turns is None:
        turns = _Turns(asyncio.get_running_loop())
        _turns_of.set(turns)
    return turns


class LoopConnection(asyncio.BufferedProtocol):
    """A `runtime.network.transport.Connection`. An accepted one is handed on at once, others wait for `start`."""

    __slots__ = (
        "_accepted",
        "_at_end",
        "_closing",
        "_gone",
        "_held",
        "_loop",
        "_lost",
        "_on_bytes",
        "_on_closed",
        "_on_end",
        "_paused",
        "_queued",
        "_rest",
        "_timer",
        "_transport",
        "_turns",
        "_view",
        "_why",
        "name",
    )

    def __init__(self, accepted: Callable[[Connection], None] | None) -> None:
        self.name = ""
        self._accepted = accepted
        self._loop = asyncio.get_running_loop()
        self._view = _shared.view
        self._on_bytes: Callable[[bytes], None] | None = None
        self._on_end: Callable[[str], None] | None = None
        self._on_closed: Callable[[], None] | None = None
        self._closing = False
        self._paused = False  # the owner wants nothing now
        self._held = False  # the transport does not read: paused, or the rest is not through
        self._at_end = False  # the other end sends no more
        self._rest = bytearray()  # what has come and is not handed over: before the start, or beyond a turn's worth
        self._turns = _turns()
        self._queued = False  # it will have a turn
        self._why = ""
        self._lost = False
        self._gone = False  # lost, and the owner was told
        self._timer: asyncio.TimerHandle | None = None

    # -- what the owner calls ----------------------------------------------------------------------------------------

    def start(
        self, on_bytes: Callable[[bytes], None], on_end: Callable[[str], None], on_closed: Callable[[], None]
    ) -> None:
        """Begin to read."""
        assert self._on_closed is None, "a connection starts once"
        self._on_bytes, self._on_end, self._on_closed = on_bytes, on_end, on_closed
        if self._rest:
            self._wait_for_turn()
        elif self._lost or self._at_end:
            self._loop.call_soon(self._go_on)
        else:
            self._go_on()

    def send(self, data: bytes) -> None:
        """Send, now or later."""
        if not (self._closing or self._transport.is_closing()):
            self._transport.write(data)

    def close_after_flush(self) -> None:
        """Close in good order."""
        if self._closing:
            return
        self._closing = True
        self._on_bytes = self._on_end = None
        self._rest.clear()
        transport = self._transport
        if transport.is_closing():
            return
        if self._at_end:
            transport.close()
            self._timer = self._loop.call_later(FLUSH_SECONDS, transport.abort)
            return
        # Our half is closed behind the last bytes; what still comes is read and thrown away until the other half is.
        try:
            transport.write_eof()
        except OSError:  # the peer has reset the connection, and the loop has not told us yet
            transport.abort()
            return
        self._read_again()
        if transport.get_write_buffer_size():
            self._timer = self._loop.call_later(FLUSH_SECONDS, transport.abort)
            transport.set_write_buffer_limits(high=0)  # so that `resume_writing` tells when all is out
        else:
            self._timer = self._loop.call_later(LINGER_SECONDS, transport.abort)

    def abort(self) -> None:
        """Close at once."""
        self._closing = True
        self._on_bytes = self._on_end = None
        self._rest.clear()
        if not self._lost:  # uvloop raises where the stream is gone
            self._transport.abort()

    def pause(self) -> None:
        """Read no more."""
        if not (self._paused or self._closing):
            self._paused = True
            self._read_no_more()

    def resume(self) -> None:
        """Read again."""
        if self._paused and not self._closing:
            self._paused = False
            if not self._rest:
                self._read_again()
            elif self._on_bytes is not None:
                self._wait_for_turn()

    def secure(self, tls: ssl.SSLContext | None, *, accepted: bool) -> None:
        """Cut the stream off: it is not made for TLS."""
        if not (self._closing or self._lost):
            self._why = "it cannot be secured: its stream is not stock"
            self._rest.clear()
            self._transport.abort()

    # -- turns -------------------------------------------------------------------------------------------------------

    def _wait_for_turn(self) -> None:
        # Once the stream is gone the owner is told all, paused or not: nobody else holds it back.
        if not self._queued and (self._lost or not self._paused):
            self._queued = True
            self._turns.join(self)

    def heard_next(self) -> None:
        """Hand over a turn's worth of the rest; `_Turns` calls this."""
        self._queued = False
        if self._on_bytes is not None and (self._lost or not self._paused):
            chunk = bytes(self._rest[:TURN_BYTES])
            del self._rest[:TURN_BYTES]
            self._on_bytes(chunk)
        self._go_on()

    def _go_on(self) -> None:
        """See to what comes after what was handed over: the rest, the end behind it, or more from the other end."""
        if self._rest and self._on_bytes is not None:
            self._wait_for_turn()
        elif self._lost:
            if not self._gone:
                self._gone = True
                self._released()
        elif self._at_end:
            self._ended("")
        elif not self._paused:
            self._read_again()

    def _read_no_more(self) -> None:
        if not (self._held or self._transport.is_closing()):
            self._held = True
            self._transport.pause_reading()

    def _read_again(self) -> None:
        if self._held and not self._transport.is_closing():
            self._held = False
            if not self._at_end:
                self._transport.resume_reading()

    # -- what the loop calls -----------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The stream is there."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's are not derived from it
        self._transport.set_write_buffer_limits(high=UNSENT_BYTES_MAX)
        send_at_once(transport.get_extra_info("socket"))
        self.name = address_name(transport.get_extra_info("peername"))
        if self._accepted is not None:
            self._accepted(self)
        else:
            self._read_no_more()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where to put what comes."""
        return self._view

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes have come."""
        if self._on_bytes is not None:
            if nbytes <= TURN_BYTES and not self._rest:
                self._on_bytes(bytes(self._view[:nbytes]))
                return
            self._rest += self._view[:nbytes]
            self._read_no_more()
            if self._queued or self._paused:
                return
            if self._turns.take():
                self.heard_next()
            else:
                self._wait_for_turn()
        elif self._on_closed is None:
            # Not started: uvloop begins to read behind `connection_made`, whatever that said of pausing.
            self._rest += self._view[:nbytes]
            if len(self._rest) > UNSENT_BYTES_MAX:
                self._why = "it sends too much before it is heard"
                self._transport.abort()

    def eof_received(self) -> bool:
        """The other end sends no more; ours stays open until the owner closes it. Closing already: that is the end."""
        self._at_end = True
        if self._closing:
            return False
        if not (self._rest and self._on_bytes is not None):
            self._ended("")
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """The stream is gone, for whatever cause, our own closing included."""
        if self._timer is not None:
            self._timer.cancel()
        self._lost = True
        if exc is not None:
            self._why = reason(exc)
        if self._on_closed is not None:
            self._go_on()

    def pause_writing(self) -> None:
        """The other end does not read. This comes from within `send`; the owner is told when the stream is gone."""
        if not self._closing:
            self._why = f"it does not read: {self._transport.get_write_buffer_size()} bytes wait for it"
            self._transport.abort()

    def resume_writing(self) -> None:
        """All is out."""
        if self._closing and self._timer is not None:
            self._timer.cancel()
            self._timer = self._loop.call_later(LINGER_SECONDS, self._transport.abort)

    def _ended(self, why: str) -> None:
        if self._on_end is not None:
            on_end, self._on_end, self._on_bytes = self._on_end, None, None
            on_end(why)

    def _released(self) -> None:
        assert self._on_closed is not None, "whoever is told has started the connection"
        self._ended(self._why)
        self._on_closed()


async def open_loop_connection(host: str, port: int) -> Connection:
    """Connect, in the loop's own way.

    Raises:
        OSError: it cannot be done.
    """
    _, connection = await asyncio.get_running_loop().create_connection(lambda: LoopConnection(None), host, port)
    return connection


class LoopListener(Accepting):
    """A `runtime.network.transport.Listener` on the loop's own accepting of sockets, one for each address.

    asyncio's servers accept without an end, and close what they have no room for; so the sockets are accepted here.
    """

    def __init__(self, bound: Sequence[Any]) -> None:
        """``bound`` are sockets that anyio has bound: it gives all addresses the same free port."""
        super().__init__()
        self.port: int = bound[0].extra(SocketAttribute.local_port)
        self._bound = bound
        self._tasks: list[asyncio.Task[None]] = []
        self._busy: set[asyncio.Task[None]] = set()  # those that hand a connection over just now

    async def serve(self, on_connection: Callable[[Connection], None]) -> None:
        """Begin to hand over connections."""
        for one in self._bound:
            raw = one.extra(SocketAttribute.raw_socket)
            self._tasks.append(asyncio.create_task(self._accept(raw, on_connection), name=f"accept on {self.port}"))

    async def close(self) -> None:
        """Give up the port."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            if task not in self._busy:  # what is handed over lives on
                task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.gather(*tasks, return_exceptions=True)
            for one in self._bound:
                await anyio.aclose_forcefully(one)

    async def _accept(self, listening: socket, on_connection: Callable[[Connection], None]) -> None:
        loop = asyncio.get_running_loop()
        while self._tasks:  # until the port is given up
            await self.room()
            try:
                raw, _ = await loop.sock_accept(listening)
            except OSError as error:
                await self.failed(error)
                continue
            try:
                await self.room()  # that of another address may have taken the last place
            except BaseException:
                raw.close()
                raise
            task = asyncio.current_task()
            assert task is not None, "it runs in a task"
            self._busy.add(task)
            try:
                await loop.connect_accepted_socket(lambda: LoopConnection(on_connection), raw)
            except OSError as error:  # it has gone already
                raw.close()
                log.debug("a connection was lost at once: %s", reason(error))
            finally:
                self._busy.discard(task)
