"""What waits for a peer, from one other: a queue of messages, and at its end perhaps the loss of the connection.

The search puts the same few messages into the same few queues again and again, and asks all the time whether it has
seen a configuration before. So there is one object only for queues of the same content, and each knows those it leads
to.
"""

from __future__ import annotations

from typing import Any


class Waiting:
    """What waits, the oldest first. Two with the same content that come of one empty queue are the same object.

    ``first`` is None if nothing waits, ``rest`` what is left without it; ``messages`` counts what is no loss.
    """

    __slots__ = ("_longer", "first", "is_lost", "messages", "rest", "tokens")

    def __init__(self, tokens: tuple[Any, ...] = (), rest: Waiting | None = None) -> None:
        self.tokens = tokens
        self.first: Any = tokens[0] if tokens else None
        self.rest: Waiting = rest if rest is not None else self
        self.messages = sum(type(one) is tuple for one in tokens)
        self.is_lost = bool(tokens) and type(tokens[-1]) is str  # then nothing comes behind it
        self._longer: dict[Any, Waiting] = {}

    def __len__(self) -> int:
        return len(self.tokens)

    def __repr__(self) -> str:
        return f"Waiting{self.tokens}"

    def then(self, token: Any) -> Waiting:
        """Return this with one more behind it: a message, or the text that says why the connection is lost."""
        if self.is_lost:
            return self
        found = self._longer.get(token)
        if found is None:
            # What is left of it without the first: the same of what is left of this one.
            rest = self.rest.then(token) if self.tokens else self
            found = self._longer[token] = Waiting((*self.tokens, token), rest)
        return found


def is_empty(queue: Waiting | None) -> bool:
    """Whether a queue is there, and nothing waits in it; None is one that nobody reads any more."""
    return queue is not None and not queue.tokens


__all__ = ["Waiting", "is_empty"]
