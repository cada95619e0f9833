"""What waits for a peer, from one other: a queue of messages, and at its end perhaps the loss of the connection.

The search puts the same few messages into the same few queues again and again, and asks all the time whether it has
seen a global state before. So there is one object only for queues of the same content, and each knows those it leads
to. One step may send very many: what is left of a queue without its first is made when somebody asks for it.
"""

from __future__ import annotations

from typing import Any

_PLAIN = (None,)  # a content that no other has


class Channel:
    """What waits, the oldest first. Two with the same content that come of one empty queue are the same object.

    ``first`` is None if nothing waits; ``messages`` counts what is no loss. One that is ``plain`` is what comes without
    TLS from who is to speak it, and does not know yet: nobody reads that, and only a loss ends it.
    """

    __slots__ = ("_all", "_longer", "_rest", "first", "is_lost", "messages", "plain", "tokens")

    def __init__(self, tokens: tuple[Any, ...] = (), all_: dict[tuple[Any, ...], Channel] | None = None) -> None:
        self.tokens = tokens
        self.first: Any = tokens[0] if tokens else None
        self.is_lost = bool(tokens) and type(tokens[-1]) is str  # then nothing comes behind it
        self.messages = len(tokens) - self.is_lost
        self._all: dict[tuple[Any, ...], Channel] = {(): self} if all_ is None else all_  # by content
        self.plain = False
        self._longer: dict[Any, Channel] = {}
        self._rest: Channel | None = None

    def __len__(self) -> int:
        return len(self.tokens)

    def __repr__(self) -> str:
        return f"Waiting{self.tokens}"

    @property
    def rest(self) -> Channel:
        """What is left without the first; itself if nothing waits."""
        found = self._rest
        if found is None:
            found = self._rest = self._of(self.tokens[1:])
        return found

    def without(self, token: Any) -> Channel:
        """Return this with one message less: the first that is like it."""
        at = self.tokens.index(token)
        return self._of(self.tokens[:at] + self.tokens[at + 1 :])

    @property
    def none(self) -> Channel:
        """The same with nothing in it."""
        return self._all[()]

    @property
    def secured(self) -> Channel:
        """The same once TLS is spoken by who reads it, and not yet by who writes: what waits is thrown away."""
        if self.is_lost:
            return self._of(self.tokens[-1:])
        found = self._all.get(_PLAIN)
        if found is None:
            found = self._all[_PLAIN] = Channel((), self._all)
            found.plain = True
        return found

    def then(self, token: Any) -> Channel:
        """Return this with one more behind it: a message, or the text that says why the connection is lost."""
        if self.is_lost or (self.plain and type(token) is tuple):
            return self
        found = self._longer.get(token)
        if found is None:
            found = self._longer[token] = self._of((*self.tokens, token))
        return found

    def _of(self, tokens: tuple[Any, ...]) -> Channel:
        found = self._all.get(tokens)
        if found is None:
            found = self._all[tokens] = Channel(tokens, self._all)
        return found


def is_empty(queue: Channel | None) -> bool:
    """Whether a queue is there, and nothing waits in it; None is one that nobody reads any more."""
    return queue is not None and not queue.tokens


__all__ = ["Channel", "is_empty"]
