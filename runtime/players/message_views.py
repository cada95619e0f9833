"""What a game's views say of a message: a board of several lines, or a move in one (``rules.views.<module>.shown``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from machines.messages.bodies import MessageCodec, compile_message
from machines.model import Spec
from machines.wire.codec import Codec, Malformed
from machines.wire.framing import make_framer
from runtime.players.companions import companions


class MessageViews:
    """The views of a spec's game. ``any`` tells whether there are any."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._views = [view.shown for view in companions(spec, "views") if hasattr(view, "shown")]
        self._written = next((view.written for view in companions(spec, "views") if hasattr(view, "written")), None)
        self._seen = next((view.seen for view in companions(spec, "views") if hasattr(view, "seen")), None)
        self._state: Any = None
        self._codec = Codec(spec.wire)
        self._shapes: dict[str, MessageCodec] = {}
        self.any = bool(self._views)

    def shown(self, message: str, fields: Mapping[str, Any]) -> str | None:
        """Return what a message shows; None if it shows nothing."""
        for shown in self._views:
            text: str | None = shown(message, fields)
            if text is not None:
                return text
        return None

    def board(self, who: str, message: str, fields: Mapping[str, Any]) -> Callable[[], str] | None:
        """Return how to write the board that is seen from this message on; None if it stays the one before.

        ``who`` is the client that sent or got the message. It is the board that the message shows, or, where no message
        shows it whole, what a view's ``written`` has of all messages up to this one.
        """
        if self._written is None:
            text = self.shown(message, fields)
            return (lambda: text) if text is not None and "\n" in text else None
        draw: Callable[[], str] | None = None
        with suppress(Exception):  # what a peer wrote need not make sense to a view
            self._state, draw = self._written(self._state, who, message, fields)
        return draw

    def seen(self, state: Any, message: str, data: bytes) -> tuple[Any, str | None]:
        """Return the board that a player sees at a message that was sent to it, in text; None if it shows none.

        ``state`` is what came first of this for its message before, None at the beginning.
        """
        read = self.read(message, data) if self.any else None
        if read is None:
            return state, None
        if self._seen is None:
            text = self.shown(message, read)
            return state, (text if text is not None and "\n" in text else None)
        try:
            state, draw = self._seen(state, message, read)
            return state, (draw() if draw is not None else None)
        except Exception:  # as for `board`
            return state, None

    def read(self, message: str, data: bytes) -> dict[str, Any] | None:
        """Return the fields of a message that was sent; None if it cannot be read back."""
        if message not in self._shapes:
            self._shapes[message] = compile_message(self._spec.messages[message], self._spec.types)
        framer = make_framer(self._spec.wire)
        framer.feed(data)
        raw = framer.next()
        try:
            values = self._shapes[message].read(self._codec.decode(raw)) if raw is not None else None
        except Malformed:  # a text that its own framing cannot hold
            return None
        return dict(zip(self._shapes[message].fields, values, strict=True)) if values is not None else None
