r"""The regular expressions of ``{string: REGEX}``: a matcher that takes linear time, and an automaton.

An author's pattern never goes to Python's ``re``, where 27 characters can cost two seconds. Messages are matched by
the linear engine of jsonschema-rs, anchored at both ends. The checks need more than matching (what do two patterns
have in common?), so a pattern is also read here, and what the two could take differently is refused:

    a b é           characters                      a|b (a) (?:a)     choice, groups
    .               any but a line end              a* a+ a?          any number, at least one, at most one
    \d \w \s \D \W \S    as in JSON Schema: ASCII      a{2} a{2,} a{2,5}
    [a-z] [^a-z]    one of these, none of these     \n \t \x41 \u00e9 \. \[ ...

Not: look-around, back-references, ``\b``, flags, ``\p{...}``, ``^`` and ``$`` but at the very ends.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from functools import lru_cache

import jsonschema_rs

from machines.messages.automata import Automaton, Builder, Stretches, TooLargeError, outside, shortest

LENGTH_MAX = 1_000  # of the pattern, in characters
DEPTH_MAX = 32  # of groups within groups
STATES_MAX = 20_000  # while reading; .{0,5000} needs 10,000
COUNT_MAX = 5_000

_DIGITS: Stretches = ((0x30, 0x39),)
_WORD: Stretches = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_LINE_ENDS: Stretches = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
# White space and line ends as ECMA-262 has them; that the engine agrees is tested over all of Unicode.
_BLANKS: Stretches = (
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
)
_SETS = {"d": _DIGITS, "w": _WORD, "s": _BLANKS}
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}
# A backslash before < or > means the border of a word to the engine.
_ESCAPABLE = frozenset(string.punctuation) - {"<", ">"}
_REFUSED = {
    "(?=": "look-around",
    "(?!": "look-around",
    "(?<=": "look-around",
    "(?<!": "look-around",
    "(?>": "an atomic group",
    "(?#": "a comment",
}


_OF_LENGTH = re.compile(r"\[\\s\\S\]\{([0-9]+)(?:,([0-9]+))?\}")


def of_length(low: int, high: int) -> str:
    """Return the pattern of all texts with so many characters."""
    return rf"[\s\S]{{{low}}}" if low == high else rf"[\s\S]{{{low},{high}}}"


def lengths(regex: str) -> str | None:
    """Return how many characters the texts of such a pattern have, None for any other.

    >>> lengths(of_length(1, 20))
    '1..20'
    """
    found = _OF_LENGTH.fullmatch(regex)
    return None if found is None else found[1] + (f"..{found[2]}" if found[2] else "")


class PatternError(ValueError):
    """A pattern is none, or uses what is not known here; ``column`` counts its characters from 0."""

    def __init__(self, text: str, column: int) -> None:
        self.text = text
        self.column = column
        super().__init__(text)


@lru_cache(maxsize=256)
def matcher(regex: str) -> Callable[[str], bool]:
    """Return the function that tells whether a whole text matches; it takes time linear in the text.

    Raises:
        PatternError: the pattern is wrong or uses what is not known here, is too large, or matches no text at all.
    """
    if shortest(automaton(regex)) is None:
        raise PatternError("it matches no text at all", 0)
    try:
        is_valid = jsonschema_rs.Draft202012Validator(
            {"type": "string", "pattern": anchored(regex)}, pattern_options=jsonschema_rs.RegexOptions()
        ).is_valid
    except (ValueError, jsonschema_rs.ValidationError):
        raise PatternError("the engine cannot read it", 0) from None

    def matches(text: str) -> bool:
        try:
            return is_valid(text)
        except UnicodeEncodeError:  # A lone surrogate: no character, so no pattern matches it.
            return False

    return matches


def anchored(regex: str) -> str:
    """Return the pattern as JSON Schema has it, for the whole text."""
    return f"^(?:{regex})$"


def bare(regex: str) -> str:
    """Return the pattern without the ``^`` and ``$`` it may have at its ends, so that it can stand within another."""
    backslashes = len(regex[:-1]) - len(regex[:-1].rstrip("\\"))
    return regex.removeprefix("^").removesuffix("$" if backslashes % 2 == 0 else "")


def escaped(text: str) -> str:
    """Return the pattern of exactly this text."""
    return "".join("\\" + character if character in "\\^$.|?*+()[]{}/" else character for character in text)


@lru_cache(maxsize=256)
def automaton(regex: str) -> Automaton:
    """Return the automaton of the texts that a pattern matches as a whole.

    Raises:
        PatternError: as for `matcher`, but for a pattern that matches nothing.
    """
    if len(regex) > LENGTH_MAX:
        raise PatternError(f"it is longer than {LENGTH_MAX} characters", LENGTH_MAX)
    parser = _PatternParser(regex)
    piece = parser.choice(0)
    if parser.at < len(regex):
        raise PatternError("a ')' too many", parser.at)
    try:
        return parser.builder.finish(piece)
    except TooLargeError:
        raise PatternError("it is too large: fewer or smaller counts", 0) from None


class _PatternParser:
    def __init__(self, regex: str) -> None:
        self.regex = regex
        self.at = 0
        self.builder = Builder()
        self.states = 0

    def peek(self) -> str:
        return self.regex[self.at : self.at + 1]

    def choice(self, depth: int) -> tuple[int, int]:
        if depth > DEPTH_MAX:
            raise PatternError(f"groups are nested deeper than {DEPTH_MAX}", self.at)
        ways = [self.sequence(depth)]
        while self.peek() == "|":
            self.at += 1
            ways.append(self.sequence(depth))
        return ways[0] if len(ways) == 1 else self.builder.either(ways)

    def sequence(self, depth: int) -> tuple[int, int]:
        pieces = []
        while self.peek() not in ("", "|", ")"):
            last = len(self.regex) - 1
            if (self.at, self.peek()) in ((0, "^"), (last, "$")):
                self.at += 1
            else:
                pieces.append(self.counted(depth))
        return self.builder.chain(pieces)

    def counted(self, depth: int) -> tuple[int, int]:
        """Read one atom and how often it comes; the atom is read again for each copy it takes."""
        start = self.at
        piece = self.atom(depth)
        end = self.at
        low, high = self.count()
        if (low, high) == (1, 1):
            return piece
        builder = self.builder
        if high is None:
            # One copy that may be left out, and as many before it as there must be.
            return builder.chain([*self.copies(start, low, depth), builder.again(piece)])
        after, self.at = self.at, start
        first = last = builder.state()
        ends = []
        for number in range(high):
            self.at = start
            copy = self.atom(depth)
            assert self.at == end, "an atom reads the same each time"
            if number >= low:
                ends.append(last)
            builder.join(last, copy[0])
            last = copy[1]
        for early in ends:
            builder.join(early, last)
        self.at = after
        return first, last

    def copies(self, start: int, number: int, depth: int) -> list[tuple[int, int]]:
        after = self.at
        found = []
        for _ in range(number):
            self.at = start
            found.append(self.atom(depth))
        self.at = after
        return found

    def count(self) -> tuple[int, int | None]:
        start = self.at
        found: tuple[int, int | None] = (1, 1)
        match self.peek():
            case "*":
                found = (0, None)
                self.at += 1
            case "+":
                found = (1, None)
                self.at += 1
            case "?":
                found = (0, 1)
                self.at += 1
            case "{":
                found = self.braces()
        if self.at > start:
            if self.peek() == "?":
                self.at += 1  # Lazy or not is the same where the whole text must match.
            if self.peek() in ("*", "+", "?", "{"):
                raise PatternError("two counts in a row: put the first in a group (?:...)", self.at)
        return found

    def braces(self) -> tuple[int, int | None]:
        start = self.at
        end = self.regex.find("}", start)
        low, comma, high = self.regex[start + 1 : end if end > 0 else start + 1].partition(",")
        numbers = [text for text in (low, high) if text]
        if not low or not all(text.isascii() and text.isdigit() and len(text) < 8 for text in numbers):
            raise PatternError("a count is written {2}, {2,} or {2,5}; the character itself \\{", start)
        self.at = end + 1
        least, most = int(low), (int(high) if high else None) if comma else int(low)
        if max(least, most or 0) > COUNT_MAX:
            raise PatternError(f"a count over {COUNT_MAX}", start)
        if most is not None and most < least:
            raise PatternError("a count whose end is below its start", start)
        return least, most

    def atom(self, depth: int) -> tuple[int, int]:
        self.states += 1
        if self.states > STATES_MAX:
            raise PatternError("it is too large: fewer or smaller counts", self.at)
        start = self.at
        character = self.peek()
        self.at += 1
        match character:
            case "(":
                return self.group(start, depth)
            case "[":
                return self.builder.one(self.set(start))
            case ".":
                return self.builder.one(outside(_LINE_ENDS))
            case "\\":
                return self.builder.one(self.escape(start))
            case "*" | "+" | "?" | "{":
                raise PatternError(f"{character!r} counts nothing; the character itself is \\{character}", start)
            case "^" | "$":
                text = f"{character!r} within a pattern, which is for the whole text anyway"
                raise PatternError(f"{text}; the character itself is \\{character}", start)
        if 0xD800 <= ord(character) <= 0xDFFF:
            raise PatternError("a lone surrogate is no character", start)
        return self.builder.one(((ord(character), ord(character)),))

    def group(self, start: int, depth: int) -> tuple[int, int]:
        if self.regex.startswith("?:", self.at):
            self.at += 2
        elif self.peek() == "?":
            for opening, what in _REFUSED.items():
                if self.regex.startswith(opening, start):
                    raise PatternError(f"{what}, which Accord does not know", start)
            raise PatternError("a group is written (...) or (?:...); flags and names are not known", start)
        piece = self.choice(depth + 1)
        if self.peek() != ")":
            raise PatternError("a '(' without its ')'", start)
        self.at += 1
        return piece

    def escape(self, start: int) -> Stretches:
        """Read what follows a backslash; ``start`` is where the backslash stands."""
        character = self.peek()
        self.at += 1
        if character.lower() in _SETS:
            found = _SETS[character.lower()]
            return found if character.islower() else outside(found)
        if character in _CONTROLS:
            point = ord(_CONTROLS[character])
        elif character and character in _ESCAPABLE:
            point = ord(character)
        elif character in ("x", "u"):
            length = 2 if character == "x" else 4
            digits = self.regex[self.at : self.at + length]
            if len(digits) < length or not all(digit in string.hexdigits for digit in digits):
                raise PatternError(f"\\{character} takes {length} hexadecimal digits", start)
            self.at += length
            point = int(digits, 16)
            if 0xD800 <= point <= 0xDFFF:
                raise PatternError("a lone surrogate is no character", start)
        elif character.isdigit():
            raise PatternError("a back-reference, which Accord does not know", start)
        else:
            raise PatternError(f"\\{character}, which Accord does not know" if character else "a lone \\", start)
        return ((point, point),)

    def set(self, start: int) -> Stretches:
        """Read a set of characters; ``start`` is where its bracket stands."""
        negative = self.peek() == "^"
        if negative:
            self.at += 1
        found: list[tuple[int, int]] = []
        while self.peek() != "]":
            stretches = self.member(start)
            low, high = stretches[0][0], stretches[-1][1]
            if self.peek() == "-" and self.regex[self.at + 1 : self.at + 2] not in ("]", ""):
                at = self.at
                self.at += 1
                upper = self.member(start)
                if len(stretches) > 1 or low != high or len(upper) > 1 or upper[0][0] != upper[-1][1]:
                    raise PatternError("'-' between sets of characters; the character itself is \\-", at)
                if upper[0][0] < low:
                    raise PatternError("a stretch of characters whose end is below its start", at)
                stretches = ((low, upper[0][0]),)
            found.extend(stretches)
        self.at += 1
        if not found:
            raise PatternError("an empty set of characters", start)
        inside = outside(outside(tuple(found)))  # sorted, joined, without surrogates
        return outside(inside) if negative else inside

    def member(self, start: int) -> Stretches:
        at = self.at
        character = self.peek()
        self.at += 1
        if character == "":
            raise PatternError("a '[' without its ']'", start)
        if character == "\\":
            return self.escape(at)
        if character == "[":
            raise PatternError("'[' within a set; the character itself is \\[", at)
        if character in "&~-" and self.peek() == character:
            raise PatternError(f"'{character * 2}' within a set; the character itself is \\{character}", at)
        return ((ord(character), ord(character)),)
