"""A connection that sends nothing any more, as that of a program which is stuck; it still hears, and can be closed."""

from __future__ import annotations

from collections.abc import Callable
from ssl import SSLContext

from runtime.network.transport import Connection


class Silenced:
    """A `Connection` without a voice, around one that had started."""

    def __init__(self, connection: Connection) -> None:
        self.name = connection.name
        self._connection = connection

    def start(
        self, on_bytes: Callable[[bytes], None], on_end: Callable[[str], None], on_closed: Callable[[], None]
    ) -> None:
        """See `Connection.start`."""
        self._connection.start(on_bytes, on_end, on_closed)

    def send(self, data: bytes) -> None:
        """Send nothing."""

    def close_after_flush(self) -> None:
        """See `Connection.close_after_flush`."""
        self._connection.close_after_flush()

    def abort(self) -> None:
        """See `Connection.abort`."""
        self._connection.abort()

    def pause(self) -> None:
        """See `Connection.pause`."""
        self._connection.pause()

    def resume(self) -> None:
        """See `Connection.resume`."""
        self._connection.resume()

    def secure(self, tls: SSLContext | None, *, accepted: bool) -> None:
        """See `Connection.secure`."""
        self._connection.secure(tls, accepted=accepted)
