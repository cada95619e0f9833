"""A site of the studio on a port of this machine, with a token of its own, until the process is told to stop."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from runtime.studio.guard import listening

HEARD_BYTES_MAX: Final = 1024  # in one message of a page, where a site hears no more than that one has gone


def serve_site(
    made: Callable[[str, int, frozenset[str]], ASGIApp],
    host: str,
    port: int,
    opened: Callable[[str], None],
    heard_bytes_max: int = HEARD_BYTES_MAX,
) -> None:
    """Serve what ``made(token, port, hosts)`` returns; ``opened`` is called with the link before it answers.

    Raises:
        OSError: the port is taken, or the address is none of this machine.
    """
    token = secrets.token_urlsafe(16)
    taken = listening(host, port)
    number = taken.getsockname()[1]
    app = made(token, number, frozenset({host, "127.0.0.1", "localhost", "[::1]"}))
    named = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        ws_max_size=heard_bytes_max,
        ws_per_message_deflate=False,  # on loopback it costs more than it saves, for each page anew
    )
    server = uvicorn.Server(config)
    opened(f"http://{f'[{named}]' if ':' in named else named}:{number}/enter?token={token}")
    server.run(sockets=[taken])
