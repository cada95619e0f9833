"""The manual: a page for each code of a problem, a Markdown file each, beside this module.

What games show (A6xx) is outside of the core: `runtime.manual` adds its pages to these. A page has this form:

    # A999: what is wrong, in a sentence.

    Why that matters, and what to do about it.

    ## Bad, in server

    ```yaml
    asked: {then: nowhere}
    ```

    ## Mended

    ```yaml
    asked: {return: null}
    ```

``in`` says what the example is part of (`FRAMES`); without it, it is a whole spec. ``# and so on, N times`` in a line
of its own repeats the line before it, with its numbers counted up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

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
_PAGE = re.compile(
    r"# (?P<code>A\d{3}): (?P<says>.+?)\n\n(?P<why>.+?)\n\n"
    r"## Bad(?:, in (?P<bad_in>[a-z-]+))?\n\n```yaml\n(?P<bad>.+?\n)```\n\n"
    r"## Mended(?:, in (?P<mended_in>[a-z-]+))?\n\n```yaml\n(?P<mended>.+?\n)```\n",
    re.DOTALL,
)
_REPEATED = re.compile(r"(?m)^(?P<line>.*)\n *# and so on, (?P<times>\d+) times$")


class PageError(Exception):
    """A file of the manual is no page; the text says which."""


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
    """Return every page of the core by its code, in the order of the codes.

    Raises:
        PageError: a file is no page.
    """
    return pages_in("machines.manual")


def pages_in(package: str) -> dict[str, Page]:
    """Return the pages that lie in a package by their codes, in the order of the codes.

    Raises:
        PageError: a file is no page.
    """
    files = sorted((file for file in resources.files(package).iterdir() if file.name.endswith(".md")), key=str)
    found = [read_page(file.name, file.read_text(encoding="utf-8")) for file in files]
    return {page.code: page for page in found}


def read_page(file: str, text: str) -> Page:
    """Return the page that a file holds.

    Raises:
        PageError: its form is another, or its code is not the file's name.
    """
    page = _PAGE.fullmatch(text)
    if page is None:
        raise PageError(f"no page of the manual: {file}")
    if file != f"{page['code']}.md":
        raise PageError(f"{file} has the page of {page['code']}")
    bad_in, mended_in = page["bad_in"], page["mended_in"]
    for frame in (bad_in, mended_in):
        if frame is not None and frame not in FRAMES:
            raise PageError(f"the page {page['code']} has an example in {frame!r}, which is no frame")
    return Page(
        page["code"],
        " ".join(page["says"].split()).rstrip("."),
        page["why"],
        Example(page["bad"], bad_in),
        Example(page["mended"], mended_in or bad_in),
    )
