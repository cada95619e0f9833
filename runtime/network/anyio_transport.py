"""Byte streams over any anyio stream: a reader task and a writer task for each connection.

This is what trio runs on, and the in-memory pairs of the tests; on asyncio it is there to be compared with.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from socket import socket
from typing import Any

import anyio
from anyio.abc import ByteStream, SocketAttribute, SocketListener, SocketStream, TaskGroup
from anyio.lowlevel import RunVar
from anyio.streams.tls import TLSStream

from runtime.network.accepting import Accepting
from runtime.network.tls import HANDSHAKE_SECONDS, HANDSHAKES_MAX
from runtime.network.transport import (
    FLUSH_SECONDS,
    LINGER_SECONDS,
    READ_BYTES,
    TURN_BYTES,
    UNSENT_BYTES_MAX,
    Connection,
    address_name,
    on_asyncio,
    reason,
    send_at_once,
)

log = logging.getLogger("accord.network")

_LOST = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)

# Whoever has more than a turn's worth to hand over holds this for one turn of the loop each time; it is fair.
_turn_of: RunVar[anyio.Lock] = RunVar("the turn of one connection")


def _turn() -> anyio.Lock:
    """Return what the running loop's connections take turns with."""
    turn = _turn_of.get(None)
    if turn is None:
        turn = anyio.Lock()
        _turn_of.set(turn)
    return turn


