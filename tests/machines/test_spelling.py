"""Showing expressions and walking over them; what is shown is read back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from machines.expressions.parser import parse
from machines.expressions.token_stream import CHARACTERS_MAX
from machines.expressions.unparse import calls, is_boolean, names, show
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
from machines.values import Range
from tests.support.shared import SHARED, needs_shared

HERE = Place("spec.yaml", 7, 11)


def parsed(text: str) -> Expression:
    problems = Problems()
    expression = parse(text, HERE, problems)
    assert list(problems) == []
    assert expression is not None
    return expression


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (Mapped((("name", Name("name", HERE)), ("n", Constant(1, HERE))), HERE), "{name: name, n: 1}"),
        (Mapped((("a b", Constant(1, HERE)), ("in", Constant(2, HERE))), HERE), "{'a b': 1, in: 2}"),
        (Constant(float("inf"), HERE), "never"),
        (Constant(Range(1, 5), HERE), "1..5"),
        (Call("TOKEN", None, HERE), "TOKEN"),
        (Constant("it's", HERE), "'it''s'"),
    ],
)
def test_what_the_reader_builds_is_shown_too(expression: Expression, text: str) -> None:
    assert show(expression) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("((a))+(b*c)", "a + b * c"),
        ("(a==b)and(not(c))", "a == b and not c"),
        ("not (a and b)", "not (a and b)"),
        ("(not a) == b", "(not a) == b"),
        ("1 .. (n-1)", "1..n - 1"),
        ("(1..n).low", "(1..n).low"),
        ("(-a).b", "(-a).b"),
        ("a-(b-c)", "a - (b - c)"),
        ("f( a,b )[ 0 ] . c", "f(a, b)[0].c"),
        ("[ (x+1)for x in(a + b)if(x in c) ]", "[x + 1 for x in a + b if x in c]"),
        ("[a + (if) for x in (if) if (if c then d else e)]", "[(a + if) for x in (if) if if c then d else e]"),
    ],
)
def test_shown_text_has_no_brackets_but_those_it_needs(text: str, canonical: str) -> None:
    assert show(parsed(text)) == canonical


def test_names_and_calls_come_in_the_order_written() -> None:
    expression = parsed("a.b == tsuro.f(c, [d, len(e[g])]) and not my.name in h")
    mapped = Mapped((("k", expression), ("l", Name("z", HERE))), HERE)

    assert [name.name for name in names(mapped)] == ["a", "c", "d", "e", "g", "my", "h", "z"]
    assert [call.path for call in calls(mapped)] == ["tsuro.f", "len"]


def test_the_item_of_a_list_is_no_name_that_the_expression_reads() -> None:
    expression = parsed("[[x, y, z] for y in f(x, y) if y > w] + [y for y in [y]]")

    assert [name.name for name in names(expression)] == ["x", "z", "x", "y", "w", "y"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a < b", True),
        ("a == b", True),
        ("a in b", True),
        ("a and b", True),
        ("not a", True),
        ("true", True),
        ("1", False),
        ("a + b", False),
        ("1..n", False),
        ("-a", False),
        ("[a]", False),
        ("[true for a in b]", False),
        ("{a: true}", False),
        ("a", None),
        ("a.b", None),
        ("a[0]", None),
        ("tsuro.over(table)", None),
    ],
)
def test_a_boolean_is_known_by_its_operator(text: str, expected: bool | None) -> None:
    assert is_boolean(parsed(text)) is expected


# -- properties ------------------------------------------------------------------------------------------------------

identifiers = st.from_regex(r"[a-zA-Z][a-zA-Z0-9_]{0,5}", fullmatch=True).filter(
    lambda word: word not in {"true", "false", "null", "and", "or", "not", "in"}
)
paths = st.one_of(identifiers, st.builds(lambda a, b: f"m_{a}.r_{b}", identifiers, identifiers))
constants = st.builds(
    Constant,
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    ),
    st.just(HERE),
)


def larger(children: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    owners = children.filter(lambda owner: not isinstance(owner, Constant))
    indexes = st.one_of(
        children.filter(lambda index: not isinstance(index, Constant)),
        st.builds(Constant, st.integers(0, 9) | st.text("ab'", max_size=3), st.just(HERE)),
    )
    lists = st.lists(children, max_size=3).map(tuple)
    operators = st.sampled_from(["..", "+", "-", "*", "==", "!=", "<", "<=", ">", ">=", "in", "and", "or"])
    return st.one_of(
        st.builds(Attribute, owners, identifiers, st.just(HERE)),
        st.builds(Item, owners, indexes, st.just(HERE)),
        st.builds(Call, paths, lists, st.just(HERE)),
        st.builds(Sequence, lists, st.just(HERE)),
        st.builds(Unary, st.sampled_from(["not", "-"]), children, st.just(HERE)),
        st.builds(Binary, operators, children, children, st.just(HERE)),
        # A minus begins no condition: `if -1` is a value called so, less one.
        st.builds(
            Conditional, children.filter(lambda one: show(one)[:1] not in "-["), children, children, st.just(HERE)
        ),
        st.builds(
            Mapped,
            st.dictionaries(identifiers | st.text("a '", max_size=3), children, max_size=2).map(
                lambda found: tuple(found.items())
            ),
            st.just(HERE),
        ),
        st.builds(Comprehension, children, identifiers, children, st.none() | children, st.just(HERE)),
    )


trees = st.recursive(st.one_of(st.builds(Name, identifiers, st.just(HERE)), constants), larger, max_leaves=12)


def unplaced(expression: Expression) -> Expression:
    """The same tree with every part at one place, and constants apart that Python takes for equal (1, 1.0, true)."""
    match expression:
        case Constant(value):
            return Constant((type(value).__name__, value), HERE)
        case Name():
            return replace(expression, place=HERE)
        case Attribute(of, _):
            return replace(expression, of=unplaced(of), place=HERE)
        case Item(of, index):
            return Item(unplaced(of), unplaced(index), HERE)
        case Call(path, arguments):
            return Call(path, tuple(map(unplaced, arguments or ())), HERE)
        case Sequence(items):
            return Sequence(tuple(map(unplaced, items)), HERE)
        case Mapped(pairs):
            return Mapped(tuple((key, unplaced(value)) for key, value in pairs), HERE)
        case Unary(_, operand):
            return replace(expression, operand=unplaced(operand), place=HERE)
        case Binary(_, left, right):
            return replace(expression, left=unplaced(left), right=unplaced(right), place=HERE)
        case Conditional(condition, yes, no):
            return Conditional(unplaced(condition), unplaced(yes), unplaced(no), HERE)
        case Comprehension(value, item, over, asked):
            kept = unplaced(asked) if asked is not None else None
            return Comprehension(unplaced(value), item, unplaced(over), kept, HERE)


@given(trees.filter(lambda expression: len(show(expression)) <= CHARACTERS_MAX))
def test_what_is_shown_is_read_back_as_the_same_tree(expression: Expression) -> None:
    again = parsed(show(expression))

    assert unplaced(again) == unplaced(expression)
    assert show(again) == show(expression)


# -- the sketches ----------------------------------------------------------------------------------------------------


def written_expressions(node: object) -> Iterator[str]:
    """Yield the texts that are expressions whatever surrounds them: guards, values bound, items, receivers."""
    if isinstance(node, list):
        for item in node:
            yield from written_expressions(item)
    if not isinstance(node, dict):
        return
    for key, value in node.items():
        if key == "let":
            yield from value.values()
        elif key == "each":
            yield value.partition(" in ")[2]
        elif key in ("if", "return", "await", "drop", "seats", "parallel", "limit") and isinstance(value, str):
            yield value
        else:
            yield from written_expressions(value)


@needs_shared
@pytest.mark.parametrize("name", ["tsuro", "trains", "santorini-prompts", "santorini-relay", "santorini-rulecheck"])
def test_every_expression_of_the_sketches_is_read_and_shown_as_written(name: str) -> None:
    text = (SHARED / "sketches" / f"{name}.yaml").read_text(encoding="utf-8")
    roles = yaml.load(text, Loader=yaml.BaseLoader)["roles"]

    written = list(written_expressions(roles))

    assert len(written) > 10
    assert [show(parsed(expression)) for expression in written] == written
