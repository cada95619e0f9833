"""Connections that never leave the process: for tests under virtual time, where bytes may not hide in the kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
from anyio.abc import ByteStream, TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from runtime.network.anyio_transport import TaskConnection
from runtime.network.transport import Connection

PIECES_MAX = 64  # Pieces on their way in one direction; a kernel's buffer is no more endless than that.


class MemoryStream(ByteStream):
    """One end of a pair: what is sent here is received there, in the same pieces unless they are asked for smaller."""

    def __init__(self, incoming: MemoryObjectReceiveStream[bytes], outgoing: MemoryObjectSendStream[bytes]) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._left = b""

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """Return the next bytes; raises as anyio's streams do."""
        piece = self._left or await self._incoming.receive()
        self._left = piece[max_bytes:]
        return piece[:max_bytes]

    async def send(self, item: bytes) -> None:
        """Hand bytes over once there is room for them; raises as anyio's streams do."""
        await self._outgoing.send(bytes(item))

    async def send_eof(self) -> None:
        """Say that no more will be sent."""
        self._outgoing.close()

    async def aclose(self) -> None:
        """Close both directions."""
        self.close()

    def close(self) -> None:
        """Close both directions; there is nothing to wait for."""
        self._outgoing.close()
        self._incoming.close()

    @property
    def extra_attributes(self) -> Mapping[Any, Any]:
        """A stream in memory has no address."""
        return {}


def memory_streams() -> tuple[MemoryStream, MemoryStream]:
    """Return the two ends of a new connection."""
    there_send, there_receive = anyio.create_memory_object_stream[bytes](PIECES_MAX)
    back_send, back_receive = anyio.create_memory_object_stream[bytes](PIECES_MAX)
    return MemoryStream(back_receive, there_send), MemoryStream(there_receive, back_send)


def memory_connections(tasks: TaskGroup) -> tuple[Connection, Connection]:
    """Return both ends of a new connection, their tasks running in ``tasks``."""
    left, right = (TaskConnection(stream, "memory") for stream in memory_streams())
    for connection in (left, right):
        tasks.start_soon(connection.run, name="connection in memory")
    return left, right
