"""A game as it goes, on standard error: on a terminal its board in place, elsewhere a line for each move.

What a message shows is the game's own business (``rules.views.<module>.shown``): text of several lines is a board, of
one line a move. A game without a view shows its messages.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec

from machines.effects import Effect, Ended, Note, Received, Send
from machines.model import Spec
from machines.values import plain
from runtime.commands.results import result_lines
from runtime.players.message_views import MessageViews
from runtime.process.output import note
from runtime.process.terminal_text import escape_control_characters
from runtime.sessions.game_result import Participant

if TYPE_CHECKING:
    from rich.live import Live

TEXT_MAX = 100
LINES_KEPT = 6  # Under the board on a terminal: the moves of one round.

WHY_OUT = ("late:", "closed:")  # How notes begin that say why a player is out; the other reasons are warnings.


class Progress:
    """Watches the effects of a game's session. Players join in order, so peer n is the n-th of ``seats``.

    ``in_place`` keeps one board on the screen and draws it anew; otherwise lines are written one after another, and
    the board once, at the end. Where the result in lines follows, ``then_told``, the board at the end leaves out what
    that says, such as the ranking. To be used as a context manager.
    """

    def __init__(
        self, spec: Spec, seats: Sequence[Participant], *, then_told: bool = False, in_place: bool | None = None
    ) -> None:
        self._spec = spec
        self._then_told = then_told
        self._seats = seats
        self._views = MessageViews(spec)
        self._in_place = sys.stderr.isatty() if in_place is None else in_place
        self._write_board: Callable[[], str] = str
        self._lines: deque[str] = deque(maxlen=LINES_KEPT)
        self._live: Live | None = None

    def __enter__(self) -> Progress:
        if self._in_place:
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True), refresh_per_second=10)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._draw()
            self._live.stop()
            self._live = None

    def __call__(self, effect: Effect) -> None:
        """Show an effect, if there is something to see in it."""
        match effect:
            case Received(peer, message, fields):
                self._see(peer, message, fields, draws=False)
                self._say(f"{self._who(peer)}: {self._views.shown(message, fields) or _brief(message, fields)}")
            case Send(peer, data, message) if self._views.any and (read := self._views.read(message, data)) is not None:
                self._see(peer, message, read)
            case Note("error", text, None) if text.startswith("the session failed"):
                pass  # it is told with the result
            case Note("warning" | "error", text, peer):
                self._say(f"{self._who(peer)}: {text}" if peer is not None else text)
            case Note("info", text, int() as peer) if text.startswith(WHY_OUT):
                self._say(f"{self._who(peer)}: {text.partition(':')[0]}")
            case Ended():
                board = self._write_board()
                if self._then_told:
                    told = {line.strip() for line in result_lines(self._spec, effect)}
                    board = "\n".join(line for line in board.split("\n") if line.strip() not in told)
                self._write_board = lambda: board
                if board and self._live is None:
                    note(board)
            case _:
                pass

    def _see(self, peer: int, message: str, fields: Mapping[str, Any], *, draws: bool = True) -> None:
        """Take the board that a message shows, if it shows one, and draw it."""
        write = self._views.board(self._who(peer), message, fields)
        if write is not None:
            self._write_board = write
            if draws:
                self._draw()

    def _who(self, peer: int) -> str:
        return self._seats[peer].name if peer < len(self._seats) else f"peer {peer}"

    def _say(self, line: str) -> None:
        if self._live is None:
            note(line)
        else:
            self._lines.append(line)
            self._draw()

    def _draw(self) -> None:
        if self._live is not None:
            from rich.text import Text

            text = "\n".join([self._write_board(), "", *self._lines])
            self._live.update(Text(escape_control_characters(text).strip("\n")))


def _brief(message: str, fields: Mapping[str, Any]) -> str:
    told = " ".join(f"{name} {msgspec.json.encode(plain(value)).decode()}" for name, value in fields.items())
    text = f"{message} {told}".rstrip()
    return text if len(text) <= TEXT_MAX else text[: TEXT_MAX - 3] + "..."
