"""YAML text to a tree of nodes that know their places; scalars stay the text their author wrote.

So ``on``, ``NO`` and ``1:30`` are words like any other. Only a small part of YAML is a spec: one document of
mappings, lists and scalars. The rest is refused while the events of the parser come in, before anything is built from
them, because 430 bytes of aliases can stand for 10^9 nodes.

    A100  the text is not YAML
    A101  an anchor, alias, tag, merge key, directive or second document
    A102  a key that its mapping already has
    A109  too large: bytes, nesting or nodes
    A110  an expression in braces that YAML cuts at its comma, with something behind it that could be a key

An expression in braces is read as it stands wherever nothing else can be meant: `machines.yaml.flow_style`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import yaml

from machines.problems import Mend, Place, Problems
from machines.yaml.flow_style import MADE_LIST, masked, opens_call, unmasked

BYTES_MAX = 1 << 20  # 1 MiB; the longest shipped spec has 10 KiB.
DEPTH_MAX = 64
NODES_MAX = 20_000
KEPT_MAX = 32  # trees of the last files, which are read again for what extends them, its hash, its missing rules
MENDED_LETTERS_MAX = 200_000  # Letters of one file that are read a second time to put cut calls together.


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """A scalar as written; ``plain`` is false if it stood in quotes or in block style."""

    text: str
    plain: bool
    place: Place


@dataclass(frozen=True, slots=True)
class ListNode:
    """A sequence."""

    items: tuple[Node, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class MapNode:
    """A mapping, in the order written; its keys are scalars."""

    pairs: tuple[tuple[ScalarNode, Node], ...]
    place: Place

    def get(self, key: str) -> Node | None:
        """Return the value of a key, None if the mapping lacks it."""
        return next((value for name, value in self.pairs if name.text == key), None)


Node = ScalarNode | ListNode | MapNode


def parse_yaml(text: str, file: str, problems: Problems) -> Node | None:
    """Return the tree of the one document in ``text``; every fault goes to ``problems``.

    None if there is no tree: the text is empty, is not YAML or is too large. With other faults there is one, without
    the parts that may not be.
    """
    if len(text) > BYTES_MAX or len(text.encode("utf-8", "surrogatepass")) > BYTES_MAX:
        problems.add(Place(file, 1, 1), "A109", f"the file is longer than {BYTES_MAX} bytes")
        return None
    tree = _faultless(text, file, _FAST) if _FAST is not None else None  # type: ignore[arg-type] # it has a hash
    # What is wrong is told by one parser, the same where there is no other.
    return _Composer(text, masked(text), file, problems, yaml.SafeLoader).tree() if tree is None else tree


@lru_cache(maxsize=KEPT_MAX)
def _faultless(text: str, file: str, loader: type[yaml.SafeLoader]) -> Node | None:
    """Return the tree of a text without faults, else None. It is kept: variants of a spec lie over the same files."""
    for meant in (text, masked(text)):
        if not _READ_APART.search(meant):
            found = Problems()
            composer = _Composer(text, meant, file, found, loader)
            tree = composer.tree()
            # What is still cut where the marks of expressions are masked, every parser cuts alike.
            doubtful = composer.empty or (composer.doubtful and meant is text)
            if tree is not None and not found and not doubtful and composer.quoted == meant.count("?"):
                return tree
    return None


# Some ten times as fast; PyYAML is not built with libyaml everywhere.
_FAST: type[yaml.SafeLoader] | None = getattr(yaml, "CSafeLoader", None)

# What libyaml counts or reads in another way than PyYAML: characters, a '#' right behind '|' or '>'. A '?' in braces is
# another such thing, for which the composer looks. Its place of an empty value in braces is another, too.
_READ_APART = re.compile(
    "[^\\n -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]|[|>][-+0-9]*#"
)


@dataclass(slots=True)
class _Piece:
    """A node and the stretch of the text it was read from; ``node`` is None if it was refused."""

    node: Node | None
    start: int
    end: int

    @property
    def plain(self) -> str | None:
        """The text of a plain scalar, else None."""
        return self.node.text if isinstance(self.node, ScalarNode) and self.node.plain else None


@dataclass(slots=True)
class _OpenCollection:
    """A collection whose end has not come yet; a mapping's pieces are key, value, key, value."""

    mapping: bool
    braces: bool
    place: Place
    start: int
    pieces: list[_Piece] = field(default_factory=list)


