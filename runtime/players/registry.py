"""All kinds of player: which there are for a spec, and how one is made.

second, dumb, ...         a strategy of the spec's game, from ``rules.players.<module>.PLAYERS``
python:package.mod:Class  a strategy of one's own (`runtime.players.strategy`)
exec:COMMAND              any program, one JSON value a line (`runtime.players.program`)
human                     a person at the terminal (`runtime.players.terminal`)
web                       a person at a page in a browser (`runtime.players.seat`)
random                    answers with any of the messages and any values that fit (`runtime.players.random`)
example                   answers every question with an example of the message (`runtime.players.example`)
silent malformed gone infinite   never answers; sends no message; hangs up; never stops (`runtime.players.faulty`)
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from machines.model import Spec
from machines.problems import near
from runtime.players.base import GenericPlayer, Player, PromptPlayer, UnknownPlayerError
from runtime.players.companions import companions
from runtime.players.example import ExamplePlayer
from runtime.players.faulty import MISDEEDS, FaultyPlayer, MalformedPlayer, SilentPlayer
from runtime.players.program import open_program, program_words
from runtime.players.program_limits import UNLIMITED, ProgramLimits
from runtime.players.random import RandomPlayer
from runtime.players.seat import open_seat
from runtime.players.strategy import Strategy, StrategyPlayer, error_text
from runtime.players.terminal import Terminal, TerminalPlayer, own_terminal
from runtime.process.import_path import add_working_folder
from runtime.process.packages import pages_can_be_served

_GENERIC: Mapping[str, str] = {
    "human": "a person at the terminal",
    "web": "a person at a page in a browser, whose link is printed; needs the extra 'web'",
    "random": "any message that may answer, with any values that fit its types, legal or not; goes by the seed",
    "example": "answers with an example of the first message that may answer, always the same, legal or not",
    "silent": "never answers",
    "malformed": "answers with bytes that are no message: no JSON, or where messages are text, no UTF-8",
    "gone": "hangs up at the first question",
    "infinite": "answers with a JSON list that never ends",
}

PERSONS: Final = frozenset({"human", "web"})  # who needs time to think, and sees the game with a player's eyes only


def kinds(spec: Spec) -> dict[str, str]:
    """Return the kinds of player that a spec can have, the game's own first, each with a line on it."""
    own: dict[str, str] = {}
    for module in companions(spec, "players"):
        for kind, strategy in module.PLAYERS.items():
            own.setdefault(kind, (strategy.__doc__ or "").strip().partition("\n")[0].rstrip("."))
    return own | {kind: line for kind, line in _GENERIC.items() if kind not in own}


def default_kind(spec: Spec) -> str:
    """Return the kind that plays when nobody chose: the game's own choice, else ``random``."""
    for module in companions(spec, "players"):
        default: str | None = getattr(module, "DEFAULT", None)
        if default is not None:
            return default
    return "random"


@asynccontextmanager
async def open_player(
    kind: str,
    *,
    spec: Spec,
    name: str,
    seed: int,
    terminal: Terminal | None = None,
    folder: Path | None = None,
    limits: ProgramLimits = UNLIMITED,
) -> AsyncIterator[Player]:
    """Make a player of a kind; what it holds (a program, its last news) is seen to when the block is left.

    ``terminal`` is where a ``human`` is asked; the process's own if None. ``folder`` is where a program runs,
    and ``limits`` what it may take.

    Raises:
        UnknownPlayerError: there is no such kind, class or program, or it cannot be made.
    """
    if kind.startswith("exec:"):
        async with open_program(kind.removeprefix("exec:"), name, folder, limits) as program:
            yield program
        return
    if kind == "human":
        yield TerminalPlayer(spec, name, terminal or own_terminal())
        return
    if kind == "web":
        async with open_seat(spec, name) as seated:
            yield seated
        return
    make = _maker(kind, spec)
    if make is None:
        yield _generic(kind, spec, seed)
        return
    player = StrategyPlayer(_made(make, kind, name, seed), kind)
    try:
        yield player
    finally:
        await player.say_farewell()


