"""The stranger's connections: all that crosses is told to the follower and noted, in the order in which it crosses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import anyio
from anyio.abc import SocketAttribute, SocketStream

from machines.conforming.case_results import CaseResult, Crossing
from machines.conforming.deeds import odd_spelling
from machines.conforming.following import GARBAGE, Follower
from runtime.conforming.actors import OwnActor
from runtime.conforming.links import StrangerLink
from runtime.network.transport import send_at_once

OWN_MAX: Final = 4_000  # lines of a trace


class StrangerWire:
    """All links of the stranger in a case. ``crossed`` is called whenever anything was noted.

    Once it is ``quiet``, after our deed, nothing more of ours goes out.
    """

    def __init__(self, follower: Follower, result: CaseResult, crossed: Callable[[], None]) -> None:
        self.follower = follower
        self.links: dict[int, StrangerLink] = {}
        self.quiet = False
        self._result = result
        self._crossed = crossed
        self._began = anyio.current_time()

    @property
    def has_ended(self) -> bool:
        """Whether there were links, and the stranger has ended them all."""
        return bool(self.links) and all(link.ended for link in self.links.values())

    def linked(self, seat: int, stream: SocketStream, actor: OwnActor, there: int) -> StrangerLink:
        """Take in a connection, of the stranger's ``seat``, that is ``there`` to a session of ours."""
        send_at_once(stream.extra(SocketAttribute.raw_socket))
        link = StrangerLink(len(self.links), seat, stream, actor, there)
        self.links[link.number] = link
        actor.foreign[there] = link.number
        return link

    def heard(self, link: StrangerLink, chunk: bytes) -> None:
        """The stranger sent bytes."""
        said = self.follower.said(link.seat, chunk, anyio.current_time())
        self._result.said |= {tokens[0][0] for tokens in said}
        self._result.odd = self._result.odd or odd_spelling(self.follower.knowledge.program, chunk)
        names = (" or ".join("(no message)" if one == GARBAGE else one[0] for one in tokens) for tokens in said)
        self.note("it", ", ".join(names), chunk)

    def ended(self, link: StrangerLink) -> None:
        """The stranger has ended a connection."""
        link.ended = True
        self.follower.ended(link.seat, anyio.current_time())
        self.note("it", "(ends the connection)")

    def tell(self, link: StrangerLink, message: str, data: bytes, tokens: tuple[Any, ...]) -> None:
        """Send a message, which is one of ``tokens`` to who reads it.

        What our reader takes for nothing, as the empty line of an empty command, may be anything to others.
        """
        knowledge, now = self.follower.knowledge, anyio.current_time()
        if not tokens and message in knowledge.program.shapes:
            self.follower.told(link.seat, (knowledge.reader.token(message, {}), GARBAGE), now, perhaps=True)
        else:
            self.follower.told(link.seat, tokens or (GARBAGE,), now)
        self._result.told = message
        self.note("we", message, data)
        link.put(data)

    def tell_half(self, link: StrangerLink, message: str, data: bytes) -> None:
        """Send the first half of a message, and end the connection."""
        half = data[: len(data) // 2]
        self.note("we", f"half of {message}", half)
        link.put(half)
        link.closing = True
        self.follower.broke_off(link.seat, anyio.current_time())
        link.put(None)

    def close(self, number: int) -> None:
        """End a connection, unless we say nothing more."""
        link = self.links[number]
        if self.quiet or link.closing:
            return
        link.closing = True
        self.follower.hung_up(link.seat, anyio.current_time())
        if not link.ended:
            self.note("we", "(end the connection)")
        link.put(None)

    def note(self, who: str, name: str, data: bytes = b"") -> None:
        """Note a line of what was said."""
        if len(self._result.trace) < OWN_MAX:
            self._result.trace.append(Crossing(anyio.current_time() - self._began, who, name, data))
        self._crossed()
