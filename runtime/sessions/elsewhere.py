"""A seat whose player is elsewhere: its connection came through a lobby; its bytes go on to the server as they are."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Final

from runtime.sessions.client import Address

CHUNK_BYTES: Final = 65536
BEGIN: Final = b"accord begin\n"


async def play_elsewhere(connection: socket.socket, address: Address) -> None:
    """Tell a player that its match begins, and pass on what it and the server at ``address`` say, until that ends it.

    Runs on asyncio. Neither side is read faster than the other takes it.
    """
    from_player, to_player = await asyncio.open_connection(sock=connection)
    from_server, to_server = await asyncio.open_connection(*address)
    to_player.write(BEGIN)
    sent = asyncio.create_task(_pump(from_player, to_server))
    try:
        await _pump(from_server, to_player)
    finally:
        sent.cancel()
        to_player.close()
        to_server.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await reader.read(CHUNK_BYTES):
            writer.write(chunk)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