def prompt_player(kind: str, *, spec: Spec, name: str, seed: int) -> PromptPlayer:
    """Make a player that decides at once, without an event loop.

    Raises:
        UnknownPlayerError: as for `open_player`, or players of that kind do not decide at once.
    """
    check_prompt(kind)
    make = _maker(kind, spec)
    return _generic(kind, spec, seed) if make is None else Strategy(_made(make, kind, name, seed), kind)


def check_prompt(kind: str) -> None:
    """Raise UnknownPlayerError if players of a kind do not decide at once, so cannot play in memory."""
    if kind in PERSONS or kind.startswith("exec:"):
        who = "a person" if kind in PERSONS else f"the program of {kind!r}"
        raise UnknownPlayerError(
            f"{who} cannot play in memory, where all is decided at once: accord play has them over TCP"
        )


def _made(make: Callable[[str, int], object], kind: str, name: str, seed: int) -> object:
    try:
        return make(name, seed)
    except BaseException as error:  # an exit in there is the player's, and nothing is awaited that can be cancelled
        raise UnknownPlayerError(f"player {kind!r} could not be made with (name, seed): {error_text(error)}") from error


def _generic(kind: str, spec: Spec, seed: int) -> GenericPlayer:
    match kind:
        case "silent":
            return SilentPlayer()
        case "example":
            return ExamplePlayer(spec)
        case "malformed":
            return MalformedPlayer(spec)
        case "random":
            return RandomPlayer(spec, seed)
        case _:
            return FaultyPlayer(MISDEEDS[kind])


def strategy_class(kind: str, spec: Spec) -> Callable[[str, int], object] | None:
    """Return what makes the strategies of a kind; None if players of that kind are no strategies.

    Raises:
        UnknownPlayerError: there is no such kind or class.
    """
    return None if kind in PERSONS or kind.startswith("exec:") else _maker(kind, spec)


def check_kind(kind: str, spec: Spec) -> None:
    """Raise UnknownPlayerError if ``open_player`` would not know the kind; starts and makes nothing."""
    if kind.startswith("exec:"):
        program_words(kind.removeprefix("exec:"))
    elif kind == "web" and not pages_can_be_served():
        raise UnknownPlayerError("a person in a browser needs the extra 'web': pip install 'accord[web]'")
    elif kind not in PERSONS:
        _maker(kind, spec)


def _maker(kind: str, spec: Spec) -> Callable[[str, int], object] | None:
    """Return the class of a strategy, or None if the kind is one of the generic ones."""
    if kind.startswith("python:"):
        return _imported(kind)
    for module in companions(spec, "players"):
        if kind in module.PLAYERS:
            strategy: Callable[[str, int], object] = module.PLAYERS[kind]
            return strategy
    if kind in _GENERIC:
        return None
    known = kinds(spec)
    hint = near(kind, known) or f"there are {', '.join(known)}, python:MODULE:CLASS and exec:COMMAND"
    raise UnknownPlayerError(f"no player {kind!r} for {spec.protocol} ({hint})")


def strategy_of(kind: str, spec: Spec) -> Callable[[str, int], object]:
    """Return the class of a strategy: a kind of the spec's game, or python:MODULE:CLASS.

    Raises:
        UnknownPlayerError: there is none, or the kind is no strategy: a program, a person or a general one.
    """
    made = None if kind.startswith("exec:") or kind in PERSONS else _maker(kind, spec)
    if made is None:
        raise UnknownPlayerError(f"player {kind!r} is no strategy: name one of the game, or python:MODULE:CLASS")
    return made


def _imported(kind: str) -> Callable[[str, int], object]:
    module_name, _, class_name = kind.removeprefix("python:").partition(":")
    if not module_name or not class_name:
        raise UnknownPlayerError(f"player {kind!r} is not of the form python:package.module:Class")
    add_working_folder()
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # whatever the module does when it is imported
        raise UnknownPlayerError(f"player {kind!r}: {module_name} cannot be imported: {error_text(error)}") from error
    found = getattr(module, class_name, None)
    if not callable(found):
        raise UnknownPlayerError(f"player {kind!r}: {module_name} has no class {class_name}")
    strategy: Callable[[str, int], object] = found
    return strategy
