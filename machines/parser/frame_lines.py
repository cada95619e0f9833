"""The reader's part for one line of a frame: ``set ${key} ${size hex}$[ ${quiet}]``.

${size}        a name: a count if a part behind the line counts by it, else a value of the body
${size hex}    a count in hexadecimal digits
$[ … ]         a piece that may be missing
$$             a dollar
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from machines.model import FrameLine
from machines.parser.context import NAME, ParseContext, inside, shown
from machines.problems import Place
from machines.yaml.nodes import Node, ScalarNode

MISSING_MAX = 4  # pieces of a line that may be missing: what is tried doubles with each
_TOKEN = re.compile(r"\$\$|\$\{\s*([^${}]*?)\s*\}|\$\[|[^$\]]+|[\]$]")
_Piece = list[str]  # literals at even places, names at odd ones, a literal first and last


class _UnreadableError(Exception):
    """A fault was told; nothing can be made of the line."""


def read_line(reading: ParseContext, node: Node, counts: dict[str, bool], case: Node | None = None) -> FrameLine | None:
    """Return the line, its names added to ``counts``; None with the fault told. ``case`` is what stands there."""
    any_case = False
    if case is not None:
        if reading.text(case, "the value of 'case'") != "any":
            reading.fault(inside(case), "A137", "'case' is any, or is left out", "write case: any")
        any_case = True
    if not isinstance(node, ScalarNode):
        reading.text(node, "the line")
        return None
    try:
        pieces, hexadecimal = _pieces(reading, node)
        kept = product(*[(True, False) if missing else (True,) for missing, _ in pieces])
        ways = [_joined([piece for (_, piece), here in zip(pieces, way, strict=True) if here]) for way in kept]
    except _UnreadableError:
        return None
    names = ways[0][1::2]
    for index, name in enumerate(names):
        if name in counts or name in names[:index]:
            reading.fault(inside(node), "A137", f"{shown(name)} is no new name", "each name stands once")
            return None
    if any("" in way[2:-1:2] for way in ways):
        reading.fault(inside(node), "A137", "two names with nothing between", "put a text between them")
        return None
    counts.update(dict.fromkeys(names, False))
    return FrameLine(ways[0], node.place, (), tuple(ways[1:]), hexadecimal, any_case, node.text)


def _pieces(reading: ParseContext, node: ScalarNode) -> tuple[list[tuple[bool, _Piece]], frozenset[str]]:
    """Return the pieces of a line, each with whether it may be missing, and the names in hexadecimal digits."""
    pieces: list[tuple[bool, _Piece]] = [(False, [""])]
    hexadecimal = set()

    def fault(place: Place, text: str, hint: str) -> _UnreadableError:
        reading.fault(place, "A137", text, hint)
        return _UnreadableError()

    for place, token, name in _tokens(node):
        within, piece = pieces[-1]
        if name is not None:
            word, _, base = name.partition(" ")
            if not NAME.fullmatch(word) or base.strip() not in ("", "hex"):
                raise fault(place, f"{shown(name)} is no name in a line", "like ${size}, or ${size hex} for a count")
            if base:
                hexadecimal.add(word)
            piece += [word, ""]
        elif token == "$[":
            if within:
                raise fault(place, "a piece that may be missing within another", "end the first before it")
            pieces.append((True, [""]))
        elif token == "]" and within:
            if len(piece) == 1:
                text = "a piece that may be missing without a name in it: nobody could say whether it is there"
                raise fault(place, text, "give it a name, like $[ ${quiet}]")
            pieces.append((False, [""]))
        elif token == "$":
            raise fault(place, "a dollar alone", "a name is written ${size}, a dollar $$")
        else:
            piece[-1] += "$" if token == "$$" else token
    if pieces[-1][0]:
        raise fault(node.place, "a piece that may be missing has no end", "close it: $[ ${quiet}]")
    if sum(missing for missing, _ in pieces) > MISSING_MAX:
        raise fault(node.place, f"more than {MISSING_MAX} pieces that may be missing", "make two messages of it")
    return pieces, frozenset(hexadecimal)


def _tokens(node: ScalarNode) -> Iterator[tuple[Place, str, str | None]]:
    for found in _TOKEN.finditer(node.text):
        yield inside(node).right(found.start()), found[0], found[1]


def _joined(pieces: list[_Piece]) -> tuple[str, ...]:
    whole = [""]
    for piece in pieces:
        whole[-1] += piece[0]
        whole += piece[1:]
    return tuple(whole)