class TaskConnection:
    """A `runtime.network.transport.Connection` over an anyio stream; `run` must run in a task for as long as it lives.

    ``raw`` is the stream's own socket, where it may be written to past the stream: see `send`. ``host`` is what the
    other end is called, where we connected to it.
    """

    def __init__(self, stream: ByteStream, name: str, raw: socket | None = None, host: str = "") -> None:
        self.name = name
        self._host = host
        self._handshake: Callable[[], Awaitable[TLSStream]] | None = None  # what makes it secure, if that is wanted
        self._plain_sent: anyio.Event | None = None  # that all is out which goes before it
        self._after = bytearray()  # what is to be sent behind it
        self._stream = stream
        self._raw = raw
        self._on_bytes: Callable[[bytes], None] | None = None
        self._on_end: Callable[[str], None] | None = None
        self._on_closed: Callable[[], None] | None = None
        self._started = anyio.Event()
        self._resumed: anyio.Event | None = None  # set while paused
        self._unsent = bytearray()
        self._sending = 0
        self._more: anyio.Event | None = None  # what the writer waits for
        self._closing = False
        self._at_end = False  # the other end sends no more
        self._broken = False  # nothing can be sent any more
        self._why = ""
        # Shielded: the last bytes go out although everything around is being cancelled. The owner always closes.
        self._scope = anyio.CancelScope(shield=True)
        self._reading = anyio.CancelScope()

    # -- what the owner calls ----------------------------------------------------------------------------------------

    def start(
        self, on_bytes: Callable[[bytes], None], on_end: Callable[[str], None], on_closed: Callable[[], None]
    ) -> None:
        """Begin to read."""
        assert self._on_closed is None, "a connection starts once"
        self._on_bytes, self._on_end, self._on_closed = on_bytes, on_end, on_closed
        self._started.set()

    def send(self, data: bytes) -> None:
        """Send, at once if the socket takes it, else as soon as the writer task runs."""
        if self._closing or self._broken:
            return
        if self._handshake is not None:
            self._after += data
            if len(self._after) > UNSENT_BYTES_MAX:
                self._lose(f"it does not read: {len(self._after)} bytes wait for it")
            return
        if self._raw is not None and not self._unsent and not self._sending:
            # Waking the writer for each message would cost 25 us, half of all that a move costs on trio.
            with suppress(OSError):  # it is full, or lost: the writer will find out which
                data = data[self._raw.send(data) :]
            if not data:
                return
        self._unsent += data
        unsent = len(self._unsent) + self._sending
        if unsent > UNSENT_BYTES_MAX:
            self._lose(f"it does not read: {unsent} bytes wait for it")
        elif self._more is not None:
            self._more.set()

    def close_after_flush(self) -> None:
        """Close in good order."""
        if not self._closing:
            self._close()
            self._scope.deadline = min(self._scope.deadline, anyio.current_time() + FLUSH_SECONDS)

    def abort(self) -> None:
        """Close at once."""
        self._close()
        self._scope.cancel()

    def pause(self) -> None:
        """Read no more."""
        if self._resumed is None and not self._closing:
            self._resumed = anyio.Event()

    def resume(self) -> None:
        """Read again."""
        if self._resumed is not None:
            self._resumed.set()
            self._resumed = None

    def secure(self, tls: ssl.SSLContext | None, *, accepted: bool) -> None:
        """Speak TLS from here on."""
        if self._closing or self._broken:
            return
        if tls is None or self._handshake is not None or isinstance(self._stream, TLSStream):
            why = "nobody gave a certificate" if tls is None else "it speaks TLS already"
            self._lose(f"it cannot be secured: {why}")
            return
        self._handshake = partial(_handshake, self._stream, tls, "" if accepted else self._host)
        self._plain_sent = anyio.Event()
        if not self._unsent and not self._sending:
            self._plain_sent.set()
        self._reading.cancel()

    def _lose(self, why: str) -> None:
        self._broken = True
        self._why = why
        self._scope.cancel()

    def _close(self) -> None:
        self._closing = True
        self._on_bytes = self._on_end = None
        self.resume()
        self._started.set()
        if self._more is not None:
            self._more.set()

    # -- the tasks ---------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Read and write until both are through or the stream is lost, then release it."""
        with self._scope:
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._write, name=f"write to {self.name}")
                    await self._read_on()
            finally:
                await anyio.aclose_forcefully(self._stream)
        self._ended(self._why)
        if self._on_closed is not None:
            self._on_closed()

    async def _read_on(self) -> None:
        """Read to the end; where the stream is to be secure, read no more of it as it is but what makes it so."""
        while True:
            with self._reading:
                await self._read()
            if self._handshake is None or self._broken or self._at_end:
                break
            assert self._plain_sent is not None, "whoever wants a handshake says when all before it is out"
            await self._plain_sent.wait()
            if not self._broken and not await self._become_secure(self._handshake):
                break
            self._reading = anyio.CancelScope()
        self._handshake = None
        if self._more is not None:
            self._more.set()

    async def _become_secure(self, handshake: Callable[[], Awaitable[TLSStream]]) -> bool:
        """Agree on keys with the other end, and go on over the secure stream; say whether that was done."""
        try:
            with anyio.fail_after(HANDSHAKE_SECONDS):
                self._stream = await handshake()
        except (*_LOST, anyio.EndOfStream, TimeoutError) as error:
            self._broken = True
            self._why = (
                f"no handshake within {HANDSHAKE_SECONDS:g} s" if isinstance(error, TimeoutError) else _why(error)
            )
            return False
        self._raw = self._handshake = None
        self._unsent, self._after = self._after, bytearray()
        if self._more is not None:
            self._more.set()
        return True

    async def _read(self) -> None:
        await self._started.wait()
        while True:
            while self._resumed is not None:
                await self._resumed.wait()
            try:
                chunk = await self._receive()
            except anyio.EndOfStream:
                break
            except _LOST as error:
                self._broken = True
                self._why = self._why or _why(error)
                break
            while self._resumed is not None:  # paused while this chunk was waited for
                await self._resumed.wait()
            if self._handshake is not None:
                return  # it was not said in TLS
            if len(chunk) > TURN_BYTES:
                await self._hand_over_in_turns(chunk)
            elif self._on_bytes is not None:
                self._on_bytes(chunk)
        self._at_end = True
        if not self._broken:
            self._ended("")
        elif self._more is not None:
            self._more.set()

    async def _hand_over_in_turns(self, chunk: bytes) -> None:
        turn = _turn()
        begin = 0
        while begin < len(chunk) and self._on_bytes is not None and self._handshake is None:
            async with turn:  # to get it takes a turn of the loop, even if nobody else wants it
                # Closed or paused while it was waited for?
                if self._on_bytes is not None and self._resumed is None and self._handshake is None:
                    self._on_bytes(chunk[begin : begin + TURN_BYTES])
                    begin += TURN_BYTES
            while self._resumed is not None:
                await self._resumed.wait()

    async def _receive(self) -> bytes:
        raw = self._raw
        if raw is None:
            return await self._stream.receive(READ_BYTES)
        # The stream would first try in vain, as nearly always nothing is there yet.
        while True:
            await anyio.wait_readable(raw)
            try:
                chunk = raw.recv(READ_BYTES)
            except BlockingIOError:
                continue
            if not chunk:
                raise anyio.EndOfStream
            return chunk

    async def _write(self) -> None:
        while not self._broken:
            if self._unsent:
                # Handed over whole: whatever comes meanwhile is the next piece.
                data, self._unsent = self._unsent, bytearray()
                self._sending = len(data)
                try:
                    await self._stream.send(bytes(data))
                except _LOST as error:
                    # The reader goes on: what the other end sent before it went is still to be read.
                    self._broken = True
                    self._why = self._why or _why(error)
                self._sending = 0
                if self._plain_sent is not None and (self._broken or not self._unsent):
                    self._plain_sent.set()
            elif self._closing and self._handshake is None:
                await self._end_writing()
                return
            else:
                self._more = anyio.Event()
                await self._more.wait()
                self._more = None

    async def _end_writing(self) -> None:
        if self._at_end:
            return
        self._scope.deadline = anyio.current_time() + LINGER_SECONDS
        if isinstance(self._stream, TLSStream):
            await self._end_tls(self._stream)
            return
        try:
            await self._stream.send_eof()
        except _LOST:
            self._scope.cancel()

    async def _end_tls(self, stream: TLSStream) -> None:
        """Say the end under TLS, then close our half; what still comes is read and thrown away."""
        self._reading.cancel()
        with suppress(*_LOST, anyio.EndOfStream, anyio.BusyResourceError):
            await stream.unwrap()
        # uvloop raises RuntimeError on a stream that it has closed behind our back.
        with suppress(*_LOST, anyio.EndOfStream, anyio.BusyResourceError, RuntimeError):
            await stream.transport_stream.send_eof()
            while True:
                await stream.transport_stream.receive()

    def _ended(self, why: str) -> None:
        if self._on_end is not None:
            on_end, self._on_end, self._on_bytes = self._on_end, None, None
            on_end(why)


