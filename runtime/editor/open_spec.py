"""One text of a spec that is being written, and what is known of it: its problems, its names and those below it."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Final

from machines.checks.checker import check_with_suppressions
from machines.parser.loader import RulesError, SpecNotFound, allowed_rules, label, load_text, rules_modules, sources
from machines.parser.mending import mended
from machines.problems import Place, Problem, Problems, SpecError
from machines.yaml.nodes import BYTES_MAX, Node, parse_yaml
from runtime.editor.occurrences import Kind, Occurrence, Owner, occurrences

_SPEC: Final = re.compile(r"^(protocol|part|extends)\s*:", re.MULTILINE)
ROUNDS_MAX: Final = 20  # What is mended may show what was hidden behind it; each round mends something.


@dataclass(frozen=True)
class OpenSpec:
    """A text, the file it is to stand in, and further modules of rules that it may name; ``path`` need not exist."""

    text: str
    path: Path
    rules: tuple[str, ...] = field(default=())

    @property
    def file(self) -> str:
        """The name of the file, as problems have it."""
        return label(self.path)

    @cached_property
    def lines(self) -> list[str]:
        """The text, line by line."""
        return self.text.split("\n")

    @cached_property
    def tree(self) -> Node | None:
        """The nodes of the text; None while it is no YAML."""
        return tree_of(self.text, self.file)

    @cached_property
    def names(self) -> tuple[Occurrence, ...]:
        """All names that stand in the text; none while it is no YAML."""
        return tuple(map(self._placed, occurrences(self.tree))) if self.tree is not None else ()

    def _placed(self, name: Occurrence) -> Occurrence:
        """Where a name stands in the text: further right behind what is escaped, and below where a text is folded."""
        line, column = name.place.line, name.place.column - 1
        while column >= len(written := self.lines[line - 1].rstrip()) and line < len(self.lines):
            column -= len(written) + 1  # YAML reads a line's end, and the blanks around it, as one blank
            line += 1
            column += len(self.lines[line - 1]) - len(self.lines[line - 1].lstrip())
        name = replace(name, place=replace(name.place, line=line, column=column + 1))
        written = self.lines[line - 1]
        if written.startswith(name.name, column) or "\\" not in written[:column]:
            return name
        further = re.search(rf"(?<!\w){re.escape(name.name)}(?!\w)", written[column:])
        return name if further is None else replace(name, place=name.place.right(further.start()))

    @cached_property
    def below(self) -> tuple[OpenSpec, ...]:
        """The files that this one extends, as they are saved, the nearest first."""
        try:
            return tuple(OpenSpec(_read(path), path) for path in sources(str(self.path))[1:])
        except (SpecNotFound, SpecError, OSError):
            return ()

    @cached_property
    def modules(self) -> dict[str, ModuleType]:
        """The modules of rules that the text and those below it name, if they are allowed and can be imported."""
        found: dict[str, ModuleType] = {}
        for one in (self, *self.below):
            for name in one.names:
                if name.kind == "rule" and not name.owner and name.name not in found:
                    found |= _module(name.name, self.rules)
        return found

    @property
    def is_spec(self) -> bool:
        """Whether the text is meant to be a spec: editors send all that is YAML."""
        return _SPEC.search(self.text) is not None

    def problems(self) -> tuple[Problem, ...]:
        """Return all that `accord check` finds before it explores, in file order; those of other files as well."""
        if not self.is_spec:
            return ()
        try:
            spec = load_text(self.text, self.file, folder=self.path.parent, rules=self.rules, path=self.path)
            return tuple(check_with_suppressions(spec, rules_modules(spec, self.rules))[0])
        except SpecError as error:
            return error.problems
        except (SpecNotFound, RulesError) as error:
            return (Problem(Place(self.file, 1, 1), "A400", str(error)),)

    def at(self, line: int, column: int) -> Occurrence | None:
        """Return the name at a place, ``line`` and ``column`` from 1; a name ends behind its last letter."""
        found = [
            one
            for one in self.names
            if one.place.line == line and one.place.column <= column <= one.place.column + len(one.name) and one.name
        ]
        return min(found, key=lambda one: (one.kind == "key", len(one.name)), default=None)

    def declared(self, kind: Kind) -> list[tuple[OpenSpec, Occurrence]]:
        """Return what is declared of a kind, here and below, with the text that it stands in; the nearest first."""
        return self._declared.get(kind, [])

    @cached_property
    def _declared(self) -> dict[Kind, list[tuple[OpenSpec, Occurrence]]]:
        found: dict[Kind, list[tuple[OpenSpec, Occurrence]]] = {}
        for one in (self, *self.below):
            for name in one.names:
                if name.declares:
                    found.setdefault(name.kind, []).append((one, name))
        return found

    def meant(self, name: Occurrence) -> tuple[Kind, Owner]:
        """Return what a name is the name of: what an expression reads may be a setting or a role."""
        if name.kind == "message":
            return "message", ()
        if name.kind in ("name", "named"):
            kinds: Sequence[Kind] = (
                ("setting", "role") if name.kind == "name" else ("message", "type", "setting", "role")
            )
            for kind in kinds:
                if any(one.name == name.name for _, one in self.declared(kind)):
                    return kind, ()
        return name.kind, name.owner

    def declaration(self, name: Occurrence) -> tuple[OpenSpec, Occurrence] | None:
        """Return where a name is declared, and the text that it stands in; None if nowhere."""
        kind, owner = self.meant(name)
        if kind == "rule":
            return None
        found = [pair for pair in self.declared(kind) if is_same(pair[1], kind, owner, name.name)]
        if not found and kind == "name":
            found = [pair for pair in self.declared("field") if pair[1].name == name.name]
        return found[0] if found else None

    def used(self, name: Occurrence) -> list[Occurrence]:
        """Return each place in this text where the same thing is named, its declaration too, in file order."""
        kind, owner = self.meant(name)
        found = (one for one in self.names if one.name == name.name and one.kind != "key")
        same = [
            one for one in found if is_same(one, *self.meant(one), name.name) and _fits(self.meant(one), kind, owner)
        ]
        return sorted(dict.fromkeys(same), key=lambda one: one.place)


def _fits(meant: tuple[Kind, Owner], kind: Kind, owner: Owner) -> bool:
    return meant[0] == kind and overlap(meant[1], owner)


def is_same(name: Occurrence, kind: Kind, owner: Owner, text: str) -> bool:
    """Whether an occurrence is of this name; machines that roles share are those of each."""
    return (
        name.name == text
        and (name.kind in ("name", "named", "message") or name.kind == kind)
        and (kind in ("setting", "role", "message", "type") or overlap(name.owner, owner))
    )


def overlap(one: Owner, other: Owner) -> bool:
    """Whether two owners are the same, or share a role: what stands under `host, spare` is of each."""
    if len(one) != len(other):
        return False
    return all(set(a.split(",")) & set(b.split(",")) for a, b in zip(one, other, strict=True))


def tree_of(text: str, file: str) -> Node | None:
    """Return the nodes of a text; None if it is no YAML, or too large."""
    problems = Problems()
    return parse_yaml(text, file, problems) if len(text) <= BYTES_MAX else None


def formatted(spec: OpenSpec) -> str:
    """Return the text with what is known to have been meant written into it, without blanks at the ends of lines."""
    text = spec.text
    for _ in range(ROUNDS_MAX):
        own = [
            problem for problem in OpenSpec(text, spec.path, spec.rules).problems() if problem.place.file == spec.file
        ]
        text, done = mended(text, own)
        if not done:
            break
    return "\n".join(line.rstrip(" \t\r") for line in text.split("\n")).rstrip("\n") + "\n"


def _read(path: Path) -> str:
    return path.read_bytes()[: BYTES_MAX + 1].decode("utf-8", "replace")


def _module(name: str, extra: tuple[str, ...]) -> dict[str, ModuleType]:
    allowed = allowed_rules(extra)
    if name not in allowed:
        return {}
    try:
        return {name: importlib.import_module(allowed[name])}
    except (Exception, SystemExit):  # whatever a module does while it is imported, the check tells it
        return {}
