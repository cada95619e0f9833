"""``accord rules``: the test harnesses that the courses of the games ran, over standard input and output."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from json import JSONDecodeError, JSONDecoder, dumps
from pkgutil import iter_modules
from typing import Annotated, Any

from cyclopts import Parameter

import rules.harnesses
from runtime.commands.exit_codes import OK, CommandError
from runtime.commands.options import Json
from runtime.process.output import put, put_json, table

BLANKS = re.compile(r"\s*")
INPUT_MAX = 64 << 20  # Bytes of standard input.


def rules_of(
    game: Annotated[str | None, Parameter(help="A game: tsuro, trains, ...")] = None,
    harness: Annotated[str | None, Parameter(help="One of its harnesses; without it they are listed.")] = None,
    *,
    json: Json = False,
) -> int:
    """Run a harness of a game's rules: JSON values on standard input, its answers on standard output, one a line.

    Without a harness, or without a game, those that there are are listed.
    """
    if game is None or harness is None:
        found = {name: _harnesses(name) for name in (_games() if game is None else [game])}
        if json:
            put_json({"harnesses": {name: list(those) for name, those in found.items()}})
            return OK
        lines = [(name, key, _line(one)) for name, those in found.items() for key, one in those.items()]
        for line in table([("GAME", "HARNESS", "ANSWERS"), *lines]):
            put(line)
        return OK
    those = _harnesses(game)
    if harness not in those:
        raise CommandError(f"{game} has no harness {harness!r}: there is {', '.join(those)}")
    data = sys.stdin.buffer.read(INPUT_MAX + 1)
    if len(data) > INPUT_MAX:
        raise CommandError(f"standard input is longer than {INPUT_MAX >> 20} MiB")
    values = list(read_values(data))
    try:
        for answer in those[harness](values):
            put(dumps(answer, ensure_ascii=False))
    except ValueError as error:  # a harness says so of its input, and of nothing else
        raise CommandError(f"standard input is not what {harness} reads: {error}") from error
    return OK


def _games() -> list[str]:
    """Return the games that have harnesses, in order."""
    return sorted(module.name for module in iter_modules(rules.harnesses.__path__))


def _harnesses(game: str) -> Mapping[str, Any]:
    """Return a game's harnesses by name.

    Raises:
        CommandError: there is no such game, or it has none.
    """
    if not game.isidentifier() or find_spec(f"rules.harnesses.{game}") is None:
        raise CommandError(f"no rules of {game!r} with harnesses: there is {', '.join(_games())}")
    found: Mapping[str, Any] = import_module(f"rules.harnesses.{game}").HARNESSES
    return found


def _line(harness: Any) -> str:
    """Return what a harness does, in a line."""
    return (harness.__doc__ or "").strip().partition("\n")[0].rstrip(".")


def read_values(data: bytes) -> Iterator[Any]:
    """Yield the JSON values that stand one after another, with or without white space between.

    Raises:
        CommandError: they are no JSON, or not UTF-8; nested deeper than Python reads, or with a number too long.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise CommandError(f"standard input is not UTF-8: byte {error.start}") from error
    decoder = JSONDecoder()
    at = _after_blanks(text, 0)
    while at < len(text):
        try:
            value, end = decoder.raw_decode(text, at)
        except JSONDecodeError as error:
            place = f"line {error.lineno}, column {error.colno}"
            raise CommandError(f"standard input is no JSON at {place}: {error.msg}") from error
        except (RecursionError, ValueError) as error:
            raise CommandError("standard input nests too deep, or has a number too long to read") from error
        yield value
        at = _after_blanks(text, end)


def _after_blanks(text: str, at: int) -> int:
    found = BLANKS.match(text, at)
    assert found is not None, "no blanks are blanks too"
    return found.end()
