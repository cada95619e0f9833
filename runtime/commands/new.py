"""``accord new``: a small protocol that works, with comments, to be changed."""

from __future__ import annotations

import os
import re
import sys
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, get_args

from cyclopts import Parameter

from machines.parser.loader import shipped
from runtime.commands.exit_codes import OK, CommandError
from runtime.commands.options import Json
from runtime.process.output import note, put, put_json
from runtime.process.terminal_text import escape_control_characters

Sort = Literal["game", "service", "chat"]
_ABOUT = {
    "game": "players take turns until one has won",
    "service": "clients ask, the service replies",
    "chat": "everybody hears what anybody says",
}
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
NAME_MAX = 40


def new(
    name: Annotated[str | None, Parameter(help="The protocol's name: lower-case words with hyphens.")] = None,
    /,
    *,
    kind: Annotated[Sort | None, Parameter(help="What it is; asked on a terminal, else game.")] = None,
    out: Annotated[Path, Parameter(name=["--out", "-o"], help="The folder; made if there is none.")] = Path("."),
    force: Annotated[bool, Parameter(help="Write over a file that is there.")] = False,
    json: Json = False,
) -> int:
    """Write NAME.yaml: a whole small protocol, both roles, with comments; it passes check, is drawn, and plays.

    On a terminal what is not given is asked. Exit code 0 if it is written; 2 if the name is none, there is such a file
    already, or it cannot be written.
    """
    asks = sys.stdin is not None and sys.stdin.isatty()
    if name is None:
        if not asks:
            raise CommandError("new needs a name: accord new NAME --kind game|service|chat")
        name = _asked("The protocol's name, as in my-game: ")
    if len(name) > NAME_MAX or not _NAME.fullmatch(name):
        raise CommandError(
            f"{name[:NAME_MAX]!r} is no name of a protocol: lower-case words with hyphens, as in my-game"
        )
    if name in shipped():
        raise CommandError(f"{name!r} is a protocol that comes with Accord: take another name")
    if kind is None:
        kind = _kind() if asks else "game"
    path = out / f"{name}.yaml"
    text = template(kind).replace(f"protocol: {kind}\n", f"protocol: {name}\n", 1)
    try:
        out.mkdir(parents=True, exist_ok=True)
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        if path.exists():
            raise CommandError(f"{path}: there is a file already (--force writes over it)") from None
        raise CommandError(f"{error.filename or path}: it is not a folder") from None
    except (OSError, ValueError) as error:
        where = getattr(error, "filename", None) or path
        raise CommandError(f"{where}: {getattr(error, 'strerror', None) or error}") from None
    if json:
        put_json({"written": str(path), "protocol": name, "kind": kind})
    else:
        put(str(path))
        # The shell takes the name apart where it has blanks in it; such a folder is for the person to quote.
        shown = str(path) if os.sep in str(path) else f"./{path}"
        for command in ("check", "try", "play", "draw"):
            note(f"  accord {command} {shown}")
    return OK


def template(kind: Sort) -> str:
    """Return the text of a small protocol, whose name is its kind."""
    return (files("runtime.playground") / "templates" / f"{kind}.yaml").read_text("utf-8")


def _asked(prompt: str) -> str:
    sys.stderr.write(escape_control_characters(prompt))
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise CommandError("nothing is written: the input has ended")
    return line.strip()


def _kind() -> Sort:
    kinds: tuple[Sort, ...] = get_args(Sort)
    for number, kind in enumerate(kinds, start=1):
        note(f"  {number}  {kind}: {_ABOUT[kind]}")
    while True:
        text = _asked("What is it? [1] ") or "1"
        for number, kind in enumerate(kinds, start=1):
            if text.lower() in (kind, str(number)):
                return kind
        note(f"one of {', '.join(kinds)}, or its number")
