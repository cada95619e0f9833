"""Two messages in a row to one peer must not wait for one another: TCP_NODELAY is set on both ends, by every way."""

from __future__ import annotations

import socket
from typing import Any

import anyio
import pytest
from anyio.abc import SocketAttribute

from runtime.network.anyio_transport import TaskConnection
from runtime.network.asyncio_transport import LoopConnection
from runtime.network.transport import Connection, connect, listen

pytestmark = pytest.mark.anyio


def socket_of(connection: Connection) -> Any:
    match connection:
        case LoopConnection():
            return connection._transport.get_extra_info("socket")
        case TaskConnection():
            return connection._stream.extra(SocketAttribute.raw_socket)
    raise AssertionError("a connection of another kind")


async def test_both_ends_of_a_connection_send_each_message_at_once(stock: bool) -> None:
    accepted: list[Connection] = []
    came = anyio.Event()

    def take(connection: Connection) -> None:
        accepted.append(connection)
        connection.start(lambda data: None, lambda why: None, lambda: None)
        came.set()

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            listener = await listen("127.0.0.1", 0, tasks, stock=stock)
            await listener.serve(take)
            ours = await connect("server", "127.0.0.1", listener.port, tasks, stock=stock)
            ours.start(lambda data: None, lambda why: None, lambda: None)
            await came.wait()

            found = [
                socket_of(end).getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0 for end in (ours, *accepted)
            ]

            for end in (ours, *accepted):
                end.abort()
            await listener.close()
            tasks.cancel_scope.cancel()
    assert found == [True, True]
