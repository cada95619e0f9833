r"""The lobby: players from elsewhere wait here for their matches, each known by its token.

    player -> lobby   accord TOKEN\n            first, and nothing more until the match begins
    lobby -> player   accord welcome\n          or  accord refused: why\n  and the end
    match -> player   accord begin\n            and from here on the protocol, as it is

The connection itself is handed to the match's process; once the match is over it ends, and the player comes again.
All of it is done between two looks of the coordinator: nothing here waits.
"""

from __future__ import annotations

import hmac
import select
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

OPENING: Final = b"accord "
WELCOME: Final = b"accord welcome\n"
BEGIN: Final = b"accord begin\n"
REFUSED: Final = b"accord refused: "
LINE_BYTES_MAX: Final = 256
OPENING_SECONDS: Final = 5.0  # in which a connection is to say its token
STRANGERS_MAX: Final = 64  # connections that have not said theirs yet
BACKLOG: Final = 128


class LobbyError(Exception):
    """The lobby cannot be opened; the text says why."""


@dataclass
class _Stranger:
    connection: socket.socket
    until: float
    said: bytes = b""


@dataclass
class Lobby:
    """An open lobby. ``tokens`` has the name of the player that each token stands for, ``port`` is the one taken."""

    host: str
    port: int
    tokens: Mapping[str, str]
    _listener: socket.socket = field(init=False)
    _strangers: list[_Stranger] = field(default_factory=list, init=False)
    _here: dict[str, socket.socket] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """Listen.

        Raises:
            LobbyError: the address cannot be had.
        """
        try:
            family = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0][0]
            self._listener = socket.create_server((self.host, self.port), family=family, backlog=BACKLOG)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise LobbyError(f"no lobby can be opened at {self.host}:{self.port}: {reason}") from None
        self._listener.setblocking(False)
        self.port = self._listener.getsockname()[1]

    def sockets(self) -> list[socket.socket]:
        """Return what has to be waited for: when one of them can be read, `turn` has something to do."""
        return [self._listener, *(one.connection for one in self._strangers)]

    def turn(self) -> None:
        """Let in who has come, and hear what they say."""
        while len(self._strangers) < STRANGERS_MAX:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                break
            connection.setblocking(False)
            self._strangers.append(_Stranger(connection, time.monotonic() + OPENING_SECONDS))
        self._strangers = [one for one in self._strangers if not self._is_through(one)]

    def is_here(self, name: str) -> bool:
        """Whether a player waits, and has neither gone nor spoken before its turn."""
        connection = self._here.get(name)
        if connection is None:
            return False
        if select.select([connection], [], [], 0)[0]:
            self._here.pop(name).close()
            return False
        return True

    def take(self, name: str) -> socket.socket:
        """Return the connection of a player who waits, for a match: it is the lobby's no longer."""
        return self._here.pop(name)

    def close(self) -> None:
        """End all that wait."""
        for connection in (self._listener, *(one.connection for one in self._strangers), *self._here.values()):
            connection.close()

    def _is_through(self, one: _Stranger) -> bool:
        """Hear a stranger; return whether it is none any more: welcome, refused or gone."""
        try:
            one.said += one.connection.recv(LINE_BYTES_MAX) or b"\n\n"
        except BlockingIOError:
            return time.monotonic() > one.until and self._refuse(one, "no token came")
        except OSError:
            one.connection.close()
            return True
        if b"\n" not in one.said and len(one.said) < LINE_BYTES_MAX:
            return False
        line, _, more = one.said.partition(b"\n")
        token = line.removeprefix(OPENING).rstrip(b"\r")
        names = [name for known, name in self.tokens.items() if hmac.compare_digest(known.encode(), token)]
        if not names or not line.startswith(OPENING):
            return self._refuse(one, "nobody in this event has that token")
        if more:
            return self._refuse(one, "more than a token came before the match began")
        if self.is_here(names[0]):
            return self._refuse(one, "with that token somebody waits already")
        with suppress(OSError):
            one.connection.send(WELCOME)
        self._here[names[0]] = one.connection
        return True

    def _refuse(self, one: _Stranger, why: str) -> bool:
        with suppress(OSError):
            one.connection.send(REFUSED + why.encode() + b"\n")
        one.connection.close()
        return True