class _Composer:
    """Turns the parser's events into nodes, with a stack of its own: no depth of the text is a depth of Python."""

    def __init__(self, text: str, meant: str, file: str, problems: Problems, loader: type[yaml.SafeLoader]) -> None:
        self.text = text
        self.meant = meant  # the same, with the marks of expressions masked
        self.file = file
        self.loader = loader
        self.problems = problems
        self.stack: list[_OpenCollection] = []
        self.reread = 0  # letters looked at a second time, for the end of a cut call
        self.root: _Piece | None = None
        self.doubtful = False  # half a call in braces: YAML may have cut an expression there
        self.empty = False  # an empty value in braces: so it may have there, and each parser has its own place for it
        self.quoted = 0  # question marks that stand in quotes, where every parser reads them alike

    def tree(self) -> Node | None:
        loader: yaml.SafeLoader | None = None
        try:
            loader = self.loader(self.meant)
            nodes = documents = 0
            while loader.check_event():
                event: yaml.Event = loader.get_event()  # type: ignore[no-untyped-call]  # PyYAML has no types
                if isinstance(event, yaml.DocumentStartEvent):
                    documents += 1
                    if event.version or event.tags:
                        self._refuse(event, "a directive", "leave it out")
                    if documents > 1:
                        self._refuse(event, "a second document", "one file is one spec")
                        break
                if isinstance(event, yaml.NodeEvent):
                    nodes += 1
                    if nodes > NODES_MAX or len(self.stack) > DEPTH_MAX:
                        what = f"more than {NODES_MAX} nodes" if nodes > NODES_MAX else f"nesting over {DEPTH_MAX} deep"
                        self.problems.add(self._place(_begin(event)), "A109", f"the file is too large: {what}")
                        return None
                self._take(event)
        except yaml.MarkedYAMLError as error:
            self._syntax(error)
            return None
        except yaml.reader.ReaderError as error:
            character = error.character if isinstance(error.character, int) else ord(error.character)
            text = f"the character U+{character:04X} may not stand in YAML"
            self.problems.add(self._place_at(error.position), "A100", text, "write it as an escape in double quotes")
            return None
        except (ValueError, OverflowError):
            # PyYAML lets Python's own errors out for an escape beyond Unicode and for an endless version number.
            assert loader is not None, "only a running parser meets an escape"
            place = self._place(loader.get_mark())
            self.problems.add(place, "A100", "a number in an escape or directive is too large")
            return None
        finally:
            if loader is not None:
                loader.dispose()
        if self.root is None or (self.root.plain == "" and self.root.start == self.root.end):
            self.problems.add(Place(self.file, 1, 1), "A100", "the file is empty", "a spec is a mapping of keys")
            return None
        return self.root.node

    # -- events to nodes ---------------------------------------------------------------------------------------------

    def _take(self, event: yaml.Event) -> None:
        match event:
            case yaml.AliasEvent():
                self._refuse(event, f"the alias *{event.anchor}", "write it out")
                self._add(_Piece(None, _begin(event).index, _end(event).index))
            case yaml.ScalarEvent():
                self._refuse_extras(event)
                place = self._place(_begin(event))
                value = unmasked(event.value) if self.meant is not self.text else event.value
                if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
                    self.problems.add(place, "A100", "half a character (a lone surrogate) in a text")
                    value = value.encode("utf-8", "replace").decode()
                node = ScalarNode(value, not event.style, place)
                if event.style in ("'", '"') and "?" in value:
                    self.quoted += self.meant.count("?", _begin(event).index, _end(event).index)
                if not value and node.plain and self.stack and self.stack[-1].braces:
                    self.empty = True
                self._add(_Piece(node, _begin(event).index, _end(event).index))
            case yaml.CollectionStartEvent():
                self._refuse_extras(event)
                mapping = isinstance(event, yaml.MappingStartEvent)
                start = _begin(event)
                self.stack.append(_OpenCollection(mapping, bool(event.flow_style), self._place(start), start.index))
            case yaml.CollectionEndEvent():
                done = self.stack.pop()
                self._add(_Piece(self._map(done) if done.mapping else self._list(done), done.start, _end(event).index))
            case _:
                pass  # the start or end of the stream or of its document

    def _add(self, piece: _Piece) -> None:
        if self.stack:
            self.stack[-1].pieces.append(piece)
        else:
            self.root = piece

    def _map(self, done: _OpenCollection) -> MapNode:
        pieces = done.pieces
        pairs: dict[str, tuple[ScalarNode, Node]] = {}
        index = 0
        while index < len(pieces):
            key, value = pieces[index], pieces[index + 1]
            index += 2
            if done.braces and value.plain is not None and _OPENING.search(value.plain) and _is_open(value.plain):
                self.doubtful = True
                index, value = self._mend_value(pieces, index, key, value)
            if key.node is None or value.node is None:
                continue
            if not isinstance(key.node, ScalarNode) or (key.node.plain and key.node.text == ""):
                self.problems.add(key.node.place, "A100", "a key must be a word", "keys are never lists or mappings")
            elif key.node.plain and key.node.text == "<<":
                self.problems.add(key.node.place, "A101", "a merge key may not stand in a spec", "write it out")
            elif key.node.text in pairs:
                first = pairs[key.node.text][0].place.line
                text = f"the key {key.node.text!r} stands twice in this mapping"
                self.problems.add(key.node.place, "A102", text, f"it first stands in line {first}")
            else:
                pairs[key.node.text] = (key.node, value.node)
        return MapNode(tuple(pairs.values()), done.place)

    def _list(self, done: _OpenCollection) -> ListNode:
        self.doubtful |= done.braces and any(
            piece.plain is not None and (opens_call(piece.plain) or MADE_LIST.search(piece.plain))
            for piece in done.pieces
        )
        return ListNode(tuple(piece.node for piece in done.pieces if piece.node is not None), done.place)

    # -- expressions cut at a comma -----------------------------------------------------------------------------------

    def _mend_value(self, pieces: list[_Piece], index: int, key: _Piece, value: _Piece) -> tuple[int, _Piece]:
        """Put together what YAML cut into a value and further keys: ``{if: x == 'a, b: c'}``."""
        end = index
        brackets = _Brackets()
        at = value.start
        while end < len(pieces) and pieces[end].plain is not None and pieces[end + 1].plain is not None:
            if not self._may_reread(at, pieces[end + 1].end):
                break
            end += 2
            brackets.read(self.text, at, at := max(pieces[end - 2].end, pieces[end - 1].end))
            if not brackets.are_open:
                name = key.node.text if isinstance(key.node, ScalarNode) else "..."
                return end, self._mended(value, name, pieces[index], at)
        return index, value

    def _may_reread(self, start: int, end: int) -> bool:
        """Whether a stretch may be looked at once more. Calls that never end would else take the square of the file.

        Beyond the limit a cut call stays cut: its parts are told as what they are, words that make no sense.
        """
        self.reread += end - start
        return self.reread <= MENDED_LETTERS_MAX

    def _mended(self, cut: _Piece, name: str, key: _Piece, end: int) -> _Piece:
        assert isinstance(cut.node, ScalarNode), "only a scalar is cut at a comma"
        whole = " ".join(filter(None, map(str.strip, self.text[cut.start : end].split("\n"))))
        quoted = f'"{whole}"' if not set(whole) & set('"\\') else f"'{whole.replace(chr(39), chr(39) * 2)}'"
        self.problems.add(
            cut.node.place,
            "A110",
            f"YAML ends this at its comma, and takes {key.plain!r} for a key",
            f"quotes round it keep it whole: {name}: {quoted}",
            mends=(Mend(cut.node.place, self.text[cut.start : end], quoted),),
        )
        return _Piece(ScalarNode(whole, True, cut.node.place), cut.start, end)

    # -- faults ------------------------------------------------------------------------------------------------------

    def _refuse(self, event: yaml.Event, what: str, hint: str) -> None:
        self.problems.add(self._place(_begin(event)), "A101", f"{what} may not stand in a spec", hint)

    def _refuse_extras(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
        if event.anchor is not None:
            self._refuse(event, f"the anchor &{event.anchor}", "leave it out")
        if event.tag is not None:
            self._refuse(event, f"the tag {event.tag}", "leave it out: the language has its own types")

    def _place(self, mark: _Mark) -> Place:
        if mark.index < len(self.text) or not self.text:
            return Place(self.file, mark.line + 1, mark.column + 1)
        # The end of the text counts as the end of its last line, not as the line after it.
        return Place(self.file, len(self.text.splitlines()), len(self.text.splitlines()[-1]) + 1)

    def _place_at(self, index: int) -> Place:
        before = self.text[:index]
        line = before.count("\n")
        return Place(self.file, line + 1, index - (before.rfind("\n") + 1) + 1)

    def _syntax(self, error: yaml.MarkedYAMLError) -> None:
        said = error.problem or "no reason given"
        mark = error.problem_mark or error.context_mark
        opened = error.context_mark.line + 1 if error.context_mark else None
        text, hint = f"this is not YAML: {said}", ""
        if mark and mark.index and said.startswith("mapping values are not allowed"):
            begun = self.text[: mark.index].rpartition("\n")[2]
            # The parser says the same of a key in the middle of a line and of one that begins it.
            said = f"mapping values are not allowed: {'inside' if ': ' in begun else 'at the start'}"
        for pattern, words, way_out in _SYNTAX:
            if re.search(pattern, f"{error.context or ''}: {said}"):
                text, hint = words.format(opened=opened), way_out
                if "{opened}" not in words and error.context_mark and "simple key" in (error.context or ""):
                    mark = error.context_mark
                break
        place = self._place(mark) if mark else Place(self.file, 1, 1)
        lines = self.text.count("\n") + 1
        if place.line >= lines and mark and mark.index >= len(self.text.rstrip()) and opened:
            # The end of the file tells nobody anything; where the unfinished thing begins does.
            assert error.context_mark is not None, "opened is its line"
            place = self._place(error.context_mark)
        self.problems.add(place, "A100", text, hint)


class _Mark(Protocol):
    """Where an event begins or ends; each of the two parsers has a class of its own for it."""

    index: int
    line: int
    column: int


def _begin(event: yaml.Event) -> _Mark:
    assert event.start_mark is not None, "both parsers mark every event"
    return event.start_mark


def _end(event: yaml.Event) -> _Mark:
    assert event.end_mark is not None, "both parsers mark every event"
    return event.end_mark


_OPENING = re.compile(r"\w\(|(?<!\w)'")  # a call, or a text

_TOKEN = re.compile(r"['()\[\]{}]")


class _Brackets:
    """Reads an expression, a stretch at a time, and knows whether it stands inside brackets or a text."""

    __slots__ = ("depth", "in_text")

    def __init__(self) -> None:
        self.depth = 0
        self.in_text = False

    def read(self, text: str, start: int, end: int) -> None:
        for match in _TOKEN.finditer(text, start, end):
            token = match.group()
            if token == "'":
                if not self.in_text and match.start() > start and re.match(r"\w", text[match.start() - 1]):
                    continue  # an apostrophe
                self.in_text = not self.in_text  # two in a text are a quote in it: out and in again
            elif not self.in_text:
                self.depth += 1 if token in "([{" else -1

    @property
    def are_open(self) -> bool:
        return self.in_text or self.depth > 0


def _is_open(text: str) -> bool:
    """Whether an expression ends inside brackets or inside a text that it opened."""
    brackets = _Brackets()
    brackets.read(text, 0, len(text))
    return brackets.are_open


# What the parser says (its context, then its problem), what we say instead, and the way out.
_SYNTAX = (
    (r"found character '\\t'", "a tab stands where YAML takes only blanks", "indent with blanks"),
    (
        r"found character '.' that cannot start",
        "a word may not start with this character",
        "put the whole text in quotes",
    ),
    (
        r"mapping values are not allowed: inside",
        "a second ': ' in what is one value",
        "a new line, braces or quotes",
    ),
    (
        r"mapping values are not allowed",
        "this key is read as a part of the line above",
        "indent it like its neighbours, and end the key above with ': '",
    ),
    (
        r"expected ',' or '[]}]', but got '[\[{]'",
        "a bracket inside a value that stands in braces or brackets (opened in line {opened})",
        "write that value on a line of its own, in block style, or in quotes",
    ),
    (
        r"expected ',' or '[]}]'",
        "the braces or brackets opened in line {opened} are not closed before this",
        "a ',' or the closing one is missing",
    ),
    (r"end of stream|document separator", "the quote opened in line {opened} is never closed", "close it"),
    (
        r"expected <block end>|expected '<document start>'|invalid indentation",
        "this line does not fit those around it",
        "indent it like its neighbours, or finish the line above",
    ),
    (
        r"could not find expected ':'",
        "neither a key with its ':' nor a part of what stands above",
        "add ': ' or indent it like its neighbours",
    ),
    (r"expected the node content", "a value is missing here", "write one"),
    (r"unknown escape|escape sequence", "an unknown escape in double quotes", "use single quotes, or double the \\"),
)
