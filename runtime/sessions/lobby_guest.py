"""The other side of an event's lobby: a player from elsewhere says its token, waits, and plays each of its matches."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ssl import SSLContext, SSLError
from typing import Any, Final

import anyio
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.tls import TLSStream

from runtime.network.tls import tls_reason
from runtime.sessions.client import RETRY_SECONDS, Address

CHUNK_BYTES: Final = 65536
LINE_BYTES_MAX: Final = 300
WELCOME: Final = b"accord welcome"
BEGIN: Final = b"accord begin"
REFUSED: Final = b"accord refused: "


class LobbyGoneError(Exception):
    """Nobody listens at the lobby's address, or it ended the connection: the event is over, or stopped.

    ``welcomed`` tells whether it had let this player in.
    """

    def __init__(self, text: str, *, welcomed: bool = False) -> None:
        super().__init__(text)
        self.welcomed = welcomed


class LobbyRefusedError(Exception):
    """The lobby does not want this player; the text says why."""


@asynccontextmanager
async def match_of_lobby(
    address: Address, token: str, retry: float = 0.0, tls: SSLContext | None = None
) -> AsyncIterator[Address]:
    """Wait in a lobby, or at a server that wants a token, until a match begins; yield an address on loopback for it.

    Where nobody listens it is tried again for ``retry`` seconds; ``tls`` says whom to trust where TLS is spoken.

    Raises:
        LobbyGoneError, LobbyRefusedError: there is no match to come.
    """
    async with await _reached(address, retry, tls) as lobby:
        await lobby.send(f"accord {token}\n".encode())
        for wanted in (WELCOME, BEGIN):
            line = await _line(lobby, welcomed=wanted is BEGIN)
            if line.startswith(REFUSED):
                raise LobbyRefusedError(line.removeprefix(REFUSED).decode(errors="replace"))
            if line != wanted:
                raise LobbyRefusedError(f"it is no lobby, for it said {line[:60]!r}")
        listener: Any = (await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)).listeners[0]
        async with listener, anyio.create_task_group() as tasks:
            tasks.start_soon(_pass_on, listener, lobby)
            yield "127.0.0.1", listener.extra(SocketAttribute.local_port)
            tasks.cancel_scope.cancel()


async def _reached(address: Address, retry: float, tls: SSLContext | None) -> ByteStream:
    until = anyio.current_time() + retry
    while True:
        try:
            if tls is None:
                return await anyio.connect_tcp(*address)
            return await anyio.connect_tcp(*address, ssl_context=tls, tls_standard_compatible=False)
        except SSLError as error:
            raise LobbyGoneError(f"no TLS with {address[0]}:{address[1]}: {tls_reason(error)}") from error
        except OSError as error:
            if anyio.current_time() >= until:
                raise LobbyGoneError(f"no lobby is at {address[0]}:{address[1]}") from error
            await anyio.sleep(RETRY_SECONDS)


async def _line(stream: ByteStream, *, welcomed: bool) -> bytes:
    """Return the next line without its end, and read nothing beyond it: what follows is the match's."""
    found = bytearray()
    while len(found) < LINE_BYTES_MAX:
        try:
            byte = await stream.receive(1)
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            raise LobbyGoneError("the lobby ended the connection", welcomed=welcomed) from None
        if byte == b"\n":
            break
        found += byte
    return bytes(found)


async def _pass_on(listener: Any, lobby: ByteStream) -> None:
    async with await listener.accept() as own, anyio.create_task_group() as tasks:
        tasks.start_soon(_pump, own, lobby)
        await _pump(lobby, own)


async def _pump(source: ByteStream, target: ByteStream) -> None:
    try:
        while True:
            await target.send(await source.receive(CHUNK_BYTES))
    except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        try:
            await (target.aclose() if isinstance(target, TLSStream) else target.send_eof())
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            return
