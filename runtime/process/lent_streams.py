"""Streams of the process as the code of others gets them: players and rules may write to them, and not close them."""

from __future__ import annotations

from contextlib import suppress
from io import UnsupportedOperation
from typing import Any, BinaryIO, TextIO, cast


class _Lent:
    """A stream that the code of others may write to and not close."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        """Close nothing: the stream is the command's."""
        with suppress(OSError):
            self._stream.flush()

    def detach(self) -> BinaryIO:
        """Refuse: the stream is the command's."""
        raise UnsupportedOperation("this stream is lent by the command, and stays as it is")


def lent(stream: TextIO) -> TextIO:
    """Return a stream for the code of others, which writes where this one does and cannot be closed."""
    return cast("TextIO", _Lent(stream))
