"""Byte streams: the one small interface between sessions and the network, and how to get a stream.

    connect(...)  ->  Connection                     listen(...)  ->  Listener  ->  Connection, Connection, ...

                          own (asyncio, uvloop)                 stock (trio; asyncio if asked for)
    `Connection`          `runtime.network.asyncio_transport`                `runtime.network.anyio_transport`
    costs a message       5 us                                  25 us and more

Nothing here waits: bytes to send are buffered, bytes that come are handed to a function, straight from where they are
read. No function of ours is ever called from within a call of a connection's methods, so whoever handles an event
never meets the next one in the middle of it.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any, Final, Protocol

import anyio
from anyio.abc import TaskGroup

from runtime.network.tls import tls_reason

READ_BYTES: Final = 65536
# So much of what a peer has sent is handed over at a time; if there is more, the loop first serves all the others. A
# thousand small messages in one read would else keep everybody waiting until the last of them is answered.
TURN_BYTES: Final = 4096
# A peer that does not read may make us keep so much for it; then it is cut off. Eight of the largest messages that
# the default limit allows.
UNSENT_BYTES_MAX: Final = 8 << 20
FLUSH_SECONDS: Final = 5.0  # how long a closed connection may take to get its last bytes out
# How long we then wait for the other end to close too. Closing at once, with bytes of its unread, would make the
# kernel reset the connection and lose what it was just sent.
LINGER_SECONDS: Final = 1.0
CONNECT_SECONDS: Final = 10.0
BACKLOG: Final = 1024


class NetworkError(Exception):
    """The network does not let us start; the text is one sentence for people."""


class CannotListenError(NetworkError):
    """The address can't be listened on: unknown, not this host's, or not allowed."""


class PortInUseError(CannotListenError):
    """Another program listens there already."""


class CannotConnectError(NetworkError):
    """There is no connection to be had to a role's address."""


class NobodyListensError(CannotConnectError):
    """The host is there and nobody listens at the port: perhaps not yet."""


class Connection(Protocol):
    """One connected byte stream.

    After `start`, ``on_bytes`` gets what comes, in order, at most TURN_BYTES at a time: of all connections of a loop
    that have more than that, one is heard in each turn of the loop. ``on_end`` is called at most once, with the reason
    as text (empty if the other end simply closed), when nothing more will come; ``on_closed`` exactly once, last of
    all, when the stream is released. After `close_after_flush` or `abort` neither of the first two is called.
    """

    name: str
    """The other end's address, for people."""

    def start(
        self, on_bytes: Callable[[bytes], None], on_end: Callable[[str], None], on_closed: Callable[[], None]
    ) -> None:
        """Begin to read. Call it once."""

    def send(self, data: bytes) -> None:
        """Send, now or as soon as the other end reads; nothing happens on a stream that is closed or lost.

        If more than UNSENT_BYTES_MAX then wait, the connection is cut off and counts as lost.
        """

    def close_after_flush(self) -> None:
        """Close in good order once all that was sent is out, or after FLUSH_SECONDS anyhow."""

    def abort(self) -> None:
        """Close at once."""

    def pause(self) -> None:
        """Read no more until `resume`."""

    def resume(self) -> None:
        """Read again."""

    def secure(self, tls: ssl.SSLContext | None, *, accepted: bool) -> None:
        """Speak TLS once all that was sent is out; what is sent from now on goes out behind the handshake.

        ``accepted`` is whether the other end connected to us, and so begins. Nothing that has come by now is handed
        over any more. Without ``tls``, or where the handshake fails or takes over HANDSHAKE_SECONDS, the stream is
        lost; nothing is ever sent plain for it. Only streams that are ``stock`` can do it; others are cut off.
        """


class Listener(Protocol):
    """A port that is taken. Connections that come before `serve` wait."""

    port: int

    async def serve(self, on_connection: Callable[[Connection], None]) -> None:
        """Begin to hand over connections, and return. The function must `start` or `abort` each before it returns."""

    def pause(self) -> None:
        """Accept no more until `resume`: who connects meanwhile waits."""

    def resume(self) -> None:
        """Accept again."""

    async def close(self) -> None:
        """Give up the port. Connections handed over live on."""


