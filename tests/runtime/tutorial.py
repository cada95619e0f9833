"""The tutorial, done as it says: files are written, commands run by a shell, and what they print stands behind them.

``<!-- file: NAME -->`` says into which file the block behind it goes. In a block ``console`` each line that begins with
``$ `` is a command; the lines behind it are its output and its errors. ``python -m tests.runtime.tutorial``
writes the outputs anew.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "tutorial.md"
BLOCK = re.compile(r"^(?:<!-- file: (\S+) -->\n)?```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECONDS_MAX = 60.0  # of one command
# What differs from run to run: how long a game took, and which ephemeral port was free.
VARYING = ((re.compile(r"\b\d+\.\d+ s\b"), "0.1 s"),)


def filled(text: str, folder: Path) -> str:
    """Return the page with the outputs that its commands have, done in an empty folder."""
    environment = _environment(folder)

    def block(found: re.Match[str]) -> str:
        file, language, inner = found[1], found[2], found[3]
        if file:
            (folder / file).write_text(inner)
        if language != "console":
            return found[0]
        shown: list[str] = []
        for command in [line.removeprefix("$ ") for line in inner.splitlines() if line.startswith("$ ")]:
            ran = subprocess.run(
                ["sh", "-c", command],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=SECONDS_MAX,
                check=False,
            )
            if command.startswith("export "):
                name, _, value = command.removeprefix("export ").partition("=")
                environment[name] = value
            shown += [f"$ {command}", *ran.stdout.rstrip("\n").splitlines()]
        output = "\n".join(shown)
        for pattern, instead in VARYING:
            output = pattern.sub(instead, output)
        return f"```console\n{output}\n```"

    return BLOCK.sub(block, text)


def _environment(folder: Path) -> dict[str, str]:
    """Return an environment whose ``accord`` is the one of this checkout, as if it were installed."""
    programs = folder / "bin"
    programs.mkdir()
    accord = programs / "accord"
    # -P: a command that is installed does not look for modules in the present folder either.
    accord.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{ROOT}" exec {sys.executable} -P -m runtime "$@"\n')
    accord.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    state = {"XDG_STATE_HOME": str(folder / "state"), "COLUMNS": "120", "NO_COLOR": "1"}
    return {**kept, **state, "PATH": f"{programs}:{os.environ.get('PATH', '')}"}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as fresh:
        PAGE.write_text(filled(PAGE.read_text(), Path(fresh)))
