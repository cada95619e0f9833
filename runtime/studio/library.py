"""What a folder has for the studio: journals of runs, over or going on, events, and specs. Only heads are read."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from runtime.journal.reading import read_entry, read_head
from runtime.journal.writing import End, JournalError

FILES_MAX: Final = 2_000  # that are listed, those changed last
DEPTH_MAX: Final = 4  # folders within folders: the journal of an event's match is two deep
HEAD_BYTES_MAX: Final = 1 << 16  # of a file, to know what it is
TAIL_BYTES: Final = 512  # of a journal, in which its end stands
LIVE_SECONDS: Final = 60.0  # since a run without an end was last written, for which it counts as going on
_TITLE: Final = re.compile(rb"^(event|protocol|extends): *([^\n#]*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Listed:
    """A file. ``kind`` is run, spec or event; ``state`` that of a run: over, going on, or without an end."""

    key: str
    kind: str
    name: str  # its path in the folder
    title: str  # the protocol, or the event
    about: str = ""
    state: str = ""
    changed: float = 0.0  # when it was last written, seconds since the epoch


class Library:
    """The files of one folder. No path comes from a page: it names one by its key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[Path, tuple[tuple[float, int], Listed | None]] = {}
        self._paths: dict[str, Path] = {}

    def listed(self) -> list[Listed]:
        """Look into the folder, and return what is there; what was written last comes first."""
        found: list[Listed] = []
        now = time.time()
        stats = []
        for path in self._files(self.folder, DEPTH_MAX):
            try:
                stats.append((path.stat(), path))
            except OSError:  # it has gone meanwhile
                continue
        stats.sort(key=lambda one: -one[0].st_mtime)
        for stat, path in stats[:FILES_MAX]:
            mark = stat.st_mtime, stat.st_size
            if path not in self._known or self._known[path][0] != mark:
                self._known[path] = mark, self._look(path, stat.st_mtime, stat.st_size)
            one = self._known[path][1]
            if one is not None:
                found.append(one if one.state != "going on" or now - one.changed < LIVE_SECONDS else _left(one))
                self._paths[one.key] = path
        return found

    def facts(self) -> dict[str, Any]:
        """Return the same for a page."""
        return {"folder": self.folder.resolve().name, "files": [asdict(one) for one in self.listed()]}

    def path_of(self, key: str) -> Path | None:
        """Return the file of a key, None if there is none of it."""
        if key not in self._paths:
            self.listed()
        return self._paths.get(key)

    def _files(self, folder: Path, depth: int) -> Iterator[Path]:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            if entry.is_dir() and depth > 1:
                yield from self._files(Path(entry.path), depth - 1)
            elif entry.is_file() and entry.name.endswith((".jsonl", ".yaml", ".yml")):
                yield Path(entry.path)

    def _look(self, path: Path, changed: float, size: int) -> Listed | None:
        name = path.relative_to(self.folder).as_posix()
        key = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        shown = name.encode("utf-8", "replace").decode()
        try:
            with path.open("rb") as file:
                first = file.read(HEAD_BYTES_MAX)
                file.seek(max(0, size - TAIL_BYTES))
                last = file.read(TAIL_BYTES)
        except OSError:
            return None
        if path.suffix == ".jsonl":
            return _run(path, key, shown, first, last, changed)
        found = {one[1]: one[2].decode("utf-8", "replace") for one in _TITLE.finditer(first)}
        titles = {word: text.strip().strip("'\"") for word, text in found.items()}
        if b"event" in titles:
            return Listed(key, "event", shown, titles[b"event"], changed=changed)
        if titles:
            return Listed(key, "spec", shown, titles.get(b"protocol") or titles[b"extends"], changed=changed)
        return None


def _run(path: Path, key: str, name: str, first: bytes, last: bytes, changed: float) -> Listed | None:
    try:
        head = read_head(path, first.partition(b"\n")[0])
    except JournalError:
        return None
    try:
        over = isinstance(read_entry(path, 0, last.strip().rpartition(b"\n")[2]), End)
    except JournalError:
        over = False
    about = f"{head.role}, seed {head.seed}"
    return Listed(key, "run", name, head.protocol, about, "over" if over else "going on", changed)


def _left(one: Listed) -> Listed:
    return Listed(one.key, one.kind, one.name, one.title, one.about, "without an end", one.changed)
