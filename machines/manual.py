"""The manual: a page for each code of a problem, read from the docstrings of those who tell it.

A check's docstring is the manual page of its code. What the reader tells has no function for each code, so its pages
are the docstrings of modules that hold nothing else, each beside its reader: `reading.manual` (A1xx, A400),
`messages.manual` and `expressions.manual` (A2xx), `exploring.manual` (A5xx). What games show (A6xx) is outside of the
core: `runtime.manual` adds its pages to these. A page has this form, and a docstring may
hold several:

    A999: what is wrong, in a sentence.

    Why that matters, and what to do about it.

    Bad, in server:

        asked: {then: nowhere}

    Mended:

        asked: {return: null}

``in`` says what the example is part of (`FRAMES`); without it, it is a whole spec. ``# and so on, N times`` in a line
of its own repeats the line before it, with its numbers counted up.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from textwrap import dedent

# Folders and files whose docstrings are pages.
SOURCES = (
    "parser/manual.py",
    "messages/manual.py",
    "expressions/manual.py",
    "checks/definite_assignment.py",
    "checks/scoping.py",
    "checks/reachability.py",
    "checks/guards.py",
    "checks/fault_handling.py",
    "checks/ambiguity.py",
    "checks/receivers.py",
    "checks/value_kinds.py",
    "checks/partial_values.py",
    "checks/rules.py",
    "checks/suppressions.py",
    "verification/manual.py",
)

FRAMES = {
    "top": "at the top of a spec",
    "roles": "the roles of a spec",
    "machines": "machines of a server",
    "main": "states of a server's main",
    "per-connection": "a server's machines, run once for each connection",
    "server": "states of a machine of a server",
    "client": "states of a client's main",
    "receive": "under 'receive' of a server's state",
    "messages": "the messages of a spec",
    "types": "the types of a spec",
    "settings": "the settings of a spec",
}
_TITLE = re.compile(r"(?m)^(?=A[1-9]\d\d: )")
_PAGE = re.compile(
    r"(?P<code>A\d{3}): (?P<says>.+?)\n\n(?P<why>.+?)\n\n"
    r"Bad(?:, in (?P<bad_in>[a-z-]+))?:\n\n(?P<bad>.+?)\n\n"
    r"Mended(?:, in (?P<mended_in>[a-z-]+))?:\n\n(?P<mended>.+)",
    re.DOTALL,
)
_REPEATED = re.compile(r"(?m)^(?P<line>.*)\n *# and so on, (?P<times>\d+) times$")


class PageError(Exception):
    """A docstring begins like a page and is none; the text says which."""


@dataclass(frozen=True, slots=True)
class Example:
    """A spec, or a part of one: ``frame`` is a key of FRAMES, None for a whole spec."""

    text: str
    frame: str | None

    @property
    def whole(self) -> str:
        """The text with what it says goes on so written out."""
        return _REPEATED.sub(_again, self.text)


@dataclass(frozen=True, slots=True)
class Page:
    """What is to be known of a code: what is wrong, why it matters, an example that fails, and the same mended."""

    code: str
    says: str
    why: str
    bad: Example
    mended: Example


def _again(found: re.Match[str]) -> str:
    line = found["line"]
    return "\n".join(
        re.sub(r"\d+", lambda number, more=more: str(int(number[0]) + more), line)
        for more in range(int(found["times"]) + 1)
    )


@cache
def pages() -> dict[str, Page]:
    """Return every page by its code, in the order of the codes.

    Raises:
        PageError: a docstring is no page, or a code has two.
    """
    found: dict[str, Page] = {}
    folder = resources.files("machines")
    for source in SOURCES:
        for page in pages_in(folder.joinpath(source).read_text(encoding="utf-8")):
            if page.code in found:
                raise PageError(f"{page.code} has two pages, one of them in {source}")
            found[page.code] = page
    return dict(sorted(found.items()))


def pages_in(source: str) -> Iterator[Page]:
    """Yield the pages in the docstrings of a module's text.

    Raises:
        PageError: a docstring begins like a page and is none.
    """
    for text in _docstrings(source):
        yield from read_pages(text)


def _docstrings(source: str) -> Iterator[str]:
    """Yield the docstrings of a module and of all in it; read from the source, so that they are there under -OO too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""


def read_pages(text: str) -> Iterator[Page]:
    """Yield the pages in a docstring; none if it is an ordinary one.

    Raises:
        PageError: a part of it begins like a page, but its form is another.
    """
    for part in _TITLE.split(text):
        if not _TITLE.match(part):
            continue
        page = _PAGE.fullmatch(part.strip())
        if page is None:
            raise PageError(f"no page of the manual: {part.splitlines()[0]}")
        bad_in, mended_in = page["bad_in"], page["mended_in"]
        for frame in (bad_in, mended_in):
            if frame is not None and frame not in FRAMES:
                raise PageError(f"the page {page['code']} has an example in {frame!r}, which is no frame")
        yield Page(
            page["code"],
            " ".join(page["says"].split()).rstrip("."),
            page["why"].strip(),
            Example(dedent(page["bad"]).strip("\n") + "\n", bad_in),
            Example(dedent(page["mended"]).strip("\n") + "\n", mended_in or bad_in),
        )
