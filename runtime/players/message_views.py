"""What a game's views say of a message: a board of several lines, or a move in one (``rules.views.<module>.shown``)."""

from __future__ import annotations

from collections.abc import Mapping
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

    def sent(self, message: str, data: bytes) -> str | None:
        """Return what a message that was sent shows; None if it shows nothing."""
        read = self._read(message, data) if self._views else None
        return self.shown(message, read) if read is not None else None

    def board(self, message: str, data: bytes) -> str | None:
        """Return the board that a message which was sent shows; None if it shows none."""
        text = self.sent(message, data)
        return text if text is not None and "\n" in text else None

    def _read(self, message: str, data: bytes) -> dict[str, Any] | None:
        """Return the fields of a message that was sent."""
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
