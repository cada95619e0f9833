"""Expressions that YAML would cut or refuse, made plain words for it: ``{let: {offers: offers + [result]}}``.

YAML has its own use for commas, brackets, colons and quotes, so an expression between braces is cut at its comma, and
a bracket in it is no YAML at all. Where nothing else can be meant, the expression is read as it stands: its marks
become letters that YAML has no use for, one for one, so every place stays what it is.

    {send: NUMBERS(1, 2)}          a call, with its comma: YAML would make of it a key 2) that has no value
    {return: a[0]}                 brackets behind a word: no YAML
    {if: x == 'a, b', then: y}     a text with a comma
    if: x in [1, 2] and 'a' in y   in block style this is plain already; what begins with a bracket or quote is not
    [a, b]: NEWS                   a list as a key
    [f(x) for x in list]           a list made of another: for YAML one with a text in it
    f([{name: x}])                 a mapping within an expression
    - $at {x: int, y: int}         a field whose type is a mapping

What YAML reads without a fault keeps that meaning, and where nothing is at fault nothing is looked at.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

import yaml

from machines.expressions.parser import parse
from machines.problems import Place, Problems

EXPRESSION_LETTERS_MAX: Final = 1_000  # An expression has no more.
DEPTH_MAX: Final = 64  # Deeper braces are refused.
LETTERS_MAX: Final = 200_000  # Letters of one file that are looked at more than once.

_MARKS = ",[]{}?:#'\""
_STAND_INS = "".join(chr(0xE000 + index) for index in range(len(_MARKS)))  # of the private use area
_MASK = str.maketrans(_MARKS, _STAND_INS)
_UNMASK = str.maketrans(_STAND_INS, _MARKS)

_Where = Literal["key", "value", "item"]
_AROUND = {"key": ("{", ": a}"), "value": ("{a: ", "}"), "item": ("[", "]")}
_CLOSING = {"(": ")", "[": "]", "{": "}"}

_TOKEN = re.compile(r"'|[()\[\]{}]|,|:(?=[\s,\[\]{}]|\Z)|(?<=\s)#")
_TEXT = re.compile(r"'(?:[^'\n]|'')*'")
_QUOTED = {"'": re.compile(r"'(?:[^']|'')*'"), '"': re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)}
_ESCAPED = re.compile(r"\\[uU]0*[eE]00")  # in double quotes one of the stand-ins
_INDENT = re.compile(" *")
_BLANKS = re.compile(r"[ \t\r]*")
_SPACE = re.compile(r"\s*(?:#[^\n]*\n\s*)*")
_PLAIN_IN_BRACES = re.compile(r"(?:[^,\[\]{}:#]|:(?![\s,\[\]{}]|\Z)|(?<!\s)#)+")
_KEY_END = re.compile(r":(?=\s|\Z)")
_COMMENT = re.compile(r"(?<=\s)#")
_CHOICE = re.compile(r"\s\?\s[^:]*\s:\s")  # of other languages: it is told as what it is
_TYPED = re.compile(r"\$\w+[ \t]*\{")  # a field whose type is a mapping
_CALL = re.compile(r"\w\(")
MADE_LIST = re.compile(r"\sfor\s+[A-Za-z_]\w*\s+in\s")
_MADE = re.compile(rf"[^,]*?{MADE_LIST.pattern}")
_BRACKETS = re.compile(r"\([^()\[\]{}]*\)|\[[^()\[\]{}]*\]|\{[^()\[\]{}]*\}")
_WORDS = re.compile(r"\[[\w\s]*\]")
_BRACES = re.compile(r"\{[^{}\n]*\}")


@lru_cache(maxsize=2)  # a text that has a fault is read twice
def masked(text: str) -> str:
    """Return the text, as long as before, with the marks of such expressions replaced; the same text if it has none."""
    if any(stand_in in text for stand_in in _STAND_INS) or _ESCAPED.search(text):
        return text
    masker = _Masker(text)
    masker.read()
    parts: list[str] = []
    at = 0
    for start, end in masker.found:
        parts += (text[at:start], text[start:end].translate(_MASK))
        at = end
    return "".join((*parts, text[at:]))


def unmasked(word: str) -> str:
    """Return a word of a masked text as it was written."""
    return word.translate(_UNMASK)


class _Masker:
    """Goes through a text once; ``found`` are the stretches, from and to, that are expressions."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[tuple[int, int]] = []
        self.left = LETTERS_MAX

    def read(self) -> None:
        """Find the expressions of a text in block style, and in the braces and brackets in it."""
        at = 0
        folded: int | None = None  # the column that lines must be behind to go on with a plain value
        while at < len(self.text):
            start = _end_of(_INDENT, self.text, at)
            if self.text[start : start + 1] in ("\n", "\r", "#", "") or (folded is not None and start - at > folded):
                at = self._next_line(start)
            else:
                at, folded = self._line(at, start)

    def _next_line(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end + 1

    # -- block style -------------------------------------------------------------------------------------------------

    def _line(self, begin: int, at: int) -> tuple[int, int | None]:
        """Read a line from its first word on; return where the next begins, and the column if it may go on there."""
        text = self.text
        parent = -1
        where: _Where = "key"
        while True:
            at = _end_of(_BLANKS, text, at)
            sign = text[at : at + 1]
            # What goes on in further lines is indented more than its key; alone in its line, no less than that.
            behind = at - begin - 1 if where == "key" and parent < 0 else parent
            if sign in ("", "\n", "#", "&", "*", "!", "%", "?"):
                return self._next_line(at), None
            if sign == "-" and text[at + 1 : at + 2] in (" ", "\n", "\r", ""):
                parent, at = at - begin, at + 1
            elif sign in "|>":
                return self._past_block(at, behind), None
            elif sign in "[{'\"":
                end, more = self._quoted_or_braces(at, where)
                if not more:
                    return end, behind
                parent, at, where = (at - begin) if where == "key" else parent, end, "value"
            elif sign == "$" and _TYPED.match(text, at):
                self._texts_with_colons(at, self._line_end(at))
                return self._next_line(at), None
            else:
                line_end = self._line_end(at)
                key = _KEY_END.search(text, at, line_end)
                if key is None:
                    return self._next_line(at), behind
                if where == "value":
                    self._texts_with_colons(at, line_end)
                    return self._next_line(at), behind
                parent, at, where = at - begin, key.end(), "value"

    def _line_end(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end

    def _past_block(self, at: int, parent: int) -> int:
        """Return where the block that ``|`` or ``>`` opens has ended: at a line that is not further in."""
        at = self._next_line(at)
        while at < len(self.text):
            start = _end_of(_INDENT, self.text, at)
            if self.text[start : start + 1] not in ("\n", "\r") and start - at <= parent:
                break
            at = self._next_line(start)
        return at

    def _quoted_or_braces(self, at: int, where: _Where) -> tuple[int, bool]:
        """Read what begins with a quote or bracket; return where to go on, and whether that is behind a key's colon."""
        text = self.text
        end = self._closed(at)
        begins_expression = text[at] in "['"
        if end is not None and begins_expression:
            behind = _end_of(_BLANKS, text, end)
            line_end = self._line_end(end)
            is_key = _KEY_END.match(text, behind) is not None
            if text[at] == "[" and is_key and where == "key" and "\n" not in text[at:end]:
                self.found.append((at, end))
                return behind + 1, True
            goes_on = behind < line_end and text[behind] != "#"
            if not is_key and (goes_on or is_made_list(text[at:end])):
                comment = _COMMENT.search(text, behind, line_end)
                stop = comment.start() if comment else line_end
                if _KEY_END.search(_TEXT.sub(lambda found: "x" * len(found[0]), text[behind:stop])) is None:
                    self.found.append((at, at + len(text[at:stop].rstrip())))
                return self._next_line(end), False
        end = self._braces(at) if text[at] in "[{" else end
        if end is None:
            return len(text), False
        behind = _end_of(_BLANKS, text, end)
        if _KEY_END.match(text, behind) and where == "key":
            return behind + 1, True
        return self._next_line(end), False

    def _texts_with_colons(self, at: int, line_end: int) -> None:
        """Note a plain value whose colons all stand in its texts; YAML would refuse a second colon in the line."""
        comment = _COMMENT.search(self.text, at, line_end)
        end = comment.start() if comment else line_end
        stripped = self.text[at:end].rstrip()
        without = re.sub(r"(?<![\w'])'(?:[^'\n]|'')*'", lambda found: "x" * len(found[0]), stripped)
        while (fewer := _BRACES.sub("x", without)) != without:
            without = fewer
        choice = len(stripped) <= EXPRESSION_LETTERS_MAX and _CHOICE.search(without) is not None
        if choice or _KEY_END.search(without) is None:
            self.found.append((at, at + len(stripped)))

    # -- braces and brackets -----------------------------------------------------------------------------------------

    def _braces(self, at: int) -> int | None:
        """Read a collection in braces or brackets; return where it has ended, None if it never does."""
        text = self.text
        stack = [text[at]]
        where: _Where = "key" if text[at] == "{" else "item"
        at += 1
        while True:
            at = _end_of(_SPACE, text, at)
            sign = text[at : at + 1]
            if not sign:
                return None
            if sign in "}]":
                stack.pop()
                at += 1
                if not stack:
                    return at
            elif sign == ",":
                where, at = "key" if stack[-1] == "{" else "item", at + 1
            elif sign == ":":
                where, at = "value", at + 1
            elif (end := self._expression(at, where)) is not None:
                at = end
            elif sign in "[{":
                stack.append(sign)
                if len(stack) > DEPTH_MAX:
                    return None
                where, at = "key" if sign == "{" else "item", at + 1
            else:
                at = self._word(at)

    def _word(self, at: int) -> int:
        """Return where a scalar within braces ends that YAML reads."""
        if self.text[at] in _QUOTED:
            end = self._closed(at)
            return len(self.text) if end is None else end
        return max(_end_of(_PLAIN_IN_BRACES, self.text, at), at + 1)

    def _expression(self, at: int, where: _Where) -> int | None:
        """Note the expression that begins here within braces, and return where it ends; None if YAML may read it."""
        sign = self.text[at]
        if sign in '{"' or (sign in "['" and not self._is_expression(at, where)):
            return None
        end = self._expression_end(at)
        if end is None or not self._is_cut(at, end, where):
            return None
        self.found.append((at, end))
        return end

    def _is_expression(self, at: int, where: _Where) -> bool:
        """Whether what begins with a bracket or quote goes on behind its end, or is a list where a key stands."""
        end = self._closed(at)
        if end is None:
            return False
        if is_made_list(self.text[at:end]):
            return True
        behind = _end_of(_BLANKS, self.text, end)
        sign = self.text[behind : behind + 1]
        if sign == ":":
            return where == "key" and self.text[at] == "["
        return sign not in (",", "]", "}", "\n", "#", "")

    def _closed(self, at: int) -> int | None:
        """Return where the quote or bracket that opens here has its end; None if that is too far, or nowhere."""
        if self.text[at] in _QUOTED:
            found = _QUOTED[self.text[at]].match(self.text, at)
            return found.end() if found else None
        return self._expression_end(at, only_first=True)

    def _expression_end(self, at: int, *, only_first: bool = False) -> int | None:
        """Return where an expression within braces ends: before a comma, colon or bracket that is none of its own.

        None if its brackets do not fit, or it is too long. With ``only_first``, where its first bracket closes.
        """
        text = self.text
        stack: list[str] = []
        behind = at
        if self.left <= 0:
            return None
        most = min(len(text), at + EXPRESSION_LETTERS_MAX)
        for found in _TOKEN.finditer(text, at, most):
            start, sign = found.start(), found[0]
            if start < behind:
                continue
            if sign == "'":
                whole = None if start and re.match(r"[\w')\]]", text[start - 1]) else _TEXT.match(text, start)
                behind = whole.end() if whole else start + 1
            elif sign in _CLOSING:
                stack.append(_CLOSING[sign])
            elif sign in ")]}" and stack:
                if sign != stack.pop():
                    return None
                if only_first and not stack:
                    return self._looked_at(at, found.end())
            elif sign == ":" and stack and stack[-1] == "}":
                continue  # of a mapping within the expression
            elif sign in ":#" and stack and not only_first:
                return None
            elif sign in ",:#]}" and not stack:
                return self._looked_at(at, at + len(text[at:start].rstrip()))
        self._looked_at(at, most)
        return None

    def _looked_at(self, at: int, end: int) -> int | None:
        self.left -= end - at
        return end if self.left >= 0 else None

    def _is_cut(self, at: int, end: int, where: _Where) -> bool:
        """Whether YAML would refuse this expression, or make of it what can not be meant."""
        stretch = self.text[at:end]
        if is_made_list(stretch):
            return True
        if not any(mark in stretch for mark in _MARKS):
            return False
        ends_with_colon = self.text[_end_of(_BLANKS, self.text, end) :][:1] == ":"
        if ends_with_colon != (where == "key"):
            return False
        if "?" in stretch:
            return True  # the two parsers of YAML read it in two ways
        before, after = _AROUND[where]
        try:
            node = yaml.compose(before + stretch + after, Loader=_LOADER)
        except (yaml.YAMLError, ValueError, OverflowError):
            return True
        if isinstance(node, yaml.SequenceNode):
            return len(node.value) > 1 and _is_plain(node.value[0]) and opens_call(node.value[0].value)
        assert isinstance(node, yaml.MappingNode), "braces are round it"
        pairs = node.value
        if not all(isinstance(key, yaml.ScalarNode) for key, _ in pairs):
            return True
        without_value = pairs[1:] if where == "value" else pairs[:-1]
        return bool(without_value) and all(_is_plain(value) and value.value == "" for _, value in without_value)


_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _is_plain(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and not node.style


def is_made_list(stretch: str) -> bool:
    """Whether a stretch is ``[value for item in list]``, of which YAML makes a list of texts.

    A fault in it leaves it what it is, unless it is all words: ``[wait for me in the hall]`` is a text.
    """
    if stretch[:1] != "[" or not MADE_LIST.search(stretch):
        return False
    outside = _TEXT.sub("x", stretch[1:-1])
    while (fewer := _BRACKETS.sub("x", outside)) != outside:
        outside = fewer
    if not _MADE.match(outside):
        return False  # it is a list of several, or one of another made so
    return not _WORDS.fullmatch(stretch) or parse(stretch, Place("", 1, 1), Problems()) is not None


def opens_call(word: str) -> bool:
    """Whether a word opens more brackets than it closes, one of them behind a letter."""
    outside = _TEXT.sub("", word)
    return _CALL.search(outside) is not None and outside.count("(") > outside.count(")")


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
