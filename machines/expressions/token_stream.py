"""The tokens of one expression, one by one, and what is said where none of them can be read on.

The parser is what reads them. Levels are counted here: a tree that is too deep, or has too many open brackets, is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from machines.expressions.lexer import Token, UnreadableError, tokens
from machines.model import Expression
from machines.problems import Mend, Place, Problems

CHARACTERS_MAX = 1_000
DEPTH_MAX = 32  # Levels of a tree, and of open brackets. Recursion stays far from Python's limit.

CHOICE = "a choice is written `if c then a else b`"
MADE = "a list made of another stands in brackets: [f(x) for x in list if c]"
_DURATION = "a duration or a rate has a name, under `settings`"
_FOLLOWING = {
    "if": CHOICE,
    "then": f"{CHOICE}; what a branch does has keys of its own: {{if: c, return: x}}",
    "else": CHOICE,
    "for": MADE,
    "is": "use == or !=",
    "to": "a range is written 2..8",
    "contains": "write `element in list`",
    "not": "write `not (a in b)`",
    ":": "there are no slices: `head` and `tail` have parts of lists and texts",
    "{": "a mapping is written {key: value}",
    "}": "a mapping is written {key: value}",
}
_UNITS = frozenset({"ms", "s", "min", "h", "per"})


class Node(NamedTuple):
    """An expression, and how many levels its tree has."""

    expression: Expression
    depth: int


class TokenStream:
    """Takes the tokens of a text one after another, and notes its faults.

    ``habits`` is asked once for what the whole text was meant to be, where one can not be read on.
    """

    def __init__(
        self,
        text: str,
        place: Place,
        problems: Problems,
        *,
        plain: bool,
        habits: Callable[[str], str | None] | None = None,
    ) -> None:
        self._text = text
        self._plain = plain
        self._habits = habits
        self._place = place
        self._problems = problems
        self._faults = 0
        self._coming = tokens(text, self._fault)
        self._ahead: list[Token] = []
        self._token = self._previous = Token("end", "", 0)
        self._open = 0  # brackets and signs before the present value
        self._brackets: list[Token] = []

    def _fault(
        self,
        offset: int,
        code: str,
        text: str,
        hint: str,
        mend: tuple[str, str] | None = None,
        mended_from: int | None = None,
    ) -> None:
        """Note a fault; what mends it begins where it does, or at ``mended_from``."""
        self._faults += 1
        place = self._place.right(offset)
        begin = place if mended_from is None else self._place.right(mended_from)
        if mend is None and self._habits is not None and not self._problems.is_full(code):
            found, self._habits = self._habits(self._text), None  # it is of the whole text: once is enough
            begin, mend = self._place, (self._text, found) if found is not None else None
        # Within quotes of YAML a quote of ours would have to be written twice.
        mends = (Mend(begin, *mend),) if mend and (self._plain or "'" not in mend[1]) else ()
        self._problems.add(place, code, text, hint, mends=mends)

    def _begin(self) -> None:
        if len(self._text) > CHARACTERS_MAX:
            text = f"an expression of {len(self._text)} characters; {CHARACTERS_MAX} are allowed"
            raise UnreadableError(0, "A250", text, "bind its parts to names with `let`, or let a rule do it")
        self._token = next(self._coming)

    def _advance(self) -> Token:
        """Take the present token; the next becomes present."""
        token = self._token
        self._previous = token
        if token.kind != "end":
            self._token = self._ahead.pop(0) if self._ahead else next(self._coming)
        return token

    def _since(self, offset: int) -> str:
        """Return what is written from an offset to before the present token."""
        return self._text[offset : self._token.offset].rstrip()

    def _peek(self, distance: int) -> Token:
        """Return a token after the present one, from distance 1; no token between them may be the last."""
        while len(self._ahead) < distance:
            self._ahead.append(next(self._coming))
        return self._ahead[distance - 1]

    def _at(self, sign: str) -> bool:
        return self._token.text == sign and self._token.kind == "sign"

    def _enter(self, token: Token) -> None:
        self._open += 1
        if self._open > DEPTH_MAX:
            raise self._too_deep(token.offset)

    def _grown(self, expression: Expression, offset: int, *depths: int) -> Node:
        depth = 1 + max(depths, default=0)
        if depth > DEPTH_MAX:
            raise self._too_deep(offset)
        return Node(expression, depth)

    def _too_deep(self, offset: int) -> UnreadableError:
        hint = "bind its parts to names with `let`, or let a rule do it"
        return UnreadableError(offset, "A251", f"an expression nested deeper than {DEPTH_MAX}", hint)

    def _missing(self) -> UnreadableError:
        token = self._token
        if token.kind == "end" and self._previous.kind == "end":
            return UnreadableError(token.offset, "A252", "an expression is missing", "write null for no value")
        if token.text in (")", "]", "}") and not self._brackets:
            return self._cannot_follow()
        if token.text == "+":
            return UnreadableError(
                token.offset, "A252", "a value is missing before '+'", "a number has no sign + before it"
            )
        if token.text == "." and self._peek(1).kind == "number":
            return UnreadableError(
                token.offset, "A259", "a number begins with its point", f"write 0.{self._peek(1).text}"
            )
        if token.kind == "end" and self._brackets and self._previous.text in ("(", "[", ",", "{"):
            return self._never_closed(self._brackets[-1])
        where = f"before {token}" if token.kind != "end" else f"after {self._previous}"
        return UnreadableError(
            token.offset, "A252", f"a value is missing {where}", "put one there, or take the sign out"
        )

    def _never_closed(self, opener: Token) -> UnreadableError:
        hint = "close it; in braces YAML cuts an expression at its comma: give it a line of its own"
        return UnreadableError(opener.offset, "A257", f"{opener} is never closed", hint)

    def _cannot_follow(self) -> UnreadableError:
        token, previous = self._token, self._previous
        if token.text in (")", "]", "}") and token.kind == "sign":
            return UnreadableError(token.offset, "A258", f"{token} was never opened", "take it out, or open it")
        if previous.text in ("lambda", "def"):
            hint = "a function is a rule of a module"
            return UnreadableError(previous.offset, "A261", f"{previous} is not in this language", hint)
        if self._at(","):
            hint = "a list is written [a, b]"
        elif previous.kind == "text":
            hint = "a quote inside a text is written twice; texts are joined by +"
        elif previous.kind == "number" and token.text in _UNITS:
            hint = _DURATION
        elif token.text == "to" and previous.text == ")":
            hint = "whom a message is for stands before it: send: {peer: MESSAGE(x)}"
        elif previous.kind == token.kind == "name" and token.text not in _FOLLOWING:
            hint = f"put an operator or a comma between them; a call has brackets: {previous.text}({token.text})"
        else:
            hint = _FOLLOWING.get(token.text, "put an operator or a comma between them")
        return UnreadableError(token.offset, "A261", f"{token} cannot follow {previous}", hint)

    def _no_call(self, token: Token) -> UnreadableError:
        return UnreadableError(token.offset, "A267", f"a call cannot have {token} here", "write `name` or `name(a, b)`")
