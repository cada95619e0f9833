r"""The journal of a run: JSON Lines, one for each input of a session, enough to replay the run value for value.

    {"journal":1,"accord":"0.1.0","protocol":"tsuro","spec":"tsuro","sha256":"...","role":"server","seed":1, ...}
    {"t":812.3,"in":"start","seed":1,"took":[],"out":[]}
    {"t":812.4,"in":"connect","peer":0,"took":[...],"out":[...]}
    {"t":812.5,"in":"bytes","peer":0,"raw":"\"Ann\"\n","took":[["main.join","named","JOIN","return"]],"out":[...]}
    ...
    {"t":890.0,"end":true,"lines":118}

``t`` is the stamp the session was given, in seconds of a monotone clock; its start came at the date in the first line.
``in`` is start, connect, bytes, lost, tick, answer or failed; or fault, where the runtime itself failed and gave the
session up, for the reason ``why``; or property, where the line before it broke a property of the spec, told in ``why``.
``s`` numbers the session of a role that runs one for each connection; it is left out for the first. ``raw`` is what
came, byte for byte: text if it is UTF-8, else ``{"b64": ...}``. ``took`` lists the transitions (machine, state, event,
destination), ``out`` the effects in short form, ``lag`` how many seconds after the stamp the loop came to handle the
input, if that is a millisecond or more: a busy host shows there.

Lines are written in batches, at most FLUSH_SECONDS late and at once when a session ends. A torn last line, from a
host that died, is passed over when the journal is read. Peers can make a journal grow as fast as they can send, so it
has a limit: there it stops behind a whole line, without the last one, and the run goes on.
"""

from __future__ import annotations

import logging
import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import IO, Annotated, Any, Final, Literal

import msgspec

from machines import effects
from machines.effects import Effect
from machines.engine.call_stack import Transition, TransitionRecord, told
from machines.values import plain

log = logging.getLogger("accord.journal")

FORMAT = 1
FLUSH_SECONDS = 0.5
FLUSH_LINES = 256
FLUSH_BYTES = 1 << 20
READ_BYTES_MAX: Final = (
    1 << 28
)  # 256 MiB: what a journal may have to be drawn, some million inputs; a replay has no limit.
LIMIT_MIB: Final = READ_BYTES_MAX >> 20  # What a journal may have unless told otherwise: all of it can be replayed.
LAG_SECONDS_MIN = 0.001  # Below, the loop was on time, and a line is the shorter for not saying so.

Kind = Literal["start", "connect", "bytes", "lost", "tick", "answer", "failed", "fault", "property"]
Raw = str | dict[str, str]
Took = Sequence[TransitionRecord] | Sequence[Transition]


class JournalError(Exception):
    """A journal cannot be made or read; the text names the file and the cause."""


class Head(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=False):
    """The first line: what ran. ``settings`` are those a person overrode, as written; ``my`` is the client's own."""

    journal: int
    accord: str
    protocol: str
    spec: str
    sha256: str
    role: str
    seed: int
    settings: dict[str, str] = {}
    my: dict[str, Any] = {}
    rules: list[str] = []
    started: str = ""
    backend: str = ""


_Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]


class Line(msgspec.Struct, omit_defaults=True, rename={"kind": "in", "session": "s"}):
    """One input of a session, and what it led to."""

    t: float
    kind: Kind
    session: _Count = 0
    peer: _Count | None = None
    raw: Raw | None = None
    number: _Count | None = None
    value: Any = None
    why: str | None = None
    fault: str = ""  # of failed: in a word, if there is one
    seed: _Count | None = None
    my: dict[str, Any] = {}
    lag: float = 0.0
    took: Any = ()
    out: Any = ()


class End(msgspec.Struct):
    """The last line of a run that came to its end; ``lines`` counts the inputs."""

    t: float
    end: bool
    lines: int


def fault_text(error: Exception) -> str:
    """Return why a session has ended that the runtime brought down: by an exception that is no peer's fault."""
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"a fault of this program, not of a peer: {said}"


