"""The one file that an editor may write: read as text, and written only if it is still what was read."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from hashlib import sha256
from typing import Final

from machines.parser.loader import find, is_path

BYTES_MAX: Final = 1 << 20  # as much as a spec may have


class SpecFileError(Exception):
    """The file cannot be read or written; the text is a sentence that says why.

    ``there`` is the mark of what stands there, if that is the reason.
    """

    def __init__(self, text: str, there: str = "") -> None:
        self.there = there
        super().__init__(text)


class SpecFile:
    """A spec's file. One that ships is shown and not written."""

    def __init__(self, name: str, *, writable: bool = True) -> None:
        """Find it. Raises SpecNotFound: there is none."""
        self.name = name
        self.writable = writable and is_path(name)
        self._path = find(name)

    def read(self) -> tuple[str, str]:
        """Return its text, with plain line ends, and the mark of what was read.

        Raises:
            SpecFileError: it cannot be read, is too long, or is not UTF-8.
        """
        raw = self._raw()
        try:
            return raw.decode("utf-8").replace("\r\n", "\n"), _mark(raw)
        except UnicodeDecodeError as error:
            raise SpecFileError(f"{self.name} is not UTF-8 at byte {error.start}: accord check says where") from None

    def write(self, text: str, mark: str) -> str:
        """Write a text in place of what has this mark, and return the mark of it.

        The lines end as they did. What was there stays until all of the new text is written.

        Raises:
            SpecFileError: it has changed since, or cannot be written.
        """
        if not self.writable:
            if is_path(self.name):
                raise SpecFileError(f"{self.name} is not written from here: accord studio {self.name} does")
            raise SpecFileError(f"{self.name} ships with Accord and is not written: accord new makes one of your own")
        before = self._raw()
        if _mark(before) != mark:
            why = f"{self.name} was changed by another program meanwhile, and is not written over"
            raise SpecFileError(why, _mark(before))
        raw = text.replace("\n", "\r\n" if b"\r\n" in before else "\n").encode("utf-8", "replace")
        if len(raw) > BYTES_MAX:
            raise SpecFileError(f"a spec has at most {BYTES_MAX} bytes, this has {len(raw)}")
        path = self._path.resolve()  # what a link leads to is written, the link stays
        try:
            made, new = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            try:
                with os.fdopen(made, "wb") as file:
                    file.write(raw)
                    file.flush()
                    os.fsync(file.fileno())
                shutil.copymode(path, new)
                os.replace(new, path)
            except BaseException:
                with suppress(OSError):
                    os.unlink(new)
                raise
        except OSError as error:
            raise SpecFileError(f"{self.name} cannot be written: {error.strerror or error}") from None
        return _mark(raw)

    def _raw(self) -> bytes:
        try:
            with self._path.open("rb") as file:
                raw = file.read(BYTES_MAX + 1)
        except OSError as error:
            raise SpecFileError(f"{self.name} cannot be read: {error.strerror or error}") from None
        if len(raw) > BYTES_MAX:
            raise SpecFileError(f"{self.name} is longer than {BYTES_MAX} bytes")
        return raw


def _mark(raw: bytes) -> str:
    return sha256(raw).hexdigest()
