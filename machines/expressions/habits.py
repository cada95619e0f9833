"""What people write who come from other languages, put as it is written here.

    a if c else b      c ? a : b        if c then a else b
    (x for x in xs)    any(f(x) for …)  [x for x in xs]    any([f(x) for …])
    a not in b         a is null        not (a in b)       a == null
    xs[1:]  xs[:n]     xs[-1]           tail(xs, 1)  head(xs, n)    xs[len(xs) - 1]
    elif               1...5  1_000  $x                    else if    1..5  1000  x

It is only asked of a text that could not be read. What comes out of it is offered only if that can be.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

DEPTH_MAX: Final = 32
_PIECE = re.compile(r"\s+|'(?:[^']|'')*'|\$\{\w+\}|\$?\w+|\.\.\.|\.\.|[=!<>]=|.", re.DOTALL)
_BLANK = re.compile(r"\s+\Z")
_OPERAND = re.compile(r"\w+\Z|\.\Z")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_BOUNDS = frozenset({"and", "or", "if", "then", "else", "for", "?", ":", "not"})


class _Group(NamedTuple):
    """What stands between two brackets, put as it is written here, and how it began."""

    opener: str
    inner: str
    text: str


_Atom = str | _Group


def as_meant(text: str) -> str | None:
    """Return a text with such habits put as they are written here; None if it has none, or its brackets do not fit."""
    pieces = [found[0] for found in _PIECE.finditer(text)]
    parts, end = _parts(pieces, 0, "", 0)
    if end != len(pieces):
        return None
    meant = ",".join(parts)
    return meant if meant != text else None


def _parts(pieces: list[str], at: int, closer: str, depth: int) -> tuple[list[str], int]:
    """Return the parts between commas, up to a closing bracket, and where that is; the end is -1 if it is nowhere."""
    parts: list[str] = []
    atoms: list[_Atom] = []
    while at < len(pieces):
        piece = pieces[at]
        if piece in (")", "]", "}"):
            break
        if piece == ",":
            parts.append(_part(atoms))
            atoms = []
        elif piece in _CLOSERS:
            if depth >= DEPTH_MAX:
                return parts, -1
            inner, end = _parts(pieces, at + 1, _CLOSERS[piece], depth + 1)
            if end < 0 or pieces[end] != _CLOSERS[piece]:
                return parts, -1
            _add_group(atoms, piece, inner)
            at = end
        else:
            atoms.append(_word(piece))
        at += 1
    if closer and at >= len(pieces):
        return parts, -1
    return [*parts, _part(atoms)], at


def _word(piece: str) -> str:
    if piece == "...":
        return ".."
    if piece.startswith("$") and len(piece) > 1:
        return piece.strip("${}")
    if re.fullmatch(r"\d+(_\d+)+", piece):
        return piece.replace("_", "")
    return "else if" if piece == "elif" else piece


def _add_group(atoms: list[_Atom], opener: str, parts: list[str]) -> None:
    """Put a bracket with its values behind the atoms; a slice takes the place of what it is of."""
    inner = ",".join(parts)
    made = len(parts) == 1 and opener == "(" and re.search(r"(?<!\S)for\s+\w+\s+in\s", inner) is not None
    begin = len(atoms)
    while begin and (not isinstance(atoms[begin - 1], str) or _OPERAND.match(str(atoms[begin - 1]))):
        begin -= 1
    operand = "".join(map(_text, atoms[begin:]))
    if opener == "[" and operand and len(parts) == 1 and (cut := _cut(operand, inner)) is not None:
        atoms[begin:] = [_Group("(", inner, cut)]
    elif made:
        called = bool(atoms) and isinstance(atoms[-1], str) and _OPERAND.match(atoms[-1]) is not None
        atoms.append(_Group("[", inner, f"([{inner}])" if called else f"[{inner}]"))
    else:
        atoms.append(_Group(opener, inner, f"{opener}{inner}{_CLOSERS[opener]}"))


def _cut(operand: str, inner: str) -> str | None:
    """Return a part of a list or text, or an element counted from its end."""
    inner = inner.strip()
    if re.fullmatch(r"-\d+", inner):
        return f"{operand}[len({operand}) - {inner[1:]}]"
    low, colon, high = (part.strip() for part in inner.partition(":"))
    if not colon or ":" in high or low.startswith("-") or high.startswith("-"):
        return None
    if low and high:
        return f"tail(head({operand}, {high}), {low})"
    return f"tail({operand}, {low})" if low else f"head({operand}, {high})" if high else None


def _text(atom: _Atom) -> str:
    return atom if isinstance(atom, str) else atom.text


def _part(atoms: list[_Atom]) -> str:
    """Return what stands between two commas."""
    first = next((index for index, atom in enumerate(atoms) if not _is_blank(atom)), len(atoms))
    before, atoms = "".join(map(_text, atoms[:first])), _compared(atoms[first:])
    return before + _chosen(atoms)


def _is_blank(atom: _Atom) -> bool:
    return isinstance(atom, str) and _BLANK.match(atom) is not None


def _chosen(atoms: list[_Atom]) -> str:
    """Return atoms in which ``a if c else b`` and ``c ? a : b`` are choices of ours."""
    words = [atom if isinstance(atom, str) else "" for atom in atoms]
    whole = "".join(map(_text, atoms))
    if "then" in words or "for" in words:
        return whole
    if words.count("?") == 1 and words.count(":") == 1 and words.index("?") < words.index(":"):
        asked, other = words.index("?"), words.index(":")
        condition, yes, no = atoms[:asked], atoms[asked + 1 : other], atoms[other + 1 :]
    elif "if" in words[1:] and "else" in words[words.index("if") :]:
        asked, other = words.index("if"), words.index("else")
        yes, condition, no = atoms[:asked], atoms[asked + 1 : other], atoms[other + 1 :]
    else:
        return whole
    first, second = ("".join(map(_text, one)).strip() for one in (condition, yes))
    return f"if {first} then {second} else {_chosen(no).strip()}"


def _compared(atoms: list[_Atom]) -> list[_Atom]:
    """Return atoms without ``is``, ``is not`` and ``not in``."""
    done: list[_Atom] = []
    index = 0
    while index < len(atoms):
        behind = next((at for at in range(index + 1, len(atoms)) if not _is_blank(atoms[at])), len(atoms))
        follows = atoms[behind] if behind < len(atoms) else ""
        if atoms[index] == "is":
            done.append("!=" if follows == "not" else "==")
            index = behind if follows == "not" else index
        elif atoms[index] == "not" and follows == "in":
            begin = max((at + 1 for at, atom in enumerate(done) if atom in _BOUNDS), default=0)
            while begin < len(done) and _is_blank(done[begin]):
                begin += 1
            end = next((at for at in range(behind + 1, len(atoms)) if atoms[at] in _BOUNDS), len(atoms))
            left, right = ("".join(map(_text, part)).strip() for part in (done[begin:], atoms[behind + 1 : end]))
            space: list[_Atom] = [" "] if end < len(atoms) else []
            done[begin:] = ["not", " ", _Group("(", "", f"({left} in {right})"), *space]
            index = end - 1
        else:
            done.append(atoms[index])
        index += 1
    return done
