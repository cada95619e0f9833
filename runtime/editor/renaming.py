"""A name written anew wherever the same thing is named in the text."""

from __future__ import annotations

from machines.problems import Place
from runtime.editor.occurrences import Occurrence
from runtime.editor.open_spec import OpenSpec, overlap
from runtime.editor.words import is_name


class RenameError(Exception):
    """A name cannot be written anew; the text says why, for people."""


def renamed(spec: OpenSpec, line: int, column: int, new: str) -> tuple[Place, ...]:
    """Return the places at which the name at ``line`` and ``column`` is to be replaced by ``new``; in file order.

    Raises:
        RenameError: there is no name, it is declared in another file, the new one is none or is taken.
    """
    name = renamable(spec, line, column)
    if not is_name(new):
        raise RenameError(f"{new!r} is no name: a letter, then letters, digits and _, and no word of the language")
    kind, owner = spec.meant(name)
    taken = [one for _, one in spec.declared(kind) if one.name == new and (not owner or overlap(one.owner, owner))]
    if taken:
        raise RenameError(f"there is a {kind} {new!r} already, in line {taken[0].place.line}")
    return tuple(one.place for one in spec.used(name))


def renamable(spec: OpenSpec, line: int, column: int) -> Occurrence:
    """Return the name at a place, if it can be written anew.

    Raises:
        RenameError: it cannot; the text says why.
    """
    name = spec.at(line, column)
    if name is None or name.kind == "key":
        raise RenameError("no name stands here")
    kind, _ = spec.meant(name)
    if kind == "rule":
        raise RenameError(f"{name.name} belongs to a module of rules")
    if kind == "role" or (kind == "machine" and name.name == "main"):
        raise RenameError(f"{name.name} is what others know it by: players, commands and journals name it")
    found = spec.declaration(name)
    if found is None:
        raise RenameError(f"{name.name} is declared nowhere in this file")
    where, declared = found
    if declared.kind == "field":
        raise RenameError(f"{name.name} is a field of {declared.owner[0]}: all that send and receive it use its name")
    if where is not spec:
        raise RenameError(
            f"{name.name} is declared in {where.file}: a variant gives a message another name by 'rename'"
        )
    return name