def _why(error: BaseException) -> str:
    return reason(error) if error.__cause__ is not None or isinstance(error, OSError) else "the connection broke"


async def _handshake(stream: ByteStream, tls: ssl.SSLContext, host: str) -> TLSStream:
    """Return a secure stream over one that is not; ``host`` is whom we connected to, empty if it connected to us."""
    how: dict[str, Any] = {"server_side": not host, "hostname": host or None, "standard_compatible": False}
    try:
        return await TLSStream.wrap(stream, ssl_context=tls, **how)
    except ssl.SSLError as error:  # the context is one for the other side
        raise anyio.BrokenResourceError from error


def _over(stream: SocketStream | TLSStream, host: str = "") -> TaskConnection:
    raw = stream.extra(SocketAttribute.raw_socket, None)
    send_at_once(raw)
    # asyncio's transports may hold bytes back, which bytes written past them would overtake; trio has nothing between.
    own = None if on_asyncio() or isinstance(stream, TLSStream) else raw
    return TaskConnection(stream, address_name(stream.extra(SocketAttribute.remote_address, None)), own, host)


async def open_task_connection(host: str, port: int, tasks: TaskGroup, tls: ssl.SSLContext | None = None) -> Connection:
    """Connect, in anyio's way; with ``tls`` the stream is secure.

    Raises:
        OSError: it cannot be done.
        BrokenResourceError, EndOfStream: the other end does not speak TLS.
    """
    stream: SocketStream | TLSStream
    if tls is None:
        stream = await anyio.connect_tcp(host, port)
    else:
        stream = await anyio.connect_tcp(host, port, ssl_context=tls, tls_standard_compatible=False)
    connection = _over(stream, host)
    tasks.start_soon(connection.run, name=f"connection to {connection.name}")
    return connection


