"""A site of the studio on a port of this machine, with a token of its own, until the process is told to stop."""

from __future__ import annotations

import gc
import secrets
import socket
from collections.abc import Callable
from typing import Final, NamedTuple

import uvicorn
from starlette.types import ASGIApp

from runtime.studio.guard import listening

HEARD_BYTES_MAX: Final = 1024  # in one message of a page, where a site hears no more than that one has gone
_ANY: Final = ("0.0.0.0", "::")
_ELSEWHERE: Final = {"0.0.0.0": ("192.0.2.1", 9), "::": ("2001:db8::1", 9)}  # addresses that are nobody's


class SitePlace(NamedTuple):
    """Where a site is: the tokens of its links, that of the ``shared`` one empty if there is none, and its names."""

    token: str
    port: int
    hosts: frozenset[str]
    shared: str


def serve_site(
    made: Callable[[SitePlace], ASGIApp],
    host: str,
    port: int,
    opened: Callable[..., None],
    *,
    share: bool = False,
    heard_bytes_max: int = HEARD_BYTES_MAX,
) -> None:
    """Serve what is ``made``; ``opened`` is called with the link before it answers.

    If it is to ``share``, ``opened`` is called with a second link.

    Raises:
        OSError: the port is taken, or the address is none of this machine.
    """
    taken = listening(host, port)
    number = taken.getsockname()[1]
    hosts = {host, "127.0.0.1", "localhost", "[::1]"} | ({socket.gethostname()} if host in _ANY else set())
    place = SitePlace(secrets.token_urlsafe(16), number, frozenset(hosts), secrets.token_urlsafe(16) if share else "")
    config = uvicorn.Config(
        made(place),
        log_level="warning",
        access_log=False,
        ws_max_size=heard_bytes_max,
        ws_per_message_deflate=False,  # on loopback it costs more than it saves, for each page anew
    )
    server = uvicorn.Server(config)
    gc.collect()
    gc.freeze()  # specs and pictures stay to the end: they are not to be looked through again and again
    named = _reached(host) if share else "127.0.0.1" if host in _ANY else host
    at = f"http://{f'[{named}]' if ':' in named else named}:{number}/enter?token="
    opened(*(at + token for token in (place.token, place.shared) if token))
    server.run(sockets=[taken])


def _reached(host: str) -> str:
    """Return the address by which others reach a site that listens at one; nothing is sent to find it."""
    if host not in _ANY:
        return host
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(_ELSEWHERE[host])
            found: str = asked.getsockname()[0]
        except OSError:  # it is connected to nothing
            return socket.gethostname()
    return found
