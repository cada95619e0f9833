"""Exit codes, and the one sentence a person reads when something is wrong. Never a traceback.

0    all is well
1    the run or the arena failed: a rule raised, or Accord itself has a fault; a client was turned away; what was
     compared differs: a replay from its journal, pictures and documents from their spec; output cannot be written
2    a spec has problems, or an argument is wrong; a file that it names cannot be read or written
3    undetermined: a check that can neither prove nor refute, a replay of a journal that has no end
4    the network: the port is in use, or nobody listens there
130  ended by Ctrl-C
141  whoever read standard output has gone, as head does once it has its lines, or it was closed from the beginning
"""

from __future__ import annotations

from errno import ENOSPC
from typing import Final

from runtime.process.output import OutputError

OK: Final = 0
FAILED: Final = 1
PROBLEMS: Final = 2
UNDETERMINED: Final = 3
NETWORK: Final = 4
INTERRUPTED: Final = 130
UNREAD: Final = 141


class CommandError(Exception):
    """A command cannot go on; ``code`` is its exit code, the text one sentence for a person."""

    def __init__(self, text: str, code: int = PROBLEMS) -> None:
        self.code = code
        super().__init__(text)


def only(error: BaseException) -> BaseException:
    """Return the one exception in a group of one, at any depth; the error itself if it is no such group."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def sentence(error: BaseException) -> tuple[str, int] | None:
    """Return what to print for an error that is a person's or the world's fault, and the exit code; else None."""
    if isinstance(error, CommandError):
        return str(error), error.code
    if isinstance(error, KeyboardInterrupt):
        return "interrupted", INTERRUPTED
    if isinstance(error, OutputError):
        return str(error), FAILED
    if isinstance(error, OSError) and error.errno == ENOSPC and error.filename is None:  # the help, by print
        return f"standard output cannot be written: {(error.strerror or '').lower()}", FAILED
    if isinstance(error, ImportError):
        cause = error.__cause__ if isinstance(error.__cause__, ImportError) else error
        return f"{cause}: the installation is not whole, see accord doctor", FAILED
    from machines.parser.loader import RulesError, SpecNotFound
    from machines.parser.settings import SettingError
    from machines.problems import SpecError
    from runtime.journal.replay import ReplayError
    from runtime.journal.writing import JournalError
    from runtime.network.tls import TlsFileError
    from runtime.network.transport import NetworkError
    from runtime.players.base import UnknownPlayerError
    from runtime.players.scripted import AnswerError
    from runtime.sessions.player_folders import FolderError

    match error:
        case SpecError():
            return str(error), PROBLEMS
        case SpecNotFound() | RulesError() | SettingError() | JournalError() | UnknownPlayerError() | ReplayError():
            return str(error), PROBLEMS
        case AnswerError() | TlsFileError() | FolderError():
            return str(error), PROBLEMS
        case NetworkError():
            return str(error), NETWORK
        case _:
            return None
