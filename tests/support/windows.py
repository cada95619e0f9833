"""``python -m tests.support.windows WORDS`` is ``accord`` with a Python as on Windows, as far as this system shows it.

Gone is what Windows does not have: process groups, signals, modules, watching descriptors; event loops refuse what its
own refuses. The standard library, which has other code there, keeps what it needs here.
"""

from __future__ import annotations

import asyncio
import builtins
import errno
import importlib.util
import multiprocessing
import multiprocessing.context
import multiprocessing.popen_fork
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any, NoReturn

LOST_MODULES = ("fcntl", "termios", "resource", "pwd", "grp", "pty", "tty", "readline")
LOST_OF_OS = ("killpg", "getpgid", "getpgrp", "setpgid", "setsid", "getuid", "geteuid", "getgid", "getegid", "mkfifo")
LOST_SIGNALS = ("SIGKILL", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGPIPE", "SIGQUIT", "alarm", "setitimer")
LOST_OF_LOOPS = ("add_reader", "add_writer", "remove_reader", "remove_writer")
REFUSAL: type[Exception] = getattr(builtins, "NotImplemented" + "Error")  # what loops say there of what they lack


class Lost(MetaPathFinder):
    """Finds the modules that Windows lacks, and says that there are none."""

    def find_spec(self, name: str, *_: Any) -> None:
        if name in LOST_MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def become_windows() -> None:
    for name in LOST_OF_LOOPS:
        setattr(asyncio.SelectorEventLoop, name, only_asyncio(getattr(asyncio.SelectorEventLoop, name)))
    for name in ("add_signal_handler", "remove_signal_handler"):
        setattr(asyncio.SelectorEventLoop, name, refused)
    own = importlib.util.module_from_spec(signal.__spec__ or no_spec())
    own.__dict__.update(signal.__dict__)
    subprocess.signal = own  # type: ignore[attr-defined]
    multiprocessing.popen_fork.signal = own  # type: ignore[attr-defined]
    multiprocessing.context.BaseContext.get_all_start_methods = lambda self: ["spawn"]  # type: ignore[attr-defined]
    multiprocessing.get_all_start_methods = lambda: ["spawn"]
    sys.modules["msvcrt"] = locks(__import__("fcntl"))
    for name in LOST_MODULES:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, Lost())
    drop(os, LOST_OF_OS)
    drop(signal, LOST_SIGNALS)
    drop(__import__("select"), ("poll", "epoll", "kqueue"))
    hide_processes()


def hide_processes() -> None:
    """Have no ``/proc``: whoever looks there finds no such folder."""
    stat = os.stat

    def is_hidden(path: object) -> bool:
        return isinstance(path, str | os.PathLike) and str(os.fspath(path)).startswith("/proc")

    def look(event: str, arguments: tuple[object, ...]) -> None:
        if event in ("open", "os.listdir", "os.scandir") and is_hidden(arguments[0]):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(arguments[0]))

    def narrowed(path: Any, *more: Any, **options: Any) -> os.stat_result:
        look("open", (path,))
        return stat(path, *more, **options)

    os.stat = narrowed
    sys.addaudithook(look)


def locks(fcntl: ModuleType) -> ModuleType:
    """Return what of ``msvcrt`` locks files: a mode of 2 takes the lock at once, or raises OSError."""
    made = ModuleType("msvcrt")

    def locking(descriptor: int, mode: int, count: int) -> None:
        assert (mode, count) == (2, 1)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    made.locking = locking  # type: ignore[attr-defined]
    return made


def drop(module: ModuleType, names: tuple[str, ...]) -> None:
    for name in names:
        if hasattr(module, name):
            delattr(module, name)


def refused(*_: Any) -> NoReturn:
    raise REFUSAL


def only_asyncio(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of a loop that only asyncio itself may use here, where it has no other way."""

    def narrowed(*arguments: Any) -> Any:
        if not sys._getframe(1).f_globals["__name__"].startswith("asyncio."):
            raise REFUSAL
        return method(*arguments)

    return narrowed


def no_spec() -> NoReturn:
    raise AssertionError("signal was imported")


if __name__ == "__main__":
    selectors.DefaultSelector = selectors.SelectSelector  # type: ignore[misc, assignment]
    become_windows()
    from runtime.cli import main

    sys.exit(main())
