"""Parsing, showing and walking expressions."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.expressions import lexer, parser
from machines.expressions.parser import parse, parse_call
from machines.expressions.token_stream import CHARACTERS_MAX, DEPTH_MAX
from machines.expressions.unparse import show, walk
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
from machines.problems import Place, Problem, Problems

HERE = Place("spec.yaml", 7, 11)


def parsed(text: str) -> Expression:
    problems = Problems()
    expression = parse(text, HERE, problems)
    assert list(problems) == []
    assert expression is not None
    return expression


def faults(text: str, *, call: bool = False) -> list[Problem]:
    problems = Problems()
    result = parse_call(text, HERE, problems) if call else parse(text, HERE, problems)
    assert (result is None) == bool(problems)
    return list(problems)


def tree(expression: Expression) -> str:
    """The tree with every operation in brackets and its operator first."""
    match expression:
        case Constant(value):
            return repr(value)
        case Name(name):
            return name
        case Attribute(of, name):
            return f"(. {tree(of)} {name})"
        case Item(of, index):
            return f"([] {tree(of)} {tree(index)})"
        case Call(path, arguments):
            return f"({' '.join([path, *map(tree, arguments or ())])})"
        case Sequence(items):
            return f"[{' '.join(map(tree, items))}]"
        case Mapped(pairs):
            return "{" + " ".join(f"{key}={tree(value)}" for key, value in pairs) + "}"
        case Unary(operator, operand):
            return f"({operator} {tree(operand)})"
        case Binary(operator, left, right):
            return f"({operator} {tree(left)} {tree(right)})"
        case Conditional(condition, yes, no):
            return f"(if {tree(condition)} {tree(yes)} {tree(no)})"
        case Comprehension(value, item, over, asked):
            return f"(for {item} {tree(over)} {tree(asked) if asked is not None else '-'} {tree(value)})"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("player", "player"),
        ("12", "12"),
        ("1.50", "1.5"),
        ("1e3", "1000.0"),
        ("'it''s'", '"it\'s"'),
        ("''", "''"),
        ("true", "True"),
        ("null", "None"),
        ("if a then b else c", "(if a b c)"),
        ("if a == 1 and b then b + 1 else if c then 2 else -3", "(if (and (== a 1) b) (+ b 1) (if c 2 -3))"),
        ("1 + (if not a then b else c)", "(+ 1 (if (not a) b c))"),
        ("f(if (a) then b else c, [if true then 1 else 2])", "(f (if a b c) [(if True 1 2)])"),
        ("if then then else else if", "(if then else if)"),
        ("if", "if"),
        ("if - 1", "(- if 1)"),
        ("if.then + else[0]", "(+ (. if then) ([] else 0))"),
        ("[p.name for p in players]", "(for p players - (. p name))"),
        ("[f(x, 1) for x in a + b if x > 2 and g(x, y)]", "(for x (+ a b) (and (> x 2) (g x y)) (f x 1))"),
        ("[[y * x for y in 1..3] for x in [1, 2]][0]", "([] (for x [1 2] - (for y (.. 1 3) - (* y x))) 0)"),
        ("[if a then x else 0 for x in if b then c else d if e]", "(for x (if b c d) e (if a x 0))"),
        ("[for for for in for if for]", "(for for for for for)"),
        ("[{name: p.name, in: 1, 'a b': []} for p in xs]", "(for p xs - {name=(. p name) in=1 a b=[]})"),
        ("f({}, {a: {b: 1}}.a)", "(f {} (. {a={b=1}} a))"),
        ("{a: 1,}", "{a=1}"),
        ("-3", "-3"),
        ("- 3", "-3"),
        ("-(3)", "(- 3)"),
        ("--3", "(- -3)"),
        ("-n", "(- n)"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("2 - -3", "(- 2 -3)"),
        ("2 -3", "(- 2 3)"),
        ("peer.name", "(. peer name)"),
        ("a.b.c", "(. (. a b) c)"),
        ("a.in", "(. a in)"),
        ("pair[0]", "([] pair 0)"),
        ("pair [ 0 ] . name", "(. ([] pair 0) name)"),
        ("m['key'][i + 1]", "([] ([] m 'key') (+ i 1))"),
        ("len(players) - 1", "(- (len players) 1)"),
        ("f()", "(f)"),
        ("santorini.winner(play).name", "(. (santorini.winner play) name)"),
        ("tsuro.hands(table)[0]", "([] (tsuro.hands table) 0)"),
        ("match(lambda, pass)", "(match lambda pass)"),
        ("[pair[0], pair[1]]", "[([] pair 0) ([] pair 1)]"),
        ("[]", "[]"),
        ("[[y1, x1], [y2, x2]]", "[[y1 x1] [y2 x2]]"),
        ("1..tournament.length(series)", "(.. 1 (tournament.length series))"),
        ("1..n - 1", "(.. 1 (- n 1))"),
        ("n in 1..5", "(in n (.. 1 5))"),
        ("tournament.names(players) + [peer.name]", "(+ (tournament.names players) [(. peer name)])"),
        ("knockout.losers(cup) + knockout.winners(cup)", "(+ (knockout.losers cup) (knockout.winners cup))"),
        ("player in knockout.winners(cup)", "(in player (knockout.winners cup))"),
        ("peer.name != peer.given", "(!= (. peer name) (. peer given))"),
        ("chosen == null", "(== chosen None)"),
        (
            "token == player.token and tsuro.may_start(table, player, tile, port, x, y)",
            "(and (== token (. player token)) (tsuro.may_start table player tile port x y))",
        ),
        (
            "not check and wid == due and santorini.may_place(play, player, [y, x])",
            "(and (and (not check) (== wid due)) (santorini.may_place play player [y x]))",
        ),
        ("not a == b", "(not (== a b))"),
        ("not not a", "(not (not a))"),
        ("a or b and c", "(or a (and b c))"),
        ("(a or b) and c", "(and (or a b) c)"),
        ("a and not b or c", "(or (and a (not b)) c)"),
        ("a - b - c", "(- (- a b) c)"),
        ("a - (b - c)", "(- a (- b c))"),
        ("a + b * -c", "(+ a (* b (- c)))"),
        ("-a * b", "(* (- a) b)"),
        ("(a < b) == (c < d)", "(== (< a b) (< c d))"),
        ("a\n  and b", "(and a b)"),
    ],
)
def test_text_is_read_as_the_tree_its_operators_bind_to(text: str, expected: str) -> None:
    assert tree(parsed(text)) == expected


FAULTS = [
    # text, [(code, column counted from 1, part of the hint)]
    ("a" * (CHARACTERS_MAX + 1), [("A250", 1, "let")]),
    ("(" * DEPTH_MAX + "(a" + ")" * (DEPTH_MAX + 1), [("A251", DEPTH_MAX + 1, "let")]),
    ("not " * (DEPTH_MAX + 1) + "a", [("A251", 4 * DEPTH_MAX + 1, "let")]),
    ("a" + "+a" * DEPTH_MAX, [("A251", 2 * DEPTH_MAX, "let")]),
    ("", [("A252", 1, "null")]),
    ("  ", [("A252", 1, "null")]),
    ("a and", [("A252", 6, "")]),
    ("a + ", [("A252", 4, "")]),
    ("a + * b", [("A252", 5, "")]),
    ("and b", [("A252", 1, "")]),
    ("+a", [("A252", 1, "no sign +")]),
    ("f(a, )", [("A252", 6, "")]),
    ("()", [("A252", 2, "")]),
    ("a.", [("A252", 3, "dot")]),
    ("a.0", [("A252", 3, "[ ]")]),
    ("a ** b", [("A253", 3, "multiply")]),
    ("a / b", [("A253", 3, "rule")]),
    ("a // b", [("A253", 3, "rule")]),
    ("a % b", [("A253", 3, "rule")]),
    ("a & b", [("A253", 3, "`and`")]),
    ("a ? b : c", [("A253", 3, "then a else b")]),
    ("a[1:2]", [("A261", 4, "slices")]),
    ("a {b: 1}", [("A261", 3, "{key: value}")]),
    ("}", [("A258", 1, "")]),
    ("{a: b", [("A257", 1, "close it")]),
    ("{", [("A257", 1, "close it")]),
    ("{a: b]", [("A258", 6, "'}'")]),
    ("{a: 1, b: 2, a: 3}", [("A269", 14, "leave one out")]),
    ("{1: 2}", [("A269", 2, "single quotes")]),
    ("{a 1}", [("A269", 2, "{key: value}")]),
    ("{a}", [("A269", 2, "{key: value}")]),
    ("x := 1", [("A253", 3, "let")]),
    ("1...5", [("A253", 2, "low..high")]),
    ("$tile", [("A253", 1, "without $")]),
    ("“x”", [("A253", 1, "single quote")]),
    ("grün", [("A253", 3, "a-z")]),
    ("a\N{NO-BREAK SPACE}b", [("A253", 2, "")]),
    ("'\ud800'", [("A253", 2, "")]),
    ("a && b || c", [("A254", 3, "`and`"), ("A254", 8, "`or`")]),
    ("!a", [("A254", 1, "`not`")]),
    ("a = b", [("A254", 3, "==")]),
    ("f(x=1)", [("A254", 4, "not by name")]),
    ("a === b", [("A254", 3, "==")]),
    ("a !== b", [("A254", 3, "!=")]),
    ("a <> b", [("A254", 3, "!=")]),
    ("a =< b", [("A254", 3, "<=")]),
    ("a ≥ b", [("A254", 3, ">=")]),
    ('a == "b\'c" and d = "e"', [("A255", 6, "'b''c'"), ("A254", 18, "=="), ("A255", 20, "'e'")]),
    ("a == 'b", [("A256", 6, "twice")]),
    ('a == "b', [("A256", 6, "'")]),
    ("f(a, [b", [("A257", 6, "YAML")]),
    ("f(a", [("A257", 2, "YAML")]),
    ("f(", [("A257", 2, "YAML")]),
    ("f(a,", [("A257", 2, "YAML")]),
    ("a[0", [("A257", 2, "")]),
    ("a)", [("A258", 2, "")]),
    ("]", [("A258", 1, "")]),
    ("f(a]", [("A258", 4, "')'")]),
    ("[a)", [("A258", 3, "']'")]),
    ("5s", [("A259", 1, "settings")]),
    ("0x10", [("A259", 1, "decimal")]),
    ("1_000", [("A259", 1, "without")]),
    ("007", [("A259", 1, "write 7")]),
    ("1. + 2", [("A259", 1, "digits after")]),
    ("a + .5", [("A259", 5, "0.5")]),
    ("9223372036854775808", [("A259", 1, "9223372036854775807")]),
    ("-9223372036854775809", [("A259", 2, "9223372036854775807")]),
    ("a == 1e999", [("A259", 6, "")]),
    ("_a + b.__class__", [("A260", 1, ""), ("A260", 8, "")]),
    ("tsuro._deal(a)", [("A260", 7, "")]),
    ("a b", [("A261", 3, "operator")]),
    ("5 s", [("A261", 3, "settings")]),
    ("10 per 1 s", [("A261", 4, "settings")]),
    ("a if b else c", [("A261", 3, "then a else b")]),
    ("1 + if a then b else c", [("A261", 5, "brackets")]),
    ("if a then b", [("A252", 1, "then a else b")]),
    ("f(if a then b)", [("A252", 3, "then a else b")]),
    ("if a else b", [("A261", 6, "then a else b")]),
    ("if a then b else", [("A252", 17, "put one there")]),
    ("x for x in y", [("A261", 3, "in brackets: [f(x) for x in list if c]")]),
    ("[x for x]", [("A252", 8, "[f(x) for x in list if c]")]),
    ("[x for 1 in y]", [("A252", 8, "[f(x) for x in list if c]")]),
    ("[x for x in]", [("A252", 12, "")]),
    ("[x for x in y if]", [("A252", 17, "")]),
    ("[x for x in y, z]", [("A261", 14, "")]),
    ("[x for x in y for z in x]", [("A261", 15, "in brackets")]),
    ("[x for _x in y]", [("A260", 8, "no name does")]),
    ("lambda x: x", [("A261", 1, "rule")]),
    ("a is b", [("A261", 3, "==")]),
    ("a not in b", [("A261", 3, "not (a in b)")]),
    ("'it's'", [("A261", 5, "twice")]),
    ("a, b", [("A261", 2, "[a, b]")]),
    ("a[b, c]", [("A261", 4, "")]),
    ("0 <= x < 8", [("A262", 8, "write 0 <= x and x < 8")]),
    ("a < b == c < d", [("A262", 7, "write a < b and b == c"), ("A262", 12, "write b == c and c < d")]),
    ("a in b in c", [("A262", 8, "")]),
    (f"a < {'b' * 60} < c", [("A262", 66, "a < b and b < c")]),
    ("1..2..3", [("A262", 5, "low..high")]),
    ("f(x)(y)", [("A263", 5, "module.rule")]),
    ("a.b.c(x)", [("A263", 6, "module.rule")]),
    ("a[0](x)", [("A263", 5, "module.rule")]),
    ("(f)(x)", [("A263", 4, "module.rule")]),
    ("f(x).g(y)", [("A263", 7, "module.rule")]),
    ("santorini.pass(play)", [("A264", 11, "pass_")]),
    ("import.rule(play)", [("A264", 1, "import_")]),
    ("a == not b", [("A265", 6, "brackets")]),
    ("a[-1]", [("A266", 3, "from 0")]),
    ("a[true]", [("A266", 3, "from 0")]),
    ("a[1.5]", [("A266", 3, "from 0")]),
    ("'abc'[0]", [("A268", 6, "")]),
    ("true.name", [("A268", 5, "")]),
]


@pytest.mark.parametrize(("text", "expected"), FAULTS, ids=[text[:20] for text, _ in FAULTS])
def test_every_fault_has_its_code_its_column_and_a_way_out(text: str, expected: list[tuple[str, int, str]]) -> None:
    found = faults(text)

    assert [(problem.code, problem.place.column - HERE.column + 1) for problem in found] == [
        (code, column) for code, column, _ in expected
    ]
    for problem, (_, _, hint) in zip(found, expected, strict=True):
        assert problem.hint
        assert hint in problem.hint
        assert problem.place.line == HERE.line


def test_every_documented_code_has_a_bad_example() -> None:
    assert parser.__doc__ is not None

    documented = set(re.findall(r"A2\d\d", parser.__doc__))

    assert {code for _, expected in FAULTS for code, _, _ in expected} | {"A267"} == documented


def test_a_place_is_where_the_part_begins() -> None:
    expression = parsed("(a + bc) * d.e[f(g)]")

    columns = {show(part): part.place.column - HERE.column for part in walk(expression)}

    assert columns == {
        "(a + bc) * d.e[f(g)]": 0,
        "a + bc": 1,
        "a": 1,
        "bc": 5,
        "d.e[f(g)]": 11,
        "d.e": 11,
        "d": 11,
        "f(g)": 15,
        "g": 17,
    }


@pytest.mark.parametrize(
    ("text", "path", "arguments"),
    [
        ("turn", "turn", None),
        ("pass", "pass", None),
        (" turn ", "turn", None),
        ("tsuro.deal", "tsuro.deal", None),
        ("join()", "join", ()),
        ("turn(player, table)", "turn", ("player", "table")),
        ("new_name(player.name)", "new_name", ("player.name",)),
        ("game(tournament.seating(series, n), n)", "game", ("tournament.seating(series, n)", "n")),
    ],
)
def test_a_call_is_a_name_with_or_without_arguments(text: str, path: str, arguments: tuple[str, ...] | None) -> None:
    problems = Problems()

    call = parse_call(text, HERE, problems)

    assert list(problems) == []
    assert call is not None
    assert call.path == path
    assert (None if call.arguments is None else tuple(map(show, call.arguments))) == arguments
    assert show(call) == text.strip()


@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        ("", "A252", 1),
        ("'turn'", "A267", 1),
        ("5", "A267", 1),
        ("true", "A267", 1),
        ("[turn]", "A267", 1),
        ("a + b", "A267", 3),
        ("f(x).y", "A267", 5),
        ("f(x)(y)", "A267", 5),
        ("a.b.c", "A263", 5),
        ("tsuro.class", "A264", 7),
        ("f(a", "A257", 2),
        ("f(a, b) c", "A261", 9),
        ("a, b", "A261", 2),
        ("b)", "A258", 2),
        ("_turn", "A260", 1),
    ],
)
def test_what_is_no_call_is_a_problem_where_one_is_expected(text: str, code: str, column: int) -> None:
    assert [(fault.code, fault.place.column - HERE.column + 1) for fault in faults(text, call=True)] == [(code, column)]


def test_an_expression_may_be_as_deep_and_long_as_the_limits_say() -> None:
    deepest = "a" + "+a" * (DEPTH_MAX - 1)
    bracketed = "(" * DEPTH_MAX + "a" + ")" * DEPTH_MAX
    longest = "a" * CHARACTERS_MAX

    for text in (deepest, bracketed, longest):
        parsed(text)


def test_reading_the_deepest_text_stays_far_from_the_recursion_limit() -> None:
    # Every level of binding inside every bracket, as far as the length allows.
    text = "a or a and a==a..a+a*(" * DEPTH_MAX
    chained = "[" * 500 + "-" * 400

    assert [fault.code for fault in faults(text)] == ["A257"]
    assert [fault.code for fault in faults(chained)] == ["A251"]


PIECES = (
    "a b_1 true null and or not in lambda if 0 1 5s 1.5 .5 1e9 .. . , ( ) [ ] + - * / ** == != <= < = ! && || ' '' 'x' "
    '" "y" { } for x in : ? é \ud800 \x00 ∀'
)
pieces = st.sampled_from(PIECES.split(" "))


@given(st.one_of(st.text(max_size=60), st.lists(pieces, max_size=30).map(" ".join), st.lists(pieces).map("".join)))
def test_any_text_is_an_expression_or_a_problem_and_never_an_exception(text: str) -> None:
    for fault in (*faults(text), *faults(text, call=True)):
        assert fault.hint
        assert 0 <= fault.place.column - HERE.column <= len(text)


def test_the_pattern_of_tokens_has_no_possessive_repeat_which_python_3_11_2_matches_wrongly() -> None:
    assert not re.search(r"[+*?]\+|\(\?>", lexer._TOKEN.pattern)
