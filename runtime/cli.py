"""The command ``accord``: each command loaded when asked for, one sentence a fault, documented exit codes."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from errno import EPIPE
from io import TextIOWrapper

from cyclopts import App, CycloptsError, Parameter, UnusedCliTokensError

from runtime.commands.exit_codes import FAILED, INTERRUPTED, OK, PROBLEMS, UNREAD, only, sentence
from runtime.process.installation import foreign_packages, program_version
from runtime.process.output import MISSING, OutputError, note, put, results_apart

_HELP = (
    "One YAML file runs, checks and draws a TCP protocol.\n\n"
    "SPEC is the name of a shipped protocol (see accord list) or a path to a YAML file. Results go to standard output, "
    "log and progress to standard error; every command but lsp takes --json.\n\n"
    "Exit codes: 0 all is well; 1 the run failed, a client was turned away, or what was compared differs, as in replay "
    "and with --check; 2 a spec has problems, an argument is wrong, or a file that it names cannot be read or written; "
    "3 undetermined, as a check that met a bound, or a replay of a journal without its end; "
    "4 a port is in use or nobody listens there; 130 ended by Ctrl-C; 141 nobody reads standard output, or not any "
    "more."
)

# name -> (where it is, what it does). The lines stand here so that the help imports no command.
_COMMANDS = {
    "new": ("runtime.commands.new:new", "Write a small protocol that works, to be changed."),
    "try": ("runtime.commands.try_:try_", "Play all roles of a spec by hand, and see where they stand."),
    "play": ("runtime.commands.play:play", "Play a whole game: server and clients on loopback TCP, in one process."),
    "simulate": ("runtime.commands.simulate:simulate", "Play many whole games in memory, a line of JSON each."),
    "serve": ("runtime.commands.serve:serve", "Run a role that listens, until its protocol ends."),
    "join": ("runtime.commands.join:join", "Run a role that connects, with a player who decides."),
    "conform": ("runtime.commands.conform:conform", "Say whether a program that others wrote keeps to its role."),
    "mock": ("runtime.commands.mock:mock", "Answer for a role without its rules, to try the other side against."),
    "proxy": ("runtime.commands.proxy:proxy", "Stand between two programs, and say who deviates from the spec first."),
    "check": ("runtime.commands.check:check", "Report all problems of specs; exit 2 if there are any."),
    "explain": ("runtime.commands.explain:explain", "Say what the code of a problem means, with examples."),
    "diff": ("runtime.commands.diff:diff", "Say whether two versions of a spec still serve each other's clients."),
    "draw": ("runtime.commands.draw:draw", "Draw specs, or runs from their journals: states, overviews, sequences."),
    "docs": ("runtime.commands.docs:docs", "Write the documents of specs: Markdown, HTML, JSON Schema, AsyncAPI."),
    "lsp": ("runtime.commands.lsp:lsp", "Serve an editor: problems, completion, hover, definitions, names."),
    "list": ("runtime.commands.list_:listing", "List the shipped specs."),
    "show": ("runtime.commands.show:show", "Show what is in a spec: roles, machines, messages, settings, players."),
    "replay": ("runtime.commands.replay:replay", "Run a journal again and compare."),
    "tournament": ("runtime.tournament.command:tournament", "Hold an event between programs, from one YAML file."),
    "studio": ("runtime.commands.studio:studio", "Show a run in the browser, step by step, from its journal."),
    "rules": ("runtime.commands.rules:rules_of", "Run a test harness of a game's rules: JSON values in, answers out."),
    "doctor": ("runtime.commands.doctor:doctor", "Say whether the environment is right."),
}

# Those that run the code of players and rules, which may print.
_RUNS_OTHERS = frozenset(
    {"play", "simulate", "serve", "join", "check", "show", "replay", "rules", "diff", "try", "studio", "proxy", "mock"}
    | {"tournament"}
)
# Those whose results people read, unless they ask for --json.
_TOLD_TO_PEOPLE = frozenset({"play", "serve", "join"})
_HELP_WORDS = frozenset({"--help", "-h", "--version"})


def app(asked: str | None = None) -> App:
    """Return the command-line parser; no command but ``asked`` is imported, whose help is then its docstring."""
    made = App(
        name="accord",
        help=_HELP,
        help_format="plaintext",
        version=program_version,
        default_parameter=Parameter(negative=()),
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for order, (name, (where, line)) in enumerate(_COMMANDS.items()):
        made.command(where, name=name, help=None if name == asked else line, sort_key=order)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code.

    ``arguments`` come without the program's name. None stands for those of this process, which then ends at once if
    a player's strategy still thinks in a thread: the interpreter would wait for it for ever.
    """
    # Started with a closed standard error, as by `2>&-`: what is said there goes nowhere. Results that go nowhere are
    # told by the exit code, as where a pipe is closed. Either way no file of ours takes the place of the stream.
    sys.stdout = sys.stdout or _Unread(open(os.devnull, "wb"), encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a board is not worth failing for where the locale is not UTF-8
    code = _run(list(sys.argv[1:] if arguments is None else arguments))
    lingering = [thread for thread in threading.enumerate() if not thread.daemon]
    if arguments is None and len(lingering) > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


class _Unread(TextIOWrapper):
    """A standard output that nobody reads."""

    def write(self, text: str, /) -> int:
        """Fail as a pipe does whose reader has gone."""
        raise BrokenPipeError(EPIPE, os.strerror(EPIPE))


def _run(words: list[str]) -> int:
    foreign = foreign_packages()
    if foreign and words[:1] != ["doctor"]:  # which tells of it, and of all else
        note(f"accord: {foreign[0]}")
        return FAILED
    try:
        asked = words[0] if words else None
        with results_apart() if asked in _RUNS_OTHERS and not _HELP_WORDS.intersection(words) else nullcontext():
            code = app(asked)(words or ["--help"], print_error=False, exit_on_error=False)
    except CycloptsError as error:
        note(f"accord: {_misread(error)} (see accord --help)")
        code = PROBLEMS
    except BrokenPipeError:
        code = UNREAD  # whoever read our output has gone, as `head` does
    except SystemExit as error:
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        code = UNREAD  # Rich, which writes the help, makes this of it
    except (Exception, KeyboardInterrupt, BaseExceptionGroup) as error:
        code = _told(only(error))
    code = code if isinstance(code, int) else OK
    if MISSING.lines:
        _tell_of_missing(words)
    try:
        sys.stdout.flush()
    except OSError as error:
        # Python would complain of what is left over once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if code == OK and not isinstance(error, BrokenPipeError):
            note(f"accord: standard output cannot be written: {os.strerror(error.errno or 0).lower()}")
            code = FAILED
    return code


def _tell_of_missing(words: list[str]) -> None:
    """Say that lines are missing: on standard error if it takes any now, else where people read the result."""
    told = f"accord: {MISSING.told()}"
    note(told)
    if MISSING.lines and words[0] in _TOLD_TO_PEOPLE and "--json" not in words:
        with suppress(OSError, OutputError):
            put(told)
    MISSING.lines = 0


def _misread(error: CycloptsError) -> str:
    """Return what is wrong with the words of a command line."""
    if isinstance(error, UnusedCliTokensError):
        words = ", ".join(map(repr, error.unused_tokens or ()))
        return f"nothing is known to be done with {words}"
    return " ".join(str(error).split())


def _told(error: BaseException) -> int:
    """Print the sentence for an error and return the exit code."""
    told = sentence(error)
    if told is not None:
        text, code = told
        prefix = "" if "\n" in text or code == INTERRUPTED else "accord: "
        note(f"{prefix}{text}")
        return code
    if os.environ.get("ACCORD_DEBUG"):
        raise error
    told_by = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    note(f"accord: a fault of Accord itself: {told_by} (ACCORD_DEBUG=1 shows where)")
    return FAILED


if __name__ == "__main__":
    sys.exit(main())
