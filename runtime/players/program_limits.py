"""What a program that plays may take: time to start, memory, processes, output. Who takes more is ended, and told why.

Memory and processes are looked at several times a second in ``/proc``, of all that the program has started. An address
space that is limited beforehand (``RLIMIT_AS``) would not do: node and java reserve far more than they use. Where there
is no ``/proc`` neither is limited.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from runtime.players.base import DecisionError
from runtime.players.descendants import MARK

LOOK_SECONDS: Final = 0.2  # Between two looks at memory and processes: half a gigabyte may come in between.
LOOKS_AT_NEW: Final = 5  # at the environment of a process, until it is known to be no program's
FIRST_TO_KILL: Final = b"1000"  # by the system, should memory run out: never whoever plays against it
_PROCESSES: Final = Path("/proc")
_MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """What one program may take, with all that it starts; None stands for as much as it likes.

    ``start_seconds`` is how long is waited for it before its first question, ``memory_bytes`` what its processes hold
    at a time, what several share counted once, ``processes`` how many they are, ``output_bytes`` what it writes in all,
    to standard output and standard error.
    """

    start_seconds: float | None = None
    memory_bytes: int | None = None
    processes: int | None = None
    output_bytes: int | None = None


UNLIMITED: Final = ProgramLimits()


class Allowance:
    """What a program has taken. ``exceeded`` is why it was ended, kind and text; None while it keeps within limits."""

    def __init__(self, limits: ProgramLimits, end: Callable[[], None]) -> None:
        self.limits = limits
        self.exceeded: tuple[str, str] | None = None
        self._end = end
        self._written = 0

    def check(self) -> None:
        """Raise DecisionError if it was ended as it took too much."""
        if self.exceeded is not None:
            kind, why = self.exceeded
            raise DecisionError(why, kind)

    def wrote(self, count: int) -> None:
        """Note that it wrote so many bytes."""
        self._written += count
        most = self.limits.output_bytes
        if most is not None and self._written > most:
            self._exceed("flood", f"it wrote more than {_size(most)}, which is all that it may in a game")

    async def watch(self, pid: int, mark: str) -> None:
        """Look at its memory and processes until it has taken too much; ``mark`` stands in its environment."""
        memory, most = self.limits.memory_bytes, self.limits.processes
        if (memory is None and most is None) or not _PROCESSES.is_dir():
            return
        with suppress(OSError):
            (_PROCESSES / str(pid) / "oom_score_adj").write_bytes(FIRST_TO_KILL)
        while self.exceeded is None:
            await anyio.sleep(LOOK_SECONDS)
            found = _TABLE.of(pid, mark)
            if most is not None and len(found) > most:
                self._exceed("processes", f"it had {len(found)} processes at a time, and may have {most}")
            elif memory is not None and sum(found.values()) > memory and (held := _held(found)) > memory:
                self._exceed("memory", f"it held {_size(held)} of memory, and may hold {_size(memory)}")

    def _exceed(self, kind: str, why: str) -> None:
        if self.exceeded is None:
            self.exceeded = kind, why
            self._end()


@dataclass(frozen=True, slots=True)
class _Seen:
    """A process: its group, what it holds with all that it shares in bytes, its program, how often it was seen."""

    group: int
    held: int
    mark: str
    looks: int


class _ProcessTable:
    """The processes of this machine as they were a moment ago; all programs of this process share a look."""

    def __init__(self) -> None:
        self._looked = float("-inf")
        self._seen: dict[tuple[str, str], _Seen] = {}  # by number and time of start

    def of(self, pid: int, mark: str) -> dict[int, int]:
        """Return what each process of a program holds, by the process's number."""
        if time.monotonic() - self._looked > LOOK_SECONDS * 0.8:
            self._seen = dict(self._look())
            self._looked = time.monotonic()
        return {int(key[0]): one.held for key, one in self._seen.items() if one.group == pid or one.mark == mark}

    def _look(self) -> Iterator[tuple[tuple[str, str], _Seen]]:
        page = os.sysconf("SC_PAGE_SIZE")
        for name in os.listdir(_PROCESSES):
            if name.isdecimal():
                with suppress(OSError, IndexError):  # it has ended, or is another user's
                    with open(f"{_PROCESSES}/{name}/stat", "rb", buffering=0) as file:
                        fields = file.read(1024).rpartition(b")")[2].split()
                    key = name, fields[19].decode()
                    known = self._seen.get(key, _NEW)
                    # To begin with it may have the environment of whoever started it; later on nobody gives it another.
                    mark = known.mark if known.mark or known.looks > LOOKS_AT_NEW else _mark_of(name)
                    yield key, _Seen(int(fields[2]), int(fields[21]) * page, mark, known.looks + 1)


_NEW: Final = _Seen(0, 0, "", 0)
_TABLE: Final = _ProcessTable()


def _mark_of(name: str) -> str:
    """Return what a process has in its environment as its program's mark; empty if nothing, or nobody may know."""
    wanted = f"{MARK}=".encode()
    with suppress(OSError), open(f"{_PROCESSES}/{name}/environ", "rb", buffering=0) as file:
        for part in file.read().split(b"\0"):
            if part.startswith(wanted):
                return part.removeprefix(wanted).decode(errors="replace")
    return ""


def _held(processes: dict[int, int]) -> int:
    """Return what processes hold together in bytes, with what several share counted once where the system says that."""
    total = 0
    for pid, held in processes.items():
        try:
            text = (_PROCESSES / str(pid) / "smaps_rollup").read_text()
            total += next(int(line.split()[1]) << 10 for line in text.splitlines() if line.startswith("Pss:"))
        except ProcessLookupError:
            pass
        except (OSError, StopIteration):
            total += held
    return total


def _size(count: int) -> str:
    return f"{count / _MIB:.0f} MiB" if count >= _MIB else f"{count} bytes"