def raw_of(data: bytes) -> Raw:
    """Return bytes as a JSON value: text if they are UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"b64": b64encode(data).decode()}


def settled(value: Any) -> Any:
    """Return a value as it reads once it was written to a journal: what a replay compares."""
    return msgspec.json.decode(_encode(value))


def bytes_of(raw: Raw) -> bytes:
    """Return the bytes that ``raw_of`` made a JSON value of.

    Raises:
        ValueError: it is no such value.
    """
    if isinstance(raw, str):
        return raw.encode()
    if set(raw) != {"b64"}:
        raise ValueError("raw is neither a text nor {b64: ...}")
    return b64decode(raw["b64"], validate=True)


_LEFT_OUT = (None, "", ())


def _fields(found: effects.Violation) -> Iterator[tuple[str, Any]]:
    for name in found.__struct_fields__:
        value = getattr(found, name)
        yield name, raw_of(value) if isinstance(value, bytes) else value


# A dictionary by class: a match statement costs twice as much, and this is done for each effect of a run.
_SHORT: Mapping[type, Callable[[Any], Sequence[Any]]] = {
    effects.Send: lambda send: ("send", send.peer, send.message, raw_of(send.data)),
    effects.Drop: lambda drop: ("drop", drop.peer, drop.why),
    effects.SecureLink: lambda secure: ("secure", secure.peer),
    effects.Ask: lambda ask: ("ask", ask.number, ask.question, ask.arguments, ask.messages, ask.seconds),
    effects.Cancel: lambda cancel: ("cancel", cancel.number),
    effects.Violation: lambda found: (
        "violation",
        {name: value for name, value in _fields(found) if value not in _LEFT_OUT},
    ),
    effects.Note: lambda note: ("note", note.level, note.text, note.peer),
    effects.Pause: lambda pause: ("pause", pause.peer),
    effects.Resume: lambda resume: ("resume", resume.peer),
    effects.Ended: lambda ended: (
        ("ended", ended.value, ended.failed)
        if ended.outcome is None
        else ("ended", ended.value, ended.failed, ended.outcome)
    ),
}


def shorts(out: Sequence[Effect]) -> list[Sequence[Any]]:
    """Return effects as lists: the kind, then the values. What was heard is left out: it stands in ``raw``."""
    return [_SHORT[type(effect)](effect) for effect in out if type(effect) is not effects.Received]


def answer_value(value: Any) -> Any:
    """Return a player's answer as it stands in a line: with a name, ``{"message", "holes"}``, else ``{"body"}``."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], Mapping):
        return {"message": value[0], "holes": value[1]}
    return {"body": value}


def answer_of(value: Any) -> Any:
    """Return the answer that ``answer_value`` wrote."""
    return (value["message"], value["holes"]) if "message" in value else value["body"]


_encode = msgspec.json.Encoder(enc_hook=plain).encode
_UNWRITABLE = (TypeError, ValueError, RecursionError, OverflowError, msgspec.MsgspecError)
_NOTHING: dict[str, Any] = {}


# What came from a peer, and what that led to, before it is a line.
_Noted = tuple[float, int, int | None, bytes, float, Took, Sequence[Effect]]


class Journal:
    """An open journal of at most ``limit_bytes``. Nothing here raises once it is open.

    A full disk ends the journal, not the run, and so does the limit: ``broken`` or ``cut`` then says why.
    """

    def __init__(self, path: Path, file: IO[bytes], head: Head, limit_bytes: int = LIMIT_MIB << 20) -> None:
        self.path = path
        self.broken: str | None = None
        self.cut: str | None = None
        self._file = file
        self._limit_bytes = limit_bytes
        self._room = limit_bytes
        self._waiting: list[bytes | _Noted] = [_encode(head)]
        self._bytes = 0
        self._lines = 0
        self._written_at = -inf  # so that the first line is out at once, with the head
        self._now = 0.0

    def write(
        self,
        kind: Kind,
        now: float,
        took: Took,
        out: Sequence[Effect],
        *,
        session: int = 0,
        peer: int | None = None,
        data: bytes | None = None,
        number: int | None = None,
        value: Any = None,
        why: str | None = None,
        fault: str = "",
        seed: int | None = None,
        my: Mapping[str, Any] | None = None,
        lag: float = 0.0,
    ) -> None:
        """Note one input of a session: its kind and stamp, the transitions it took, and the effects it led to.

        With ``data`` the transitions may be those the session keeps, not told yet: that waits until the line is made.
        ``peer`` for connect, bytes and lost; ``data`` for bytes; ``number`` for answer and failed, with ``value`` and
        ``why``; ``seed`` and ``my`` for start.
        """
        waiting = self._waiting
        self._now = now
        self._lines += 1
        if data is not None:
            # Nearly all lines are such, and nobody can change what they are made of. Making them by the hundred takes
            # half the time of making one after each message, when the caches hold other things.
            self._bytes += len(data)
            for effect in out:
                if type(effect) is effects.Send:
                    self._bytes += len(effect.data)
            waiting.append((now, session, peer, data, lag, took, out))
        else:
            answer = answer_value(value) if kind == "answer" else None
            given = dict(my) if my else _NOTHING
            line = Line(now, kind, session, peer, None, number, answer, why, fault, seed, given, lag, took, shorts(out))
            text = _line_text(line)
            self._bytes += len(text)
            waiting.append(text)
        if (
            now - self._written_at >= FLUSH_SECONDS
            or len(waiting) >= FLUSH_LINES
            or self._bytes >= FLUSH_BYTES
            or (out and type(out[-1]) is effects.Ended)
        ):
            self.flush()

    def flush(self) -> None:
        """Hand all lines so far to the operating system."""
        if self._waiting and self.broken is None and self.cut is None:
            texts = [item if isinstance(item, bytes) else _noted_text(item) for item in self._waiting]
            texts.append(b"")  # so that the last line is ended, too
            text = b"\n".join(texts)
            fits = len(text) <= self._room
            if not fits:
                text = text[: text.rfind(b"\n", 0, self._room) + 1]
            self._room -= len(text)
            data = memoryview(text)
            try:
                while data:  # A write to a nearly full disk may take a part.
                    data = data[self._file.write(data) :]
            except OSError as error:
                self.broken = f"{self.path}: {error.strerror or error}"
                log.error("the journal ends here: %s", self.broken)
            else:
                if not fits:
                    self._say_cut()
        self._waiting.clear()
        self._bytes = 0
        self._written_at = self._now

    def _say_cut(self) -> None:
        size = f"{self._limit_bytes >> 20} MiB" if self._limit_bytes >= 1 << 20 else f"{self._limit_bytes} bytes"
        why = f"its limit of {size} is reached; the run goes on, and a greater --journal-limit keeps more"
        self.cut = f"{self.path}: {why}"
        log.warning("the journal ends here: %s", self.cut)

    def close(self) -> None:
        """Write the last line and close the file; a second time does nothing. A run without inputs leaves no file."""
        if self._file.closed:
            return
        if self._lines == 0:  # it never began: the port was in use, a player could not be made
            self._file.close()
            self.path.unlink(missing_ok=True)
            return
        self._waiting.append(_encode(End(self._now, True, self._lines)))
        self.flush()
        try:
            self._file.close()
        except OSError as error:
            log.error("the journal may lack its end: %s: %s", self.path, error.strerror or error)


