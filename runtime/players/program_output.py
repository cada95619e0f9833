"""What a program has written to its standard output, cut into lines, as soon as it has written it.

It is read all the time and not only while somebody waits for an answer: only so it can be told what was there before
a question was asked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

import anyio
from anyio.abc import ByteReceiveStream

CHUNK_BYTES: Final = 65536
LOOKS: Final = 6  # turns of the event loop in which what lies in the pipe has come through it, on each of the loops


class ProgramOutput:
    """The lines of a program that nobody has taken yet, up to ``bytes_max``; there reading stops until some are taken.

    ``partial`` has the bytes of a line whose end has not come, ``ended`` tells whether there will be no more.
    ``discarded`` is how much of a line had come that was thrown away when it was last looked for one; 0 if none.
    ``wrote`` is told of how many bytes have come.
    """

    def __init__(self, stdout: ByteReceiveStream, bytes_max: int, wrote: Callable[[int], None]) -> None:
        self._stdout = stdout
        self._bytes_max = bytes_max
        self._wrote = wrote
        self._lines: deque[bytes] = deque()
        self._held = 0  # bytes in lines
        self._discards = False  # the line that is coming began before the question it would be an answer to
        self._changed = anyio.Event()
        self._taken = anyio.Event()
        self.partial = bytearray()
        self.discarded = 0
        self.ended = False

    async def read(self) -> None:
        """Read until the program closes its output; runs in a task of its own."""
        try:
            while True:
                while self._held + len(self.partial) > self._bytes_max:
                    self._taken = anyio.Event()
                    await self._taken.wait()
                chunk = await self._stdout.receive(CHUNK_BYTES)
                self._wrote(len(chunk))
                self._cut(chunk)
                self._change()
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            self.ended = True
            self._change()

    def _cut(self, chunk: bytes) -> None:
        searched = len(self.partial)
        self.partial += chunk
        if chunk.find(b"\n") < 0:
            return
        assert self.partial.find(b"\n", searched) >= 0, "the end of a line is in what has come"
        *whole, rest = bytes(self.partial).split(b"\n")
        self.partial = bytearray(rest)
        if self._discards:
            self._discards = False
            del whole[0]
        self._lines.extend(whole)
        self._held += sum(map(len, whole))

    def _change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def look(self) -> None:
        """Let in what the program has already written."""
        for _ in range(LOOKS):
            await anyio.lowlevel.checkpoint()

    def take(self) -> bytes | None:
        """Return the next whole line without its end; None if there is none yet."""
        if not self._lines:
            return None
        line = self._lines.popleft()
        self._held -= len(line)
        self._taken.set()
        return line

    def discard_partial(self) -> int:
        """Throw away the line that is coming, also what of it is still to come; return how much of it had."""
        count = 0 if self._discards else len(self.partial)
        self.discarded = count or (self.discarded if self._discards else 0)
        self._discards = self._discards or count > 0
        return count

    @property
    def too_long(self) -> bool:
        """Whether the line that is coming is longer than all that may wait."""
        return len(self.partial) > self._bytes_max

    async def next_line(self) -> bytes | None:
        """Wait for the next line and return it; None if there is none to come, for it is too long or the last."""
        while (line := self.take()) is None:
            if self.ended or self.too_long:
                return None
            await self._changed.wait()
        return line
