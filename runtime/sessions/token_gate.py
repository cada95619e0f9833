r"""A port behind a token: who connects says it first, as in the lobby of an event (`runtime.tournament.lobby`).

    client -> server   accord TOKEN\n            first, and nothing more until it is answered
    server -> client   accord welcome\n accord begin\n     or  accord refused: why\n  and the end

Only then is the connection handed to a session, so that nobody else ever takes a seat.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable
from typing import Final

import anyio
from anyio.abc import TaskGroup

from runtime.network.accepting import Seldom
from runtime.network.transport import Connection, Listener

log = logging.getLogger("accord.network")

OPENING: Final = b"accord "
WELCOME: Final = b"accord welcome\n"
BEGIN: Final = b"accord begin\n"
REFUSED: Final = b"accord refused: "
WRONG: Final = "nobody here has that token"
OPENING_SECONDS: Final = 5.0  # in which a connection is to say its token
OPENING_BYTES_MAX: Final = 256
STRANGERS_MAX: Final = 64  # connections that have not said theirs yet


class TokenListener:
    """A `Listener` that hands over only who has said the token."""

    def __init__(self, listener: Listener, token: str, tasks: TaskGroup) -> None:
        self.port = listener.port
        self.pause, self.resume, self.close = listener.pause, listener.resume, listener.close
        self.token = token.encode()
        self.tasks = tasks
        self.strangers: set[_Opening] = set()
        self._listener = listener
        self._full = Seldom()
        self._refused = 0

    async def serve(self, on_connection: Callable[[Connection], None]) -> None:
        """Begin to hand over connections, and return."""

        def come(connection: Connection) -> None:
            if len(self.strangers) >= STRANGERS_MAX:
                self._full.warn("%d connections have not said their token yet: others are cut off", STRANGERS_MAX)
                connection.abort()
                return
            self.strangers.add(_Opening(connection, self, on_connection))

        await self._listener.serve(come)

    def tell_refused(self, name: str, why: str) -> None:
        """Log who is turned away. A flood of them must not flood the log, so every thousandth is told."""
        level = logging.DEBUG if self._refused % 1000 else logging.WARNING
        self._refused += 1
        log.log(level, "%s is turned away (number %d): %s", name, self._refused, why)


class _Opening:
    """A connection that says its token; once it has, it is one like any other.

    What comes after its token and before `start` is kept, and handed on then.
    """

    def __init__(
        self, connection: Connection, gate: TokenListener, on_connection: Callable[[Connection], None]
    ) -> None:
        self.name = connection.name
        self.send, self.pause, self.resume = connection.send, connection.pause, connection.resume
        self.close_after_flush, self.abort, self.secure = (
            connection.close_after_flush,
            connection.abort,
            connection.secure,
        )
        self._gate = gate
        self._on_connection = on_connection
        self._said = bytearray()
        self._kept: list[Callable[[], None]] = []
        self._on_bytes: Callable[[bytes], None] = self._say
        self._on_end: Callable[[str], None] = lambda _: self._refuse("it went before it had said its token")
        self._on_closed: Callable[[], None] = self._forget
        connection.start(self._bytes, self._end, self._closed)
        gate.tasks.start_soon(self._limit)

    def start(
        self, on_bytes: Callable[[bytes], None], on_end: Callable[[str], None], on_closed: Callable[[], None]
    ) -> None:
        """Begin to read."""
        self._on_bytes, self._on_end, self._on_closed = on_bytes, on_end, on_closed
        if self._kept:
            self._gate.tasks.start_soon(self._hand_on)  # not from within this call

    async def _hand_on(self) -> None:
        kept, self._kept = self._kept, []
        for happen in kept:
            happen()

    # What the connection calls: by then it may be somebody else's to hear.

    def _bytes(self, data: bytes) -> None:
        self._on_bytes(data)

    def _end(self, why: str) -> None:
        self._on_end(why)

    def _closed(self) -> None:
        self._on_closed()

    # -- before its token ----------------------------------------------------------------------------------------------

    async def _limit(self) -> None:
        await anyio.sleep(OPENING_SECONDS)
        if self in self._gate.strangers:
            self._refuse("no token came")

    def _forget(self) -> None:
        self._gate.strangers.discard(self)

    def _say(self, data: bytes) -> None:
        self._said += data
        if b"\n" not in self._said and len(self._said) < OPENING_BYTES_MAX:
            return
        line, _, more = bytes(self._said).partition(b"\n")
        token = line.removeprefix(OPENING).rstrip(b"\r")
        if not line.startswith(OPENING) or not hmac.compare_digest(token, self._gate.token):
            self._refuse(WRONG)
        elif more:
            self._refuse("more than a token came before it was answered")
        else:
            self._forget()
            self._on_bytes = lambda data: self._kept.append(lambda: self._on_bytes(data))
            self._on_end = lambda why: self._kept.append(lambda: self._on_end(why))
            self._on_closed = lambda: self._kept.append(lambda: self._on_closed())
            self.send(WELCOME + BEGIN)
            self._on_connection(self)

    def _refuse(self, why: str) -> None:
        self._forget()
        self._on_bytes = lambda _: None
        self._on_end = lambda _: None
        self._gate.tell_refused(self.name, why)
        self.send(REFUSED + why.encode() + b"\n")
        self.close_after_flush()
