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
    A259  not a number, or over 64 bits         A269  a key of a mapping that is none, or stands twice
"""

from __future__ import annotations

from keyword import iskeyword

from machines.expressions.habits import as_meant
from machines.expressions.lexer import Token, UnreadableError, out_of_range
from machines.expressions.operations import INTEGER_MAX
from machines.expressions.token_stream import CHARACTERS_MAX, CHOICE, MADE, Node, TokenStream
from machines.expressions.unparse import MINUS, NOT, POWERS, UNCHAINED, show
from machines.model import (
    Attribute,
    Binary,
    Call,
    Comprehension,
    Conditional,
    Constant,
    Expression,
    Item,
    Mapped,
    Name,
    Sequence,
    Unary,
)
from machines.problems import Place, Problems

_LITERALS = {"true": True, "false": False, "null": None}


def parse(text: str, place: Place, problems: Problems, *, plain: bool = True) -> Expression | None:
    """Return the expression that ``text``, which begins at ``place``, says; None if a problem was added.

    Without ``plain`` it stands in quotes. Problems: A250 to A269 (see above), each at the column of the fault.
    """
    return _Parser(text, place, problems, plain=plain, habits=_meant).whole()


def parse_call(text: str, place: Place, problems: Problems, *, plain: bool = True) -> Call | None:
    """Return the call that ``text`` says: ``name``, ``module.name``, or either with arguments in brackets.

    Without brackets the call's ``arguments`` are None. Problems as for ``parse``; A267 if it is another expression.
    """
    return _Parser(text, place, problems, plain=plain, habits=_meant).whole_call()


def _meant(text: str) -> str | None:
    """Return what a text was meant to be by who writes as in another language, if that can be read."""
    found = as_meant(text) if len(text) <= CHARACTERS_MAX else None
    readable = found is not None and _Parser(found, Place("", 1, 1), Problems(), plain=True).whole() is not None
    return found if readable else None


class _Parser(TokenStream):
    """Reads one text by operator precedence (Pratt). Cures what it can, so as to tell several faults in one pass."""

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

    # Values and operators.

    def _expression(self, above: int = 0) -> Node:
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

    def _chained(self, left: Node, sign: Token, right: Node, start: int) -> Node:
        before = left.expression
        if sign.text == ".." or not isinstance(before, Binary):
            raise UnreadableError(sign.offset, "A262", "a range of a range", "write low..high")
        middle = before.right
        hint = f"write {show(before)} and {show(middle)} {sign.text} {show(right.expression)}"
        if len(hint) > 120:
            hint = "write a < b and b < c"
        begin = self._place.right(start)
        meant = f"{show(before)} and {show(middle)} {sign.text} {show(right.expression)}"
        mend = (self._since(start), meant) if before.place == begin else None  # the second time, not the third
        self._fault(sign.offset, "A262", f"'{sign.text}' compares a second time", hint, mend, start)
        # Read on with the last comparison alone, so that the next one of the chain has its hint too.
        again = Binary(sign.text, middle, right.expression, middle.place)
        return self._grown(again, sign.offset, left.depth, right.depth)

    def _prefix(self, above: int) -> Node:
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
                return self._postfix(Node(Constant(_LITERALS[token.text], place), 1), token.offset)
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
            return self._postfix(self._list(), token.offset)
        if self._at("{"):
            return self._postfix(self._mapping(), token.offset)
        raise self._missing()

    def _begins_choice(self) -> bool:
        """Whether the word `if` is none of a value called so: a value or a bracket follows it."""
        behind = self._peek(1)
        return behind.kind in ("name", "number", "text") or behind.text in ("(", "{", "not", "true", "false", "null")

    def _choice(self, above: int) -> Node:
        token = self._advance()
        self._enter(token)
        condition = self._expression()
        self._word("then", token)
        yes = self._expression()
        self._word("else", token)
        no = self._expression()
        self._open -= 1
        if above:
            written = self._since(token.offset)
            hint = "put brackets: (if c then a else b)"
            self._fault(token.offset, "A261", "a choice among other signs", hint, (written, f"({written})"))
        choice = Conditional(condition.expression, yes.expression, no.expression, self._place.right(token.offset))
        return self._grown(choice, token.offset, condition.depth, yes.depth, no.depth)

    def _word(self, word: str, opener: Token) -> None:
        if self._token.text != word or self._token.kind != "name":
            if self._token.kind == "end" or self._token.text in (")", "]", "}", ","):
                raise UnreadableError(opener.offset, "A252", f"this 'if' has no '{word}'", CHOICE)
            raise self._cannot_follow()
        self._advance()

    def _literal(self) -> Node:
        token = self._advance()
        if type(token.value) is int and token.value > INTEGER_MAX:
            raise out_of_range(token.text, token.offset)
        return Node(Constant(token.value, self._place.right(token.offset)), 1)

    def _negated(self, above: int) -> Node:
        token = self._token
        text = f"'not' cannot follow {self._previous}"
        self._advance()
        self._enter(token)
        operand = self._expression(NOT - 1)
        self._open -= 1
        if above >= NOT:
            written = self._since(token.offset)
            self._fault(token.offset, "A265", text, "put brackets: (not a)", (written, f"({written})"))
        return self._grown(
            Unary("not", operand.expression, self._place.right(token.offset)), token.offset, operand.depth
        )

    def _minus(self) -> Node:
        token = self._advance()
        place = self._place.right(token.offset)
        if self._token.kind == "number":  # One literal, so that the smallest integer can be written.
            return self._postfix(Node(Constant(-self._advance().value, place), 1), token.offset)
        self._enter(token)
        operand = self._prefix(MINUS)
        self._open -= 1
        return self._grown(Unary("-", operand.expression, place), token.offset, operand.depth)

    def _named(self, *, bare: bool = False) -> Node:
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
        return Node(Call(path, None, place) if bare else Name(path, place), 1)

    def _postfix(self, node: Node, start: int) -> Node:
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

    def _list(self) -> Node:
        """Read `[a, b]`, or a list made of another: `[value for item in list if condition]`."""
        opener = self._token
        place = self._place.right(opener.offset)
        if self._peek(1).text == "]":
            items, depth = self._listed("]")
            return self._grown(Sequence(items, place), opener.offset, depth)
        self._advance()
        self._enter(opener)
        self._brackets.append(opener)
        first = self._expression()
        if self._token.text != "for" or self._token.kind != "name":
            items, depth = self._others(opener, first, "]")
            return self._grown(Sequence(items, place), opener.offset, depth)
        self._advance()
        item = self._advance()
        if item.kind != "name" or self._token.text != "in":
            raise UnreadableError(item.offset, "A252", "the list that 'for' goes through is missing", MADE)
        self._check_name(item)
        self._advance()
        over = self._expression()
        condition = None
        if self._token.text == "if" and self._token.kind == "name":
            self._advance()
            condition = self._expression()
        self._close(opener, "]")
        asked = condition.expression if condition is not None else None
        depth = condition.depth if condition is not None else 0
        made = Comprehension(first.expression, item.text, over.expression, asked, place)
        return self._grown(made, opener.offset, first.depth, over.depth, depth)

    def _mapping(self) -> Node:
        """Read `{key: value, other: value}`."""
        opener = self._advance()
        self._enter(opener)
        self._brackets.append(opener)
        pairs: dict[str, Node] = {}
        while not self._at("}"):
            key = self._advance()
            word = key.value if key.kind == "text" else key.text
            if key.kind not in ("name", "word", "text") or not self._at(":"):
                if key.kind == "end":
                    raise self._never_closed(opener)
                hint = "a mapping is written {key: value}; a key that is no name stands in single quotes"
                raise UnreadableError(key.offset, "A269", f"{key} is no key with a value", hint)
            if word in pairs:
                self._fault(key.offset, "A269", f"the key {key} stands twice in this mapping", "leave one out")
            self._advance()
            pairs[word] = self._expression()
            if not self._at(","):
                break
            self._advance()
        self._close(opener, "}")
        mapped = Mapped(
            tuple((name, node.expression) for name, node in pairs.items()), self._place.right(opener.offset)
        )
        return self._grown(mapped, opener.offset, *(node.depth for node in pairs.values()))

    def _listed(self, closer: str) -> tuple[tuple[Expression, ...], int]:
        """Read an opening bracket, values with commas between them, and the closing bracket."""
        opener = self._advance()
        self._enter(opener)
        self._brackets.append(opener)
        if self._at(closer):
            self._close(opener, closer)
            return (), 0
        return self._others(opener, self._expression(), closer)

    def _others(self, opener: Token, first: Node, closer: str) -> tuple[tuple[Expression, ...], int]:
        """Read the values behind a first one, and the closing bracket."""
        nodes = [first]
        while self._at(","):
            self._advance()
            nodes.append(self._expression())
        self._close(opener, closer)
        return tuple(node.expression for node in nodes), max(node.depth for node in nodes)

    def _close(self, opener: Token, closer: str) -> None:
        token = self._token
        if token.kind == "end":
            raise self._never_closed(opener)
        if token.kind == "sign" and token.text in (")", "]", "}") and token.text != closer:
            raise UnreadableError(token.offset, "A258", f"{token} closes {opener}", f"close it with '{closer}'")
        if not self._at(closer):
            if self._at(",") and closer != "}":
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
