"""What may be written at a place: a word is put there, and what kind of name it would be says what there is."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from machines.messages.inline_types import SCALARS
from machines.parser.branches import STAYING
from machines.parser.loader import allowed_rules, rules_functions
from machines.yaml.nodes import MapNode
from runtime.editor.occurrences import Occurrence, occurrences
from runtime.editor.open_spec import OpenSpec, overlap, tree_of
from runtime.editor.words import BUILT_IN, KEYS, built_in, descriptions

PUT = "zzHere"  # stands where the word is written
_BEFORE, _AFTER = re.compile(r"[A-Za-z_]\w*$"), re.compile(r"^\w*")
_FORMS = ("{}", "{}: {}", "{}:", "{}, zz: 1")  # a word, a key, a key of what follows, a key in braces

Sort = Literal["key", "state", "machine", "message", "type", "setting", "role", "rule", "function", "value"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A word that may be written, what it is, and what is to be known of it; ``insert`` is written for it."""

    label: str
    sort: Sort
    detail: str = ""
    doc: str = ""
    insert: str = ""


def candidates(spec: OpenSpec, line: int, column: int, known: OpenSpec | None = None) -> list[Candidate]:
    """Return what may stand at a place, ``line`` and ``column`` from 1, sorted; nothing where it is not known.

    ``known`` is a text from before that was YAML, whose names are offered while this one is none.
    """
    names = known if spec.tree is None and known is not None else spec
    found: dict[str, Candidate] = {}
    for place in _places(spec, line, column):
        for one in _fitting(names, place):
            found.setdefault(one.label, one)
        if found:
            break
    return sorted(found.values(), key=lambda one: (one.sort in ("function", "value"), one.label))


def _places(spec: OpenSpec, line: int, column: int) -> Iterator[Occurrence]:
    """Yield what the word at a place would be, for each form in which the text is YAML."""
    lines = list(spec.lines)
    if not 1 <= line <= len(lines):
        return
    before, after = lines[line - 1][: column - 1], lines[line - 1][column - 1 :]
    before, after = _BEFORE.sub("", before), _AFTER.sub("", after)
    for form in _FORMS:
        lines[line - 1] = before + form.format(PUT, PUT) + after
        tree = tree_of("\n".join(lines), spec.file)
        if tree is None:
            continue
        there = [one for one in occurrences(tree) if PUT in one.name and one.place.line == line]
        yield from (one for one in there if one.place.column == len(before) + 1)


def _fitting(spec: OpenSpec, place: Occurrence) -> Iterator[Candidate]:
    match place.kind:
        case "key":
            yield from (_word(key) for key in KEYS.get(place.owner[0], ()))
        case "state":
            yield from (Candidate(word, "value", "what is next") for word in STAYING)
            yield from _declared(spec, place)
        case "machine":
            yield from _machines(spec, place)
        case "message":
            yield from _messages(spec, place)
        case "type":
            yield from (Candidate(word, "value", "any of these") for word in SCALARS)
            yield from _declared(spec, place)
        case "rule":
            yield from _rules(spec, place)
        case "name":
            yield from _names(spec, place)
        case "named":
            for kind in ("message", "type", "setting"):
                yield from (Candidate(one.name, kind) for _, one in spec.declared(kind))
        case _:
            yield from _declared(spec, place)


def _word(key: str) -> Candidate:
    return Candidate(key, "key", "", descriptions().get(key, ""), f"{key}: ")


def _declared(spec: OpenSpec, place: Occurrence) -> Iterator[Candidate]:
    for where, one in spec.declared(place.kind):
        if one.kind == "state" and not overlap(one.owner, place.owner):
            continue
        yield Candidate(one.name, one.kind, _line(where, one))  # type: ignore[arg-type]


def _line(spec: OpenSpec, name: Occurrence) -> str:
    return spec.lines[name.place.line - 1].strip()[:100]


def _machines(spec: OpenSpec, place: Occurrence) -> Iterator[Candidate]:
    for where, one in spec.declared("machine"):
        if overlap(one.owner, place.owner) and one.name != "main":
            signature = re.match(r"\w+\s*(\([^()]*\))?", where.lines[one.place.line - 1][one.place.column - 1 :])
            written = signature[0] if signature is not None else one.name
            yield Candidate(one.name, "machine", written, "", written)


def _messages(spec: OpenSpec, place: Occurrence) -> Iterator[Candidate]:
    """Yield the messages of the role where it sends or says, and those of others where it receives."""
    own = {name for name, senders in _senders(spec).items() if place.owner and place.owner[1] in senders}
    for where, one in spec.declared("message"):
        if place.owner and (one.name in own) != (place.owner[0] != "receive"):
            continue
        yield Candidate(one.name, "message", _line(where, one))


def _senders(spec: OpenSpec) -> dict[str, set[str]]:
    """Return who sends each message."""
    found: dict[str, set[str]] = {}
    for one in (spec, *spec.below):
        messages = one.tree.get("messages") if isinstance(one.tree, MapNode) else None
        for senders, bodies in messages.pairs if isinstance(messages, MapNode) else ():
            for name, _ in bodies.pairs if isinstance(bodies, MapNode) else ():
                found.setdefault(name.text, set()).update(role.strip() for role in senders.text.split(","))
    return found


def _rules(spec: OpenSpec, place: Occurrence) -> Iterator[Candidate]:
    if not place.owner:
        yield from (Candidate(name, "rule") for name in allowed_rules(spec.rules))
        return
    module = spec.modules.get(place.owner[0])
    for name, function in rules_functions(module).items() if module is not None else ():
        signature = str(inspect.signature(function))
        doc = (inspect.getdoc(function) or "").partition("\n")[0]
        yield Candidate(name, "function", f"{name}{signature}", doc)


def _names(spec: OpenSpec, place: Occurrence) -> Iterator[Candidate]:
    for where, one in spec.declared("name"):
        if overlap(one.owner, place.owner):
            yield Candidate(one.name, "value", _line(where, one))
    heard = {one.name for one in spec.names if one.kind == "message" and one.owner[:1] == ("receive",)}
    for where, one in spec.declared("field"):
        if one.owner[0] in heard:
            yield Candidate(one.name, "value", _line(where, one))
    yield from (Candidate(one.name, "setting", _line(where, one)) for where, one in spec.declared("setting"))
    yield from (Candidate(name, "rule", "rules") for name in spec.modules)
    yield from (Candidate(one.name, "role") for _, one in spec.declared("role"))
    yield from (
        Candidate(word, "function" if "(" in built_in().get(word, "") else "value", "", built_in().get(word, ""))
        for word in BUILT_IN
    )
