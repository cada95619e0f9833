"""A spec looked at again whenever it, or one it extends, is saved: only what has changed since is told.

It polls: there is nothing in the standard library that tells of changes on all systems, and looking at the dates of a
few files three times a second costs nothing. A save is looked at once the files have been at rest for one round, so
that one half written is not.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from machines.parser.loader import SpecNotFound, find, sources
from machines.problems import SpecError

PAUSE_SECONDS: Final = 0.3  # between two looks at the files; what is saved shows after one or two of them
FILES_MAX: Final = 200  # files of a folder that are watched while a spec that extends another cannot be put together

Stamp = tuple[tuple[str, int, int], ...]
"""Of each file: its path, when it was changed last in nanoseconds, its bytes; both -1 if it is not there."""


def pause() -> None:
    """Wait until the files are looked at again."""
    time.sleep(PAUSE_SECONDS)


def watch(names: Sequence[str], look: Callable[[str], None], wait: Callable[[], None]) -> None:
    """Call ``look`` for each spec, and again after each save of it, until ``wait`` raises.

    ``wait`` returns when the files are to be looked at again: `pause` does so on a clock, tests on their own.
    """
    looked: dict[str, Stamp] = {}
    last: dict[str, Stamp] = {}
    files: dict[str, tuple[Path, ...]] = {}
    while True:
        for name in names:
            files[name] = _files(name, files.get(name, ()))
            stamp = _stamp(files[name])
            at_rest = name not in looked or last[name] == stamp
            last[name] = stamp
            if at_rest and looked.get(name) != stamp:
                looked[name] = stamp
                look(name)
        wait()


def _files(name: str, before: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the files that a spec is made of. If they cannot be told now: those known before, and its folder's."""
    with suppress(SpecNotFound, SpecError):
        return sources(name)
    found: list[Path] = []
    with suppress(SpecNotFound):
        found.append(find(name))
    folder = (found[0] if found else before[0] if before else Path(name)).parent
    with suppress(OSError):
        found += sorted(folder.glob("*.y*ml"))[:FILES_MAX]
    return tuple(dict.fromkeys((*found, *before)))


def _stamp(files: Sequence[Path]) -> Stamp:
    return tuple(_stamped(path) for path in files)


def _stamped(path: Path) -> tuple[str, int, int]:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return str(path), -1, -1
    return str(path), status.st_mtime_ns, status.st_size


class Changes:
    """What was told of each spec, so that only the rest is told next time."""

    def __init__(self) -> None:
        self._told: dict[str, Counter[str]] = {}

    def since(self, name: str, blocks: Sequence[tuple[str, list[str]]]) -> tuple[list[str], list[str]]:
        """Return the lines that are new, and the keys of the blocks that are gone, since the last call for a spec."""
        before = self._told.get(name, Counter())
        now = Counter(key for key, _ in blocks)
        left = Counter(before)
        new: list[str] = []
        for key, lines in blocks:
            if left[key] > 0:
                left[key] -= 1
            else:
                new += lines
        self._told[name] = now
        return new, sorted((before - now).elements())
