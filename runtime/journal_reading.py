"""Reading the journal of a run (`runtime.journal` says what its lines are): whole, or as it grows."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from runtime.journal import FORMAT, READ_BYTES_MAX, End, Head, JournalError, Line, bytes_of

NESTED_MAX: Final = 200  # Lists in lists of one line; a message has 64 at the most.


class Recorded(msgspec.Struct):
    """A journal as read. ``complete`` is false if it lacks its last line.

    It was cut at its limit then, or its host died or still runs.
    """

    head: Head
    lines: list[Line]
    complete: bool
    counted: int | None = None  # how many lines its end says it has


def read_journal(path: Path) -> Recorded:
    """Read a journal.

    Raises:
        JournalError: it cannot be read, is no journal, is of a later format, or is damaged before its last line.
    """
    first, *rest = _content(path).split(b"\n")
    head = read_head(path, first)
    lines: list[Line] = []
    end: End | None = None
    for number, text in enumerate(rest, start=2):
        if not text:
            continue
        if end is not None:
            raise JournalError(f"{path}:{number}: there is a line after the one that ends the journal")
        try:
            entry = read_entry(path, number, text)
        except JournalError:
            if number == len(rest) + 1:  # Torn: not even its line end was written.
                break
            raise
        if isinstance(entry, End):
            end = entry
        else:
            lines.append(entry)
    return Recorded(head, lines, end is not None, end.lines if end is not None else None)


def read_head(path: Path, text: bytes) -> Head:
    """Return what the first line of a journal says.

    Raises:
        JournalError: it is no such line, or one of a later format.
    """
    try:
        _check_nesting(text)
        head = msgspec.json.decode(text, type=Head)
    except _UNREADABLE as error:
        raise JournalError(f"{path}: this is no journal of a run") from error
    if head.journal != FORMAT:
        raise JournalError(f"{path}: the journal has format {head.journal}, this program reads format {FORMAT}")
    return head


_decode_line: Final = msgspec.json.Decoder(Line).decode


def read_entry(path: Path, number: int, text: bytes) -> Line | End:
    """Return what a line of a journal says that is not its first; ``number`` counts from 1.

    Raises:
        JournalError: it is damaged.
    """
    try:
        _check_nesting(text)
        line = _decode_line(text)
        _check(line)
    except _UNREADABLE as error:
        end = _end(text)
        if end is not None:
            return end
        raise JournalError(f"{path}:{number}: this line is damaged: {error}") from error
    return line


# RecursionError is for nesting beyond what the parser does; the others are ValueErrors: not UTF-8, no base64.
_UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)


class JournalEmptyError(JournalError):
    """A journal has not begun: its first line is not there yet."""


class JournalFile:
    """The file of a journal, read from where it was left. Nothing is read from a pipe or a device: they may not end."""

    def __init__(self, path: Path) -> None:
        """Open it. Raises JournalError: it is no file, or cannot be read."""
        self._path = path
        self._read = 0
        try:
            # Opened without waiting: to open a pipe that nobody writes to would take for ever.
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
            self._file = os.fdopen(os.open(path, flags), "rb")
        except OSError as error:
            raise JournalError(f"{path}: {error.strerror or error}") from error
        except ValueError as error:  # a null character in the path
            raise JournalError(f"{str(path)!r} is no path: {error}") from error
        if not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
            self._file.close()
            raise JournalError(f"{path}: this is no file that a journal could stand in")

    def more(self) -> bytes:
        """Return what has been written since; nothing once it is closed.

        Raises:
            JournalError: it cannot be read, or is too long to be.
        """
        if self._file.closed:
            return b""
        try:
            content = self._file.read(READ_BYTES_MAX + 1 - self._read)
        except OSError as error:
            raise JournalError(f"{self._path}: {error.strerror or error}") from error
        self._read += len(content)
        if self._read > READ_BYTES_MAX:
            raise JournalError(f"{self._path}: the journal is longer than {READ_BYTES_MAX} bytes")
        return content

    def close(self) -> None:
        """Read no more."""
        self._file.close()


class GrowingJournal:
    """A journal that may still be written: its lines as they come. ``complete`` once it has its end."""

    def __init__(self, path: Path) -> None:
        """Open it, and read its first line.

        Raises:
            JournalEmptyError: that is not there yet.
            JournalError: as `read_journal`.
        """
        self.complete = False
        self._path = path
        self._file = JournalFile(path)
        self._rest = self._file.more()
        self._number = 1
        try:
            first, ended, self._rest = self._rest.partition(b"\n")
            if not ended:
                raise JournalEmptyError(f"{path}: this is no journal of a run, or one that has not begun")
            self.head = read_head(path, first)
        except JournalError:
            self._file.close()
            raise

    def lines(self) -> Iterator[Line]:
        """Yield the lines that are there and have not been read yet. Raises JournalError as `read_journal`."""
        *texts, self._rest = (self._rest + self._file.more()).split(b"\n")
        for text in texts:
            self._number += 1
            if not text:
                continue
            if self.complete:
                raise JournalError(f"{self._path}:{self._number}: there is a line after the one that ends the journal")
            entry = read_entry(self._path, self._number, text)
            if isinstance(entry, End):
                self.complete = True
            else:
                yield entry

    def close(self) -> None:
        """Read no more."""
        self._file.close()


def _content(path: Path) -> bytes:
    file = JournalFile(path)
    try:
        return file.more()
    finally:
        file.close()


_TEXTS: Final = re.compile(rb'"(?:[^"\\]|\\.)*"')
_BRACKETS: Final = re.compile(rb"[\[\]{}]")


def _check_nesting(text: bytes) -> None:
    if text.count(b"[") + text.count(b"{") <= NESTED_MAX:
        return
    depth = deepest = 0
    # Without its escapes and texts a line has brackets only where they nest.
    for bracket in _BRACKETS.findall(_TEXTS.sub(b"", text)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    if deepest > NESTED_MAX:
        raise ValueError(f"nested deeper than {NESTED_MAX}")


def _check(line: Line) -> None:
    """Raise a ValueError if a line lacks what its kind must have, or has what no journal is written with."""
    if not isinstance(line.took, list | tuple) or not isinstance(line.out, list | tuple):  # a tuple is a default
        raise ValueError("took and out are lists")
    if line.kind in ("bytes", "lost") and line.peer is None:
        raise ValueError(f"{line.kind} needs a peer")
    if line.kind == "bytes":
        if line.raw is None:
            raise ValueError("bytes needs what came, raw")
        bytes_of(line.raw)
    if line.kind in ("answer", "failed") and line.number is None:
        raise ValueError(f"{line.kind} needs the number of its question")
    if line.kind == "answer":
        value = line.value
        fields = set(value) if isinstance(value, dict) else set()
        whole = fields == {"message", "holes"}
        named = whole and isinstance(value["message"], str) and isinstance(value["holes"], dict)
        if not named and fields != {"body"}:
            raise ValueError("the value of an answer is {message, holes} or {body}")


def _end(text: bytes) -> End | None:
    try:
        found = msgspec.json.decode(text, type=End)
    except _UNREADABLE:
        return None
    return found if found.end else None
