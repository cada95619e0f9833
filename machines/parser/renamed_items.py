"""An item of a list made of another by another name: ``[peer.name for peer in all]``, ``[one.name for one in all]``."""

from __future__ import annotations

from typing import Final

from machines.expressions.lexer import Token, UnreadableError, tokens
from machines.problems import Mend, Rename

_LETTERS_MAX: Final = 1_000  # An expression has no more.


def renamed(text: str, rename: Rename) -> Mend | None:
    """Return what has to be written for a new name of an item; None if no such list begins there in the text."""
    lines = text.splitlines(keepends=True)
    if not 1 <= rename.place.line <= len(lines):
        return None
    stretch = lines[rename.place.line - 1][rename.place.column - 1 :][:_LETTERS_MAX]
    made = _made_list(stretch)
    binders = [at for at, (token, depth) in enumerate(made) if depth == 1 and _is(token, "for")]
    if not binders or binders[0] + 3 >= len(made):
        return None
    at = binders[0]
    binder, over = made[at + 1][0], made[at + 3][0]
    if binder.text != rename.old or not _is(made[at + 2][0], "in") or _is(over, "if"):
        return None
    asked = (index for index in range(at + 3, len(made)) if made[index][1] == 1 and _is(made[index][0], "if"))
    behind = next(asked, len(made))
    places = [binder.offset]
    for index, (token, _) in enumerate(made):
        if (index < at or index > behind) and token.kind == "name" and token.text == rename.old:
            before, after = made[index - 1][0], made[index + 1][0]
            if before.text != "." and after.text not in (":", "("):
                places.append(token.offset)
    old = stretch[: made[-1][0].offset + 1]
    new = old
    for place in sorted(places, reverse=True):
        new = new[:place] + rename.new + new[place + len(rename.old) :]
    return Mend(rename.place, old, new)


def _made_list(stretch: str) -> list[tuple[Token, int]]:
    """Return the tokens from the first bracket to the one that closes it, each with the brackets round it."""
    found: list[tuple[Token, int]] = []
    depth = 0
    try:
        for token in tokens(stretch, lambda *fault: None):
            if token.kind == "sign" and token.text in "([{":
                depth += 1
            found.append((token, depth))
            if token.kind == "sign" and token.text in ")]}":
                depth -= 1
                if depth <= 0:
                    return found
    except UnreadableError:
        pass
    return []


def _is(token: Token, word: str) -> bool:
    return token.kind in ("name", "word") and token.text == word