class TaskListener(Accepting):
    """A `runtime.network.transport.Listener` over anyio's listeners, one for each address."""

    def __init__(self, bound: Sequence[Any], tasks: TaskGroup, tls: ssl.SSLContext | None = None) -> None:
        super().__init__()
        self.port: int = bound[0].extra(SocketAttribute.local_port)
        self._bound: Sequence[SocketListener] = bound
        self._tasks = tasks
        self._tls = tls
        self._handshakes = 0  # under way
        self._scopes: list[anyio.CancelScope] = []

    async def serve(self, on_connection: Callable[[Connection], None]) -> None:
        """Begin to hand over connections."""
        for listener in self._bound:
            scope = anyio.CancelScope()
            self._scopes.append(scope)
            self._tasks.start_soon(self._accept, listener, on_connection, scope, name=f"accept on {self.port}")

    async def close(self) -> None:
        """Give up the port."""
        for scope in self._scopes:
            scope.cancel()
        with anyio.CancelScope(shield=True):
            for listener in self._bound:
                await anyio.aclose_forcefully(listener)

    async def _accept(
        self, listener: SocketListener, on_connection: Callable[[Connection], None], scope: anyio.CancelScope
    ) -> None:
        with scope:
            while True:
                await self.room()
                try:
                    stream = await listener.accept()
                except anyio.ClosedResourceError:
                    return
                except (OSError, anyio.BrokenResourceError) as error:
                    await self.failed(error)
                    continue
                if self._tls is not None:
                    self._tasks.start_soon(self._secure, stream, self._tls, on_connection, scope)
                    continue
                try:
                    await self.room()  # that of another address may have taken the last place
                except anyio.get_cancelled_exc_class():
                    await anyio.aclose_forcefully(stream)
                    raise
                connection = _over(stream)
                self._tasks.start_soon(connection.run, name=f"connection from {connection.name}")
                on_connection(connection)

    async def _secure(
        self,
        stream: SocketStream,
        tls: ssl.SSLContext,
        on_connection: Callable[[Connection], None],
        scope: anyio.CancelScope,
    ) -> None:
        """Agree on keys with who has connected, and hand the stream over; who takes too long is turned away."""
        name = address_name(stream.extra(SocketAttribute.remote_address, None))
        if self._handshakes >= HANDSHAKES_MAX:
            log.warning("%s is turned away: %d handshakes are under way, which is the limit", name, HANDSHAKES_MAX)
            await anyio.aclose_forcefully(stream)
            return
        self._handshakes += 1
        secure: TLSStream | None = None
        try:
            with anyio.fail_after(HANDSHAKE_SECONDS):
                secure = await TLSStream.wrap(stream, server_side=True, ssl_context=tls, standard_compatible=False)
            await self.room()
        except (*_LOST, anyio.EndOfStream, TimeoutError) as error:
            why = f"no handshake within {HANDSHAKE_SECONDS:g} s" if isinstance(error, TimeoutError) else _why(error)
            log.warning("%s is turned away: %s", name, why)
            await anyio.aclose_forcefully(stream)
            return
        except BaseException:
            await anyio.aclose_forcefully(stream)
            raise
        finally:
            self._handshakes -= 1
        if scope.cancel_called:  # the port was given up meanwhile
            await anyio.aclose_forcefully(secure)
            return
        connection = _over(secure)
        self._tasks.start_soon(connection.run, name=f"connection from {connection.name}")
        on_connection(connection)
