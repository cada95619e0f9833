"""Expressions, the entrance: text to tree (here), tree to text (``spelling``), tree to closure (``evaluation``).

The parser adds to the problems and never raises, whatever the text. Faults have the exact column, if the expression
stands in one line; a place is where a (sub)expression begins.

    A250  longer than 1,000 characters          A260  a name that begins with an underscore
    A251  nested deeper than 32                 A261  something that cannot follow a value
    A252  a value is missing                    A262  a chained comparison or range
    A253  a sign we do not have                 A263  a call of something that is no rule
    A254  a sign as others spell it             A264  a rule named like a word of Python
    A255  a text in double quotes               A265  `not` where it needs brackets
    A256  a text that is never closed           A266  an index that no list or mapping has
    A257  a bracket that is never closed        A267  not a call, where one is expected
    A258  a bracket that was never opened       A268  a field or element of a literal
    A259  not a number, or over 64 bits
"""

from __future__ import annotations

from keyword import iskeyword
from typing import NamedTuple

from machines.expressions.lexer import Token, UnreadableError, out_of_range, tokens
from machines.expressions.operations import INTEGER_MAX
from machines.expressions.unparse import MINUS, NOT, POWERS, UNCHAINED, show
from machines.model import Attribute, Binary, Call, Conditional, Constant, Expression, Item, Name, Sequence, Unary
from machines.problems import Mend, Place, Problems

CHARACTERS_MAX = 1_000
DEPTH_MAX = 32  # Levels of a tree, and of open brackets. Recursion stays far from Python's limit.

_LITERALS = {"true": True, "false": False, "null": None}

_CHOICE = "a choice is written `if c then a else b`"
_DURATION = "a duration or a rate has a name, under `settings`"
_FOLLOWING = {
    "if": _CHOICE,
    "then": _CHOICE,
    "else": _CHOICE,
    "for": "there are no loops inside an expression: use `each`, or a rule",
    "is": "use == or !=",
    "to": "a range is written 2..8",
    "contains": "write `element in list`",
    "not": "write `not (a in b)`",
}
_UNITS = frozenset({"ms", "s", "min", "h", "per"})


def parse(text: str, place: Place, problems: Problems, *, plain: bool = True) -> Expression | None:
    """Return the expression that ``text``, which begins at ``place``, says; None if a problem was added.

    Without ``plain`` it stands in quotes. Problems: A250 to A268 (see above), each at the column of the fault.
    """
    return _Parser(text, place, problems, plain=plain).whole()


def parse_call(text: str, place: Place, problems: Problems, *, plain: bool = True) -> Call | None:
    """Return the call that ``text`` says: ``name``, ``module.name``, or either with arguments in brackets.

    Without brackets the call's ``arguments`` are None. Problems as for ``parse``; A267 if it is another expression.
    """
    return _Parser(text, place, problems, plain=plain).whole_call()


class _Node(NamedTuple):
    expression: Expression
    depth: int


