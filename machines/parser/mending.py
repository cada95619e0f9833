"""A text with its problems mended, where a problem knows what was meant: `accord check --fix`."""

from __future__ import annotations

from collections.abc import Iterable

from machines.parser.moved_keys import moved
from machines.parser.renamed_items import renamed
from machines.problems import Mend, Move, Problem, Rename


def usable(text: str, problem: Problem) -> tuple[int, Mend] | None:
    """Return the first mend of a problem whose old text stands in ``text`` where it says, and its index; else None."""
    lines = text.splitlines(keepends=True)
    for known in problem.mends:
        match known:
            case Move():
                mend = moved(text, known)
            case Rename():
                mend = renamed(text, known)
            case Mend():
                mend = known
        if mend is None or not 1 <= mend.place.line <= len(lines):
            continue
        at = sum(map(len, lines[: mend.place.line - 1])) + mend.place.column - 1
        if mend.place.column >= 1 and text.startswith(mend.old, at):
            return at, mend
    return None


def mended(text: str, problems: Iterable[Problem]) -> tuple[str, tuple[Mend, ...]]:
    """Return the text with what can be mended in it written anew, and what was, in the order of the text.

    Of two mends that would change the same letters the first is done: the other comes with the next check.
    """
    found = [one for one in (usable(text, problem) for problem in problems) if one is not None]
    parts: list[str] = []
    done: list[Mend] = []
    end = 0
    for at, mend in sorted(found, key=lambda one: one[0]):
        if at >= end:
            parts += (text[end:at], mend.new)
            done.append(mend)
            end = at + len(mend.old)
    return "".join((*parts, text[end:])), tuple(done)
