"""The programs that play, and all that they start, end with this process, whatever ends it.

A program has a process group of its own, which is killed when it is through. What left the group (``setsid``, a
daemon) is found by a mark in its environment, which whatever a program starts inherits; Linux shows it in ``/proc``.

Where this process is killed itself nothing of it runs any more. So a second one, the *warden*, holds the other end of a
pipe, is told of each program that starts and ends, and does the killing when the pipe is closed. It is this very file,
run by a bare interpreter.

Not found is who left the group and cleared its environment, or runs as another user; on systems without ``/proc``
whoever left the group; on Windows there is no warden.
"""

from __future__ import annotations

import atexit
import os
import secrets
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

MARK = "ACCORD_PROGRAM"  # the variable: the run's own token, a hyphen, the number of the program
ROUNDS_MAX = 20  # whoever starts others while it is killed is looked for again, so often
WARDEN_SECONDS = 5.0  # how long the warden may take to end

_PROCESSES = Path("/proc")


class Warden:
    """Knows the programs of this process; ``mark`` is what stands in their environments."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self.begin()

    def begin(self) -> None:
        """Know no program yet, under a token of this process's own.

        A process that was forked calls this before it starts a program: under the token of the one that it was forked
        of, its brothers would end its programs with theirs.
        """
        self._token = secrets.token_hex(8)
        self._count = 0
        self._process = None
        self._owner = os.getpid()

    def environment(self) -> dict[str, str]:
        """Return the environment for a further program, with a mark of its own."""
        self._count += 1
        return {**os.environ, MARK: f"{self._token}-{self._count}"}

    def started(self, pid: int) -> None:
        """Tell the warden of a program that runs in a process group of its own."""
        if hasattr(os, "killpg"):
            if self._process is None or self._process.poll() is not None:
                self._process = self._start()
            self._tell(f"+{pid}\n")

    def ended(self, pid: int) -> None:
        """Tell the warden of a program that has been ended."""
        self._tell(f"-{pid}\n")

    def close(self) -> None:
        """Have the warden end what is left of all programs, and itself."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():  # a fork of ours has no warden
            return
        assert process.stdin is not None, "it was started with a pipe"
        with suppress(OSError):
            process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(WARDEN_SECONDS)

    def _start(self) -> subprocess.Popen[bytes]:
        atexit.unregister(self.close)
        atexit.register(self.close)
        return subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, self._token],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # what is meant for the terminal is not meant for it
        )

    def _tell(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError, ValueError):  # it was killed
                self._process.stdin.write(line.encode())
                self._process.stdin.flush()


def kill_group(pid: int) -> None:
    """Kill a process group. Nobody of it may be left, which macOS calls PermissionError if there are zombies."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def kill_marked(mark: str) -> None:
    """Kill every process with a mark in its environment that begins so, where the system shows that."""
    for _ in range(ROUNDS_MAX):
        found = marked(mark)
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def marked(mark: str) -> list[int]:
    """Return the processes with a mark in their environment that begins so; of zombies nothing is shown."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for name in os.listdir(_PROCESSES) if _PROCESSES.is_dir() else ():
        if name.isdigit() and int(name) != os.getpid():
            with suppress(OSError):  # it is gone, or another user's
                environment = (_PROCESSES / name / "environ").read_bytes()
                if wanted in environment:
                    found.append(int(name))
    return found


def watch(token: str) -> None:
    """Be the warden: read which programs start and end until the pipe is closed, then kill what is left."""
    for number in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, number), signal.SIG_IGN)
    running: set[int] = set()
    for line in sys.stdin:
        pid = int(line[1:])
        (running.add if line.startswith("+") else running.discard)(pid)
    for pid in running:
        kill_group(pid)
    kill_marked(f"{token}-")


WARDEN = Warden()

if __name__ == "__main__":
    watch(sys.argv[1])
