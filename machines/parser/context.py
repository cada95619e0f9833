"""What all parts of the reader share: the problems, the names declared, and the small forms that recur.

A part never stops at a fault. It notes the problem and reads on with something harmless, so that one pass finds
everything and nothing is said twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches

from machines.expressions.parser import parse, parse_call
from machines.model import Call, Constant, Expression, Mapped, Sequence, Setting
from machines.parser.settings import mistaken, parse_duration
from machines.problems import Mend, Place, Problems
from machines.yaml.nodes import ListNode, MapNode, Node, ScalarNode

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

_MEANT = re.compile(r"did you mean '([^']*)'\?")

# Words of the expression language: a name spelt like one could never be read.
RESERVED = frozenset({"true", "false", "null", "and", "or", "not", "in", "except", "never"})

# What other languages for state machines call it.
_ELSEWHERE = {
    "goto": "then",
    "next": "then",
    "target": "then",
    "final": "return",
    "result": "return",
    "on": "receive",
    "call": "run",
    "wait": "await",
    "guard": "if",
    "when": "if",
    "set": "let",
    "assign": "let",
    "close": "drop",
    "for": "each",
    "foreach": "each",
    "while": "until",
    "sleep": "pause",
    "broadcast": "send",
    "kick": "drop",
    "disconnect": "drop",
    "deadline": "within",
    "variables": "let",
}
_ELSE = "a branch without 'if', the last of its list, is for all else"
_NO_KEY = {
    "else": _ELSE,
    "otherwise": _ELSE,
    "default": _ELSE,
    "elif": "write the branches as a list, each with its 'if'",
}


@dataclass(frozen=True, slots=True)
class MessageOutline:
    """Who sends a message and how many fields it has; None where its body could not be read."""

    senders: tuple[str, ...]
    fields: int | None


@dataclass(frozen=True, slots=True)
class MachineSignature:
    """What a machine is called with (None where that is at fault), and its states' names in the order written."""

    parameters: tuple[str, ...] | None
    states: tuple[str, ...]