def _noted_text(noted: _Noted) -> bytes:
    now, session, peer, data, lag, took, out = noted
    late = lag if lag >= LAG_SECONDS_MIN else 0.0
    took = [transition if len(transition) == 4 else told(transition) for transition in took]
    return _line_text(
        Line(now, "bytes", session, peer, raw_of(data), None, None, None, "", None, _NOTHING, late, took, shorts(out))
    )


def _line_text(line: Line) -> bytes:
    try:
        return _encode(line)
    except _UNWRITABLE:
        # A player may answer anything; the session refuses such a value too, and so will the replay.
        line.value = {"body": {"unwritable": _repr(answer_of(line.value))}} if line.kind == "answer" else None
        line.out = [_tame(effect) for effect in line.out]
        return _encode(line)


def _tame(value: Any) -> Any:
    try:
        return msgspec.json.decode(_encode(value))
    except _UNWRITABLE:
        return _repr(value)


def _repr(value: Any) -> str:
    try:
        return repr(value)[:200]
    except Exception as error:  # whatever a strategy's own class does, or RecursionError for a deep one
        return f"a {type(value).__name__} whose repr raises {type(error).__name__}"


def default_folder() -> Path:
    """Return where journals go unless told otherwise: ``accord/journals`` in the user's folder for states."""
    state = os.environ.get("XDG_STATE_HOME", "")
    # The XDG specification has relative paths ignored.
    base = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
    return base / "accord" / "journals"


def open_journal(where: Path | None, head: Head, *, limit_bytes: int = LIMIT_MIB << 20) -> Journal:
    """Make a journal of at most ``limit_bytes``, and write nothing yet.

    ``where`` is a file to be made, or a folder (one that exists, or a path that ends in a separator) in which a name
    with date, protocol and role is found; None for ``default_folder()``.

    Raises:
        JournalError: the file exists already (a journal is never written over), or cannot be made.
    """
    moment = datetime.now(UTC)
    head.started = moment.isoformat(timespec="milliseconds")
    try:
        if where is None or where.is_dir():
            folder = default_folder() if where is None else where
            folder.mkdir(parents=True, exist_ok=True)
            path, file = _new_in(folder, f"{moment:%Y%m%d-%H%M%S}-{head.protocol}-{head.role}")
        else:
            where.parent.mkdir(parents=True, exist_ok=True)
            path, file = where, where.open("xb", buffering=0)
    except RuntimeError as error:  # from pathlib: nobody's home
        raise JournalError(f"there is no folder for journals: {error}") from error
    except OSError as error:
        if isinstance(error, FileExistsError) and where is not None and where.exists():
            raise JournalError(f"{where}: there is a file already, and a journal is never written over") from error
        raise JournalError(f"{error.filename or where}: the journal cannot be made: {_why_not(error)}") from error
    return Journal(path, file, head, limit_bytes)


def _why_not(error: OSError) -> str:
    if isinstance(error, FileExistsError | NotADirectoryError) and error.filename:
        for folder in (Path(error.filename), *Path(error.filename).parents):
            if folder.exists() and not folder.is_dir():
                return f"{folder} is not a folder"
    return error.strerror or str(error)


def _new_in(folder: Path, stem: str) -> tuple[Path, IO[bytes]]:
    for count in range(1, 10_000):
        path = folder / (f"{stem}.jsonl" if count == 1 else f"{stem}-{count}.jsonl")
        try:
            return path, path.open("xb", buffering=0)
        except FileExistsError:
            continue
    raise JournalError(f"{folder}: ten thousand journals named {stem}")
