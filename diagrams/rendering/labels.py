"""Text for pictures: made visible, escaped, wrapped.

Whatever a spec calls its things, a label shows it and cannot become markup of DOT, of Graphviz's HTML-like labels or
of SVG. Two ways lead into DOT, and every text of a spec takes one of them: ``markup`` inside an HTML-like label,
``attribute`` in any other attribute (tooltip, link).
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Sequence
from html import escape

import graphviz

CONTINUATION = "\N{NO-BREAK SPACE}" * 2  # Graphviz drops ordinary blanks at the start of a line.
ATTRIBUTE_CHARACTERS_MAX = 2000  # A tooltip longer than this is not read, and hides the picture.
NAME_CHARACTERS_MAX = 60


def visible(text: str) -> str:
    r"""Return ``text`` with everything that has no glyph of its own written out, so that it can neither hide nor act.

    Control characters, line ends, the characters that turn the direction of writing, lone surrogates and whatever
    XML 1.0 does not allow become ``\n``, ``\x07``, ``\u202e``. Letters of any script stay, joined emoji too.

    >>> visible("a\nb")
    'a\\nb'
    """
    return "".join(character if _has_glyph(character) else _written_out(character) for character in text)


def _has_glyph(character: str) -> bool:
    if character in (" ", "\N{NO-BREAK SPACE}"):
        return True
    # Cf holds the direction marks and the soft hyphen; the zero-width joiner in it makes one emoji out of several.
    category = unicodedata.category(character)
    return category[0] not in "CZ" or character == "\N{ZERO WIDTH JOINER}"


def _written_out(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def markup(text: str) -> str:
    """Return ``text`` as it stands inside an HTML-like label: visible, and with ``& < > " '`` as entities."""
    return escape(visible(text), quote=True)


def cell(text: str) -> str:
    """Return ``text`` as ``markup`` does, or a blank: Graphviz takes no HTML-like text that is empty."""
    return markup(text) or "&#160;"


def attribute(text: str) -> str:
    """Return ``text`` as a plain DOT attribute for the graphviz package: visible, no escape sequence, no entity.

    Graphviz reads backslash sequences and entities in plain attributes; both are made literal. A text longer than
    ATTRIBUTE_CHARACTERS_MAX is cut with an ellipsis. A line feed in ``text`` is kept as a line feed.
    """
    lines = [visible(line) for line in text.split("\n")]
    cut = shorten("\n".join(lines), ATTRIBUTE_CHARACTERS_MAX)
    # nohtml: else the package would take a text in angle brackets for an HTML-like label.
    quoted: str = graphviz.nohtml(cut.replace("&", "&amp;").replace("\\", r"\\").replace("\n", r"\n"))
    return quoted


def shorten(text: str, characters_max: int) -> str:
    """Return ``text``, its end replaced by an ellipsis if it has more than ``characters_max`` characters."""
    return text if len(text) <= characters_max else text[: characters_max - 1] + "…"


def grouped(text: str) -> str:
    """Return ``text`` with short lists in brackets held together, since each is read as one thing: ``[y1, x1]``."""
    return re.sub(r"\[[^\[\]]{1,12}\]", lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), text)


def wrap(text: str, width: int, lines_max: int) -> tuple[str, ...]:
    """Return ``text`` as one or more lines of at most ``width`` characters; further lines are indented.

    Breaks stand at blanks, within a word only if the word alone is too long. What does not fit into ``lines_max``
    lines is replaced by an ellipsis.
    """
    lines = textwrap.wrap(
        grouped(visible(text)),
        width,
        subsequent_indent=CONTINUATION,
        break_on_hyphens=False,
        replace_whitespace=False,
        expand_tabs=False,
    )
    if len(lines) > lines_max:
        lines = [*lines[: lines_max - 1], shorten(lines[lines_max - 1], width - 1).rstrip("…") + "…"]
    return tuple(lines) or ("",)


def stem(*words: str) -> str:
    """Return a file name without its ending for a picture of ``words``, safe on every file system and in a link.

    Characters other than ASCII letters, digits, ``_`` and ``-`` become ``_``; see ``distinct`` for names that then
    coincide.

    >>> stem("tsuro", "server", "main")
    'tsuro-server-main'
    """
    return "-".join(re.sub(r"[^A-Za-z0-9_-]+", "_", word)[:NAME_CHARACTERS_MAX] or "_" for word in words)


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Return ``names`` in their order, those that differ from an earlier one by nothing or by case only numbered.

    >>> distinct(["a", "b", "A", "a-2"])
    ('a', 'b', 'A-2', 'a-2-2')
    """
    taken: set[str] = set()
    result: list[str] = []
    for name in names:
        candidate, number = name, 1
        while candidate.casefold() in taken:
            number += 1
            candidate = f"{name}-{number}"
        taken.add(candidate.casefold())
        result.append(candidate)
    return tuple(result)