class _Parser:
    """Reads one text by operator precedence (Pratt). Cures what it can, so as to tell several faults in one pass."""

    def __init__(self, text: str, place: Place, problems: Problems, *, plain: bool) -> None:
        self._text = text
        self._plain = plain
        self._place = place
        self._problems = problems
        self._faults = 0
        self._coming = tokens(text, self._fault)
        self._ahead: list[Token] = []
        self._token = self._previous = Token("end", "", 0)
        self._open = 0  # brackets and signs before the present value
        self._brackets: list[Token] = []

    def whole(self) -> Expression | None:
        try:
            self._begin()
            node = self._expression()
            if self._token.kind != "end":
                raise self._cannot_follow()
        except UnreadableError as error:
            self._fault(error.offset, error.code, error.text, error.hint)
            return None
        return None if self._faults else node.expression

    def whole_call(self) -> Call | None:
        try:
            self._begin()
            first = self._token
            if first.kind == "end":
                raise self._missing()
            if first.kind != "name":
                raise self._no_call(first)
            node = self._named(bare=True)
            rest = self._token
            if rest.text in (",", ")", "]") or rest.kind in ("name", "text", "number"):
                raise self._cannot_follow()
            if rest.kind != "end":
                raise self._no_call(rest)
        except UnreadableError as error:
            self._fault(error.offset, error.code, error.text, error.hint)
            return None
        assert isinstance(node.expression, Call), "a bare name was read as a call"
        return None if self._faults else node.expression

    # Faults and tokens.

    def _fault(self, offset: int, code: str, text: str, hint: str, mend: tuple[str, str] | None = None) -> None:
        self._faults += 1
        place = self._place.right(offset)
        # Within quotes of YAML a quote of ours would have to be written twice.
        mends = (Mend(place, *mend),) if mend and (self._plain or "'" not in mend[1]) else ()
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

    def _grown(self, expression: Expression, offset: int, *depths: int) -> _Node:
        depth = 1 + max(depths, default=0)
        if depth > DEPTH_MAX:
            raise self._too_deep(offset)
        return _Node(expression, depth)

    def _too_deep(self, offset: int) -> UnreadableError:
        hint = "bind its parts to names with `let`, or let a rule do it"
        return UnreadableError(offset, "A251", f"an expression nested deeper than {DEPTH_MAX}", hint)

    def _missing(self) -> UnreadableError:
        token = self._token
        if token.kind == "end" and self._previous.kind == "end":
            return UnreadableError(token.offset, "A252", "an expression is missing", "write null for no value")
        if token.text in (")", "]") and not self._brackets:
            return self._cannot_follow()
        if token.text == "+":
            return UnreadableError(
                token.offset, "A252", "a value is missing before '+'", "a number has no sign + before it"
            )
        if token.text == "." and self._peek(1).kind == "number":
            return UnreadableError(
                token.offset, "A259", "a number begins with its point", f"write 0.{self._peek(1).text}"
            )
        if token.kind == "end" and self._brackets and self._previous.text in ("(", "[", ","):
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
        if token.text in (")", "]") and token.kind == "sign":
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
        else:
            hint = _FOLLOWING.get(token.text, "put an operator or a comma between them")
        return UnreadableError(token.offset, "A261", f"{token} cannot follow {previous}", hint)

    def _no_call(self, token: Token) -> UnreadableError:
        return UnreadableError(token.offset, "A267", f"a call cannot have {token} here", "write `name` or `name(a, b)`")

    # Values and operators.

    def _expression(self, above: int = 0) -> _Node:
        """Read a value and the operators behind it that bind more tightly than ``above``."""
        start = self._token.offset
        left = self._prefix(above)
        last = 0
        while True:
            sign = self._token
            power = POWERS.get(sign.text, 0) if sign.kind in ("sign", "word") else 0
            if power <= above:
                return left
            self._advance()
            right = self._expression(power)
            if power == last and power in UNCHAINED:
                left = self._chained(left, sign, right, start)
            else:
                binary = Binary(sign.text, left.expression, right.expression, self._place.right(start))
                left = self._grown(binary, sign.offset, left.depth, right.depth)
            last = power

    def _chained(self, left: _Node, sign: Token, right: _Node, start: int) -> _Node:
        before = left.expression
        if sign.text == ".." or not isinstance(before, Binary):
            raise UnreadableError(sign.offset, "A262", "a range of a range", "write low..high")
        middle = before.right
        hint = f"write {show(before)} and {show(middle)} {sign.text} {show(right.expression)}"
        if len(hint) > 120:
            hint = "write a < b and b < c"
        self._fault(sign.offset, "A262", f"'{sign.text}' compares a second time", hint)
        # Read on with the last comparison alone, so that the next one of the chain has its hint too.
        again = Binary(sign.text, middle, right.expression, self._place.right(start))
        return self._grown(again, sign.offset, left.depth, right.depth)

    def _prefix(self, above: int) -> _Node:
        token = self._token
        place = self._place.right(token.offset)
        if token.kind == "name":
            if token.text == "if" and self._begins_choice():
                return self._choice(above)
            return self._postfix(self._named(), token.offset)
        if token.kind in ("number", "text"):
            return self._postfix(self._literal(), token.offset)
        if token.kind == "word":
            if token.text == "not":
                return self._negated(above)
            if token.text in _LITERALS:
                self._advance()
                return self._postfix(_Node(Constant(_LITERALS[token.text], place), 1), token.offset)
        if self._at("-"):
            return self._minus()
        if self._at("("):
            self._advance()
            self._enter(token)
            self._brackets.append(token)
            node = self._expression()
            self._close(token, ")")
            return self._postfix(node, token.offset)
        if self._at("["):
            items, depth = self._listed("]")
            return self._postfix(self._grown(Sequence(items, place), token.offset, depth), token.offset)
        raise self._missing()

    def _begins_choice(self) -> bool:
        """Whether the word `if` is none of a value called so: a value or a bracket follows it."""
        behind = self._peek(1)
        return behind.kind in ("name", "number", "text") or behind.text in ("(", "not", "true", "false", "null")

    def _choice(self, above: int) -> _Node:
        token = self._advance()
        if above:
            self._fault(token.offset, "A261", "a choice among other signs", "put brackets: (if c then a else b)")
        self._enter(token)
        condition = self._expression()
        self._word("then", token)
        yes = self._expression()
        self._word("else", token)
        no = self._expression()
        self._open -= 1
        choice = Conditional(condition.expression, yes.expression, no.expression, self._place.right(token.offset))
        return self._grown(choice, token.offset, condition.depth, yes.depth, no.depth)

    def _word(self, word: str, opener: Token) -> None:
        if self._token.text != word or self._token.kind != "name":
            if self._token.kind == "end" or self._token.text in (")", "]", ","):
                raise UnreadableError(opener.offset, "A252", f"this 'if' has no '{word}'", _CHOICE)
            raise self._cannot_follow()
        self._advance()

    def _literal(self) -> _Node:
        token = self._advance()
        if type(token.value) is int and token.value > INTEGER_MAX:
            raise out_of_range(token.text, token.offset)
        return _Node(Constant(token.value, self._place.right(token.offset)), 1)

    def _negated(self, above: int) -> _Node:
        token = self._token
        if above >= NOT:
            self._fault(token.offset, "A265", f"'not' cannot follow {self._previous}", "put brackets: (not a)")
        self._advance()
        self._enter(token)
        operand = self._expression(NOT - 1)
        self._open -= 1
        return self._grown(
            Unary("not", operand.expression, self._place.right(token.offset)), token.offset, operand.depth
        )

    def _minus(self) -> _Node:
        token = self._advance()
        place = self._place.right(token.offset)
        if self._token.kind == "number":  # One literal, so that the smallest integer can be written.
            return self._postfix(_Node(Constant(-self._advance().value, place), 1), token.offset)
        self._enter(token)
        operand = self._prefix(MINUS)
        self._open -= 1
        return self._grown(Unary("-", operand.expression, place), token.offset, operand.depth)

    def _named(self, *, bare: bool = False) -> _Node:
        """Read a name or a call; with ``bare`` a name without brackets is a call too, and may have its dot."""
        first = self._advance()
        self._check_name(first)
        path, depth = first.text, 0
        while self._at(".") and self._peek(1).kind in ("name", "word") and (bare or self._peek(2).text == "("):
            self._advance()
            part = self._advance()
            self._check_name(part)
            if "." in path:
                raise self._no_rule(part.offset)
            for token in (first, part):
                if iskeyword(token.text):
                    text = f"no rule can be called {token}, a word of Python"
                    self._fault(token.offset, "A264", text, f"name it {token.text}_ or otherwise")
            path = f"{path}.{part.text}"
        place = self._place.right(first.offset)
        if self._at("("):
            arguments, depth = self._listed(")")
            return self._grown(Call(path, arguments, place), first.offset, depth)
        return _Node(Call(path, None, place) if bare else Name(path, place), 1)

    def _postfix(self, node: _Node, start: int) -> _Node:
        while True:
            token = self._token
            if self._at("("):
                raise self._no_rule(token.offset)
            if not (self._at(".") or self._at("[")):
                return node
            if isinstance(node.expression, Constant):
                text = f"{token} after a literal, which has no fields or elements"
                raise UnreadableError(token.offset, "A268", text, "take it out")
            self._advance()
            if token.text == ".":
                name = self._token
                if name.kind not in ("name", "word"):
                    hint = "a field's name follows a dot; an element's number stands in [ ]"
                    raise UnreadableError(name.offset, "A252", "a name is missing after '.'", hint)
                self._advance()
                self._check_name(name)
                field = Attribute(node.expression, name.text, self._place.right(start))
                node = self._grown(field, start, node.depth)
            else:
                self._enter(token)
                self._brackets.append(token)
                index = self._expression()
                self._check_index(index.expression)
                self._close(token, "]")
                item = Item(node.expression, index.expression, self._place.right(start))
                node = self._grown(item, start, node.depth, index.depth)

    def _listed(self, closer: str) -> tuple[tuple[Expression, ...], int]:
        """Read an opening bracket, values with commas between them, and the closing bracket."""
        opener = self._advance()
        self._enter(opener)
        self._brackets.append(opener)
        nodes: list[_Node] = []
        if not self._at(closer):
            nodes.append(self._expression())
            while self._at(","):
                self._advance()
                nodes.append(self._expression())
        self._close(opener, closer)
        return tuple(node.expression for node in nodes), max((node.depth for node in nodes), default=0)

    def _close(self, opener: Token, closer: str) -> None:
        token = self._token
        if token.kind == "end":
            raise self._never_closed(opener)
        if token.kind == "sign" and token.text in (")", "]") and token.text != closer:
            raise UnreadableError(token.offset, "A258", f"{token} closes {opener}", f"close it with '{closer}'")
        if not self._at(closer):
            if self._at(","):
                raise UnreadableError(
                    token.offset, "A261", "one value in these brackets, not several", "take the ',' out"
                )
            raise self._cannot_follow()
        self._advance()
        del self._brackets[-1]
        self._open -= 1

    def _check_name(self, token: Token) -> None:
        if token.text.startswith("_"):
            self._fault(token.offset, "A260", f"{token} begins with an underscore", "no name does")

    def _check_index(self, index: Expression) -> None:
        if not isinstance(index, Constant) or isinstance(index.value, str):
            return
        if type(index.value) is not int or index.value < 0:
            offset = index.place.column - self._place.column
            text = f"{show(index)} is no element's number"
            self._fault(offset, "A266", text, "elements count from 0; a mapping's keys are texts")

    def _no_rule(self, offset: int) -> UnreadableError:
        hint = "a call is `module.rule(...)` or `name(...)`; a result is not called, but may have a field or element"
        return UnreadableError(offset, "A263", "only a rule can be called, by its name with one dot at most", hint)
