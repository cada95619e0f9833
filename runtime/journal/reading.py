"""Reading the journal of a run (`runtime.journal.writing` says what its lines are): whole, or as it grows."""

from __future__ import annotations

import os
import re
import stat
from collections import deque
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Final, Self

import msgspec

from runtime.journal.writing import FORMAT, READ_BYTES_MAX, End, Head, JournalError, Line, bytes_of

BLOCK_BYTES: Final = 1 << 20
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
    """Read a journal, all of it into memory.

    Raises:
        JournalError: it cannot be read, is no journal, is of a later format, is longer than READ_BYTES_MAX, or is
            damaged before its last line.
    """
    with JournalLines(path, bytes_max=READ_BYTES_MAX) as recorded:
        lines = list(recorded.lines)
        return Recorded(recorded.head, lines, recorded.complete, recorded.counted)


class JournalLines:
    """A journal of any length, read line by line: what is in memory of it is a block.

    ``lines`` can be gone through once; ``complete`` and ``counted``, as of `Recorded`, are known behind the last.
    """

    def __init__(self, path: Path, *, bytes_max: float = inf) -> None:
        """Open it, and read its first line; errors as for `read_journal`, with ``bytes_max`` as its limit."""
        self.complete = False
        self.counted: int | None = None
        self._path = path
        self._file = JournalFile(path)
        if self._file.size > bytes_max:
            self._file.close()
            raise JournalError(f"{path}: the journal is longer than {bytes_max} bytes")
        self._texts = self._read()
        try:
            self.head = read_head(path, next(self._texts, (b"", False))[0])
        except JournalError:
            self._file.close()
            raise
        self.lines = self._lines()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _lines(self) -> Iterator[Line]:
        for number, (text, ended) in enumerate(self._texts, start=2):
            if not text:
                continue
            if self.complete:
                raise JournalError(f"{self._path}:{number}: there is a line after the one that ends the journal")
            try:
                entry = read_entry(self._path, number, text)
            except JournalError:
                if not ended:  # Torn: not even its line end was written.
                    break
                raise
            if isinstance(entry, End):
                self.complete, self.counted = True, entry.lines
            else:
                yield entry

    def _read(self) -> Iterator[tuple[bytes, bool]]:
        """Yield each line, and whether its end is there."""
        begun: list[bytes] = []  # of a line, in blocks: its end is yet to come
        while block := self._file.block():
            first, *others = block.split(b"\n")
            begun.append(first)
            if sum(map(len, begun)) > READ_BYTES_MAX:
                raise JournalError(f"{self._path}: a line is longer than {READ_BYTES_MAX} bytes")
            if others:
                yield b"".join(begun), True
                *whole, last = others
                yield from ((text, True) for text in whole)
                begun = [last]
        yield b"".join(begun), False


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

    @property
    def size(self) -> int:
        """How many bytes there are by now."""
        return os.fstat(self._file.fileno()).st_size

    @property
    def waiting(self) -> int:
        """How many bytes have been written since ``more`` was called; none once it is closed."""
        return 0 if self._file.closed else max(0, self.size - self._read)

    def block(self) -> bytes:
        """Return the next piece of what was written, none behind the last. Raises JournalError: it cannot be read."""
        try:
            return self._file.read(BLOCK_BYTES)
        except OSError as error:
            raise JournalError(f"{self._path}: {error.strerror or error}") from error

    def more(self) -> bytes:
        """Return what has been written since; nothing once it is closed.

        Raises:
            JournalError: it cannot be read, is too long to be, or is no longer the file that was opened: it was cut, or
                another stands in its place.
        """
        if self._file.closed:
            return b""
        try:
            # As much as is there: room for all that there may be would be got anew for each look.
            content = self._file.read(min(self.waiting, READ_BYTES_MAX + 1 - self._read))
            if not content and self._read:
                self._check_place()
        except OSError as error:
            raise JournalError(f"{self._path}: {error.strerror or error}") from error
        self._read += len(content)
        if self._read > READ_BYTES_MAX:
            raise JournalError(f"{self._path}: the journal is longer than {READ_BYTES_MAX} bytes")
        return content

    def _check_place(self) -> None:
        """Make sure that what is written now would be read; what was read of it is no journal with that. Raises."""
        here = os.fstat(self._file.fileno())
        if here.st_size < self._read:
            raise JournalError(f"{self._path}: the journal was cut while it was read: open it again")
        try:
            there = os.stat(self._path)
        except FileNotFoundError:
            raise JournalError(f"{self._path}: the journal was removed while it was read") from None
        if not os.path.samestat(here, there):
            raise JournalError(f"{self._path}: another file stands in the journal's place: open it again")

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
        self._texts: deque[bytes] = deque()  # lines that were read, and not yielded yet
        self._number = 1
        try:
            first, ended, self._rest = self._rest.partition(b"\n")
            if not ended:
                raise JournalEmptyError(f"{path}: this is no journal of a run, or one that has not begun")
            self.head = read_head(path, first)
        except JournalError:
            self._file.close()
            raise

    @property
    def waiting(self) -> int:
        """How many bytes, about, have not been yielded yet."""
        return self._file.waiting + sum(map(len, self._texts))

    def lines(self) -> Iterator[Line]:
        """Yield the lines that are there and have not been yielded yet. Raises JournalError as `read_journal`."""
        if not self._texts:
            *texts, self._rest = (self._rest + self._file.more()).split(b"\n")
            self._texts.extend(texts)
        while self._texts:
            text = self._texts.popleft()
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
