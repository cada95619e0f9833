"""``accord doctor``: whether the environment is right, a line for each thing looked at.

It must run where a package is missing, so it imports nothing but the parser's until it looks.
"""

from __future__ import annotations

import json as json_text
import locale
import os
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

from cyclopts import Parameter

from runtime.commands.exit_codes import FAILED, OK
from runtime.process.installation import OURS, foreign_packages
from runtime.process.output import put, table

PYTHON_MIN = (3, 11)
FILES_MIN = 1024  # A server with the 256 connections allowed by default, its clients and a journal each, and some room.
NEEDED = ("anyio", "cyclopts", "graphviz", "jsonschema-rs", "msgspec", "pygraphviz", "pyyaml", "rich", "transitions")
EXTRA = ("trio", "uvloop")


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing looked at: is it well, what was found, and what to do if it is not."""

    what: str
    well: bool
    found: str
    remedy: str = ""


def doctor(*, json: Annotated[bool, Parameter(help="Write one JSON object to standard output.")] = False) -> int:
    """Look at the Python version, packages, Graphviz, limits and encoding; exit 1 if something will not work."""
    findings = list(examine())
    well = all(finding.well for finding in findings)
    if json:
        put(json_text.dumps({"ok": well, "findings": [asdict(finding) for finding in findings]}))
        return OK if well else FAILED
    for line in table(
        ("ok" if f.well else "NOT OK", f.what, f.found + (f": {f.remedy}" if f.remedy and not f.well else ""))
        for f in findings
    ):
        put(line)
    return OK if well else FAILED


def examine() -> Iterator[Diagnosis]:
    """Look at everything, one thing after another; nothing raises."""
    looks: tuple[Callable[[], Iterator[Diagnosis]], ...] = (
        _python,
        _own_packages,
        _packages,
        _graphviz,
        _open_files,
        _encoding,
        _journals,
    )
    for look in looks:
        yield from look()


def _python() -> Iterator[Diagnosis]:
    found = f"{platform.python_implementation()} {platform.python_version()} on {platform.system()}"
    yield Diagnosis("python", sys.version_info >= PYTHON_MIN, found, "Accord needs Python 3.11 or later")


def _own_packages() -> Iterator[Diagnosis]:
    faults = foreign_packages()
    yield Diagnosis("accord", not faults, "; ".join(faults) or f"{', '.join(OURS)} are its own")


def _packages() -> Iterator[Diagnosis]:
    for name in NEEDED:
        try:
            yield Diagnosis(name, True, version(name))
        except PackageNotFoundError:
            yield Diagnosis(name, False, "missing", f"pip install {name}")
    for name in EXTRA:
        try:
            yield Diagnosis(name, True, f"{version(name)} (optional)")
        except PackageNotFoundError:
            yield Diagnosis(name, True, f"not installed (optional: pip install 'accord[{name}]')")


def _graphviz() -> Iterator[Diagnosis]:
    try:
        from diagrams.render import PictureError, render
    except ImportError as error:
        yield Diagnosis("pictures", False, str(error), "see above")
        return
    try:
        picture = render("digraph { a -> b }", "svg")
    except PictureError as error:
        yield Diagnosis(
            "pictures", False, str(error), "install pygraphviz 2.0 or later again: its wheel brings Graphviz"
        )
        return
    drawn = b"<svg" in picture
    yield Diagnosis("pictures", drawn, "Graphviz draws" if drawn else "Graphviz drew no SVG")


def _open_files() -> Iterator[Diagnosis]:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    shown = "no limit" if soft == resource.RLIM_INFINITY else f"{soft} (up to {hard})"
    enough = soft == resource.RLIM_INFINITY or soft >= FILES_MIN
    yield Diagnosis("open files", enough, shown, f"ulimit -n {FILES_MIN}, or fewer connections at once")


def _encoding() -> Iterator[Diagnosis]:
    found = f"locale {locale.getpreferredencoding(False)}, output {sys.stdout.encoding}"
    # What is written goes through standard output; files are read and written as UTF-8 whatever the locale.
    well = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    yield Diagnosis("encoding", well, found, "set PYTHONUTF8=1, or LANG to a UTF-8 locale")


def _journals() -> Iterator[Diagnosis]:
    try:
        from runtime.journal.writing import default_folder
    except ImportError as error:
        yield Diagnosis("journals", False, str(error), "see above")
        return
    try:
        folder = default_folder()
    except RuntimeError as error:
        yield Diagnosis("journals", False, str(error), "give --journal PATH, or set XDG_STATE_HOME")
        return
    if not folder.exists():
        above = next(parent for parent in folder.parents if parent.exists())
        writable = os.access(above, os.W_OK)
        yield Diagnosis("journals", writable, f"{folder} (none yet)", "give --journal PATH, or set XDG_STATE_HOME")
        return
    sizes = [path.stat().st_size for path in folder.glob("*.jsonl")]
    found = f"{folder}: {len(sizes)} of {sum(sizes) / 1e6:.1f} MB together"
    yield Diagnosis("journals", os.access(folder, os.W_OK), found, "give --journal PATH, or set XDG_STATE_HOME")