def on_asyncio() -> bool:
    """Say whether the running event loop is asyncio's or a stand-in for it, such as uvloop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@contextmanager
def library_named() -> Iterator[None]:
    """Have anyio know that this is asyncio in what the loop calls back, too: ``asyncio.run`` does not say so.

    anyio asks sniffio, where that is installed, and sniffio finds out only within a task.
    """
    if not on_asyncio() or find_spec("sniffio") is None:
        yield
        return
    from sniffio import current_async_library_cvar

    token = current_async_library_cvar.set("asyncio")
    try:
        yield
    finally:
        current_async_library_cvar.reset(token)


async def listen(
    host: str, port: int, tasks: TaskGroup, *, stock: bool = False, tls: ssl.SSLContext | None = None
) -> Listener:
    """Take a port on every address that ``host`` stands for; port 0 is any free one.

    ``tasks`` is where the tasks of ``stock`` streams live; asyncio's own way needs none. With ``tls`` streams are stock
    on every loop, and are handed over once they are secure.

    Raises:
        PortInUseError: another program listens there.
        CannotListenError: the name is unknown, the address is not this host's, or the port is not allowed.
    """
    from runtime.network.anyio_transport import TaskListener
    from runtime.network.asyncio_transport import LoopListener

    where = f"{host}:{port}"
    if not 0 <= port <= 65535:
        raise CannotListenError(f"cannot listen on {where}: a port is a number from 0 to 65535")
    try:
        bound = await anyio.create_tcp_listener(local_host=host, local_port=port, backlog=BACKLOG)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            raise PortInUseError(f"cannot listen on {where}: another program uses that port") from error
        raise CannotListenError(f"cannot listen on {where}: {reason(error)}") from error
    if stock or tls is not None or not on_asyncio():
        return TaskListener(bound.listeners, tasks, tls)
    return LoopListener(bound.listeners)


async def connect(
    role: str, host: str, port: int, tasks: TaskGroup, *, stock: bool = False, tls: ssl.SSLContext | None = None
) -> Connection:
    """Return a connection to a role's address, not reading yet; secure, with ``tls``, under the name ``host``.

    Raises:
        CannotConnectError: nobody listens there, the name is unknown, nothing answers within CONNECT_SECONDS, or the
            other end is not whom ``tls`` trusts.
    """
    from runtime.network.anyio_transport import open_task_connection
    from runtime.network.asyncio_transport import open_loop_connection

    where = f"{role} at {host}:{port}"
    if not 0 < port <= 65535:
        raise CannotConnectError(f"cannot connect to {where}: a port is a number from 1 to 65535")
    try:
        with anyio.fail_after(CONNECT_SECONDS):
            if stock or tls is not None or not on_asyncio():
                return await open_task_connection(host, port, tasks, tls)
            return await open_loop_connection(host, port)
    except TimeoutError as error:
        raise CannotConnectError(f"cannot connect to {where}: no answer within {CONNECT_SECONDS:g} s") from error
    except (OSError, ValueError, anyio.BrokenResourceError, anyio.EndOfStream) as error:
        kind = NobodyListensError if _is_refused(error) else CannotConnectError
        raise kind(f"cannot connect to {where}: {reason(error)}") from error


def _is_refused(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_refused, error.exceptions))
    if error.__cause__ is not None and not getattr(error, "errno", None):
        return _is_refused(error.__cause__)
    return isinstance(error, ConnectionRefusedError)


def reason(error: BaseException) -> str:
    """Say in a few words why the network failed, the same on every event loop."""
    if isinstance(error, socket.gaierror | UnicodeError):  # the latter: it can't even be written as a name of a host
        return "there is no host of that name"
    if isinstance(error, ssl.SSLError):
        return tls_reason(error)
    if isinstance(error, BaseExceptionGroup):
        return reason(error.exceptions[0])
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno).lower()
    if error.__cause__ is not None:
        return reason(error.__cause__)
    # asyncio joins the errors of several addresses into one text.
    number = re.search(r"\[Errno (\d+)\]", str(error))
    if isinstance(error, anyio.EndOfStream):
        return "it closed the connection, as if it did not speak TLS"
    return os.strerror(int(number[1])).lower() if number else str(error) or type(error).__name__


def send_at_once(raw: Any) -> None:
    """Have a TCP socket send each message as soon as it is written; ``raw`` is a socket or a loop's stand-in for one.

    Otherwise Nagle's algorithm holds a second message back until the other end has acknowledged the first, which it
    delays: 44 ms were measured. asyncio sees to it only on sockets whose ``proto`` is IPPROTO_TCP, and that of an
    accepted one is the listening socket's: 0.
    """
    if raw is not None and raw.family in (socket.AF_INET, socket.AF_INET6):
        with suppress(OSError):  # it is lost already; whoever reads from it will hear so
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def address_name(address: object) -> str:
    """Return ``host:port`` of a socket's address, for people."""
    match address:
        case (str(host), int(port), *_):
            return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return str(address) if address else "an unknown address"
