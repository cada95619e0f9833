"""Between two programs: bytes pass, and are judged from a queue; or, to block, they are judged before they pass."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

import anyio
from anyio.abc import SocketAttribute, SocketListener, SocketStream, TaskGroup

from machines.conforming.overhearing import Accusation, Overhearing
from runtime.conforming.shadow_journal import InputWriter, ShadowJournal
from runtime.network.transport import READ_BYTES, CannotConnectError, CannotListenError, reason, send_at_once

LINKS_MAX: Final = 256  # connections open at once; more are turned away
WAITING_BYTES_MAX: Final = 8 << 20  # judged bytes that may wait; beyond, reading waits for the judge
IDLE_SECONDS: Final = 0.25  # how often silence is looked at

Side = Literal["caller", "listener"]


@dataclass(frozen=True, slots=True)
class Overheard:
    """One thing that crossed: bytes, or with ``chunk`` None the end; ``side`` is who it came from."""

    link: int
    side: Side
    chunk: bytes | None
    when: float


@dataclass(slots=True)
class ProxyLink:
    """A connection and its other half."""

    number: int
    caller: SocketStream
    listener: SocketStream
    ends: int = 0


class Proxy:
    """Carries connections to an address and judges both sides.

    ``told`` is called with each accusation as it shows. With ``block`` a link on which somebody deviates is cut before
    the bytes pass. ``write`` notes in a journal what sessions in the place of those who connect would do.
    """

    def __init__(
        self,
        overhearing: Overhearing,
        to: tuple[str, int],
        *,
        grace: float,
        block: bool = False,
        told: Callable[[Accusation], None],
        write: InputWriter | None = None,
    ) -> None:
        self.overhearing = overhearing
        self.links = 0
        self.chunks = 0
        self._to = to
        self._grace = grace
        self._block = block
        self._told = told
        self._write = write
        self._shadows: dict[int, ShadowJournal] = {}
        self._queue: deque[Overheard] = deque()
        self._waiting = 0
        self._filled = anyio.Event()
        self._emptied = anyio.Event()
        self._open: dict[int, ProxyLink] = {}
        self._counted = [0, 0]

    async def run(self, listener: SocketListener | anyio.abc.Listener[SocketStream]) -> None:
        """Serve until cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._judge)
            tasks.start_soon(self._watch)
            await listener.serve(lambda stream: self._link(stream), tasks)

    @property
    def has_ended(self) -> bool:
        """Whether there was a link and none is open."""
        return self.links > 0 and not self._open

    # -- links ---------------------------------------------------------------------------------------------------------

    async def _link(self, caller: SocketStream) -> None:
        if len(self._open) >= LINKS_MAX:
            await caller.aclose()
            return
        try:
            listener = await anyio.connect_tcp(*self._to)
        except OSError as error:
            await caller.aclose()
            raise CannotConnectError(f"cannot connect to {self._to[0]}:{self._to[1]}: {reason(error)}") from error
        for stream in (caller, listener):
            send_at_once(stream.extra(SocketAttribute.raw_socket))
        link = ProxyLink(self.links, caller, listener)
        self.links += 1
        self._open[link.number] = link
        self._opened(link.number, anyio.current_time())
        async with caller, listener, anyio.create_task_group() as tasks:
            tasks.start_soon(self._pump, link, "caller", caller, listener, tasks)
            tasks.start_soon(self._pump, link, "listener", listener, caller, tasks)
        del self._open[link.number]

    def _opened(self, number: int, now: float) -> None:
        self.overhearing.opened(number, now)
        callers = self.overhearing.links[number].callers
        if self._write is not None and len(callers) == 1:
            program = self.overhearing.programs[next(iter(callers))]
            self._shadows[number] = ShadowJournal(program, self._write, number)

    async def _pump(
        self, link: ProxyLink, side: Side, source: SocketStream, sink: SocketStream, tasks: TaskGroup
    ) -> None:
        """Carry one direction to its end."""
        try:
            while True:
                chunk = await source.receive(READ_BYTES)
                if not await self._pass(link, side, chunk, sink):
                    tasks.cancel_scope.cancel()
                    return
        except anyio.EndOfStream:
            pass
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            link.ends = 2  # nothing can be sent to it either
        await self._note(Overheard(link.number, side, None, anyio.current_time()))
        link.ends += 1
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            await sink.send_eof()
        if link.ends >= 2:
            tasks.cancel_scope.cancel()

    async def _pass(self, link: ProxyLink, side: Side, chunk: bytes, sink: SocketStream) -> bool:
        """Let bytes pass; return False if they are held back, for somebody deviates with them."""
        noted = Overheard(link.number, side, chunk, anyio.current_time())
        self.chunks += 1
        if self._block:
            before = len(self.overhearing.accusations)
            self._take(noted)
            if len(self.overhearing.accusations) > before:
                return False
            await sink.send(chunk)
        else:
            try:
                await sink.send(chunk)
            finally:
                await self._note(noted)
        return True

    # -- judging -------------------------------------------------------------------------------------------------------

    async def _note(self, noted: Overheard) -> None:
        if self._block:
            self._take(noted)
            return
        self._queue.append(noted)
        self._waiting += len(noted.chunk or b"")
        self._filled.set()
        while self._waiting > WAITING_BYTES_MAX:
            self._emptied = anyio.Event()
            await self._emptied.wait()

    async def _judge(self) -> None:
        while True:
            await self._filled.wait()
            self._filled = anyio.Event()
            while self._queue:
                noted = self._queue.popleft()
                self._waiting -= len(noted.chunk or b"")
                self._take(noted)
                self._emptied.set()
                await anyio.lowlevel.checkpoint()

    def finish(self) -> None:
        """Judge what still waits."""
        while self._queue:
            self._take(self._queue.popleft())

    def _take(self, noted: Overheard) -> None:
        heard, shadow = self.overhearing, self._shadows.get(noted.link)
        if noted.chunk is None:
            ended = heard.caller_ended if noted.side == "caller" else heard.listener_ended
            ended(noted.link, noted.when)
            if shadow is not None:
                shadow.lost("", noted.when)
        elif noted.side == "caller":
            for tokens in heard.caller_said(noted.link, noted.chunk, noted.when):
                if shadow is not None:
                    self._shadow_said(shadow, noted, tokens[0][0])
        else:
            heard.listener_said(noted.link, noted.chunk, noted.when)
            if shadow is not None:
                shadow.heard(noted.chunk, noted.when)
        self._tell()

    def _shadow_said(self, shadow: ShadowJournal, noted: Overheard, name: str) -> None:
        """Let a shadow say what a program said, if it came whole and alone."""
        assert noted.chunk is not None, "something came"
        shape = self.overhearing.programs[self.overhearing.role].shapes.get(name)
        follower = next(iter(self.overhearing.links[noted.link].callers.values()))
        raw = follower.streams[0].last_raw
        if shape is None or raw is None:
            return
        fields = shape.read(self.overhearing.programs[self.overhearing.role].codec.decode(raw))
        if fields is not None:
            shadow.said(name, dict(zip(shape.fields, fields, strict=True)), raw, noted.when)

    async def _watch(self) -> None:
        while True:
            await anyio.sleep(IDLE_SECONDS)
            if not self._queue:
                self.overhearing.idle(anyio.current_time(), self._grace)
                self._tell()

    def _tell(self) -> None:
        for place, listed in enumerate((self.overhearing.accusations, self.overhearing.hurried)):
            for one in listed[self._counted[place] :]:
                self._told(one)
            self._counted[place] = len(listed)


async def listen_for(host: str, port: int) -> tuple[anyio.abc.Listener[SocketStream], int]:
    """Take a port for a proxy; return it too.

    Raises:
        CannotListenError: it is in use, or cannot be had.
    """
    try:
        listener = await anyio.create_tcp_listener(local_host=host, local_port=port)
    except (OSError, ValueError) as error:
        raise CannotListenError(f"cannot listen on {host}:{port}: {reason(error)}") from error
    return listener, int(listener.extra(SocketAttribute.local_port))