@dataclass(slots=True)
class ParseContext:
    """One pass over a spec. ``peers`` has, for each role, the roles at the other end of its connections.

    ``messages``, ``machines`` (by role) and ``settings`` hold every name declared, also of things that could not be
    read: a reference to those is no second fault.
    """

    problems: Problems
    settings: dict[str, Setting | None] = field(default_factory=dict)
    types: dict[str, None] = field(default_factory=dict)
    messages: dict[str, MessageOutline] = field(default_factory=dict)
    machines: dict[str, dict[str, MachineSignature]] = field(default_factory=dict)
    peers: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def fault(self, place: Place, code: str, text: str, hint: str = "", mends: tuple[Mend, ...] = ()) -> None:
        """Note one problem."""
        self.problems.add(place, code, text, hint, mends=mends)

    def mapping(self, node: Node, what: str, example: str = "") -> MapNode:
        """Return the node if it is a mapping; note a problem and return an empty one if it is not."""
        if isinstance(node, MapNode):
            return node
        self.fault(node.place, "A112", f"{what} is a mapping of keys, not {said(node)}", example)
        return MapNode((), node.place)

    def items(self, node: Node, what: str, example: str = "") -> tuple[Node, ...]:
        """Return the items of a list; note a problem and return none if the node is no list."""
        if isinstance(node, ListNode):
            return node.items
        self.fault(node.place, "A112", f"{what} is a list, not {said(node)}", example)
        return ()

    def text(self, node: Node, what: str) -> str | None:
        """Return a scalar's text; note a problem and return None for a list, a mapping or nothing."""
        if not isinstance(node, ScalarNode):
            self.fault(node.place, "A112", f"{what} is one word or line, not {said(node)}", "write it without brackets")
            return None
        if is_empty(node):
            self.fault(node.place, "A113", f"{what} is missing", "write it behind the colon")
            return None
        return node.text

    def name(self, node: ScalarNode, what: str) -> bool:
        """Whether a scalar is spelt like a name; note a problem if it is not."""
        if not NAME.fullmatch(node.text):
            hint = "a letter, then letters, digits and _"
            words = node.text.split()
            if len(words) > 1 and what == "a parameter" and all(map(NAME.fullmatch, words)):
                hint = f"parameters have commas between them: {', '.join(words)}"
            self.fault(node.place, "A114", f"{shown(node.text)} is no name for {what}", hint)
            return False
        if node.text in RESERVED:
            self.fault(node.place, "A116", f"{node.text!r} has a meaning of its own and is no name for {what}")
            return False
        return True

    def known_keys(self, node: MapNode, known: Iterable[str], what: str) -> dict[str, Place]:
        """Return the places of a mapping's keys; note a problem for each that ``what`` does not have.

        A key that is misspelt counts as the one that was meant, an empty text if nobody can tell, so that what it
        would have done is not told to be missing.
        """
        known = tuple(known)
        found = {key.text: key.place for key, _ in node.pairs if key.text in known}
        for key, _ in node.pairs:
            if key.text not in known:
                meant = _ELSEWHERE.get(key.text, "")
                if meant not in known:
                    meant = next(iter(get_close_matches(key.text, known, n=1)), "")
                hint = f"did you mean {meant!r}?" if meant else f"it has: {', '.join(known)}"
                word, _, behind = key.text.partition(" ")
                if word in known and behind:
                    hint = f"did you mean '{word}: {behind}'?"
                hint = _NO_KEY.get(key.text, hint)
                self.fault(key.place, "A111", f"{what} has no key {shown(key.text)}", hint)
                found.setdefault(meant, key.place)
        return found

    def unknown(self, place: Place, code: str, kind: str, word: str, known: Iterable[str], hint: str = "") -> None:
        """Note that a name is not declared, with the nearest that is, unless ``hint`` knows better."""
        known = tuple(known)
        hint = hint or self.problems.near(code, word, known)
        if not hint:
            hint = f"there are: {', '.join(known[:8])}" if known else f"no {kind} is declared"
            hint += f" and {len(known) - 8} more" if len(known) > 8 else ""
        self.fault(place, code, f"unknown {kind} {shown(word)}", hint)

    # -- expressions -------------------------------------------------------------------------------------------------

    def expression(self, node: Node, what: str) -> Expression:
        """Return the expression that a scalar or list is; a Constant null stands in for one that cannot be read."""
        if isinstance(node, ListNode):
            return Sequence(tuple(self.expression(item, "an element") for item in node.items), node.place)
        text = self.text(node, what)
        place = inside(node)
        plain = isinstance(node, ScalarNode) and node.plain
        found = parse(text, place, self.problems, plain=plain) if text is not None else None
        return found if found is not None else Constant(None, place)

    def duration(self, node: Node, what: str) -> Expression:
        """Return an expression that gives seconds; a duration may be written in place: ``5 s``, ``never``."""
        if isinstance(node, ScalarNode):
            seconds = parse_duration(node.text.strip())
            if seconds is not None:
                return Constant(seconds, inside(node))
            meant = _MEANT.match(mistaken(node.text)) if node.plain else None
            if meant is not None and ".." not in meant[1]:  # a range is no time; `2 - 1` is a sum, as anywhere
                mend = Mend(node.place, node.text, meant[1])
                text = f"{shown(node.text)} is no time"
                self.problems.add(node.place, "A261", text, f"did you mean '{meant[1]}'?", mends=(mend,))
                return Constant(None, node.place)
        return self.expression(node, what)

    def value(self, node: Node, what: str) -> Expression:
        """Return the value under ``let``, ``as`` or ``return``: an expression, or a list or mapping of values."""
        match node:
            case ScalarNode():
                if is_empty(node):
                    self.fault(node.place, "A113", f"{what} is missing", "write null for nothing")
                    return Constant(None, node.place)
                return self.expression(node, what)
            case ListNode():
                return Sequence(tuple(self.value(item, what) for item in node.items), node.place)
            case MapNode():
                return Mapped(tuple((key.text, self.value(item, what)) for key, item in node.pairs), node.place)

    def call(self, node: Node, what: str, example: str) -> Call | None:
        """Return the call or bare name that a scalar is; None, with a problem, if it is none."""
        if not isinstance(node, ScalarNode):
            self.fault(node.place, "A112", f"{what} is a call, not {said(node)}", f"like {example}")
            return None
        if is_empty(node):
            self.fault(node.place, "A113", f"{what} is missing", f"like {example}")
            return None
        return parse_call(node.text, inside(node), self.problems, plain=node.plain)


def inside(node: Node) -> Place:
    """Return where a scalar's text begins: one further right if it stands in quotes."""
    return node.place.right(1) if isinstance(node, ScalarNode) and not node.plain else node.place


def is_empty(node: Node) -> bool:
    """Whether nothing at all is written there."""
    return isinstance(node, ScalarNode) and node.plain and node.text == ""


def shown(text: str) -> str:
    """Return a text of the file as a message may quote it: short and on one line."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def said(node: Node) -> str:
    """Return what a node is, for people."""
    match node:
        case ScalarNode():
            return "nothing" if is_empty(node) else f"the text {shown(node.text)}"
        case ListNode():
            return "a list"
        case MapNode():
            return "a mapping"


def joined(words: Iterable[str], last: str = "and") -> str:
    """Return words as a sentence lists them: ``a, b and c``."""
    *before, end = words
    return f"{', '.join(before)} {last} {end}" if before else end


def quoted(words: Iterable[str], last: str = "and") -> str:
    """Return words of the language as a sentence lists them: ``'a', 'b' and 'c'``."""
    return joined((f"'{word}'" for word in words), last)
