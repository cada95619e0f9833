"""A folder for each player, to be handed to whoever wrote it: what it was sent and said, when, and what went wrong.

    DIR/ann/conversation.txt     every message and what came of it, with its time
    DIR/ann/board.txt            the board as it was shown to ann, where the game has a view that draws one
    DIR/ann/input.jsonl          the lines that its program was given to read: it can be fed with them again
    DIR/ann/stderr.txt           what its program wrote to standard error
    DIR/ann/reasons.txt          why it lost, if it did

It is written from what a journal is written from, so it takes the place of one, and hands all on to one.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from machines.effects import Drop, Effect, Ended, SecureLink, Send, Violation
from machines.engine.session import Session
from machines.model import Spec
from runtime.journal.losses import Loss, evidence, violation_text
from runtime.journal.writing import Kind, Took
from runtime.players.message_views import MessageViews
from runtime.sessions.game_result import GameResult
from runtime.sessions.session_journal import JournalWriter

log = logging.getLogger("accord.folders")

BYTES_MAX: Final = 16 << 20  # of one file: a peer can send as much as it likes
HELD_CHARACTERS_MAX: Final = 1 << 16  # of what waits for a name
FOLDERS_MAX: Final = 1000  # whoever connects again and again makes no more of them
CONVERSATION: Final = "conversation.txt"
BOARD: Final = "board.txt"
ERRORS: Final = "stderr.txt"
REASONS: Final = "reasons.txt"
INPUT: Final = "input.jsonl"
CUT: Final = "... the rest is left out: this file has its limit of {} bytes\n"


_Seat = tuple[int, int]  # the number of a session, and of a peer in it


class FolderError(Exception):
    """The folders cannot be made; the text names the place and the cause."""


class PlayerFolders:
    """Writes a folder for each player of a session, or of several; see the module for what is in it.

    ``name_of`` gives what a peer is called, by its seat; empty where that is not known, and its number stands for it.
    With ``apart`` each session is one player's, and the ``my.name`` that it begins with is what that is called.
    ``inner`` is the journal that is kept besides. Nothing but the constructor raises: a disk that is full ends the
    folders, not the run.

    Raises:
        FolderError: there is something in the folder already, or it cannot be made.
    """

    def __init__(
        self,
        folder: Path,
        spec: Spec,
        *,
        name_of: Callable[[int], str] = lambda peer: "",
        apart: bool = False,
        inner: JournalWriter | None = None,
        bytes_max: int = BYTES_MAX,
    ) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise FolderError(f"{folder}: there is something in it already, and no player's folder is written over")
        except OSError as error:
            why = "it is not a folder" if isinstance(error, FileExistsError) else error.strerror or error
            raise FolderError(f"{folder}: the players' folders cannot be made: {why}") from error
        self._folder = folder
        self._name_of = name_of
        self._apart = apart
        self._inner = inner
        self._views = MessageViews(spec)
        self._bytes_max = bytes_max
        self._began: float | None = None
        self._texts: dict[_Seat, dict[str, list[str]]] = {}  # what waits to be written, by seat and file
        self._room: dict[tuple[str, str], int] = {}
        self._names: dict[_Seat, str] = {}  # the folder of each, once it is known
        self._folders: dict[str, str] = {}  # that of each who is called by a name
        self._gone: set[_Seat] = set()
        self._held: dict[_Seat, int] = {}  # characters that wait
        self._players: dict[int, str] = {}  # of sessions that are one player's, its name
        self._boards: dict[_Seat, tuple[Any, str]] = {}  # of each, what its view knows, and the last board
        self._own: dict[str, Loss] = {}  # what a player's own client decided, until it is told
        self._hung_up: set[_Seat] = set()  # whose client closed the connection for that
        self._broken = self._limited = False

    # -- as a journal ------------------------------------------------------------------------------------------------

    def write(
        self, kind: Kind, now: float, took: Took, out: Sequence[Effect], *, session: int = 0, **what: Any
    ) -> None:
        """See `JournalWriter.write`."""
        if self._inner is not None:
            self._inner.write(kind, now, took, out, session=session, **what)
        if self._began is None:
            self._began = now
        try:
            self._tell(kind, f"{now - self._began:10.3f} s  ", out, session, what)
        except Exception as error:  # a name or a message that is like none before is no reason to end a game
            log.warning("the players' folders lack a line: %s: %s", type(error).__name__, error)

    def flush(self) -> None:
        """See `JournalWriter.flush`."""
        if self._inner is not None:
            self._inner.flush()
        self._write_out(last=False)

    def _write_out(self, *, last: bool) -> None:
        """Write what waits, but for what is of peers whose names are still to come."""
        for seat in tuple(self._texts):
            waits_long = seat in self._gone or self._held[seat] > HELD_CHARACTERS_MAX
            player = self._player(*seat, last=last or waits_long)
            if player:
                self._held[seat] = 0
                for name, texts in self._texts.pop(seat).items():
                    self._append(player, name, "".join(texts))

    def note_loss(self, loss: Loss) -> None:
        """Take note of a loss at once: what a player's own client decided, the server's session does not know."""
        if loss.own:
            self._own.setdefault(loss.name, loss)

    def _own_loss(self, session: int, peer: int, time: str) -> bool:
        """Tell what a player's own client decided since the last line; return whether there was something."""
        loss = self._own.pop(self._name_of(peer) or self._players.get(session, ""), None)
        if loss is not None:
            self._note(session, peer, f"{time}AT FAULT     {violation_text(loss.violation, loss.name)}\n")
        return loss is not None

    def _lost(self, session: int, peer: int, time: str, why: str | None) -> None:
        self._gone.add((session, peer))
        if self._own_loss(session, peer, time):
            self._hung_up.add((session, peer))
            why = "its client hung up, as its program was at fault"
        self._note(session, peer, f"{time}its connection ended: {why or 'it hung up'}\n")

    def _tell(self, kind: str, time: str, out: Sequence[Effect], session: int, what: dict[str, Any]) -> None:
        if kind == "start" and self._apart and isinstance(name := (what.get("my") or {}).get("name"), str):
            self._players[session] = name
        peer = what.get("peer")
        if peer is not None:
            data = what.get("data")
            if kind == "bytes" and data is not None:
                self._own_loss(session, peer, time)
                self._note(session, peer, f"{time}it said      {evidence(data, len(data), len(data))}\n")
            elif kind == "connect":
                self._note(session, peer, f"{time}it connected\n")
            elif kind == "lost":
                self._lost(session, peer, time, what.get("why"))
        for effect in out:
            match effect:
                case Send(peer, data, message):
                    self._note(session, peer, f"{time}it was sent  {evidence(data, len(data), len(data))}\n")
                    self._show(session, peer, time, message, data)
                case Violation(int() as peer, kind="closed") if (session, peer) in self._hung_up:
                    pass  # that is what followed, not the cause
                case Violation(int() as peer):
                    said = violation_text(effect, effect.name or "it")
                    self._note(session, peer, f"{time}AT FAULT     {said}\n")
                case SecureLink(peer):
                    self._note(session, peer, f"{time}it is secure from here on: TLS\n")
                case Drop(peer, why):
                    self._gone.add((session, peer))
                    self._note(session, peer, f"{time}its connection is closed: {why}\n")
                case Ended(_, failed) if failed is not None:
                    for known in dict.fromkeys((*self._names, *self._texts)):
                        if known[0] == session:
                            self._note(*known, f"{time}the game failed, which is no player's fault: {failed}\n")

    def _show(self, session: int, peer: int, time: str, message: str, data: bytes) -> None:
        """Write the board, if a message that was sent shows another than the last one."""
        known, last = self._boards.get((session, peer), (None, ""))
        known, board = self._views.seen(known, message, data)
        self._boards[session, peer] = known, board or last
        if board is not None and board != last:
            self._put((session, peer), BOARD, f"{time}{message}\n{board}\n\n")

    def _note(self, session: int, peer: int, text: str) -> None:
        self._put((session, peer), CONVERSATION, text)

    def _put(self, seat: _Seat, name: str, text: str) -> None:
        if seat not in self._names and seat not in self._texts:
            if len(self._names) + len(self._texts) >= FOLDERS_MAX:
                self._tell_of_limit()
                return
            self._held[seat] = 0
        self._texts.setdefault(seat, {}).setdefault(name, []).append(text)
        self._held[seat] += len(text)

    def _tell_of_limit(self) -> None:
        if not self._limited:
            self._limited = True
            log.warning("there are %d players' folders: whoever comes now gets none", FOLDERS_MAX)

    def _player(self, session: int, peer: int, *, last: bool) -> str:
        """Return the name of a peer's folder; empty if it may still get one, and it is not the ``last`` time."""
        known = self._names.get((session, peer))
        if known is None:
            known = self._name_of(peer) or self._players.get(session, "")
            if not known and not last:
                return ""
            number = f"peer{peer}" if not session else f"session{session}-peer{peer}"
            called, known = known or number, file_name(known) if known else number
            if known in self._names.values():
                known = f"{known}-{number}"
            self._names[session, peer] = known
            self._folders.setdefault(called, known)
        return known

    # -- at the end --------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Write all that still waits."""
        self._write_out(last=True)

    def finish(self, result: GameResult) -> None:
        """Add what is known once the game is over: why each lost, and what programs wrote to standard error."""
        self.close()
        for player in result.players:
            name = self._folders.get(player.name) or self._new_folder(player.name)
            self._append(name, INPUT, player.told)
            self._append(name, ERRORS, player.errors)
            own: list[Loss] = [loss for loss in result.losses if loss.name == player.name]
            self._append(name, REASONS, "".join(f"{violation_text(loss.violation, loss.name)}\n" for loss in own))

    def _new_folder(self, called: str) -> str:
        """Return the folder of somebody who was never heard of."""
        name, number = file_name(called), 1
        taken = {*self._folders.values(), *self._names.values()}
        while name in taken:
            number += 1
            name = f"{file_name(called)}-{number}"
        self._folders[called] = name
        return name

    def _append(self, player: str, name: str, text: str) -> None:
        if not text or self._broken:
            return
        room = self._room.get((player, name), self._bytes_max)
        data = text.encode(errors="backslashreplace")
        self._room[player, name] = max(0, room - len(data))
        if room == 0:
            return
        if len(data) >= room:
            data = data[:room].rpartition(b"\n")[0] + b"\n" + CUT.format(self._bytes_max).encode()
        try:
            (self._folder / player).mkdir(exist_ok=True)
            with open(self._folder / player / name, "ab") as file:
                file.write(data)
        except OSError as error:
            self._broken = True
            log.error("the players' folders end here: %s: %s", self._folder / player, error.strerror or error)


def name_in(session: Session | None, peer: int) -> str:
    """Return the name that a peer has since its sign-up; empty if it has none, or there is no such peer."""
    known = session is not None and peer < len(session.seats)
    name = session.seats[peer].peer.fields.get("name") if session is not None and known else None
    return name if isinstance(name, str) else ""


def file_name(name: str) -> str:
    """Return a name as that of a folder on every system, of no path and of no more than a hundred characters."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:100] or "_"
