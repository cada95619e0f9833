"""A key of a mapping written above another one of it, with its comments; all else stays as it is.

What was, and what becomes of it:

    send: YO(x)  # the old one              # counts
    # counts                                let: {x: x + 1}
    let: {x: x + 1}                         send: YO(x)  # the old one

    {drop: peer, send: BYE, then: over}     {send: BYE, drop: peer, then: over}
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from itertools import pairwise
from typing import Final

from machines.problems import Mend, Move, Place, Problems
from machines.yaml.nodes import ListNode, MapNode, Node, parse_yaml

_SHOWN_MAX: Final = 60  # characters of a key and its value that are shown


def moved(text: str, move: Move) -> Mend | None:
    """Return what has to be written for a move; None if the text is not as it was, or comments stand in braces."""
    tree = _tree(text, move.early.file)
    found = _mapping(tree, move.early, move.late) if tree is not None else None
    if found is None:
        return None
    mapping, early, late = found
    lines = text.splitlines(keepends=True)
    if lines[mapping.place.line - 1].startswith("{", mapping.place.column - 1):
        return _in_braces(text, lines, mapping, early, late)
    return _in_block(lines, mapping, early, late)


@lru_cache(maxsize=2)
def _tree(text: str, file: str) -> Node | None:
    return parse_yaml(text, file, Problems())


def _mapping(node: Node, early: Place, late: Place) -> tuple[MapNode, int, int] | None:
    """Return the mapping of which the two places are in two keys or their values, and which those are."""
    if not isinstance(node, MapNode | ListNode):
        return None
    parts = [item for _, item in node.pairs] if isinstance(node, MapNode) else list(node.items)
    places = [key.place for key, _ in node.pairs] if isinstance(node, MapNode) else [item.place for item in node.items]
    first, second = (bisect_right(places, place) - 1 for place in (early, late))
    if first == second and first >= 0:
        return _mapping(parts[first], early, late)
    return (node, first, second) if isinstance(node, MapNode) and 0 <= first < second else None


# -- in block style --------------------------------------------------------------------------------------------------


def _in_block(lines: list[str], mapping: MapNode, early: int, late: int) -> Mend:
    keys = [key.place for key, _ in mapping.pairs]
    column = keys[early].column
    indent = lines[keys[early].line - 1][: column - 1]
    begin = keys[early].line if indent.strip() else _with_comments(lines, keys[early].line, column)
    middle = _with_comments(lines, keys[late].line, column)
    end = keys[late + 1].line if late + 1 < len(keys) else _behind(lines, keys[late].line, column)
    while end > keys[late].line + 1 and _is_aside(lines[end - 2]):
        end -= 1
    above, below = "".join(lines[begin - 1 : middle - 1]), "".join(lines[middle - 1 : end - 1])
    at = 1
    old = above + below
    line_end = "" if below.endswith("\n") else "\n"  # the last line of the file
    if indent.strip():  # behind the dash of a list, whose place the key takes that comes first
        at, old = column, old[column - 1 :]
        blanks = " " * (column - 1)
        new = below[column - 1 :] + line_end + blanks + above[column - 1 :]
    else:
        new = below + line_end + above
    shown = f"{_short(lines, keys[late])}  above  {_short(lines, keys[early])}"
    return Mend(Place(mapping.place.file, begin, at), old, new.rstrip("\r\n") if line_end else new, shown)


def _with_comments(lines: list[str], line: int, column: int) -> int:
    """Return the number of the first line of the comments right above a line that stand in its column."""
    while line > 1 and lines[line - 2].lstrip(" ").startswith("#") and _indent(lines[line - 2]) == column - 1:
        line -= 1
    return line


def _behind(lines: list[str], line: int, column: int) -> int:
    """Return the number of the line behind the value of the last key of a mapping, which is in ``column``."""
    while line < len(lines):
        text = lines[line]
        deep = _indent(text) >= column or (_indent(text) == column - 1 and text.lstrip(" ").startswith("- "))
        if not deep and not _is_aside(text):
            break
        line += 1
    return line + 1


def _is_aside(line: str) -> bool:
    """Whether a line is blank, or a comment."""
    return line.strip()[:1] in ("", "#")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _short(lines: list[str], place: Place) -> str:
    text = lines[place.line - 1][place.column - 1 :].strip()
    return text if len(text) <= _SHOWN_MAX else f"{text[: _SHOWN_MAX - 3]}..."


# -- in braces -------------------------------------------------------------------------------------------------------


def _in_braces(text: str, lines: list[str], mapping: MapNode, early: int, late: int) -> Mend | None:
    begins = [sum(map(len, lines[: key.place.line - 1])) + key.place.column - 1 for key, _ in mapping.pairs]
    end = _closed(text, begins[-1])
    if end is None or "#" in text[begins[early] : end]:
        return None
    bounds = [*begins, end]
    pieces: list[str] = []
    gaps: list[str] = []
    for here, there in pairwise(bounds):
        piece = text[here:there].rstrip()
        piece = piece[:-1].rstrip() if piece.endswith(",") else piece
        pieces.append(piece)
        gaps.append(text[here + len(piece) : there])
    old = text[begins[early] : begins[late] + len(pieces[late])]
    new = pieces[late] + "".join(gap + piece for gap, piece in zip(gaps[early:late], pieces[early:late], strict=True))
    return Mend(mapping.pairs[early][0].place, old, new)


def _closed(text: str, at: int) -> int | None:
    """Return where the brace closes in which a key begins ``at``; None if nowhere."""
    depth = 0
    quote = ""
    for index in range(at, len(text)):
        sign = text[index]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
            if depth < 0:
                return index
    return None
